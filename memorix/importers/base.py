"""What every importer offers, and how all of them read JSON and times."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from memorix.errors import InvalidRequest
from memorix.imported import Record, Unreadable
from memorix.note import parse_time

NO, MAYBE, LIKELY, SURE = 0.0, 0.3, 0.6, 1.0
# How certain `detect` is that a source has its format.

HEAD_BYTES = 64 * 1024
# Of a file, enough to tell its format by.

LONGEST_LINE = 16 * 1024 * 1024
# Bytes; a longer line is no record, and is named instead of read.


class Importer(Protocol):
    """One format: its name for `--format`, and how its sources are known and read."""

    @property
    def name(self) -> str: ...

    def detect(self, source: Path) -> float:
        """Return how certain it is that this file or folder has the format, from 0 to 1."""
        ...

    def read(self, source: Path) -> Iterable[Record | Unreadable]:
        """Yield the records one by one; what cannot be read is named and passed over.

        Raises:
            InvalidRequest: The source as a whole cannot be read.
        """
        ...


def head(source: Path) -> bytes:
    """Return the beginning of a file; empty for a folder or what cannot be read."""
    try:
        with source.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b""


def first_object(source: Path) -> Mapping[str, Any]:
    """Return the first line of a file that is a JSON object, of those in its beginning."""
    for line in head(source).splitlines()[:20]:
        found = _loaded(line)
        if isinstance(found, dict):
            return found
    return {}


def json_lines(source: Path) -> Iterator[tuple[str, Mapping[str, Any]] | Unreadable]:
    """Yield (`name:line`, object) of each line of a JSON Lines file; blank lines are none."""
    number = 0
    try:
        with source.open("rb") as file:
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    _skip_line(file, line)
                    yield Unreadable(f"{source.name}:{number}", "the line is too long")
                elif line.strip():
                    yield _object(line, f"{source.name}:{number}")
    except OSError as error:
        raise unreadable(source, error) from error


def _skip_line(file: Any, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(LONGEST_LINE)


def _object(line: bytes, where: str) -> tuple[str, Mapping[str, Any]] | Unreadable:
    found = _loaded(line)
    if isinstance(found, dict):
        return where, found
    return Unreadable(where, "it is no JSON object")


def _loaded(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8", "replace").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def unreadable(source: Path, error: Exception) -> InvalidRequest:
    return InvalidRequest(f"{source} cannot be read: {error}.")


def text(value: object) -> str:
    """Return a text as it is, a number in words, and anything else as nothing."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def fields(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def time(value: object) -> datetime | None:
    """Read a time as programs write it: ISO 8601, or seconds or milliseconds since 1970."""
    if isinstance(value, str):
        stripped = value.strip()
        number = _number(stripped)
        return parse_time(stripped) if number is None else _since_1970(number)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return _since_1970(value)


def _number(written: str) -> float | None:
    try:
        return float(written) if len(written) > len("2026-01") else None
    except ValueError:
        return None


def _since_1970(number: float) -> datetime | None:
    try:
        if not math.isfinite(number) or number <= 0:
            return None
        seconds = number / 1000 if number > 1e11 else number
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
