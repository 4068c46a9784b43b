"""The index alone with as many chunks as a very large memory has, without files behind them."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from memorix.bench.latency import unit_rows
from memorix.bench.results import Measured
from memorix.bench.speed.corpus import SEED, drafts, questions
from memorix.bench.speed.timing import Rounds
from memorix.chunks import Chunk
from memorix.embedders.base import Embedder
from memorix.index.base import Embedded, Put
from memorix.index.sqlite import SqliteIndex
from memorix.lexemes import query_terms
from memorix.lifecycle import compose
from memorix.note import new_id
from memorix.query import Filter
from memorix.reconcile import Seen

CHUNKS_OF_NOTE, NOTES_AT_ONCE, VECTORS_AT_ONCE = 20, 100, 50_000
ASKED, REACH = 20, 100
SCOPE = "app"
BEGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)


def simulated(folder: Path, chunks: int, model: Embedder) -> Mapping[str, Measured]:
    """Fill an index with notes of twenty chunks each, and search it by words and by vector."""
    folder.mkdir(parents=True)
    index = SqliteIndex(folder / "index.db")
    began = time.perf_counter()
    _fill(index, chunks)
    filled = time.perf_counter()
    _embed(index, model)
    embedded = time.perf_counter()
    rounds, wanted = Rounds(), Filter(scopes=(SCOPE,))
    fingerprint = model.card.fingerprint
    for question in questions(drafts(1000, SEED), ASKED):
        vector = model.embed_query(question).tobytes()
        terms = query_terms(question)
        rounds.time("words", index.match_words, terms, wanted, BEGIN, REACH)
        rounds.time("vector", index.match_vector, vector, fingerprint, wanted, BEGIN, REACH)
    index.close()
    size = sum(file.stat().st_size for file in folder.glob("index.db*"))
    return {
        "words.p50_ms": rounds.median_ms("words"),
        "vector.p50_ms": rounds.median_ms("vector"),
        "words.cpu_ms": rounds.median_ms("words.cpu"),
        "vector.cpu_ms": rounds.median_ms("vector.cpu"),
        "chunks_per_s": Measured.once(chunks / (filled - began)),
        "vectors_per_s": Measured.once(chunks / (embedded - filled)),
        "index_mb": Measured.once(size / 1e6),
    }


def _fill(index: SqliteIndex, chunks: int) -> None:
    batch: list[Put] = []
    for put in _puts(chunks):
        batch.append(put)
        if len(batch) == NOTES_AT_ONCE:
            index.apply(batch)
            batch = []
    index.apply(batch)


def _puts(chunks: int) -> Iterator[Put]:
    told = drafts(min(chunks, 20_000), SEED)
    chance = np.random.default_rng(SEED)
    for number in range(-(-chunks // CHUNKS_OF_NOTE)):
        path = f"projects/{SCOPE}/{number}.md"
        first = number * CHUNKS_OF_NOTE
        texts = [
            f"{told[place % len(told)].text} Seen on line {place}."
            for place in range(first, min(first + CHUNKS_OF_NOTE, chunks))
        ]
        draft = told[number % len(told)]
        note = compose(draft, new_id(BEGIN, chance.bytes(10)), path, BEGIN, "memorix/bench")
        pieces = tuple(Chunk(place, "", text, 0, 0, 1) for place, text in enumerate(texts))
        yield Put(note, SCOPE, Seen("", str(number)), pieces, f"projects/{SCOPE}")


def _embed(index: SqliteIndex, model: Embedder) -> None:
    card, chance = model.card, np.random.default_rng(SEED)
    while pending := index.pending(card.fingerprint, frozenset(), VECTORS_AT_ONCE):
        rows = unit_rows(chance, len(pending), card.dim)
        made = [Embedded(one.hash, row.tobytes()) for one, row in zip(pending, rows, strict=True)]
        index.keep_vectors(card.fingerprint, made)
