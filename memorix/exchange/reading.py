"""Read a bundle of Markdown from wherever it lies: a folder, a .zip, a .tar.gz, JSON Lines.

What a bundle holds is listed first, and each file is read when it is asked for: a bundle may have
more text than fits into memory.
"""

import json
import os
import tarfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from memorix.errors import InvalidRequest, UnsafePath
from memorix.files import safe_relative, unpacks_to_more
from memorix.intake import from_line

LARGEST = 16 * 1024 * 1024
# Bytes; a larger Markdown file is a data set, and is named instead of read.

LONGEST_LINE = 6 * LARGEST
# Bytes of JSON; each character of a note takes at most six.

LARGEST_ARCHIVE = 2 * 1024 * 1024 * 1024
# Bytes unpacked; beyond it an archive is a mistake or an attack.

_DAMAGE = (OSError, EOFError, ValueError, zipfile.BadZipFile, tarfile.TarError, zlib.error)
# What damaged archives and disks raise; also how zipfile says that an entry is encrypted.


class Files(Mapping[str, bytes]):
    """The Markdown of a bundle by path; each file is read when it is asked for.

    Raises InvalidRequest where one cannot be read any more.
    """

    def __init__(self) -> None:
        self._reads: dict[str, Callable[[], bytes]] = {}

    def add(self, path: str, read: Callable[[], bytes]) -> None:
        self._reads[path] = read

    def __getitem__(self, path: str) -> bytes:
        try:
            return self._reads[path]()
        except (*_DAMAGE, RuntimeError) as error:
            raise InvalidRequest(f"{path} cannot be read: {error}.") from error

    def __contains__(self, path: object) -> bool:
        return path in self._reads

    def __iter__(self) -> Iterator[str]:
        return iter(self._reads)

    def __len__(self) -> int:
        return len(self._reads)


@dataclass
class Source:
    """What a bundle holds: its Markdown by path, the paths of all else, and what was left out."""

    name: str
    files: Files = field(default_factory=Files)
    others: set[str] = field(default_factory=set)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str, size_bytes: int, read: Callable[[], bytes]) -> None:
        if not path.endswith(".md"):
            self.others.add(path)
        elif size_bytes > LARGEST:
            self.skipped.append((path, f"it has {size_bytes:,} bytes, more than {LARGEST:,}"))
        else:
            self.files.add(path, read)

    def each(self) -> Iterator[tuple[str, bytes]]:
        """Yield the Markdown sorted by path; what cannot be read is named and passed over."""
        for path in sorted(self.files):
            try:
                content = self.files[path]
            except InvalidRequest as error:
                self.skipped.append((path, str(error)))
                continue
            yield path, content


def read(source: Path) -> Source:
    """List every Markdown file below a folder or in an archive.

    Hidden files and folders below the root are left out, and so are links that lead out of it.

    Raises:
        InvalidRequest: There is no such folder or archive, or it cannot be read.
    """
    try:
        if source.is_dir():
            return _from_folder(source)
        if source.is_file() and source.suffix == ".md":
            found = Source(source.stem)
            found.add(source.name, source.stat().st_size, source.read_bytes)
            return found
        if source.is_file() and source.suffix in (".jsonl", ".ndjson"):
            return _from_lines(source)
        if source.is_file() and zipfile.is_zipfile(source):
            return _from_zip(source)
        if source.is_file() and tarfile.is_tarfile(source):
            return _from_tar(source)
    except _DAMAGE as error:
        raise InvalidRequest(f"{source} cannot be read: {error}.") from error
    raise InvalidRequest(f"{source} is no folder of Markdown, .zip or .tar.gz. Name one of these.")


def _from_lines(file: Path) -> Source:
    """Read an export of our own; a line that holds no note, or is too long for one, is named."""
    found = Source(file.stem)
    number, start = 0, 0
    with file.open("rb") as stream:
        while line := stream.readline(LONGEST_LINE + 1):
            number, name = number + 1, f"{file.name}:{number + 1}"
            if len(line) > LONGEST_LINE:
                while not line.endswith(b"\n") and (line := stream.readline(LONGEST_LINE)):
                    pass
                found.skipped.append((name, "the line is too long for a note"))
            elif line.strip():
                _add_line(found, name, line, partial(_line_at, file, start))
            start = stream.tell()
    return found


def _add_line(found: Source, name: str, line: bytes, again: Callable[[], bytes]) -> None:
    note = _note_of(line)
    if note is None:
        found.skipped.append((name, "it holds no note"))
        return
    path, content = note
    found.add(path, len(content), lambda: _same(path, again()))


def _line_at(file: Path, start: int) -> bytes:
    with file.open("rb") as stream:
        stream.seek(start)
        return stream.readline(LONGEST_LINE)


def _same(path: str, line: bytes) -> bytes:
    note = _note_of(line)
    if note is None or note[0] != path:
        raise ValueError("the file was changed meanwhile")
    return note[1]


def _note_of(line: bytes) -> tuple[str, bytes] | None:
    entry = _object(line)
    return from_line(entry) if entry else None


def _object(line: bytes) -> dict[str, object] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _from_folder(root: Path) -> Source:
    found = Source(root.resolve().name)
    real = os.path.realpath(root)
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        relative = Path(folder).relative_to(root).as_posix()
        prefix = "" if relative == "." else f"{relative}/"
        found.others.update(f"{prefix}{name}" for name in names)
        for name in sorted(files):
            file = Path(folder) / name
            inside = os.path.realpath(file).startswith(real + os.sep)
            if not name.startswith(".") and inside and file.is_file():
                size = file.stat().st_size
                found.add(f"{prefix}{name}", size, file.read_bytes)
    return found


def _from_zip(archive: Path) -> Source:
    found = Source(archive.name.removesuffix(".zip"))
    packed = zipfile.ZipFile(archive)  # it closes its file when nobody reads from it any more
    entries = [entry for entry in packed.infolist() if not entry.is_dir()]
    _refuse_bomb(archive, sum(entry.file_size for entry in entries))
    for entry in entries:
        if _is_plain(entry.filename, found):
            found.add(entry.filename, entry.file_size, partial(packed.read, entry))
    return _with_folders(found)


def _from_tar(archive: Path) -> Source:
    """Unpack an archive to a file that is gone with what is read from it: going back in an archive
    takes as long as beginning anew."""
    found = Source(archive.name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar"))
    unpacked, total = TemporaryFile(), 0  # noqa: SIM115 - closed with what is found
    weakref.finalize(found.files, unpacked.close)

    def read(start: int, size_bytes: int) -> bytes:
        unpacked.seek(start)
        return unpacked.read(size_bytes)

    with tarfile.open(archive) as packed:
        for entry in packed:
            total += entry.size
            _refuse_bomb(archive, total)
            if entry.isfile() and _is_plain(entry.name, found):
                start = unpacked.tell()
                unpacked.write(_content(packed, entry))
                found.add(entry.name, entry.size, partial(read, start, entry.size))
    return _with_folders(found)


def _content(packed: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    wanted = entry.name.endswith(".md") and entry.size <= LARGEST
    file = packed.extractfile(entry) if wanted else None
    return file.read() if file else b""


def _refuse_bomb(archive: Path, size_bytes: int) -> None:
    if size_bytes > LARGEST_ARCHIVE:
        raise InvalidRequest(f"{archive} unpacks to more than {LARGEST_ARCHIVE:,} bytes.")
    if unpacks_to_more(size_bytes, archive.stat().st_size):
        raise InvalidRequest(
            f"{archive} unpacks to {size_bytes:,} bytes, far more than notes do. Unpack it "
            "yourself and name the folder."
        )


def _is_plain(name: str, found: Source) -> bool:
    """Say whether an entry lies in the bundle; one that would leave it is named."""
    if any(part.startswith(".") and part != ".." for part in name.split("/")):
        return False
    try:
        safe_relative(name)
    except UnsafePath:
        found.skipped.append((name, "its path would leave the bundle"))
        return False
    return True


def _with_folders(found: Source) -> Source:
    """Add the folders that an archive implies, so that links to them are whole."""
    for path in (*found.files, *found.others):
        found.others.update(_parents(path))
    return found


def _parents(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))
