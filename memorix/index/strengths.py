"""What the index alone knows of a note: how often it was recalled, when last, how it lasts."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

import apsw

from memorix.index.schema import fetch
from memorix.note import format_time, parse_time
from memorix.retention import Recalls, recalled_again


def count(db: apsw.Connection, note_ids: Sequence[str], now: datetime) -> None:
    """Count that these notes were returned; runs in the caller's transaction."""
    marks = ", ".join("?" * len(note_ids))
    rows = fetch(
        db,
        "SELECT n.id, n.date, r.count, r.last, r.stability_days FROM notes n"
        f" LEFT JOIN recalls r ON r.id = n.id WHERE n.id IN ({marks})",
        note_ids,
    )
    counted_now = (
        (note_id, recalled_again(_recalls(*known), parse_time(date) or now, now))
        for note_id, date, *known in rows
    )
    db.executemany(
        "INSERT OR REPLACE INTO recalls(id, count, last, stability_days) VALUES (?, ?, ?, ?)",
        [(i, new.count, format_time(new.last), new.stability_days) for i, new in counted_now],
    )


def counted(db: apsw.Connection, note_ids: Iterable[str]) -> dict[str, Recalls]:
    """Return the recalls of those of these notes that ever were recalled."""
    wanted = "SELECT value FROM json_each(?)"
    sql = f"SELECT id, count, last, stability_days FROM recalls WHERE id IN ({wanted})"
    rows = fetch(db, sql, (json.dumps(list(note_ids)),))
    found = ((note_id, _recalls(*known)) for note_id, *known in rows)
    return {note_id: recalls for note_id, recalls in found if recalls}


def _recalls(count: int | None, last: str | None, stability_days: float | None) -> Recalls | None:
    moment = parse_time(last or "")
    if not count or moment is None:
        return None
    return Recalls(count, moment, stability_days or 0.0)
