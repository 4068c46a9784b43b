"""What a server does while nobody asks and nothing changes."""

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

from watchdog.events import FileOpenedEvent, FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from tests.stress.corpus import lay
from tests.stress.session import environment, hosting

AIM_CPU_S = 0.3
SETTLING_S = 5.0
# What the first look and the loading of the model leave to be done.


class Opened(FileSystemEventHandler):
    """Counts the notes that somebody opens: the system tells of each, without slowing anybody."""

    def __init__(self) -> None:
        self.notes: Counter[str] = Counter()

    def on_opened(self, event: FileSystemEvent) -> None:
        if isinstance(event, FileOpenedEvent) and str(event.src_path).endswith(".md"):
            self.notes[str(event.src_path)] += 1


def measure(
    folder: Path, notes: int = 10_000, seconds: int = 60, model: str = "none"
) -> dict[str, Any]:
    """Leave a server alone; return the processor seconds it used and the notes it opened."""
    settings = environment(folder, MEMORIX_MODEL=model)
    files = lay(Path(settings["MEMORIX_VAULT"]), notes)
    opened = Opened()
    with hosting(folder / "servers") as host, host.session(settings) as server:
        server.until_taken_in(notes)
        while model != "none" and server.status()["vectors_pending"]:
            time.sleep(0.5)
        time.sleep(SETTLING_S)
        observer = Observer()
        observer.schedule(opened, settings["MEMORIX_VAULT"], recursive=True)
        observer.start()
        files[0].read_bytes()  # ours: shows that an opening is told of
        _until_told(opened, str(files[0]))
        before = _cpu_s(server.pid)
        time.sleep(seconds)
        used = _cpu_s(server.pid) - before
        observer.stop()
        observer.join()
    reads = opened.notes.total() - 1
    return {"notes": notes, "seconds": seconds, "cpu_s": round(used, 2), "notes_read": reads}


def _until_told(opened: Opened, path: str) -> None:
    deadline = time.monotonic() + 10
    while not opened.notes[path]:
        assert time.monotonic() < deadline, "the system tells of no opening"
        time.sleep(0.01)


def _cpu_s(pid: int) -> float:
    """Return the processor seconds of a process so far, with all its threads."""
    after_name = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")
