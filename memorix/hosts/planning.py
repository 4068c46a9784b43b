"""Decide what a file of a host is to hold: with our edits, without them, as it was."""

import codecs
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import unified_diff
from pathlib import Path

from memorix.errors import HostFileRefused
from memorix.hosts.edits import Edit, named
from memorix.hosts.jsonc import NotJson
from memorix.hosts.ledger import Owner, Record, digest
from memorix.hosts.tomltext import NotToml

DIFF_CONTEXT, DIFF_WIDTH = 2, 160
# Lines around a change, and characters of a line: settings may have long lines, and secrets near.


@dataclass(frozen=True, slots=True)
class Change:
    """What a file holds, what it is to hold (None: no file), and what is then recorded of it."""

    path: Path
    before: bytes | None
    after: bytes | None
    record: Record | None

    @property
    def needed(self) -> bool:
        return self.before != self.after


def to_install(
    path: Path, now: bytes | None, edits: Iterable[Edit], owner: Owner, known: Record | None
) -> Change:
    """Plan a file with our edits in it.

    What it was before us is what is recorded, if it is as we left it, else what it is now without
    them.

    Raises:
        HostFileRefused: The file cannot be read or edited.
    """
    edits = list(edits)
    mark, text = decoded(path, now)
    with refusing(path):
        new = text
        for edit in edits:
            new = edit.put(new)
    after = now if new == text and now is not None else mark + new.encode()
    if after == now and known is None:
        return Change(path, now, after, None)
    record = _begun(path, now, known)
    return Change(path, now, after, replace(_owned(record, owner, edits), left=digest(after)))


def to_uninstall(path: Path, now: bytes | None, owners: Iterable[Owner], known: Record) -> Change:
    """Plan a file without what we did for these owners.

    If nobody changed it since and no other owner is left, it will be exactly what it was.  Else
    only what is ours is taken out.

    Raises:
        HostFileRefused: The file was changed and cannot be read any more.
    """
    left = known
    for owner in owners:
        left = left.with_owner(owner, ())
    rest = left if left.held else None
    if now is None:
        return Change(path, None, None, rest)
    in_step = digest(now) == known.left
    if in_step and not rest:
        return Change(path, now, known.original, None)
    unwanted = [named(name) for name in sorted(known.names() - left.names())]
    after = _without(path, now, unwanted, known)
    if rest and in_step:
        rest = replace(rest, left=digest(after))
    return Change(path, now, after, rest)


def to_take_out(path: Path, now: bytes, edits: Iterable[Edit]) -> Change:
    """Plan a file without edits of ours that are not recorded, such as a person's own entry.

    Raises:
        HostFileRefused: The file cannot be read.
    """
    return Change(path, now, _without(path, now, edits, None), None)


def diff(change: Change, shown_path: str) -> str:
    """Show a change as a unified diff with little around it."""
    before, after = (_lines(content) for content in (change.before, change.after))
    old, new = (shown_path if c is not None else "/dev/null" for c in (change.before, change.after))
    lines = unified_diff(before, after, old, new, n=DIFF_CONTEXT, lineterm="")
    return "\n".join(_cut(line) for line in lines)


def _begun(path: Path, now: bytes | None, known: Record | None) -> Record:
    """Return the record to go on with: the one there is, as far as it still tells the truth."""
    if known is None:
        return Record(path, now, "")
    if digest(now) == known.left:
        return known
    ours = [named(name) for name in sorted(known.names())]
    original = None if now is None else _without(path, now, ours, known)
    return replace(known, original=original)


def _owned(record: Record, owner: Owner, edits: Iterable[Edit]) -> Record:
    names = dict.fromkeys([*record.of(owner), *(edit.name for edit in edits)])
    return record.with_owner(owner, tuple(names))


def _without(path: Path, now: bytes, edits: Iterable[Edit], known: Record | None) -> bytes | None:
    """Return a file's bytes without some edits; None if only we were in it."""
    mark, text = decoded(path, now)
    original = None if known is None else decoded(path, known.original)[1]
    with refusing(path):
        new = text
        for edit in edits:
            if edit.held(new):
                new = edit.take(new, original)
    if new == text:
        return now
    alone = known is not None and known.original is None
    return None if alone and new.strip() in ("", "{}") else mark + new.encode()


def decoded(path: Path, content: bytes | None) -> tuple[bytes, str]:
    """Return the byte order mark and the text of a file."""
    content = content or b""
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark, content[len(mark) :].decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start + len(mark)) + 1
        raise HostFileRefused(path, line, "is not UTF-8") from error


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except (NotJson, NotToml) as error:
        raise HostFileRefused(path, error.line, error.reason) from error


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines()


def _cut(line: str) -> str:
    return line if len(line) <= DIFF_WIDTH else f"{line[:DIFF_WIDTH]} ..."
