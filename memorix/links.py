"""Find the links, typed relations and observations in a note's body, and rewrite links."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from unicodedata import category, normalize
from urllib.parse import unquote

RELATIONS = frozenset(
    {
        *("relates_to", "depends_on", "part_of", "derived_from", "implements"),
        *("supersedes", "superseded_by", "contested_by", "caused_by"),
    }
)
# Words that are a relation wherever they begin a list item; `implements` is also an English verb.

_QUOTE = -1
# Stands for a block quote among the widths of list items.

_MAX_DEPTH = 32
# Of lists and quotes in each other; the deepest of real notes have about six.

_ANY_INDENT = 1 << 32
# The end of a comment may stand at any column, that of a fence may not.

_MAX_LABEL = 999
# CommonMark's limit for references; without one, images in images would cost quadratic time.

_MAX_NESTED = 8
# Parentheses in each other in a destination; CommonMark asks for three.

_PUNCTUATION = r"[!-/:-@\[-`{-~]"
_SPACE = r"[ \t\r\n]"
_NAMED = r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:(?![\s:])|//")
# `Note: a title` and `std::vector` are names.

_EXTENSION = re.compile(r"\.(?=[0-9]*[A-Za-z])[A-Za-z0-9]{1,10}\Z")
# The end of `release 1.2` is a number, not the kind of a file.


def _nested(depth: int) -> str:
    """Return the pattern of one step of a destination: a character, or balanced parentheses."""
    step = rf"(?:\\{_PUNCTUATION}|[^()\x00-\x20\x7f])"
    for _ in range(depth):
        step = rf"(?:\\{_PUNCTUATION}|[^()\x00-\x20\x7f]|\({step}*+\))"
    return step


_PLACE = (
    rf"(?:<(?P<angle>(?:\\{_PUNCTUATION}|[^<>\r\n])*+)>|(?!<)(?P<plain>{_nested(_MAX_NESTED)}*+))"
)
_TITLE = (
    rf"(?:\"(?:\\{_PUNCTUATION}|[^\"])*+\"|'(?:\\{_PUNCTUATION}|[^'])*+'"
    rf"|\((?:\\{_PUNCTUATION}|[^()])*+\))"
)
_DESTINATION = re.compile(rf"\({_SPACE}*+{_PLACE}(?:{_SPACE}++{_TITLE})?+{_SPACE}*+\)")
_DEFINITION = re.compile(
    rf"\[(?!\^|[ \t]*\])(?P<label>(?:\\{_PUNCTUATION}|[^\[\]])++)\]:[ \t]*+(?=[^ \t\r]){_PLACE}"
    rf"(?:[ \t]++{_TITLE})?+[ \t\r]*+\Z"
)
_WIKI = re.compile(
    r"\[\[(?P<target>(?:(?!\\\|)[^\[\]\r\n|#])*+)(?P<anchor>#(?:(?!\\\|)[^\[\]\r\n|])*+)?"
    r"(?:\\?\|(?P<label>[^\[\]\r\n]*+))?\]\]"
)
# `\|` is how a label is set off within a table.

_TOKEN = re.compile(rf"\\{_PUNCTUATION}|`+|<!--|<[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^\s<>]*+>|\[+|\]")
_BACKTICKS = re.compile(r"`+")
_ESCAPED = re.compile(rf"\\({_PUNCTUATION})|({_NAMED})")
_ENTITY = re.compile(_NAMED)
_ANCHOR = re.compile(rf"{_NAMED}|\\?#")

_BLANK = (" ", "\t", "\r")
_BLANKS = re.compile(r"[ \t\r]*")
_CONTAINER_MARKS = frozenset(">-*+0123456789")
_BLOCK_MARKS = frozenset("`~<#[-*_")
# Most lines begin with neither; to know that at once halves the time.

_MARKER = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t\r]|\Z)")
_RULE = re.compile(r"([-*_])(?:[ \t]*+\1){2,}+[ \t\r]*\Z")
_UNDERLINE = re.compile(r"(=++|-++)[ \t\r]*\Z")
_FENCE = re.compile(r"`{3,}+(?!.*`)|~{3,}+")
_COMMENT = "<!--"
_COMMENT_END = re.compile(r".*?-->")
_HEADING = re.compile(r"(#{1,6})(?=[ \t\r]|\Z)")

_RELATION = re.compile(r"([^\W\d_][^\s\[\]()]{1,39})[ \t]+(?=\[)")
_OBSERVATION = re.compile(r"\[([^\[\]\r\n]{1,40})\][ \t]+(?=[^ \t\r\n])([^\r\n]+)")
_TAG = re.compile(r"#([^\s#.,;:!?()\[\]{}\"'`]+)")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a body.

    `body[start:end]` is its destination as written, anchor included, without `<>`; for a wikilink
    what stands before `#` and `|`.
    """

    kind: str
    target: str
    anchor: str
    label: str
    relation: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Observation:
    """A line `- [category] text #tag (context)`; `text` is without the tags at its end."""

    category: str
    text: str
    tags: tuple[str, ...]
    context: str
    line: int


def links(body: str) -> tuple[Link, ...]:
    """Return the links of a body in their order; those in code and in comments are none."""
    if not any(mark in body for mark in ("](", "[[", "]:")):
        return ()
    page = _read(body)
    found = [_defined(page, match) for match in page.definitions]
    for block in page.blocks:
        found += _Inline(page, block).links()
    return tuple(sorted(found, key=lambda link: link.start))


def observations(body: str) -> tuple[Observation, ...]:
    """Return the observation lines of a body in their order."""
    if "]" not in body:
        return ()
    page = _read(body)
    items = ((block, _OBSERVATION.match(body, block.item, block.end)) for block in page.items())
    found = (_observed(match, page.line(block.item)) for block, match in items if match)
    return tuple(observation for observation in found if observation)


def is_outside(target: str) -> bool:
    """Say whether a target leads out of the vault: it has a scheme, a drive or a host."""
    return _SCHEME.match(target) is not None


def note_path(source: str, target: str, root: str) -> str:
    """Return the vault path that a Markdown link of the note `source` leads to.

    `root` is the folder that `/` stands for.  Empty where the target is empty, outside, or above
    the vault; a folder means its index.
    """
    if not target or is_outside(target):
        return ""
    place = _place(root if target.startswith("/") else _folder(source), target)
    if place is None:
        return ""
    if not place or place.endswith("/"):
        place += "index.md"
    elif not _EXTENSION.search(place):
        place += ".md"
    return normalize("NFC", place)


def name_key(name: str) -> str:
    """Return the form in which names in wikilinks are compared."""
    folded = " ".join(normalize("NFC", normalize("NFC", name).casefold()).split())
    return folded.removesuffix(".md").rstrip()


def relative_link(source: str, target: str) -> str:
    """Return the link from one note to another: relative, percent-encoded."""
    return _encoded(_relative(source, target))


def redirected(
    body: str, source: str, root: str, old: str, new: str, old_names: frozenset[str]
) -> str:
    """Return the body of `source` with its links to the note `old` leading to `new`.

    Only destinations change, and they keep their style.  `old_names` are the name keys of the old
    path and file name; a wikilink by title is left alone.
    """
    goal = normalize("NFC", old)

    def follow(link: Link) -> str | None:
        if link.kind == "wiki":
            return _renamed(link, root, old, new, old_names)
        if note_path(source, link.target, root) != goal:
            return None
        return _in_style(link, source, root, new)

    return _rewritten(body, follow)


def rebased(body: str, old_source: str, new_source: str, root: str) -> str:
    """Return the body of a note that moved, its relative links leading where they led before.

    A link to the note itself follows it.
    """
    itself = normalize("NFC", old_source)

    def follow(link: Link) -> str | None:
        target = link.target
        if link.kind == "wiki" or not target or target.startswith("/") or is_outside(target):
            return None
        if note_path(old_source, target, root) == itself:
            return _in_style(link, new_source, root, new_source)
        place = _place(_folder(old_source), target)
        if place is None or place == _place(_folder(new_source), target):
            return None
        return _dotted(target, _relative(new_source, place))

    return _rewritten(body, follow)


# -- blocks


@dataclass(slots=True)
class _Block:
    """A stretch of running text; `item` is where it begins as a bullet's text, else -1."""

    start: int
    end: int
    item: int
    related: bool


@dataclass(slots=True)
class _Page:
    """A body taken apart: its running text, its definitions and the places where lines begin."""

    body: str
    blocks: list[_Block]
    definitions: list[re.Match[str]]
    starts: list[int]

    def line(self, place: int) -> int:
        return bisect_right(self.starts, place)

    def items(self) -> Iterator[_Block]:
        return (block for block in self.blocks if block.item >= 0)


def _read(body: str) -> _Page:
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
        self.page = _Page(body, [], [], [])
        self._body = body
        self._containers: list[int] = []
        self._text: _Block | None = None
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
        return body[ink] == "|" or body.startswith(_COMMENT, ink)

    def _is_deep(self, line: _Line) -> bool:
        """Say whether a line is indented as code is; within a list that is too unsure to tell."""
        return line.indent > 3 and all(container == _QUOTE for container in self._containers)

    def _begin(self, line: _Line) -> None:
        """Read a line as the first of a block."""
        if self._body[line.ink] not in _BLOCK_MARKS or not self._begun(line):
            self._text = _Block(line.ink, line.end, self._item, self._related > 0)
            self.page.blocks.append(self._text)

    def _begun(self, line: _Line) -> bool:
        """Read a line as the first of a block that is no paragraph; say whether it is."""
        body, ink, end = self._body, line.ink, line.end
        if fence := _FENCE.match(body, ink, end):
            mark = fence[0]
            self._closing = re.compile(rf"{mark[0]}{{{len(mark)},}}[ \t\r]*\Z")
            self._reach = max(3, line.indent)
        elif body.startswith(_COMMENT, ink):
            over = _COMMENT_END.match(body, ink + 2, end)
            self._closing, self._reach = None if over else _COMMENT_END, _ANY_INDENT
        elif heading := _HEADING.match(body, ink, end):
            self.page.blocks.append(_Block(ink, end, -1, False))
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


# -- within a block


class _Inline:
    """Finds the links in one block, from left to right, with a stack of open brackets."""

    def __init__(self, page: _Page, block: _Block) -> None:
        self._page, self._body = page, page.body
        self._start, self._end = block.start, block.end
        self._relation = _relation(page.body, block)
        self._links: list[Link] = []
        self._open: list[int] = []
        self._dead = 0
        self._runs: dict[int, list[int]] = {}
        self._last_comment = -1

    def links(self) -> list[Link]:
        body, start, end = self._body, self._start, self._end
        last = max(body.rfind(mark, start, end) for mark in ("](", "[["))
        if last < 0:
            return []
        self._last_comment = body.rfind("-->", start, end)
        for run in _BACKTICKS.finditer(body, start, end):
            self._runs.setdefault(len(run[0]), []).append(run.start())
        place = start
        while place <= last and (match := _TOKEN.search(self._body, place, self._end)):
            place = self._after(match)
        return self._links

    def _after(self, token: re.Match[str]) -> int:
        """Take a token in; return where to read on."""
        match token[0][0]:
            case "`":
                return self._after_code(token)
            case "[":
                return self._after_opening(token)
            case "]":
                return self._after_closing(token.start())
            case "<" if token[0] == _COMMENT:
                return self._after_comment(token)
            case _:
                return token.end()

    def _after_code(self, token: re.Match[str]) -> int:
        """Pass a code span; backticks without their like further on are text."""
        alike = self._runs.get(len(token[0]), [])
        following = bisect_right(alike, token.start())
        return alike[following] + len(token[0]) if following < len(alike) else token.end()

    def _after_comment(self, token: re.Match[str]) -> int:
        if token.end() > self._last_comment:
            return token.end()
        return self._body.index("-->", token.start() + 2, self._end) + len("-->")

    def _after_opening(self, token: re.Match[str]) -> int:
        """Take in a run of brackets; the last two of it may begin a wikilink."""
        start = token.end() - 2
        wiki = _WIKI.match(self._body, start, self._end) if len(token[0]) > 1 else None
        if wiki is None or _DESTINATION.match(self._body, wiki.end(), self._end):
            self._open.extend(range(token.start(), token.end()))
            return token.end()
        self._open.extend(range(token.start(), start))
        target, anchor = wiki["target"].strip(), (wiki["anchor"] or "")[1:].strip()
        if target or anchor:
            label = _label(wiki["label"] or "")
            inside = len(wiki["target"]) - len(wiki["target"].lstrip())
            place = wiki.start("target") + inside
            self._add(start, "wiki", target, anchor, label, (place, place + len(target)))
        return wiki.end()

    def _after_closing(self, place: int) -> int:
        """Take in a closing bracket; with a destination behind it, it ends a link."""
        opener = self._open.pop() if self._open else -1
        is_image = opener > 0 and self._body[opener - 1] == "!"
        if opener < 0 or (opener < self._dead and not is_image):
            return place + 1
        match = _DESTINATION.match(self._body, place + 1, self._end)
        if match is None:
            return place + 1
        if not is_image:
            self._dead = opener  # links do not hold links
        span = _span(match)
        target, anchor = _decoded(self._body[slice(*span)])
        label = _label(self._body[opener + 1 : min(place, opener + 1 + _MAX_LABEL)])
        self._add(opener, "markdown", target, anchor, label, span)
        return match.end()

    def _add(
        self, opener: int, kind: str, target: str, anchor: str, label: str, span: tuple[int, int]
    ) -> None:
        place, relation = self._relation
        line = self._page.line(span[0])
        named = relation if opener == place else ""
        self._links.append(Link(kind, target, anchor, label, named, line, *span))


def _relation(body: str, block: _Block) -> tuple[int, str]:
    """Return where a link must begin to be a relation, and the word of it."""
    match = _RELATION.match(body, block.item, block.end) if block.item >= 0 else None
    if match is None or not _is_made_of(match[1], "_-"):
        return -1, ""
    word = match[1].lower().replace("-", "_")
    is_one = word in RELATIONS or "_" in word or block.related
    return (match.end(), word) if is_one else (-1, "")


def _is_made_of(text: str, others: str) -> bool:
    """Say whether a text holds letters and digits of any script, and these, only."""
    return all(character in others or category(character)[0] in "LMN" for character in text)


def _label(written: str) -> str:
    return " ".join(_plain(written).split())


def _span(match: re.Match[str]) -> tuple[int, int]:
    return match.span("angle" if match["angle"] is not None else "plain")


def _decoded(written: str) -> tuple[str, str]:
    """Return the target and the anchor of a destination as written."""
    cut = _anchor_at(written)
    anchor = written[cut:].removeprefix("\\").removeprefix("#")
    return unquote(_plain(written[:cut])), unquote(_plain(anchor))


def _anchor_at(written: str) -> int:
    """Return where the anchor begins: at the first `#` that is not part of `&#40;`."""
    for match in _ANCHOR.finditer(written) if "#" in written else ():
        if match[0].endswith("#"):
            return match.start()
    return len(written)


def _plain(written: str) -> str:
    """Return a text without escapes and entities."""
    if "\\" not in written and "&" not in written:
        return written  # nearly always, and much faster
    return _ESCAPED.sub(lambda match: match[1] or unescape(match[2]), written)


def _defined(page: _Page, match: re.Match[str]) -> Link:
    span = _span(match)
    target, anchor = _decoded(page.body[slice(*span)])
    return Link("markdown", target, anchor, _label(match["label"]), "", page.line(span[0]), *span)


def _observed(match: re.Match[str], line: int) -> Observation | None:
    kind = match[1].strip()
    is_kind = any(character.isalpha() for character in kind) and _is_made_of(kind, " _-")
    if not is_kind or match[1] in ("x", "X"):
        return None
    text, context = _without_context(match[2].strip())
    words = list(_WORD.finditer(text))
    tags = tuple(dict.fromkeys(tag for word in words if (tag := _tag(word[0]))))
    while words and _tag(words[-1][0]):
        words.pop()
    text = text[: words[-1].end()] if words else ""
    return Observation(kind, text, tags, context, line)


def _tag(word: str) -> str:
    """Return a word's tag without `#`, empty if it is none; `#12` is the number of something."""
    match = _TAG.match(word)
    return match[1] if match and any(character.isalpha() for character in match[1]) else ""


def _without_context(text: str) -> tuple[str, str]:
    """Part a text from the parenthesis at its end; that of a link is none."""
    depth, place = int(text.endswith(")")), len(text) - 1
    while depth and place:
        place -= 1
        depth += (text[place] == ")") - (text[place] == "(")
    if not text.endswith(")") or depth or not text[:place][-1:].isspace():
        return text, ""
    return text[:place].rstrip(), text[place + 1 : -1].strip()


# -- paths and rewriting


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _place(base: str, target: str) -> str | None:
    """Return the path a target means from a folder, a folder's with `/` at its end.

    None is above the vault; the vault itself is empty.
    """
    steps = [step for step in base.split("/") if step]
    wanted = target.split("/")
    for step in wanted:
        if step == ".." and not steps:
            return None
        if step == "..":
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    is_folder = bool(steps) and wanted[-1] in ("", ".", "..")
    return "/".join(steps) + "/" * is_folder


def _relative(source: str, target: str) -> str:
    from_parts, to_parts = source.split("/")[:-1], target.split("/")
    common = 0
    while common < min(len(from_parts), len(to_parts) - 1) and (
        from_parts[common] == to_parts[common]
    ):
        common += 1
    ups = [".."] * (len(from_parts) - common)
    return "/".join([*ups, *to_parts[common:]])


_UNSAFE_IN_BRACKETS = {"%": "%25", "#": "%23", "<": "%3C", ">": "%3E", "\\": "%5C", "`": "%60"}
_UNSAFE = {**_UNSAFE_IN_BRACKETS, " ": "%20", "(": "%28", ")": "%29"}


def _encoded(path: str, unsafe: Mapping[str, str] = _UNSAFE) -> str:
    encoded = "".join(unsafe.get(character, character) for character in path)
    return _ENTITY.sub(lambda match: match[0].replace("&", "%26"), encoded)


def _rewritten(body: str, follow: Callable[[Link], str | None]) -> str:
    """Return the body with the targets of some links replaced by the path `follow` gives."""
    pieces, done = [], 0
    for link in links(body):
        path = follow(link)
        if path is None:
            continue
        written = body[link.start : link.end]
        if link.kind == "markdown":
            in_brackets = body[link.start - 1] == "<"
            path = _encoded(path, _UNSAFE_IN_BRACKETS if in_brackets else _UNSAFE)
            written = written[: _anchor_at(written)]
        pieces += [body[done : link.start], path]
        done = link.start + len(written)
    return "".join([*pieces, body[done:]])


def _in_style(link: Link, source: str, root: str, new: str) -> str | None:
    """Return the path of a note, written as the link has it; None where it leads there already."""
    target, goal = link.target, normalize("NFC", new)
    if note_path(source, target, root) == goal:
        return None
    short = new.removesuffix(".md")
    is_short = not target.endswith(".md") and note_path("", short, "") == goal
    path = short if is_short else new
    inside = f"{root}/" if root else ""
    if target.startswith("/") and path.startswith(inside):
        return f"/{path.removeprefix(inside)}"
    return _dotted(target, _relative(source, path))


def _dotted(target: str, path: str) -> str:
    """Return a relative path with `./` before it where the target has that, or it is empty."""
    has_dot = target.startswith("./") and not path.startswith("../")
    return f"./{path}" if has_dot or not path else path


def _renamed(link: Link, root: str, old: str, new: str, old_names: frozenset[str]) -> str | None:
    """Return what a wikilink to a note that moved should say; None to leave it alone."""
    name = link.target.strip("/")
    if name_key(name) not in old_names:
        return None
    wanted, inside = new.removesuffix(".md"), f"{root}/"
    if "/" not in name:
        wanted = wanted.rpartition("/")[2]
    elif root and name_key(inside + name) == name_key(old):
        wanted = wanted.removeprefix(inside)
    if name_key(wanted) == name_key(name) or any(mark in wanted for mark in "[]#|"):
        return None
    return f"/{wanted}" if link.target.startswith("/") else wanted
