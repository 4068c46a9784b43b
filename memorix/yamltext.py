"""YAML in which every value is text, as it was typed.

`2026-01-05`, `no`, `0123` and `1.10` stay what they are, never dates, booleans or numbers, so
YAML 1.1 and 1.2 cannot disagree about them.  It is read by libyaml's composer, which gives a tree
with line numbers; what nearly all blocks are made of, a key and a simple value on each line, is
read without it in a fraction of the time.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import yaml

Value: TypeAlias = "str | Sequence[Value] | Mapping[str, Value] | None"

MAX_NODES = 10_000
# A block that repeats aliases grows without bound when it is copied; no real one comes near this.
MAX_DEPTH = 40
# Deeper nesting is a mistake or an attack, and would exhaust Python's stack.

_Loader: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _Composer(_Loader):  # type: ignore[misc]
    """A composer that does not guess what values are: ours stay text, and it is twice as fast."""

    def descend_resolver(self, *_: object) -> None: ...

    def ascend_resolver(self) -> None: ...

    def resolve(self, *_: object) -> str:
        return ""


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_NOT_PRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_NOT_TEXT = frozenset(
    {"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"}
)  # words that some YAML reader takes for something else

_QUOTED = r"\"[^\"\\\r\n]*+\"|'[^'\r\n]*+'"
_WORDS = r"[\w./][^\r\n:#'\"\[\]{},]*+"
_TEXT = r"[\w./](?:[^\r\n:#]++|:(?=\S)|(?<=\S)#)*+"
_ITEM = rf"(?:{_QUOTED}|{_WORDS})"
# Values that every reader of YAML ends at the same place; text may hold `10:30` and `C#`.

_COMMENT = r"(?:[ ]*+(?<=[ ])#[^\r\n]*+|[ ]*+)"
_END = r"(?:\r?\n|\Z)"
_SIMPLE = re.compile(
    rf"(([A-Za-z_][A-Za-z0-9_-]*+):"
    rf"(?: ({_QUOTED}|{_TEXT}|\[{_ITEM}(?:, {_ITEM})*+\]"
    rf"|\{{ [a-z_]++: {_ITEM}(?:, [a-z_]++: {_ITEM})*+ \}}){_COMMENT}"
    rf"|\r?\n(([ ]*+)- {_ITEM}{_COMMENT}(?:\r?\n\5- {_ITEM}{_COMMENT})*+)"
    rf"|[ ]*+(?=\r?\n(?![ \t-])|\Z)){_END}"
    rf"|[ ]*+(?:#[^\r\n]*+)?\r?\n)"
)
_FLOWED = re.compile(rf"(?:([a-z_]++): )?({_ITEM})(?:, |\Z)")
_LISTED = re.compile(rf"^[ ]*- ({_ITEM})", re.MULTILINE)
# One key with its value, a line for each item of a list, or a line without a key.


class TooLarge(Exception):
    """The block unfolds to more than a note's metadata can be."""


def compose(block: str) -> yaml.Node | None:
    """Return the tree of a block, with its marks.

    Raises:
        yaml.YAMLError: It is no YAML.
    """
    return yaml.compose(block.replace("\r\n", "\n").replace("\r", "\n"), Loader=_Composer)


def read_simple(block: str) -> dict[str, Value] | None:
    """Read a block of simple lines; None where a line is anything else, or a key comes twice."""
    if not block.replace("\n", "").replace("\r", "").isprintable():
        return None
    values: dict[str, Value] = {}
    taken = 0
    for lines, key, text, items, _ in _SIMPLE.findall(block):
        taken += len(lines)
        if key in values:
            return None
        if key:
            values[key] = _simple(text) if text else _listed(items) if items else None
    return values if taken == len(block) else None


def _listed(text: str) -> list[Value]:
    return [_bare(item) for item in _LISTED.findall(text)]


def _simple(text: str) -> Value:
    if text[0] == '"':
        return text[1:-1]
    if text[0] == "[":
        return [_bare(item) for _, item in _FLOWED.findall(text[1:-1])]
    if text[0] == "{":
        return {name: _bare(item) for name, item in _FLOWED.findall(text[2:-2])}
    return _bare(text)


def _bare(text: str) -> str | None:
    if text[0] in "\"'":
        return text[1:-1]
    text = text.rstrip()
    return None if text in _NULLS else text


def key_text(node: yaml.Node) -> str:
    return node.value if isinstance(node, yaml.ScalarNode) else json.dumps(str(node.value)[:80])


def value_of(node: yaml.Node, budget: Iterator[int], depth: int) -> Value:
    if next(budget, None) is None or depth > MAX_DEPTH:
        raise TooLarge("the block unfolds to more values than a note can have")
    if isinstance(node, yaml.ScalarNode):
        return None if not node.style and node.value in _NULLS else str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [value_of(item, budget, depth + 1) for item in node.value]
    return {key_text(key): value_of(value, budget, depth + 1) for key, value in node.value}


def flow(value: object) -> str:
    """Write a value on one line so that YAML 1.1 and 1.2 readers read the same text back."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_of(k)}: {_item(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_item(item) for item in value) + "]"
    if isinstance(value, (int, float)):
        return json.dumps(value)
    text = str(value)
    if _PLAIN.match(text) and text.lower() not in _NOT_TEXT:
        return text
    return quoted(text)


def _item(value: object) -> str:
    # Nothing between two commas is a fault in one reader and an empty text in another.
    return "null" if value is None else flow(value)


def as_typed(values: Mapping[str, object]) -> dict[str, Value]:
    """Return values as a reader of the file will find them: numbers and booleans are text."""
    return {key: _typed(value) for key, value in values.items()}


def _typed(value: object) -> Value:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return as_typed(value)
    if isinstance(value, (list, tuple)):
        return [_typed(item) for item in value]
    return flow(value)


def quoted(text: str) -> str:
    # JSON's quoting is YAML's double-quoted style, but for what YAML does not call printable.
    quoted = json.dumps(text, ensure_ascii=False)
    return _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def key_of(key: str) -> str:
    return key if _PLAIN.match(key) and key.lower() not in _NOT_TEXT else quoted(key)
