"""Measures of a ranking against the ids that answer, each from 0 to 1."""

from collections.abc import Sequence


def recall_at(ranked: Sequence[str], gold: Sequence[str], k: int) -> float:
    """Return the share of the gold units among the first k."""
    return len(set(ranked[:k]) & set(gold)) / len(set(gold))


def any_at(ranked: Sequence[str], gold: Sequence[str], k: int) -> float:
    return float(bool(set(ranked[:k]) & set(gold)))


def reciprocal_rank(ranked: Sequence[str], gold: Sequence[str]) -> float:
    """Return 1 / the place of the first gold unit, 0 where there is none."""
    places = (place for place, unit in enumerate(ranked, 1) if unit in set(gold))
    return 1 / next(places, float("inf"))


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
