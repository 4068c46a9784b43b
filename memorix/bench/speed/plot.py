"""Draw figures against the size of the store as SVG: the same bytes for the same figures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 168, 40, 44
COLOURS = ("#0969da", "#cf222e", "#1a7f37", "#8250df", "#bf8700", "#57606a")
STYLE = "text{font:12px sans-serif;fill:#24292f}.grid{stroke:#d0d7de}.line{fill:none}"

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A logarithmic axis: values between two powers of ten, on pixels between two ends."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> "_Axis":
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(low, max(high, low + 1), start, end)

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> Sequence[float]:
        return [float(10**power) for power in range(self.low, self.high + 1)]


def plot(title: str, across: str, lines: Mapping[str, Sequence[Point]]) -> str:
    """Return a plot of lines, each (size, value) by size, both axes logarithmic; values above 0.

    `title` names the values with their unit, `across` the sizes.
    """
    points = [point for line in lines.values() for point in line]
    x = _Axis.over([point[0] for point in points], LEFT, WIDTH - RIGHT)
    y = _Axis.over([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(LEFT, TOP - 16, title),
        _text((x.start + x.end) / 2, HEIGHT - 8, across, "middle"),
        *_grid(x, y),
    ]
    for number, (name, line) in enumerate(lines.items()):
        parts += _line(name, line, x, y, number)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _grid(x: _Axis, y: _Axis) -> Sequence[str]:
    across = [
        f'<path class="grid" d="M{x.place(tick):.1f} {y.start:.1f}V{y.end:.1f}"/>'
        + _text(x.place(tick), y.start + 16, f"{tick:,.10g}", "middle")
        for tick in x.ticks()
    ]
    up = [
        f'<path class="grid" d="M{x.start:.1f} {y.place(tick):.1f}H{x.end:.1f}"/>'
        + _text(x.start - 6, y.place(tick) + 4, f"{tick:,.10g}", "end")
        for tick in y.ticks()
    ]
    return [*across, *up]


def _line(name: str, line: Sequence[Point], x: _Axis, y: _Axis, number: int) -> Sequence[str]:
    colour = COLOURS[number % len(COLOURS)]
    dash = ' stroke-dasharray="5 3"' if number >= len(COLOURS) else ""
    places = [(x.place(size), y.place(value)) for size, value in line]
    path = "L".join(f"{left:.1f} {top:.1f}" for left, top in places)
    row = TOP + 10 + 20 * number
    at = WIDTH - RIGHT + 16
    return [
        f'<path class="line" stroke="{colour}" stroke-width="2"{dash} d="M{path}"/>',
        *(
            f'<circle cx="{left:.1f}" cy="{top:.1f}" r="3" fill="{colour}"/>'
            for left, top in places
        ),
        f'<path class="line" stroke="{colour}" stroke-width="2"{dash} d="M{at} {row}h18"/>',
        _text(at + 24, row + 4, name),
    ]


def _text(left: float, top: float, said: str, anchor: str = "start") -> str:
    return f'<text x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}">{escape(said)}</text>'
