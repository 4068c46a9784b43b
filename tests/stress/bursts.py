"""Many files at once, or a line now and then: when the index is right, in how many looks."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memorix.config import load
from memorix.wiring import open_memory
from tests.following import Followed, followed
from tests.stress.session import environment

TRICKLE_EVERY_S = 0.5
LOOK_EVERY_S = 0.05
GIVEN_UP_S = 300.0

_LAY = (
    "import sys; from pathlib import Path; from tests.stress.corpus import lay;"
    " lay(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))"
)


def measure(folder: Path, files: int = 5_000, trickle_s: int = 30) -> dict[str, Any]:
    """Write, replace and delete many files at once, then let one note grow for a while."""
    settings = environment(folder)
    vault = Path(settings["MEMORIX_VAULT"])
    vault.mkdir()
    config = load({}, settings)
    memory = open_memory(config)
    try:
        with followed(memory, config) as notes:
            return {
                "written": _at_once(notes, files, lambda: _lay(vault, files, 1)),
                "replaced": _at_once(notes, files, lambda: _lay(vault, files, 2)),
                "moved": _at_once(notes, files, lambda: _rename_folder(vault)),
                "trickle": _trickle(notes, trickle_s),
            }
    finally:
        memory.close()


def _lay(vault: Path, files: int, seed: int) -> None:
    """Write the files in another process, as git does: two threads of one would wait in turns."""
    asked = [sys.executable, "-c", _LAY, str(vault), str(files), str(seed)]
    subprocess.run(asked, check=True, cwd=Path(__file__).resolve().parents[2])


def _rename_folder(vault: Path) -> None:
    (vault / "projects/app/notes").rename(vault / "projects/app/moved")


def _at_once(notes: Followed, files: int, change: Callable[[], object]) -> dict[str, Any]:
    notes.looks.clear()
    began = time.monotonic()
    change()
    changed = time.monotonic()
    _until_right(notes)
    right = time.monotonic()
    return {
        "files": files,
        "changing_s": round(changed - began, 2),
        "right_after_s": round(right - changed, 2),
        **_looks(notes),
    }


def _trickle(notes: Followed, seconds: int) -> dict[str, Any]:
    """Add a line to one note again and again; each is to be found before the next comes."""
    diary = notes.known("user/diary.md", "# Diary\n")
    notes.settled()
    notes.looks.clear()
    times = []
    for number in range(int(seconds / TRICKLE_EVERY_S)):
        with diary.open("a", encoding="utf-8") as stream:
            stream.write(f"line{number}\n")
        began = time.monotonic()
        while notes.found(f"line{number}") != ["user/diary.md"]:
            assert time.monotonic() - began < GIVEN_UP_S
        times.append(time.monotonic() - began)
        time.sleep(max(TRICKLE_EVERY_S - times[-1], 0))
    _until_right(notes)
    return {"lines": len(times), "slowest_ms": round(max(times) * 1000), **_looks(notes)}


def _until_right(notes: Followed) -> None:
    """Wait until the index has the files as they are; a signature changes with every write.

    Only one note is asked for again and again, the last to be indexed: to compare all of them takes
    as much of the processor as to index them.
    """
    deadline = time.monotonic() + GIVEN_UP_S
    wanted = notes.memory.store.scan()
    last = max(wanted)
    while not _is_known(notes, last, wanted[last]) or notes.signatures() != wanted:
        assert time.monotonic() < deadline, "the index did not become right in time"
        time.sleep(LOOK_EVERY_S)
    assert notes.equals_folder()


def _is_known(notes: Followed, path: str, signature: str) -> bool:
    row = notes.memory.index.find(path)
    return row is not None and row.seen.signature == signature


def _looks(notes: Followed) -> dict[str, int]:
    return {
        "full_looks": sum(look is None for look in notes.looks),
        "looks_at_paths": sum(look is not None for look in notes.looks),
    }
