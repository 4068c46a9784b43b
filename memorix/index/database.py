"""One SQLite file that threads and processes share, and what to do when the file goes bad."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from memorix.errors import IndexDamaged, IndexUnavailable
from memorix.index import schema
from memorix.index.disks import network_disk
from memorix.index.schema import fetch

_log = logging.getLogger(__name__)

_DAMAGED = (apsw.NotADBError, apsw.CorruptError)
_USER_CAN_FIX = (
    apsw.BusyError,
    apsw.LockedError,
    apsw.FullError,
    apsw.CantOpenError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.PermissionsError,
    OSError,
)
# Failures of the file or the disk; any other error of SQLite is a bug of ours and shows as one.


class Database:
    """Connections to one file, one a thread.

    Every write transaction is `BEGIN IMMEDIATE`, so a second writer waits instead of failing.  A
    file that was deleted or replaced by another process is opened anew by the next use.  `load` is
    told of each connection before its file is read, `opened` once its tables are there.
    """

    def __init__(
        self,
        path: Path,
        load: Callable[[apsw.Connection], None],
        opened: Callable[[apsw.Connection], None],
    ) -> None:
        self.path = path
        self.journal = ""
        self._load, self._opened = load, opened
        self._local = threading.local()
        self._all: dict[threading.Thread, apsw.Connection] = {}
        self._lock, self._turn = threading.Lock(), threading.Lock()

    def connection(self) -> apsw.Connection:
        """Return this thread's connection.

        Raises:
            IndexUnavailable: The file cannot be opened, or is not ours.
        """
        db: apsw.Connection | None = getattr(self._local, "db", None)
        if db is not None and self._local.identity == self._identity():
            return db
        self._local.db = None
        with self.as_unavailable():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._open()
            except _DAMAGED as error:
                _log.warning("%s is damaged (%s); it is set aside and made anew", self.path, error)
                self._local.identity = self._identity()
                self.set_aside()
                self._open()
        opened: apsw.Connection = self._local.db
        return opened

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self.as_unavailable():
            return self.connection().execute(sql, tuple(values)).fetchall()

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """A write transaction that takes its lock at once, so that it waits instead of failing.

        Our own threads wait for their turn; SQLite would let them try again and again, and starve.
        """
        with self._turn, self.as_unavailable():
            db = self.connection()
            fetch(db, "BEGIN IMMEDIATE")
            try:
                yield db
                fetch(db, "COMMIT")
            except BaseException:
                if db.in_transaction:
                    fetch(db, "ROLLBACK")
                raise

    @contextmanager
    def as_unavailable(self) -> Iterator[None]:
        """Turn the failures a user can do something about into ours; leave bugs alone."""
        try:
            yield
        except _DAMAGED as error:
            raise IndexDamaged(
                f"The index {self.path} is damaged: {error}. It is made anew from the notes by "
                "`memorix reindex`. No note is lost."
            ) from error
        except _USER_CAN_FIX as error:
            raise IndexUnavailable(
                f"The index {self.path} cannot be used: {error}. Free the disk or close what holds "
                "it, then try again. No note is lost."
            ) from error

    def set_aside(self) -> None:
        """Move a damaged file away, unless another process has put a sound one there already."""
        if getattr(self._local, "identity", 0) == self._identity():
            with suppress(OSError):
                self.path.replace(self.set_aside_path)
            for suffix in ("-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        self._local.db = None

    @property
    def set_aside_path(self) -> Path:
        return self.path.with_name(f"{self.path.name}.damaged")

    def close(self) -> None:
        with self._lock:
            self._drop(list(self._all))
            self._local = threading.local()

    def _open(self) -> None:
        db = apsw.Connection(str(self.path))
        self._load(db)
        self.journal = schema.prepare(db, str(self.path))
        self._opened(db)
        self._local.db, self._local.identity = db, self._identity()
        with self._lock:
            first = not self._all
            self._drop([thread for thread in self._all if not thread.is_alive()])
            self._all[threading.current_thread()] = db
        if first and self.journal != "wal":
            _log.warning(
                "%s lies on %s, which allows no write-ahead log; servers wait for each other. "
                "Set MEMORIX_STATE_DIR to a folder on a local disk.",
                self.path,
                network_disk(self.path) or "a disk",
            )

    def _drop(self, threads: Sequence[threading.Thread]) -> None:
        """Close the connections of these threads, which a server has many of, one after another."""
        for thread in threads:
            with suppress(apsw.ThreadingViolationError):
                self._all.pop(thread).close()

    def _identity(self) -> int:
        try:
            return self.path.stat().st_ino
        except OSError:
            return 0
