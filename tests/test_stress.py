"""The stress program, in so small a run that it is a test: nothing may be lost or wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts/stress"
SIZES = {
    "--servers": 3, "--writes": 8, "--sizes": 20, "--edits": 2, "--notes": 30, "--idle-s": 1,
    "--modelled": 0, "--files": 40, "--trickle-s": 1,
}  # fmt: skip

pytestmark = pytest.mark.skipif(os.name == "nt", reason="it starts its servers by a shell")


def stress(tmp_path: Path, *parts: str) -> dict[str, object]:
    figures = tmp_path / "figures.json"
    sizes = [str(word) for pair in SIZES.items() for word in pair]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *parts, *sizes, "--json", str(figures)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=110,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing was lost, and nothing is wrong." in done.stdout
    return dict(json.loads(figures.read_text(encoding="utf-8")))


@pytest.mark.fault("A-48")
@pytest.mark.fault("A-81")
def test_servers_that_are_killed_while_they_and_people_write_lose_nothing(tmp_path: Path) -> None:
    alone, with_people = stress(tmp_path, "writers")["writers"]  # type: ignore[misc]

    for run in (alone, with_people):
        assert run["acknowledged"] == 3 * 8
        assert run["lock_errors"] == 0
        assert set(run["refused"]) <= {"changed"}
    assert with_people["saves"] > 0


def test_a_server_is_right_after_each_step_of_a_day(tmp_path: Path) -> None:
    stress(tmp_path, "journey")


def test_every_measure_is_taken(tmp_path: Path) -> None:
    found = stress(tmp_path, "latency", "idle", "looks", "bursts")

    assert {"latency", "idle", "looks", "bursts"} <= found.keys()
    [idle] = found["idle"]  # type: ignore[misc]
    assert idle["notes_read"] == 0
