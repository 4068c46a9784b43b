"""How assistants use the memory: what is counted of it, and what the counts say.

Counted is who did what how often, which notes were shown and whether they were used; never what was
asked or answered.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

SHOWING = frozenset({"recall", "brief", "prompt", "hook"})
# What puts notes before an assistant that did not ask for each by its name.

USING = frozenset({"read", "revise"})
# What an assistant does with a note that it was shown, if it was of use.

WRITING = frozenset({"remember", "revise", "forget"})

USED_WITHIN = timedelta(hours=6)
# A note that is read later than this was found again, not followed up.

KEPT_DAYS = 400


@dataclass(frozen=True, slots=True)
class Use:
    """One act of a host: a tool's name, `brief`, `prompt` or `hook`; with the notes it was about.

    A hook is known by the short name of its host (`codex`), with which that of its client begins.

    `tokens` is about how much the host's model was given to read.
    """

    host: str
    act: str
    at: datetime
    ids: tuple[str, ...] = ()
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Total:
    """What one host did in one way: `shown` notes of which `used` were read or changed after."""

    host: str
    act: str
    calls: int
    tokens: int
    shown: int = 0
    used: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """How often a note was shown, and how often it was used then."""

    id: str
    times: int
    used: int


@dataclass(frozen=True, slots=True)
class HostUsage:
    """All that one host did."""

    host: str
    recalls: int
    briefs: int
    hooks: int
    reads: int
    writes: int
    tokens: int
    shown: int
    used: int


def by_host(totals: Iterable[Total]) -> list[HostUsage]:
    """Add up what each host did, the busiest first."""
    hosts: dict[str, list[Total]] = {}
    for total in totals:
        hosts.setdefault(total.host, []).append(total)
    found = [_of_host(host, each) for host, each in hosts.items()]
    return sorted(found, key=lambda one: (-one.tokens, one.host))


def since(now: datetime, days: int) -> date:
    """Return the first of so many days that end today."""
    return now.date() - timedelta(days=max(days, 1) - 1)


def lines(since: date, hosts: Sequence[HostUsage], most: Sequence[tuple[str, Shown]]) -> list[str]:
    """Print the counts for a person; `most` are the notes shown most, with their titles."""
    if not hosts:
        return [f"Nothing was counted since {since}."]
    told = [f"since {since}", _COLUMNS.format(*_HEADS)]
    for host in hosts:
        counts = (host.recalls, host.briefs, host.hooks, host.reads, host.writes)
        used = f"{host.used:,} of {host.shown:,}"
        told.append(_COLUMNS.format(host.host[:24], *counts, f"{host.tokens:,}", used))
    told += ["", "shown most, and used after"] if most else []
    return told + [f"{one.times:7,} {one.used:6,}  {title}" for title, one in most]


_HEADS = ("host", "recalls", "briefs", "hooks", "reads", "writes", "tokens", "shown and used")
_COLUMNS = "{:24} {:>7} {:>7} {:>7} {:>7} {:>7} {:>10}  {}"


def _of_host(host: str, totals: Sequence[Total]) -> HostUsage:
    def calls(*acts: str) -> int:
        return sum(total.calls for total in totals if total.act in acts)

    return HostUsage(
        host,
        recalls=calls("recall"),
        briefs=calls("brief", "prompt"),
        hooks=calls("hook"),
        reads=calls("read"),
        writes=calls(*WRITING),
        tokens=sum(total.tokens for total in totals),
        shown=sum(total.shown for total in totals),
        used=sum(total.used for total in totals),
    )
