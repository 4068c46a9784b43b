"""Where the dots of a drawing lie: trees laid out in rings, one for all that hangs together.

The same graph gives the same drawing: nothing is left to chance, and nothing is approached step by
step.  It takes time in proportion to the number of edges.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, cos, isqrt, pi, sin

RING, GAP, MARGIN = 150.0, 18.0, 170.0
# Pixels between two rings, between two dots on one, and around a tree for its outermost labels.


@dataclass(frozen=True, slots=True)
class Dot:
    """A place in pixels, and the direction in which a label leads away from the centre of its
    tree, in degrees clockwise from the right."""

    x: float
    y: float
    degrees: float


@dataclass(frozen=True, slots=True)
class Layout:
    dots: Mapping[str, Dot]
    width: int
    height: int


def laid_out(edges: Iterable[tuple[str, str]]) -> Layout:
    """Lay out the notes that edges connect; the most connected of each tree is its centre."""
    near: dict[str, set[str]] = {}
    for one, other in edges:
        near.setdefault(one, set()).add(other)
        near.setdefault(other, set()).add(one)
    ordered = {key: sorted(near[key]) for key in sorted(near, key=lambda k: (-len(near[k]), k))}
    trees, seen = [], set[str]()
    for key in ordered:
        if key not in seen:
            children = _tree(key, ordered)
            seen.update(children)
            trees.append((key, children))
    return _packed([_rings(root, children) for root, children in trees])


def _tree(root: str, near: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the children of each note that can be reached, breadth first."""
    children: dict[str, list[str]] = {root: []}
    for key in (queue := [root]):
        for other in near[key]:
            if other not in children:
                children[other] = []
                children[key].append(other)
                queue.append(other)
    return children


def _rings(root: str, children: dict[str, list[str]]) -> Mapping[str, Dot]:
    """Return the dots of a tree around its root, which is at zero."""
    leaves: dict[str, int] = {}
    for key in reversed(children):  # children come after their parents
        leaves[key] = sum(leaves[child] for child in children[key]) or 1
    first = max(RING, leaves[root] * GAP / (2 * pi))
    dots = {root: Dot(0.0, 0.0, 0.0)}
    begins, depth = {root: 0}, {root: 0}
    for key, below in children.items():
        start = begins[key]
        for child in below:
            begins[child], depth[child] = start, depth[key] + 1
            turn = 2 * pi * (start + leaves[child] / 2) / leaves[root]
            radius = first + (depth[child] - 1) * RING
            dots[child] = Dot(radius * cos(turn), radius * sin(turn), turn * 180 / pi)
            start += leaves[child]
    return dots


def _packed(trees: Iterable[Mapping[str, Dot]]) -> Layout:
    """Put trees beside each other in rows, the tallest first."""
    boxes = sorted(map(_boxed, trees), key=lambda box: (-box.height, -box.width))
    area = sum(box.width * box.height for box in boxes)
    widest = max([isqrt(area), *(box.width for box in boxes)], default=0)
    dots: dict[str, Dot] = {}
    x = y = row = 0
    for box in boxes:
        if x + box.width > widest:
            x, y, row = 0, y + row, 0
        for key, dot in box.dots.items():
            place = (round(x + dot.x, 1), round(y + dot.y, 1))
            dots[key] = Dot(*place, round(dot.degrees, 1))
        x, row = x + box.width, max(row, box.height)
    return Layout(dots, widest, y + row)


def _boxed(tree: Mapping[str, Dot]) -> Layout:
    """Move a tree so that it begins, with its labels, at the left and at the top."""
    left, top = (min(of(dot) for dot in tree.values()) - MARGIN for of in (_x, _y))
    right, bottom = (max(of(dot) for dot in tree.values()) + MARGIN for of in (_x, _y))
    moved = {key: Dot(dot.x - left, dot.y - top, dot.degrees) for key, dot in tree.items()}
    return Layout(moved, ceil(right - left), ceil(bottom - top))


def _x(dot: Dot) -> float:
    return dot.x


def _y(dot: Dot) -> float:
    return dot.y
