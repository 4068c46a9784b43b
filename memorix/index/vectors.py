"""The nearest vectors: sqlite-vec where its extension loads, a numpy product where not.

Both find the same chunks: exact cosine over float32 rows of length 1, within scopes.
"""

import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import apsw

from memorix.index.schema import fetch

MAX_NEIGHBOURS = 4096
# sqlite-vec refuses a larger k.


class Vectors(Protocol):
    """Finds neighbours of one model's vectors.  Methods run inside the caller's transaction."""

    name: str

    def declare(self, db: apsw.Connection, fingerprint: str, dim: int) -> bool:
        """Make what a model needs; True where it was made now and has to be filled."""
        ...

    def add(
        self, db: apsw.Connection, fingerprint: str, rows: Sequence[tuple[int, str, bytes]]
    ) -> None: ...
    def remove(self, db: apsw.Connection, chunks: Sequence[int]) -> None: ...
    def nearest(
        self,
        db: apsw.Connection,
        vector: bytes,
        fingerprint: str,
        scopes: Sequence[str],
        limit: int,
    ) -> list[tuple[int, float]]: ...


def extension_path() -> str | None:
    """Find sqlite-vec's library without importing the package, which would import numpy."""
    spec = importlib.util.find_spec("sqlite_vec")
    places = spec.submodule_search_locations if spec else None
    return str(Path(next(iter(places))) / "vec0") if places else None


def load_extension(db: apsw.Connection) -> bool:
    """Load sqlite-vec into a connection; False where this platform has none that works."""
    path = extension_path()
    if path is None:
        return False
    try:
        db.enable_load_extension(True)
        db.load_extension(path)
        db.enable_load_extension(False)
        return bool(fetch(db, "SELECT vec_version()"))
    except (apsw.Error, AttributeError):
        return False


class VecTables:
    """One vec0 table a model, partitioned by scope."""

    name = "sqlite-vec"

    def declare(self, db: apsw.Connection, fingerprint: str, dim: int) -> bool:
        table = table_name(fingerprint)
        if _exists(db, table):
            return False
        fetch(
            db,
            f"CREATE VIRTUAL TABLE {table} USING vec0("
            f"scope TEXT PARTITION KEY, embedding float[{dim}] distance_metric=cosine)",
        )
        return True

    def add(
        self, db: apsw.Connection, fingerprint: str, rows: Sequence[tuple[int, str, bytes]]
    ) -> None:
        # vec0 knows no REPLACE: a chunk that has its vector already is left alone.
        table = table_name(fingerprint)
        for chunk, scope, vector in rows:
            if not fetch(db, f"SELECT 1 FROM {table} WHERE rowid = ?", (chunk,)):
                db.execute(
                    f"INSERT INTO {table}(rowid, scope, embedding) VALUES (?, ?, ?)",
                    (chunk, scope, vector),
                )

    def remove(self, db: apsw.Connection, chunks: Sequence[int]) -> None:
        for (table,) in fetch(db, "SELECT vec_table FROM models"):
            if _exists(db, table):
                db.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(c,) for c in chunks])

    def nearest(
        self,
        db: apsw.Connection,
        vector: bytes,
        fingerprint: str,
        scopes: Sequence[str],
        limit: int,
    ) -> list[tuple[int, float]]:
        table = table_name(fingerprint)
        if not _exists(db, table):
            return []
        k = min(limit, MAX_NEIGHBOURS)
        sql = f"SELECT rowid, distance FROM {table} WHERE embedding MATCH ? AND k = ?"
        found: list[tuple[int, float]] = []
        if scopes:
            for scope in scopes:
                found += fetch(db, f"{sql} AND scope = ?", (vector, k, scope))
        else:
            found = fetch(db, sql, (vector, k))
        return sorted(((c, 1.0 - d) for c, d in found), key=lambda row: -row[1])[:k]


class BlobScan:
    """The kept vectors as one matrix in memory, made anew when the database has changed."""

    name = "numpy"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._matrices: dict[str, tuple[Any, Any, Any, Any]] = {}

    def declare(self, db: apsw.Connection, fingerprint: str, dim: int) -> bool:
        return False  # the kept vectors are the table

    def add(
        self, db: apsw.Connection, fingerprint: str, rows: Sequence[tuple[int, str, bytes]]
    ) -> None:
        """Nothing to add: the kept vectors are the table."""

    def remove(self, db: apsw.Connection, chunks: Sequence[int]) -> None:
        """Nothing to remove: a dropped chunk is not joined any more."""

    def nearest(
        self,
        db: apsw.Connection,
        vector: bytes,
        fingerprint: str,
        scopes: Sequence[str],
        limit: int,
    ) -> list[tuple[int, float]]:
        import numpy as np

        chunks, of_scope, matrix = self._matrix(db, fingerprint)
        if not len(chunks):
            return []
        scores = matrix @ np.frombuffer(vector, dtype=np.float32)
        if scopes:
            scores = np.where(np.isin(of_scope, list(scopes)), scores, -2.0)
        order = np.argsort(-scores, kind="stable")[:limit]
        return [(int(chunks[i]), float(scores[i])) for i in order if scores[i] > -2.0]

    def _matrix(self, db: apsw.Connection, fingerprint: str) -> tuple[Any, Any, Any]:
        import numpy as np

        version = (fetch(db, "PRAGMA data_version")[0][0], db.total_changes(), id(db))
        with self._lock:
            cached = self._matrices.get(fingerprint)
            if cached and cached[0] == version:
                return cached[1], cached[2], cached[3]
            rows = kept_rows(db, fingerprint)
            dim = len(rows[0][2]) // 4 if rows else 0
            matrix = np.frombuffer(b"".join(row[2] for row in rows), dtype=np.float32)
            chunks = np.array([row[0] for row in rows], dtype=np.int64)
            scopes = np.array([row[1] for row in rows])
            matrix = matrix.reshape(len(rows), dim)
            self._matrices[fingerprint] = (version, chunks, scopes, matrix)
            return chunks, scopes, matrix


def kept_rows(db: apsw.Connection, fingerprint: str) -> list[tuple[int, str, bytes]]:
    return fetch(
        db,
        "SELECT c.key, n.scope, v.vector FROM chunks c JOIN notes n ON n.key = c.note"
        " JOIN kept_vectors v ON v.hash = c.hash AND v.model = ?",
        (fingerprint,),
    )


def table_name(fingerprint: str) -> str:
    return "vec_" + hashlib.blake2b(fingerprint.encode(), digest_size=6).hexdigest()


def _exists(db: apsw.Connection, table: str) -> bool:
    return bool(fetch(db, "SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)))
