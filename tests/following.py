"""A memory that follows a real folder, and the looks it takes at it."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memorix import sync
from memorix.arguments import query_from
from memorix.config import Config
from memorix.errors import VaultUnavailable
from memorix.memory import Memory
from memorix.note import etag_of
from memorix.query import Filter
from memorix.wiring import follow

PATIENCE_S = 10.0
# How long a test waits for the memory to say what it should; far longer than it may take.

BETWEEN_LOOKS_S = 0.01

Look = tuple[str, ...] | None
# What a catch-up was told to look at: some paths, or everything.


@dataclass
class Followed:
    """A memory that follows a real folder, and the catch-ups it did because of the folder."""

    memory: Memory
    vault: Path
    looks: list[Look] = field(default_factory=list)

    def write(self, path: str, text: str) -> Path:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def known(self, path: str, text: str) -> Path:
        """Write a note and wait until it is found."""
        file = self.write(path, text)
        etag = etag_of(file.read_bytes())
        until(lambda: self.etags().get(path) == etag)
        return file

    def etags(self) -> dict[str, str]:
        """Return the version of each note that the index has, without a look at the folder."""
        return {path: seen.etag for path, seen in self.memory.index.listing().items()}

    def signatures(self) -> dict[str, str]:
        return {path: seen.signature for path, seen in self.memory.index.listing().items()}

    def equals_folder(self) -> bool:
        return equals_folder(self.memory)

    def found(self, question: str, **more: Any) -> list[str]:
        asked = query_from(question, 50, max_tokens=100_000, scope="all", **more)
        return sorted(hit.path for hit in self.memory.recall(asked).hits)

    def sees(self, question: str, wanted: set[str]) -> bool:
        """Say whether exactly these are found; no while the memory says that it cannot tell."""
        try:
            return set(self.found(question)) == wanted
        except VaultUnavailable:
            return False

    def listed(self) -> list[str]:
        """Return the paths the index has, without a look at the folder."""
        return [row.path for row in self.memory.list(Filter(scopes=("all",)), 10_000)]

    @property
    def mode(self) -> str:
        return self.memory.follower.state.mode if self.memory.follower else ""

    @property
    def trouble(self) -> str:
        return self.memory.follower.state.trouble if self.memory.follower else ""

    @property
    def last_sync(self) -> float:
        return self.memory.follower.state.last_sync if self.memory.follower else 0.0

    def settled(self) -> float:
        """Wait until no look has ended for longer than changes are gathered; return that end."""
        before = -1.0
        while before != self.last_sync:
            before = self.last_sync
            time.sleep(2 * sync.LONGEST_S)
        return before

    def looked_at(self) -> set[str]:
        """Return the paths of all catch-ups since; `everything` for one without paths."""
        return {path for look in self.looks for path in (look or ("everything",))}

    def forget_looks_when_idle(self) -> None:
        """Make a change, wait until it was taken in, and start counting from there.

        Events come in order, so nothing that happened before it is under way any more.
        """
        self.known("user/before.md", f"before {len(self.looks)}")
        until(lambda: self.memory.follower is not None and not self.memory.follower.flush_noticed())
        self.looks.clear()

    def looked_at_since(self) -> set[str]:
        """Return what was looked at besides one last change, which tells that all is taken in."""
        self.known("user/after.md", "after")
        until(lambda: not self.looked_at().isdisjoint(("user/after.md", "everything")))
        return self.looked_at() - {"user/before.md", "user/after.md"}


def equals_folder(memory: Memory) -> bool:
    """Say whether the index holds each note of the folder in its present version, and no other."""
    there = {path: memory.store.read(path) for path in memory.store.scan()}
    known = {path: seen.etag for path, seen in memory.index.listing().items()}
    return known == {path: found[1].etag for path, found in there.items() if found}


def until(condition: Callable[[], bool]) -> None:
    """Ask again and again until the answer is yes; fail where it stays no."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(BETWEEN_LOOKS_S)


@contextmanager
def followed(memory: Memory, config: Config) -> Iterator[Followed]:
    """Follow the folder as a server does, and count the catch-ups."""
    all_of = Followed(memory, config.vault)
    catch_up = memory.catch_up

    def counted(paths: Sequence[str] | None = None, **more: Any) -> sync.Synced:
        all_of.looks.append(paths if paths is None else tuple(paths))
        return catch_up(paths, **more)

    memory.catch_up = counted  # type: ignore[method-assign]
    stop = follow(memory, config)
    try:
        until(lambda: bool(all_of.last_sync or all_of.trouble))
        yield all_of
    finally:
        stop()
