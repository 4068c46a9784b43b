"""Several processes on one vault, and processes that die in the middle of a write."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from memorix.arguments import query_from
from memorix.lifecycle import draft_from
from memorix.memory import Memory
from tests.following import equals_folder
from tests.stress.crashes import INDEX, Crashes, prepared
from tests.stress.dying import KILLED, SETTLING, VERBS

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


def run(program: str, settings: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


MOST_CALLS = 40
# More than any verb makes.


def assert_index_equals_folder(memory: Memory) -> None:
    memory.catch_up()
    assert equals_folder(memory)
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
def test_threads_that_write_at_once_take_turns(memory: Memory) -> None:
    def write(number: int) -> None:
        for step in range(4):
            memory.remember(draft_from(f"Lamp {step} of thread {number} is lit."))
            memory.recall(query_from("lamp"))

    with ThreadPoolExecutor(24) as threads:
        list(threads.map(write, range(24)))

    assert memory.recall(query_from("lamp lit", 50)).total == 96
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


@pytest.fixture(scope="module")
def crashes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crashes]:
    if not hasattr(os, "fork"):
        pytest.skip("the system cannot fork")
    with prepared(tmp_path_factory.mktemp("crashes")) as found:
        yield found


@pytest.mark.parametrize("verb", VERBS)
def test_every_note_is_whole_whichever_call_its_writer_died_at(verb: str, crashes: Crashes) -> None:
    statuses, states = [], []
    for number in range(1, MOST_CALLS):
        left = crashes.run(verb, dies_at=number)

        assert left.faults() == [], f"killed at call {number}"
        statuses.append(left.status)
        states.append(left.state())
        if left.status == 0:
            break

    assert statuses[-1] == 0
    assert "between" not in states or verb not in SETTLING
    assert set(statuses[:-1]) == {KILLED}
    assert (states[0], states[-1]) == ("old", "new")


@pytest.mark.skipif(shutil.which("strace") is None, reason="nothing here tells system calls")
@pytest.mark.parametrize("verb", ["supersede", "archive"])
def test_every_note_is_whole_whichever_system_call_its_writer_died_in(
    verb: str, crashes: Crashes
) -> None:
    calls = [call for call in crashes.calls(verb) if call.column != INDEX]

    faults = [(call, crashes.killed_in(verb, call).faults()) for call in calls]

    assert {"fsync", "rename"} <= {call.column for call in calls}
    assert [(call, fault) for call, fault in faults if fault] == []
