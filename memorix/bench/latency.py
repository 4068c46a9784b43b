"""Measure how long a warm hybrid recall takes, beside its three parts alone, and what it holds.

The texts get vectors by chance, because a scan takes as long over any numbers; the questions are
embedded by the model.
"""

import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import apsw
import numpy as np
import numpy.typing as npt

from memorix import embedders
from memorix.bench.baselines import any_word
from memorix.bench.operations.distractors import Filler, fillers
from memorix.config import Config, load
from memorix.embedders.base import Embedder, ModelCard
from memorix.index.vectors import load_extension
from memorix.lifecycle import draft_from
from memorix.memory import Memory
from memorix.query import Filter, Query
from memorix.wiring import open_memory

SIZES, LARGE = (1_000, 10_000), 100_000
ASKED, WARM = 60, 5
REACH = 100
# Candidates of each part alone, as many as recall looks at.

PAGES = Path("/proc/self/statm")
# Linux: the second figure is the pages in memory.

SCOPE, SEED, AT_ONCE = "app", 7, 500

Matrix = npt.NDArray[np.float32]


class Simulated:
    """A model whose vectors of texts are drawn by chance, and those of questions its own."""

    def __init__(self, model: Embedder) -> None:
        self._model, self._chance = model, np.random.default_rng(SEED)

    @property
    def card(self) -> ModelCard:
        return self._model.card

    def embed(self, texts: Sequence[str]) -> Matrix:
        return unit_rows(self._chance, len(texts), self.card.dim)

    def embed_query(self, text: str) -> Matrix:
        return self._model.embed_query(text)


def unit_rows(chance: np.random.Generator, count: int, dim: int) -> Matrix:
    """Return `count` rows of length 1."""
    rows = chance.standard_normal((count, dim)).astype(np.float32)
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def latency(config: Config, size: int) -> dict[str, float]:
    """Return milliseconds at p50 and p95 of recall and of its parts in a store of so many notes,
    the ratio of both at p50, and megabytes per 10,000 notes."""
    config.vault.mkdir(parents=True, exist_ok=True)
    (config.vault / "projects" / SCOPE).mkdir(parents=True)
    model, _ = embedders.load(config.model, config.models_dir)
    notes = fillers(size, SEED, "en")
    memory = open_memory(config)
    try:
        memory.use_model(Simulated(model))
        _fill(memory, notes)
        with _parts(config.state_dir / "plain.db", notes, model) as parts:
            times, answered = _timed(memory, [note.title for note in notes], parts)
    finally:
        memory.close()
    found = {f"{name}.{key}": value for name, t in times.items() for key, value in _ms(t).items()}
    per_10k = 10_000 / size
    index = sum(file.stat().st_size for file in config.state_dir.glob("index.db*"))
    files = sum(file.stat().st_size for file in config.vault.rglob("*.md"))
    return found | {
        "ratio": found["recall.p50_ms"] / found["parts.p50_ms"],
        "answered": answered,
        "memory_mb_per_10k": grown_mb(config, notes[0].title) * per_10k,
        "index_mb_per_10k": index / 1e6 * per_10k,
        "notes_mb_per_10k": files / 1e6 * per_10k,
    }


def asked(text: str) -> Query:
    return Query(text, Filter(scopes=(SCOPE,)))


def _fill(memory: Memory, notes: Sequence[Filler]) -> None:
    for at in range(0, len(notes), AT_ONCE):
        batch = [draft_from(note.text, note.title) for note in notes[at : at + AT_ONCE]]
        memory.remember_all([(draft, SCOPE) for draft in batch])
    memory.embed_pending()


@contextmanager
def _parts(
    file: Path, notes: Sequence[Filler], model: Embedder
) -> Iterator[Mapping[str, Callable[[str], object]]]:
    """Yield what a hybrid search cannot do without, each over the same texts in plain tables."""
    db = apsw.Connection(str(file))
    chance = np.random.default_rng(SEED)
    scan = load_extension(db)
    dim = model.card.dim
    db.execute("CREATE VIRTUAL TABLE words USING fts5(title, text)")
    if scan:
        db.execute(
            f"CREATE VIRTUAL TABLE near USING vec0(vector float[{dim}] distance_metric=cosine)"
        )
    rows = unit_rows(chance, len(notes), dim)
    with db:
        db.executemany("INSERT INTO words VALUES (?, ?)", ((n.title, n.text) for n in notes))
        if scan:
            db.executemany(
                "INSERT INTO near(vector) VALUES (?)", ((row.tobytes(),) for row in rows)
            )

    def nearest(text: str) -> object:
        vector = model.embed_query(text)
        if not scan:
            return np.argsort(-(rows @ vector))[:REACH]
        sql = "SELECT rowid, distance FROM near WHERE vector MATCH ? AND k = ?"
        return db.execute(sql, (vector.tobytes(), REACH)).fetchall()

    def words(text: str) -> object:
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        return db.execute(sql, (any_word(text), REACH)).fetchall()

    try:
        yield {"embed_and_scan": nearest, "words": words}
    finally:
        db.close()


def _timed(
    memory: Memory, titles: Sequence[str], parts: Mapping[str, Callable[[str], object]]
) -> tuple[dict[str, list[float]], float]:
    """Ask in turns, so that whatever else the machine does slows both alike."""
    times: dict[str, list[float]] = {"recall": [], "parts": []}
    answered = 0
    for number in range(ASKED + WARM):
        question = f"what do we know of {titles[number * 7919 % len(titles)]}?"
        began = time.perf_counter()
        answer = memory.recall(asked(question))
        between = time.perf_counter()
        for part in parts.values():
            part(question)
        ended = time.perf_counter()
        if number >= WARM:
            answered += bool(answer.hits)
            times["recall"].append(between - began)
            times["parts"].append(ended - between)
    return times, answered / ASKED


def _ms(times: Sequence[float]) -> dict[str, float]:
    p50, p95 = np.percentile(times, (50, 95)) * 1000
    return {"p50_ms": float(p50), "p95_ms": float(p95)}


def grown_mb(config: Config, question: str) -> float:
    """Return how much a fresh process grows by once it recalls, its model loaded before."""
    fresh = multiprocessing.get_context("spawn")
    same = {
        "MEMORIX_VAULT": str(config.vault),
        "MEMORIX_STATE_DIR": str(config.state_dir),
        "MEMORIX_PROJECT_DIR": str(config.cwd),
        "MEMORIX_MODEL": config.model,
    }
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(_growth_mb, same, question).result()


def _growth_mb(environment: Mapping[str, str], question: str) -> float:
    config = load({}, environment)
    model, _ = embedders.load(config.model, config.models_dir)
    model.embed_query(question)
    before = _held_mb()
    memory = open_memory(config)
    memory.use_model(Simulated(model))
    for _ in range(WARM):
        memory.recall(asked(question))
    grown = _held_mb() - before
    memory.close()
    return grown


def _held_mb() -> float:
    """Return the memory this process holds, where the system tells no more the most it has held;
    0 where it tells neither."""
    if sys.platform == "win32":
        return 0.0
    import resource

    if PAGES.exists():
        return int(PAGES.read_text("ascii").split()[1]) * resource.getpagesize() / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
