"""Write what a suite measured as Markdown, and draw it against the size of the store."""

from collections.abc import Mapping

from memorix.bench.report import conditions_text, table
from memorix.bench.results import Measured, Results
from memorix.bench.speed.plot import Point, plot
from memorix.bench.speed.timing import BLOCKS

DRAWN = {
    "recall": (
        "recall, ms of processor time at p50",
        {
            "recall": "recall.cpu_ms",
            "its parts alone": "recall.parts.cpu_ms",
            "vector scan alone": "recall.scan.cpu_ms",
            "matrix product": "recall.product.cpu_ms",
        },
    ),
    "remember": (
        "remember, ms of processor time at p50",
        {
            "with its vector": "remember.with_vector.cpu_ms",
            "remember": "remember.cpu_ms",
            "kept only": "remember.kept.cpu_ms",
        },
    ),
}
# By name of the plot: what it shows, and its lines by the measures of each size.


def markdown(results: Results) -> str:
    """Return the conditions, every figure with its spread, and what was skipped."""
    rows = [[name, shown(one), _spread(one)] for name, one in results.measures.items()]
    conditions = {key: str(value) for key, value in results.conditions.items()}
    parts = [
        f"# {results.suite}",
        conditions_text(conditions),
        table(["measure", "value", f"lowest to highest of {BLOCKS} blocks"], rows),
        *(f"Skipped: {name}, because {why}." for name, why in results.skipped.items()),
    ]
    return "\n\n".join(parts) + "\n"


def plots(results: Results) -> Mapping[str, str]:
    """Return plots as SVG by name; none where there are fewer than two sizes."""
    sizes = sorted(results.conditions.get("sizes", ()))
    if len(sizes) < 2:
        return {}
    drawn = {}
    for name, (title, lines) in DRAWN.items():
        given = {label: _points(results, sizes, measure) for label, measure in lines.items()}
        drawn[name] = plot(title, "notes", given)
    return drawn


def _points(results: Results, sizes: list[int], measure: str) -> list[Point]:
    return [(float(size), results.measures[f"{size}.{measure}"].value) for size in sizes]


def shown(one: Measured) -> str:
    return number(one.value)


def _spread(one: Measured) -> str:
    return "" if one.low == one.high else f"{number(one.low)} to {number(one.high)}"


def number(value: float) -> str:
    """Write a figure with three digits that count."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
