"""Carry whole bundles into the vault, and keep those that are there in order."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from memorix import admission, sync, tombstones
from memorix.checking import is_concept
from memorix.erasure import marks_of
from memorix.errors import NoteUneditable, SecretRefused, UnsafePath, VaultUnavailable
from memorix.held import in_inbox
from memorix.index.base import Put, Row
from memorix.indexes import indexes
from memorix.intake import Incoming
from memorix.layout import folder_of, scope_of
from memorix.memory import Memory
from memorix.note import Note, digest, etag_of, parse
from memorix.results import Taken


def take_in(
    memory: Memory,
    files: Iterable[Incoming],
    *,
    replace: bool = False,
    again: bool = False,
    dry_run: bool = False,
) -> Iterator[Taken]:
    """Put files of elsewhere into the vault, as they are; doing it twice does nothing more.

    A file that is there with another content stays, unless it is to be replaced.  What was
    forgotten for good stays away, unless it is to be learnt `again`.  Each batch is
    kept as a whole, so that an import that was killed goes on where it stopped.
    """
    waiting, change = iter(files), ""
    while batch := list(islice(waiting, sync.BATCH)):
        puts: list[Put] = []
        with memory.writing("import", change=change) as change:
            done = [_take_in(memory, file, puts, replace, again, dry_run) for file in batch]
            memory.put(puts)
        memory.announce([put.note.path for put in puts])
        yield from done


def _take_in(
    memory: Memory, file: Incoming, puts: list[Put], replace: bool, again: bool, dry_run: bool
) -> Taken:
    try:
        file, masked = _admitted(file, memory.secrets)
        found = memory.store.read(file.path)
        status, reason = _verdict(memory, file, found[0] if found else None, replace)
        day = _forgotten(memory, file, lift=again and not dry_run) if status == "new" else ""
        if day and not again:
            return Taken(file.path, "forgotten", f"erased on {day}; --again takes it in")
        if status in ("new", "replaced") and not dry_run:
            seen = memory.store.write(file.path, file.content, found[1].etag if found else None)
            if is_concept(file.path):
                puts.append(sync.put_for(file.path, file.content, seen))
    except (UnsafePath, VaultUnavailable, NoteUneditable, SecretRefused) as error:
        return Taken(file.path, "refused", str(error))
    return Taken(file.path, status, reason or (f"masked: {', '.join(masked)}" if masked else ""))


def _admitted(file: Incoming, secrets: str) -> tuple[Incoming, tuple[str, ...]]:
    """Return a file as it may come in, and what was masked in it; one's own comes as it is."""
    if file.trusted:
        return file, ()
    content, masked = admission.of_change(b"", file.content, file.path, secrets)
    return dataclasses.replace(file, content=content), masked


def _forgotten(memory: Memory, file: Incoming, *, lift: bool) -> str:
    """Return the day on which what a file says was forgotten for good; `lift` that."""
    if not is_concept(file.path):
        return ""
    marks = marks_of(parse(file.content, file.path))
    scopes = (scope_of(file.path), *memory.places.to_read(()))
    day = tombstones.day_of(memory.store, scopes, marks)
    if day and lift:
        tombstones.lift(memory.store, scopes, marks)
    return day


def _verdict(memory: Memory, file: Incoming, there: bytes | None, replace: bool) -> tuple[str, str]:
    if there is None:
        note = parse(file.content, file.path)
        row = _known(memory, note) if is_concept(file.path) else None
        if row is None:
            return "new", ""
        return "known", f"its {'id' if row.id == note.id else 'text'} is that of {row.path}"
    if there == file.content:
        return "known", ""
    if not is_concept(file.path):
        return "differs", "the one that is there stays"
    return ("replaced", "") if replace else ("differs", "the note that is there stays")


def _known(memory: Memory, note: Note) -> Row | None:
    """Return the note that has this one's id, or where it only comes for review, its text."""
    row = memory.index.find(note.id) if "id" in note.meta else None
    if row and row.id == note.id:
        return row
    scope = scope_of(note.path)
    if not in_inbox(note.path, folder_of(scope)):
        return None
    return next(iter(memory.index.same_text(digest(note.body), scope)), None)


def mend(
    memory: Memory, scope: str, new: Mapping[str, bytes], old: Mapping[str, bytes], change: str
) -> str:
    """Write repaired files of a scope, as part of a change; return the change.

    Raises:
        NoteChanged: A file is not as it was read; those before it are written.
    """
    with memory.writing("check --fix", change=change) as change:
        for path, content in new.items():
            memory.store.write(f"{folder_of(scope)}/{path}", content, etag_of(old[path]))
    return change


def write_indexes(memory: Memory, scope: str) -> list[str]:
    """Bring the index files of a scope up to its notes; return the paths written."""
    root = folder_of(scope)
    files = {
        path.removeprefix(f"{root}/"): found
        for path in (*memory.store.scan(), *memory.store.scan(reserved=True))
        if scope_of(path) == scope and (found := memory.store.read(path))
    }
    written = []
    with memory.writing("index"):
        for path, content in indexes({p: f[0] for p, f in files.items()}, scope).items():
            expect = files[path][1].etag if path in files else None
            memory.store.write(f"{root}/{path}", content, expect)
            written.append(f"{root}/{path}")
    return written
