"""Turn what happens to the files of a vault into paths to look at again."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from memorix.ignoring import NAMES as IGNORING
from memorix.store import Store

POLL_S = 2.0


class Watcher:
    """Watches the folders of a vault; tells `changed` which paths to look at, None for all."""

    def __init__(
        self, store: Store, wanted: str, changed: Callable[[Iterable[str] | None], None]
    ) -> None:
        self._store, self._changed = store, changed
        self._wanted, self._mode = wanted, "off"
        self._observer: Any = None

    def tend(self) -> tuple[str, bool]:
        """Start watching where it is not going on.

        Returns how it goes on (`events`, `polling` or `off`), and whether it was started just now,
        so that what happened before went unseen.  Called again and again: the vault may appear
        later, and an observer may die.
        """
        alive = self._observer is not None and self._observer.is_alive()
        if alive or self._wanted == "off" or not self._store.roots():
            return self._mode, False
        self._mode = self._start()
        return self._mode, self._mode != "off"

    def _start(self) -> str:
        if self._wanted != "poll" and self._start_observer(polling=False):
            return "events"
        return "polling" if self._start_observer(polling=True) else "off"

    def stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()

    def _start_observer(self, *, polling: bool) -> bool:
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer
        from watchdog.observers.polling import PollingObserver

        handler = FileSystemEventHandler()
        handler.dispatch = self._dispatch  # type: ignore[method-assign]
        try:
            observer = PollingObserver(timeout=POLL_S) if polling else Observer()
            for root in self._store.roots():
                observer.schedule(handler, str(root), recursive=True)
            observer.start()
        except OSError:  # no inotify instance or watch is left, or the disk has none
            return False
        self._observer = observer
        return True

    def _dispatch(self, event: Any) -> None:
        if event.event_type in ("opened", "closed_no_write"):  # our own reading makes these
            return
        if event.is_directory:
            if event.event_type in ("moved", "deleted", "created"):
                self._changed(None)
            return
        if any(Path(str(place)).name in IGNORING for place in (event.src_path, event.dest_path)):
            self._changed(None)
            return
        places = [Path(str(place)) for place in (event.src_path, event.dest_path) if place]
        paths = [path for place in places if (path := self._store.path_of(place))]
        if paths:
            self._changed(paths)
