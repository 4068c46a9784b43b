"""The least that is needed: one fsync, one FTS5 table, one scan of vectors, each by itself."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw
import numpy as np

from memorix.bench.baselines import any_word
from memorix.bench.latency import SEED, Matrix, unit_rows
from memorix.index.vectors import load_extension
from memorix.sync import BATCH

REACH = 100
# Candidates of each part alone, as many as recall looks at.


class Floor:
    """The same texts in plain tables of their own: an FTS5 table, and vectors by chance."""

    def __init__(self, file: Path, texts: Sequence[tuple[str, str]], dim: int) -> None:
        self._db = apsw.Connection(str(file))
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL"):
            self._db.execute(f"PRAGMA {pragma}").fetchall()
        self.matrix: Matrix = unit_rows(np.random.default_rng(SEED), len(texts), dim)
        self._db.execute("CREATE VIRTUAL TABLE words USING fts5(title, text)")
        with self._db:
            self._db.executemany("INSERT INTO words VALUES (?, ?)", texts)
        self.extension = load_extension(self._db)
        if self.extension:
            self._db.execute(
                f"CREATE VIRTUAL TABLE near USING vec0(vector float[{dim}] distance_metric=cosine)"
            )
            with self._db:
                rows = ((row.tobytes(),) for row in self.matrix)
                self._db.executemany("INSERT INTO near(vector) VALUES (?)", rows)

    def words(self, text: str) -> Sequence[object]:
        """Return the best rows for any word of a question."""
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        return self._db.execute(sql, (any_word(text), REACH)).fetchall()

    def scan(self, vector: Matrix) -> Sequence[object]:
        """Return the nearest rows as sqlite-vec finds them, by `product` where it does not load."""
        if not self.extension:
            return self.product(vector)
        sql = "SELECT rowid, distance FROM near WHERE vector MATCH ? AND k = ?"
        return self._db.execute(sql, (vector.tobytes(), REACH)).fetchall()

    def product(self, vector: Matrix) -> Sequence[object]:
        """Return the nearest rows by one product with a matrix that is in memory already."""
        scores = self.matrix @ vector
        reach = min(REACH, len(scores))
        best = np.argpartition(-scores, reach - 1)[:reach]
        return list(best[np.argsort(-scores[best])])

    def insert(self, title: str, text: str) -> None:
        """Add a row in a transaction of its own."""
        self._db.execute("BEGIN IMMEDIATE").fetchall()
        self._db.execute("INSERT INTO words VALUES (?, ?)", (title, text)).fetchall()
        self._db.execute("COMMIT").fetchall()

    def close(self) -> None:
        self._db.close()


@contextmanager
def floor_over(file: Path, texts: Sequence[tuple[str, str]], dim: int) -> Iterator[Floor]:
    floor = Floor(file, texts, dim)
    try:
        yield floor
    finally:
        floor.close()


def synced(file: Path, content: bytes) -> None:
    """Write a file and wait until the disk has it."""
    with file.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())


def inserted(file: Path, rows: Sequence[tuple[str, ...]]) -> None:
    """Insert rows into a new FTS5 table and nothing else, in transactions as large as ours."""
    for part in file.parent.glob(f"{file.name}*"):
        part.unlink()
    columns = [f"column{number}" for number in range(len(rows[0]))]
    db = apsw.Connection(str(file))
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL"):
        db.execute(f"PRAGMA {pragma}").fetchall()
    db.execute(f"CREATE VIRTUAL TABLE plain USING fts5({', '.join(columns)})").fetchall()
    insert = f"INSERT INTO plain VALUES ({', '.join('?' * len(columns))})"
    for start in range(0, len(rows), BATCH):
        with db:
            db.executemany(insert, rows[start : start + BATCH])
    db.close()
