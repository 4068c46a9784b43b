"""What stands beside every figure of ours: grep, plain BM25, plain FTS5, vectors alone, RRF.

Each ranks the very same units with nothing of ours in it, but for the vectors, which are those
that our index made of them.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import apsw

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

DEPTH = 100
# What each ranking returns, and what a fusion looks at.

K1, B = 1.2, 0.75
RRF = 60
_WORDS = re.compile(r"\w+")


class Ranking(Protocol):
    """A way to order units; ids of the best first."""

    def __call__(self, question: str, /) -> Sequence[str]: ...


def words_of(text: str) -> list[str]:
    return _WORDS.findall(text)


def count_held(words: Sequence[str], text: str) -> int:
    """Return how many of the words a search for each of them, in any case, finds in a text."""
    lowered = text.lower()
    return sum(word in lowered for word in {word.lower() for word in words})


def any_word(text: str) -> str:
    """Return the FTS5 expression for a text's words, of which any will do; empty without words."""
    return " OR ".join(f'"{word}"' for word in words_of(text))


def grep(texts: Mapping[str, str]) -> Ranking:
    """Rank by how many of the question's words are in a text, later texts first among equals."""
    newest_first = list(texts.items())[::-1]

    def ranked(question: str, /) -> Sequence[str]:
        words = words_of(question)
        held = {unit: count for unit, text in newest_first if (count := count_held(words, text))}
        return sorted(held, key=lambda unit: -held[unit])[:DEPTH]

    return ranked


def bm25(texts: Mapping[str, str]) -> Ranking:
    """Rank by Okapi BM25 over words as they stand, no stems, no stop list, k1 1.2 and b 0.75
    (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009)."""
    postings: dict[str, list[tuple[str, int]]] = defaultdict(list)
    lengths: dict[str, int] = {}
    for unit, text in texts.items():
        words = words_of(text.lower())
        lengths[unit] = len(words)
        for word, count in Counter(words).items():
            postings[word].append((unit, count))
    average = sum(lengths.values()) / max(len(lengths), 1) or 1.0

    def ranked(question: str, /) -> Sequence[str]:
        scores: dict[str, float] = defaultdict(float)
        for word in words_of(question.lower()):
            holding = postings.get(word, ())
            weight = math.log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
            for unit, count in holding:
                norm = K1 * (1 - B + B * lengths[unit] / average)
                scores[unit] += weight * count * (K1 + 1) / (count + norm)
        return sorted(scores, key=lambda unit: -scores[unit])[:DEPTH]

    return ranked


def fts5(texts: Mapping[str, str]) -> Ranking:
    """Rank by SQLite's FTS5 with its default tokenizer, any word of the question will do."""
    db, units = apsw.Connection(":memory:"), list(texts)
    db.execute("CREATE VIRTUAL TABLE notes USING fts5(text)")
    with db:
        db.executemany("INSERT INTO notes VALUES (?)", ((text,) for text in texts.values()))
    sql = "SELECT rowid FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT ?"

    def ranked(question: str, /) -> Sequence[str]:
        expression = any_word(question)
        found = db.execute(sql, (expression, DEPTH)) if expression else ()
        return [units[row - 1] for (row,) in found]

    return ranked


def dense(
    vectors: Sequence[tuple[str, "Matrix"]], embed: Callable[[str], "Matrix"]
) -> Ranking | None:
    """Rank by the cosine of a unit's best piece; None where no unit has a vector.

    `vectors` are (unit, vector of length 1), several a unit.
    """
    import numpy as np

    if not vectors:
        return None
    units, matrix = [unit for unit, _ in vectors], np.stack([vector for _, vector in vectors])

    def ranked(question: str, /) -> Sequence[str]:
        order = np.argsort(-(matrix @ embed(question)), kind="stable")[: 20 * DEPTH]
        return list(dict.fromkeys(units[place] for place in order))[:DEPTH]

    return ranked


def rrf(*rankings: Ranking) -> Ranking:
    """Rank by the sum of 1 / (60 + place) (Cormack, Clarke and Buettcher, "Reciprocal Rank
    Fusion", SIGIR 2009)."""

    def ranked(question: str, /) -> Sequence[str]:
        scores: dict[str, float] = defaultdict(float)
        for ranking in rankings:
            for place, unit in enumerate(ranking(question), 1):
                scores[unit] += 1 / (RRF + place)
        return sorted(scores, key=lambda unit: -scores[unit])[:DEPTH]

    return ranked


def beside(texts: Mapping[str, str], by_meaning: Ranking | None) -> dict[str, Ranking]:
    """Return every baseline over the texts of one store, by name."""
    by_words = bm25(texts)
    found = {"grep": grep(texts), "bm25": by_words, "fts5": fts5(texts)}
    if by_meaning:
        found |= {"dense": by_meaning, "rrf60": rrf(by_words, by_meaning)}
    return found
