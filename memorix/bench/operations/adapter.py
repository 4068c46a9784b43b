"""What a memory under test offers: one coroutine for each use, and how to look at what it holds.

An adapter defines a method for each op it offers, named like the op; what it does not define is
scored as "not offered", never as wrong.  A new adapter needs `remember` and `recall` and gains
probes with every further op.

    remember(text, title, type, tags, scope, valid_from, valid_to, ttl)   -> Done
    suggest(text, title)               a memory that waits for a person's review
    revise(of, text | find, replace)   change a note in place
    set(of, keys)                      set metadata
    supersede(of, text, title)         a new note in the place of an old one
    contest(of, other)                 two notes say different things
    verify(of)                         the fact was checked
    forget(of, level)                  retire, archive or erase
    forget_where(tag | type | before | scope, level)
    forget_named(name, level)          whatever goes by that name
    restore(of)                        bring back what was archived
    undo()                             take back the last change
    accept(of), reject(of)             settle a suggestion
    take_in(path, content)             import a file of notes
    link(of, to, relation)
    tidy()                             what upkeep does when it is run
    write_file(path, content), edit_file(of, find, replace), rename_file(of, path),
    delete_file(of)                    a person at work in the folder of notes
    restart(model), kill(), crash(text), reindex(), rebuild()
    parallel(texts, names)             writes at the same time from two clients
    checkout(branch)                   the project's repository is on another branch now

Each takes `project` and `user`, whose eyes it is seen with; `of`, `other` and `to` are ids.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from inspect import signature
from typing import Any

from memorix.bench.operations.distractors import Filler
from memorix.bench.operations.scenarios import Probe

CONFLICT = frozenset({"contested"})
OUTDATED = frozenset({"superseded", "retired", "expired"})
# What a hit can be marked with, in one word whatever a product calls it.

ALL_NOTES = 10_000


class NotOffered(Exception):
    """The memory has no such use."""


class Refused(Exception):
    """The memory declined, and said why."""


@dataclass(frozen=True, slots=True)
class Found:
    """A note that came back: the text of it that was shown, its marks, and its score if any."""

    id: str
    text: str
    flags: frozenset[str] = frozenset()
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look at the memory showed; `hits` best first, `text` all of it as a reader gets it."""

    hits: Sequence[Found] = ()
    text: str = ""
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """What a write was answered; `named` are the ids of other notes in the answer.

    `status` is one of created, known, conflict, changed, refused; `masked` says that something
    was taken out of the text.
    """

    id: str = ""
    status: str = "changed"
    named: Sequence[str] = ()
    ids: Sequence[str] = ()
    text: str = ""
    masked: bool = False


@dataclass
class Adapter:
    """A memory under test, empty but for `fill`, in a scratch folder of its own."""

    name: str = field(default="", init=False)

    async def begin(self, fill: Sequence[Filler]) -> None:
        """Take the notes that are there before the scenario begins."""

    async def at(self, now: datetime) -> None:
        """It is this moment now."""

    async def settle(self, probe: Probe) -> None:
        """Let work in the background finish, so that a probe is not a race."""

    async def end(self) -> None:
        """Stop whatever runs."""

    async def do(self, op: str, args: Mapping[str, Any]) -> Done:
        """Call an op.

        Raises:
            NotOffered: The memory has no such op, or the op no such argument.
        """
        method = self._offered(op)
        for name in args.keys() - signature(method).parameters.keys():
            raise NotOffered(f"{op} with {name}")
        done: Done = await method(**args)
        return done

    async def look(self, probe: Probe, of: str) -> Seen:
        """Look where a probe looks; `of` is the id of the note it is about.

        Raises:
            NotOffered: The memory cannot be looked at so.
        """
        who = {"project": probe.project, "user": probe.user}
        if probe.via == "recall":
            seen: Seen = await self._offered("recall")(probe.query, probe.k, probe.filters, **who)
        else:
            about = {"of": of} if probe.via == "read" else {}
            seen = await self._offered(f"see_{probe.via}")(**about, **who)
        return seen

    def _offered(self, op: str) -> Any:
        method = getattr(self, op, None)
        if method is None:
            raise NotOffered(op)
        return method
