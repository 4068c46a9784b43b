"""Tell which parts of a Markdown body are running text, and which are code or comments.

Blocks are found as CommonMark finds them, as far as links, tags and footnotes need it: a stretch of
text, a heading, the definition of a reference.  All of it is linear in the length of the body.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_QUOTE = -1
# Stands for a block quote among the widths of list items.

_MAX_DEPTH = 32
# Of lists and quotes in each other; the deepest of real notes have about six.

_ANY_INDENT = 1 << 32
# The end of a comment may stand at any column, that of a fence may not.

_MAX_NESTED = 8
# Parentheses in each other in a destination; CommonMark asks for three.

PUNCTUATION = r"[!-/:-@\[-`{-~]"
SPACE = r"[ \t\r\n]"


def _nested(depth: int) -> str:
    """Return the pattern of one step of a destination: a character, or balanced parentheses."""
    step = rf"(?:\\{PUNCTUATION}|[^()\x00-\x20\x7f])"
    for _ in range(depth):
        step = rf"(?:\\{PUNCTUATION}|[^()\x00-\x20\x7f]|\({step}*+\))"
    return step


PLACE = (
    rf"(?:<(?P<angle>(?:\\{PUNCTUATION}|[^<>\r\n])*+)>|(?!<)(?P<plain>{_nested(_MAX_NESTED)}*+))"
)
TITLE = (
    rf"(?:\"(?:\\{PUNCTUATION}|[^\"])*+\"|'(?:\\{PUNCTUATION}|[^'])*+'"
    rf"|\((?:\\{PUNCTUATION}|[^()])*+\))"
)
_DEFINITION = re.compile(
    rf"\[(?!\^|[ \t]*\])(?P<label>(?:\\{PUNCTUATION}|[^\[\]])++)\]:[ \t]*+(?=[^ \t\r]){PLACE}"
    rf"(?:[ \t]++{TITLE})?+[ \t\r]*+\Z"
)
BACKTICKS = re.compile(r"`+")
_BLANK = (" ", "\t", "\r")
_BLANKS = re.compile(r"[ \t\r]*")
_CONTAINER_MARKS = frozenset(">-*+0123456789")
_BLOCK_MARKS = frozenset("`~<#[-*_")
# Most lines begin with neither; to know that at once halves the time.

_NOT_A_LINE_END = re.compile(r"[^\r\n]")
_MARKER = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t\r]|\Z)")
_RULE = re.compile(r"([-*_])(?:[ \t]*+\1){2,}+[ \t\r]*\Z")
_UNDERLINE = re.compile(r"(=++|-++)[ \t\r]*\Z")
_FENCE = re.compile(r"`{3,}+(?!.*`)|~{3,}+")
_OPENING = re.compile(rf" {{0,3}}({_FENCE.pattern})")
COMMENT = "<!--"
_COMMENT_END = re.compile(r".*?-->")
_HEADING = re.compile(r"(#{1,6})(?=[ \t\r]|\Z)")


@dataclass(slots=True)
class Block:
    """A stretch of running text; `item` is where it begins as a bullet's text, else -1."""

    start: int
    end: int
    item: int
    related: bool


@dataclass(slots=True)
class Page:
    """A body taken apart: its running text, its definitions and the places where lines begin."""

    body: str
    blocks: list[Block]
    definitions: list[re.Match[str]]
    starts: list[int]

    def line(self, place: int) -> int:
        return bisect_right(self.starts, place)

    def items(self) -> Iterator[Block]:
        return (block for block in self.blocks if block.item >= 0)


def read(body: str) -> Page:
    reader = _Reader(body)
    start = 0
    while start < len(body):
        end = body.find("\n", start)
        end = end if end >= 0 else len(body)
        reader.take(start, end)
        start = end + 1
    return reader.page


class _Line:
    """A line being read: `ink` is where its text goes on, `indent` the columns before that."""

    __slots__ = ("_body", "_column", "_ink_column", "blank", "end", "ink")

    def __init__(self, body: str, start: int, end: int) -> None:
        self._body, self.end = body, end
        self.move(start, 0)

    @property
    def indent(self) -> int:
        return self._ink_column - self._column

    def move(self, place: int, column: int) -> None:
        """Go on reading at a place, which is in this column."""
        self.ink, self._column, self._ink_column = place, column, column
        if self._body.startswith(_BLANK, place):
            self.ink = _ink(self._body, place, self.end)
            gap = self._body[place : self.ink]
            if "\t" in gap:
                gap = (" " * (column % 4) + gap).expandtabs(4)[column % 4 :]
            self._ink_column += len(gap)
        self.blank = self.ink == self.end

    def enter(self, container: int) -> bool:
        """Go into a quote or list item if this line belongs to it."""
        if container != _QUOTE:
            inside = self.indent >= container
            self._column += container if inside else 0
            return inside
        return self.indent <= 3 and self._quoted()

    def open(self, interrupting: bool) -> int | None:
        """Go into the quote or list item that begins here; None if none does."""
        if self.indent > 3 or self.blank or self._body[self.ink] not in _CONTAINER_MARKS:
            return None
        if self._quoted():
            return _QUOTE
        match = _MARKER.match(self._body, self.ink, self.end)
        if match is None or _RULE.match(self._body, self.ink, self.end):
            return None
        if interrupting and not self._may_interrupt(match):
            return None
        before, width = self.indent, len(match[0])
        self.move(match.end(), self._ink_column + width)
        gap = 1 if self.blank or self.indent > 4 else self.indent
        self._column += gap
        return before + width + gap

    def _may_interrupt(self, marker: re.Match[str]) -> bool:
        """Say whether a list begins in the midst of a paragraph; `1986.` there is a year."""
        is_first = len(marker[0]) == 1 or marker[0][:-1] == "1"
        return is_first and _ink(self._body, marker.end(), self.end) < self.end

    def _quoted(self) -> bool:
        if not self._body.startswith(">", self.ink):
            return False
        spaced = self._body.startswith(_BLANK, self.ink + 1)
        self.move(self.ink + 1, self._ink_column + 1)
        self._column += spaced
        return True


def _ink(body: str, place: int, end: int) -> int:
    """Return where the blanks from this place on end."""
    match = _BLANKS.match(body, place, end)
    return match.end() if match else place


class _Reader:
    """Takes a body apart line by line, as CommonMark does, as far as links need it.

    A paragraph goes on over the lines that follow it; code and comments end with the quote or list
    item they are in.
    """

    def __init__(self, body: str) -> None:
        self.page = Page(body, [], [], [])
        self._body = body
        self._containers: list[int] = []
        self._text: Block | None = None
        self._item = -1
        self._closing: re.Pattern[str] | None = None
        self._reach = 0
        self._related = 0

    def take(self, start: int, end: int) -> None:
        """Read the next line."""
        self.page.starts.append(start)
        if self._text and self._body[start : start + 1].isalpha():
            self._text.end = end
            return
        if start == end and _QUOTE not in self._containers:
            self._text = None
            return
        line = _Line(self._body, start, end)
        depth = self._depth(line)
        if self._closing and depth == len(self._containers):
            self._take_code(line)
            return
        self._closing = None
        opened = self._open(line, depth)
        if self._text and not line.blank and self._goes_on(line, depth):
            return
        if not opened:
            self._leave(depth)
        if not line.blank and not self._is_deep(line):
            self._begin(line)

    def _take_code(self, line: _Line) -> None:
        near = line.indent <= self._reach
        if near and self._closing and self._closing.match(self._body, line.ink, line.end):
            self._closing = None

    def _depth(self, line: _Line) -> int:
        """Go into the containers the line belongs to; return their number."""
        for depth, container in enumerate(self._containers):
            if line.blank:
                rest = self._containers[depth:]
                return depth + rest.index(_QUOTE) if _QUOTE in rest else depth + len(rest)
            if not line.enter(container):
                return depth
        return len(self._containers)

    def _open(self, line: _Line, depth: int) -> bool:
        """Go into the containers that begin on the line; say whether there are any."""
        opened = False
        self._item = -1
        while len(self._containers) < _MAX_DEPTH:
            interrupting = self._text is not None and depth == len(self._containers)
            marker = line.ink
            container = line.open(interrupting)
            if container is None:
                break
            if not opened:
                self._leave(depth)
            opened = True
            self._containers.append(container)
            bullet = self._body[marker] in "-*+" and not line.blank
            self._item = line.ink if bullet else -1
        return opened

    def _leave(self, depth: int) -> None:
        """Come out of all containers beyond the first `depth`."""
        del self._containers[depth:]
        self._text = None

    def _goes_on(self, line: _Line, depth: int) -> bool:
        """Take a line that belongs to the paragraph before it; say whether it does."""
        text = self._text
        if text is None or self._interrupts(line):
            return False
        whole = depth == len(self._containers) and line.indent <= 3
        underline = _UNDERLINE.match(self._body, line.ink, line.end) if whole else None
        if underline:
            self._head(1 if underline[1][0] == "=" else 2, self._body[text.start : text.end])
            self._text = None
            return True
        if _RULE.match(self._body, line.ink, line.end) and line.indent <= 3:
            return False
        text.end = line.end
        return True

    def _interrupts(self, line: _Line) -> bool:
        body, ink = self._body, line.ink
        if body[ink] not in "`~<#|" or self._is_deep(line):
            return False
        if body[ink] == "#":
            return _HEADING.match(body, ink, line.end) is not None
        if body[ink] in "`~":
            return _FENCE.match(body, ink, line.end) is not None
        # Every row of a table is a text of its own: a stray backtick must not reach the next.
        return body[ink] == "|" or body.startswith(COMMENT, ink)

    def _is_deep(self, line: _Line) -> bool:
        """Say whether a line is indented as code is; within a list that is too unsure to tell."""
        return line.indent > 3 and all(container == _QUOTE for container in self._containers)

    def _begin(self, line: _Line) -> None:
        """Read a line as the first of a block."""
        if self._body[line.ink] not in _BLOCK_MARKS or not self._begun(line):
            self._text = Block(line.ink, line.end, self._item, self._related > 0)
            self.page.blocks.append(self._text)

    def _begun(self, line: _Line) -> bool:
        """Read a line as the first of a block that is no paragraph; say whether it is."""
        body, ink, end = self._body, line.ink, line.end
        if fence := _FENCE.match(body, ink, end):
            mark = fence[0]
            self._closing = re.compile(rf"{mark[0]}{{{len(mark)},}}[ \t\r]*\Z")
            self._reach = max(3, line.indent)
        elif body.startswith(COMMENT, ink):
            over = _COMMENT_END.match(body, ink + 2, end)
            self._closing, self._reach = None if over else _COMMENT_END, _ANY_INDENT
        elif heading := _HEADING.match(body, ink, end):
            self.page.blocks.append(Block(ink, end, -1, False))
            self._head(len(heading[1]), body[heading.end() : end])
        elif definition := _DEFINITION.match(body, ink, end):
            self.page.definitions.append(definition)
        else:
            return _RULE.match(body, ink, end) is not None
        return True

    def _head(self, level: int, text: str) -> None:
        """Note a heading: whether what follows it stands under "Relations"."""
        if text.strip(" \t\r\n#").casefold() == "relations":
            self._related = level
        elif level <= self._related:
            self._related = 0


def fence_after(line: str, fence: str = "") -> str:
    """Return the fence of the code that is open after a line, empty where none is.

    `fence` is the one that was open before it.
    """
    if not fence:
        mark = _OPENING.match(line)
        return mark[1] if mark else ""
    bare = line.strip()
    return "" if bare.startswith(fence) and set(bare) == {fence[0]} else fence


def without_code(body: str) -> str:
    """Return a body with blanks in place of code and comments; every place in it stays."""
    hidden = list(_NOT_A_LINE_END.sub(" ", body))
    for block in read(body).blocks:
        hidden[block.start : block.end] = body[block.start : block.end]
        for start, end in code_spans(body, block):
            hidden[start:end] = _NOT_A_LINE_END.sub(" ", body[start:end])
    return "".join(hidden)


def code_spans(body: str, block: Block) -> Iterator[tuple[int, int]]:
    """Yield the places of the code spans of a block, backticks included."""
    runs = list(BACKTICKS.finditer(body, block.start, block.end))
    by_length: dict[int, list[int]] = {}
    for run in runs:
        by_length.setdefault(len(run[0]), []).append(run.start())
    done = block.start
    for run in runs:
        alike, start = by_length[len(run[0])], run.start()
        closing = bisect_right(alike, start)
        escaped = body.startswith("\\", start - 1)
        if start >= done and closing < len(alike) and not escaped:
            done = alike[closing] + len(run[0])
            yield start, done
