"""How a note stands to others: it replaces, disputes or draws on them, and both sides say so."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memorix.editing import set_keys
from memorix.errors import NoteUneditable
from memorix.layout import scope_of
from memorix.lifecycle import Draft, label
from memorix.links import is_outside, relative_link
from memorix.note import Note, decode, format_time, parse, texts_of
from memorix.validity import holds_since
from memorix.yamltext import Value


def superseding(draft: Draft, old: Sequence[Note], path: str) -> Draft:
    """Return the draft that takes the place of old notes: it names them, by id and by link."""
    named = _named(draft, "supersedes", old, path)
    ids = dict.fromkeys([*texts_of(draft.extra.get("supersedes")), *(str(n.id) for n in old)])
    return replace(named, extra={**named.extra, "supersedes": list(ids)})


def as_history(draft: Draft, current: Note, path: str) -> Draft:
    """Return the draft of what held before another note does: kept, out of force from the start."""
    named = _named(draft, "superseded_by", [current], path)
    ended = _ended(current) | {"superseded_by": str(current.id)}
    return replace(named, extra={**named.extra, **ended})


def drawing_on(draft: Draft, notes: Mapping[str, Note], path: str) -> Draft:
    """Return a draft whose sources are entries, and links where they are notes.

    `notes` are those that it names; another source is a URL, or an entry already.
    """
    given = draft.extra.get("sources")
    entries: list[Value] = []
    for source in given if isinstance(given, list) else ():
        note = notes.get(source) if isinstance(source, str) else None
        entries.append(_source(note, path) if note else _entry(source))
    named = _named(draft, "derived_from", list(notes.values()), path)
    return replace(named, extra={**named.extra, "sources": entries})


def merging(draft: Draft, old: Sequence[Note], path: str) -> Draft:
    """Return the draft of a topic document that takes the place of notes, sources kept."""
    entries: dict[str, Mapping[str, Value]] = {}
    for note in old:
        found = [
            (_source(note, path)),
            *(_rebased(e, note.path, path) for e in _entries(note.meta)),
        ]
        for entry in found:
            entries.setdefault(str(entry["resource"]), entry)
    whole = superseding(draft, old, path)
    tags = draft.tags or tuple(dict.fromkeys(tag for note in old for tag in note.tags))
    return replace(whole, tags=tags, extra={**whole.extra, "sources": list(entries.values())})


def counterpart(content: bytes, path: str, of: Note) -> bytes | None:
    """Return a note's bytes once they say of another note what that one says of it.

    None where they do already, or where the other says nothing.  Only keys are set and a link is
    added; the other note is where it all begins, so doing it twice changes nothing.

    Raises:
        NoteUneditable: The file is not UTF-8, or its metadata cannot be parsed.
    """
    text, odd = decode(content)
    note = parse(content, path)
    changes: dict[str, Value] = {}
    link = ""
    if note.id in of.supersedes and not note.superseded_by:
        changes = _ended(of) | {"superseded_by": str(of.id)}
        if note.valid_to and note.status == "deprecated":
            del changes["valid_to"]  # it had ended before
        link = "superseded_by"
    elif of.superseded_by == note.id and of.id not in note.supersedes:
        changes, link = {"supersedes": [*note.supersedes, str(of.id)]}, "supersedes"
    if note.id in of.contested_by and of.id not in note.contested_by:
        changes["contested_by"] = [*note.contested_by, str(of.id)]
    if not changes:
        return None
    if odd:
        raise NoteUneditable(path, odd[0].message)
    newline = "\r\n" if "\r\n" in text else "\n"
    if link and scope_of(path) == scope_of(of.path):
        text = _with_relation(text.rstrip("\r\n"), _link(link, path, of), newline) + newline
    return set_keys(text, changes, path).encode()


def sentence(path: str, title: str, of: Note) -> str:
    """Say in a plan what `counterpart` does to the note of this path."""
    if of.supersedes:
        return f"mark {path} ({title}) as replaced by it, out of force"
    if of.superseded_by:
        return f"name it in {path} ({title}), which stays in force"
    return f"mark {path} ({title}) as contested by it"


def _ended(by: Note) -> dict[str, Value]:
    """Return the keys of a note that holds until another one begins to."""
    since = holds_since(by)
    ended: dict[str, Value] = {"status": "deprecated"}
    return ended | {"valid_to": format_time(since)} if since else ended


def _named(draft: Draft, relation: str, others: Sequence[Note], path: str) -> Draft:
    text = draft.text
    for note in others:
        if scope_of(note.path) == scope_of(path):  # a link must not lead out of its bundle
            text = _with_relation(text, _link(relation, path, note))
    return replace(draft, text=text)


def _link(relation: str, path: str, to: Note) -> str:
    return f"- {relation} [{label(to.title)}]({relative_link(path, to.path)})"


def _with_relation(text: str, link: str, newline: str = "\n") -> str:
    head = "" if re.search(r"^# Relations[ \t]*\r?$", text, re.MULTILINE) else "# Relations"
    between = f"{newline}{newline}{head}{newline}{newline}" if head else newline
    return text + between + link


def _source(note: Note, path: str) -> dict[str, Value]:
    """Return an entry of `sources` (OKF section 5.1) for a note, as seen from a path."""
    link = relative_link(path, note.path)
    resource = link if link.startswith("../") else f"./{link}"
    return {"id": str(note.id), "resource": resource, "title": note.title}


def _entries(meta: Mapping[str, Value]) -> list[Mapping[str, Value]]:
    listed = meta.get("sources")
    entries = [_entry(e) for e in listed] if isinstance(listed, (list, tuple)) else []
    return [entry for entry in entries if isinstance(entry, Mapping) and entry.get("resource")]


def _entry(source: Value) -> Value:
    return {"resource": source} if isinstance(source, str) else source


def _rebased(entry: Mapping[str, Value], old_path: str, new_path: str) -> Mapping[str, Value]:
    """Return a source as seen from another note."""
    resource = str(entry["resource"])
    if is_outside(resource) or not resource.startswith("."):
        return entry
    place = posixpath.normpath(posixpath.join(posixpath.dirname(old_path), resource))
    link = posixpath.relpath(place, posixpath.dirname(new_path) or ".")
    return {**entry, "resource": link if link.startswith("../") else f"./{link}"}
