"""How long a look at the folder takes, and reading all of it, beside the least there is."""

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memorix.bench.speed.floors import inserted
from memorix.bench.speed.reading import our_words
from memorix.config import load
from memorix.memory import Memory
from memorix.wiring import open_memory
from tests.stress.corpus import lay, texts
from tests.stress.session import environment

ROUNDS = 7
READS = 3
NOTE = "projects/app/note.md"


def measure(folder: Path, notes: int = 10_000) -> dict[str, Any]:
    """Take turns between ours and the least there is; what is told is the median of each."""
    settings = environment(folder)
    lay(Path(settings["MEMORIX_VAULT"]), notes)
    memory = open_memory(load({}, settings))
    try:
        reindex = _reindex(memory, folder, list(texts(notes)))
        return {"notes": notes, "look": _look(memory), "reindex": reindex}
    finally:
        memory.close()


def _look(memory: Memory) -> dict[str, float]:
    walks, looks = [], []
    for _ in range(ROUNDS):
        walks.append(_timed(lambda: _walk(memory.store.vault)))
        looks.append(_timed(memory.catch_up))
    walk, look = statistics.median(walks), statistics.median(looks)
    return {"walk_ms": ms(walk), "catch_up_ms": ms(look), "ratio": round(look / walk, 2)}


def _walk(vault: Path) -> int:
    """Look at every file, and no more."""
    return sum(
        os.stat(f"{folder}/{name}").st_size  # noqa: PTH116 - the least there is
        for folder, _, names in os.walk(vault)
        for name in names
    )


def _reindex(memory: Memory, folder: Path, contents: list[str]) -> dict[str, float]:
    """Read every note anew, beside inserts into plain FTS5: of the same text, and of our words."""
    file = folder / "plain.db"
    whole = [(text,) for text in contents]
    split = [words for text in contents for words in our_words(NOTE, text.encode())]
    ours, plain, of_words = [], [], []
    for _ in range(READS):
        plain.append(_timed(lambda: inserted(file, whole)))
        of_words.append(_timed(lambda: inserted(file, split)))
        memory.index.clear()
        ours.append(_timed(memory.catch_up))
    mine, text, words = (statistics.median(times) for times in (ours, plain, of_words))
    return {
        "notes_per_s": round(len(contents) / mine),
        "plain_per_s": round(len(contents) / text),
        "our_words_per_s": round(len(contents) / words),
        "ratio": round(text / mine, 3),
        "ratio_of_our_words": round(words / mine, 3),
    }


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def ms(seconds: float) -> float:
    return round(seconds * 1000, 1)
