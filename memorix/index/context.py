"""What a short note is found by beside its own words: its day, and its neighbours in a session.

A turn of a conversation or a line noted in passing leaves out what was just said.  Indexing it
with its neighbours finds 15 points more of LoCoMo's evidence by words; long notes lose by it.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import apsw

from memorix.chunks import Chunk, estimate_tokens
from memorix.index.schema import fetch
from memorix.lexemes import language_hint, words_and_stems
from memorix.note import Note

SHORT_TOKENS = 100
# About 60 English words; longer notes say themselves what they are about.

NEIGHBOUR_LENGTH = 600
# Characters of a neighbour that count: its beginning says what it is about.

EPISODE = "Episode"

_PLACE = "scope, session, created, id"


class Place(NamedTuple):
    """Where a note stands in the session it was written in: sessions run by time, then by id."""

    scope: str
    session: str
    created: str
    id: str


def is_short(chunks: tuple[Chunk, ...]) -> bool:
    return len(chunks) == 1 and chunks[0].tokens < SHORT_TOKENS


def session_of(note: Note) -> str:
    """Return the session whose notes explain this one: that of an episode, of what was said.

    A fact or a decision says itself what it is about, and is no answer to what was noted beside it.
    """
    return note.session if note.type == EPISODE else ""


def day_in_words(day: datetime | None, text: str) -> str:
    """Return a day as it is written in the language of a text, for being searched by words."""
    if day is None:
        return ""
    if language_hint(text) in ("zh", "ja"):
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {day:%B} {day.year}"


def words_of(*texts: str) -> str:
    """Return the search words of texts in a column that holds words and stems."""
    return " ".join(" ".join(words_and_stems(text)) for text in texts if text)


def places_of(db: apsw.Connection, paths: Sequence[str]) -> list[Place]:
    """Return the places of the notes of these paths that belong to a session."""
    sql = (
        f"SELECT {_PLACE} FROM notes WHERE session <> ''"
        " AND path IN (SELECT value FROM json_each(?))"
    )
    return [Place(*row) for row in fetch(db, sql, (json.dumps(paths),))] if paths else []


def refresh(db: apsw.Connection, places: Iterable[Place]) -> None:
    """Index the notes at these places and those beside them with their neighbours of now."""
    stale: dict[int, None] = {}
    for place in dict.fromkeys(places):
        before, after = _beside(db, place, 1, 2)  # the note itself, if it is there, comes after
        stale |= dict.fromkeys([*before, *after])
    rows = sorted(row for key in stale for row in _anew(db, key))
    db.executemany("DELETE FROM words WHERE rowid = ?", [row[:1] for row in rows])
    db.executemany(
        "INSERT INTO words(rowid, title, exact, stem, around) VALUES (?, ?, ?, ?, ?)", rows
    )


def _beside(db: apsw.Connection, place: Place, before: int, after: int) -> tuple[list[int], ...]:
    sql = (
        "SELECT key FROM notes WHERE scope = ? AND session = ? AND session <> '' AND held = ''"
        " AND (created, id) {} (?, ?) ORDER BY created {order}, id {order} LIMIT ?"
    )
    lower = fetch(db, sql.format("<", order="DESC"), (*place, before))
    upper = fetch(db, sql.format(">=", order="ASC"), (*place, after))
    return [key for (key,) in lower], [key for (key,) in upper]


def _anew(db: apsw.Connection, key: int) -> list[tuple[int, str, str, str, str]]:
    """Return the words of a short note among its neighbours of now; none of a longer one."""
    scope, session, created, note_id, names, day = fetch(
        db, f"SELECT {_PLACE}, names, day FROM notes WHERE key = ?", (key,)
    )[0]
    chunks = fetch(db, "SELECT key, text FROM chunks WHERE note = ?", (key,))
    if len(chunks) != 1 or estimate_tokens(chunks[0][1]) >= SHORT_TOKENS:
        return []
    (chunk, text), place = chunks[0], Place(scope, session, created, note_id)
    before, after = _beside(db, place, 1, 2)
    beside = [*before, *(other for other in after if other != key)]
    said = [_beginning(db, other) for other in beside]
    return [(chunk, words_of(names), *words_and_stems(text), words_of(day, *said))]


def _beginning(db: apsw.Connection, key: int) -> str:
    rows = fetch(db, "SELECT text FROM chunks WHERE note = ? ORDER BY key LIMIT 1", (key,))
    return str(rows[0][0])[:NEIGHBOUR_LENGTH] if rows else ""
