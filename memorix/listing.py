"""Look through a folder tree for the notes in it, with one stat a file and without reading any."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from memorix.files import is_temporary
from memorix.ignoring import NAMES as IGNORING
from memorix.ignoring import Rules, leaves_out, rules_in

SKIPPED = frozenset({"node_modules", "__pycache__"})
# Folders that programs fill, besides hidden ones.

OWN_FOLDER = ".memorix"
# What is kept of a scope besides its notes; killed writers leave something there, too.


@dataclass(frozen=True, slots=True)
class Look:
    """One look: `found` gets the signatures of names that are `wanted` by their paths, `leftovers`
    what killed writers left; the paths of `skip` are left out."""

    found: dict[str, str]
    leftovers: list[Path]
    skip: frozenset[str]
    wanted: Callable[[str], bool]

    def through(self, root: Path, prefix: str) -> None:
        """Look through a folder whose paths begin with `prefix`.

        Raises:
            OSError: A folder cannot be listed.
        """
        folders: list[tuple[str, str, tuple[Rules, ...]]] = [(str(root), prefix, ())]
        while folders:
            folder, at, rules = folders.pop()
            with _entries(folder) as entries:
                if any(entry.name in IGNORING for entry in entries):
                    own = rules_in(folder, at)
                    rules = (*rules, own) if own else rules
                for entry in entries:
                    path = at + entry.name
                    if self._skips(folder, entry.name, path) or (rules and leaves_out(rules, path)):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append((f"{folder}{os.sep}{entry.name}", f"{path}/", rules))
                    elif self.wanted(entry.name) and entry.is_file(follow_symlinks=False):
                        self._add(path, entry)

    def _skips(self, folder: str, name: str, path: str) -> bool:
        if name[0] != "." and name not in SKIPPED and path not in self.skip:
            return False
        if is_temporary(name):
            self.leftovers.append(Path(folder, name))
        elif name == OWN_FOLDER:
            with suppress(OSError):
                beside = Path(folder, name).iterdir()
                self.leftovers.extend(file for file in beside if is_temporary(file.name))
        return True

    def _add(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            if not path.isascii():
                path.encode()  # a name that is not Unicode cannot be told to anybody
            self.found[path] = signature_of(entry.stat(follow_symlinks=False))
        except (UnicodeEncodeError, FileNotFoundError):
            return


@contextmanager
def _entries(folder: str) -> Iterator[list[os.DirEntry[str]]]:
    """List a folder and keep it open, so that the way to each of its files is short.

    A fifth of a look is spared by that, where the system can do it.
    """
    if os.scandir not in os.supports_fd:
        with os.scandir(folder) as listing:
            yield list(listing)
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with os.scandir(descriptor) as listing:
            yield list(listing)
    finally:
        os.close(descriptor)


def signature_of(stat: os.stat_result) -> str:
    """Return what tells a file from its other versions without reading it."""
    return f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_ino}"
