"""Find in one pass over a text which of many words stand in it, and which patterns can match.

Each pattern has anchors, words of which every match holds at least one.  To look for them one by
one costs more than all the patterns that are left.
"""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

T = TypeVar("T")


class Anchors(Generic[T]):
    """What may occur in a text, by words that tell of it."""

    def __init__(self, anchored: Iterable[tuple[T, Sequence[str]]]) -> None:
        """`anchored` are pairs of what may occur and its anchors, none of them empty."""
        pairs = list(anchored)
        self._items = [item for item, _ in pairs]
        owners: dict[str, list[int]] = {}
        for number, (_, anchors) in enumerate(pairs):
            for anchor in anchors:
                owners.setdefault(anchor, []).append(number)
        self._owners = list(owners.values())
        self._automaton = AhoCorasick(list(owners), implementation=Implementation.DFA)

    def within(self, text: str) -> list[T]:
        """Return what has an anchor in a text, in the order in which it was given."""
        try:
            found = self._automaton.find_matches_as_indexes(text, overlapping=True)
        except UnicodeEncodeError:  # half of a pair of surrogates, as JSON may bring it
            return self.within(text.encode(errors="replace").decode())
        if not found:
            return []
        numbers = {
            number for anchor in {one[0] for one in found} for number in self._owners[anchor]
        }
        return [self._items[number] for number in sorted(numbers)]


class Words:
    """Words to be found in a text wherever they stand, also within others."""

    def __init__(self, words: Sequence[str]) -> None:
        """Of words that begin at one place the earlier in the list is found, and no other."""
        self._automaton = AhoCorasick(
            words, matchkind=MatchKind.LeftmostFirst, implementation=Implementation.DFA
        )

    def within(self, text: str) -> list[tuple[int, int]]:
        """Return the place of each word in a text, in order, none within another."""
        try:
            found = self._automaton.find_matches_as_indexes(text)
        except UnicodeEncodeError:  # half of a pair of surrogates: one character for another
            return self.within(text.encode(errors="replace").decode())
        return [(start, end) for _, start, end in found]
