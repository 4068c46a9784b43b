"""The transcript of two machines that come together, run as it is printed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "show-merge"


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("part", "facts"), [("git", 2), ("copies", 2)])
def test_what_the_transcript_shows_holds(part: str, facts: int) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), part],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=390,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    said = [line for line in done.stdout.splitlines() if line.startswith("-- ")]
    assert sum(line.endswith(": yes") for line in said) == facts
