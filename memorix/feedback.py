"""Learn from what was read after it was shown how far words should count, within a margin.

A note that was read is preferred to those shown above it that were not, and to the next one below
(Joachims et al. 2005, "Accurately Interpreting Clickthrough Data", doi 10.1145/1076034.1076063).
One number is fitted to these pairs by logistic regression: what is added to the share of words.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

MARGIN = 0.1
# The share of words never moves further than that from the tuned one.

LEAST_READS = 20

STEEPNESS = 10.0
# Of scores between 0 and 1: a tenth more is preferred in about three of four pairs.

SURE = 3.32
# Gain of log-likelihood below which chance explains it (chi-squared of one degree, 99 %).

_Pair = tuple[float, float, float]
# Its weight, and by how much score and slope of the preferred note are greater.


@dataclass(frozen=True, slots=True)
class Signals:
    """What made the score of a hit, which is `lift` * (`share` * words + (1 - share) * meaning).

    `words` and `meaning` are from 0 to 1, `share` is the tuned one without what was learnt.
    """

    share: float
    words: float
    meaning: float
    lift: float = 1.0

    @property
    def score(self) -> float:
        return self.lift * (self.share * self.words + (1 - self.share) * self.meaning)

    @property
    def slope(self) -> float:
        return self.lift * (self.words - self.meaning)


@dataclass(frozen=True, slots=True)
class Impression:
    """A hit as it was shown for the question of this name: where, and whether it was read."""

    question: str
    id: str
    place: int
    signals: Signals
    read: bool = False


@dataclass(frozen=True, slots=True)
class Learnt:
    """What is added to the share of words, and from how many reads; 0 while it may be chance."""

    offset: float
    reads: int


def learn(shown: Sequence[Impression]) -> Learnt:
    """Return what the impressions teach; `offset` is never beyond `MARGIN`."""
    pairs = _pairs(shown)
    reads = sum(one.read for one in shown)
    if reads < LEAST_READS:
        return Learnt(0.0, reads)
    offset = _fitted(pairs)
    gain = _likelihood(pairs, offset) - _likelihood(pairs, 0.0)
    return Learnt(offset if gain >= SURE else 0.0, reads)


def _pairs(shown: Sequence[Impression]) -> list[_Pair]:
    """Return each note preferred with each it is preferred to; a read counts once in all, however
    many pairs it makes, because they do not tell different things."""
    questions: dict[str, list[Impression]] = defaultdict(list)
    for one in shown:
        questions[one.question].append(one)
    found = []
    for listed in questions.values():
        listed.sort(key=lambda one: one.place)
        for place, one in enumerate(listed):
            others = [o.signals for o in listed[: place + 2] if one.read and not o.read]
            liked = one.signals
            found += [
                (1 / len(others), liked.score - o.score, liked.slope - o.slope) for o in others
            ]
    return found


def _fitted(pairs: Sequence[_Pair]) -> float:
    """Return the offset of the greatest posterior, by bisection: its slope only falls.

    The prior is normal around 0 with half the margin as its deviation.
    """
    low, high = -MARGIN, MARGIN
    for _ in range(30):
        middle = (low + high) / 2
        rise = -4 * middle / MARGIN**2 + sum(
            w * STEEPNESS * g / (1 + math.exp(STEEPNESS * (d + middle * g))) for w, d, g in pairs
        )
        low, high = (middle, high) if rise > 0 else (low, middle)
    return (low + high) / 2


def _likelihood(pairs: Sequence[_Pair], offset: float) -> float:
    return -sum(w * math.log1p(math.exp(-STEEPNESS * (d + offset * g))) for w, d, g in pairs)
