"""Find the notes that resemble each other, among thousands, within seconds."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

SAME_WORDS = 0.6
# Of all words of two notes, shared by both (Jaccard): from here on they are nearly the same text.

SAME_MEANING, SOME_WORDS = 0.9, 0.25
# A cosine from which two notes say nearly the same where they share some words besides; alone it
# takes one greeting for any other.

ALIKE_WORDS, ALIKE_MEANING = 0.4, 0.75
# From one of these on two notes may speak of one thing: 93 of 100 pairs that contradict each other,
# of our own collection, do.

BANDS, ROWS = 30, 3
# Of hashes: two sets that share 60 % of their words agree on one of these bands in all but one of a
# thousand cases, with 40 % in 86 of a hundred.

BLOCK = 1024
# Rows of vectors compared with all others at once: 40 MB for ten thousand notes.

Vectors = NDArray[np.float32]
# (n, dim), rows of length 1, or 0 where a note has no vector.


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes by their places, the share of words that both hold, and their cosine.

    The cosine is None where one of them has no vector.
    """

    first: int
    second: int
    words: float
    meaning: float | None

    @property
    def closeness(self) -> float:
        return max(self.words, self.meaning or 0.0)

    @property
    def says_the_same(self) -> bool:
        """Whether one of the two is nearly a copy of the other."""
        alike = (self.meaning or 0.0) >= SAME_MEANING and self.words >= SOME_WORDS
        return alike or self.words >= SAME_WORDS


def alike(words: Sequence[frozenset[str]], vectors: Vectors | None) -> list[Pair]:
    """Return the pairs of notes that may speak of one thing, in the order of their places."""
    found = dict.fromkeys(alike_by_words(words, ALIKE_WORDS))
    if vectors is not None:
        for first, others, _ in alike_by_meaning(vectors, ALIKE_MEANING):
            found |= {(first, int(other)): None for other in others if first < other}
    return [_pair(first, second, words, vectors) for first, second in sorted(found)]


def shared(first: frozenset[str], second: frozenset[str]) -> float:
    """Return Jaccard's coefficient: the words of both, of all."""
    both = len(first & second)
    total = len(first) + len(second) - both
    return both / total if total else 0.0


def alike_by_words(words: Sequence[frozenset[str]], least: float) -> Iterator[tuple[int, int]]:
    """Yield the pairs of sets of words, by place, that share at least this much of them.

    Sets with the same smallest hashes are compared (MinHash, Broder 1997,
    doi 10.1109/SEQUEN.1997.666900, in bands of locality-sensitive hashing), so that some that
    share little are missed.
    """
    compared: set[tuple[int, int]] = set()
    signatures = _signatures(words)
    for start in range(0, BANDS * ROWS, ROWS):
        alike: dict[bytes, list[int]] = defaultdict(list)
        for place, signature in enumerate(signatures[:, start : start + ROWS]):
            if words[place]:
                alike[signature.tobytes()].append(place)
        for places in alike.values():
            for pair in combinations(places, 2):
                if pair not in compared:
                    compared.add(pair)
                    if shared(words[pair[0]], words[pair[1]]) >= least:
                        yield pair


def _signatures(words: Sequence[frozenset[str]]) -> NDArray[np.uint32]:
    """Return the smallest hashes of each set, by multiply-shift with the same odd factors."""
    factors = (
        np.random.default_rng(1).integers(1, 2**63, (BANDS * ROWS, 1), dtype=np.uint64) * 2 + 1
    )
    known = {word: _hash(word) for held in words for word in held}
    signatures = np.zeros((len(words), BANDS * ROWS), dtype=np.uint32)
    for place, held in enumerate(words):
        if held:
            hashes = np.fromiter((known[word] for word in held), np.uint64, len(held))
            signatures[place] = ((factors * hashes) >> np.uint64(32)).min(axis=1)
    return signatures


def _hash(word: str) -> int:
    # Not Python's own, which differs from run to run.
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())


def alike_by_meaning(
    vectors: Vectors, least: float
) -> Iterator[tuple[int, NDArray[np.intp], Vectors]]:
    """Yield for each row the others whose cosine to it is at least this, and the cosines."""
    for start in range(0, len(vectors), BLOCK):
        cosines = vectors[start : start + BLOCK] @ vectors.T
        for row in range(len(cosines)):
            cosines[row, start + row] = -1.0
            others = np.flatnonzero(cosines[row] >= least)
            if len(others):
                yield start + row, others, cosines[row, others]


def _pair(
    first: int, second: int, words: Sequence[frozenset[str]], vectors: Vectors | None
) -> Pair:
    cosine = None
    if vectors is not None and vectors[first].any() and vectors[second].any():
        cosine = round(float(vectors[first] @ vectors[second]), 3)
    return Pair(first, second, round(shared(words[first], words[second]), 3), cosine)
