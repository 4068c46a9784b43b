"""What is asked of the memory, and what comes back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, NamedTuple, get_args

from memorix.errors import InvalidRequest
from memorix.feedback import Signals
from memorix.reconcile import Seen


@dataclass(frozen=True, slots=True)
class Filter:
    """Which notes may be returned; an empty field does not filter.

    `as_of` returns what was in force at that moment; without it, what is in force `now`.
    `during` adds to it what something else has taken the place of since, but was in force in that
    time, half-open, its begin None where it is open.
    `everything` lifts the default that retired, superseded and expired notes stay out.
    `held` are the reasons of `memorix.held` with which a note may still be returned; by default
    only those without any, which `everything` does not change.

    `having` are conditions that must all hold, each a key and the values of which one will do:
    `author` (a part of the name), `path` (a glob), `file` (one that a glob of the note's
    `code_refs` means), `status`, or any other key of the metadata with what it says.
    """

    scopes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    during: tuple[datetime | None, datetime] | None = None
    everything: bool = False
    held: tuple[str, ...] = ("",)
    having: tuple[tuple[str, tuple[str, ...]], ...] = ()


Detail = Literal["brief", "passage", "full"]
DETAILS = get_args(Detail)
# What is shown of a hit: the line that answers best, the piece it is from, or the whole note.


@dataclass(frozen=True, slots=True)
class Query:
    """A question: its text, who may answer, and how much may come back.

    A `strict` one was asked by nobody, such as what a hook makes of a prompt: only notes that are
    surely meant answer it.  `page` names the list that an earlier page was cut from; where it is
    still known, `offset` counts in it, also when notes have changed since.

    Raises:
        InvalidRequest: A number is too small.
    """

    text: str
    filter: Filter = field(default_factory=Filter)
    limit: int = 8
    offset: int = 0
    max_tokens: int = 1000
    strict: bool = False
    page: str = ""
    detail: Detail = "brief"

    def __post_init__(self) -> None:
        for name, least in (("limit", 1), ("offset", 0), ("max_tokens", 1)):
            if getattr(self, name) < least:
                raise InvalidRequest(f"{name} is {getattr(self, name)}; it is at least {least}.")


class Match(NamedTuple):
    """A chunk that matched, and how well: BM25 (unbounded) or cosine (at most 1).

    `id` is that of its note; `tokens` are the search words of the question that it holds, each a
    word or a phrase; `around` those that only its neighbours or its day hold; `language` is what it
    is written in; `chance` is what of the score the best of several sentences has by chance, which
    is no evidence.  A recall makes hundreds, for which a tuple is the fastest value.
    """

    chunk: int
    note: int
    id: str
    score: float
    tokens: frozenset[str] = frozenset()
    around: frozenset[str] = frozenset()
    language: str = ""
    chance: float = 0.0


Branch = tuple[str, str]
# A branch of a project: its scope, and its name.


class Traits(NamedTuple):
    """What a note is besides its text; `branch` is the scope and the name of the branch it was
    written on, where it was, `written` the moment of its text, `trust` OKF's tier, `importance`
    what its key of that name says."""

    id: str
    written: str
    author: str
    session: str
    origin: str
    trust: str
    status: str
    importance: str
    branch: Branch | None

    @property
    def day(self) -> date | None:
        """The reader's day of its moment; None where there is none."""
        return datetime.fromisoformat(self.written).astimezone().date() if self.written else None


@dataclass(frozen=True, slots=True)
class Why:
    """The signals behind a hit: the share of the question's weight its words matched (0 to 1),
    its cosine to the question (None where there was no vector), and the words found in it."""

    words: float
    meaning: float | None
    matched: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    signals: Signals | None = None

    def __str__(self) -> str:
        parts = [f"words: {', '.join(self.matched)}"] if self.matched else []
        if self.meaning is not None:
            parts.append(f"meaning {self.meaning:.2f}")
        return "; ".join([*parts, *self.notes]) or "recent"


@dataclass(frozen=True, slots=True)
class Hit:
    """A note found; `gist` is the line of it that answers best, `text` the passage or the whole
    where that was asked for, `score` its place among the others, `seen` the version of the file
    that was indexed, `disputes` the hits beside it that it contradicts, `branch` the one it is from
    where that is not merged here, `origin` how its text came to be, `tier` OKF's tier of trust."""

    id: str
    title: str
    gist: str
    type: str
    date: str
    scope: str
    score: float
    why: Why
    path: str
    status: str
    seen: Seen
    disputes: tuple[str, ...] = ()
    branch: str = ""
    text: str = ""
    origin: str = ""
    tier: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What recall found: the hits of this page, best first, and what was left out.

    `total` counts the notes that fit, of which `hits` is the part from `offset` on.  `silent`
    says why nothing is returned where nothing comes close.  `meaning` is `yes`, or why vectors
    took no part.  `read_as` tells how dates of the question were read.  `whole` is False while the
    index has not yet seen the whole folder.
    """

    hits: Sequence[Hit]
    total: int
    scopes: tuple[str, ...]
    next_cursor: str = ""
    meaning: str = "yes"
    silent: str = ""
    whole: bool = True
    read_as: tuple[str, ...] = ()

    @property
    def truncated(self) -> bool:
        return bool(self.next_cursor)
