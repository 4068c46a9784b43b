"""Edit JSON with comments by splicing: what is not edited keeps every character.

A text here has no byte order mark.  Comments and trailing commas are read, as editors allow them;
anything else that JSON forbids is refused.  Of a key given twice the last counts, as for hosts.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

DEEPEST = 200
# Levels of nesting read; no settings file comes near it.

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"[ \t]*(//[^\r\n]*|/\*.*?\*/)", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_PLAIN = re.compile(r"(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])")
_BLANK = " \t\r\n"

Key = str | int
# A name in an object, or a place in a list.


class NotJson(ValueError):
    """The text is not JSON with comments, or does not hold what it must; `line` starts at 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Member:
    """One entry of an object or a list, from `start` to `end`; `comma` is where its comma is."""

    key: Key
    start: int
    value: "Node"
    comma: int | None

    @property
    def end(self) -> int:
        return self.value.end


@dataclass(frozen=True, slots=True)
class Node:
    """A value: the text from `start` to `end`, and what it holds."""

    kind: Literal["object", "list", "plain"]
    start: int
    end: int
    members: tuple[Member, ...] = ()

    def get(self, key: Key) -> Member | None:
        return next((m for m in reversed(self.members) if m.key == key), None)


def parse(text: str) -> Node:
    """Read the one value a text holds.

    Raises:
        NotJson: Says where and why it cannot be read.
    """
    return _Reader(text).whole()


def find(text: str, keys: Sequence[Key]) -> Node | None:
    """Return the value that the keys lead to; None where one is missing.

    Raises:
        NotJson: The text cannot be read.
    """
    node = parse(text) if text.strip() else None
    for key in keys:
        member = node.get(key) if node else None
        node = member.value if member else None
    return node


def value(text: str, node: Node) -> Any:
    """Return a value as Python has it."""
    if node.kind == "object":
        return {m.key: value(text, m.value) for m in node.members}
    if node.kind == "list":
        return [value(text, m.value) for m in node.members]
    return json.loads(text[node.start : node.end])


def put(text: str, keys: Sequence[str], new: Any) -> str:
    """Return the text with a value under the keys; objects on the way are made.

    An object that is there already is changed only in the keys that differ and keeps the others.

    Raises:
        NotJson: The text cannot be read, or something on the way is no object.
    """
    if not text.strip():
        return json.dumps(_nested(keys, new), indent=2, ensure_ascii=False) + "\n"
    node = parse(text)
    for depth, key in enumerate(keys):
        _must_be(text, node, "object", keys[:depth])
        member = node.get(key)
        if member is None:
            return _added(text, node, key, _nested(keys[depth + 1 :], new))
        node = member.value
    if value(text, node) == new:
        return text
    if node.kind == "object" and isinstance(new, dict):
        for key, part in new.items():
            text = put(text, [*keys, key], part)
        return text
    return text[: node.start] + _rendered(text, node.start, new) + text[node.end :]


def append(text: str, keys: Sequence[str], new: Any) -> str:
    """Return the text with a value at the end of the list under the keys, which is made if need be.

    Raises:
        NotJson: The text cannot be read, or there is something other than a list.
    """
    node = find(text, keys)
    if node is None:
        return put(text, keys, [new])
    _must_be(text, node, "list", keys)
    return _added(text, node, len(node.members), new)


def take(text: str, keys: Sequence[Key]) -> str:
    """Return the text without the entry under the keys, with the comma that was needed for it.

    Comments stay.  Taking what was just put gives back the text from before, except that an object
    made or filled for it is left empty.

    Raises:
        NotJson: The text cannot be read.
    """
    node = find(text, keys[:-1])
    member = node.get(keys[-1]) if node else None
    return _without(text, node, member) if node and member else text


def take_items(text: str, keys: Sequence[str], unwanted: Callable[[Any], bool]) -> str:
    """Return the text without the items of a list that are unwanted.

    Raises:
        NotJson: The text cannot be read.
    """
    node = find(text, keys)
    while node and node.kind == "list":
        member = next((m for m in node.members if unwanted(value(text, m.value))), None)
        if member is None:
            break
        text = _without(text, node, member)
        node = find(text, keys)
    return text


def _must_be(text: str, node: Node, kind: str, keys: Sequence[str]) -> None:
    if node.kind != kind:
        name = ".".join(keys) or "the file"
        article = "an" if kind == "object" else "a"
        raise NotJson(_line(text, node.start), f"{name} is not {article} {kind}")


def _nested(keys: Sequence[str], new: Any) -> Any:
    for key in reversed(keys):
        new = {key: new}
    return new


# -- adding


def _added(text: str, node: Node, key: Key, new: Any) -> str:
    if _on_one_line(text, node if node.members else parse(text)):
        return _added_inline(text, node, key, new)
    end = _line_end(text)
    indent = _indent(text, node.start)
    inner = _indent(text, node.members[0].start) if node.members else indent + _unit(text)
    entry = f"{end}{inner}{_entry(text, key, new, inner)}"
    if not node.members:
        return _filled(text, node, entry, end + indent)
    last = node.members[-1]
    if last.comma is None:
        place = _past_comments(text, last.end)
        return f"{text[: last.end]},{text[last.end : place]}{entry}{text[place:]}"
    place = _past_comments(text, last.comma + 1)
    return f"{text[:place]}{entry},{text[place:]}"


def _added_inline(text: str, node: Node, key: Key, new: Any) -> str:
    colon, comma = (":", ",") if _is_tight(text) else (": ", ", ")
    entry = json.dumps(new, ensure_ascii=False, separators=(comma, colon))
    if not isinstance(key, int):
        entry = f"{json.dumps(key, ensure_ascii=False)}{colon}{entry}"
    if not node.members:
        return f"{text[: node.start + 1]}{entry}{text[node.start + 1 :]}"
    last = node.members[-1]
    if last.comma is None:
        return f"{text[: last.end]}{comma}{entry}{text[last.end :]}"
    place = last.comma + 1
    return f"{text[:place]}{comma[1:]}{entry},{text[place:]}"


def _filled(text: str, node: Node, entry: str, closing: str) -> str:
    """Put the first entry into an empty object or list, below the comments in it."""
    inside = text[node.start + 1 : node.end - 1]
    kept = inside.rstrip(_BLANK)
    rest = inside[len(kept) :]
    rest = rest if "\n" in rest else closing
    return f"{text[: node.start + 1]}{kept}{entry}{rest}{text[node.end - 1 :]}"


def _entry(text: str, key: Key, new: Any, indent: str) -> str:
    shown = json.dumps(new, ensure_ascii=False, indent=_unit(text))
    shown = shown.replace("\n", _line_end(text) + indent)
    return shown if isinstance(key, int) else f"{json.dumps(key, ensure_ascii=False)}: {shown}"


def _rendered(text: str, start: int, new: Any) -> str:
    """Write a value in the place of another, on one line if it is short."""
    if not isinstance(new, dict):
        return json.dumps(new, ensure_ascii=False)
    shown = json.dumps(new, ensure_ascii=False, indent=_unit(text))
    return shown.replace("\n", _line_end(text) + _indent(text, start))


# -- taking away


def _without(text: str, node: Node, member: Member) -> str:
    place = node.members.index(member)
    start = len(text[: member.start].rstrip(_BLANK))
    end = member.end if member.comma is None else member.comma + 1
    rest = text[end:]
    if _ends_in_line_comment(text, node, place, start) and not re.match(r"[ \t]*\r?\n", rest):
        rest = _line_end(text) + _indent(text, node.start) + rest.lstrip(" \t")
    before = text[:start]
    if member.comma is None and place:
        comma = node.members[place - 1].comma
        assert comma is not None, "an entry before the last has a comma"
        before = text[:comma] + text[comma + 1 : start]
    if not (before[node.start + 1 :] + text[end : node.end - 1]).strip(_BLANK):
        return before + text[node.end - 1 :]
    return before + rest


def _ends_in_line_comment(text: str, node: Node, place: int, end: int) -> bool:
    before = node.members[place - 1] if place else None
    position = before.end if before else node.start + 1
    while position < end:
        if text.startswith("//", position):
            stop = _end_of_line(text, position)
            if stop >= end:
                return True
            position = stop
        elif text.startswith("/*", position):
            position = text.index("*/", position) + 2
        else:
            position += 1
    return False


# -- how the text is laid out


def _on_one_line(text: str, node: Node) -> bool:
    return bool(node.members) and "\n" not in text[node.start : node.members[0].start]


def _is_tight(text: str) -> bool:
    """Say whether a file on one line has no blanks after its colons."""
    root = parse(text)
    return bool(root.members) and text[root.members[0].value.start - 1] == ":"


def _unit(text: str) -> str:
    """Return what one level is indented by: as the first entry of the file, else two blanks."""
    root = parse(text)
    if not root.members or _on_one_line(text, root):
        return "  "
    first = _indent(text, root.members[0].start)
    own = _indent(text, root.start)
    return first.removeprefix(own) or "  "


def _indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_end(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _past_comments(text: str, position: int) -> int:
    """Return where the comments end that begin on this line."""
    while found := _COMMENT.match(text, position):
        position = found.end()
    return position


def _end_of_line(text: str, position: int) -> int:
    found = re.compile(r"[\r\n]|$").search(text, position)
    return found.start() if found else len(text)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


# -- reading


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def whole(self) -> Node:
        self.skip()
        node = self.value(0)
        self.skip()
        if self.at < len(self.text):
            raise self.wrong("there is more after the end")
        return node

    def skip(self) -> None:
        found = _GAP.match(self.text, self.at)
        self.at = found.end() if found else self.at
        if self.text.startswith("/*", self.at):
            raise self.wrong("a comment is not closed")

    def value(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise self.wrong("it is nested too deeply")
        if self.text[self.at : self.at + 1] in ("{", "["):
            return self.container(depth)
        start = self.at
        found = _STRING.match(self.text, start) or _PLAIN.match(self.text, start)
        if found is None:
            raise self.wrong("a value is missing" if self.shown() in ",:]}" else "this is no value")
        self.at = found.end()
        return Node("plain", start, self.at)

    def container(self, depth: int) -> Node:
        start, closing = self.at, "}" if self.text[self.at] == "{" else "]"
        self.at += 1
        members: list[Member] = []
        self.skip()
        while self.shown() != closing:
            if members and members[-1].comma is None:
                raise self.wrong(f"a comma or {closing} is missing")
            members.append(self.member(len(members), closing, depth))
        self.at += 1
        kind: Literal["object", "list"] = "object" if closing == "}" else "list"
        return Node(kind, start, self.at, tuple(members))

    def member(self, place: int, closing: str, depth: int) -> Member:
        start = self.at
        key: Key = self.key() if closing == "}" else place
        node = self.value(depth + 1)
        self.skip()
        comma = self.at if self.shown() == "," else None
        if comma is not None:
            self.at += 1
            self.skip()
        return Member(key, start, node, comma)

    def key(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self.wrong("a key in double quotes or a closing } is missing")
        self.at = found.end()
        self.skip()
        if self.shown() != ":":
            raise self.wrong("a colon is missing after the key")
        self.at += 1
        self.skip()
        return str(json.loads(found[0]))

    def shown(self) -> str:
        return self.text[self.at : self.at + 1]

    def wrong(self, reason: str) -> NotJson:
        return NotJson(_line(self.text, self.at), reason)
