"""Keep the index in step with the folder: at the start, after each event, after a crash.

All of it is idempotent: several processes may follow one folder, and doing it twice does nothing.
"""

import logging
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memorix import chunks, held, privacy, screening
from memorix.errors import MemorixError, UnsafePath, VaultUnavailable
from memorix.index.base import Change, Drop, Index, Put, Rename, Touch
from memorix.layout import folder_of, scope_of
from memorix.note import Note, decode, digest, parse, reads_alike
from memorix.reconcile import Difference, Move, Seen, diff, is_mass_loss, suspects
from memorix.store import Store

BATCH = 500
# Notes a transaction; large enough to be fast, small enough that nobody waits for it.

KEPT_BYTES = 64 * 1024 * 1024
# Of notes that were read to compare them; beyond it a note is read again to be indexed.

_RELATIVE = ("](", "]:")
# In every text that has a link whose goal depends on where the text lies.

QUIET_S = 0.1
# An editor writes a note in several steps; look when it has been quiet for this long.

LONGEST_S = 0.5
# But never wait longer than this while changes keep coming.

FIRST_SYNC_S = 5.0
# How long an early question waits for the first look at the folder before it is told so.

RETRY_S = 2.0
# After a look that failed, such as at a disk that was pulled out.

MANY_PATHS = 64
# From here on one scan of the folder is cheaper than looking at each path.

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Synced:
    """What a catch-up did, in notes."""

    changed: int = 0
    moved: int = 0
    gone: int = 0
    paths: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.moved or self.gone)


def catch_up(
    store: Store,
    index: Index,
    paths: Iterable[str] | None = None,
    *,
    accept_loss: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Synced:
    """Bring the index up to the folder, or to these paths of it only.

    `progress` is told (notes done, notes to do).

    Raises:
        VaultUnavailable: The folder cannot be listed, or most of its notes vanished at once; the
            index is kept.
    """
    if paths is not None:
        read = _Reading(store)
        paths = [path for path in paths if not _is_as_indexed(store, index, read, path)]
        if not paths:
            return Synced()
    known = index.listing()
    total = len(known)
    if not store.exists():
        if not known:
            return Synced()
        raise VaultUnavailable(
            f"The notes folder {store.vault} is missing. The index is kept; mount the disk, or set "
            "MEMORIX_VAULT to where the notes are."
        )
    if paths is None:
        leftovers: list[Path] = []
        found = store.scan(leftovers=leftovers) | store.host_files()
        away = store.absent()
        store.clear_away(leftovers, time.time())
        if away:
            known = {path: seen for path, seen in known.items() if not path.startswith(away)}
        read = _Reading(store, scanned=True)
        hashed = read.hashed(suspects(found, known))
    else:
        wanted = {_as_known(store, path, known) for path in paths}
        known = {path: seen for path, seen in known.items() if path in wanted}
        hashed = read.hashed(sorted(wanted))
        found = {path: seen.signature for path, seen in hashed.items()}
    difference = diff(found, {p: seen.etag for p, seen in hashed.items()}, known)
    new = sum(path not in known for path in difference.changed)
    if not accept_loss and is_mass_loss(len(difference.gone), total, new):
        raise VaultUnavailable(
            f"{len(difference.gone)} of {total} notes are missing from {store.vault}. "
            "The index is kept. If they were deleted on purpose, run "
            "`memorix reindex --accept-loss`; else check that the disk is mounted."
        )
    _apply(read, index, difference, known, hashed, progress)
    return Synced(
        len(difference.changed),
        len(difference.moved),
        len(difference.gone),
        (*difference.changed, *(m.new for m in difference.moved), *difference.gone),
    )


def put_for(path: str, content: bytes, seen: Seen) -> Put:
    """Make the change that indexes this version of a file."""
    return put_of(parse(content, path), content, seen)


def put_of(note: Note, content: bytes, seen: Seen) -> Put:
    """Make the change that indexes a note as it was read, or as it was just written.

    What is private or secret in it gets no further than its file.  A note without text has one
    empty chunk, so that its title is found.
    """
    text = decode(content)[0]
    findings = screening.findings(text)
    warnings = (*note.warnings, *screening.warnings(text, findings))
    shown = screening.hidden_in(privacy.public(note), screening.values(text, findings))
    shown = replace(shown, warnings=warnings) if findings else shown
    pieces = chunks.split(shown.title, shown.body) or (chunks.Chunk(0, "", "", 0, 0, 1),)
    scope = scope_of(note.path)
    root = folder_of(scope)
    whole = digest(note.body) if shown.body is not note.body else ""
    return Put(shown, scope, seen, pieces, root, held.reason(note, root, warnings), whole)


def _is_as_indexed(store: Store, index: Index, read: "_Reading", path: str) -> bool:
    """Say whether a path holds what the index says: most events tell of what we wrote ourselves.

    To find that out for one path must not take longer in a large vault.
    """
    row, seen = index.find(path), read.hashed([path]).get(path)
    if row is None:
        return seen is None and path.isascii() and store.exists()
    return row.path == path and row.seen == seen


def _as_known(store: Store, path: str, known: Mapping[str, Seen]) -> str:
    """Return the spelling under which a path is known already: macOS tells of `é` in two ways."""
    if path in known or path.isascii():
        return path
    form = unicodedata.normalize("NFC", path)
    alike = (p for p in known if not p.isascii() and unicodedata.normalize("NFC", p) == form)
    there = store.signature(path)
    return next((p for p in alike if not there or store.signature(p) == there), path)


class _Reading:
    """Reads notes to hash them, and keeps the bytes of the first ones, so as not to read twice."""

    def __init__(self, store: Store, *, scanned: bool = False) -> None:
        self._store, self._scanned = store, scanned
        self._kept: dict[str, bytes] = {}
        self._room = KEPT_BYTES

    def hashed(self, paths: Sequence[str]) -> dict[str, Seen]:
        return {path: found[1] for path in paths if (found := self._read(path, keep=True))}

    def puts(self, paths: Sequence[str], hashed: Mapping[str, Seen]) -> list[Put]:
        kept = ((path, self._kept.pop(path, None)) for path in paths)
        found = (
            (path, self._read(path) if content is None else (content, hashed[path]))
            for path, content in kept
        )
        return [put_for(path, *read) for path, read in found if read]

    def moved_only(self, move: Move, before: Seen, after: Seen) -> bool:
        """Say whether the index holds all of a moved note but its path, so that it is not read.

        `before` and `after` are what its file was and is.
        """
        written = [seen.signature.split("-")[:2] for seen in (before, after)]
        if written[0] != written[1] or not reads_alike(move.old, move.new):
            return False
        if _waits(move.old) != _waits(move.new):
            return False
        content = self._kept.get(move.new)
        return content is not None and not any(m in decode(content)[0] for m in _RELATIVE)

    def is_undated(self, path: str) -> bool:
        """Say whether a note states no date, so that its file's is its own."""
        content = self._kept.pop(path, None)
        found = self._read(path) if content is None else (content, None)
        note = parse(found[0], path) if found else None
        return note is not None and note.created is None and note.changed is None

    def _read(self, path: str, *, keep: bool = False) -> tuple[bytes, Seen] | None:
        try:
            found = self._store.read(path, scanned=self._scanned)
        except UnsafePath:  # a link that leads out of the vault is no note, and keeps no other out
            return None
        if found and keep and len(found[0]) <= self._room:
            self._room -= len(found[0])
            self._kept[path] = found[0]
        return found


def _waits(path: str) -> bool:
    return held.in_inbox(path, folder_of(scope_of(path)))


def _apply(
    read: _Reading,
    index: Index,
    difference: Difference,
    known: Mapping[str, Seen],
    hashed: Mapping[str, Seen],
    progress: Callable[[int, int], None] | None,
) -> None:
    plain = {m for m in difference.moved if read.moved_only(m, known[m.old], hashed[m.new])}
    away = {m for m in difference.moved if m not in plain and scope_of(m.old) != scope_of(m.new)}
    first: list[Change] = [Drop(path) for path in (*difference.gone, *(m.old for m in away))]
    first += [
        Rename(m.old, m.new, scope_of(m.new), hashed[m.new])
        for m in difference.moved
        if m not in away
    ]
    first += [Touch(p, hashed[p], read.is_undated(p)) for p in difference.touched]
    index.apply(first)
    again = [*difference.changed, *(m.new for m in difference.moved if m not in plain)]
    for start in range(0, len(again), BATCH):
        batch = again[start : start + BATCH]
        index.apply(read.puts(batch, hashed))
        if progress:
            progress(start + len(batch), len(again))


@dataclass(frozen=True, slots=True)
class FollowerState:
    """How the index follows at the moment: the way of watching, and the last trouble."""

    mode: str = "off"
    last_sync: float = 0.0
    trouble: str = ""


class Follower:
    """The background of a server: follows the folder and makes the vectors.

    One thread does all of it, so a process never works on itself twice.  `watch` starts the
    watching where it is not going on, before each look, so that nothing is missed.  `noticed`
    tells of changed files, None for all; `wake` only that there are texts without a vector.
    """

    def __init__(
        self,
        sync: Callable[[Sequence[str] | None], None],
        embed: Callable[[Callable[[], bool]], None],
        watch: Callable[[], tuple[str, bool]],
        rescan_s: float,
    ) -> None:
        self._sync, self._embed, self._watch = sync, embed, watch
        self._rescan_s = rescan_s
        self._paths: set[str] = set()
        self._everything, self._woken, self._arrivals = True, False, 0
        self._missed = False
        self._changed = threading.Condition()
        self._stop, self._ready = threading.Event(), threading.Event()
        self._syncing = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="memorix-follower", daemon=True)
        self.state = FollowerState()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=3)

    def noticed(self, paths: Iterable[str] | None) -> None:
        with self._changed:
            self._everything = self._everything or paths is None
            self._paths.update(paths or ())
            self._arrivals += 1
            self._changed.notify_all()

    def wake(self) -> None:
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def flush(self) -> bool:
        """Take in what was noticed so far, in the caller's thread, before it answers.

        Returns whether the view is whole: False while the first look at the folder goes on.
        """
        if not self._ready.wait(timeout=FIRST_SYNC_S):
            return False
        self.flush_noticed()
        return True

    def flush_noticed(self) -> bool:
        """Take in what was noticed since; return whether there was anything."""
        if not self._has_paths():
            return False
        self._sync_noticed()
        return True

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                mode, started = self._watch()
                self.state = replace(self.state, mode=mode)
                if started:
                    self.noticed(None)
                self._sync_noticed()
                self._ready.set()
                self._embed(self._interrupted)
                self.state = replace(self.state, last_sync=time.time(), trouble="")
            except MemorixError as error:
                self._report(str(error))
            except Exception as error:  # noqa: BLE001 - the loop must outlive any single fault
                _log.exception("following the notes failed")
                self._report(f"{type(error).__name__}: {error}")
            self._ready.set()
            self._wait()

    def _report(self, trouble: str) -> None:
        _log.warning("%s", trouble)
        self.state = replace(self.state, trouble=trouble)

    def _sync_noticed(self) -> None:
        with self._syncing:
            with self._changed:
                everything = self._everything or len(self._paths) > MANY_PATHS
                paths = sorted(self._paths)
                self._paths, self._everything, self._woken = set(), False, False
            try:
                if everything or paths:
                    self._sync(None if everything else paths)
            except BaseException:
                with self._changed:  # what was noticed must not be lost with a look that failed
                    self._missed = True
                raise
            self._missed = False

    def _interrupted(self) -> bool:
        return self._stop.is_set() or self._has_paths()

    def _wait(self) -> None:
        with self._changed:
            if self._woken or self._has_paths() or self._stop.is_set():
                pass
            elif not self._changed.wait(timeout=RETRY_S if self._missed else self._rescan_s):
                self._everything = True
                return
            self._everything = self._everything or self._missed
            self._settle()

    def _settle(self) -> None:
        deadline = time.monotonic() + LONGEST_S
        while self._has_paths() and time.monotonic() < deadline and not self._stop.is_set():
            before = self._arrivals
            self._changed.wait(timeout=QUIET_S)
            if self._arrivals == before:
                return

    def _has_paths(self) -> bool:
        return self._everything or bool(self._paths)
