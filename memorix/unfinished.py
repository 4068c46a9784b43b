"""Changes of several notes that one rename commits: what is left of one is done after a crash.

A note that replaces or disputes others is written first, and is what counts.  That the others are
to say so too is noted down beside the index before, and struck out after; who opens the vault next
does what a process that died has left.
"""

import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from memorix.errors import MemorixError, NoteUneditable
from memorix.files import write_atomic

_log = logging.getLogger(__name__)


@contextmanager
def noted(folder: Path, path: str, change: str) -> Iterator[None]:
    """Note down that the note of this path is being written and others have to follow it.

    `change` is what the journal knows it by, so that what is done later is undone with it.

    An error leaves it noted: the next `finish` looks at what is there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / hashlib.blake2b(path.encode(), digest_size=16).hexdigest()
    write_atomic(file, f"{change}\n{path}".encode())
    yield
    file.unlink(missing_ok=True)


def finish(folder: Path, follow: Callable[[str, str], object]) -> None:
    """Call `follow` with each path that was left, and its change; call it within the write lock.

    What cannot be done now, because of the disk, is left for the next time.
    """
    for file in sorted(folder.iterdir()):
        try:
            change, _, path = file.read_text(encoding="utf-8").partition("\n")
            follow(path, change)
        except NoteUneditable as error:
            _log.warning("%s", error)
        except (MemorixError, OSError) as error:
            _log.warning("%s", error)
            continue
        file.unlink(missing_ok=True)


def are_left(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())
