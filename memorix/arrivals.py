"""Remember of what a scope took in only its marks, so that a later import tells who changed what.

They lie in the scope's own folder, so that they outlive the index and go where its notes go.  They
are hashes: an erased note leaves no word in them.
"""

from dataclasses import dataclass, field, replace
from hashlib import blake2b

from memorix.layout import folder_of, scope_of
from memorix.store import Store, unrecorded

FILE = ".memorix/imported"
# Hidden, so that it is no part of a bundle.

_HEAD = (
    "# What was taken into this scope: the hash of each path there, and of the file as it came.\n"
    "# Where a note is still what came, a later import brings it up; delete a line to stop that.\n"
)


@dataclass
class Arrivals:
    """The marks of what was taken in, by the path it came for; read and written a scope at a time.

    Call `keep` with the vault's write lock held.
    """

    store: Store
    _known: dict[str, dict[str, str]] = field(default_factory=dict)
    _changed: set[str] = field(default_factory=set)

    def of(self, path: str) -> str:
        """Return the marks of what came for a path last; empty where nothing is known to have."""
        return self._marks(scope_of(path)).get(_hashed(path), "")

    def note(self, path: str, marks: str) -> None:
        """Take down what has come for a path; it is kept with the next `keep`."""
        scope = scope_of(path)
        if self._marks(scope).get(_hashed(path)) != marks:
            self._known[scope][_hashed(path)] = marks
            self._changed.add(scope)

    def keep(self) -> None:
        """Write down what was noted; no undo takes it back, since it takes none of the files."""
        plain = replace(self.store, record=unrecorded)
        for scope in sorted(self._changed):
            path = f"{folder_of(scope)}/{FILE}"
            found = self.store.read(path)
            lines = "".join(
                f"{name} {marks}\n" for name, marks in sorted(self._known[scope].items())
            )
            plain.write(path, (_HEAD + lines).encode(), found[1].etag if found else None)
        self._changed.clear()

    def _marks(self, scope: str) -> dict[str, str]:
        if scope not in self._known:
            found = self.store.read(f"{folder_of(scope)}/{FILE}")
            text = found[0].decode("utf-8", "replace") if found else ""
            lines = (line.partition(" ") for line in text.splitlines() if line[:1] != "#")
            self._known[scope] = {name: marks for name, _, marks in lines if marks}
        return self._known[scope]


def _hashed(path: str) -> str:
    return blake2b(path.encode("utf-8", "replace"), digest_size=10).hexdigest()
