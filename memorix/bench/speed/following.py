"""How long after a save in an editor a note is recalled, beside a bare event of the system."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from memorix import wiring
from memorix.bench.latency import asked
from memorix.bench.results import Measured
from memorix.bench.speed.stock import Stock
from memorix.bench.speed.timing import Rounds

EDITS = 30
PAUSE_S = 0.25
# Between two edits, so that each meets a memory at rest.

GIVEN_UP_S = 20.0


def edit_to_recallable(stock: Stock, edits: int = EDITS) -> Mapping[str, Measured]:
    """Edit notes by hand and ask for the new word until it is found; all in one process, where a
    host asks a server over a pipe."""
    files = sorted(stock.config.vault.rglob("*.md"))
    rounds, memory = Rounds(), stock.memory
    stop = wiring.follow(memory, stock.config)
    try:
        with first_events(stock.config.vault) as events:
            for number in range(edits):
                time.sleep(PAUSE_S)
                file, word = files[number * 7919 % len(files)], f"edited{number}zq"
                text = f"{file.read_text(encoding='utf-8')}\n{word}\n"
                events.pop(str(file), None)
                began = time.perf_counter()
                file.write_text(text, encoding="utf-8")
                while not memory.recall(asked(word)).hits:
                    assert time.perf_counter() - began < GIVEN_UP_S, f"{word} was never found"
                rounds.took("recalled", time.perf_counter() - began)
                rounds.took("event", moment(events, str(file)) - began)
    finally:
        stop()
        memory.follower = None
    return {
        "p50_ms": rounds.median_ms("recalled"),
        "p95_ms": rounds.p95_ms("recalled"),
        "event.p50_ms": rounds.median_ms("event"),
    }


def moment(events: Mapping[str, float], path: str) -> float:
    """Return when the first event of a file came; it may come after the file was found."""
    deadline = time.perf_counter() + GIVEN_UP_S
    while path not in events and time.perf_counter() < deadline:
        time.sleep(0.002)
    return events[path]


@contextmanager
def first_events(vault: Path) -> Iterator[dict[str, float]]:
    """Watch a folder with nothing behind the events but a note of when the first one came."""
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
