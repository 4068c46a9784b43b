"""How long after a save a host can recall it, beside a bare event of the system in the same run."""

import random
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memorix.bench.speed.following import GIVEN_UP_S, first_events, moment
from tests.editors import by_rename, in_place
from tests.stress.corpus import lay
from tests.stress.session import Session, environment, hosting

PAUSE_S = (0.2, 0.6)
# Between two edits, so that each meets a server at rest.

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
        with first_events(vault) as events:
            for number in range(edits):
                time.sleep(chance.uniform(*PAUSE_S))
                file, save = chance.choice(files), (in_place, by_rename)[number % 2]
                text = f"{file.read_text(encoding='utf-8')}\nword{size}x{number}\n"
                events.pop(str(file), None)
                began = time.perf_counter()
                save(file, text)
                recalled.append(_recalled(server, f"word{size}x{number}", began))
                told.append(moment(events, str(file)) - began)
    return {"edits": edits, "recallable": percentiles(recalled), "event": percentiles(told)}


def _recalled(server: Session, word: str, began: float) -> float:
    """Ask without a pause until a note is found; return how long after the save that was."""
    while not server.found(word):
        assert time.perf_counter() - began < GIVEN_UP_S, f"{word} was never found"
    return time.perf_counter() - began


def percentiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    at = (len(ordered) - 1) / 100
    return {f"p{p}_ms": round(ordered[round(p * at)] * 1000, 1) for p in (50, 95, 100)}
