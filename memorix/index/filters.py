"""A filter as SQL over the table `notes`, called `n`."""

from datetime import datetime
from typing import Any

from memorix.note import format_time
from memorix.query import Filter


def where(wanted: Filter, now: datetime) -> tuple[str, list[Any]]:
    """Return the condition of a WHERE clause and its parameters, in order."""
    clauses: list[str] = []
    values: list[Any] = []
    for column, allowed in (("n.scope", wanted.scopes), ("n.type", wanted.types)):
        if allowed:
            clauses.append(f"{column} COLLATE NOCASE IN ({_marks(len(allowed))})")
            values += allowed
    if wanted.tags:
        marks = _marks(len(wanted.tags))
        clauses.append(f"(SELECT count(*) FROM tags WHERE note = n.key AND tag IN ({marks})) = ?")
        values += [*wanted.tags, len(wanted.tags)]
    if wanted.held:
        clauses.append(f"n.held IN ({_marks(len(wanted.held))})")
        values += wanted.held
    if wanted.since:
        clauses.append("n.date >= ?")
        values.append(format_time(wanted.since))
    if wanted.until:
        clauses.append("n.date < ?")
        values.append(format_time(wanted.until))
    if not wanted.everything:
        in_force, moments = _in_force(wanted, now)
        clauses.append(in_force)
        values += moments
    return " AND ".join(clauses) or "1", values


def _in_force(wanted: Filter, now: datetime) -> tuple[str, list[str]]:
    """What is in force at a moment; validity is half-open: from is inside, to is outside."""
    moment = format_time(wanted.as_of or now)
    valid = (
        "n.valid_from <= ? AND (n.valid_to = '' OR n.valid_to > ?)"
        " AND (n.expires_at = '' OR n.expires_at > ?)"
    )
    if wanted.as_of:  # a note says nothing about the time before it was first written
        return f"{valid} AND (n.valid_from <> '' OR n.created <= ?)", [moment] * 4
    return f"{valid} AND n.status <> 'deprecated'", [moment] * 3


def _marks(count: int) -> str:
    return ", ".join("?" * count)
