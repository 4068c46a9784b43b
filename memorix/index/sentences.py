"""How near a question is to the sentence of a chunk that is nearest to it.

A chunk's vector is an average of what it says: a question about one sentence of many comes near to
that sentence, not to the average.  So each sentence has a vector of its own, in 8 bits, looked at
only where the chunk itself is among the nearest: late interaction (Khattab and Zaharia, "ColBERT",
SIGIR 2020) with sentences in place of tokens.
"""

import json
from collections.abc import Iterable, Mapping

import apsw

from memorix.index.schema import fetch

_STEPS = 127
# Of a component of a vector of length 1: a cosine is off by some .002.


def packed(rows: bytes) -> bytes:
    """Return float32 components of rows of length 1 in 8 bits each."""
    import numpy as np

    return np.rint(np.frombuffer(rows, dtype=np.float32) * _STEPS).astype(np.int8).tobytes()


def sharpened(
    db: apsw.Connection, vector: bytes, fingerprint: str, near: Mapping[int, float]
) -> dict[int, float]:
    """Return the cosines of chunks with each moved half way to that of its nearest sentence, where
    that is the greater."""
    best = _nearest(db, vector, fingerprint, near)
    return {
        chunk: max(cosine, (cosine + best.get(chunk, cosine)) / 2) for chunk, cosine in near.items()
    }


def _nearest(
    db: apsw.Connection, vector: bytes, fingerprint: str, chunks: Iterable[int]
) -> dict[int, float]:
    """Return the cosine of the nearest sentence of each chunk that says more than one thing."""
    rows = fetch(
        db,
        "SELECT c.key, v.sentences FROM json_each(?2) j JOIN chunks c ON c.key = j.value"
        " JOIN kept_vectors v ON v.hash = c.hash AND v.model = ?1 WHERE v.sentences <> x''",
        (fingerprint, json.dumps(list(chunks))),
    )
    if not rows:
        return {}
    import numpy as np

    asked = np.frombuffer(vector, dtype=np.float32)
    said = np.frombuffer(b"".join(blob for _, blob in rows), dtype=np.int8)
    cosines = said.reshape(-1, len(asked)).astype(np.float32) @ asked / _STEPS
    starts = np.cumsum([0, *(len(blob) // len(asked) for _, blob in rows[:-1])])
    best = np.maximum.reduceat(cosines, starts)
    return {chunk: float(cosine) for (chunk, _), cosine in zip(rows, best, strict=True)}
