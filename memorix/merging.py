"""Merge two versions of a note that began as one, key by key and line by line: a pure decision.

The lines of a key that one side changed are taken as that side typed them.  Where both changed a
key, lists are merged as sets that keep their order, of two times one counts by a rule, and keys
that say where a text was written go with the later text.  What is left differs: both versions stay,
between the marks that git uses.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memorix.editing import lines_of_items, lines_of_keys, set_keys
from memorix.errors import NoteUneditable
from memorix.frontmatter import Parts, cut, read_block
from memorix.keys import mark_of
from memorix.note import parse_time, texts_of, without_relations
from memorix.yamltext import Value

LATER = frozenset(
    {"timestamp", "updated", "modified", "lastmod", "last_modified"}
    | {"expires_at", "stale_after", "valid_from"}
)
EARLIER = frozenset({"created", "valid_to"})
# Of two times.  What both sides say of validity is the span in which both hold it true; what ends
# by itself ends at the later time, since ending too early loses what somebody wanted kept.

WITH_THE_TEXT = frozenset({"generated", "branch", "commit", "session"})
# They tell who wrote the text, when and where; the later writer speaks for all of them.

LISTS = frozenset(
    {"tags", "aliases", "supersedes", "contested_by", "code_refs", "applies_when", "sources"}
    | {"verified", "links", "project"}
)
# People write these as a list, as `a, b`, or as a single entry.

_SPAN = ("valid_from", "valid_to")
_COMMENT = re.compile(r"(?:^|[ \t])(#[^\r\n]*)", re.MULTILINE)

_MARKS = re.compile(r"^[<|=>]+", re.MULTILINE)
SHORTEST = 7
# What git's marks measure where nobody has said otherwise.

ByLines = Callable[[str, str, str], tuple[str, bool]]
# A three-way merge of lines: base, ours, theirs -> the text, and whether nothing collided.


@dataclass(frozen=True, slots=True)
class Merged:
    """What two versions became; `conflicts` names the keys, or `text`, of which both stayed."""

    text: str
    conflicts: tuple[str, ...] = ()


def free_size(*texts: str) -> int:
    """Return a length of marks that stand in none of these texts."""
    runs = (len(run) for text in texts for run in _MARKS.findall(text))
    return max((*runs, SHORTEST - 1)) + 1


def taken(text: str, side: str, size: int) -> str:
    """Return a merged text with one version of what collided, `ours` or `theirs`.

    `size` is that of its marks, and no other line may begin so.
    """
    opening, older, middle, closing = (mark * size for mark in "<|=>")
    ours = rf"{opening} ours\r?\n(?P<ours>(?s:.*?))"
    older = rf"(?:^{re.escape(older)}[^\n]*\n(?s:.*?))?"
    theirs = rf"^{middle}\r?\n(?P<theirs>(?s:.*?))^{closing} theirs(?:\r?\n|\Z)"
    return re.sub(rf"^{ours}{older}{theirs}", lambda m: m[side], text, flags=re.MULTILINE)


class _Differ(Exception):
    """Both sides changed a value, each otherwise."""


def merge(
    base: str, ours: str, theirs: str, path: str, by_lines: ByLines, size: int = SHORTEST
) -> Merged:
    """Merge what two sides made of a note; `base` is empty where they share no version.

    `size` is the length of the marks around what collided.

    Raises:
        NoteUneditable: A metadata block is not one that can be merged by its keys.
    """
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    texts = (base, ours, theirs)
    ends = [_line_end(text) for text in texts]
    if None in ends:
        return _merged(texts, path, by_lines, size)
    end = _picked(*map(str, ends)) or "\n"
    found = _merged([text.replace("\r\n", "\n") for text in texts], path, by_lines, size)
    return replace(found, text=found.text.replace("\n", end))


def _merged(texts: Sequence[str], path: str, by_lines: ByLines, size: int) -> Merged:
    base, ours, theirs = map(cut, texts)
    if base.has_block and not (ours.has_block and theirs.has_block):
        raise NoteUneditable(path, "one side has no metadata block any more")
    block, conflicts = _block((base.block, ours.block, theirs.block), path, size)
    body, clean = _body(base.body, ours.body, theirs.body, by_lines)
    bom, opening, closing = (
        _picked(getattr(base, part), getattr(ours, part), getattr(theirs, part))
        for part in ("bom", "opening", "closing")
    )
    text = Parts(bom, opening, block, closing, body).joined()
    return Merged(text, (*conflicts, *(() if clean else ("text",))))


def _picked(base: str, ours: str, theirs: str) -> str:
    return theirs if ours == base else ours


def _line_end(text: str) -> str | None:
    """Return how all lines of a text end; None where they differ, empty where there is one line."""
    whole, feeds, returns = text.count("\r\n"), text.count("\n"), text.count("\r")
    if not feeds and not returns:
        return ""
    return "\r\n" if whole == feeds == returns else None if returns else "\n"


# -- the metadata


def _block(blocks: tuple[str, str, str], path: str, size: int) -> tuple[str, tuple[str, ...]]:
    base, ours, theirs = blocks
    if theirs in (base, ours):
        return ours, ()
    if ours == base:
        return theirs, ()
    sides = tuple(_Side(lines_of_keys(b, path), dict(read_block(b).values)) for b in blocks)
    merge = _Keys(sides[0], sides[1], sides[2], path)
    order = _order(list(merge.ours.lines), list(merge.theirs.lines))
    lines, values = dict[str, str](), dict[str, Value]()
    for key in order:
        try:
            lines[key], values[key] = merge.key(key)
        except _Differ:
            lines[key] = merge.both(key, size)
    if _is_backwards(values) and not any(_is_backwards(side.values) for side in sides[1:]):
        for key in _SPAN:
            lines[key] = merge.both(key, size)
            del values[key]
    text = "".join(lines[key] for key in order)
    conflicts = tuple(key for key in order if key not in values)
    if not conflicts and not _says(text, {key: values[key] for key in order if lines[key] and key}):
        raise NoteUneditable(path, "its metadata is written in a way that no merge is safe in")
    return text, conflicts


@dataclass(frozen=True, slots=True)
class _Side:
    """A metadata block: the lines of each key, and the values."""

    lines: Mapping[str, str]
    values: Mapping[str, Value]


@dataclass(frozen=True)
class _Keys:
    """The keys of the three versions, to be merged one at a time."""

    base: _Side
    ours: _Side
    theirs: _Side
    path: str

    def key(self, key: str) -> tuple[str, Value]:
        """Return the lines of a key, empty where it goes, and its value.

        Raises:
            _Differ: Both sides changed it, each otherwise.
        """
        base, ours, theirs = (side.lines.get(key) for side in (self.base, self.ours, self.theirs))
        if key in WITH_THE_TEXT and (later := self._later()):
            return later.lines.get(key, ""), later.values.get(key)
        if ours == theirs or theirs == base:
            return ours or "", self.ours.values.get(key)
        if ours == base:
            return theirs or "", self.theirs.values.get(key)
        sides = (self.base.values, self.ours.values, self.theirs.values)
        value = _value(key, *(side.get(key) for side in sides)) if key else None
        if value is None and key:
            return "", None
        lines = self._lines(key, value, ours, theirs)
        comments = _comments(theirs if lines != theirs else ours, (base or "") + lines)
        return comments + lines, value

    def _lines(self, key: str, value: Value, ours: str | None, theirs: str | None) -> str:
        """Return the lines that give a key a value: as a side has them, else ours changed."""
        if ours is not None and value == self.ours.values.get(key):
            return ours
        if theirs is not None and value == self.theirs.values.get(key):
            return theirs
        if listed := _listed(key, value, ours, theirs):
            return listed
        text = set_keys(f"---\n{ours or theirs}---\n", {key: value}, self.path)
        return text.removeprefix("---\n").removesuffix("---\n")

    def _later(self) -> _Side | None:
        """Return the side that wrote the text later, if both did and that is known."""
        sides = (self.base, self.ours, self.theirs)
        before, *times = (_written(side.values) for side in sides)
        ours, theirs = (parse_time(time) for time in times)
        if before in times or ours == theirs or not (ours and theirs):
            return None
        return self.ours if ours > theirs else self.theirs

    def both(self, key: str, size: int) -> str:
        """Return the lines of a key as either side has them, between git's marks."""
        ours, theirs = (side.lines.get(key, "") for side in (self.ours, self.theirs))
        opening, middle, closing = (mark * size for mark in "<=>")
        return f"{opening} ours\n{ours}{middle}\n{theirs}{closing} theirs\n"


def _order(ours: list[str], theirs: list[str]) -> list[str]:
    """Return our keys, and theirs behind the key they stand behind there; comments come last."""
    order, before = list(ours), ""
    for key in theirs:
        if key not in order:
            order.insert(order.index(before) + 1 if before else 0, key)
        before = key
    return [*(key for key in order if key), ""]


def _written(values: Mapping[str, Value]) -> str:
    generated = values.get("generated")
    said = generated.get("at") if isinstance(generated, Mapping) else values.get("timestamp")
    return said if isinstance(said, str) else ""


def _is_backwards(values: Mapping[str, Value]) -> bool:
    start, end = (parse_time(str(values.get(key) or "")) for key in _SPAN)
    return bool(start and end and end < start)


def _comments(lines: str | None, known: str) -> str:
    """Return the comments among lines of a key that are not kept otherwise, each on a line."""
    found = [match[1] for match in _COMMENT.finditer(lines or "") if match[1] not in known]
    return "".join(f"{comment}\n" for comment in found)


def _says(block: str, values: Mapping[str, Value]) -> bool:
    read = read_block(block)
    return read.sound and dict(read.values) == values


# -- values


def _value(key: str, base: Value, ours: Value, theirs: Value) -> Value:
    """Return what a value becomes that both sides changed; None takes the key away.

    Raises:
        _Differ: There is no rule for it.
    """
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    if any(isinstance(side, list) for side in (ours, theirs)) or key in LISTS:
        lists = [_items(key, side) for side in (base, ours, theirs)]
        return merged_list(lists, lambda item: str(mark_of(key, item))) or None
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        old = base if isinstance(base, Mapping) else {}
        names = dict.fromkeys([*ours, *theirs])
        merged = {n: _value(n, old.get(n), ours.get(n), theirs.get(n)) for n in names}
        return {name: value for name, value in merged.items() if value is not None}
    if key in LATER | EARLIER and isinstance(ours, str) and isinstance(theirs, str):
        return _time(key, ours, theirs)
    raise _Differ


def _items(key: str, value: Value) -> list[Value]:
    if isinstance(value, list):
        return value
    if value is None or isinstance(value, Mapping):
        return [value] if value else []
    if key not in LISTS:
        raise _Differ
    return list(texts_of(value))


def _time(key: str, ours: str, theirs: str) -> str:
    moments = [(moment, text) for text in (ours, theirs) if (moment := parse_time(text))]
    if len(moments) < 2:
        raise _Differ
    return (max if key in LATER else min)(moments)[1]


def merged_list(
    sides: Sequence[Sequence[Value]], mark: Callable[[Value], str] = str
) -> list[Value]:
    """Merge lists as sets: base, ours, theirs.

    What either side took away goes, what either added is there once.  The order is that of the
    side which changed it; what was added stands behind what it stood behind there.  It is the same
    whichever side is ours.

    Raises:
        _Differ: A list holds something twice, so that it is no set.
    """
    first = [{mark(item): item for item in side} for side in sides]
    old, left, right = ([*side] for side in first)
    if [len(side) for side in sides] != [len(side) for side in first]:
        raise _Differ
    kept = [name for name in old if name in first[1] and name in first[2]]
    orders = [[name for name in side if name in kept] for side in (left, right)]
    moved = [order for order in orders if order != kept]
    kept = min(moved) if moved else kept
    behind: dict[str, set[tuple[str, ...]]] = {name: set() for name in ("", *kept)}
    for side in (left, right):
        place, run = "", list[str]()
        for name in (*side, ""):
            if name and name not in kept:
                run += [] if name in old else [name]
                continue
            behind[place].add(tuple(run))
            place, run = name, []
    items = {**first[2], **first[1], **{n: v for n, v in first[0].items() if n in kept}}
    order = dict.fromkeys(
        n for place in behind for r in ([place], *sorted(behind[place])) for n in r
    )
    return [items[name] for name in order if name]


def _listed(key: str, value: Value, ours: str | None, theirs: str | None) -> str | None:
    """Return the lines of a merged list, each item as it was typed; None where that is no way.

    It is one where the items stand on lines of their own.
    """
    sides = [lines_of_items(lines) for lines in (theirs, ours) if lines]
    typed: dict[str, str] = {}
    for side in sides:
        if side is None:
            return None
        for item in side[1]:
            read = read_block(f"k:\n{item}").values.get("k")
            if not isinstance(read, list) or len(read) != 1:
                return None
            typed[str(mark_of(key, read[0]))] = item
    names = [str(mark_of(key, item)) for item in value] if isinstance(value, list) else []
    if not sides or not names or not all(name in typed for name in names):
        return None
    head = sides[-1][0] if sides[-1] else ""
    return head + "".join(typed[name] for name in names)


# -- the text


def _body(base: str, ours: str, theirs: str, by_lines: ByLines) -> tuple[str, bool]:
    """Merge what stands below the metadata; relations at its end are a list."""
    if theirs in (base, ours):
        return ours, True
    if ours == base:
        return theirs, True
    texts = [without_relations(body) for body in (base, ours, theirs)]
    ends = [body[len(text) :] for body, text in zip((base, ours, theirs), texts, strict=True)]
    if not (ends[1] and ends[2]) or ends[1] == ends[2]:
        return by_lines(base, ours, theirs)
    try:
        relations = _relations(*ends)
    except _Differ:
        return by_lines(base, ours, theirs)
    text, clean = _body(texts[0], texts[1], texts[2], by_lines)
    return text + relations, clean


def _relations(base: str, ours: str, theirs: str) -> str:
    lists: list[list[Value]] = [
        [line.rstrip("\r\n") for line in side.splitlines() if line.startswith("- ")]
        for side in (base, ours, theirs)
    ]
    head = ours[: ours.find("- ")] if lists[1] else ours
    return head + "".join(f"{line}\n" for line in merged_list(lists))
