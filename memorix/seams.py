"""Tell which character pairs of a question straddle two words, so that they weigh nothing.

Text without spaces is searched by overlapping pairs of characters.  About half of those in a
question join the end of one word to the start of the next: rare by accident, they would weigh as
much as the rarest words, and no note that puts its words in another order could hold them.
"""

from collections.abc import Sequence, Set

from memorix.lexemes import QueryTerm


def without_seams(terms: Sequence[QueryTerm], known: Set[QueryTerm]) -> list[QueryTerm]:
    """Return the terms of a question, in its order, without pairs that only straddle words.

    `known` are the terms that some note holds.  A pair that none holds is a seam where it shares a
    character with one that some note does; of a longer run of unknown pairs, every other one is.
    """
    kept: list[QueryTerm] = []
    for place, term in enumerate(terms):
        before, after = terms[place - 1 : place], terms[place + 1 : place + 2]
        beside_known = any(_touch(other, term) and other in known for other in before)
        beside_known = beside_known or any(_touch(term, o) and o in known for o in after)
        repeats = bool(kept) and kept[-1] not in known and _touch(kept[-1], term)
        if term in known or not (beside_known or repeats):
            kept.append(term)
    return kept


def _touch(one: QueryTerm, other: QueryTerm) -> bool:
    """Say whether two terms are pairs of one run, the second beginning with the first one's end."""
    pairs = one.kind == other.kind == "cjk"
    return pairs and one.text != other.text and one.text[-1] == other.text[0]
