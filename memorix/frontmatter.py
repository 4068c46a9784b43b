"""The metadata block of a note: cut it out, read it as text, change single keys of it.

Values stay as they were typed: `2026-01-05`, `no`, `0123` and `1.10` are text, never dates,
booleans or numbers, so YAML 1.1 and 1.2 cannot disagree about them.  The YAML itself is read by
libyaml's composer, which gives a tree with line numbers in a thirtieth of the time of a YAML
library in Python; its marks are what lets an edit touch only the characters of one value.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import yaml
from frontmatter.default_handlers import BaseHandler

from memorix.errors import NoteUneditable

Value: TypeAlias = "str | Sequence[Value] | Mapping[str, Value] | None"

MAX_NODES = 10_000
# A block that repeats aliases grows without bound when it is copied; no real one comes near this.
MAX_DEPTH = 40
# Deeper nesting is a mistake or an attack, and would exhaust Python's stack.

_Loader: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_OPENING = re.compile(r"\A---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE)
_CLOSING_CR = re.compile(r"(?:\A|(?<=[\r\n]))(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_KEY_LINE = re.compile(r"^([A-Za-z_][\w-]*):[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)
_BARE_VALUE = re.compile(
    r"(?P<key>[ ]*(?:- )?[A-Za-z_][\w-]*:[ \t]+)"
    r"(?P<value>[^\s\"'|>{].*?)(?P<end>[ \t]*(?:\r\n|\n|\r)?)\Z"
)
_RESOLVER: Any = yaml.resolver.Resolver()
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_NOT_PRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_NOT_TEXT = frozenset(
    {"true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf"}
)  # words that some YAML reader takes for something else


@dataclass(frozen=True, slots=True)
class Parts:
    """A note's text in pieces; joined in order they are the text again."""

    bom: str
    opening: str
    block: str
    closing: str
    body: str

    @property
    def has_block(self) -> bool:
        return bool(self.opening)

    def joined(self) -> str:
        return self.bom + self.opening + self.block + self.closing + self.body


@dataclass(frozen=True, slots=True)
class Block:
    """A metadata block, read: values as typed, and what was wrong with it.

    `problems` are (code, line in the file, message).  `sound` is False where an edit could lose
    something; such a block is never rewritten.
    """

    values: Mapping[str, Value]
    problems: tuple[tuple[str, int, str], ...] = ()
    sound: bool = True


class NoteHandler(BaseHandler):
    """Front matter as Memorix reads and renders it, for python-frontmatter's interface.

    `split` keeps the body to the byte and takes only a block on the first line; `export` writes
    text that every YAML reader takes for the same text.
    """

    FM_BOUNDARY = _OPENING
    START_DELIMITER = END_DELIMITER = "---"

    def split(self, text: str) -> tuple[str, str]:
        parts = cut(text)
        return parts.block, parts.body

    def load(self, fm: str) -> dict[str, Any]:
        return dict(read_block(fm).values)

    def export(self, metadata: dict[str, object], **kwargs: object) -> str:
        return "".join(f"{_key(key)}: {flow(value)}\n" for key, value in metadata.items())

    def format(self, post: Any, **kwargs: object) -> str:
        return f"---\n{self.export(post.metadata)}---\n\n{post.content}"


def cut(text: str) -> Parts:
    """Cut a note's text into its pieces; without a closed block on the first line all is body."""
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    rest = text[len(bom) :]
    opening = _OPENING.match(rest)
    closing = _find_closing(rest, opening.end()) if opening else None
    if opening is None or closing is None:
        return Parts(bom, "", "", "", rest)
    block = rest[opening.end() : closing.start()]
    return Parts(bom, opening.group(), block, closing.group(), rest[closing.end() :])


def _find_closing(text: str, start: int) -> re.Match[str] | None:
    lone_cr = "\r" in text[:start] and "\n" not in text[:start]
    return (_CLOSING_CR if lone_cr else _CLOSING).search(text, start)


def read_block(block: str) -> Block:
    """Read a metadata block as far as it can be read; never raises.

    A block that is not YAML gives the keys that stand alone on a line, and is not sound.
    """
    try:
        root = _compose(block)
        if root is None:
            return Block({})
        if not isinstance(root, yaml.MappingNode):
            return Block(
                {}, (("frontmatter-not-mapping", 2, "the block is not a list of keys"),), False
            )
        return _read_mapping(root)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        return _recovered(block, "frontmatter-invalid", line, str(error.problem or error.context))
    except yaml.YAMLError as error:
        return _recovered(block, "frontmatter-invalid", 1, str(error).split("\n")[0])
    except _TooLarge as error:
        return _recovered(block, "frontmatter-too-complex", 1, str(error))


class _TooLarge(Exception):
    """The block unfolds to more than a note's metadata can be."""


def _compose(block: str) -> yaml.Node | None:
    return yaml.compose(block.replace("\r\n", "\n").replace("\r", "\n"), Loader=_Loader)


def _recovered(block: str, code: str, line: int, message: str) -> Block:
    values: dict[str, Value] = {}
    for match in _KEY_LINE.finditer(block):
        values.setdefault(match[1], _guessed(match[2]))
    return Block(values, ((code, line, message),), sound=False)


def _guessed(text: str) -> Value:
    if text.startswith("[") and text.endswith("]"):
        return [_unquoted(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    return _unquoted(text)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _read_mapping(root: yaml.MappingNode) -> Block:
    values: dict[str, Value] = {}
    problems: list[tuple[str, int, str]] = []
    budget = iter(range(MAX_NODES))
    for key_node, value_node in root.value:
        key = _key_text(key_node)
        if key in values:
            line = key_node.start_mark.line + 2
            problems.append(("frontmatter-duplicate-key", line, f"the key {key!r} is given twice"))
            continue
        values[key] = _value(value_node, budget, 0)
    return Block(values, tuple(problems), sound=not problems)


def _key_text(node: yaml.Node) -> str:
    return node.value if isinstance(node, yaml.ScalarNode) else json.dumps(str(node.value)[:80])


def _value(node: yaml.Node, budget: Iterator[int], depth: int) -> Value:
    if next(budget, None) is None or depth > MAX_DEPTH:
        raise _TooLarge("the block unfolds to more values than a note can have")
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, budget, depth + 1) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        pairs = node.value
        return {_key_text(key): _value(value, budget, depth + 1) for key, value in pairs}
    plain = isinstance(node, yaml.ScalarNode) and not node.style
    return None if plain and node.value in ("", "~", "null", "Null", "NULL") else str(node.value)


def flow(value: object) -> str:
    """Write a value on one line so that YAML 1.1 and 1.2 readers read the same text back."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)}: {flow(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    if isinstance(value, (int, float)):
        return json.dumps(value)
    text = str(value)
    if _PLAIN.match(text) and text.lower() not in _NOT_TEXT:
        return text
    return _quoted(text)


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


def _quoted(text: str) -> str:
    # JSON's quoting is YAML's double-quoted style, but for what YAML does not call printable.
    quoted = json.dumps(text, ensure_ascii=False)
    return _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def _key(key: str) -> str:
    return key if _PLAIN.match(key) and key.lower() not in _NOT_TEXT else _quoted(key)


def set_keys(text: str, changes: Mapping[str, Value], path: str) -> str:
    """Return `text` with these keys set, or removed where the value is None.

    Only the characters of the values concerned change; a new key goes to the end of the block;
    a note without a block gets one in front.

    Raises:
        NoteUneditable: The block cannot be parsed, or is not one key a line.
    """
    parts = cut(text)
    if not parts.has_block:
        return _with_new_block(parts, changes)
    block = parts.block
    for key, value in changes.items():
        block = _set_key(block, key, value, _newline(parts.opening), path)
    return Parts(parts.bom, parts.opening, block, parts.closing, parts.body).joined()


def rename_key(text: str, old: str, new: str, path: str) -> str:
    """Return `text` with one key called otherwise; its value stays to the byte.

    Nothing changes where the key is not there, or the new one is already.

    Raises:
        NoteUneditable: The block cannot be parsed, or is not one key a line.
    """
    parts = cut(text)
    root = _editable(parts.block, path) if parts.has_block else None
    keys = {} if root is None else {_key_text(node): node for node, _ in root.value}
    if old not in keys or new in keys:
        return text
    lines, mark = _LINE.findall(parts.block), keys[old]
    line = lines[mark.start_mark.line]
    lines[mark.start_mark.line] = (
        line[: mark.start_mark.column] + _key(new) + line[mark.end_mark.column :]
    )
    return replace(parts, block="".join(lines)).joined()


def _with_new_block(parts: Parts, changes: Mapping[str, Value]) -> str:
    newline = _newline(parts.body) if parts.body else "\n"
    lines = [f"{_key(k)}: {flow(v)}" for k, v in changes.items() if v is not None]
    block = newline.join(["---", *lines, "---", ""]) if lines else ""
    return parts.bom + block + (newline if block and parts.body else "") + parts.body


def _newline(text: str) -> str:
    match = re.search(r"\r\n|\n|\r", text)
    return match.group() if match else "\n"


def _set_key(block: str, key: str, value: Value, newline: str, path: str) -> str:
    root = _editable(block, path)
    lines = _LINE.findall(block)
    pairs = [] if root is None else root.value
    for key_node, value_node in pairs:
        if _key_text(key_node) == key:
            return _change(lines, key_node, value_node, value, newline)
    if value is None:
        return block
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    return "".join([*lines, f"{_key(key)}: {flow(value)}{newline}"])


def _editable(block: str, path: str) -> yaml.MappingNode | None:
    read = read_block(block)
    if not read.sound:
        raise NoteUneditable(path, read.problems[0][2])
    root = _compose(block)
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise NoteUneditable(path, "its metadata is not one key a line")
    return root


def _change(lines: list[str], key: yaml.Node, node: yaml.Node, value: Value, newline: str) -> str:
    first, last = key.start_mark.line, _last_line(lines, key, node)
    if value is None:
        return "".join(lines[:first] + lines[last + 1 :])
    appended = _appended(lines, node, value, newline)
    if appended is not None:
        return appended
    one_line = first == last and node.start_mark.line == first
    if one_line and node.end_mark.column > node.start_mark.column:
        line = lines[first]
        new = _in_style(value, node, line[: node.start_mark.column])
        lines[first] = line[: node.start_mark.column] + new + line[node.end_mark.column :]
        return "".join(lines)
    head = lines[first][: key.end_mark.column]
    return "".join([*lines[:first], f"{head}: {flow(value)}{newline}", *lines[last + 1 :]])


def _in_style(value: Value, node: yaml.Node, before: str) -> str:
    """Write a value as the one it replaces was written: bare, or in the same quotes.

    Bare only where every reader takes it for the kind of thing the old value was, so that a date
    a person typed without quotes may become another date, but a word never becomes a boolean.
    """
    if not isinstance(value, str) or not isinstance(node, yaml.ScalarNode):
        return flow(value)
    if node.style == "'":
        styled = "'" + value.replace("'", "''") + "'"
    elif node.style is None or node.style == "":
        same_kind = bool(value) and _kind(value) == _kind(node.value)
        styled = value if same_kind else flow(value)
    else:
        styled = _quoted(value)
    return styled if _reads_as(before + styled, value) else flow(value)


def _kind(text: str) -> str:
    """Return what YAML 1.1, the more eager one, takes a bare value for."""
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))


def _reads_as(line: str, value: str) -> bool:
    """Say whether a line alone, `key: value`, reads as this text."""
    try:
        root = _compose(line + " # end\n")
    except yaml.YAMLError:
        return False
    pair = root.value[0] if isinstance(root, yaml.MappingNode) and root.value else None
    return pair is not None and isinstance(pair[1], yaml.ScalarNode) and pair[1].value == value


def mended(block: str) -> str | None:
    """Return a block that is no YAML with quotes around the values that break it; None if that
    does not help.

    Only whole values on one line are quoted, the commonest fault being a colon in a title.
    """
    lines = _LINE.findall(block)
    for _ in range(len(lines) + 1):
        try:
            _compose("".join(lines))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            if mark is None or not _quote_line(lines, min(mark.line, len(lines) - 1)):
                return None
        except yaml.YAMLError:
            return None
        else:
            text = "".join(lines)
            return text if text != block and read_block(text).sound else None
    return None


def _quote_line(lines: list[str], number: int) -> bool:
    """Quote the value of this line, or else of the one before it; say whether one was."""
    for at in (number, number - 1):
        match = _BARE_VALUE.match(lines[at]) if at >= 0 else None
        if match and match["value"].startswith("[") and "](" not in match["value"]:
            return False  # a list that is not closed, rather than a text that begins with a link
        if match and not _reads_as(f"k: {match['value']}", match["value"]):
            lines[at] = match["key"] + _quoted(match["value"]) + match["end"]
            return True
    return False


def _last_line(lines: Sequence[str], key: yaml.Node, node: yaml.Node) -> int:
    """Find the last line of a value: libyaml ends a block value where the next token starts."""
    end = node.end_mark
    last = end.line - 1 if end.column == 0 and end.line > key.start_mark.line else end.line
    last = min(last, len(lines) - 1)
    while last > key.start_mark.line and _is_blank_or_comment(lines[last]):
        last -= 1
    return int(last)


def _is_blank_or_comment(line: str) -> bool:
    stripped = line.strip()
    return not stripped or (stripped.startswith("#") and not line[0].isspace())


def _appended(lines: Sequence[str], node: yaml.Node, value: Value, newline: str) -> str | None:
    """Add items at the end of a list in the list's own style; None where that is not the change."""
    if not isinstance(node, yaml.SequenceNode) or not isinstance(value, (list, tuple)):
        return None
    old = [item.value for item in node.value if isinstance(item, yaml.ScalarNode)]
    if len(old) != len(node.value) or not old or list(value[: len(old)]) != old:
        return None
    changed, new = list(lines), [flow(item) for item in value[len(old) :]]
    last = node.value[-1]
    line = changed[last.end_mark.line] if last.end_mark.line < len(changed) else ""
    if node.flow_style:
        at = last.end_mark.column
        changed[last.end_mark.line] = line[:at] + "".join(f", {item}" for item in new) + line[at:]
    else:
        row = last.start_mark.line
        indent = changed[row][: node.start_mark.column]
        if last.style in ("|", ">") or not changed[row].endswith(("\n", "\r")):
            return None
        end = last.end_mark.line if last.end_mark.column else last.start_mark.line
        changed[end + 1 : end + 1] = [f"{indent}- {item}{newline}" for item in new]
    return "".join(changed)
