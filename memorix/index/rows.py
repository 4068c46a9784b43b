"""A note as the index holds it: the slow work before a transaction, and rows read back."""

import hashlib
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memorix.chunks import Chunk, embedding_text
from memorix.index import context, graph
from memorix.index.base import Put, Row
from memorix.lexemes import language_hint, words_and_stems
from memorix.note import Note, digest, format_time
from memorix.reconcile import Seen
from memorix.trust import trust_tier


@dataclass(frozen=True, slots=True)
class Prepared:
    """A `Put` with all slow work done: the rows of the tables, as far as they are known before.

    `told` is what was said in a session.  `row` follows the key and the id of the note, all
    others its key or that of a chunk.
    """

    path: str
    id: str
    told: bool
    row: tuple[str, ...]
    tags: tuple[str, ...]
    facets: tuple[tuple[str, str], ...]
    warnings: tuple[tuple[str, int, str], ...]
    names: graph.Names
    links: graph.Links
    chunks: tuple[tuple[str, bytes, str, str], ...]
    words: tuple[tuple[str, str, str, str], ...]


def prepare(put: Put) -> Prepared:
    note = put.note
    by = note.author.removeprefix("human:") if note.author.startswith("human:") else ""
    names = " ".join([note.title, *note.aliases, *note.tags, _listed(note, "applies_when"), by])
    title = context.words_of(names)
    short = context.is_short(put.chunks)
    day = context.day_in_words(note.created or note.changed, note.body) if short else ""
    around = context.words_of(day)
    return Prepared(
        note.path,
        note.id,
        bool(context.session_of(note)),
        _row(put, names, day),
        tuple(sorted({tag.lower() for tag in note.tags})),
        tuple(facets_of(note)),
        tuple((warning.code, warning.line, warning.message) for warning in note.warnings),
        graph.names_of(note, put.root),
        graph.links_of(note, put.root),
        tuple(_chunk_row(note.title, chunk) for chunk in put.chunks),
        tuple((title, *words_and_stems(c.text), around) for c in put.chunks),
    )


def _chunk_row(title: str, chunk: Chunk) -> tuple[str, bytes, str, str]:
    embedded = embedding_text(title, chunk)
    mark = hashlib.blake2b(embedded.encode(), digest_size=16).digest()
    return language_hint(embedded), mark, chunk.heading, chunk.text


def _row(put: Put, names: str, day: str) -> tuple[str, ...]:
    """Return the values of the table `notes` after its key and its id, in order."""
    note, seen = put.note, put.seen
    created, date = note.created or note.changed, note.changed or note.created
    moments = (note.valid_from, note.valid_to, note.expires_at, note.stale_after)
    return (
        note.id,
        note.path,
        folded(note.path),
        put.scope,
        note.type,
        note.title,
        note.gist,
        format_time(created) if created else file_date(seen),
        format_time(date) if date else file_date(seen),
        note.status,
        *(format_time(moment) if moment else "" for moment in moments),
        note.superseded_by,
        put.held,
        "\x1f".join(note.contested_by),
        context.session_of(note),
        note.branch,
        note.author,
        note.origin,
        trust_tier(note),
        names,
        day,
        put.digest or digest(note.body),
        seen.etag,
        seen.signature,
    )


_COLUMNS = frozenset(
    {"type", "title", "id", "tags", "created", "generated", "description", "aliases", "status"}
    | {"valid_from", "valid_to", "expires_at", "stale_after", "superseded_by", "contested_by"}
    | {"verified"}
)
# Keys with a column or a table of their own, or nested ones of OKF.

MAX_FACET = 200
# Characters; longer values are texts, and nobody filters by them.


def facets_of(note: Note) -> list[tuple[str, str]]:
    """Return what a note's other keys say, for being filtered by: (key, value), one a list item."""
    found = []
    for key, value in note.meta.items():
        items = value if isinstance(value, (list, tuple)) else [value]
        found += [(key, str(item)) for item in items if isinstance(item, (str, int, float))]
    return [(k, v) for k, v in found if k not in _COLUMNS and v and len(v) <= MAX_FACET]


def folded(path: str) -> str:
    """Return what is the same for all spellings that some system takes for one file."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _listed(note: Note, key: str) -> str:
    value = note.meta.get(key)
    return " ".join(str(v) for v in value) if isinstance(value, (list, tuple)) else str(value or "")


def file_date(seen: Seen) -> str:
    """The date of a note that states none: when its file was last written."""
    modified = int(seen.signature.split("-")[1]) if seen.signature else 0
    return format_time(datetime.fromtimestamp(modified / 1e9).astimezone())


def row_of(row: tuple[Any, ...]) -> Row:
    *plain, suspect, contested_by, signature, etag, tags = row
    return Row(*plain, bool(suspect), _parted(contested_by), _parted(tags), Seen(signature, etag))  # type: ignore[call-arg]


def _parted(joined: str | None) -> tuple[str, ...]:
    return tuple(joined.split("\x1f")) if joined else ()


def chunk_of(heading: str, text: str) -> Chunk:
    return Chunk(ordinal=0, heading=heading, text=text, start=0, end=len(text), line=1)
