"""Count what work takes, which is the same on a busy machine as on an idle one.

Calls are those of Python functions and of C functions from Python, steps those of SQLite's virtual
machine. Neither sees how long a step takes: a loop over vectors inside numpy counts as one call.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import apsw

from memorix.bench.latency import asked
from memorix.bench.results import Measured
from memorix.bench.speed.corpus import SEED, drafts, questions
from memorix.bench.speed.starting import HOOK
from memorix.bench.speed.stock import SCOPE, Stock, environment

ASKED, WARM, KEPT = 5, 2, 5
GROWS, GROWING = 4, (".calls", ".steps")
LARGE = 1.5
# How many times what is kept a count may be before it fails: no small change does, and whatever
# grows with the store, or is done twice, does.


COUNTED = ("fsync", "open")


@dataclass
class Counts:
    """What was counted between `start` and `stop`."""

    calls: int = 0
    statements: int = 0
    steps: int = 0
    by_name: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    _seen: dict[object, int] = field(default_factory=dict)
    _on: bool = False

    def start(self) -> None:
        self.calls = self.statements = self.steps = 0
        self.by_name = dict.fromkeys(COUNTED, 0)
        self._on = True
        sys.setprofile(self._of_python)

    def stop(self) -> None:
        sys.setprofile(None)
        self._on = False

    def of_sqlite(self, done: Mapping[str, Any]) -> None:
        """Count a statement that is done, FTS5's own among them.

        SQLite adds the steps of a statement up until it is reset, which the driver does for ours
        and FTS5 does not for its own.
        """
        status, statement = done["stmt_status"], done["id"]
        steps = status["SQLITE_STMTSTATUS_VM_STEP"]
        first = status["SQLITE_STMTSTATUS_RUN"] <= 1
        if self._on:
            self.statements += 1
            self.steps += steps if first else steps - self._seen.get(statement, 0)
        self._seen[statement] = steps

    def _of_python(self, frame: FrameType, event: str, called: object) -> None:
        if event == "call":
            self.calls += 1
        elif event == "c_call":
            self.calls += 1
            name = getattr(called, "__name__", "")
            if name in self.by_name:
                self.by_name[name] += 1


@contextmanager
def counting() -> Iterator[Counts]:
    """Yield what counts; SQLite is counted on the connections that are opened meanwhile."""
    counts = Counts()

    def attach(connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, counts.of_sqlite)

    apsw.connection_hooks.append(attach)
    try:
        yield counts
    finally:
        apsw.connection_hooks.remove(attach)


def work(stock: Stock, counts: Counts) -> Mapping[str, float]:
    """Return what a recall and a remember take at the mean, once all is warm, and what each note
    adds to it (`growth`) as the store becomes four times as large.

    The store must have been opened within `counting`.
    """
    small = at_this_size(stock, counts, SEED + 2)
    more = drafts((GROWS - 1) * len(stock.notes), SEED + 1)
    stock.memory.remember_all([(draft, SCOPE) for draft in more])
    stock.memory.embed_pending()
    large = at_this_size(stock, counts, SEED + 3)
    grown = {
        f"{name}.growth": (large[name] - small[name]) / len(more)
        for name in small
        if name.endswith(GROWING)
    }
    return {**small, **grown}


def at_this_size(stock: Stock, counts: Counts, seed: int) -> Mapping[str, float]:
    """Return what a recall and a remember take at the mean; notes of the same seed are known the
    second time."""
    asks = [asked(question) for question in questions(stock.notes, ASKED + WARM)]
    fresh = drafts(KEPT + WARM, seed)
    recall, remember = stock.memory.recall, stock.memory.remember
    for query, draft in zip(asks[:WARM], fresh[:WARM], strict=True):
        recall(query)
        remember(draft, SCOPE)
    recalled = _counted(counts, [partial(recall, query) for query in asks[WARM:]])
    kept = _counted(counts, [partial(remember, draft, SCOPE) for draft in fresh[WARM:]])
    return {
        **{f"recall.{name}": value for name, value in recalled.items()},
        **{f"remember.{name}": value for name, value in kept.items()},
    }


def imports(folder: Path) -> Mapping[str, float]:
    """Return how many modules a process imports that shows its help, or runs a hook."""
    env = {**os.environ, **environment(folder), "MEMORIX_MODEL": "none"}
    commands = {"help.imports": ["--help"], "hook.imports": HOOK}
    return {name: _imported(command, env) for name, command in commands.items()}


def exceeded(found: Mapping[str, float], kept: Mapping[str, float]) -> Sequence[str]:
    """Return what was counted far above what is kept of it, a line each; empty if all is well."""
    return [
        f"{name}: {found[name]:,.0f}, and was {kept[name]:,.0f}"
        for name in kept
        if name in found and found[name] > max(LARGE * kept[name], kept[name] + 1)
    ]


def as_measures(found: Mapping[str, float]) -> Mapping[str, Measured]:
    return {name: Measured.once(value) for name, value in found.items()}


def _counted(counts: Counts, jobs: Sequence[Callable[[], object]]) -> Mapping[str, float]:
    counts.start()
    try:
        for job in jobs:
            job()
    finally:
        counts.stop()
    found = {
        "calls": counts.calls,
        "statements": counts.statements,
        "steps": counts.steps,
        **counts.by_name,
    }
    return {name: value / len(jobs) for name, value in found.items()}


def _imported(command: Sequence[str], env: Mapping[str, str]) -> float:
    """Return how many modules were imported; the first run finds out what later ones remember."""
    python = [sys.executable, "-X", "importtime", "-m", "memorix", *command]
    for _ in range(2):
        done = subprocess.run(python, env=env, input=b"{}", check=True, capture_output=True)
    return float(done.stderr.count(b"import time:"))
