"""What a tool or a command was given, as a question; one reading of it for every face."""

from datetime import UTC, datetime, timedelta

from memorix.errors import InvalidRequest
from memorix.lifecycle import clean, kind
from memorix.note import parse_time, tags_from
from memorix.query import Filter, Query

MAX_LIMIT = 50
# Hits a page; who wants more pages on.


def query_from(
    text: str = "",
    limit: int = 8,
    scope: str = "",
    type: str = "",
    tags: object = None,
    since: str = "",
    until: str = "",
    as_of: str = "",
    max_tokens: int = 1000,
    cursor: str = "",
) -> Query:
    """Read the arguments of recall; scopes and types may be several, separated by commas.

    Raises:
        InvalidRequest: A date or the cursor cannot be read.
    """
    wanted = Filter(
        scopes=_names(scope),
        types=tuple(kind(name) for name in _names(type)),
        tags=tags_from(tags),
        since=_time("since", since),
        until=_time("until", until),
        as_of=_time("as_of", as_of),
    )
    return Query(
        clean(text),
        wanted,
        limit=min(max(limit, 1), MAX_LIMIT),
        offset=_offset(cursor),
        max_tokens=max(max_tokens, 1),
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _time(name: str, text: str) -> datetime | None:
    """Read a time; a day alone is the user's own day, whole: from its start, to its end."""
    stripped = text.strip()
    if not stripped:
        return None
    moment = parse_time(stripped)
    if moment is None:
        raise InvalidRequest(f"{name} takes a date such as 2026-10-02, not {text!r}.")
    if len(stripped) > len("2026-10-02"):
        return moment
    start = datetime.fromisoformat(stripped)
    return (start if name == "since" else start + timedelta(days=1)).astimezone(UTC)


def _offset(cursor: str) -> int:
    text = cursor.strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 7):
        raise InvalidRequest("The cursor is not one that recall returned. Leave it out.")
    return int(text or 0)
