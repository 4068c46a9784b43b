"""A filter as SQL over the table `notes`, called `n`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memorix.note import format_time
from memorix.query import Filter


def where(wanted: Filter, now: datetime) -> tuple[str, list[Any]]:
    """Return the condition of a WHERE clause and its parameters, in order."""
    by_status = any(key == "status" for key, _ in wanted.having)  # also those out of force
    parts = [
        *(_among(c, v) for c, v in (("n.scope", wanted.scopes), ("n.type", wanted.types)) if v),
        *([_tagged(wanted.tags)] if wanted.tags else []),
        *([(f"n.held IN ({_marks(len(wanted.held))})", [*wanted.held])] if wanted.held else []),
        *(_having(key, allowed) for key, allowed in wanted.having),
        *([("n.date >= ?", [format_time(wanted.since)])] if wanted.since else []),
        *([("n.date < ?", [format_time(wanted.until)])] if wanted.until else []),
        *([] if wanted.everything or by_status else [_in_force(wanted, now)]),
    ]
    clauses = [clause for clause, _ in parts]
    return " AND ".join(clauses) or "1", [value for _, values in parts for value in values]


def _among(column: str, allowed: Sequence[str]) -> tuple[str, list[str]]:
    return f"{column} COLLATE NOCASE IN ({_marks(len(allowed))})", [*allowed]


def _tagged(tags: Sequence[str]) -> tuple[str, list[Any]]:
    marks = _marks(len(tags))
    count = f"(SELECT count(*) FROM tags WHERE note = n.key AND tag IN ({marks})) = ?"
    return count, [*tags, len(tags)]


def _having(key: str, allowed: Sequence[str]) -> tuple[str, list[str]]:
    """Return the condition that one of these values is what a note says of the key."""
    match key:
        case "author":
            one = "instr(lower(n.author), lower(?)) > 0"
        case "path":  # from the vault, or from the scope's folder
            one = "(n.path GLOB ?1 OR n.path GLOB '*/' || ?1)".replace("?1", "?")
        case "file":
            one = (
                "EXISTS (SELECT 1 FROM facets f WHERE f.note = n.key AND f.key = 'code_refs'"
                " AND (? GLOB f.value OR ? GLOB rtrim(f.value, '/') || '/*'))"
            )
        case "status":
            one = "n.status = ? COLLATE NOCASE"
        case _:
            one = (
                "EXISTS (SELECT 1 FROM facets f WHERE f.note = n.key"
                " AND f.key = ? AND f.value = ? COLLATE NOCASE)"
            )
    twice = key in ("path", "file")
    named = key in ("author", "path", "file", "status")
    values = [v for value in allowed for v in ((value,) * (1 + twice) if named else (key, value))]
    return f"({' OR '.join([one] * len(allowed))})", values


def _in_force(wanted: Filter, now: datetime) -> tuple[str, list[str]]:
    """What is in force at a moment; validity is half-open: from is inside, to is outside."""
    moment = format_time(wanted.as_of or now)
    valid = (
        "n.valid_from <= ? AND (n.valid_to = '' OR n.valid_to > ?)"
        " AND (n.expires_at = '' OR n.expires_at > ?)"
    )
    if wanted.as_of:  # a note says nothing about the time before it was first written
        return f"{valid} AND (n.valid_from <> '' OR n.created <= ?)", [moment] * 4
    current, values = f"{valid} AND n.status <> 'deprecated'", [moment] * 3
    if wanted.during is None:
        return current, values
    first, end = (format_time(side) if side else "" for side in wanted.during)
    then = "n.superseded_by <> '' AND n.valid_from < ? AND n.valid_to > ? AND n.created < ?"
    return f"({current} OR {then})", [*values, end, first, end]


def _marks(count: int) -> str:
    return ", ".join("?" * count)
