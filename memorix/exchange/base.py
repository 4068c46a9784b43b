"""What every format of an export offers."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from memorix.errors import InvalidRequest

Files: TypeAlias = Iterable[tuple[str, bytes]]
# (path in the vault, bytes of the file), sorted by path.

Writer: TypeAlias = Callable[[Files, Path], int]
# Writes all files to a target and returns how many there were; never overwrites.


def refuse_existing(target: Path) -> None:
    """Refuse a target that is there already.

    Raises:
        InvalidRequest: There is such a file, or a folder that is not empty.
    """
    if target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise InvalidRequest(f"{target} exists already. Name a new file or an empty folder.")
