"""Writers that are killed at random, and people who save the same notes meanwhile."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memorix.arguments import query_from
from memorix.config import load
from memorix.memory import Memory
from memorix.wiring import open_memory
from tests.editors import by_rename, in_place
from tests.following import equals_folder
from tests.stress.session import Host, Refused, ServerDied, Session, environment, hosting

SHARED = 4
# Notes that every writer edits, besides those of its own.

TRIES = 200
# How often a refused edit is read and made again.

KILL_EVERY_S, MOST_SPARED = (0.05, 0.5), 8
# A server lives for 1 to 8 answers at least.

TYPING_S = (0.02, 0.1)
STARTING = "The log of"


@dataclass
class Said:
    """A word that was acknowledged: the note it must be in, and when the call began and ended."""

    note: str
    word: str
    began: float
    ended: float


@dataclass
class Ledger:
    """What all of them did; safe from every thread, for it only ever appends."""

    writes: list[Said] = field(default_factory=list)
    saves: list[Said] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    deaths: list[float] = field(default_factory=list)


@dataclass
class Writer:
    """One host: keeps writing through a server that is killed under it, and starts the next."""

    host: Host
    settings: dict[str, str]
    name: str
    shared: list[str]
    ledger: Ledger
    session: Session | None = None
    answered: int = 0
    own: list[str] = field(default_factory=list)

    def work(self, writes: int) -> None:
        number = 0
        while number < writes:
            try:
                with self.host.session(self.settings) as self.session:
                    self.answered = 0
                    while number < writes:
                        self._write(self.session, f"{self.name}x{number}")
                        number += 1
                        self.answered += 1
            except ServerDied:
                self.ledger.deaths.append(time.monotonic())
            finally:
                self.session = None

    def _write(self, session: Session, word: str) -> None:
        """Remember or edit; the word decides which, so that what was not answered is repeated."""
        chance = random.Random(word)
        kind = chance.random()
        if kind < 0.5 or not self.own:
            text = f"{STARTING} {word} begins with {word}."
            began = time.monotonic()
            done = session.call("remember", text=text, title=f"Log {word}")
            self._acknowledged(done["id"], word, began)
            self.own.append(done["id"])
        else:
            self._add(session, chance.choice(self.own if kind < 0.75 else self.shared), word)

    def _add(self, session: Session, note: str, word: str) -> None:
        for _ in range(TRIES):
            reading = session.call("read", id=note)
            began = time.monotonic()
            text = f"{reading['body'].rstrip()}\n{word}\n"
            try:
                session.call("revise", id=note, etag=reading["etag"], text=text)
            except Refused as refusal:
                self.ledger.refused[kind_of(str(refusal))] += 1
                continue
            self._acknowledged(note, word, began)
            return
        raise AssertionError(f"{note} was refused {TRIES} times")

    def _acknowledged(self, note: str, word: str, began: float) -> None:
        self.ledger.writes.append(Said(note, word, began, time.monotonic()))


def kind_of(refusal: str) -> str:
    """Sort a refusal: `changed` is what an etag is for, `lock` is what no host should see."""
    if "has changed since" in refusal:
        return "changed"
    if any(word in refusal for word in ("lock", "busy", "cannot be used")):
        return "lock"
    return refusal.partition(".")[0][:80]


@dataclass
class Person:
    """Edits notes in an editor: loads, types, looks whether the file changed meanwhile, saves."""

    name: str
    vault: Path
    save: Callable[[Path, str], None]
    part: int
    ledger: Ledger
    chance: random.Random

    def work(self, done: threading.Event) -> None:
        number = 0
        while not done.wait(self.chance.uniform(*TYPING_S)):
            files = sorted(self.vault.rglob("*.md"))[self.part :: 2]
            if files:
                self._edit(self.chance.choice(files), f"{self.name}x{number}")
                number += 1

    def _edit(self, file: Path, word: str) -> None:
        began = time.monotonic()
        content = file.read_text(encoding="utf-8")
        self.save(file, f"{content.rstrip()}\n{word}\n")
        path = file.relative_to(self.vault).as_posix()
        self.ledger.saves.append(Said(path, word, began, time.monotonic()))


def measure(
    folder: Path, servers: int = 8, writes: int = 200, people: int = 0, seed: int = 1
) -> dict[str, Any]:
    """Let servers write until each has had `writes` acknowledged; then count what is lost."""
    chance, ledger, done = random.Random(seed), Ledger(), threading.Event()
    settings = environment(folder)
    vault = Path(settings["MEMORIX_VAULT"])
    began = time.monotonic()
    with hosting(folder / "servers") as host:
        shared = _shared_notes(host, settings)
        writers = [Writer(host, settings, f"w{n}", shared, ledger) for n in range(servers)]
        editors = [
            Person(f"p{n}", vault, save, n, ledger, random.Random(chance.random()))
            for n, save in enumerate((in_place, by_rename)[:people])
        ]
        with ThreadPoolExecutor(servers + people + 1) as pool:
            beside = [pool.submit(person.work, done) for person in editors]
            beside.append(pool.submit(kill_at_random, writers, done, chance))
            working = [pool.submit(writer.work, writes) for writer in writers]
            try:
                for work in working:
                    work.result()
            finally:
                done.set()
            for work in beside:
                work.result()
    took = round(time.monotonic() - began, 1)
    what = {"servers": servers, "writes": writes, "people": people, "seconds": took}
    return what | judged(settings, ledger, told(folder / "servers"))


def _shared_notes(host: Host, settings: dict[str, str]) -> list[str]:
    texts = {f"Shared {n}": f"{STARTING} shared{n}." for n in range(SHARED)}
    with host.session(settings) as first:
        return [first.call("remember", text=t, title=title)["id"] for title, t in texts.items()]


def kill_at_random(writers: list[Writer], done: threading.Event, chance: random.Random) -> None:
    """Kill servers that have answered a few times, so that all of it comes to an end."""
    while not done.wait(chance.uniform(*KILL_EVERY_S)):
        writer = chance.choice(writers)
        if writer.session and writer.answered >= chance.randint(1, MOST_SPARED):
            writer.session.kill()


def told(logs: Path) -> list[str]:
    """Return what the servers said on stderr."""
    lines = (log.read_text(encoding="utf-8").splitlines() for log in logs.glob("*.log"))
    return [line for of_one in lines for line in of_one]


def judged(settings: dict[str, str], ledger: Ledger, complaints: list[str]) -> dict[str, Any]:
    memory = open_memory(load({}, settings))
    try:
        memory.catch_up()
        again = memory.catch_up()
        found = ((path, memory.store.read(path)) for path in memory.store.scan())
        texts = {path: frozenset(words(read[0].decode())) for path, read in found if read}
        return {
            "acknowledged": len(ledger.writes),
            "deaths": len(ledger.deaths),
            "saves": len(ledger.saves),
            **_losses(memory, ledger, texts),
            "refused": dict(ledger.refused),
            "lock_errors": ledger.refused["lock"] + sum("lock" in line for line in complaints),
            "complaints": complaints[:20],
            "index_equals_folder": equals_folder(memory),
            "second_catch_up_did": again.changed + again.moved + again.gone,
        }
    finally:
        memory.close()


def _losses(memory: Memory, ledger: Ledger, texts: dict[str, frozenset[str]]) -> dict[str, int]:
    """Count what is not where it was said to be, or is there twice, or is not found there."""
    paths = {said.note: memory.read(said.note).note.path for said in ledger.writes}
    lost = [s for s in ledger.writes if s.word not in texts[paths[s.note]]]
    excused = [s for s in lost if any(_over(paths[s.note], s, save) for save in ledger.saves)]
    there = Counter(word for text in texts.values() for word in text)
    kept = [s for s in ledger.writes if s.word in texts[paths[s.note]]]
    return {
        "lost": len(lost) - len(excused),
        "lost_saves": sum(s.word not in texts.get(s.note, ()) for s in ledger.saves),
        "overwritten_by_people": len(excused),
        # Where a person has edited the note between a death and the repeat, it is no repeat.
        "twice": 0 if ledger.saves else sum(there[s.word] > 1 for s in ledger.writes),
        "not_found": sum(s.note not in _answers(memory, s.word) for s in kept),
    }


def _answers(memory: Memory, word: str) -> list[str]:
    return [hit.id for hit in memory.recall(query_from(word, 5)).hits]


def words(text: str) -> list[str]:
    return text.replace(".", " ").split()


def _over(path: str, write: Said, save: Said) -> bool:
    """Say whether somebody had loaded the note before this write was made, and saved it after."""
    return save.note == path and save.began < write.ended and save.ended > write.began
