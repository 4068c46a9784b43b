"""Turn verdicts into measures: shares of what was right, never one score."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memorix.bench.metrics import mean, recall_at, reciprocal_rank
from memorix.bench.operations.adapter import CONFLICT
from memorix.bench.operations.judge import Verdict
from memorix.bench.operations.scenarios import Probe, Scenario

UPDATED = frozenset({"newest", "late", "chain"})
TIMED = frozenset({"as-of", "date", "relative", "expiry", "boundary"})
# Kinds of probes; README.md beside the data tells them all.

Z_95 = 1.959964


@dataclass(frozen=True, slots=True)
class Played:
    """A scenario with the verdict on each of its probes.

    `not_offered` names an op that the memory lacks, `refused` tells of the steps it declined.
    """

    scenario: Scenario
    verdicts: Sequence[Verdict]
    not_offered: str = ""
    refused: Sequence[str] = ()

    @property
    def right(self) -> bool:
        return not self.not_offered and all(verdict.right for verdict in self.verdicts)

    @property
    def offered(self) -> bool:
        return not self.not_offered and not any(v.not_offered for v in self.verdicts)


Judged = tuple[Probe, Verdict]


def measure(played: Sequence[Played]) -> dict[str, float]:
    """Return all measures by name; a measure nothing counts for is left out.

    Shares run from 0 to 1; `.n` beside a share is what it is a share of.
    """
    found = _strict(played)
    judged = [
        (p.scenario.family, probe, verdict)
        for p in played
        if not p.not_offered
        for probe, verdict in zip(p.scenario.probes, p.verdicts, strict=True)
        if not verdict.not_offered
    ]
    pairs = [(probe, verdict) for _, probe, verdict in judged]
    found |= _of_kinds(pairs)
    updates = [v for family, p, v in judged if family == "B" and p.kind in UPDATED]
    found |= _share("update.accuracy", [v.right for v in updates])
    old = [v for f, p, v in judged if f in "BC" and (p.must_not or p.flags or p.not_strings)]
    found |= _share("update.stale", [v.stale for v in old])
    found |= _conflicts(pairs)
    found |= _refusals(judged)
    found |= _ranking([(p, v) for f, p, v in judged if f == "A"])
    told = [v for p, v in pairs if p.via == "recall" and p.must and v.told]
    found |= _share("evidence.density", [v.evidence / v.told for v in told])
    return found


def wilson(right: int, of: int) -> tuple[float, float]:
    """Return the 95 % score interval of a share (Wilson, JASA 22, 1927)."""
    if not of:
        return 0.0, 1.0
    share, zz = right / of, Z_95**2
    middle = (share + zz / (2 * of)) / (1 + zz / of)
    half = Z_95 / (1 + zz / of) * math.sqrt(share * (1 - share) / of + zz / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


def auroc(low: Sequence[float], high: Sequence[float]) -> float:
    """Return how often a value of `high` lies above one of `low`, ties counted half."""
    pairs = [(a > b) + (a == b) / 2 for a in high for b in low]
    return mean(pairs)


def _strict(played: Sequence[Played]) -> dict[str, float]:
    offered = [p for p in played if p.offered]
    low, high = wilson(sum(p.right for p in played), len(played))
    found = _share("strict", [p.right for p in played])
    found |= {"strict.low": low, "strict.high": high}
    found["not_offered.scenarios"] = len(played) - len(offered)
    found |= _share("strict.offered", [p.right for p in offered])
    found |= _share("probes", [v.right for p in played for v in p.verdicts])
    found |= _grouped("family", played, lambda s: s.family)
    return found | _grouped("lang", played, lambda s: s.lang)


def _grouped(
    name: str, played: Sequence[Played], key: Callable[[Scenario], str]
) -> dict[str, float]:
    found: dict[str, float] = {}
    for value in sorted({key(p.scenario) for p in played}):
        part = [p for p in played if key(p.scenario) == value]
        found |= _share(f"{name}.{value}.strict", [p.right for p in part])
        found |= _share(f"{name}.{value}.probes", [v.right for p in part for v in p.verdicts])
    return found


def _of_kinds(pairs: Sequence[Judged]) -> dict[str, float]:
    """Return the measures that are the share of right probes of some kinds."""

    def right(*kinds: str) -> list[bool]:
        return [v.right for p, v in pairs if p.kind in kinds]

    planted = [text for p, _ in pairs if p.kind == "secret" for text in p.not_strings]
    through = [text for p, v in pairs if p.kind == "secret" for text in v.let_through]
    kept_apart = [(len(p.must) - 1, v.merged) for p, v in pairs if p.kind == "apart"]
    return {
        **_ratio("wrong_merges", sum(m for _, m in kept_apart), sum(n for n, _ in kept_apart)),
        **_share("forget.complete", right("gone", "proof")),
        **_share("forget.bystanders", right("bystander")),
        **_share("forget.relearned", right("relearn", "tombstone")),
        **_share("leaks", [not r for r in right("leak", "elsewhere")]),
        **_ratio("secrets.let_through", len(through), len(planted)),
        **_share("secrets.false_alarms", [not r for r in right("harmless")]),
        **_share("time.accuracy", right(*TIMED)),
        **_share("time.as_of", right("as-of", "boundary")),
        **_share("time.dates", right("date", "relative")),
    }


def _conflicts(pairs: Sequence[Judged]) -> dict[str, float]:
    """Return how often both sides were flagged, and flags where there was no conflict."""
    real = [(p, v) for p, v in pairs if p.kind == "conflict"]
    clear = [(p, v) for p, v in pairs if p.kind == "clear"]
    both = [v.right for _, v in real]
    false = [_flags_raised(p, v) for p, v in clear]
    hits = sum(both)
    precision = hits / (hits + sum(false)) if hits else 0.0
    recall = mean([float(b) for b in both])
    total = precision + recall
    f1 = {"conflict.f1": 2 * precision * recall / total if total else 0.0} if real else {}
    return _share("conflict.both_flagged", both) | _share("conflict.false_flags", false) | f1


def _flags_raised(probe: Probe, verdict: Verdict) -> bool:
    if probe.via == "answer":
        return any(fault.startswith("answered conflict") for fault in verdict.faults)
    marks = (verdict.flagged.get(name, frozenset()) for name in probe.unflagged)
    return any(found & CONFLICT for found in marks)


def _refusals(judged: Sequence[tuple[str, Probe, Verdict]]) -> dict[str, float]:
    asked = [v for f, p, v in judged if f == "I" and p.empty]
    answerable = [v for f, p, v in judged if f == "A" and p.must and p.via == "recall"]
    found = _share("refuse.silent", [v.silent for v in asked])
    found |= _share("refuse.false_empty", [v.silent for v in answerable])
    if asked and answerable:
        found["refuse.auroc"] = auroc(
            [v.top_score for v in asked], [v.top_score for v in answerable]
        )
    return found


def _ranking(pairs: Sequence[Judged]) -> dict[str, float]:
    found: dict[str, float] = {}
    kinds = sorted({p.kind for p, _ in pairs})
    for kind in ("", *kinds):
        part = [(v.ranked, p.must) for p, v in pairs if p.must and kind in ("", p.kind)]
        name = f"recall.{kind}" if kind else "recall"
        found |= _share(f"{name}.r1", [recall_at(r, m, 1) for r, m in part])
        found |= _share(f"{name}.r5", [recall_at(r, m, 5) for r, m in part])
        found |= _share(f"{name}.mrr", [reciprocal_rank(r, m) for r, m in part])
        found |= _share(f"{name}.ndcg5", [ndcg_at(r, m, 5) for r, m in part])
    return found


def ndcg_at(ranked: Sequence[str], gold: Sequence[str], k: int) -> float:
    """Return the discounted gain of the first k beside that of the best order; gains are 0 or 1."""
    gains = [1 / math.log2(place + 2) for place, unit in enumerate(ranked[:k]) if unit in set(gold)]
    best = [1 / math.log2(place + 2) for place in range(min(k, len(set(gold))))]
    return sum(gains) / sum(best) if best else 0.0


def _share(name: str, values: Iterable[float]) -> dict[str, float]:
    held = [float(value) for value in values]
    return {name: mean(held), f"{name}.n": len(held)} if held else {}


def _ratio(name: str, part: int, whole: int) -> Mapping[str, float]:
    return {name: part / whole, f"{name}.n": whole} if whole else {}
