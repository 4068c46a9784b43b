"""Judge what was returned for the questions of a set: over units, sessions, domains, categories."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memorix.bench.data import RetrievalSet
from memorix.bench.metrics import any_at, mean, paired_interval, recall_at, reciprocal_rank
from memorix.bench.recall import Asked, Outcome

Pair = tuple[Sequence[str], Sequence[str]]
# What was returned, in order, and what is right.

EACH: Mapping[str, Callable[[Pair], float]] = {
    "r1": lambda pair: recall_at(*pair, 1),
    "r5": lambda pair: recall_at(*pair, 5),
    "r10": lambda pair: recall_at(*pair, 10),
    "any5": lambda pair: any_at(*pair, 5),
    "mrr": lambda pair: reciprocal_rank(*pair),
}


@dataclass(frozen=True, slots=True)
class Lead:
    """How much better we are than a baseline, and the 95 % interval of that."""

    difference: float
    low: float
    high: float


def measures(data: RetrievalSet, outcome: Outcome) -> dict[str, float]:
    """Return every measure: ours by its name, a baseline's after the name of the baseline."""
    found = _means("", views(data, outcome.ours)) | cost(outcome.ours)
    for name, asked in outcome.baselines.items():
        found |= _means(f"{name}.", views(data, asked))
    return found


def leads(data: RetrievalSet, outcome: Outcome) -> dict[str, dict[str, Lead]]:
    """Return by measure, then by baseline, how far we lead."""
    ours = views(data, outcome.ours)
    theirs = {name: views(data, asked) for name, asked in outcome.baselines.items()}
    return {
        f"{view}{key}": {
            name: _lead([of(p) for p in pairs], [of(p) for p in them[view]])
            for name, them in theirs.items()
        }
        for view, pairs in ours.items()
        for key, of in EACH.items()
    }


def cost(asked: Sequence[Asked]) -> dict[str, float]:
    """Return the tokens of a plain answer, and the share of them that belongs to right notes."""
    tokens, right = sum(a.tokens for a in asked), sum(a.right_tokens for a in asked)
    return {"tokens": tokens / len(asked), "density": right / tokens if tokens else 0.0}


def views(data: RetrievalSet, asked: Sequence[Asked]) -> dict[str, list[Pair]]:
    """Return the pairs of each way to look at the questions, by what its measures begin with."""
    session = {d.id: d.session for d in data.documents}
    found: dict[str, list[Pair]] = {unit_of(data): [(a.ranked, a.question.gold) for a in asked]}
    if len(set(session.values())) > 1:
        found["sessions."] = [
            (_unique(session[i] for i in a.ranked), _unique(session[i] for i in a.question.gold))
            for a in asked
        ]
    for domain in sorted({a.question.domain for a in asked} - {""}):
        part = [a for a in asked if a.question.domain == domain]
        found[f"{domain.lower()}."] = [(a.ranked, a.question.gold) for a in part]
    for category in categories(asked):
        part = [a for a in asked if a.question.category == category]
        found[f"{category}."] = [(a.ranked, a.question.gold) for a in part]
    return found


def categories(asked: Sequence[Asked]) -> list[str]:
    return sorted({a.question.category for a in asked})


def unit_of(data: RetrievalSet) -> str:
    """Return what a measure over documents is called by: those of a conversation are its turns."""
    return "turns." if any(document.date for document in data.documents) else ""


def _means(before: str, seen: Mapping[str, Sequence[Pair]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for view, pairs in seen.items():
        found[f"{before}{view}count"] = len(pairs)
        found |= {f"{before}{view}{k}": mean([of(p) for p in pairs]) for k, of in EACH.items()}
    return found


def _lead(ours: Sequence[float], theirs: Sequence[float]) -> Lead:
    return Lead(mean(ours) - mean(theirs), *paired_interval(ours, theirs))


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
