"""Measures of a ranking against the ids that answer, each from 0 to 1, and how sure they are."""

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


ROUNDS = 2000
# Samples of a bootstrap: enough that an end of its interval moves by less than a tenth.


def paired_interval(
    ours: Sequence[float], theirs: Sequence[float], seed: int = 0
) -> tuple[float, float]:
    """Return the 95 % interval of the mean difference over the same questions, by the paired
    bootstrap (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, percentiles)."""
    import numpy as np

    differences = np.subtract(ours, theirs)
    if not len(differences):
        return 0.0, 0.0
    picks = np.random.default_rng(seed).integers(len(differences), size=(ROUNDS, len(differences)))
    low, high = np.percentile(differences[picks].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)
