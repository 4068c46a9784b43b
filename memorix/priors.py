"""Decide how far a note is lifted by what it is, whatever is asked: a prior, in the word's sense.

Each prior has a share, by which a note's score is raised or lowered where it applies in full; all
are 0 unless somebody sets them, because none has been shown to help on a measure of ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from memorix.note import parse_time
from memorix.query import Traits
from memorix.retention import Recalls, retention
from memorix.trust import IMPORTANCE, TIERS

_DOUBTED = ("draft", "deprecated")


@dataclass(frozen=True, slots=True)
class Priors:
    """The share of each prior, 0 to 1.

    `strength` counts as far as a note is still remembered (Ebbinghaus's curve: recent, or recalled
    often and not long ago), `importance` what its key of that name says above or below the middle,
    `origin` against what was inferred, `trust` for what was confirmed, most by a person, `status`
    against drafts and what is retired.
    """

    strength: float = 0.0
    importance: float = 0.0
    origin: float = 0.0
    trust: float = 0.0
    status: float = 0.0


def read(text: str) -> Priors:
    """Read what the setting says, such as `strength=0.1, trust=0.05`, which was checked before."""
    pairs = (pair.partition("=") for pair in text.split(",") if pair.strip())
    return Priors(**{name.strip(): float(share) for name, _, share in pairs})


def lifts(
    trait: Traits, recalls: Mapping[str, Recalls], now: datetime, priors: Priors
) -> list[tuple[str, float]]:
    """Return by what a note is lifted or lowered, and how far, in the order of `Priors`."""
    written = parse_time(trait.written) or now
    found = [
        ("well remembered", priors.strength * retention(recalls.get(trait.id), written, now)),
        ("its importance", priors.importance * _above_middle(trait.importance)),
        ("inferred", -priors.origin * (trait.origin == "inferred")),
        (trait.trust, priors.trust * _confirmed(trait.trust)),
        (trait.status, -priors.status * (trait.status in _DOUBTED)),
    ]
    return [(name, share) for name, share in found if share]


def _above_middle(importance: str) -> float:
    """Return where an importance of 1 to 5 stands, from -1 to 1; 0 for anything else."""
    known = importance in ("1", "2", "3", "4", "5")
    return (int(importance) - IMPORTANCE) / 2 if known else 0.0


def _confirmed(tier: str) -> float:
    return TIERS.index(tier) / (len(TIERS) - 1) if tier in TIERS else 0.0
