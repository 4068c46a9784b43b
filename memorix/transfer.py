"""Carry whole bundles into the vault, and keep those that are there in order."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from memorix import admission, sync, tombstones
from memorix.arrivals import Arrivals
from memorix.batches import batches
from memorix.checking import is_concept
from memorix.erasure import marks_of
from memorix.errors import NoteUneditable, SecretRefused, UnsafePath, VaultUnavailable
from memorix.held import in_inbox
from memorix.imported import CHANGED, FROM, KNOWN, NEW, compared, text_mark, updated
from memorix.index.base import Put, Row
from memorix.indexes import indexes
from memorix.intake import Incoming
from memorix.layout import folder_of, scope_of
from memorix.memory import Memory
from memorix.note import Note, digest, etag_of, parse
from memorix.reconcile import Seen
from memorix.results import Taken

_SOURCE = re.compile(rb"^%b:[^\n]*\n" % FROM.encode(), re.MULTILINE)
# What the bundle was called, which may be another name each time.


@dataclass(frozen=True, slots=True)
class _How:
    """How files are taken in, and what came before."""

    arrivals: Arrivals
    replace: bool
    again: bool
    dry_run: bool


def take_in(
    memory: Memory,
    files: Iterable[Incoming],
    *,
    replace: bool = False,
    again: bool = False,
    dry_run: bool = False,
) -> Iterator[Taken]:
    """Put files of elsewhere into the vault, as they are; doing it twice does nothing more.

    What is still as it came is brought up to what comes now.  What was edited here stays, unless it
    is to be replaced.  What was forgotten for good stays away, unless it is to be learnt `again`.
    Each batch is kept as a whole, so that an import that was killed goes on where it stopped.
    """
    change = ""
    how = _How(Arrivals(memory.store), replace, again, dry_run)
    for batch in batches(files, lambda file: len(file.content)):
        puts: list[Put] = []
        if dry_run:
            done = [_take_in(memory, file, how, puts) for file in batch]
        else:
            with memory.writing("import", change=change) as change:
                done = [_take_in(memory, file, how, puts) for file in batch]
                memory.put(puts)
                how.arrivals.keep()
            memory.announce([put.note.path for put in puts])
        yield from done


def _take_in(memory: Memory, file: Incoming, how: _How, puts: list[Put]) -> Taken:
    try:
        file, masked = _admitted(file, memory.secrets)
        path, found = _place(memory, file)
        there = found[0] if found else None
        status, reason, content = _verdict(file, path, there, how)
        day = _forgotten(memory, file, lift=how.again and not how.dry_run) if not found else ""
        if day and not how.again:
            return Taken(file.path, "forgotten", f"erased on {day}; --again takes it in")
        if status in (NEW, CHANGED) and not how.dry_run:
            seen = memory.store.write(path, content, found[1].etag if found else None)
            if is_concept(path):
                puts.append(sync.put_for(path, content, seen))
        if status in (NEW, CHANGED) or there == file.content:
            how.arrivals.note(file.path, f"{_mark(file.content)} {_says(file.content, path)}")
    except (UnsafePath, VaultUnavailable, NoteUneditable, SecretRefused) as error:
        return Taken(file.path, "refused", str(error))
    return Taken(path, status, reason or (f"masked: {', '.join(masked)}" if masked else ""))


def _admitted(file: Incoming, secrets: str) -> tuple[Incoming, tuple[str, ...]]:
    """Return a file as it may come in, and what was masked in it; one's own comes as it is."""
    if file.trusted:
        return file, ()
    content, masked = admission.of_change(b"", file.content, file.path, secrets)
    return replace(file, content=content), masked


def _place(memory: Memory, file: Incoming) -> tuple[str, tuple[bytes, Seen] | None]:
    """Return where a file is in the vault, or will be, and what is there."""
    found = memory.store.read(file.path)
    if found is None and is_concept(file.path):
        row = _known(memory, parse(file.content, file.path))
        there = memory.store.read(row.path) if row else None
        if row and there:
            return row.path, there
    return file.path, found


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


def _verdict(file: Incoming, path: str, there: bytes | None, how: _How) -> tuple[str, str, bytes]:
    """Say what a file is to the one that is there, why, and what that becomes where it changes."""
    if there is None:
        return NEW, "", file.content
    marks = how.arrivals.of(file.path)
    status, reason = compared(marks, _says(there, path), _mark(file.content))
    if path != file.path and (status != CHANGED or _has_links(file.content)):
        return KNOWN, f"its id or its text is that of {path}", there
    if there == file.content:
        return KNOWN, "", there
    if status == CHANGED and marks.partition(" ")[0] != _mark(there):
        return CHANGED, "", updated(there, file.content, path)  # keys were set here since
    edited = marks.partition(" ")[2] != _says(there, path)
    if how.replace and edited:
        return CHANGED, "what was there is replaced", file.content
    return status, reason if marks else reason and "another file is there, and stays", file.content


def _mark(content: bytes) -> str:
    """Return the mark of a file, whatever the bundle was called that it came in."""
    return etag_of(_SOURCE.sub(b"", content, count=1))[3:19]


def _says(content: bytes, path: str) -> str:
    return text_mark(parse(content, path)) if is_concept(path) else _mark(content)


def _has_links(content: bytes) -> bool:
    """Say whether a text may have links that lead elsewhere from another folder."""
    return any(mark in content for mark in (b"](", b"]:"))


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
