"""Several processes on one vault, and processes that die in the middle of a write."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memorix.arguments import query_from
from memorix.lifecycle import draft_from
from memorix.memory import Memory

WRITER = """
import sys
from memorix.config import load
from memorix.lifecycle import draft_from
from memorix.wiring import open_memory
memory = open_memory(load())
for number in range(int(sys.argv[2])):
    done = memory.remember(draft_from(f"Lamp {number} of writer {sys.argv[1]} is lit."))
    print(done.id, flush=True)
"""

DYING = """
import os, sys
from pathlib import Path
from memorix.config import load
from memorix.lifecycle import Edit, draft_from, successor
from memorix.wiring import open_memory

left = int(sys.argv[1])

def dying(call):
    def counted(*arguments, **keywords):
        global left
        left -= 1
        if left == 0:
            os._exit(9)
        return call(*arguments, **keywords)
    return counted

memory = open_memory(load())
note = memory.read(sys.argv[3])
os.fsync, Path.replace, Path.unlink = dying(os.fsync), dying(Path.replace), dying(Path.unlink)
type(memory.index).apply = dying(type(memory.index).apply)
verb = sys.argv[2]
if verb == "remember":
    memory.remember(draft_from("A new lamp. " * 50, "New"))
elif verb == "revise":
    memory.revise(note.note.id, note.etag, Edit(text="The second text. " * 50))
elif verb == "supersede":
    memory.supersede(note.note.id, note.etag, successor("The second text. " * 50, {}))
else:
    memory.forget(note.note.id, verb)
"""


def run(program: str, settings: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def assert_index_equals_folder(memory: Memory) -> None:
    memory.catch_up()
    assert {path: seen.signature for path, seen in memory.index.listing().items()} == (
        memory.store.scan()
    )
    assert not memory.catch_up()


@pytest.mark.fault("A-48")
def test_processes_started_together_on_a_cold_index_lose_nothing(
    settings: dict[str, str], open_another: Callable[[], Memory]
) -> None:
    writers = [run(WRITER, settings, str(number), "10") for number in range(8)]

    results = [writer.communicate(timeout=90) for writer in writers]

    assert [error for _, error in results if error] == []
    acknowledged = {line for output, _ in results for line in output.split()}
    memory = open_another()
    assert len(acknowledged) == 80
    assert len(memory.index.listing()) == 80
    assert memory.recall(query_from("lamp lit", 50)).total == 80
    assert_index_equals_folder(memory)


@pytest.mark.fault("A-48")
def test_what_was_acknowledged_survives_the_killing_of_its_writers(
    settings: dict[str, str], open_another: Callable[[], Memory]
) -> None:
    writers = [run(WRITER, settings, str(number), "200") for number in range(4)]
    acknowledged: set[str] = set()
    for writer in writers:
        assert writer.stdout is not None
        acknowledged |= {writer.stdout.readline().strip() for _ in range(5)}
        writer.kill()
    for writer in writers:
        output, _ = writer.communicate(timeout=30)
        acknowledged |= {line for line in output.split("\n")[:-1] if line}

    memory = open_another()
    assert_index_equals_folder(memory)

    assert all(memory.read(note_id) for note_id in acknowledged)


@pytest.mark.parametrize("verb", ["remember", "revise", "supersede", "retire", "archive", "erase"])
def test_a_note_is_whole_whichever_call_its_writer_died_at(
    verb: str, settings: dict[str, str], open_another: Callable[[], Memory], vault: Path
) -> None:
    memory = open_another()
    first = memory.remember(draft_from("The first text. " * 50, "Old"))
    before = (vault / first.path).read_bytes()
    deaths = 0
    for call in range(1, 20):
        for file in [*vault.rglob("*.md")]:
            file.unlink()
        (vault / first.path).write_bytes(before)
        memory.catch_up(accept_loss=True)

        process = run(DYING, settings, str(call), verb, first.id)
        _, error = process.communicate(timeout=60)

        assert process.returncode in (0, 9), error
        deaths += process.returncode == 9
        assert_index_equals_folder(memory)
        for file in vault.rglob("*.md"):
            body = file.read_text(encoding="utf-8").split("---\n")[-1]
            whole = ("The first text. " * 50, "The second text. " * 50, "A new lamp. " * 50)
            assert any(text.rstrip() in body for text in whole), file
        if process.returncode == 0:
            break
    assert deaths >= 2
    assert process.returncode == 0
