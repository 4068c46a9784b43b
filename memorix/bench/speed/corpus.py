"""Notes as assistants leave them, the same for the same seed.

Decisions, gotchas, facts, procedures with their commands, references, preferences and episodes of
one company, and bug fixes with the name of what was changed; English and Chinese.
"""

import random
from collections.abc import Sequence

from memorix.bench.generated import near_copies
from memorix.bench.operations.distractors import fillers
from memorix.lifecycle import Draft, draft_from

SEED = 7
FIXES = 0.25
# Share of the notes that tell of a bug, its cure and an identifier.


def drafts(count: int, seed: int = SEED) -> Sequence[Draft]:
    """Return `count` memories with different texts, in an order by chance."""
    fixes = round(count * FIXES)
    told = [
        draft_from(one.text, one.title, one.type, one.tags)
        for one in fillers(count - fixes, seed, "mixed")
    ]
    cured = near_copies(seed, 0, fixes + 1).documents[:fixes]
    told += [draft_from(one.text, type="Gotcha", tags=["bug"]) for one in cured]
    random.Random(seed).shuffle(told)
    return told


def questions(made: Sequence[Draft], count: int) -> list[str]:
    """Return `count` questions, each naming what another of the notes is about."""
    titles = [draft.title or draft.text[:60] for draft in made]
    return [f"what do we know of {titles[n * 7919 % len(titles)]}?" for n in range(count)]
