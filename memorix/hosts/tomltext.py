"""Edit a table of a TOML file by splicing: what is not edited keeps every character.

The result is read again and must hold what was there and the change, nothing else; where it would
not, as with a table that is written in one line, the edit is refused.  (A library that keeps the
style was tried: tomlkit 0.15 moves keys that follow dotted ones into the table it adds.)
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

_HEADER = re.compile(r"^[ \t]*\[(?!\[)([^\]\n]*)\][ \t]*(?:#[^\n]*)?$")
_ANY_HEADER = re.compile(r"^[ \t]*\[")
_PART = re.compile(r"""[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*(?:\.|$)""")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_MULTI_LINE = re.compile(r'"""|\'\'\'')
_LAST_LINE_END = re.compile(r"\r?\n\Z")
_AT_LINE = re.compile(r"\(at line (\d+),[^)]*\)|\(at end of document\)")


class NotToml(ValueError):
    """The text is not TOML, or cannot be edited safely; `line` starts at 1, and is 0 if unknown."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def parse(text: str) -> dict[str, Any]:
    """Read a text.

    Raises:
        NotToml: Says where and why it cannot be read.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found and found[1] else text.count("\n") + 1
        raise NotToml(line, _AT_LINE.sub("", str(error)).strip()) from error


def find(text: str, keys: Sequence[str]) -> Any:
    """Return what is under the keys; None where one is missing.

    Raises:
        NotToml: The text cannot be read.
    """
    table: Any = parse(text)
    for key in keys:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def put(text: str, keys: Sequence[str], new: Mapping[str, Any]) -> str:
    """Return the text with a table under the keys; one that is there keeps its other keys.

    The values are texts and lists of texts.

    Raises:
        NotToml: The text cannot be read, or the table cannot be written without moving others.
    """
    old = find(text, keys)
    if isinstance(old, dict) and all(old.get(key) == part for key, part in new.items()):
        return text
    span = _span(text, keys) if old is not None else None
    changed = _appended(text, keys, new) if span is None else _replaced(text, span, new)
    wanted = parse(text)
    _table_at(wanted, keys).update(new)
    return _checked(changed, wanted, keys)


def take(text: str, keys: Sequence[str]) -> str:
    """Return the text without the table under the keys and without the tables in it.

    Raises:
        NotToml: The text cannot be read, or the table is written so that others would change.
    """
    if find(text, keys) is None:
        return text
    wanted = parse(text)
    parent = _table_at(wanted, keys[:-1])
    del parent[keys[-1]]
    changed = text
    while span := _span(changed, keys):
        before, after = _without_blank_line(changed[: span[0]]), changed[span[1] :]
        if not after and not changed.endswith("\n"):
            before = _LAST_LINE_END.sub("", before)
        changed = before + after
    return _checked(changed, wanted, keys)


def _table_at(table: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    for key in keys:
        table = table.setdefault(key, {})
        if not isinstance(table, dict):
            raise NotToml(0, f"{key} is not a table")
    return table


def _checked(changed: str, wanted: dict[str, Any], keys: Sequence[str]) -> str:
    name = ".".join(keys)
    try:
        found = parse(changed)
    except NotToml as error:
        raise NotToml(error.line, f"the table {name} cannot be edited as it is written") from error
    if _without_empty(found) != _without_empty(wanted):
        raise NotToml(0, f"the table {name} cannot be edited without changing others")
    return changed


def _without_empty(table: dict[str, Any]) -> dict[str, Any]:
    """Leave out tables that hold nothing: a table is there only because one in it is."""
    kept = {k: _without_empty(v) if isinstance(v, dict) else v for k, v in table.items()}
    return {key: part for key, part in kept.items() if part != {}}


# -- where the table is


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _span(text: str, keys: Sequence[str]) -> tuple[int, int] | None:
    """Return from where to where a table reaches, without the blank lines and comments below it."""
    position, start, end, quote = 0, -1, 0, ""
    for line in _lines(text):
        header = None if quote else _HEADER.match(line.rstrip("\r\n"))
        if start >= 0 and not quote and _ANY_HEADER.match(line):
            break
        for mark in _MULTI_LINE.findall(line):
            quote = "" if quote == mark else quote or mark
        if header and _names(header[1])[: len(keys)] == list(keys):
            start = position
        position += len(line)
        if start >= 0 and line.strip() and not line.lstrip().startswith("#"):
            end = position
    return (start, end) if start >= 0 else None


def _names(header: str) -> list[str]:
    names: list[str] = []
    position = 0
    while position < len(header):
        found = _PART.match(header, position)
        if found is None:
            return []
        names.append(found[1] or found[2] or found[3] or "")
        position = found.end()
    return names


def _without_blank_line(text: str) -> str:
    shorter = _LAST_LINE_END.sub("", text)
    return shorter if shorter.endswith("\n") else text


# -- what is written


def _appended(text: str, keys: Sequence[str], new: Mapping[str, Any]) -> str:
    """Put the table at the end; a text without a last line end is left without one again."""
    end = _line_end(text)
    header = ".".join(key if _BARE.fullmatch(key) else _shown(key) for key in keys)
    lines = [f"[{header}]", *(f"{key} = {_shown(part)}" for key, part in new.items())]
    if not text:
        return end.join(lines) + end
    if text.endswith("\n"):
        return f"{text}{end}{end.join(lines)}{end}"
    return f"{text}{end}{end}{end.join(lines)}"


def _replaced(text: str, span: tuple[int, int], new: Mapping[str, Any]) -> str:
    block = text[span[0] : span[1]]
    for key, part in new.items():
        block = _with_key(block, key, f"{key} = {_shown(part)}", _line_end(text))
    return text[: span[0]] + block + text[span[1] :]


def _with_key(block: str, key: str, line: str, end: str) -> str:
    known = re.compile(rf"^[ \t]*{key}[ \t]*=[^\n#]*?(?=[ \t]*(?:#[^\n]*)?\r?$)", re.MULTILINE)
    if found := known.search(block):
        return block[: found.start()] + line + block[found.end() :]
    header, _, rest = block.partition("\n")
    return f"{header.removesuffix(chr(13))}{end}{line}{end}{rest}"


def _shown(part: str | Sequence[str]) -> str:
    if isinstance(part, str):
        return json.dumps(part, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "[" + ", ".join(map(_shown, part)) + "]"


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
