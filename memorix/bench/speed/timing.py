"""Time work in turns, and sum up what it took: the median, and how far blocks of rounds differ."""

import math
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

from memorix.bench.results import Measured

BLOCKS = 5
# Of rounds that follow each other: what slows the machine for a while shows as their spread.

T = TypeVar("T")


class Rounds:
    """Seconds of each round by what was timed.

    Ours and its floor are timed one after the other in every round, so that whatever else the
    machine does slows both.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def time(self, name: str, work: Callable[..., T], *given: object) -> T:
        """Do the work with what it is given; note how long it took, and as NAME.cpu how long it had
        the processor, in all of its threads: that is little more on a busy machine."""
        spent, began = time.process_time(), time.perf_counter()
        done = work(*given)
        self.took(name, time.perf_counter() - began)
        self.took(f"{name}.cpu", time.process_time() - spent)
        return done

    def took(self, name: str, seconds: float) -> None:
        self.seconds[name].append(seconds)

    def median_ms(self, *names: str) -> Measured:
        """Return milliseconds of a round; of several names, what they take together."""
        whole = median(self._together(names))
        blocks = [median(block) for block in self._blocks(names)]
        return Measured(whole * 1000, min(blocks) * 1000, max(blocks) * 1000)

    def p95_ms(self, *names: str) -> Measured:
        return Measured.once(percentile(self._together(names), 95) * 1000)

    def ratio(self, ours: Sequence[str], floor: Sequence[str]) -> Measured:
        """Return how many times its floor ours takes, at the median."""
        pairs = zip(self._blocks(ours), self._blocks(floor), strict=True)
        blocks = [median(mine) / median(base) for mine, base in pairs]
        whole = median(self._together(ours)) / median(self._together(floor))
        return Measured(whole, min(blocks), max(blocks))

    def _together(self, names: Sequence[str]) -> list[float]:
        return [sum(one) for one in zip(*(self.seconds[name] for name in names), strict=True)]

    def _blocks(self, names: Sequence[str]) -> list[list[float]]:
        return blocks(self._together(names))


def blocks(rounds: Sequence[float], count: int = BLOCKS) -> list[list[float]]:
    """Cut rounds into as many blocks of like length, fewer where there are fewer rounds."""
    count = min(count, len(rounds))
    ends = [round(len(rounds) * number / count) for number in range(count + 1)]
    return [list(rounds[start:end]) for start, end in pairwise(ends)]


def median(seconds: Sequence[float]) -> float:
    return statistics.median(seconds)


def percentile(seconds: Sequence[float], percent: float) -> float:
    """Return the smallest value that so many per cent do not exceed (nearest rank)."""
    ordered = sorted(seconds)
    return ordered[max(math.ceil(percent / 100 * len(ordered)) - 1, 0)]
