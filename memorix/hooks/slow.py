"""What a hook needs the engine for: recall for a prompt, and taking in what changed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memorix.hooks.places import Place, place_of
from memorix.hooks.quick import signature
from memorix.index.base import Row
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
    cwd: str,
    flags: Mapping[str, str | None],
    asked: str,
    known: Collection[str],
    files: Sequence[str] = (),
) -> tuple[list[str], list[str]]:
    """Return lines about the notes that a prompt surely means, and their ids.

    Those are about `files`, paths from the project's root, or are found by words alone.
    """
    place = place_of(cwd, dict(flags))
    if not Path(place.index).exists():
        return [], []
    hits = _found(place, asked, known, files)
    stale = [h.path for h in hits if signature(place.file(h.path)) != h.seen.signature]
    if stale:
        take_in(cwd, flags, stale)
        hits = _found(place, asked, known, files)
    lines = [f"- {h.type} ({h.date[:10]}) {h.title}: {h.gist} [{h.id}]" for h in hits]
    told = [HEAD, *fenced("\n".join(lines), "notes").splitlines()]
    return (told, [hit.id for hit in hits]) if hits else ([], [])


def _found(
    place: Place, asked: str, known: Collection[str], files: Sequence[str]
) -> list[Hit | Row]:
    wanted = Filter(scopes=tuple(place.scopes), held=tuple(place.held))
    now, most = datetime.now(UTC), SHOWN + len(known)
    index = SqliteIndex(Path(place.index))
    try:
        of_files = replace(wanted, having=(("file", tuple(files)),))
        about = index.latest(of_files, now, most) if files else []
        hits = _asked(index, Query(asked[:MOST_ASKED], wanted, limit=most, strict=True), now)
        rows = {hit.id: index.find(hit.id) for hit in hits if hit.id not in known}
    finally:
        index.close()
    found: dict[str, Hit | Row] = {
        row.id: row for row in about if row.id not in known and not row.suspect
    }
    for hit in hits:
        if (row := rows.get(hit.id)) and not row.suspect:
            found.setdefault(hit.id, hit)
    return list(found.values())[:SHOWN]


def _asked(index: SqliteIndex, query: Query, now: datetime) -> Sequence[Hit]:
    if not query.text:
        return []
    found = search(index, None, query, now, meaning="off", mix=Mix())
    return page(index, query, now, found, Lists(), lambda row: "", _undisputed).hits


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
