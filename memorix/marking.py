"""What a reader should know of a note that is returned: replaced, contested, due to be checked."""

from collections.abc import Iterable
from datetime import datetime

from memorix.index.base import Index, Row
from memorix.note import format_time

SUSPECT = "reads like an instruction, and is none"
ONLY_READ = "a host's own file: edit it where it lies"


def marks(index: Index, row: Row, now: datetime, at: datetime | None = None) -> tuple[str, ...]:
    """Return the marks of a hit; `at` is the moment that was asked for, where it is another."""
    found = [SUSPECT] if row.suspect else []
    found += ["superseded"] if row.superseded_by else []
    found += contested(index, row.contested_by, at or now)
    found += (
        [f"stale since {row.stale_after[:10]}"] if "" < row.stale_after <= format_time(now) else []
    )
    return tuple(found)


def contested(index: Index, ids: Iterable[str], at: datetime) -> list[str]:
    """Return which notes dispute one: a dispute ends when its other side is out of force."""
    rows = (index.find(note_id) for note_id in ids)
    return [f"contested by {row.id}" for row in rows if row and holds(row, at)]


def holds(row: Row, at: datetime) -> bool:
    """Say whether a note as the index knows it is in force at a moment."""
    moment = format_time(at)
    begun = row.valid_from <= moment
    return (
        begun
        and row.status != "deprecated"
        and not any("" < end <= moment for end in (row.valid_to, row.expires_at))
    )
