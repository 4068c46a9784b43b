"""Decide which notes are evidence enough to answer a question, and whether any is.

Evidence is a note's cosine and the share of the question that it holds; how much of it is asked
for follows the model's floor, the cosine of unrelated texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memorix.ranking import Mix, Ranked


@dataclass(frozen=True, slots=True)
class Ground:
    """What evidence is measured against: `floor` is the model's cosine of unrelated texts,
    `unseen` the cosine to assume for a note that is not among the nearest, None where it has no
    vector, `nats` is ln(chunks)."""

    floor: float
    unseen: float | None
    nats: float


def close(ranked: Sequence[Ranked], ground: Ground, mix: Mix, *, strict: bool) -> list[Ranked]:
    """Return nothing if no note comes close, else those that are not far; with `strict`, nothing
    if no note is sure besides, else those that are not far from that either."""
    found = _least(ranked, [closeness(one, ground, mix) for one in ranked], mix.rest)
    if not strict:
        return found
    return _least(found, [sureness(one, ground, mix) for one in found], mix.strict_rest)


def _least(ranked: Sequence[Ranked], evidence: Sequence[float], rest: float) -> list[Ranked]:
    if max(evidence, default=0.0) < 1.0:
        return []
    return [one for one, found in zip(ranked, evidence, strict=True) if found >= rest]


def closeness(one: Ranked, ground: Ground, mix: Mix) -> float:
    """Return how near a note comes to being an answer: at 1 it is one."""
    cosine = _cosine(one, ground)
    if cosine is None:
        return one.words / mix.words_floor
    asked = ground.floor if one.foreign else ground.floor + mix.margin
    return (cosine + mix.words_weigh * one.words) / asked


def is_vague(one: Ranked, ground: Ground, mix: Mix) -> bool:
    """Say whether a note only resembles the question: no word of it, and not close by itself."""
    return not one.words and closeness(one, ground, mix) < 1.0


def sureness(one: Ranked, ground: Ground, mix: Mix) -> float:
    """Return how near a note comes to being shown to who did not ask for it: at 1 it is."""
    evidence = mix.strict_weigh * one.words + mix.strict_bits * one.bm25 / ground.nats
    cosine = _cosine(one, ground)
    if cosine is None:
        return evidence / mix.strict_words
    if one.foreign:
        return (evidence + cosine) / (ground.floor + 2 * mix.margin)
    return (evidence + cosine) / (mix.strict_words + ground.floor + mix.margin)


def _cosine(one: Ranked, ground: Ground) -> float | None:
    return ground.unseen if one.meaning is None else one.meaning
