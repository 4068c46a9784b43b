"""Write what a run has measured as Markdown, each figure with what it was measured under."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memorix.bench.judging import Lead

NAMES = {"r1": "R@1", "r5": "R@5", "r10": "R@10", "any5": "any@5", "mrr": "MRR"}
OURS = "Memorix"


@dataclass(frozen=True, slots=True)
class Section:
    """What one set came to; names of measures and leads are without that of the set."""

    name: str
    measures: Mapping[str, float]
    markdown: str
    leads: Mapping[str, Mapping[str, Lead]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """All sets of a run, and the conditions that hold for all of them."""

    sections: Sequence[Section]
    conditions: Mapping[str, str]

    def measures(self) -> dict[str, float]:
        return {
            f"{s.name}.{key}": value for s in self.sections for key, value in s.measures.items()
        }

    def as_data(self) -> dict[str, object]:
        """Return the report in the shape that is written as JSON."""
        return {
            "measures": self.measures(),
            "leads": {
                f"{section.name}.{key}": {
                    name: {"difference": one.difference, "low": one.low, "high": one.high}
                    for name, one in leads.items()
                }
                for section in self.sections
                for key, leads in section.leads.items()
            },
            "conditions": dict(self.conditions),
        }

    def as_markdown(self) -> str:
        parts = [conditions_text(self.conditions), *(s.markdown for s in self.sections)]
        return "\n\n".join(parts) + "\n"


def conditions_text(conditions: Mapping[str, str]) -> str:
    return table(["condition", "value"], conditions.items())


def retrieval_text(
    title: str,
    measures: Mapping[str, float],
    leads: Mapping[str, Mapping[str, Lead]],
    baselines: Sequence[str],
    views: Mapping[str, str],
    categories: Sequence[str],
) -> str:
    """Write a set with questions: `views` are what is judged, by what its measures begin with."""
    parts = [
        f"## {title}",
        *(_view(view, unit, measures, leads, baselines) for view, unit in views.items()),
    ]
    if len(categories) > 1:
        parts.append(_by_category(categories, measures, baselines))
    parts.append(
        f"A plain answer (limit 8, at most 1,000 tokens) has {measures['tokens']:.0f} tokens on"
        f" average; {measures['density']:.1%} of them belong to right notes (evidence density)."
    )
    return "\n\n".join(parts)


def table(head: Sequence[str], rows: object) -> str:
    """Write a Markdown table; the first column holds names, the others figures."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]  # type: ignore[misc]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def _view(
    view: str,
    unit: str,
    measures: Mapping[str, float],
    leads: Mapping[str, Mapping[str, Lead]],
    baselines: Sequence[str],
) -> str:
    count = f"{unit}, {measures[view + 'count']:.0f} questions"
    head = [count, *NAMES.values(), "our lead, R@10 (95 %)", "our lead, MRR (95 %)"]
    rows = [[OURS, *(f"{measures[view + key]:.3f}" for key in NAMES), "", ""]]
    for name in baselines:
        figures = [f"{measures[f'{name}.{view}{key}']:.3f}" for key in NAMES]
        ahead = [_ahead(leads[view + key][name]) for key in ("r10", "mrr")]
        rows.append([name, *figures, *ahead])
    return table(head, rows)


def _by_category(
    categories: Sequence[str], measures: Mapping[str, float], baselines: Sequence[str]
) -> str:
    head = ["category", "count", "R@1", "R@5", "R@10", "MRR", *(f"{n} R@10" for n in baselines)]
    rows = [
        [
            category,
            f"{measures[f'{category}.count']:.0f}",
            *(f"{measures[f'{category}.{key}']:.3f}" for key in ("r1", "r5", "r10", "mrr")),
            *(f"{measures[f'{name}.{category}.r10']:.3f}" for name in baselines),
        ]
        for category in categories
    ]
    return table(head, rows)


def _ahead(lead: Lead) -> str:
    return f"{lead.difference:+.3f} ({lead.low:+.3f} to {lead.high:+.3f})"
