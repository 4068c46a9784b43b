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

from memorix.imported import Unreadable
from memorix.importers.base import HEAD_BYTES, head, unreadable

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
    with suppress(OSError, zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError):
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
                inside = sorted(name for name in packed.namelist() if wanted(name))
            return [Member(name, partial(_unpacked, source, name)) for name in inside]
    except (OSError, zipfile.BadZipFile) as error:
        raise unreadable(source, error) from error
    return [Member(source.name, partial(_opened, source))]


def _opened(file: Path) -> IO[bytes]:
    return file.open("rb")


def _unpacked(source: Path, name: str) -> IO[bytes]:
    return zipfile.ZipFile(source).open(name)


def listed(member: Member, prefix: str) -> Iterator[tuple[str, Mapping[str, Any] | Unreadable]]:
    """Yield (where, object) of each element; `prefix` is as for ijson, such as `item`.

    What follows damage cannot be read and is named once.
    """
    number = 0
    try:
        with member.open() as file:
            for found in ijson.items(file, prefix, use_float=True):
                number += 1
                where = f"{member.name}:{number}"
                problem = Unreadable(where, "it is no JSON object")
                yield where, found if isinstance(found, dict) else problem
    except _DAMAGE as error:
        where = f"{member.name}:{number + 1}"
        said = str(error).strip().splitlines()
        reason = f"the file is damaged from here on: {said[0] if said else type(error).__name__}"
        yield where, Damaged(where, reason)
