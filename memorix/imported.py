"""Decide how a record of another program becomes a note, and what a later import does to it.

What was taken in is known again by `imported_as`: the mark of the record as it was there, and the
mark of the text as it was written here.  The first tells whether the source changed since, the
second whether somebody edited the note here.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b

from memorix import screening
from memorix.editing import set_keys
from memorix.errors import NoteUneditable
from memorix.frontmatter import cut
from memorix.intake import VERIFIED, VERIFIED_THERE, portable
from memorix.keys import clean, kind
from memorix.lifecycle import MAX_TITLE, label
from memorix.links import relative_link
from memorix.note import (
    RESERVED,
    Note,
    NoteId,
    cut_short,
    decode,
    digest,
    etag_of,
    format_time,
    from_meta,
    new_id,
    normalised,
    parse,
    render,
    slug,
    tags_from,
)
from memorix.yamltext import Value, as_typed

FROM, RECORD_ID, AS = "imported_from", "imported_id", "imported_as"
# Keys of a note: the source, the record's id there, and the two marks.

NEW, KNOWN, CHANGED, CONFLICTING = "new", "known", "changed", "conflicting"

_TIMELESS = datetime(2000, 1, 1, tzinfo=UTC)
# The time in an id made from a record, whose rest is a hash; the same record has one id for ever.

LONGEST_NAME = 200
# Bytes; file systems allow 255, and a suffix has to fit.

DEEPEST = 20
# Levels of a value in a note's block; real ones have three.

_OURS = frozenset(
    {"type", "title", "id", "tags", "aliases", "description", "created", "generated", "origin"}
    | {FROM, RECORD_ID, AS}
)
# What a record has fields for, or what is said of it here.

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Relation:
    """That a record stands to another: the word for it, the other's key, and its title."""

    kind: str
    to: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One memory of another program.

    `key` is its id there, the same in each export.  `place` is the path it should have in its
    scope, without `.md`; empty takes that of its title.  `review` says why a person should look
    at it first, empty where it may count at once.  `extra` are more keys of the note.
    """

    key: str
    title: str
    body: str
    type: str = "Fact"
    description: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    created: datetime | None = None
    changed: datetime | None = None
    author: str = ""
    relations: tuple[Relation, ...] = ()
    extra: Mapping[str, Value] = field(default_factory=dict)
    place: str = ""
    review: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What could not be read as a record: where it stands in the source, and why."""

    where: str
    reason: str


def note_id(record: Record, format: str, scope: str) -> NoteId:
    """Return the id a record's note has in a scope; the same whenever it is imported."""
    said = "\0".join((format, scope, record.key)).encode("utf-8", "replace")
    return new_id(_TIMELESS, blake2b(said, digest_size=10).digest())


def place_of(record: Record) -> str:
    """Return the path of a record's note in its scope, without `.md`: as there, or of its title."""
    parts = [part.strip() for part in record.place.split("/") if part.strip(" .")]
    if not parts:
        return slug(record.title)
    stem = parts[-1] if len(parts[-1].encode()) <= LONGEST_NAME else slug(parts[-1])
    stem = f"{stem}-note" if f"{stem.lower()}.md" in RESERVED else stem
    return portable("/".join([*parts[:-1], stem]))


def tidied(record: Record) -> Record:
    """Return a record without what no file should hold, with a title and a body that are not empty
    as far as there is any text.
    """
    body = clean(record.body).replace("\r\n", "\n").strip("\n").rstrip()
    title = " ".join(clean(record.title).split()) or body.strip().partition("\n")[0] or record.key
    return replace(
        record,
        key=" ".join(clean(record.key).split()),
        title=cut_short(" ".join(clean(title).split()), MAX_TITLE),
        body=body,
        type=kind(record.type) or "Fact",
        description=" ".join(clean(record.description).split()),
        tags=tags_from([clean(tag) for tag in record.tags]),
        author=" ".join(clean(record.author).split()),
        aliases=tuple(" ".join(clean(alias).split()) for alias in record.aliases),
    )


def why_review(record: Record) -> str:
    """Return why a record should wait for a person; empty where it may count at once."""
    if record.review:
        return record.review
    if not _WORD.search(record.body) and not record.relations:
        return "it has no text of its own"
    if found := screening.instructions(f"{record.title}\n{record.body}"):
        return f"it reads like {found[0].label}"
    return ""


def composed(
    record: Record,
    *,
    format: str,
    source: str,
    note_id: str,
    path: str,
    path_of: Callable[[str], str],
    suggested: bool = False,
) -> bytes:
    """Return the file of a record's note, without `imported_as`.

    `path_of` gives the vault path of the note of another record's key, empty where there is none.
    """
    at = record.changed or record.created
    by = record.author or f"process:{format}"
    extra = _extra(record.extra)
    meta: dict[str, Value] = {
        "type": record.type,
        "title": record.title,
        "description": record.description,
        "id": note_id,
        "tags": list(record.tags),
        "aliases": list(record.aliases),
        "created": format_time(record.created or at) if at else "",
        "generated": {"by": by, "at": format_time(at)} if at else {"by": by},
        "origin": "imported",
        "status": "draft" if suggested else extra.pop("status", ""),
        **extra,
        FROM: f"{format} {source}",
        RECORD_ID: record.key,
    }
    stated = {key: value for key, value in meta.items() if value not in (None, "", (), [], {})}
    body = _with_relations(record, path, path_of)
    return render(replace(from_meta(as_typed(stated), body, path), meta=stated))


def _extra(keys: Mapping[str, Value]) -> dict[str, Value]:
    """Return the keys of a record that a note may keep; who verified it there has not here."""
    named = {VERIFIED_THERE if key == VERIFIED else key: value for key, value in keys.items()}
    plain = {key: _plain(value) for key, value in named.items() if isinstance(key, str)}
    return {key: value for key, value in plain.items() if key and key not in _OURS}


def _plain(value: object, depth: int = 0) -> Value:
    """Return a value of JSON or SQLite as a note's block holds it, without what lies too deep."""
    if depth > DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {clean(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else clean(str(value))


def _with_relations(record: Record, path: str, path_of: Callable[[str], str]) -> str:
    if not record.relations:
        return record.body + "\n" if record.body else ""
    lines = [_line(relation, path, path_of(relation.to)) for relation in record.relations]
    head = f"{record.body}\n\n" if record.body else ""
    return f"{head}# Relations\n\n" + "\n".join(dict.fromkeys(lines)) + "\n"


def _line(relation: Relation, path: str, target: str) -> str:
    word = "_".join(_WORD.findall(clean(relation.kind).lower()))[:40].lstrip("0123456789_")
    title = " ".join(clean(relation.title or relation.to).split())
    link = f"[{label(title)}]({relative_link(path, target)})" if target else f"[[{title}]]"
    return f"- {word or 'relates_to'} {link}"


def mark_of(record: Record) -> str:
    """Return the mark of all that a record says, whatever becomes of it here.

    When it last changed is not part of it: a file that was only copied says nothing new.
    """
    return etag_of(repr(_as_tuple(record)).encode("utf-8", "replace"))[3:19]


def _as_tuple(record: Record) -> tuple[object, ...]:
    created = record.created and format_time(record.created)
    said = (record.title, record.body, record.type, record.description, record.tags)
    others = (record.aliases, record.author, sorted(_extra(record.extra).items(), key=str))
    return (*said, *others, created, tuple((r.kind, r.to, r.title) for r in record.relations))


def signed(content: bytes, path: str, record_mark: str) -> bytes:
    """Return a note's file with `imported_as`.

    Raises:
        NoteUneditable: Its block cannot be edited.
    """
    text, odd = decode(content)
    if odd:
        raise NoteUneditable(path, odd[0].message)
    mark = f"{record_mark} {text_mark(parse(content, path))}"
    return set_keys(text, {AS: mark}, path).encode()


def text_mark(note: Note) -> str:
    """Return the mark of what a note says; where it lies, links and status make no difference."""
    said = (normalised(note.title), note.type, ",".join(note.tags), digest(note.body))
    return etag_of("\0".join(said).encode("utf-8", "replace"))[3:19]


def verdict(note: Note, record_mark: str) -> tuple[str, str]:
    """Say what a record is to the note it became once, and why: KNOWN, CHANGED, CONFLICTING."""
    marks = note.meta.get(AS)
    return compared(marks if isinstance(marks, str) else "", text_mark(note), record_mark)


def compared(marks: str, text_now: str, mark_now: str) -> tuple[str, str]:
    """Say the same by the marks of what was taken in: of it as it was there, and as it was here.

    `text_now` is the mark of the note as it is, `mark_now` that of what comes in.
    """
    then, _, text = marks.partition(" ")
    if then == mark_now:
        return KNOWN, ""
    if text and text == text_now:
        return CHANGED, ""
    return CONFLICTING, "it changed there and was edited here; the note that is here stays"


def updated(old: bytes, new: bytes, path: str) -> bytes:
    """Return a note's file with the text and the keys of its record's new version.

    Keys that only stand here, such as who confirmed it, stay.

    Raises:
        NoteUneditable: The file cannot be edited.
    """
    text, odd = decode(old)
    if odd:
        raise NoteUneditable(path, odd[0].message)
    fresh = parse(new, path)
    parts = cut(text)
    text = replace(parts, body=cut(decode(new)[0]).body).joined()
    keys = {key: value for key, value in fresh.meta.items() if key != "status"}
    return set_keys(text, keys, path).encode()
