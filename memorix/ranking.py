"""Put words and meaning together: which notes answer a question, in which order, and whether any.

The mix is a convex combination of min-max scores (Bruch, Gai and Ingber, "An Analysis of Fusion
Functions for Hybrid Retrieval", ACM TOIS 2023) whose share follows the question: where its words
are found, words lead; where hardly any is, meaning leads.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memorix.query import Match


@dataclass(frozen=True, slots=True)
class Mix:
    """How words and meaning are weighed; tuned on the given halves of the public sets only.

    The share of words rises from `low` to `high` as the best match holds `cover_from` to `cover_to`
    of the question's weight; an identifier that few chunks hold gives at least `identifier`.  Every
    other pair of CJK characters straddles two words, so that a full match holds less of a Chinese
    question: its share is stretched by up to `pairs_stretch`.

    A note is evidence by its cosine plus `words_weigh` times the share of the question it holds;
    with the model's floor plus `margin` it is close.  Where a note has no vector, `words_floor` of
    the question's weight is close.  If no note is close there is no answer; if one is, notes with
    `rest` of that are shown too.
    """

    low: float = 0.2
    high: float = 0.65
    cover_from: float = 0.2
    cover_to: float = 0.8
    pairs_stretch: float = 0.6
    identifier: float = 0.75
    words_weigh: float = 0.4
    margin: float = 0.1
    words_floor: float = 0.22
    rest: float = 0.6


@dataclass(frozen=True, slots=True)
class Ranked:
    """A note in the order of an answer; `words` is the covered share of the question's weight."""

    note: int
    chunk: int
    score: float
    words: float
    meaning: float | None
    tokens: frozenset[str]


def idf(frequency: int, total: int) -> float:
    """Return the inverse document frequency (Robertson and Sparck Jones, smoothed as Lucene does):
    positive also where a word is in every chunk, so that a store of one note works."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def fuse(
    words: Sequence[Match],
    near: Sequence[Match],
    *,
    covered: Callable[[Match], float],
    identifier: bool,
    floor: float,
    unseen: float | None,
    pairs: float,
    mix: Mix,
) -> list[Ranked]:
    """Return the notes that come close to the question, best first; one entry a note.

    `words` carry BM25, `near` cosines; `covered` tells which share of the question's weight a word
    match holds (0 to 1); `identifier` says that the question names one that some note holds;
    `floor` is the model's cosine of unrelated texts, `unseen` the cosine to assume for a note that
    is not among `near`, None where it has no vector; `pairs` is the share of the question's weight
    in CJK character pairs.
    """
    by_words, by_meaning = _best(words), _best(near)
    top = max(by_words.values(), key=lambda m: m.score, default=None)
    reach = covered(top) * (1 + mix.pairs_stretch * pairs) if top else 0.0
    share = share_of_words(reach, identifier, bool(near), mix)
    low = min((m.score for m in by_meaning.values()), default=0.0)
    high = max((m.score for m in by_meaning.values()), default=0.0)
    ranked = []
    for note in dict.fromkeys([*by_words, *by_meaning]):  # words first: ties stay newest first
        word, meant = by_words.get(note), by_meaning.get(note)
        lexical = share * word.score / top.score if word and top else 0.0
        dense = (1 - share) * _between(meant.score, low, high) if meant else 0.0
        best = word if word and (not meant or lexical >= dense) else meant
        assert best is not None
        held = covered(word) if word else 0.0
        tokens = word.tokens if word else frozenset()
        cosine = meant.score if meant else None
        ranked.append(Ranked(note, best.chunk, lexical + dense, held, cosine, tokens))
    return _close(ranked, floor, unseen, mix)


def _between(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 1.0


def _close(ranked: list[Ranked], floor: float, unseen: float | None, mix: Mix) -> list[Ranked]:
    """Return nothing if no note is close, else those that are not far, best first."""
    near = [
        closeness(r.words, unseen if r.meaning is None else r.meaning, floor, mix) for r in ranked
    ]
    if max(near, default=0.0) < 1.0:
        return []
    kept = [r for r, close in zip(ranked, near, strict=True) if close >= mix.rest]
    return sorted(kept, key=lambda r: -r.score)


def closeness(held: float, cosine: float | None, floor: float, mix: Mix) -> float:
    """Return how near a note comes to being an answer: at 1 it is one."""
    if cosine is None:
        return held / mix.words_floor
    return (cosine + mix.words_weigh * held) / (floor + mix.margin)


def share_of_words(covered: float, identifier: bool, has_meaning: bool, mix: Mix) -> float:
    """Return the share of the word score in the mix, 0 to 1."""
    if not has_meaning:
        return 1.0
    reach = (covered - mix.cover_from) / (mix.cover_to - mix.cover_from)
    share = mix.low + (mix.high - mix.low) * min(max(reach, 0.0), 1.0)
    return max(share, mix.identifier) if identifier else share


def cut_to_budget(costs: Sequence[int], max_tokens: int) -> int:
    """Return how many of the first items fit a budget of tokens: at least one, if there is any."""
    used = 0
    for count, cost in enumerate(costs):
        used += cost
        if used > max_tokens:
            return max(count, 1)
    return len(costs)


def best_sentence(sentences: Sequence[str], weights: Mapping[str, float]) -> str:
    """Return the sentence that holds most of the question's weight; the first where none does."""

    def held(sentence: str) -> float:
        lowered = sentence.lower()
        return sum(weight for word, weight in weights.items() if word in lowered)

    return max(sentences, key=held, default="")


def _best(matches: Sequence[Match]) -> dict[int, Match]:
    best: dict[int, Match] = {}
    for match in matches:
        if match.note not in best or match.score > best[match.note].score:
            best[match.note] = match
    return best
