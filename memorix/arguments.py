"""What a tool or a command was given, as a question; one reading of it for every face."""

import re
from collections.abc import Sequence
from dataclasses import replace as changed
from datetime import UTC, datetime, timedelta
from typing import cast

from memorix.errors import InvalidRequest
from memorix.forgetting import Selection
from memorix.keys import clean, keys_from, kind
from memorix.lifecycle import Edit, by, successor
from memorix.note import parse_time, tags_from
from memorix.query import DETAILS, Detail, Filter, Query
from memorix.settling import Revision

LONGEST_QUESTION = 20_000
# Characters; a whole stack trace has fewer, and to look up more words takes seconds.

MAX_LIMIT = 50
# Hits a page; who wants more pages on.

_CURSOR = re.compile(r"([0-9]{1,6})(?:-([0-9a-f]{8}))?")


_YES, _NO = frozenset({"true", "yes", "1"}), frozenset({"", "false", "no", "0", "none"})


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
    where: object = None,
    detail: str = "",
) -> Query:
    """Read the arguments of recall; scopes and types may be several, separated by commas.

    Raises:
        InvalidRequest: A date or the cursor cannot be read, or the question is far too long.
    """
    if len(text) > LONGEST_QUESTION:
        raise InvalidRequest(
            f"The question has {len(text):,} characters; it may have {LONGEST_QUESTION:,}. Ask "
            "with the sentence that matters, such as the last line of an error."
        )
    wanted = Filter(
        scopes=_names(scope),
        types=tuple(kind(name) for name in _names(type)),
        tags=tags_from(tags),
        since=_time("since", since),
        until=_time("until", until),
        as_of=_time("as_of", as_of),
        having=_having(where),
    )
    offset, page = _place(cursor)
    return Query(
        clean(text),
        wanted,
        limit=min(max(limit, 1), MAX_LIMIT),
        offset=offset,
        max_tokens=max(max_tokens, 1),
        page=page,
        detail=_detail(detail),
    )


def selection_from(
    tags: object = None,
    type: str = "",
    scope: str = "",
    since: str = "",
    until: str = "",
    author: str = "",
    path: str = "",
    *,
    held: bool = False,
) -> Selection:
    """Read which notes are to be forgotten; `held` counts those in that recall holds back.

    Raises:
        InvalidRequest: A date cannot be read.
    """
    asked = query_from("", 1, scope, type, tags, since, until).filter
    wanted = changed(asked, held=()) if held else asked
    return Selection(wanted, author.strip(), path.strip())


def revision_from(
    text: str = "",
    find: str = "",
    replace: str = "",
    set: object = None,
    supersede: str = "",
    contest: Sequence[str] = (),
    merge: Sequence[str] = (),
    verify: bool = False,
    author: str = "",
) -> Revision:
    """Read the arguments of revise.

    `supersede` is a yes, by which the text becomes a new note, or the id of one that is there;
    `merge` are ids with their etags, `id@etag`.

    Raises:
        InvalidRequest: Nothing is asked for, or what cannot be done together.
    """
    keys, word = keys_from(set), supersede.strip()
    new = word.lower() in _YES
    successor_id = "" if new or word.lower() in _NO else word
    changes = bool(text or find or replace or verify or keys)
    if sum([bool(merge) or new, bool(successor_id), bool(contest)]) > 1 or (
        changes and (successor_id or contest)
    ):
        raise InvalidRequest(
            "revise does one thing at a time: change, supersede, contest or merge. "
            "Nothing was changed. Make a call for each."
        )
    if (find or verify) and (new or merge):
        raise InvalidRequest("A new note takes text and set only. Nothing was changed.")
    if new or merge:
        draft = by(successor(text, keys), author)
        return Revision(draft=draft, merge=tuple(_versioned(one) for one in merge))
    edit = Edit(text, find, replace, keys, verify)
    return Revision(edit, replaced_by=successor_id, contested_by=tuple(contest))


def ids_from(value: object) -> list[str]:
    """Take ids in any form: a list, JSON text, or `a, b`."""
    if isinstance(value, (list, tuple)):
        items = [str(item) for item in value if item is not None]
    else:
        items = re.split(r"[,，\s]+", str(value or "").strip("[] "))
    return [bare for item in items if (bare := item.strip("\"' "))]


def _versioned(text: str) -> tuple[str, str]:
    note_id, _, etag = text.rpartition("@")
    if not note_id:
        raise InvalidRequest(
            f"merge takes each note with its etag, such as {text}@b2-0123. Nothing was changed. "
            "Read the notes; each answer has its etag."
        )
    return note_id, etag


def expiry_from(text: str, now: datetime) -> datetime | None:
    """Read when something ends: a day, which is whole, or a span such as 90d or 12h.

    Raises:
        InvalidRequest: It cannot be read, or has passed.
    """
    span = re.fullmatch(r"([1-9][0-9]{0,4})\s*([dh])", text.strip())
    if span:
        hours = int(span[1]) * (24 if span[2] == "d" else 1)
        return now + timedelta(hours=hours)
    end = _time("expires", text)
    if end is not None and end <= now:
        raise InvalidRequest(f"{text} has passed.")
    return end


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
    ends = {"since": start, "as_of": start + timedelta(days=1, seconds=-1)}
    return ends.get(name, start + timedelta(days=1)).astimezone(UTC)


def _place(cursor: str) -> tuple[int, str]:
    """Read where a page begins, and the name of the list of notes that it is a part of."""
    match = _CURSOR.fullmatch(cursor.strip() or "0")
    if match is None:
        raise InvalidRequest("The cursor is not one that recall returned. Leave it out.")
    return int(match[1]), match[2] or ""


def _having(where: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Read conditions on metadata; a list of values, or `a|b`, means one of them."""
    found = []
    for key, value in _conditions(where).items():
        items = value if isinstance(value, (list, tuple)) else str(value).split("|")
        values = tuple(str(item).strip() for item in items if str(item).strip())
        if not values:
            raise InvalidRequest(f"where needs a value for {key}, such as {key}: x.")
        found.append((key, values))
    return tuple(found)


def _conditions(where: object) -> dict[str, object]:
    try:
        return dict(keys_from(where))
    except InvalidRequest as error:
        raise InvalidRequest('where takes keys and values, such as {"author": "anna"}.') from error


def _detail(text: str) -> Detail:
    wanted = text.strip().lower() or "brief"
    if wanted not in DETAILS:
        raise InvalidRequest(f"detail takes {', '.join(DETAILS)}, not {text!r}.")
    return cast(Detail, wanted)
