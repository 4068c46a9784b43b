"""What work takes is counted, so that a large step back fails on the busiest machine."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memorix.bench.speed.corpus import drafts
from memorix.bench.speed.counting import (
    Counts,
    at_this_size,
    counting,
    exceeded,
    imports,
)
from memorix.bench.speed.stock import Stock, default_model, environment, stocked
from memorix.bench.speed.suites import COUNTED_NOTES
from memorix.config import load
from memorix.memory import Memory
from memorix.wiring import open_memory
from tests.hashing import HashingEmbedder

KEPT = json.loads(
    (Path(__file__).parents[1] / "scripts/bench-results/counts.json").read_text(encoding="utf-8")
)["measures"]
Counted = tuple[Stock, Counts]


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counted]:
    folder = tmp_path_factory.mktemp("counted")
    with counting() as counts, stocked(folder, COUNTED_NOTES, default_model()) as stock:
        yield stock, counts


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    """What a process of its own counts: in this one, earlier tests have filled what is memoised."""
    out = tmp_path_factory.mktemp("found") / "counts.json"
    command = [sys.executable, "-m", "memorix", "bench", "counts", "--json", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return dict(json.loads(out.read_text(encoding="utf-8"))["measures"])


def test_a_start_a_recall_and_a_remember_take_no_more_than_they_did(
    found: dict[str, float],
) -> None:
    assert set(found) == set(KEPT)
    assert not exceeded(found, KEPT)


def test_a_note_is_synced_with_its_folder_and_no_more(found: dict[str, float]) -> None:
    assert found["remember.fsync"] == 2
    assert found["recall.fsync"] == 0


def steps_a_vector(folder: Path, notes: int) -> float:
    """Return what SQLite takes for each text that gets its vector."""
    with counting() as counts:
        memory = open_memory(load({}, environment(folder)))
        memory.use_model(HashingEmbedder())
        memory.remember_all([(draft, "user") for draft in drafts(notes)])
        counts.start()
        made = memory.embed_pending()
        counts.stop()
        memory.close()
    return counts.steps / made


def test_a_text_gets_its_vector_for_the_same_work_however_many_wait(tmp_path: Path) -> None:
    few, many = (steps_a_vector(tmp_path / str(notes), notes) for notes in (100, 800))

    assert many < 1.5 * few


def read_every_note(memory: Memory) -> None:
    for path in memory.index.listing():
        memory.store.read(path)


def ask_once_for_each_candidate(memory: Memory) -> None:
    for number in range(1_000):
        memory.index.find(str(number))


def sync_the_folder_again(memory: Memory) -> None:
    folder = os.open(memory.store.vault, os.O_RDONLY)
    os.fsync(folder)
    os.fsync(folder)
    os.close(folder)


@pytest.mark.parametrize(
    ("verb", "regression", "seen"),
    [
        ("recall", read_every_note, {"recall.calls", "recall.open"}),
        ("recall", ask_once_for_each_candidate, {"recall.statements"}),
        ("remember", read_every_note, {"remember.calls", "remember.open"}),
        ("remember", sync_the_folder_again, {"remember.fsync"}),
    ],
)
def test_a_planted_regression_is_named(
    counted: Counted,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    verb: str,
    regression: Callable[[Memory], None],
    seen: set[str],
) -> None:
    seed = int.from_bytes(request.node.name.encode(), "big")
    before = at_this_size(*counted, seed)
    as_it_is = getattr(Memory, verb)

    def slower(memory: Memory, *given: Any, **named: Any) -> Any:
        regression(memory)
        return as_it_is(memory, *given, **named)

    monkeypatch.setattr(Memory, verb, slower)
    after = at_this_size(*counted, seed + 1)

    assert seen <= {line.partition(":")[0] for line in exceeded(after, before)}


def test_a_planted_import_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import asyncio, concurrent.futures, http.server, numpy, xml.dom.minidom\n",
        encoding="utf-8",
    )
    path = os.pathsep.join([str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    monkeypatch.setenv("PYTHONPATH", path)

    found = imports(tmp_path / "run")

    assert [line.partition(":")[0] for line in exceeded(found, KEPT)] == ["hook.imports"]
