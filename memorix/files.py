"""Write a file whole or not at all, and keep paths below their root."""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EXDEV
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote

from memorix.errors import UnsafePath

TEMPORARY_PREFIX = ".memorix-"
# Starts with a dot, so that neither our scan nor Obsidian ever takes one for a note.

_TEMPORARY = re.compile(re.escape(TEMPORARY_PREFIX) + "[0-9a-f]{16}")

_FORBIDDEN = frozenset('\\:*?"<>|\0')
# What Windows does not allow in a name; a vault may be synced there.


_PLAUSIBLE, _UNPACKED = 200, 64 * 1024 * 1024
# How many times its size text comes to unpacked at most, logs of one line too; what is smaller
# than the second, in bytes, does no harm.


def unpacks_to_more(unpacked_bytes: int, packed_bytes: int) -> bool:
    """Say whether something unpacks to more than text does, as what is made to fill a disk."""
    return unpacked_bytes > max(_UNPACKED, _PLAUSIBLE * packed_bytes)


def write_atomic(
    path: Path,
    content: bytes,
    last_look: Callable[[], object] = lambda: None,
    *,
    private: bool = False,
) -> os.stat_result:
    """Replace `path` with `content`, durably: after a crash it is the old file or the new one.

    Returns what a stat told of the new file before it was renamed into place.  The folder must
    exist.  The file keeps its permissions; a `private` one is its owner's alone, at
    every moment.  `last_look` is called right before the rename, after the disk has taken its time;
    it may raise.  On any error the file is untouched and no temporary is left.
    """
    with replacing(path, last_look, private=private) as file:
        file.write(content)
        file.flush()
        return os.fstat(file.fileno())


@contextmanager
def replacing(
    path: Path, last_look: Callable[[], object] = lambda: None, *, private: bool = False
) -> Iterator[BinaryIO]:
    """Give a file to write piece by piece, which replaces `path` at the end as `write_atomic` does.

    It can be read and sought in.  On any error `path` is untouched and no temporary is left.
    """
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}")
    try:
        with open(temporary, "x+b", opener=_private if private else None) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            if not private:
                shutil.copymode(path, temporary)
        last_look()
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def move_file(path: Path, destination: Path) -> None:
    """Move a file, durably; across disks it is copied first, and is never at neither place."""
    try:
        path.rename(destination)
    except OSError as error:
        if error.errno != EXDEV:
            raise
        write_atomic(destination, path.read_bytes())
        shutil.copymode(path, destination)
        path.unlink()
    for folder in dict.fromkeys((destination.parent, path.parent)):
        sync_folder(folder)


def is_temporary(name: str) -> bool:
    """Say whether a file is one that `write_atomic` has made and not renamed yet."""
    return _TEMPORARY.fullmatch(name) is not None


def sync_folder(folder: Path) -> None:
    """Make a rename or a removal in `folder` durable, where the system has a way to."""
    if os.name == "nt":  # a folder cannot be opened there, and NTFS journals the rename
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def safe_relative(path: str) -> PurePosixPath:
    """Return `path` as a plain relative path with forward slashes.

    Raises:
        UnsafePath: It is absolute, has `..`, `~`, an empty or hidden part, a character that
            some system forbids, or any of these once percent-encoding is undone.
    """
    decoded = unquote(path)
    parts = [*path.split("/"), *decoded.split("/")]
    if decoded.count("/") != path.count("/") or not all(map(_is_plain, parts)):
        raise UnsafePath(path)
    return PurePosixPath(path)


def _is_plain(part: str) -> bool:
    return bool(part) and part[0] not in ".~" and not (_FORBIDDEN & set(part))


def below(root: Path, relative: str) -> Path:
    """Return the file `relative` names below `root`, which need not exist yet.

    `root` is a real path, without symbolic links in it.  A name may hold what another system
    forbids, as people's files do; `safe_relative` judges the names that we give.

    Raises:
        UnsafePath: The path has an empty part or `..`, or a symbolic link on the way leads out of
            `root`.
    """
    parts = relative.split("/")
    if not all(parts) or {".", ".."} & set(parts) or "\0" in relative or _is_drive(parts[0]):
        raise UnsafePath(relative)
    base, target = os.fspath(root), os.path.join(root, *relative.split("/"))  # noqa: PTH118 - hot
    real = os.path.realpath(target)
    if real != target and not real.startswith(base + os.sep):
        raise UnsafePath(relative)
    return Path(target)


def _is_drive(part: str) -> bool:
    return os.name == "nt" and (":" in part or "\\" in part)


def walk(root: Path, suffixes: tuple[str, ...] = (".md",)) -> Iterator[Path]:
    """Yield the files below a folder by path, without hidden ones and links that lead out of it."""
    real = os.path.realpath(root) + os.sep
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(files):
            file = Path(folder) / name
            inside = os.path.realpath(file).startswith(real)
            if name.endswith(suffixes) and not name.startswith(".") and inside and file.is_file():
                yield file
