"""Erase notes for good: from every file, index and log that Memorix keeps, or not at all yet.

What is to go is written down beside the journal first.  Whoever opens the vault next finishes what
a process that died has left; doing it twice changes nothing.
"""

import json
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

from memorix import reserved, sync, tombstones
from memorix.erasure import Erased, is_own_id, marks_of, neutralised, traces
from memorix.errors import MemorixError, NoteChanged, NoteNotFound, OnlyRead
from memorix.files import is_temporary, write_atomic
from memorix.gitprogram import root_above
from memorix.index.base import Change, Drop, Index, Row
from memorix.journal import Journal
from memorix.layout import ARCHIVE, folder_of, is_host_file, scope_of
from memorix.links import name_key, relative_link
from memorix.note import RESERVED, Note, concept_id, etag_of, parse
from memorix.store import Store
from memorix.versions import Effect, names

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Beside:
    """What is kept outside of vault and index, such as what hooks write down of sessions.

    `forget` lets go whatever says one of the words it is given.
    """

    folder: Path | None = None
    forget: Callable[[Collection[str]], object] = lambda words: None


class Vault(Protocol):
    """What erasing needs of the memory."""

    store: Store
    index: Index
    journal: Journal

    @property
    def clock(self) -> Callable[[], datetime]: ...

    @property
    def beside(self) -> Beside: ...

    @property
    def siblings(self) -> Callable[[], Iterable[Index]]: ...

    def writing(self, what: str, by: str = "") -> AbstractContextManager[str]: ...


@dataclass(frozen=True, slots=True)
class Target:
    """A note to be erased: its files, (path, etag) each, and all that names it.

    `names` are the ids by which the journal knows it.  `place` is where its path is mounted from.
    """

    note: Erased
    scope: str
    files: tuple[tuple[str, str], ...]
    names: tuple[str, ...]
    place: str = ""

    @property
    def path(self) -> str:
        """Where the note is, or was; empty where another note is now."""
        return next(iter(self.note.paths), "")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What erasing did besides: files it edited, and files it had to leave."""

    edited: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def said(self) -> tuple[str, ...]:
        return tuple(
            f"{path} changed at this moment and was left: look at it" for path in self.left
        )


@dataclass(slots=True)
class _Work:
    edited: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def found(
    vault: Vault, wanted: str, find: Callable[[str], Row], reaches: Callable[[str], bool]
) -> Target:
    """Return the target of exactly this id or path, whether it is a note, archived or undone.

    Raises:
        NoteNotFound: There is none in the scopes that the caller `reaches`.
        OnlyRead: It is a file of a host.
    """
    try:
        row = find(wanted)
    except NoteNotFound:
        target = of_id(vault, wanted.strip())
        if target is None or not reaches(target.scope):
            raise
        return target
    if is_host_file(row.path):
        raise OnlyRead(row.path)
    return of_row(vault, row)


def of_row(vault: Vault, row: Row) -> Target:
    """Return the target that an indexed note is, with its copies in the archive.

    Raises:
        NoteChanged: Its file is gone.
    """
    read = vault.store.read(row.path)
    if read is None:
        raise NoteChanged(row.path, row.seen.etag, None)
    files = [(row.path, read[0]), *_copies(vault.store, row.id, row.path)]
    return _target(vault, row.id, row.path, files, _wiki(vault.index, row))


def of_id(vault: Vault, wanted: str) -> Target | None:
    """Return the target that a note is which is archived, or is only in the journal any more."""
    for note, content in archived(vault.store):
        if wanted in (str(note.id), note.path, concept_id(note.path)):
            files = [(note.path, content), *_copies(vault.store, str(note.id), note.path)]
            return _target(vault, str(note.id), note.path, files)
    for change in reversed(vault.journal.changes()):
        for step in change.steps:
            if step.path and wanted in (step.note, step.path):
                files = list(_copies(vault.store, step.note, ""))
                return _target(vault, step.note, step.path, files)
    return None


def archived(store: Store) -> list[tuple[Note, bytes]]:
    """Return every archived note with its bytes, sorted by path."""
    paths = sorted(p for p, _ in store.walk() if p.startswith(f"{ARCHIVE}/") and _is_note(p))
    read = ((path, store.read(path)) for path in paths)
    return [(parse(found[0], path), found[0]) for path, found in read if found]


def erase(vault: Vault, targets: Sequence[Target], by: str = "") -> Outcome:
    """Erase notes; their texts are not to come back unasked.

    Raises:
        NoteChanged: A file was changed at this moment; nothing was done.
        VaultUnavailable, IndexUnavailable: Not all could be done; the next command goes on.
    """
    with vault.writing("erase", by):
        for target in targets:
            for path, etag in target.files:
                found = vault.store.read(path)
                if found and found[1].etag != etag:
                    raise NoteChanged(path, etag, found[1].etag)
        vault.beside.forget(_words(vault, targets))
        note_down = json.dumps([asdict(target) for target in targets], ensure_ascii=False)
        write_atomic(_noted(vault), note_down.encode())
        return finish(vault)


def steps(target: Target) -> tuple[str, ...]:
    """Say what erasing a note does, in sentences."""
    title = f" ({target.note.titles[0]})" if target.note.titles else ""
    gone = [f"remove the file {path}{title} for good" for path, _ in target.files]
    return (
        *gone,
        "remove its words, vectors and counters from the index, free pages included",
        "remove its versions from the journal, and its entries from log.md and index.md",
    )


def steps_for_others(vault: Vault, targets: Sequence[Target]) -> tuple[str, ...]:
    """Say which other files name the targets, and are edited."""
    own = {path for target in targets for path, _ in target.files}
    found = _mentions(vault.store, [target.note for target in targets])
    edits = [f"take its name out of {path}" for path, _, _ in found if path not in own]
    roots = dict.fromkeys(filter(None, map(root_above, vault.store.roots())))
    kept = [f"leave what was committed of it in the git history of {root}" for root in roots]
    return (*edits, *(f"{step}; --prove says how to purge that" for step in kept))


def is_unfinished(vault: Vault) -> bool:
    return _noted(vault).exists()


def finish(vault: Vault) -> Outcome:
    """Do what was written down, from whatever point on it is not done yet."""
    with vault.writing("erase"), vault.journal.paused():
        targets = _read_noted(vault)
        mounted = {"", *map(str, vault.store.mounts.values())}
        here = [target for target in targets if target.place in mounted]
        work = _Work()
        if here:
            _entomb(vault, here)
            _remove_files(vault, here, work)
            _clear_traces(vault, [target.note for target in here], work)
            _clear_indexes(vault, here, work)
            _clear_journal(vault, here, work)
        if len(here) == len(targets):
            _noted(vault).unlink(missing_ok=True)
    return Outcome(tuple(dict.fromkeys(work.paths)), tuple(work.left))


# -- what is to go


def _target(
    vault: Vault,
    note_id: str,
    path: str,
    files: Sequence[tuple[str, bytes]],
    wiki: tuple[tuple[str, str], ...] = (),
) -> Target:
    changes = vault.journal.changes()
    known = names(changes, note_id)
    steps = [step for change in changes for step in change.steps if step.note in known]
    kept = {etag: step.path for step in steps for etag in (step.before, step.after) if etag}
    texts = ((place, vault.journal.text(etag)) for etag, place in kept.items())
    versions = [parse(content, place) for place, content in texts if content is not None]
    notes = [*(parse(content, place) for place, content in files), *versions]
    paths = [path, *(note.path for note in notes), *(step.path for step in steps)]
    paths += [place.removeprefix(f"{ARCHIVE}/") for place in paths]
    own = {place for place, _ in files}
    erased = Erased(
        note_id,
        tuple(p for p in dict.fromkeys(paths) if p in own or vault.store.read(p) is None),
        tuple(dict.fromkeys(name for note in notes for name in (note.title, *note.aliases))),
        wiki,
        _marks(note_id, notes),
    )
    scope = scope_of(path.removeprefix(f"{ARCHIVE}/"))
    etags = tuple((place, etag_of(content)) for place, content in files)
    return Target(erased, scope, etags, tuple(sorted(known)), vault.store.place_of(path))


def _marks(note_id: str, notes: Iterable[Note]) -> tuple[str, ...]:
    own = (note_id,) if is_own_id(note_id) else ()
    found = (mark for note in notes for mark in marks_of(note) if not is_own_id(mark))
    return tuple(dict.fromkeys([*own, *found]))


def _copies(store: Store, note_id: str, path: str) -> Iterator[tuple[str, bytes]]:
    """Yield the other copies of a note that no longer are notes: archived, or in some trash."""
    for place, _ in store.walk() if is_own_id(note_id) else ():
        aside = place.startswith((f"{ARCHIVE}/", ".")) or "/." in place
        found = store.read(place) if aside and place != path and _is_note(place) else None
        if found and str(parse(found[0], place).id) == note_id:
            yield place, found[0]


def _wiki(index: Index, row: Row) -> tuple[tuple[str, str], ...]:
    """Return each note that links to this one, with the name by which it does."""
    back = index.incoming(row.key)
    sources = index.rows({link.note for link in back})
    named = (
        (sources[link.note].path, name_key(link.target.strip("/")))
        for link in back
        if link.note in sources
    )
    return tuple(dict.fromkeys(named))


def _words(vault: Vault, targets: Sequence[Target]) -> list[str]:
    """Return what the notes say, by words that stand together."""
    read = (vault.store.read(path) for target in targets for path, _ in target.files)
    texts = [parse(found[0], "").body for found in read if found]
    return [trace.text for trace in traces(texts, ())]


# -- the steps, each of which may have been done before


def _entomb(vault: Vault, targets: Sequence[Target]) -> None:
    for target in targets:
        tombstones.keep(vault.store, target.scope, target.note.marks, vault.clock())


def _remove_files(vault: Vault, targets: Sequence[Target], work: _Work) -> None:
    for path, etag in (file for target in targets for file in target.files):
        found = vault.store.read(path)
        if found and found[1].etag == etag:
            vault.store.remove(path, etag)
        elif found:  # a person has written it anew since
            work.left.append(path)
        else:  # who began this has died after it
            vault.store.record([Effect(path, None, None, vault.store.place_of(path))])
    for path, file in list(vault.store.walk()):
        if is_temporary(path.rpartition("/")[2]):  # nobody else writes while we hold the lock
            file.unlink(missing_ok=True)


def _clear_traces(vault: Vault, erased: Sequence[Erased], work: _Work) -> None:
    """Take the names of the notes out of all other files of the vault."""
    for path, content, new in _mentions(vault.store, erased):
        try:
            vault.store.write(path, new, etag_of(content))
        except MemorixError as error:
            _log.warning("%s still names an erased note: %s", path, error)
            work.left.append(path)
        else:
            work.edited[etag_of(content)] = etag_of(new)
            work.paths.append(path)


def _mentions(store: Store, erased: Sequence[Erased]) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield each file that names one of the notes: its path, its bytes, and these without that."""
    for path in sorted(place for place, _ in store.walk() if place.endswith(".md")):
        found = store.read(path)
        loose = path.startswith(f"{ARCHIVE}/")
        new = _cleared(found[0], path, erased, loose=loose) if found else b""
        if found and new != found[0]:
            yield path, found[0], new


def _cleared(content: bytes, path: str, erased: Sequence[Erased], *, loose: bool) -> bytes:
    if path.rpartition("/")[2] in RESERVED:
        content = _without_entries(content, path, erased)
    return neutralised(content, path, _root(path), erased, loose=loose)


def _without_entries(content: bytes, path: str, erased: Sequence[Erased]) -> bytes:
    """Return a log or an index without its entries about the notes."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    for one in erased:
        for place in one.paths:
            inner = place.removeprefix(f"{_root(path)}/")
            for name in dict.fromkeys((inner, unquote(relative_link(path, place)))):
                if path.endswith("log.md"):
                    text = reserved.without_log_text(text, name, one.said)
                else:
                    text = reserved.without_index_entry(text, name)
    return text.encode()


def _clear_indexes(vault: Vault, targets: Sequence[Target], work: _Work) -> None:
    drops: list[Change] = [Drop(path) for t in targets for path in t.note.paths]
    vault.index.apply(drops)
    notes = filter(vault.store.is_note, work.paths)
    sync.catch_up(vault.store, vault.index, notes, accept_loss=True)
    vault.index.purge()
    # Those of other copies of a project's repository look at the edited notes when they are used.
    for sibling in vault.siblings():
        sibling.apply([*drops, *map(Drop, work.paths)])
        sibling.purge()
        sibling.close()


def _clear_journal(vault: Vault, targets: Sequence[Target], work: _Work) -> None:
    erased = [target.note for target in targets]
    known = {name for target in targets for name in target.names}
    said = [note.id if is_own_id(note.id) else "" for note in erased]
    vault.journal.erase(
        known,
        said,
        lambda path, content: _cleared(content, path, erased, loose=True),
        work.edited,
    )


def _root(path: str) -> str:
    return folder_of(scope_of(path.removeprefix(f"{ARCHIVE}/")))


def _is_note(path: str) -> bool:
    return path.endswith(".md") and path.rpartition("/")[2] not in RESERVED


# -- what was written down


def _noted(vault: Vault) -> Path:
    return vault.journal.path.with_name("erasing.json")


def _read_noted(vault: Vault) -> list[Target]:
    try:
        listed = json.loads(_noted(vault).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    return [_target_from(data) for data in listed]


def _target_from(data: Mapping[str, Any]) -> Target:
    note: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in data["note"].items()
    }
    note["wiki"] = tuple((source, name) for source, name in note["wiki"])
    files = tuple((path, etag) for path, etag in data["files"])
    return Target(Erased(**note), data["scope"], files, tuple(data["names"]), data["place"])
