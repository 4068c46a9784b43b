"""Decide how well a note is remembered: it fades with time, and each recall makes it last longer.

Retention after a time t is R = exp(-t/S), Ebbinghaus's forgetting curve in the form that MemoryBank
(Zhong et al. 2024, arXiv 2305.10250) uses for the memory of assistants; the stability S is the time
in which R falls to 1/e.  A recall makes S grow by the more, the more was forgotten until then: the
spacing effect (Cepeda et al. 2006, doi 10.1037/0033-2909.132.3.354), so that ten recalls within a
minute count little more than one.

It is advice for whoever tidies up, and nothing is done by it alone.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import exp

FIRST_STABILITY_DAYS = 30.0
# A note nobody ever recalled is at 1/e after a month, at 5 % after three.

GAIN = 2.0
# A recall of what is all but forgotten triples its stability.

LONGEST_STABILITY_DAYS = 3650.0
# Ten years; beyond that the figure says nothing.

FADED_BELOW = 0.05
# Of what was: about three times its stability without a recall.

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Recalls:
    """How often a note was recalled and when last; `stability_days` is its S since then."""

    count: int
    last: datetime
    stability_days: float


def recalled_again(known: Recalls | None, since: datetime, now: datetime) -> Recalls:
    """Return a note's recalls with one more, now.

    `since` is when a note that was never recalled was written.
    """
    stability = _stability(known)
    kept = retention(known, since, now)
    grown = stability * (1 + GAIN * (1 - kept))
    count = known.count + 1 if known else 1
    return Recalls(count, now, min(grown, LONGEST_STABILITY_DAYS))


def retention(known: Recalls | None, since: datetime, now: datetime) -> float:
    """Return how well a note is remembered now, from 1 right after a recall down to 0."""
    start = max(known.last, since) if known else since
    return exp(-max((now - start) / _DAY, 0.0) / _stability(known))


def _stability(known: Recalls | None) -> float:
    # Counters of older versions have no stability of their own yet.
    return (known.stability_days if known else 0.0) or FIRST_STABILITY_DAYS
