"""Let notes that answer a question speak for those they are linked with.

Personalised PageRank (Haveliwala, "Topic-Sensitive PageRank", WWW 2002) over the links around the
best hits, as HippoRAG (Gutiérrez et al., NeurIPS 2024) does over a graph of entities: a walk begins
at a hit as often as it scores, follows a link either way, and begins anew.  A note with many links
passes little over each.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

_RESTART = 0.5
# The walk stays near what was asked: a second link away there is a quarter of the first.

_ROUNDS = 12
# Half of what is left moves in each; nothing changes in the third digit after ten.


def received(seeds: Mapping[int, float], edges: Iterable[tuple[int, int]]) -> dict[int, float]:
    """Return what reaches each note over links, the most as 1; nothing where there are no links.

    `seeds` are scores above 0 of the notes that a walk begins at; an edge may be told twice.
    """
    beside: dict[int, set[int]] = defaultdict(set)
    for one, other in edges:
        if one != other:
            beside[one].add(other)
            beside[other].add(one)
    total = sum(seeds.values())
    start = {note: score / total for note, score in seeds.items()} if total > 0 else {}
    mass, came = dict(start), dict[int, float]()
    for _ in range(_ROUNDS):
        came = defaultdict(float)
        for note, share in mass.items():
            for other in beside.get(note, ()):
                came[other] += (1 - _RESTART) * share / len(beside[note])
        mass = dict(came)
        for note, share in start.items():
            mass[note] = mass.get(note, 0.0) + _RESTART * share
    most = max(came.values(), default=0.0)
    return {note: share / most for note, share in came.items()} if most else {}
