"""Kill every writing verb at every call that changes something, and judge what is left."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memorix.config import load
from memorix.files import TEMPORARY_PREFIX
from memorix.lifecycle import draft_from
from memorix.wiring import open_memory
from tests.following import equals_folder
from tests.stress.dying import NOW, VERBS
from tests.stress.session import environment

COLUMNS = {
    "write": "write writev",
    "fsync": "fsync fdatasync",
    "rename": "rename renameat renameat2 link linkat",
    "unlink": "unlink unlinkat",
    "mkdir": "mkdir mkdirat",
    "chmod": "chmod fchmod",
}
# The system calls that change a file or a folder, by what they do; those on the index are apart.

INDEX = "index"
_ON_INDEX = "pwrite64 pwritev ftruncate"
_CALL = re.compile(r"^(\w+)\((.*)\) += ")
_ATTACHED_WITHIN_S = 10.0

Files = dict[str, bytes]


@dataclass(frozen=True)
class Call:
    """A system call of a verb: the n-th of its name, from 1, and the column it counts in."""

    name: str
    number: int
    column: str


@dataclass
class Crashes:
    """A vault from which each case starts, and the process that each case is forked from."""

    folder: Path
    forker: subprocess.Popen[str]
    note: str
    before: Files
    after: dict[str, Files] = field(default_factory=dict)

    def run(self, verb: str, *, dies_at: int = 0, tracing: tuple[str, ...] = ()) -> "Left":
        """Do a verb on a copy of the vault; it dies at its n-th call, or as `tracing` tells."""
        after = self._after(verb)
        case = self.folder / "case"
        shutil.rmtree(case, ignore_errors=True)
        shutil.copytree(self.folder / "start", case)
        settings = environment(case)
        asked = {"verb": verb, "note": self.note, "settings": settings, "dies_at": dies_at}
        self._tell(json.dumps(asked))
        with _traced(int(self._said()), tracing):
            self._tell("go")
            status = int(self._said())
        return Left(settings, status, self.before, after)

    def calls(self, verb: str) -> list[Call]:
        """Do a verb undisturbed; return the system calls with which it changes something."""
        log = self.folder / "calls"
        names = ",".join(" ".join([*COLUMNS.values(), _ON_INDEX]).split())
        self.run(verb, tracing=("-y", "-e", f"trace={names}", "-o", str(log)))
        return list(_calls(log.read_text(encoding="utf-8", errors="replace").splitlines()))

    def killed_in(self, verb: str, call: Call) -> "Left":
        """Do a verb until this system call is entered, and kill it there."""
        kill = f"inject={call.name}:signal=KILL:when={call.number}"
        null = (f"trace={call.name}", "-e", kill, "-o", os.devnull)
        return self.run(verb, tracing=("-e", *null))

    def _after(self, verb: str) -> Files:
        """Return the notes as the undisturbed verb leaves them."""
        if verb not in self.after:
            self.after[verb] = {}  # so that the run below does not ask again
            self.after[verb] = self.run(verb).files()
        return self.after[verb]

    def _tell(self, line: str) -> None:
        assert self.forker.stdin is not None
        self.forker.stdin.write(f"{line}\n")
        self.forker.stdin.flush()

    def _said(self) -> str:
        assert self.forker.stdout is not None
        return self.forker.stdout.readline()


@dataclass(frozen=True)
class Left:
    """What a verb left behind, and the notes as they were before it and would be after it."""

    settings: dict[str, str]
    status: int
    before: Files
    after: Files

    @property
    def vault(self) -> Path:
        return Path(self.settings["MEMORIX_VAULT"])

    def files(self) -> Files:
        found = self.vault.rglob("*.md")
        return {file.relative_to(self.vault).as_posix(): file.read_bytes() for file in found}

    def faults(self) -> list[str]:
        """Open the memory again as after a restart, and return what is not as it should be."""
        faults = list(self._torn())
        for temporary in self._temporaries():
            os.utime(temporary, (0, 0))  # as if the restart came later
        memory = open_memory(load({}, self.settings))
        try:
            memory.catch_up()
            faults += memory.index.problems()
            if not equals_folder(memory):
                faults.append("the index is not the folder")
            if memory.catch_up():
                faults.append("a second catch-up found something to do")
        finally:
            memory.close()
        return faults + [f"{temporary.name} is left" for temporary in self._temporaries()]

    def state(self) -> str:
        """Say which state the notes are in: `old`, `new`, or `between` where there are several."""
        files = self.files()
        return {True: "old"}.get(files == self.before, "new" if files == self.after else "between")

    def _torn(self) -> Iterator[str]:
        """Yield what is neither old nor new, and what is gone without having a successor."""
        files, versions = self.files(), {*self.before.values(), *self.after.values()}
        for path, content in files.items():
            if content not in versions or not {path} & {*self.before, *self.after}:
                yield f"{path} is neither old nor new"
        new = self.after.keys() - self.before.keys()
        for path in self.before.keys() - files.keys():
            if path in self.after or not new <= files.keys():
                yield f"{path} is gone"

    def _temporaries(self) -> list[Path]:
        return list(self.vault.rglob(f"{TEMPORARY_PREFIX}*"))


@contextmanager
def prepared(folder: Path) -> Iterator[Crashes]:
    """Make the vault to start from: two notes that link to each other."""
    start = folder / "start"
    memory = open_memory(load({}, environment(start)))
    memory.clock = lambda: NOW
    old = memory.remember(draft_from("See [other](other.md). " + "The first text. " * 50, "Old"))
    memory.remember(draft_from(f"It follows from [old]({old.path.rpartition('/')[2]}).", "Other"))
    memory.close()
    files = Left(environment(start), 0, {}, {}).files()
    forker = subprocess.Popen(
        [sys.executable, "-m", "tests.stress.dying"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with forker:
        yield Crashes(folder, forker, old.id, files)
        assert forker.stdin is not None
        forker.stdin.close()


@contextmanager
def _traced(pid: int, options: tuple[str, ...]) -> Iterator[None]:
    """Let strace follow a process while it does its work."""
    if not options:
        yield
        return
    tracer = subprocess.Popen(["strace", "-qq", *options, "-p", str(pid)])
    deadline = time.monotonic() + _ATTACHED_WITHIN_S
    while "TracerPid:\t0" in Path(f"/proc/{pid}/status").read_text(encoding="utf-8"):
        assert time.monotonic() < deadline, "strace did not attach"
        time.sleep(0.002)
    try:
        yield
    finally:
        tracer.wait()


def _calls(lines: list[str]) -> Iterator[Call]:
    """Read what strace tells: each call with its number among those of its name."""
    numbers: Counter[str] = Counter()
    column = {name: column for column, names in COLUMNS.items() for name in names.split()}
    for line in lines:
        if match := _CALL.match(line):
            name, about = match.groups()
            numbers[name] += 1
            if "/vault" in about:
                yield Call(name, numbers[name], column[name])
            elif "index.db" in about:
                yield Call(name, numbers[name], INDEX)


def measure(folder: Path, index_calls: int = 8) -> dict[str, Any]:
    """Kill each verb in each of its calls; of those on the index, in so many evenly spread ones.

    Each result names the column's number of deaths, the states they left, and every fault.
    """
    with prepared(folder) as crashes:
        return {verb: _matrix_row(crashes, verb, index_calls) for verb in VERBS}


def _matrix_row(crashes: Crashes, verb: str, index_calls: int) -> dict[str, Any]:
    calls = crashes.calls(verb)
    on_index = [call for call in calls if call.column == INDEX]
    step = max(len(on_index) // index_calls, 1) if index_calls else 1
    asked = [call for call in calls if call.column != INDEX] + on_index[::step]
    deaths: Counter[str] = Counter()
    states: Counter[str] = Counter()
    faults = []
    for call in asked:
        left = crashes.killed_in(verb, call)
        assert left.status == 9, f"{verb} outlived {call}"
        deaths[call.column] += 1
        states[left.state()] += 1
        faults += [f"killed in {call.name} {call.number}: {fault}" for fault in left.faults()]
    return {
        "deaths": {column: deaths[column] for column in (*COLUMNS, INDEX)},
        "index_calls": len(on_index),
        "states": dict(states),
        "faults": faults,
    }
