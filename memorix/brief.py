"""What an assistant should know at the start of a session, in few tokens.

A hook shows it before each session, so nothing slow is imported here: `dataclasses` alone takes as
long as Python's own start.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ORDER = ("Preference", "Profile", "Decision", "Gotcha", "Procedure", "Fact", "Reference", "Episode")
# What binds the work comes before what merely informs it.

BUDGET = 800
# Tokens by default: about twenty notes, and little beside the tools of one server.

REACH = 100
# Newest notes chosen from; five times as many as are told.

_GIST = 140
_ASCII_A_TOKEN, _ID_TOKENS = 3, 20
# Never too low: English has more than four characters a token, code more than three; an id is
# letters and digits at random.


_TOO_SHORT = 15
# Bytes of a line that may stand in another text by chance.


class Entry:
    """A note that may be told; `contested_by` are the ids of notes that contradict it."""

    __slots__ = ("contested_by", "date", "gist", "id", "scope", "title", "type")

    def __init__(
        self,
        id: str,
        type: str,
        title: str,
        gist: str,
        date: str,
        scope: str,
        contested_by: "Sequence[str]" = (),
    ) -> None:
        self.id, self.type, self.title, self.gist = id, type, title, gist
        self.date, self.scope, self.contested_by = date, scope, contested_by


class Brief:
    """The text to show, the notes it names, and how many of all notes are left out."""

    __slots__ = ("shown", "text", "total")

    def __init__(self, text: str, shown: "tuple[Entry, ...]", total: int) -> None:
        self.text, self.shown, self.total = text, shown, total

    @property
    def truncated(self) -> bool:
        return len(self.shown) < self.total


def besides(entries: "Sequence[Entry]", told: "Sequence[str]") -> list[Entry]:
    """Return the notes that say more than their hosts show by themselves.

    `told` are the texts of files such as CLAUDE.md.  A note is left out whose line stands in one of
    them, however it is spaced, set in capitals or listed.
    """
    if not told:
        return list(entries)
    known = f" {' '.join(map(_plain, told))} "
    gists = [_plain(entry.gist) for entry in entries]
    return [
        entry
        for entry, gist in zip(entries, gists, strict=True)
        if len(gist.encode()) < _TOO_SHORT or f" {gist} " not in known
    ]


def compose(
    entries: "Sequence[Entry]",
    total: int,
    scopes: "Sequence[str]",
    max_tokens: int,
    waiting: int = 0,
) -> Brief:
    """Write the brief within the budget: conflicts, then the newest notes of each kind in turn.

    `entries` are the newest notes in force.  The text has no clock in it and is the same for the
    same notes, so that it does not break a host's prompt cache.  `waiting` suggestions are told by
    their number alone.
    """
    head = f"{total} notes in force in {' + '.join(scopes)}. Recall before relying on one."
    if waiting:
        head += f" In the inbox, for the user to review: {waiting}."
    left = max_tokens - estimate_tokens(head)
    conflicts: list[str] = []
    for line in _conflicts(entries):
        left -= estimate_tokens(line)
        conflicts += [line] if left >= 0 else []
    shown = fitting(entries, left, _line)
    lines = [_line(entry) for entry in sorted(shown, key=rank)]
    return Brief("\n".join([head, *conflicts, *lines]), tuple(shown), total)


def fitting(
    entries: "Sequence[Entry]", max_tokens: int, line: "Callable[[Entry], str]"
) -> "list[Entry]":
    """Choose what to tell within a budget: the newest of each kind in turn."""
    shown: list[Entry] = []
    for entry in _in_turn(entries):
        max_tokens -= estimate_tokens(line(entry))
        if max_tokens < 0:
            break
        shown.append(entry)
    return shown


def estimate_tokens(line: str) -> int:
    """Return about how many tokens a line takes, rather too many than too few."""
    ascii_only = sum(character < "\x80" for character in line)
    ids = line.count(" [")
    return ascii_only // _ASCII_A_TOKEN + (len(line) - ascii_only) + ids * _ID_TOKENS // 2 + 1


def _plain(text: str) -> str:
    """Return a text without what is not a letter or digit, and with one space between the rest."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def _conflicts(entries: "Sequence[Entry]") -> list[str]:
    """Return a line for each two notes in force that contradict each other, newest first."""
    by_id = {entry.id: entry for entry in entries}
    told: dict[tuple[str, ...], str] = {}
    for entry in entries:
        for other in entry.contested_by:
            if other in by_id and other != entry.id:
                pair = (f"{e.title} ({e.date[:10]}) [{e.id}]" for e in (entry, by_id[other]))
                key = tuple(sorted((entry.id, other)))
                told.setdefault(key, f"- Unresolved: {' contradicts '.join(pair)}")
    return list(told.values())


def _in_turn(entries: "Sequence[Entry]") -> list[Entry]:
    """Take the newest of every kind, then the second newest of every kind, and so on."""
    kinds: dict[str, list[Entry]] = {}
    for entry in sorted(entries, key=lambda e: e.date, reverse=True):
        kinds.setdefault(entry.type, []).append(entry)
    rounds = [(place, rank(entry), entry) for k in kinds.values() for place, entry in enumerate(k)]
    return [entry for _, _, entry in sorted(rounds, key=lambda r: (r[0], r[1], r[2].id))]


def rank(entry: Entry) -> int:
    """Return the place of a note's kind among the kinds."""
    return ORDER.index(entry.type) if entry.type in ORDER else len(ORDER)


def _line(entry: Entry) -> str:
    gist = "" if entry.gist == entry.title else f": {cut(entry.gist)}"
    return f"- {entry.type} ({entry.date[:10]}) {entry.title}{gist} [{entry.id}]"


def cut(gist: str) -> str:
    """Return a gist as a line has room for it."""
    if len(gist) <= _GIST:
        return gist
    head = gist[: _GIST - 1]
    space = head.rfind(" ")
    return (head[:space] if space > _GIST // 2 else head).rstrip() + "…"
