"""Turn what happens to the files of a vault into paths to look at again."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from memorix.ignoring import NAMES as IGNORING
from memorix.store import Store

POLL_S = 2.0

_TELLING = (
    *("FileCreated", "FileModified", "FileAttrib", "FileClosed", "FileDeleted", "FileMoved"),
    *("DirCreated", "DirDeleted", "DirMoved"),
)
# Events that tell of a change; that a file was opened and closed again is our own reading, and that
# a folder was modified is told by what lies in it.

_MOST_KNOWN = 20_000
# Files whose paths are remembered, a few megabytes; a save makes several events of one file.


class Watcher:
    """Watches the folders of a vault; tells `changed` which paths to look at, None for all."""

    def __init__(
        self, store: Store, wanted: str, changed: Callable[[Iterable[str] | None], None]
    ) -> None:
        self._store, self._changed = store, changed
        self._wanted, self._mode = wanted, "off"
        self._observer: Any = None
        self._watched: tuple[int, ...] = ()
        self._paths: dict[str, str | None] = {}

    def tend(self) -> tuple[str, bool]:
        """Start watching where it is not going on.

        Returns how it goes on (`events`, `polling` or `off`), and whether it was started just now,
        so that what happened before went unseen.  Called again and again: the vault may appear
        later, and an observer may die.
        """
        if self._wanted == "off" or not self._store.roots() or self._is_watching():
            return self._mode, False
        self.stop()
        self._mode = self._start()
        return self._mode, self._mode != "off"

    def _is_watching(self) -> bool:
        """Say whether each folder that is there has a watch that lives: a new folder has none."""
        if self._observer is None or not self._observer.is_alive():
            return False
        emitters_live = all(emitter.is_alive() for emitter in self._observer.emitters)
        return emitters_live and self._watched == _identities(self._store.roots())

    def _start(self) -> str:
        if self._wanted != "poll" and self._start_observer(polling=False):
            return "events"
        return "polling" if self._start_observer(polling=True) else "off"

    def stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer = None

    def _start_observer(self, *, polling: bool) -> bool:
        from watchdog import events
        from watchdog.observers import Observer
        from watchdog.observers.polling import PollingObserver

        handler = events.FileSystemEventHandler()
        handler.dispatch = self._dispatch  # type: ignore[method-assign]
        roots = self._store.roots()
        self._watched = _identities(roots)
        self._paths = {}
        telling = [getattr(events, f"{name}Event", None) for name in _TELLING]
        kinds = [kind for kind in telling if kind]  # older versions know fewer
        try:
            observer = PollingObserver(timeout=POLL_S) if polling else Observer()
            for root in roots:
                observer.schedule(handler, str(root), recursive=True, event_filter=kinds)
            observer.start()
        except OSError:  # no inotify instance or watch is left, or the disk has none
            return False
        self._observer = observer
        if not polling and not _are_all_watched(roots):
            self.stop()
            return False
        return True

    def _dispatch(self, event: Any) -> None:
        places = [str(place) for place in (event.src_path, event.dest_path) if place]
        if event.is_directory:
            self._paths = {}
            if any(self._store.may_hold_notes(Path(place)) for place in places):
                self._changed(None)
        elif any(os.path.basename(place) in IGNORING for place in places):  # noqa: PTH119 - hot
            self._paths = {}
            self._changed(None)
        elif paths := [path for place in places if (path := self._path_of(place))]:
            self._changed(paths)

    def _path_of(self, place: str) -> str | None:
        """Return the note's path of a file, remembered until rules that leave out may change."""
        if len(self._paths) >= _MOST_KNOWN:
            self._paths = {}
        known = self._paths  # `tend` may begin anew meanwhile
        if place not in known:
            known[place] = self._store.path_of(Path(place))
        return known[place]


def _identities(roots: Iterable[Path]) -> tuple[int, ...]:
    try:
        return tuple(root.stat().st_ino for root in roots)
    except OSError:
        return ()


def _are_all_watched(roots: Iterable[Path]) -> bool:
    """Say whether every folder has its watch: Linux tells nobody when they run out half-way."""
    listings = Path("/proc/self/fdinfo")
    if not listings.is_dir():
        return True
    watches = sum(_watches(listing) for listing in listings.iterdir())
    return watches >= sum(1 for root in roots for _ in os.walk(root))


def _watches(listing: Path) -> int:
    try:
        return listing.read_bytes().count(b"inotify wd:")
    except OSError:  # closed since it was listed
        return 0
