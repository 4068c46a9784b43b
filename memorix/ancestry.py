"""Choose what two versions of a note began from, out of those that are known: a pure decision.

Nobody tells which version a copy was made from.  The versions that were written here stand in a
row; a text that came from elsewhere stands nearest to the one it was made from.  Where that may be
older than all that is known, a line that only one side has might be new there or taken out here:
then what both have in common is taken as their beginning, so that no line of either is lost.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from memorix.editing import lines_of_keys
from memorix.errors import NoteUneditable
from memorix.frontmatter import Parts, cut, read_block

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")


@dataclass(frozen=True, slots=True)
class Told:
    """A version of a note that is known, and what is known of it, in words.

    `linked` says that it was made from the one before it.
    """

    text: str
    linked: bool
    said: str = ""


def base_of(
    versions: Sequence[Told], ours: str, theirs: str, path: str, *, whole: bool = False
) -> tuple[str, Told | None]:
    """Return the text that two sides began from, and which of the versions that is.

    None of them is where what the sides have in common has to do.  `versions` are in order, the
    oldest first; `whole` says that the first of them is the note's very beginning.
    """
    row = _without_loops(versions)
    places = [_place(row, side) for side in (ours, theirs)]
    if None not in places:
        first, last = sorted(place for place in places if place is not None)
        if all(version.linked for version in row[first + 1 : last + 1]):
            return row[first].text, row[first]
    found = [
        _origin(row, side) if place is None else _nearest(row[:place], side)
        for side, place in zip((ours, theirs), places, strict=True)
    ]
    place = min((one for one in found if one is not None), default=None)
    shared = common(ours, theirs, path)
    if place is None:
        return shared, None
    if place or whole:
        return row[place].text, row[place]
    foreign = [side for side, known in zip((ours, theirs), places, strict=True) if known is None]
    if all(_holds(side, row[0].text) for side in foreign):
        return _with_body(shared, row[0].text), row[0]
    return shared, None


def common(ours: str, theirs: str, path: str) -> str:
    """Return what two versions have in common: keys that say the same, and lines."""
    mine, other = cut(ours), cut(theirs)
    try:
        block = _common_keys(mine.block, other.block, path)
    except NoteUneditable:
        block = ""
    left, right = (_LINE.findall(part.body) for part in (mine, other))
    pairs = SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks()
    body = "".join("".join(left[pair.a : pair.a + pair.size]) for pair in pairs)
    if not mine.has_block:
        return body
    return Parts(mine.bom, mine.opening, block, mine.closing, body).joined()


def _common_keys(ours: str, theirs: str, path: str) -> str:
    sides = [dict(read_block(block).values) for block in (ours, theirs)]
    lines: Mapping[str, str] = lines_of_keys(ours, path)
    names = [name for name in lines if name in sides[1] and sides[0].get(name) == sides[1][name]]
    return "".join(lines[name] for name in names)


def _with_body(text: str, other: str) -> str:
    parts, body = cut(text), cut(other).body
    return Parts(parts.bom, parts.opening, parts.block, parts.closing, body).joined()


def _without_loops(versions: Sequence[Told]) -> list[Told]:
    """Return the versions that lead to the last one; what was undone does not."""
    row = list[Told]()
    for version in versions:
        before = _place(row, version.text)
        row = [*row, version] if before is None else row[: before + 1]
    return row


def _place(versions: Sequence[Told], text: str) -> int | None:
    return next((n for n, version in enumerate(versions) if version.text == text), None)


def _origin(versions: Sequence[Told], text: str) -> int | None:
    """Return the place of the version that a text was made from: the nearest, if it holds what was
    new in that, and nothing that was gone by then; else one before it."""
    place, lines = _nearest(versions, text), _lines(text)
    while place:
        now, before = _lines(versions[place].text), _lines(versions[place - 1].text)
        older = {line for version in versions[:place] for line in _lines(version.text)}
        new = set(_lines(cut(versions[place].text).body)) - set(before)
        if new <= set(lines) and not (older - set(now)) & set(lines):
            return place
        place -= 1
    return place


def _nearest(versions: Sequence[Told], text: str) -> int | None:
    """Return the place of the version that shares most with a text; of several, the latest."""
    lines = _lines(text)
    apart = [_distance(_lines(version.text), lines) for version in versions]
    return max(range(len(apart)), key=lambda n: (-apart[n], n), default=None)


def _distance(some: Counter[str], others: Counter[str]) -> int:
    return (some - others).total() + (others - some).total()


def _holds(text: str, other: str) -> bool:
    """Say whether the body of a text holds all lines of the other's."""
    return not _lines(cut(other).body) - _lines(cut(text).body)


def _lines(text: str) -> Counter[str]:
    return Counter(_LINE.findall(text))
