"""What the files of hosts were before we changed them, and for which host we did."""

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from memorix.files import write_atomic

_PRIVATE_FOLDER, _PRIVATE_FILE = 0o700, 0o600
# Settings of hosts may hold keys to other services, and so do their copies.


@dataclass(frozen=True, slots=True)
class Owner:
    """For whom an edit was made; `project` is empty in the scope `user`."""

    host: str
    scope: str
    project: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One file: its bytes before us (None: it was missing), and the digest of what we left.

    `made` are the folders that we made for it, outermost first; `held` the names of our edits for
    each owner.
    """

    path: Path
    original: bytes | None
    left: str
    made: tuple[str, ...] = ()
    held: tuple[tuple[Owner, tuple[str, ...]], ...] = ()

    def of(self, owner: Owner) -> tuple[str, ...]:
        return next((names for known, names in self.held if known == owner), ())

    def with_owner(self, owner: Owner, names: tuple[str, ...]) -> "Record":
        others = tuple(pair for pair in self.held if pair[0] != owner)
        return replace(self, held=(*others, (owner, names)) if names else others)

    def names(self) -> set[str]:
        return {name for _, names in self.held for name in names}


def digest(content: bytes | None) -> str:
    """Return a mark of a file's bytes; of a missing file, one that no bytes have."""
    return "missing" if content is None else hashlib.blake2b(content, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Ledger:
    """The records, each in a file of its own that only the user can read."""

    folder: Path

    def records(self) -> Iterator[Record]:
        """Yield what is recorded, by path; what cannot be read is left out."""
        found = [self._read(path) for path in sorted(self.folder.glob("*.json"))]
        yield from sorted((r for r in found if r), key=lambda record: record.path)

    def get(self, path: Path) -> Record | None:
        return self._read(self._place(path))

    def keep(self, record: Record) -> None:
        """Write a record down, in place of the one of the same file."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE_FOLDER)
        data = {
            "path": str(record.path),
            "left": record.left,
            "made": record.made,
            "held": [[asdict(owner), names] for owner, names in record.held],
            "original": _shown(record.original),
        }
        place = self._place(record.path)
        if not place.exists():
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY, _PRIVATE_FILE))
        write_atomic(place, json.dumps(data, ensure_ascii=True, indent=1).encode())

    def drop(self, path: Path) -> None:
        self._place(path).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def _place(self, path: Path) -> Path:
        mark = hashlib.blake2b(os.fsencode(path), digest_size=6).hexdigest()
        readable = re.sub(r"[^A-Za-z0-9]+", "-", path.name).strip("-").lower()
        return self.folder / f"{readable}-{mark}.json"

    def _read(self, place: Path) -> Record | None:
        try:
            data = json.loads(place.read_bytes())
            held = tuple((Owner(**owner), tuple(names)) for owner, names in data["held"])
            original = data["original"]
            content = None if original is None else base64.b64decode(original)
            return Record(Path(data["path"]), content, data["left"], tuple(data["made"]), held)
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _shown(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode("ascii")
