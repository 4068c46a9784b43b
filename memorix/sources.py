"""Files that hosts keep for themselves, such as CLAUDE.md, read beside the notes and never written.

A person names them (`memorix source add`).  The register is one small file in the state folder,
since their paths mean nothing on another machine; a folder in it is looked through anew each time.
Each file has a path among the notes below a hidden folder of its scope, where no note can lie.
"""

import json
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from memorix.errors import InvalidRequest
from memorix.files import walk, write_atomic
from memorix.layout import HOST_FILES, folder_of, is_host_file

NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md")
PLACES = (".claude/rules", ".cursor/rules", ".github/instructions", ".windsurf/rules")
SINGLE = (".cursorrules", ".windsurfrules", ".github/copilot-instructions.md")
# Where the programs look for them in a project.

MEMORY = "MEMORY.md"
# The list of contents of a folder in which Claude Code or Codex keeps what it learns.

SUFFIXES = (".md", ".mdc")

OUTSIDE = "~root"
# The folder for files that lie outside the user's home.

_log = logging.getLogger(__name__)


def instructions(root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the instructions of a project with their paths in it."""
    places = [root / name for name in (*NAMES, *SINGLE) if (root / name).is_file()]
    for place in PLACES:
        if (root / place).is_dir():
            places += walk(root / place, SUFFIXES)
    for file in places:
        yield file, file.relative_to(root).as_posix()


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder that a person named, and the scope in which its text is found."""

    place: Path
    scope: str

    def files(self) -> Iterator[Path]:
        """Yield its files that are there now."""
        if self.place.is_dir():
            yield from _of_folder(self.place)
        elif self.place.is_file():
            yield self.place

    def path_of(self, file: Path) -> str:
        """Return the path among the notes that one of its files has: that from the user's home.

        No two files have one path: `~/srv/rules.md` is another than `/srv/rules.md`.
        """
        place = file.as_posix().replace(file.drive, file.drive.rstrip(":"), 1).lstrip("/")
        shown = f"{OUTSIDE}/{place}"
        if file.is_relative_to(Path.home()):
            below = file.relative_to(Path.home()).as_posix()
            shown = shown if below.startswith(f"{OUTSIDE}/") else below
        return f"{folder_of(self.scope)}/{HOST_FILES}/{shown}"


class Sources:
    """The sources of a vault as the register says at this moment: other processes change it."""

    def __init__(self, register: Path | None = None) -> None:
        self._register = register
        self._seen: tuple[int, int] | None = None
        self._known: tuple[Source, ...] = ()
        self._listed: tuple[tuple[Source, ...], Mapping[str, Path]] = ((), {})

    def all(self) -> tuple[Source, ...]:
        """Return what is registered, in the order in which it was added."""
        if self._register is None:
            return ()
        try:
            stat = self._register.stat()
        except OSError:
            return ()
        seen = (stat.st_mtime_ns, stat.st_ino)
        if seen != self._seen:
            self._known, self._seen = _read(self._register), seen
        return self._known

    def files(self) -> Mapping[str, Path]:
        """Return the files of all sources that are there now, by their paths among the notes."""
        sources = self.all()
        found = {source.path_of(file): file for source in sources for file in source.files()}
        self._listed = sources, found
        return found

    def file_of(self, path: str) -> Path | None:
        """Return the file that has a path; None where it is that of no source.

        Folders are looked through only for a path that was not there the last time.
        """
        if not is_host_file(path):
            return None
        sources, listed = self._listed
        if path in listed and sources == self.all():
            return listed[path]
        return self.files().get(path)

    def add(self, place: Path, scope: str) -> Source:
        """Register a file or a folder, or give it another scope.

        Raises:
            InvalidRequest: There is nothing there that could be read.
        """
        source = Source(Path(os.path.abspath(place.expanduser())), scope)  # noqa: PTH100 - no links followed
        if not source.place.exists():
            raise InvalidRequest(f"{source.place} is not there. Name a file or a folder.")
        if not any(source.files()):
            names = ", ".join((*NAMES[:3:2], MEMORY))
            raise InvalidRequest(
                f"{source.place} holds no instructions of a host, such as {names} or rules. Name "
                "the file itself."
            )
        self._write((*(s for s in self.all() if s.place != source.place), source))
        return source

    def trouble(self) -> str:
        """Say what is wrong with the register; empty where it can be read whole."""
        if self._register is None or not self._register.exists() or _is_whole(self._register):
            return ""
        return f"{self._register} is no list of sources, or not all of it"

    def remove(self, place: Path) -> Source:
        """Take a file or folder out of the register; it stays as it is.

        Raises:
            InvalidRequest: It is not in it.
        """
        wanted = Path(os.path.abspath(place.expanduser()))  # noqa: PTH100 - no links followed
        found = next((source for source in self.all() if source.place == wanted), None)
        if found is None:
            raise InvalidRequest(f"{wanted} is no source. `memorix source list` shows them.")
        self._write(tuple(source for source in self.all() if source != found))
        return found

    def _write(self, sources: tuple[Source, ...]) -> None:
        if self._register is None:
            raise InvalidRequest("This memory keeps no sources.")
        data = [{"place": str(source.place), "scope": source.scope} for source in sources]
        self._register.parent.mkdir(parents=True, exist_ok=True)
        if trouble := self.trouble():
            kept = _free(self._register)
            self._register.rename(kept)
            _log.warning("%s; it is kept as %s. Add from it what is missing.", trouble, kept)
        text = json.dumps(data, ensure_ascii=False, indent=1)
        write_atomic(self._register, text.encode(), private=True)


def _of_folder(folder: Path) -> Iterator[Path]:
    if (folder / MEMORY).is_file():
        yield from walk(folder)
        return
    there = [file for file, _ in instructions(folder)]
    yield from there or walk(folder, SUFFIXES)


def _read(register: Path) -> tuple[Source, ...]:
    """Return what a register says; one that is broken says nothing, and is not touched."""
    return tuple(
        Source(Path(str(entry["place"])), str(entry["scope"]))
        for entry in _entries(register) or ()
        if _is_source(entry)
    )


def _is_whole(register: Path) -> bool:
    entries = _entries(register)
    return entries is not None and all(map(_is_source, entries))


def _entries(register: Path) -> list[Any] | None:
    """Return what a register lists; None where it is none."""
    try:
        data: Any = json.loads(register.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, list) else None


def _is_source(entry: Any) -> bool:
    return isinstance(entry, dict) and bool(entry.get("place") and entry.get("scope"))


def _free(register: Path) -> Path:
    """Return a name beside a register under which nothing is kept yet."""
    names = (f"{register.name}.broken{'-' * bool(n)}{n or ''}" for n in count())
    return next(file for name in names if not (file := register.with_name(name)).exists())
