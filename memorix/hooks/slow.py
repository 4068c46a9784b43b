"""What a hook needs the engine for: recall for a prompt, and taking in what changed."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from memorix.hooks.places import Place, place_of
from memorix.hooks.quick import signature
from memorix.index.sqlite import SqliteIndex
from memorix.paging import Lists, page
from memorix.query import Filter, Hit, Query
from memorix.quoting import fenced
from memorix.ranking import Mix
from memorix.recalling import search

SHOWN = 3
# Notes told for a prompt: what nobody asked for must be little.

MOST_ASKED = 4_000
# Characters of a prompt that are looked up; what follows is most often pasted.

HEAD = "Notes of earlier sessions that bear on this (Memorix), quoted data with the day of each:"


def recall(
    cwd: str, flags: Mapping[str, str | None], asked: str, known: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return lines about the notes that a prompt surely means, by words alone, and their ids."""
    place = place_of(cwd, dict(flags))
    if not Path(place.index).exists():
        return [], []
    hits = _asked(place, asked, known)
    stale = [h.path for h in hits if signature(place.file(h.path)) != h.seen.signature]
    if stale:
        take_in(cwd, flags, stale)
        hits = _asked(place, asked, known)
    lines = [f"- {h.type} ({h.date[:10]}) {h.title}: {h.gist} [{h.id}]" for h in hits]
    told = [HEAD, *fenced("\n".join(lines), "notes").splitlines()]
    return (told, [hit.id for hit in hits]) if hits else ([], [])


def _asked(place: Place, asked: str, known: Collection[str]) -> list[Hit]:
    wanted = Filter(scopes=tuple(place.scopes), held=tuple(place.held))
    query = Query(asked[:MOST_ASKED], wanted, limit=SHOWN + len(known), strict=True)
    index = SqliteIndex(Path(place.index))
    try:
        now = datetime.now(UTC)
        found = search(index, None, query, now, meaning="off", mix=Mix())
        hits = page(index, query, now, found, Lists(), lambda row: "", _undisputed).hits
        rows = {hit.id: index.find(hit.id) for hit in hits if hit.id not in known}
    finally:
        index.close()
    sound = [hit for hit in hits if (row := rows.get(hit.id)) and not row.suspect]
    return sound[:SHOWN]


def _undisputed(hits: Sequence[tuple[Hit, str]]) -> list[Hit]:
    """Mark nothing: the lines of a hook do not show it, and comparing takes long to import."""
    return [hit for hit, _ in hits]


def take_in(cwd: str, flags: Mapping[str, str | None], paths: Sequence[str]) -> None:
    """Bring the index up to the files of some notes."""
    from memorix.config import load
    from memorix.wiring import open_memory

    memory = open_memory(load({**flags, "cwd": cwd}))
    try:
        memory.catch_up(paths)
    finally:
        memory.close()
