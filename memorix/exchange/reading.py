"""Read a bundle of Markdown from wherever it lies: a folder, a .zip, a .tar.gz, JSON Lines."""

import json
import os
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memorix.errors import InvalidRequest, UnsafePath
from memorix.files import safe_relative
from memorix.intake import from_line

LARGEST = 16 * 1024 * 1024
# Bytes; a larger Markdown file is a data set, and is named instead of read.

LONGEST_LINE = 6 * LARGEST
# Bytes of JSON; each character of a note takes at most six.

LARGEST_ARCHIVE = 2 * 1024 * 1024 * 1024
# Bytes unpacked; beyond it an archive is a mistake or an attack.


@dataclass
class Source:
    """What a bundle holds: its Markdown by path, the paths of all else, and what was left out."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    skipped: list[tuple[str, str]] = field(default_factory=list)

    def add(self, path: str, size: int, read: "bytes | None") -> None:
        if not path.endswith(".md"):
            self.others.add(path)
        elif read is None:
            self.skipped.append((path, f"it has {size:,} bytes, more than {LARGEST:,}"))
        else:
            self.files[path] = read


def read(source: Path) -> Source:
    """Read every Markdown file below a folder or in an archive.

    Hidden files and folders below the root are left out, and so are links that lead out of it.

    Raises:
        InvalidRequest: There is no such folder or archive, or it cannot be read.
    """
    try:
        if source.is_dir():
            return _from_folder(source)
        if source.is_file() and source.suffix == ".md":
            found = Source(source.stem)
            found.add(source.name, source.stat().st_size, source.read_bytes())
            return found
        if source.is_file() and source.suffix in (".jsonl", ".ndjson"):
            return _from_lines(source)
        if source.is_file() and zipfile.is_zipfile(source):
            return _from_zip(source)
        if source.is_file() and tarfile.is_tarfile(source):
            return _from_tar(source)
    except (OSError, zipfile.BadZipFile, tarfile.TarError) as error:
        raise InvalidRequest(f"{source} cannot be read: {error}.") from error
    raise InvalidRequest(f"{source} is no folder of Markdown, .zip or .tar.gz. Name one of these.")


def _from_lines(file: Path) -> Source:
    """Read an export of our own; a line that holds no note, or is too long for one, is named."""
    found = Source(file.stem)
    with file.open("rb") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                while not line.endswith(b"\n") and (line := stream.readline(LONGEST_LINE)):
                    pass
                found.skipped.append((f"{file.name}:{number}", "the line is too long for a note"))
            elif line.strip():
                _add_line(found, f"{file.name}:{number}", line)
    return found


def _add_line(found: Source, name: str, line: bytes) -> None:
    entry = _object(line)
    note = from_line(entry) if entry else None
    if note is None:
        found.skipped.append((name, "it holds no note"))
        return
    path, content = note
    found.add(path, len(content), content if len(content) <= LARGEST else None)


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
                wanted = name.endswith(".md") and size <= LARGEST
                found.add(f"{prefix}{name}", size, file.read_bytes() if wanted else None)
    return found


def _from_zip(archive: Path) -> Source:
    found = Source(archive.name.removesuffix(".zip"))
    with zipfile.ZipFile(archive) as packed:
        entries = [entry for entry in packed.infolist() if not entry.is_dir()]
        _refuse_bomb(archive, sum(entry.file_size for entry in entries))
        for entry in entries:
            if _is_plain(entry.filename, found):
                wanted = entry.filename.endswith(".md") and entry.file_size <= LARGEST
                content = packed.read(entry) if wanted else None
                found.add(entry.filename, entry.file_size, content)
    return _with_folders(found)


def _from_tar(archive: Path) -> Source:
    found = Source(archive.name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar"))
    total = 0
    with tarfile.open(archive) as packed:
        for entry in packed:
            total += entry.size
            _refuse_bomb(archive, total)
            if entry.isfile() and _is_plain(entry.name, found):
                found.add(entry.name, entry.size, _content(packed, entry))
    return _with_folders(found)


def _content(packed: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes | None:
    file = packed.extractfile(entry) if entry.name.endswith(".md") else None
    return file.read() if file and entry.size <= LARGEST else None


def _refuse_bomb(archive: Path, size: int) -> None:
    if size > LARGEST_ARCHIVE:
        raise InvalidRequest(f"{archive} unpacks to more than {LARGEST_ARCHIVE:,} bytes.")


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
