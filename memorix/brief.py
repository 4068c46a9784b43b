"""What an assistant should know at the start of a session, in few tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

from memorix.chunks import estimate_tokens
from memorix.note import cut_short

ORDER = ("Preference", "Profile", "Decision", "Gotcha", "Procedure", "Fact", "Reference", "Episode")
# What binds the work comes before what merely informs it.

_GIST = 140


@dataclass(frozen=True, slots=True)
class Entry:
    id: str
    type: str
    title: str
    gist: str
    date: str
    scope: str


@dataclass(frozen=True, slots=True)
class Brief:
    """The text to show, the notes it names, and how many of all notes are left out."""

    text: str
    shown: tuple[Entry, ...]
    total: int

    @property
    def truncated(self) -> bool:
        return len(self.shown) < self.total


def compose(
    entries: Sequence[Entry], total: int, scopes: Sequence[str], max_tokens: int, waiting: int = 0
) -> Brief:
    """Write the brief: newest notes of each kind in turn, kinds in `ORDER`, within the budget.

    The text has no clock in it and is the same for the same notes, so that it does not break a
    host's prompt cache.  `waiting` suggestions are told by their number alone.
    """
    head = f"{total} notes in force in {' + '.join(scopes)}. Recall before relying on one."
    if waiting:
        head += f" In the inbox, for the user to review: {waiting}."
    left = max_tokens - estimate_tokens(head)
    shown: list[Entry] = []
    for entry in _in_turn(entries):
        cost = estimate_tokens(_line(entry)) + 1
        if cost > left:
            break
        left -= cost
        shown.append(entry)
    lines = [_line(entry) for entry in sorted(shown, key=_rank)]
    return Brief("\n".join([head, *lines]), tuple(shown), total)


def _in_turn(entries: Sequence[Entry]) -> list[Entry]:
    """Take the newest of every kind, then the second newest of every kind, and so on."""
    kinds: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda e: e.date, reverse=True):
        kinds.setdefault(entry.type, []).append(entry)
    rounds = [(place, _rank(entry), entry) for k in kinds.values() for place, entry in enumerate(k)]
    return [entry for _, _, entry in sorted(rounds, key=lambda r: (r[0], r[1], r[2].id))]


def _rank(entry: Entry) -> int:
    return ORDER.index(entry.type) if entry.type in ORDER else len(ORDER)


def _line(entry: Entry) -> str:
    gist = "" if entry.gist == entry.title else f": {cut_short(entry.gist, _GIST)}"
    return f"- {entry.type} ({entry.date[:10]}) {entry.title}{gist} [{entry.id}]"
