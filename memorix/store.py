"""The folder of notes: list it, read it, change it under the condition that it is as expected."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from errno import ENXIO
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

from filelock import FileLock

from memorix.errors import NoteChanged, OnlyRead, VaultUnavailable
from memorix.files import (
    TEMPORARY_PREFIX,
    below,
    move_file,
    sync_folder,
    write_atomic,
)
from memorix.ignoring import leaves_out, rules_above
from memorix.layout import ARCHIVE, is_host_file
from memorix.listing import SKIPPED, Look, signature_of
from memorix.note import RESERVED, etag_of
from memorix.reconcile import Seen
from memorix.sources import Sources
from memorix.versions import Effect

LOCK_TIMEOUT_S = 30
# Far longer than any write; who waits so long waits for a process that hangs.

LONGEST_WRITE_S = 600
# A temporary file that is older belongs to nobody who still writes, on this machine or another.

LOCK_POLL_S = 0.01
# A write takes a few milliseconds; whoever waits for one should not wait for ten.

_COPIES = 10_000
# How many numbered names are tried for a title that many notes share before we give up.


def unrecorded(effects: Sequence[Effect]) -> None:
    """Keep nothing of what happens to files."""


@dataclass(frozen=True, slots=True)
class Store:
    """The notes of one vault.

    `mounts` maps a folder of the vault (`projects/app`) to the place where it really lies, for
    projects that keep their bundle in the repository.  `lock_path` lies outside the vault.
    `record` is told what is about to happen to files.  `sources` are files of hosts, which are
    read like notes.
    """

    vault: Path
    lock_path: Path
    mounts: Mapping[str, Path] = field(default_factory=dict)
    record: Callable[[Sequence[Effect]], None] = unrecorded
    sources: Sources = field(default_factory=Sources)

    @contextmanager
    def locked(self, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
        """Hold the vault's write lock; the system frees it when its holder dies.

        It makes our processes take turns.  Editors know nothing of it: what they change is seen
        by the etag, compared right before each rename.
        """
        lock = _lock(self.lock_path)
        try:
            lock.acquire(timeout_s)
        except OSError as error:
            raise VaultUnavailable(
                f"The write lock {self.lock_path} cannot be taken: {error}. Nothing was written. "
                "Check that folder, and whether another Memorix hangs."
            ) from error
        try:
            yield
        finally:
            lock.release()

    def exists(self) -> bool:
        return self.vault.is_dir()

    def scan(
        self, *, reserved: bool = False, leftovers: list[Path] | None = None
    ) -> dict[str, str]:
        """List the notes, or the reserved files: path to signature.  Reads no file.

        What writers that were killed left half done on the way is added to `leftovers`.

        Raises:
            VaultUnavailable: The vault or a part of it cannot be listed.
        """
        found: dict[str, str] = {}
        left: list[Path] = [] if leftovers is None else leftovers
        wanted = RESERVED.__contains__ if reserved else is_note
        try:
            Look(found, left, frozenset({ARCHIVE, *self.mounts}), wanted).through(self.vault, "")
            for prefix, root in self.mounts.items():
                if root.is_dir():
                    Look(found, left, frozenset(), wanted).through(root, f"{prefix}/")
        except OSError as error:
            raise VaultUnavailable(
                f"The notes folder cannot be listed: {error}. "
                "The index is kept; check the folder or set MEMORIX_VAULT."
            ) from error
        return found

    def host_files(self) -> dict[str, str]:
        """List the files of hosts that are read beside the notes: path to signature."""
        listed = ((path, _signature_at(file)) for path, file in self.sources.files().items())
        return {path: signature for path, signature in listed if signature}

    def walk(self) -> Iterator[tuple[str, Path]]:
        """Yield every file with its path in the vault, also archived, ignored and hidden ones.

        Git's own files are left out, and links.
        """
        mounted = {self.vault / prefix for prefix in self.mounts}
        for prefix, root in (("", self.vault), *self.mounts.items()):
            for folder, folders, names in os.walk(root):
                here = Path(folder)
                folders[:] = [f for f in folders if f != ".git" and here / f not in mounted]
                for file in (here / name for name in names):
                    relative = file.relative_to(root).as_posix()
                    if not file.is_symlink():
                        yield f"{prefix}/{relative}" if prefix else relative, file

    def clear_away(self, leftovers: Iterable[Path], now: float) -> None:
        """Delete the temporary files of writers that were killed; `now` in seconds since 1970."""
        for file in leftovers:
            with suppress(OSError):  # another process was first, or the folder cannot be written
                if now - file.stat().st_mtime > LONGEST_WRITE_S:
                    file.unlink()

    def absent(self) -> tuple[str, ...]:
        """Return the mounted folders that are not there now; what they held is not gone."""
        return tuple(f"{prefix}/" for prefix, root in self.mounts.items() if not root.is_dir())

    def locate(self, path: str) -> Path:
        """Return the file of a note's path.

        Raises:
            UnsafePath: The path is not plain or leads out of the vault.
        """
        if source := self.sources.file_of(path):
            return source
        for prefix, root in self.mounts.items():
            if path.startswith(f"{prefix}/"):
                return below(root, path.removeprefix(f"{prefix}/"))
        return below(self.vault, path)

    def place_of(self, path: str) -> str:
        """Return the repository folder that a path is mounted from; empty in the vault itself."""
        mounted = (root for prefix, root in self.mounts.items() if path.startswith(f"{prefix}/"))
        return str(next(mounted, ""))

    def _scanned(self, path: str) -> Path:
        if source := self.sources.file_of(path):
            return source
        for prefix, root in self.mounts.items():
            if path.startswith(f"{prefix}/"):
                return root / path.removeprefix(f"{prefix}/")
        return self.vault / path

    def folder(self, path: str) -> Path:
        """Return where a folder of the vault really lies, such as a scope's."""
        return self.mounts.get(path, self.vault / path)

    def path_of(self, file: Path) -> str | None:
        """Return the note's path of a file, or None where it is no note of this vault."""
        for prefix, root in self.mounts.items():
            if file.is_relative_to(root):
                return _note_path(root, file, f"{prefix}/")
        if not file.is_relative_to(self.vault):
            return None
        path = _note_path(self.vault, file, "")
        return None if path and path.startswith(f"{ARCHIVE}/") else path

    def is_note(self, path: str) -> bool:
        """Say whether a path is that of a note, there or not: none that is reserved, archived or
        left out.

        Raises:
            UnsafePath: It leads out of the vault.
        """
        return self.path_of(self.locate(path)) == path

    def may_hold_notes(self, folder: Path) -> bool:
        """Say whether notes may lie in a folder: not in hidden ones, such as git's."""
        for root in (*self.mounts.values(), self.vault):
            if folder.is_relative_to(root):
                parts = folder.relative_to(root).parts
                kept = not any(part.startswith(".") or part in SKIPPED for part in parts)
                return kept and (root != self.vault or parts[:1] != (ARCHIVE,))
        return False

    def roots(self) -> list[Path]:
        return [root for root in (self.vault, *self.mounts.values()) if root.is_dir()]

    def read(self, path: str, *, scanned: bool = False) -> tuple[bytes, Seen] | None:
        """Return a note's bytes and what identifies them; None where the file is gone.

        `scanned` says that the path comes from a scan just now, which follows no links.
        """
        return _read(self._scanned(path) if scanned else self.locate(path), path)

    def signature(self, path: str) -> str:
        """Return what a stat tells of a note's file; empty where it is gone."""
        return _signature_at(self.locate(path))

    def is_still(self, path: str, signature: str) -> bool:
        """Say whether a file is what it was when its path was scanned, which made sure of it."""
        return _signature_at(self._scanned(path)) == signature

    def write(self, path: str, content: bytes, expect: str | None) -> Seen:
        """Replace or create a note; the rename is the moment at which it counts.

        Call it with the lock held.  `expect` is the etag of the version to replace, None for a
        new file.

        Raises:
            NoteChanged: The file is not the expected version; nothing was written.
            VaultUnavailable: The folder cannot be written.
        """
        file, before = self._expected(path, expect)
        try:
            _make_folder(file.parent)
            with self._recorded((path, before, content)):
                stat = write_atomic(file, content, last_look=lambda: self._expected(path, expect))
            written = _read(file, path)
        except OSError as error:
            raise VaultUnavailable(f"{path} was not written: {error}.") from error
        if written and written[0] == content:
            return written[1]
        if _is_same_file(stat, file):
            raise VaultUnavailable(
                f"{path} does not hold what was just written to it: the disk fails. Look at the "
                "file before you go on."
            )
        # Somebody has saved or removed it since; that counts, and the next look takes it in.
        return Seen(signature_of(stat), etag_of(content))

    def remove(self, path: str, expect: str) -> None:
        """Remove a note's file.  Raises like `write`."""
        file, before = self._expected(path, expect)
        try:
            with self._recorded((path, before, None)):
                self._expected(path, expect)
                file.unlink()
            sync_folder(file.parent)
        except OSError as error:
            raise VaultUnavailable(f"{path} was not removed: {error}.") from error

    def move(self, path: str, target: str, expect: str) -> Seen:
        """Give a note another path; one rename commits it.

        Raises:
            NoteChanged: The file is not the expected version, or there is one at the new path.
            VaultUnavailable: The folder cannot be written.
        """
        try:
            return Seen(signature_of(self._carry(path, target, expect).stat()), expect)
        except OSError as error:
            raise VaultUnavailable(f"{path} was not moved: {error}.") from error

    def archive(self, path: str, expect: str) -> str:
        """Move a note to the archive folder and return its new path.  Raises like `write`."""
        target = self.free_path(f"{ARCHIVE}/{path}".removesuffix(".md"))
        try:
            self._carry(path, target, expect)
        except OSError as error:
            raise VaultUnavailable(f"{path} was not archived: {error}.") from error
        return target

    def _carry(self, path: str, target: str, expect: str) -> Path:
        file, content = self._expected(path, expect)
        destination, _ = self._expected(target, None)
        _make_folder(destination.parent)
        with self._recorded((path, content, None), (target, None, content)):
            for place, etag in ((target, None), (path, expect)):
                self._expected(place, etag)  # once more: the disk has taken its time
            move_file(file, destination)
        return destination

    def free_path(self, stem: str, taken: Callable[[str], bool] = lambda path: False) -> str:
        """Return `stem.md`, or with a number behind it where that name is in use.

        `taken` may know of more names than the folder, such as those that differ only in case: they
        are one file on macOS and Windows.
        """
        for number in range(1, _COPIES):
            path = f"{stem}.md" if number == 1 else f"{stem}-{number}.md"
            if not self.locate(path).exists() and not taken(path):
                return path
        raise VaultUnavailable(f"{stem}: too many notes of this name. Give it another title.")

    def _expected(self, path: str, expect: str | None) -> tuple[Path, bytes | None]:
        """Return the file of a path and its bytes, if it is the expected version."""
        if is_host_file(path):
            raise OnlyRead(path)
        file = self.locate(path)
        found = _read(file, path)
        content, etag = (found[0], found[1].etag) if found else (None, None)
        if etag != expect:
            raise NoteChanged(path, expect, etag)
        return file, content

    @contextmanager
    def _recorded(self, *sides: tuple[str, bytes | None, bytes | None]) -> Iterator[None]:
        """Record what is about to happen, and take that back where it does not.

        Recording takes its time, so the file is looked at once more within.
        """
        effects = [Effect(path, old, new, self.place_of(path)) for path, old, new in sides]
        self.record(effects)
        try:
            yield
        except (OSError, NoteChanged):
            self.record([replace(e, before=e.after, after=e.before) for e in effects])
            raise


class _WriteLock:
    """A lock for which the threads of a process queue, and one of them tries again and again.

    Were each of them to try for itself, one could starve while the others take turns.
    """

    def __init__(self, path: Path) -> None:
        self._threads, self._processes = threading.RLock(), FileLock(path)

    def acquire(self, timeout_s: float) -> None:
        if not self._threads.acquire(timeout=timeout_s):
            raise TimeoutError("another thread holds it")
        try:
            self._processes.acquire(timeout=timeout_s, poll_interval=LOCK_POLL_S)
        except BaseException:
            self._threads.release()
            raise

    def release(self) -> None:
        self._processes.release()
        self._threads.release()


@lru_cache
def _lock(path: Path) -> _WriteLock:
    path.parent.mkdir(parents=True, exist_ok=True)
    return _WriteLock(path)


def _read(file: Path, path: str) -> tuple[bytes, Seen] | None:
    try:
        with open(file, "rb", opener=_without_waiting) as stream:
            stat = os.fstat(stream.fileno())
            if not S_ISREG(stat.st_mode):
                return None
            content = stream.read()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        if error.errno == ENXIO:  # a socket, or a pipe that nobody writes to
            return None
        raise VaultUnavailable(f"{path} cannot be read: {error}.") from error
    return content, Seen(signature_of(stat), etag_of(content))


def _is_same_file(stat: os.stat_result, file: Path) -> bool:
    """Say whether nobody has written, replaced or removed a file since this stat of it."""
    try:
        now = file.stat()
    except FileNotFoundError:
        return False
    return (now.st_ino, now.st_size, now.st_mtime_ns) == (
        stat.st_ino,
        stat.st_size,
        stat.st_mtime_ns,
    )


def _without_waiting(path: str, flags: int) -> int:
    # A named pipe called note.md must not hold up the whole vault.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _signature_at(file: Path) -> str:
    """Return the signature of a file; empty where it is gone."""
    try:
        return signature_of(file.stat())
    except OSError:
        return ""


def is_note(name: str) -> bool:
    return name.endswith(".md") and name not in RESERVED


def _note_path(root: Path, file: Path, prefix: str) -> str | None:
    relative = file.relative_to(root)
    if not is_note(relative.name):
        return None
    if any(part.startswith((".", TEMPORARY_PREFIX)) or part in SKIPPED for part in relative.parts):
        return None
    path = relative.as_posix()
    return None if leaves_out(rules_above(os.fspath(root), path), path) else prefix + path


def _make_folder(folder: Path) -> None:
    """Create a folder and those above it, each durably."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)
