"""How far a note can be relied on: who confirmed it, and what speaks against it."""

from collections.abc import Mapping
from datetime import datetime

from memorix.layout import USER
from memorix.note import Note, format_time, is_ours, parse_time
from memorix.validity import holds_since, is_stale
from memorix.yamltext import Value

IMPORTANCE = 3
# Of a note that does not say.

TIERS = ("unverified", "machine-confirmed", "human-reviewed")


def trust_tier(note: Note) -> str:
    """Return how far a note was checked, from its `verified` events alone (OKF section 5.3)."""
    actors = [str(event["by"]) for event in _confirmations(note)]
    if not actors:
        return TIERS[0]
    return TIERS[2] if any(actor.startswith("human:") for actor in actors) else TIERS[1]


def origin_of(author: str, origin: str) -> str:
    """Say where a note is from: `stated by claude-code/2.1`; a file that does not say is a
    person's."""
    if author:
        return f"{origin} by {author}".lstrip()
    return origin or "by hand"


def flags(note: Note, now: datetime) -> tuple[str, ...]:
    """Return what a reader should know before relying on a note: `stale`, `changed since`."""
    stale = ("stale",) if is_stale(note, now) else ()
    return (*stale, "changed since") if is_outdated_check(note) else stale


def standing(note: Note, scope: str) -> tuple[bool, bool, int, int, str]:
    """Return what decides between notes that contradict each other; the greater one comes first.

    A project's own note before the user's, a person's before a program's, then what is said to
    matter more, what was confirmed, and what holds since later.
    """
    person = note.author.startswith("human:") or not is_ours(note)
    tier, since = trust_tier(note), holds_since(note)
    given = str(note.meta.get("importance") or "")
    return (
        scope != USER,
        person or tier == TIERS[2],
        int(given) if given.isascii() and given.isdigit() else IMPORTANCE,
        TIERS.index(tier),
        format_time(since) if since else "",
    )


def is_outdated_check(note: Note) -> bool:
    """Say whether the text was changed after the last time somebody confirmed it."""
    moments = [parse_time(str(event.get("at") or "")) for event in _confirmations(note)]
    known = [moment for moment in moments if moment]
    return bool(known and note.changed and max(known) < note.changed)


def confirmed(note: Note, by: str, at: datetime) -> list[Value]:
    """Return the note's `verified` events with one more at the end."""
    events = note.meta.get("verified")
    before = [events] if isinstance(events, Mapping) else events
    event: Value = {"by": by, "at": format_time(at)}
    return [*(before if isinstance(before, (list, tuple)) else ()), event]


def _confirmations(note: Note) -> list[Mapping[str, Value]]:
    events = note.meta.get("verified")
    listed = events if isinstance(events, list) else [events]
    return [event for event in listed if isinstance(event, Mapping) and event.get("by")]
