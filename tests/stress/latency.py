"""How long after a save a host can recall it, beside a bare event of the system in the same run."""

import random
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from tests.editors import by_rename, in_place
from tests.stress.corpus import lay
from tests.stress.session import Session, environment, hosting

PAUSE_S = (0.2, 0.6)
# Between two edits, so that each meets a server at rest.

GIVEN_UP_S = 20.0
AIM_P50_MS, AIM_P95_MS = 300, 1000


def measure(
    folder: Path, sizes: Iterable[int] = (100, 1_000, 10_000), edits: int = 40
) -> dict[str, Any]:
    """Edit notes in both ways of editors, and ask for the new word until it is found."""
    return {str(size): _at_size(folder / str(size), size, edits) for size in sizes}


def _at_size(folder: Path, size: int, edits: int) -> dict[str, Any]:
    settings = environment(folder)
    vault = Path(settings["MEMORIX_VAULT"])
    files, chance = lay(vault, size), random.Random(size)
    recalled, told = [], []
    with hosting(folder / "servers") as host, host.session(settings) as server:
        server.until_taken_in(size)
        with _events(vault) as events:
            for number in range(edits):
                time.sleep(chance.uniform(*PAUSE_S))
                file, save = chance.choice(files), (in_place, by_rename)[number % 2]
                text = f"{file.read_text(encoding='utf-8')}\nword{size}x{number}\n"
                events.pop(str(file), None)
                began = time.perf_counter()
                save(file, text)
                recalled.append(_recalled(server, f"word{size}x{number}", began))
                told.append(_when(events, str(file)) - began)
    return {"edits": edits, "recallable": percentiles(recalled), "event": percentiles(told)}


def _recalled(server: Session, word: str, began: float) -> float:
    """Ask without a pause until a note is found; return how long after the save that was."""
    while not server.found(word):
        assert time.perf_counter() - began < GIVEN_UP_S, f"{word} was never found"
    return time.perf_counter() - began


def _when(events: dict[str, float], path: str) -> float:
    deadline = time.perf_counter() + GIVEN_UP_S
    while path not in events and time.perf_counter() < deadline:
        time.sleep(0.005)
    return events[path]


@contextmanager
def _events(vault: Path) -> Iterator[dict[str, float]]:
    """Watch a folder with nothing behind the events but this note of when the first one came."""
    first: dict[str, float] = {}
    lock = threading.Lock()

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            now = time.perf_counter()
            if event.event_type not in ("opened", "closed_no_write"):
                with lock:
                    for path in (event.src_path, event.dest_path):
                        first.setdefault(str(path), now)

    observer = Observer()
    observer.schedule(Handler(), str(vault), recursive=True)
    observer.start()
    try:
        yield first
    finally:
        observer.stop()
        observer.join()


def percentiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    at = (len(ordered) - 1) / 100
    return {f"p{p}_ms": round(ordered[round(p * at)] * 1000, 1) for p in (50, 95, 100)}
