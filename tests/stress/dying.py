"""Do one verb and be killed on the way; `crashes` starts this and judges what is left.

It answers on stdout: forked for each case from one that has imported everything, it opens the
memory, says its process id, and waits for a line before it does the verb.
"""

import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memorix import settling
from memorix.config import load
from memorix.intake import Incoming
from memorix.lifecycle import Edit, draft_from, successor
from memorix.memory import Memory
from memorix.moving import move
from memorix.results import Reading
from memorix.transfer import take_in
from memorix.wiring import open_memory

NOW = datetime(2026, 10, 2, 8, tzinfo=UTC)
# The same in every run, and so are the ids: what is written differs only by where it ends.

KILLED = 9
SECOND, NEW = "The second text. " * 50, "A new lamp. " * 50
IMPORTED = [
    Incoming(f"projects/elsewhere/{n}.md", f"---\ntype: Fact\n---\n\nLamp {n}.\n".encode())
    for n in range(3)
]

VERBS: dict[str, Callable[[Memory, Reading], object]] = {
    "remember": lambda memory, old: memory.remember(draft_from(NEW, "New")),
    "revise": lambda memory, old: memory.revise(old.note.id, old.etag, Edit(text=SECOND)),
    "supersede": lambda memory, old: settling.supersede(
        memory, old.note.id, old.etag, successor(SECOND, {})
    ),
    "contest": lambda memory, old: settling.contest(
        memory, old.note.id, old.etag, [old.links[0].id]
    ),
    "merge": lambda memory, old: settling.combine(
        memory,
        [(old.note.id, old.etag), (old.links[0].id, memory.read(old.links[0].id).etag)],
        successor(SECOND, {}),
    ),
    "retire": lambda memory, old: memory.forget(old.note.id, "retire"),
    "archive": lambda memory, old: memory.forget(old.note.id, "archive"),
    "erase": lambda memory, old: memory.forget(old.note.id, "erase"),
    "mv": lambda memory, old: move(memory, old.note.id, "user/moved/lamp.md", links=True),
    "import": lambda memory, old: list(take_in(memory, IMPORTED)),
}

SETTLING = ("supersede", "contest", "merge")
# They write several notes; the first rename decides, and a catch-up does the rest.


def main() -> None:
    while case := _line():
        child = os.fork()
        if not child:
            _do(**json.loads(case))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        _say(str(abs(os.waitstatus_to_exitcode(status))))


def _do(verb: str, note: str, settings: dict[str, str], dies_at: int) -> None:
    memory = open_memory(load({}, settings))
    memory.clock = lambda: NOW
    os.urandom = lambda size: b"\1" * size  # type: ignore[assignment]
    memory.catch_up()
    old = memory.read(note)
    _say(str(os.getpid()))
    _line()
    if dies_at:
        _die_at(dies_at, memory)
    VERBS[verb](memory, old)
    memory.close()


def _die_at(number: int, memory: Memory) -> None:
    """End the process at its n-th call that changes something on the disk."""
    left = number

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **keywords: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os._exit(KILLED)
            return call(*arguments, **keywords)

        return counted

    os.fsync = dying(os.fsync)
    for name in ("replace", "rename", "unlink", "mkdir"):
        setattr(Path, name, dying(getattr(Path, name)))
    index = type(memory.index)
    index.apply = dying(index.apply)  # type: ignore[method-assign]


def _line() -> str:
    """Read a line byte by byte, so that nothing is taken from the child that reads the next."""
    line = b""
    while (byte := os.read(sys.stdin.fileno(), 1)) not in (b"", b"\n"):
        line += byte
    return line.decode()


def _say(text: str) -> None:
    os.write(sys.stdout.fileno(), f"{text}\n".encode())


if __name__ == "__main__":
    main()
