"""Find the links, typed relations and observations in a note's body, and rewrite links."""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import unescape
from unicodedata import category, normalize
from urllib.parse import unquote

from memorix.prose import BACKTICKS, COMMENT, PLACE, PUNCTUATION, SPACE, TITLE, Block, Page, read

RELATIONS = frozenset(
    {
        *("relates_to", "depends_on", "part_of", "derived_from", "implements"),
        *("supersedes", "superseded_by", "contested_by", "caused_by"),
    }
)
# Words that are a relation wherever they begin a list item; `implements` is also an English verb.

_MAX_LABEL = 999
# CommonMark's limit for references; without one, images in images would cost quadratic time.

_NAMED = r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*+:(?![\s:])|//")
# `Note: a title` and `std::vector` are names.

_EXTENSION = re.compile(r"\.(?=[0-9]*[A-Za-z])[A-Za-z0-9]{1,10}\Z")
# The end of `release 1.2` is a number, not the kind of a file.


_DESTINATION = re.compile(rf"\({SPACE}*+{PLACE}(?:{SPACE}++{TITLE})?+{SPACE}*+\)")
_WIKI = re.compile(
    r"\[\[(?P<target>(?:(?!\\\|)[^\[\]\r\n|#])*+)(?P<anchor>#(?:(?!\\\|)[^\[\]\r\n|])*+)?"
    r"(?:\\?\|(?P<label>[^\[\]\r\n]*+))?\]\]"
)
# `\|` is how a label is set off within a table.

_TOKEN = re.compile(rf"\\{PUNCTUATION}|`+|<!--|<[A-Za-z][A-Za-z0-9+.-]{{1,31}}:[^\s<>]*+>|\[+|\]")
_ESCAPED = re.compile(rf"\\({PUNCTUATION})|({_NAMED})")
_ENTITY = re.compile(_NAMED)
_ANCHOR = re.compile(rf"{_NAMED}|\\?#")

_RELATION = re.compile(r"([^\W\d_][^\s\[\]()]{1,39})[ \t]+(?=\[)")
_OBSERVATION = re.compile(r"\[([^\[\]\r\n]{1,40})\][ \t]+(?=[^ \t\r\n])([^\r\n]+)")
_TAG = re.compile(r"#([^\s#.,;:!?()\[\]{}\"'`]+)")
_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a body.

    `body[start:end]` is its destination as written, anchor included, without `<>`; for a wikilink
    what stands before `#` and `|`.  `body[slice(*whole)]` is all of it, with the mark of an image.
    """

    kind: str
    target: str
    anchor: str
    label: str
    relation: str
    line: int
    start: int
    end: int
    whole: tuple[int, int]


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
    page = read(body)
    found = [_defined(page, match) for match in page.definitions]
    for block in page.blocks:
        found += _Inline(page, block).links()
    return tuple(sorted(found, key=lambda link: link.start))


def observations(body: str) -> tuple[Observation, ...]:
    """Return the observation lines of a body in their order."""
    if "]" not in body:
        return ()
    page = read(body)
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


def rebased(body: str, old_source: str, new_source: str, root: str, along: str = "") -> str:
    """Return the body of a note that moved, its relative links leading where they led before.

    A link to the note itself follows it.  A link into the folder `along` stays as it is typed: what
    lies there takes the same way.
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
        if along and place.startswith(f"{along}/"):
            return None
        return _dotted(target, _relative(new_source, place))

    return _rewritten(body, follow)


# -- within a block


class _Inline:
    """Finds the links in one block, from left to right, with a stack of open brackets."""

    def __init__(self, page: Page, block: Block) -> None:
        self._page, self._body = page, page.body
        self._start, self._end = block.start, block.end
        self._relation = _relation(page.body, block)
        self._links: list[Link] = []
        self._open: list[int] = []
        self._images: set[int] = set()
        self._escaped = -1
        self._dead = 0
        self._runs: dict[int, list[int]] = {}
        self._last_comment = -1

    def links(self) -> list[Link]:
        body, start, end = self._body, self._start, self._end
        last = max(body.rfind(mark, start, end) for mark in ("](", "[["))
        if last < 0:
            return []
        self._last_comment = body.rfind("-->", start, end)
        for run in BACKTICKS.finditer(body, start, end):
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
            case "<" if token[0] == COMMENT:
                return self._after_comment(token)
            case _:
                self._escaped = token.end() - 1
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
        mark = token.start() - 1
        if mark >= self._start and self._body[mark] == "!" and mark != self._escaped:
            self._images.add(mark + 1)
        wiki = _WIKI.match(self._body, start, self._end) if len(token[0]) > 1 else None
        if wiki is None or _DESTINATION.match(self._body, wiki.end(), self._end):
            self._open.extend(range(token.start(), token.end()))
            return token.end()
        self._open.extend(range(token.start(), start))
        self._add_wiki(wiki)
        return wiki.end()

    def _add_wiki(self, wiki: re.Match[str]) -> None:
        target, anchor = wiki["target"].strip(), (wiki["anchor"] or "")[1:].strip()
        if target or anchor:
            blanks = len(wiki["target"]) - len(wiki["target"].lstrip())
            place = wiki.start("target") + blanks
            span = (place, place + len(target))
            self._add(wiki.span(), "wiki", target, anchor, _label(wiki["label"] or ""), span)

    def _after_closing(self, place: int) -> int:
        """Take in a closing bracket; with a destination behind it, it ends a link."""
        opener = self._open.pop() if self._open else -1
        is_image = opener in self._images
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
        self._add((opener, match.end()), "markdown", target, anchor, label, span)
        return match.end()

    def _add(
        self,
        whole: tuple[int, int],
        kind: str,
        target: str,
        anchor: str,
        label: str,
        span: tuple[int, int],
    ) -> None:
        place, relation = self._relation
        line = self._page.line(span[0])
        named = relation if whole[0] == place else ""
        whole = (whole[0] - (whole[0] in self._images), whole[1])
        self._links.append(Link(kind, target, anchor, label, named, line, *span, whole))


def _relation(body: str, block: Block) -> tuple[int, str]:
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


def _defined(page: Page, match: re.Match[str]) -> Link:
    span = _span(match)
    target, anchor = _decoded(page.body[slice(*span)])
    label, line = _label(match["label"]), page.line(span[0])
    return Link("markdown", target, anchor, label, "", line, *span, match.span())


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
