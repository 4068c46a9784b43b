"""Read the elements of a list in a large JSON file one by one, also inside a .zip."""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import ijson

from memorix.errors import InvalidRequest
from memorix.files import unpacks_to_more
from memorix.imported import Unreadable
from memorix.importers.base import HEAD_BYTES, LONGEST_LINE, head, unreadable

_DAMAGE = (
    ijson.JSONError,
    ValueError,
    OSError,
    EOFError,
    OverflowError,
    RecursionError,
    zipfile.BadZipFile,
    zlib.error,
)
# What damaged JSON, archives and disks raise.


LARGEST_RECORD, _EVENT = 32 * 1024 * 1024, 32
# Bytes that a record may take in memory, about, and those that a part of it takes besides text.

_TOO_LARGE = f"it takes more than {LARGEST_RECORD:,} bytes"


class Damaged(Unreadable):
    """Where a file is damaged: what follows cannot be read."""


@dataclass(frozen=True, slots=True)
class Member:
    """A JSON file by its name, and how it is opened."""

    name: str
    open: Callable[[], IO[bytes]]


def head_of(source: Path, name: str) -> bytes:
    """Return the beginning of a file, or of the file of this name in a folder or a .zip."""
    if source.is_dir():
        return head(source / name)
    if source.suffix != ".zip":
        return head(source)
    with suppress(*_DAMAGE, InvalidRequest, KeyError, NotImplementedError, RuntimeError):
        if zipfile.is_zipfile(source):
            for member in members(source, (name,)):
                with member.open() as file:
                    return file.read(HEAD_BYTES)
    return b""


def members(source: Path, names: tuple[str, ...], prefix: str = "") -> list[Member]:
    """Return the files of these names, or beginning with `prefix`, at any level of a source.

    Raises:
        InvalidRequest: The source cannot be read.
    """

    def wanted(path: str) -> bool:
        name = path.rpartition("/")[2]
        numbered = bool(prefix) and name.startswith(prefix) and name.endswith(".json")
        return name in names or numbered

    if source.is_dir():
        found = sorted(file for file in source.iterdir() if wanted(file.name))
        return [Member(file.name, partial(_opened, file)) for file in found]
    try:
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as packed:
                inside = [entry for entry in packed.infolist() if wanted(entry.filename)]
            for entry in inside:
                if unpacks_to_more(entry.file_size, entry.compress_size):
                    raise ValueError(f"{entry.filename} unpacks to far more than text does")
            paths = sorted(entry.filename for entry in inside)
            return [Member(path, partial(_unpacked, source, path)) for path in paths]
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise unreadable(source, error) from error
    return [Member(source.name, partial(_opened, source))]


def _opened(file: Path) -> IO[bytes]:
    return file.open("rb")


def _unpacked(source: Path, name: str) -> IO[bytes]:
    return zipfile.ZipFile(source).open(name)


def listed(member: Member, prefix: str) -> Iterator[tuple[str, Mapping[str, Any] | Unreadable]]:
    """Yield (where, object) of each element; `prefix` is as for ijson, such as `item`.

    One that is too large is named, and so is one that is no object.  What follows damage cannot be
    read and is named once.
    """
    number = 0
    try:
        with member.open() as file:
            for found in _elements(ijson.parse(_Guarded(file), use_float=True), prefix):
                number += 1
                where = f"{member.name}:{number}"
                problem = found if isinstance(found, str) else "it is no JSON object"
                yield where, found if isinstance(found, dict) else Unreadable(where, problem)
    except _DAMAGE as error:
        where = f"{member.name}:{number + 1}"
        said = str(error).strip().splitlines()
        reason = f"the file is damaged from here on: {said[0] if said else type(error).__name__}"
        yield where, Damaged(where, reason)


def _elements(
    events: Iterator[tuple[str, str, Any]], prefix: str
) -> Iterator[dict[str, Any] | str | None]:
    """Yield each element at a prefix: an object, None for what is none, or why it is too large."""
    for path, event, _ in events:
        if path != prefix or event.startswith("end_"):
            continue
        if event not in ("start_map", "start_array"):
            yield None
            continue
        builder, left, end = ijson.ObjectBuilder(), LARGEST_RECORD, event.replace("start", "end")
        builder.event(event, None)
        for inner, then, value in events:
            left -= _EVENT + (len(value) if isinstance(value, str) else 0)
            if left >= 0:
                builder.event(then, value)
            if (inner, then) == (prefix, end):
                break
        made = builder.value if left >= 0 else None
        yield _TOO_LARGE if left < 0 else made if isinstance(made, dict) else None


class _Guarded:
    """A file that ends in a ValueError where a text in it is too long: the parser holds texts."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._run = 0

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        mark = piece.rfind(b'"')
        while mark > 0 and piece[mark - 1] == ord("\\"):
            mark = piece.rfind(b'"', 0, mark)
        self._run = len(piece) - mark if mark >= 0 else self._run + len(piece)
        if self._run > LONGEST_LINE:
            raise ValueError(f"a text has more than {LONGEST_LINE:,} bytes")
        return piece
