"""Decide what an erased note has left in other files, and take it out to the character.

A link to it becomes a neutral word, whatever its label said; a key that names it goes; an entry of
an index or a log that leads to it goes.  Everything else of those files stays.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize

from memorix.editing import set_keys
from memorix.errors import NoteUneditable
from memorix.frontmatter import cut, read_block
from memorix.links import Link, links, name_key, note_path
from memorix.note import Note, concept_id, decode, digest
from memorix.yamltext import Value

NEUTRAL = "(erased note)"
# What stands where a link to it stood.

OWN_KEYS = frozenset(
    {"id", "type", "title", "description", "tags", "aliases", "created", "generated", "verified"}
)
# What these say is about the note they stand in.

_RELATIONS = re.compile(r"^# Relations[ \t]*\r?$", re.MULTILINE)
_TITLE = re.compile(r"\A\s*# [^\n]*\n")
_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")


@dataclass(frozen=True, slots=True)
class Erased:
    """A note that is to leave no trace, by all the names it had.

    `paths` are in the vault, the present one first; `titles` with its aliases; `wiki` holds the
    path of each note whose wikilinks mean it and no other, with the name key by which they do;
    `marks` are its tombstones.
    """

    id: str
    paths: tuple[str, ...]
    titles: tuple[str, ...] = ()
    wiki: tuple[tuple[str, str], ...] = ()
    marks: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """What may be said of it: its id, where that is not made of its title."""
        return self.id if is_own_id(self.id) else "without an id"


def is_own_id(note_id: str) -> bool:
    """Say whether an id tells nothing of its note: a ULID, and not a path."""
    return _ULID.fullmatch(note_id) is not None


def marks_of(note: Note) -> tuple[str, ...]:
    """Return the tombstones of a note: the digests of what it says, and its own id."""
    own = (str(note.id),) if is_own_id(str(note.id)) else ()
    return (*own, *marks_of_text(note.body))


def marks_of_text(text: str) -> tuple[str, ...]:
    """Return the tombstones of a text: with the relations that were added to it, and without; with
    its title as the first heading, as other programs write it, and without."""
    found = list(_RELATIONS.finditer(text))
    bare = text[: found[-1].start()] if found else text
    said = (text, bare, _TITLE.sub("", text), _TITLE.sub("", bare))
    return tuple(dict.fromkeys(digest(one) for one in said if one.strip()))


def neutralised(
    content: bytes, path: str, root: str, erased: Sequence[Erased], *, loose: bool = False
) -> bytes:
    """Return a file's bytes without what names an erased note; the same bytes where nothing does.

    `root` is the folder of the file's scope.  A `loose` reading takes any wikilink that could mean
    the note: for files that are not indexed, so that nobody knows what theirs do mean.  What cannot
    be edited safely stays as it is.
    """
    if not may_mention(content, erased):
        return content
    text, odd = decode(content)
    if odd:
        return content
    means = _Meaning(path, root, erased, loose=loose)
    parts = cut(text)
    body = _unlinked(parts.body, means.link)
    text = text if body == parts.body else replace(parts, body=body).joined()
    try:
        return set_keys(text, _without_names(text, means), path).encode()
    except NoteUneditable:
        return text.encode()


def may_mention(content: bytes, erased: Sequence[Erased]) -> bool:
    """Say quickly whether a closer look at a file is worth it."""
    if b"%" in content:  # a link may be encoded
        return True
    folded = content.lower()
    return any(name in folded for one in erased for name in _traces(one))


def _traces(one: Erased) -> set[bytes]:
    names = {one.id, *_stems(one), *one.titles, *(name for _, name in one.wiki)}
    return {name.encode("utf-8", "replace").lower() for name in names if name}


def _stems(one: Erased) -> Iterable[str]:
    return (concept_id(path).rpartition("/")[2] for path in one.paths)


class _Meaning:
    """Tells which links and values of a file mean one of the notes."""

    def __init__(self, path: str, root: str, erased: Sequence[Erased], *, loose: bool) -> None:
        self._path, self._root = path, root
        self._places = {normalize("NFC", place) for one in erased for place in one.paths}
        self._names = self._places | set(map(concept_id, self._places)) | {e.id for e in erased}
        exact = {name for one in erased for source, name in one.wiki if source == path}
        self._loosely = {name for one in erased for name in _wiki_names(one)}
        self._wiki = self._loosely if loose else exact | set(map(name_key, self._places))

    def link(self, link: Link) -> bool:
        if link.kind == "wiki":
            return name_key(link.target.strip("/")) in self._wiki
        return note_path(self._path, link.target, self._root) in self._places

    def value(self, value: Value) -> bool:
        if isinstance(value, Mapping):
            return any(self.value(inner) for inner in value.values())
        if not isinstance(value, str) or not value.strip():
            return False
        bare = value.strip()
        if bare.startswith("[[") and bare.endswith("]]"):
            return name_key(re.split(r"[#|]", bare[2:-2])[0].strip("/ ")) in self._loosely
        is_path = bare.endswith(".md")
        return bare in self._names or (
            is_path and note_path(self._path, bare, self._root) in self._places
        )


def _wiki_names(one: Erased) -> Iterable[str]:
    """Yield the name keys of everything that a wikilink to a note may say."""
    for path in one.paths:
        steps = path.split("/")
        yield from (name_key("/".join(steps[start:])) for start in range(len(steps)))
    yield from map(name_key, one.titles)
    yield from (name for _, name in one.wiki)


def _unlinked(body: str, means: Callable[[Link], bool]) -> str:
    pieces, done = list[str](), 0
    for link in sorted((link for link in links(body) if means(link)), key=lambda x: x.whole):
        start, end = link.whole
        if start >= done:  # a link within one that is gone already is gone too
            defined = link.kind == "markdown" and "](" not in body[start : link.start]
            pieces += [body[done:start], "" if defined else NEUTRAL]
            done = end
    return "".join([*pieces, body[done:]])


def _without_names(text: str, means: _Meaning) -> Mapping[str, Value]:
    """Return the keys of a block that name an erased note, each with what is left of its value."""
    changes: dict[str, Value] = {}
    for key, value in read_block(cut(text).block).values.items():
        listed = value if isinstance(value, list) else [value]
        left = [item for item in listed if not means.value(item)]
        if key not in OWN_KEYS and len(left) < len(listed):
            changes[key] = left or None
    return changes


# -- what tells whether it is gone


@dataclass(frozen=True, slots=True)
class Trace:
    """A piece of an erased note to be looked for in bytes; `kind` is title, id, path or words."""

    kind: str
    text: str

    @property
    def sought(self) -> bytes:
        return self.text.encode("utf-8", "replace").lower()


_WORD = re.compile(r"\w+")
_RUN, _CJK_RUN = 4, 8
# Words, or characters of a script without spaces, that hardly stand together by chance.

_MOST_RUNS = 200
_LEAST_CHARACTERS = 8
# A shorter piece would be found in any database.


def traces(texts: Iterable[str], erased: Sequence[Erased]) -> tuple[Trace, ...]:
    """Return what to look for to know that notes are gone: their names, and words that stand
    together in their texts, evenly chosen."""
    names = [Trace("title", title) for one in erased for title in one.titles]
    names += [Trace("id", one.id) for one in erased if is_own_id(one.id)]
    names += [Trace("path", path) for one in erased for path in one.paths]
    runs = list(dict.fromkeys(run for text in texts for run in _runs(text)))
    step = max(1, -(-len(runs) // _MOST_RUNS))
    kept = [trace for trace in names if len(trace.sought) >= _LEAST_CHARACTERS]
    return tuple(dict.fromkeys([*kept, *(Trace("words", run) for run in runs[::step])]))


def _runs(text: str) -> Iterable[str]:
    for line in text.splitlines():
        words = list(_WORD.finditer(line))
        for first in range(len(words)):
            last = words[min(first + _RUN, len(words)) - 1]
            run = line[words[first].start() : last.end()]
            whole = first + _RUN <= len(words) or first == 0
            if whole and len(run.encode("utf-8", "replace")) >= _LEAST_CHARACTERS:
                yield run
            if not words[first][0].isascii() and len(words[first][0]) > _CJK_RUN:
                yield from _pieces(words[first][0])


def _pieces(run: str) -> Iterable[str]:
    starts = range(0, len(run) - _CJK_RUN + 1, _CJK_RUN // 2)
    return (run[start : start + _CJK_RUN] for start in starts)
