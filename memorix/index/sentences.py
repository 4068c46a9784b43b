"""How near a question is to the sentence of a chunk that is nearest to it.

A chunk's vector is an average of what it says: a question about one sentence of many comes near to
that sentence, not to the average.  So each sentence has a vector of its own, in 8 bits, looked at
only where the chunk itself is among the nearest: late interaction (Khattab and Zaharia, "ColBERT",
SIGIR 2020) with sentences in place of tokens.
"""

import json
from collections.abc import Sequence
from math import log2

import apsw

from memorix.index.schema import fetch
from memorix.query import Match

_STEPS = 127
# Of a component of a vector of length 1: a cosine is off by some .002.

_BY_CHANCE = 0.016
# What each doubling of the sentences moves the cosine of an unrelated text.


def packed(rows: bytes) -> bytes:
    """Return float32 components of rows of length 1 in 8 bits each."""
    import numpy as np

    return np.rint(np.frombuffer(rows, dtype=np.float32) * _STEPS).astype(np.int8).tobytes()


def sharpened(
    db: apsw.Connection, vector: bytes, fingerprint: str, near: Sequence[Match]
) -> list[Match]:
    """Return chunks with each cosine moved half way to that of the nearest sentence, where that is
    the greater, best first."""
    nearest = _nearest(db, vector, fingerprint, [match.chunk for match in near])
    found = [
        _moved(match, *nearest[match.chunk]) if match.chunk in nearest else match for match in near
    ]
    return sorted(found, key=lambda match: -match.score)


def _moved(match: Match, best: float, count: int) -> Match:
    gain = max(best - match.score, 0.0) / 2
    return match._replace(score=match.score + gain, chance=min(gain, _BY_CHANCE * log2(count)))


def _nearest(
    db: apsw.Connection, vector: bytes, fingerprint: str, chunks: Sequence[int]
) -> dict[int, tuple[float, int]]:
    """Return the cosine of the nearest sentence of each chunk that says more than one thing, and
    how many it has."""
    rows = fetch(
        db,
        "SELECT c.key, v.sentences FROM json_each(?2) j JOIN chunks c ON c.key = j.value"
        " JOIN kept_vectors v ON v.hash = c.hash AND v.model = ?1 WHERE v.sentences <> x''",
        (fingerprint, json.dumps(chunks)),
    )
    if not rows:
        return {}
    import numpy as np

    asked = np.frombuffer(vector, dtype=np.float32)
    said = np.frombuffer(b"".join(blob for _, blob in rows), dtype=np.int8)
    cosines = said.reshape(-1, len(asked)).astype(np.float32) @ asked / _STEPS
    counts = [len(blob) // len(asked) for _, blob in rows]
    best = np.maximum.reduceat(cosines, np.cumsum([0, *counts[:-1]]))
    chunks = [chunk for chunk, _ in rows]
    return dict(zip(chunks, zip(best.tolist(), counts, strict=True), strict=True))
