"""Change single keys of a note's metadata block; every other byte of the text stays.

The marks of libyaml's tree tell where a value begins and ends, so that an edit touches only the
characters of one value.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import yaml

from memorix.errors import NoteUneditable
from memorix.frontmatter import Parts, cut, read_block
from memorix.yamltext import MAX_DEPTH, Value, as_typed, compose, flow, key_of, key_text, quoted

_BREAK = "\n\r\x85\u2028\u2029"
_LINE = re.compile(f"[^{_BREAK}]*(?:\r\n|[{_BREAK}])|[^{_BREAK}]+\\Z")
# The ends of lines as libyaml counts them, whose marks are used.

_BARE_VALUE = re.compile(
    r"(?P<key>[ ]*(?:- )?[A-Za-z_][\w-]*:[ \t]+)"
    r"(?P<value>[^\s\"'|>{].*?)(?P<end>[ \t]*(?:\r\n|\n|\r)?)\Z"
)
_UNCLOSED = re.compile(r"---[ \t]*(?:\r\n|\n|\r)[\w\"'-][^\r\n]*:(?:[ \t]|[\r\n]|\Z)")
# A first line of dashes with a key below it is a block somebody has not finished, not a rule.

_RESOLVER: Any = yaml.resolver.Resolver()


def set_keys(text: str, changes: Mapping[str, Value], path: str) -> str:
    """Return `text` with these keys set, or removed where the value is None.

    Only the characters of the values concerned change; a new key goes to the end of the block;
    a note without a block gets one in front.

    Raises:
        NoteUneditable: The block cannot be parsed, or is not one key a line.
    """
    parts = cut(text)
    if not parts.has_block:
        if _UNCLOSED.match(parts.body):
            raise NoteUneditable(path, "its metadata block is never closed")
        return _with_new_block(parts, changes)
    block, wanted = parts.block, dict(read_block(parts.block).values)
    for key, value in changes.items():
        block = _set_key(block, key, value, _newline(parts.opening), path)
        wanted[key] = value
    meant = as_typed({key: value for key, value in wanted.items() if value is not None})
    kept = {key: None for key, value in wanted.items() if value is None and key not in changes}
    return _verified(parts, block, meant | kept, path)


def _verified(parts: Parts, block: str, meant: Mapping[str, Value], path: str) -> str:
    """Return the text with its new block, once reading it gives what is meant and the same body.

    YAML has ways to write a value that an edit by lines does not know; none may cost a byte.
    """
    text = replace(parts, block=block).joined()
    after = cut(text)
    read = read_block(after.block)
    if after.body != parts.body or not read.sound or dict(read.values) != meant:
        raise NoteUneditable(path, "its metadata is written in a way that no edit is safe in")
    return text


def lines_of_keys(block: str, path: str) -> dict[str, str]:
    """Return the lines of each key of a block, with the comments above them.

    Joined in order they are the block again; what stands below the last key is under "".

    Raises:
        NoteUneditable: The block cannot be parsed, or is not one key a line.
    """
    root, lines, found, start = _editable(block, path), _LINE.findall(block), dict[str, str](), 0
    for key, node in root.value if root else ():
        end = _last_line(lines, key, node) + 1
        found[key_text(key)] = "".join(lines[start:end])
        start = end
    return found | {"": found.get("", "") + "".join(lines[start:])}


def lines_of_items(lines: str) -> tuple[str, list[str]] | None:
    """Cut the lines of one key into its head and each item of its list, which begin with a dash.

    None where the value is no list, or one on a single line.
    """
    root, cut_up = compose(lines), _LINE.findall(lines)
    node = root.value[0][1] if isinstance(root, yaml.MappingNode) and root.value else None
    if not isinstance(node, yaml.SequenceNode) or node.flow_style or not node.value:
        return None
    starts = [item.start_mark.line for item in node.value]
    if not all(cut_up[start].lstrip(" ").startswith("-") for start in starts):
        return None
    ends = [*starts[1:], len(cut_up)]
    items = ["".join(cut_up[s:e]) for s, e in zip(starts, ends, strict=True)]
    return "".join(cut_up[: starts[0]]), items


def rename_key(text: str, old: str, new: str, path: str) -> str:
    """Return `text` with one key called otherwise; its value stays to the byte.

    Nothing changes where the key is not there, or the new one is already.

    Raises:
        NoteUneditable: The block cannot be parsed, or is not one key a line.
    """
    parts = cut(text)
    root = _editable(parts.block, path) if parts.has_block else None
    keys = {} if root is None else {key_text(node): node for node, _ in root.value}
    if old not in keys or new in keys:
        return text
    lines, mark = _LINE.findall(parts.block), keys[old]
    line = lines[mark.start_mark.line]
    lines[mark.start_mark.line] = (
        line[: mark.start_mark.column] + key_of(new) + line[mark.end_mark.column :]
    )
    values = read_block(parts.block).values
    meant = {new if key == old else key: value for key, value in values.items()}
    return _verified(parts, "".join(lines), meant, path)


def replace_scalars(
    text: str, change: Callable[[tuple[str, ...], str], str | None], path: str
) -> str:
    """Return `text` with single values of its block replaced, at any depth.

    `change` is asked about each value on one line, with the keys that lead to it; None leaves it.

    Raises:
        NoteUneditable: The block cannot be parsed, or is not one key a line.
    """
    parts = cut(text)
    root = _editable(parts.block, path) if parts.has_block else None
    if root is None:
        return text
    lines = _LINE.findall(parts.block)
    for keys, node in reversed(list(_scalars(root, ()))):
        start, end = node.start_mark, node.end_mark
        new = change(keys, node.value) if start.line == end.line else None
        if new is not None:
            line = lines[start.line]
            styled = node.style or ""
            lines[start.line] = line[: start.column] + styled + new + styled + line[end.column :]
    meant = _replaced(read_block(parts.block).values, (), change)
    return _verified(parts, "".join(lines), meant, path) if lines else text


def _replaced(
    values: Mapping[str, Value],
    keys: tuple[str, ...],
    change: Callable[[tuple[str, ...], str], str | None],
) -> dict[str, Value]:
    def new(value: Value, at: tuple[str, ...]) -> Value:
        if isinstance(value, str):
            changed = change(at, value)
            return value if changed is None else changed
        if isinstance(value, Mapping):
            return _replaced(value, at, change)
        return [new(item, at) for item in value] if isinstance(value, list) else value

    return {key: new(value, (*keys, key)) for key, value in values.items()}


def _scalars(node: yaml.Node, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if len(keys) > MAX_DEPTH:
        return
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _scalars(value, (*keys, key_text(key)))
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item, keys)
    elif isinstance(node, yaml.ScalarNode) and node.style not in ("|", ">"):
        yield keys, node


def _with_new_block(parts: Parts, changes: Mapping[str, Value]) -> str:
    newline = _newline(parts.body) if parts.body else "\n"
    lines = [f"{key_of(k)}: {flow(v)}" for k, v in changes.items() if v is not None]
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
        if key_text(key_node) == key:
            return _change(lines, key_node, value_node, value, newline)
    if value is None:
        return block
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline
    return "".join([*lines, f"{key_of(key)}: {flow(value)}{newline}"])


def _editable(block: str, path: str) -> yaml.MappingNode | None:
    read = read_block(block)
    if not read.sound:
        raise NoteUneditable(path, read.problems[0][2])
    root = compose(block)
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
        styled = quoted(value)
    return styled if _reads_as(before + styled, value) else flow(value)


def _kind(text: str) -> str:
    """Return what YAML 1.1, the more eager one, takes a bare value for."""
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))


def _reads_as(line: str, value: str) -> bool:
    """Say whether a line alone, `key: value`, reads as this text."""
    try:
        root = compose(line + " # end\n")
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
            compose("".join(lines))
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
            lines[at] = match["key"] + quoted(match["value"]) + match["end"]
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
