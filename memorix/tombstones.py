"""Remember of what was forgotten for good only that it was: a hash and a day, and no text.

They lie in the scope's own folder, so that they outlive the index and go where its notes go.
"""

from collections.abc import Collection, Iterable
from datetime import datetime

from memorix.layout import folder_of
from memorix.store import Store

FILE = ".memorix/forgotten"
# Hidden, so that it is no part of a bundle.

_HEAD = (
    "# What was forgotten for good in this scope, so that nothing brings it back unasked: hashes\n"
    "# of texts and ids of notes, each with its day. A line that is deleted may be learnt again.\n"
)


def keep(store: Store, scope: str, marks: Iterable[str], now: datetime) -> None:
    """Add tombstones to those of a scope; call it with the write lock held."""
    path, text, etag = _read(store, scope)
    new = [mark for mark in dict.fromkeys(marks) if not _days(text, (mark,))]
    if new:
        day = now.astimezone().date().isoformat()
        lines = "".join(f"{mark} {day}\n" for mark in new)
        store.write(path, ((text or _HEAD) + lines).encode(), etag)


def day_of(store: Store, scopes: Iterable[str], marks: Collection[str]) -> str:
    """Return the day on which something with one of these marks was forgotten; empty if never."""
    days = (_days(_read(store, scope)[1], marks) for scope in dict.fromkeys(scopes))
    return next((found[0] for found in days if found), "")


def lift(store: Store, scopes: Iterable[str], marks: Collection[str]) -> None:
    """Take tombstones away: what they stand for is learnt again on purpose."""
    for scope in dict.fromkeys(scopes):
        path, text, etag = _read(store, scope)
        if _days(text, marks):
            kept = [line for line in text.splitlines(True) if line.split(" ")[0] not in marks]
            store.write(path, "".join(kept).encode(), etag)


def _days(text: str, marks: Collection[str]) -> list[str]:
    lines = (line.partition(" ") for line in text.splitlines())
    return [day for mark, _, day in lines if mark in marks]


def _read(store: Store, scope: str) -> tuple[str, str, str | None]:
    path = f"{folder_of(scope)}/{FILE}"
    found = store.read(path)
    if found is None:
        return path, "", None
    text = found[0].decode("utf-8", "replace")
    return path, text if text.endswith("\n") or not text else f"{text}\n", found[1].etag
