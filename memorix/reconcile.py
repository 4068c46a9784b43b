"""Compare the folder with the index: what changed, what moved, what is gone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Seen(NamedTuple):
    """A file as it was last looked at.

    `signature` is what a stat tells (it changes on every write), `etag` the hash of the content.
    """

    signature: str
    etag: str


@dataclass(frozen=True, slots=True)
class Move:
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What the index has to do to follow the folder; all paths sorted.

    `touched` are files with a new signature and the old content.
    """

    changed: tuple[str, ...] = ()
    moved: tuple[Move, ...] = ()
    gone: tuple[str, ...] = ()
    touched: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.moved or self.gone or self.touched)


def suspects(folder: Mapping[str, str], index: Mapping[str, Seen]) -> list[str]:
    """Return the paths whose content has to be hashed: new ones, and those with a new signature."""
    return sorted(p for p, sign in folder.items() if p not in index or index[p].signature != sign)


def diff(folder: Iterable[str], hashed: Mapping[str, str], index: Mapping[str, Seen]) -> Difference:
    """Decide what happened to each path.

    `hashed` maps the suspects to their etags.  A new path with the content of a vanished one is
    that note moved, so that it keeps its identity, its vectors and its counters.
    """
    present = set(folder)
    gone = sorted(path for path in index if path not in present)
    by_etag: dict[str, list[str]] = {}
    for path in reversed(gone):
        by_etag.setdefault(index[path].etag, []).append(path)
    moved: list[Move] = []
    changed: list[str] = []
    touched: list[str] = []
    for path, etag in sorted(hashed.items()):
        if path in index:
            (touched if index[path].etag == etag else changed).append(path)
        elif by_etag.get(etag):
            moved.append(Move(by_etag[etag].pop(), path))
        else:
            changed.append(path)
    left = {move.old for move in moved}
    remaining = tuple(path for path in gone if path not in left)
    return Difference(tuple(changed), tuple(moved), remaining, tuple(touched))


def is_mass_loss(gone: int, known: int, new: int = 0) -> bool:
    """Say whether so much vanished at once that it is rather an unmounted disk than a wish.

    Where as much has come (`new`), another branch was checked out.
    """
    return known >= 10 and gone - new > known / 2
