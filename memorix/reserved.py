"""The two reserved files of an OKF bundle, `index.md` and `log.md`: written and checked as text."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote, unquote

from memorix.frontmatter import cut, read_block
from memorix.note import RESERVED, etag_of, title_of

OKF_VERSION = "0.2"
# The one key of the root's index.md; quoted there, because bare it is a number.

_MARK = "<!-- Made by Memorix, and made anew until somebody edits it: "
# Never to be reworded: an index with another mark counts as made by hand.
_UNSAFE = re.compile(
    r"[\x00-\x20\"#%&()*:<>?\[\\\]^`{|}\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u3000\ud800-\udfff\ufeff]"
)
# Spelt out, because what is printable differs between versions of Python and the bytes must not.
_MARKUP = re.compile(r"[\[\]\\]|<(?=[A-Za-z/!?])")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_UNCLOSED = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)[A-Za-z_][\w-]*:")
_HEADING = re.compile(r" {0,3}##(?![^ \t\r\n])")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_ITEM = re.compile(r" {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?=\s|\Z)")
_BULLET = re.compile(r" {0,3}[-*+][ \t]+[^\s]")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_COMMENT = re.compile(r" {0,3}<!--(?!.*-->)")
_COMMENT_MARK = "<!--"
_BLOCK = re.compile(r" {0,3}(?:#{1,6}(?:\s|\Z)|```|~~~|>|<|(?:[-*_][ \t]*){3,}\Z)")
_LINKS = re.compile(
    r"\]\(\s*(?:<(?P<angled>[^<>\r\n]*)>|(?P<bare>(?:\\[!-/:-@\[-`{-~]|[^\s()]|\([^\s()]*\))*))"
    r"|\[\[(?P<wiki>[^\]|\r\n]+)"
    r"|`(?P<code>[^`\r\n]+\.md)`"
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True, slots=True)
class Entry:
    """A note as an index lists it; `path` is relative to the root of the bundle."""

    path: str
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Where a reserved file departs from OKF: the line, and a sentence."""

    line: int
    message: str


def index_for(folder: str, entries: Sequence[Entry], folders: Sequence[str], title: str) -> str:
    """Write the index.md of a folder, the root being "".

    `entries` are the notes directly in it and `folders` the paths of its direct subfolders; in
    whatever order they come, the bytes are the same.  `title` is the root's heading.
    """
    block = "" if folder else f'---\nokf_version: "{OKF_VERSION}"\n---\n\n'
    heading = f"# {_one_line(title_of(folder) if folder else title)}\n"
    notes = "".join(_note_line(folder, entry) for entry in sorted(entries, key=_place))
    inner = sorted(set(folders), key=lambda path: (unicodedata.normalize("NFC", path), path))
    below = "".join(_folder_line(folder, path) for path in inner)
    sections = [heading, notes, "## Folders\n\n" + below if below else ""]
    return _marked(block + "".join(f"{section}\n" for section in sections if section))


def _one_line(text: str) -> str:
    return " ".join(_SURROGATE.sub("\ufffd", text).split())


def _place(entry: Entry) -> tuple[str, str, str, str]:
    path = unicodedata.normalize("NFC", entry.path)
    return path, entry.path, entry.title, entry.description


def _note_line(folder: str, entry: Entry) -> str:
    title = _one_line(entry.title) or _one_line(title_of(entry.path))
    description = _one_line(entry.description)
    link = f"* [{_label(title)}]({_link(folder, entry.path)})"
    return f"{link} - {description}\n" if description else f"{link}\n"


def _folder_line(folder: str, path: str) -> str:
    name = _one_line(path.rpartition("/")[2])
    return f"* [{_label(name)}/]({_link(folder, path)}/)\n"


def _label(text: str) -> str:
    return _MARKUP.sub(lambda match: "\\" + match.group(), text)


def _link(folder: str, path: str) -> str:
    inner = path.removeprefix(f"{folder}/") if folder else path
    return _UNSAFE.sub(lambda match: quote(match.group(), safe="", errors="replace"), inner)


def _marked(text: str) -> str:
    return f"{text}{_MARK}{etag_of(text.encode('utf-8', 'surrogatepass'))} -->\n"


def all_indexes(entries: Iterable[Entry], title: str) -> dict[str, str]:
    """Write the index.md of every folder with a note in it or below it, by path."""
    notes: dict[str, list[Entry]] = {}
    folders: dict[str, set[str]] = {}
    for entry in entries:
        folder, _, name = entry.path.rpartition("/")
        if name in RESERVED:
            continue
        notes.setdefault(folder, []).append(entry)
        while folder:
            above = folder.rpartition("/")[0]
            folders.setdefault(above, set()).add(folder)
            folder = above
    return {
        f"{folder}/index.md" if folder else "index.md": index_for(
            folder, notes.get(folder, []), sorted(folders.get(folder, ())), title
        )
        for folder in sorted(notes.keys() | folders.keys())
    }


def is_generated(text: str) -> bool:
    """Say whether we wrote this index and nobody has edited it since."""
    plain = _with_lf(text)
    return _MARK in plain and _marked(_unmarked(plain)) == plain


def _with_lf(text: str) -> str:
    # Git may change the ends of lines on a checkout, which is nobody's edit.
    return text.replace("\r\n", "\n")


def _unmarked(text: str) -> str:
    return text[: text.rfind(_MARK)]


def updated_index(old: str | None, new: str) -> str | None:
    """Return what to write where `old` is and `new` should be; None to leave the file alone.

    What a person made or edited stays theirs, and a root keeps the version of OKF it names.
    """
    if old is None:
        return new
    if not is_generated(old):
        return None
    old = _with_lf(old)
    before, after = cut(old), cut(new)
    if before.has_block and after.has_block:
        block = before.opening + before.block + before.closing
        new = _marked(block + _unmarked(after.body))
    return None if new == old else new


def index_problems(text: str, *, root: bool) -> tuple[Problem, ...]:
    """Return what OKF does not allow in an index: metadata, but for the root's version."""
    parts = cut(text)
    if not parts.has_block:
        unclosed = _UNCLOSED.match(text)
        return (Problem(1, "the metadata block is never closed"),) if unclosed else ()
    if not root:
        return (Problem(1, "only the root's index.md may have a metadata block"),)
    block = read_block(parts.block)
    found = [Problem(line, message) for _, line, message in block.problems]
    found += [
        Problem(_line_of(parts.block, key), f"the key {key!r} is none of an index's")
        for key in block.values
        if key != "okf_version"
    ]
    return tuple(sorted(found, key=lambda problem: problem.line))


def _line_of(block: str, key: str) -> int:
    typed = re.compile(rf"[\"']?{re.escape(key)}[\"']?[ \t]*:")
    lines = enumerate(_LINE.findall(block), 2)
    return next((number for number, line in lines if typed.match(line)), 1)


def with_log_entry(old: str, verb: str, sentence: str, day: date) -> str:
    """Return a log with one more entry, the first of its day; every byte of the old text stays."""
    parts = cut(old)
    first_end = re.search(r"\r\n|\n|\r", old)
    newline = first_end.group() if first_end else "\n"
    lines = _LINE.findall(parts.body)
    if not parts.body.strip():
        head = [newline] if parts.closing and not parts.closing.endswith(("\n", "\r")) else []
        lines = [*head, *_ended(lines, newline), f"# Log{newline}"]
    iso = day.isoformat()[: len("2026-10-02")]  # a datetime is a date too, and longer
    at, starts_group = _place_for(lines, iso)
    entry = _indent_of(lines[at:]) + f"* **{_one_line(verb)}** {_one_line(sentence)}{newline}"
    new = [f"## {iso}{newline}", newline, entry] if starts_group else [entry]
    body = "".join(_inserted(lines, at, new, newline))
    return old[: len(old) - len(parts.body)] + body


def _ended(lines: Sequence[str], newline: str) -> list[str]:
    open_end = bool(lines) and not lines[-1].endswith(("\n", "\r"))
    return [*lines[:-1], lines[-1] + newline] if open_end else list(lines)


def _place_for(lines: Sequence[str], day: str) -> tuple[int, bool]:
    """Return the line before which an entry of this day goes, and whether it starts a group."""
    headings = list(_headings(lines))
    for heading in headings:
        if heading.day == day:
            at = heading.line + 1
            gap = at < len(lines) and not lines[at].strip()
            return at + gap, False
    older = (heading.line for heading in headings if heading.day and heading.day < day)
    return next(older, len(lines)), True


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading of level 2; `day` is the date that it begins with, if it does."""

    line: int
    text: str
    day: str


def _headings(lines: Sequence[str]) -> Iterator[_Heading]:
    hidden = _hidden(lines)
    for number, line in enumerate(lines):
        match = _HEADING.match(line)
        if match and number not in hidden:
            text = _heading_text(line[match.end() :])
            yield _Heading(number, text, _day_of(text))


def _heading_text(rest: str) -> str:
    text = rest.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else text


def _day_of(text: str) -> str:
    match = _DAY.match(text)
    try:
        return date.fromisoformat(match.group()).isoformat() if match else ""
    except ValueError:
        return ""


def _hidden(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines inside code fences and comments.

    One that is never closed hides nothing: a forgotten line must not swallow the rest of a log.
    """
    plain = [line.expandtabs(4).rstrip() for line in lines]
    hidden: set[int] = set()
    open_for_good: set[str] = set()  # marks that nothing below closes, looked for once only
    offset = 0
    for number, line in enumerate(plain):
        if number not in hidden:
            inside = not line or _indent(line) >= offset
            offset = _item_offset(line) or (offset if inside else 0)
            mark = _mark(line[offset:])
            if mark and not (offset == 0 and mark in open_for_good):
                inner = _opened(plain, number, offset, mark)
                hidden.update(inner)
                open_for_good.update([] if inner or offset else [mark])
    return hidden


def _mark(line: str) -> str:
    """Return the fence or comment that a line opens; empty where it opens none."""
    fence = _FENCE.match(line)
    return fence[1] if fence else _COMMENT_MARK if _COMMENT.match(line) else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _item_offset(line: str) -> int:
    """Return how far the text of a list item is indented that starts here; 0 if none does."""
    match = _ITEM.match(line)
    return match.end() + 1 if match else 0


def _opened(lines: Sequence[str], number: int, offset: int, mark: str) -> range:
    """Return the lines that a fence or comment on this line hides, in an item of this offset."""
    for end in range(number + 1, len(lines)):
        line = lines[end]
        if line and _indent(line) < offset:
            return range(number + 1, end)
        if "-->" in line if mark == _COMMENT_MARK else _closes(line, mark, offset):
            return range(number + 1, end + 1)
    return range(number + 1, len(lines)) if offset else range(0)


def _closes(line: str, mark: str, offset: int) -> bool:
    text = line.strip()
    return len(text) >= len(mark) and not text.strip(mark[0]) and _indent(line) < offset + 4


def _indent_of(following: Sequence[str]) -> str:
    # What is indented further than an entry above it would become part of that entry.
    plain = next((line.expandtabs(4) for line in following if line.strip()), "")
    return " " * min(_indent(plain), 3)


def _inserted(lines: Sequence[str], at: int, new: list[str], newline: str) -> Iterator[str]:
    """Yield lines with new ones among them, apart from their neighbours where Markdown needs it."""
    before, after = _ended(lines[:at], newline), lines[at:]
    yield from before
    if before and before[-1].strip() and (len(new) > 1 or not after):
        yield newline
    yield from new
    if after and after[0].strip() and not _BULLET.match(after[0]):
        yield newline
    yield from after


def without_log_text(old: str, path: str, note_id: str) -> str:
    """Return a log in which every entry about an erased note says its id and no more."""
    return _with_entries(old, path, lambda entry: _erasure(entry, note_id))


def without_index_entry(old: str, path: str) -> str:
    """Return an index without its entries for a note; one that we made counts as ours still."""
    new = _with_entries(old, path, lambda entry: "")
    return _marked(_unmarked(_with_lf(new))) if new != old and is_generated(old) else new


def _with_entries(old: str, path: str, change: Callable[[str], str]) -> str:
    """Return a reserved file with every list item that names a path changed."""
    parts = cut(old)
    lines = _LINE.findall(parts.body)
    kept: list[str] = []
    number = 0
    while number < len(lines):
        end = _end_of_entry(lines, number)
        text = "".join(lines[number:end])
        about = bool(_ITEM.match(text)) and _names(text, path)
        kept.append(change(text) if about else text)
        number = end
    return old[: len(old) - len(parts.body)] + "".join(kept)


def _end_of_entry(lines: Sequence[str], start: int) -> int:
    """Return the line after an entry that starts here, or the next line if none does."""
    offset = _item_offset(lines[start].expandtabs(4).rstrip())
    end, gap = start + 1, False
    for number in range(start + 1, len(lines) if offset else 0):
        line = lines[number].expandtabs(4).rstrip()
        if line and _indent(line) < offset and (gap or _BLOCK.match(line) or _ITEM.match(line)):
            break
        gap = not line
        end = end if gap else number + 1
    return end


def _names(text: str, path: str) -> bool:
    """Say whether a text links to a path, or names it in code as some logs do."""
    wanted = unicodedata.normalize("NFC", path).removesuffix(".md")
    for match in _LINKS.finditer(text):
        target = _target(match)
        if target == wanted or (match["wiki"] and wanted.endswith(f"/{target}")):
            return True
    return False


def _target(match: re.Match[str]) -> str:
    typed = match["angled"] or match["bare"] or ""
    place = unquote(_ESCAPE.sub(r"\1", re.split(r"[#?]", typed)[0]))
    place = place or (match["wiki"] or "").split("#")[0].strip() or (match["code"] or "").strip()
    place = unicodedata.normalize("NFC", place).removesuffix(".md")
    return place.removeprefix("./").lstrip("/")


def _erasure(entry: str, note_id: str) -> str:
    indent = entry[: len(entry) - len(entry.lstrip(" "))]
    end = entry[len(entry.rstrip("\r\n")) :]
    return f"{indent}- **Erasure** note {_one_line(note_id)}{end}"


def log_problems(text: str) -> tuple[Problem, ...]:
    """Return what OKF does not allow in a log: headings of level 2 that are no dates in order."""
    parts = cut(text)
    above = len(_LINE.findall(parts.opening + parts.block + parts.closing))
    seen: list[str] = []
    found = []
    for heading in _headings(_LINE.findall(parts.body)):
        message = _wrong(heading, seen)
        if message:
            found.append(Problem(above + heading.line + 1, message))
        if heading.day and heading.text == heading.day:
            seen.append(heading.day)
    return tuple(found)


def _wrong(heading: _Heading, seen: Sequence[str]) -> str:
    if not heading.day or heading.text != heading.day:
        return f"{heading.text!r} is no date such as 2026-10-02"
    if heading.day in seen:
        return f"{heading.day} has a group already"
    if seen and heading.day > seen[-1]:
        return f"{heading.day} comes after {seen[-1]}, and the newest should come first"
    return ""
