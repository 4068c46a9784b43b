"""Write an export to its target: a folder, the same packed, one file, or a block within a file.

It is made beside the target and renamed into place, so that it is there as a whole or not at all.
Archives have no clock, so that the same files give the same bytes.  No more than a file is held in
memory, and where it comes in pieces, no more than a piece.
"""

import gzip
import io
import secrets
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Literal

from memorix import blocks
from memorix.errors import InvalidRequest
from memorix.files import TEMPORARY_PREFIX, below, replacing, sync_folder, write_atomic

Files = Iterable[tuple[str, bytes]]
# (path below the target, the next bytes of that file); the pieces of a file follow one another.

_EPOCH = (1980, 1, 1, 0, 0, 0)
# The earliest date a zip file can hold.


def write(
    files: Files,
    target: Path,
    form: Literal["folder", "file", "block"] = "folder",
    *,
    overwrite: bool = False,
) -> int:
    """Write files to a target, and return how many; its name says whether a folder is packed.

    To `overwrite` a folder replaces the files of the same names; others that lie there stay.

    Raises:
        InvalidRequest: The target exists already or cannot be written.
    """
    if not overwrite and form != "block":
        _refuse_existing(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return _writer(target, form)(files, target)
    except OSError as error:
        raise InvalidRequest(f"{target} cannot be written: {error}.") from error


def _refuse_existing(target: Path) -> None:
    if target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise InvalidRequest(
            f"{target} exists already. Name a new file or an empty folder, or add --overwrite."
        )


def _writer(target: Path, form: str) -> Callable[[Files, Path], int]:
    if form == "folder":
        found = (pack for suffix, pack in _PACKED.items() if target.name.endswith(suffix))
        return next(found, write_folder)
    return _write_block if form == "block" else _write_file


def _write_file(files: Files, target: Path) -> int:
    with replacing(target) as file:
        for _, piece in files:
            file.write(piece)
    return 1


def _write_block(files: Files, target: Path) -> int:
    """Put the block where the last one is; every other byte of the file stays."""
    content = b"".join(piece for _, piece in files)
    there = target.read_bytes() if target.exists() else b""
    text = blocks.put(there.decode("utf-8", "surrogateescape"), content.decode())
    new = text.encode("utf-8", "surrogateescape")
    write_atomic(target.resolve(), new)  # a link to the file stays a link
    return 1


def write_folder(files: Files, target: Path) -> int:
    """Write a folder; all files are made before the first of them is where it belongs."""
    made = target.with_name(f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}")
    made.mkdir()
    try:
        count = _fill(files, made.resolve())
        if target.exists() and any(target.iterdir()):
            _merge(made, target.resolve())
        else:
            if target.exists():
                target.rmdir()
            made.rename(target)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    sync_folder(target.parent)
    return count


def _parted(files: Files) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each path with the pieces of its file, to be taken before the next."""
    for path, pieces in groupby(files, key=itemgetter(0)):
        yield path, (piece for _, piece in pieces)


def _fill(files: Files, root: Path) -> int:
    count = 0
    for path, pieces in _parted(files):
        place = below(root, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        with replacing(place) as file:
            file.writelines(pieces)
        count += 1
    return count


def _merge(made: Path, target: Path) -> None:
    for file in sorted(path for path in made.rglob("*") if path.is_file()):
        place = below(target, file.relative_to(made).as_posix())
        place.parent.mkdir(parents=True, exist_ok=True)
        file.replace(place)


def _write_zip(files: Files, target: Path) -> int:
    count = 0
    with replacing(target) as packed, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, pieces in _parted(files):
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # whatever system writes it
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w") as file:
                file.writelines(pieces)
            count += 1
    return count


def _write_tar(files: Files, target: Path) -> int:
    count = 0
    with (
        replacing(target) as packed,
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, pieces in _parted(files):
            content = b"".join(pieces)  # an entry begins with its size
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
            count += 1
    return count


_PACKED = {".zip": _write_zip, ".tar.gz": _write_tar, ".tgz": _write_tar}
