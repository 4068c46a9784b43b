"""What notes take of memory and of the disk, beside their own bytes."""

from collections.abc import Mapping
from pathlib import Path

import apsw

from memorix.bench.latency import grown_mb
from memorix.bench.results import Measured
from memorix.bench.speed.stock import Stock

PER = 10_000
# Notes that sizes are told for.


def disk(stock: Stock) -> Mapping[str, Measured]:
    """Return megabytes for 10,000 notes: the notes themselves, the index, and the least that their
    vectors take; by parts of the index where SQLite tells them."""
    index = stock.memory.index_path
    _checkpointed(index)
    notes = sum(file.stat().st_size for file in stock.config.vault.rglob("*.md"))
    count, share = len(stock.notes), 1e-6 * PER / len(stock.notes)
    vectors = count * stock.model.card.dim * 4
    whole = index.stat().st_size
    found = {
        "notes_mb": notes * share,
        "index_mb": whole * share,
        "bare_vectors_mb": vectors * share,
        "ratio": whole / (notes + vectors),
        **{f"{part}_mb": size * share for part, size in _by_part(index).items()},
    }
    return {name: Measured.once(value) for name, value in found.items()}


def memory(stock: Stock) -> Mapping[str, Measured]:
    """Return by how many megabytes a process grows that recalls, its model loaded before."""
    grown = grown_mb(stock.config, stock.notes[0].title)
    return {"grown_mb": Measured.once(grown)}


def _checkpointed(index: Path) -> None:
    db = apsw.Connection(str(index))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    db.close()


PARTS = {
    "words": ("words_",),
    "vectors": ("vec_",),
    "kept_vectors": ("kept_vectors",),
    "chunks": ("chunks",),
    "notes_table": ("notes", "tags", "facets", "names", "links"),
}


def _by_part(index: Path) -> Mapping[str, int]:
    """Return bytes by part, from the table that SQLite keeps of its pages; empty without it."""
    db = apsw.Connection(str(index))
    try:
        sizes = db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name").fetchall()
    except apsw.SQLError:
        return {}
    finally:
        db.close()
    found: dict[str, int] = {}
    for part, begins in PARTS.items():
        found[part] = sum(int(str(s)) for name, s in sizes if str(name).startswith(begins))
    return found
