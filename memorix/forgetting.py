"""Forget notes by what they are, in two steps, and bring forgotten ones back."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memorix import erasing, inbox, lifecycle
from memorix.errors import InvalidRequest, MemorixError, NoteNotFound, SelectionChanged
from memorix.index.base import Row
from memorix.layout import ARCHIVE, scope_of
from memorix.memory import Memory
from memorix.note import Note, concept_id, etag_of, parse
from memorix.query import Filter
from memorix.results import Forgotten, Written

MOST = 10_000
# Notes at once; more is a vault to be deleted.

SHOWN = 50
# Notes of a selection that are named; the rest is counted.


@dataclass(frozen=True, slots=True)
class Selection:
    """Which notes are meant: all that fit every condition given, exactly.

    `author` is who wrote the text, with or without the version; `path` is a note's, or a folder's
    with `/` at its end.
    """

    filter: Filter = field(default_factory=Filter)
    author: str = ""
    path: str = ""

    def __bool__(self) -> bool:
        return bool(self.author or self.path or self.filter != Filter(held=self.filter.held))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A note of a selection: its row, or its file where it is archived."""

    id: str
    path: str
    title: str
    etag: str
    row: Row | None = None


def forget(
    memory: Memory,
    note_id: str = "",
    level: str = "retire",
    selection: Selection | None = None,
    *,
    token: str = "",
    dry_run: bool = False,
    author: str = "",
) -> Forgotten:
    """Forget one note by its id, or all of a selection; `restore` brings one back.

    A selection is only listed at first, with a token; the same request with that token is carried
    out if the very same versions of the same notes are meant.

    Raises:
        NoteNotFound: No note has exactly this id or path; nothing was changed.
        InvalidRequest: There is no such level, or no note is named.
        SelectionChanged: Other notes fit by now; nothing was changed.
    """
    if note_id.strip():
        if selection or token:
            raise InvalidRequest("Name one note by its id, or several by what they are, not both.")
        if level == "restore":
            return _restored(memory, note_id, dry_run=dry_run, author=author)
        return inbox.forget(memory, note_id, level, dry_run=dry_run, author=author)
    if not selection:
        raise InvalidRequest(
            "Say what is to be forgotten: one id, or else tags, a type, a scope, dates, an author "
            "or a path."
        )
    lifecycle.check_level(level)
    memory.catch_up()
    with memory.writing(level, author):
        chosen = _chosen(memory, selection, level)
        mark = _mark(chosen, level)
        steps = _steps(chosen, level)
        if dry_run or not token.strip() or not chosen:
            steps += _unseen(memory, selection, chosen)
            return Forgotten("", "", level, steps, False, mark if chosen else "", _ids(chosen))
        if token.strip() != mark:
            raise SelectionChanged(len(chosen), mark)
        steps += _carry_out(memory, chosen, level, author)
    return Forgotten("", "", level, steps, True, "", _ids(chosen))


def restore(memory: Memory, note_id: str, author: str = "") -> Written:
    """Bring an archived note back to where it was, or a retired one back into force.

    Raises:
        NoteNotFound: No note has exactly this id or path.
        InvalidRequest: It is in force already, or has been replaced, or there are several of it.
    """
    archived = _archived(memory, note_id.strip())
    if archived is None:
        return _back_in_force(memory, note_id, author)
    note, content = archived
    row = memory.index.find(note.id) if "id" in note.meta else None
    if row:
        raise InvalidRequest(f"{row.path} has the id {note.id} already. Nothing was changed.")
    stem = concept_id(note.path.removeprefix(f"{ARCHIVE}/"))
    with memory.writing("restore", author):
        path = memory.store.free_path(stem, memory.index.has_path)
        memory.store.move(note.path, path, etag_of(content))
        memory.catch_up([path])
        memory.enter_log("Restoration", scope_of(path), path, note.title)
    memory.announce([path])
    row = memory.find(path)
    return memory.written(row.id, path, row.seen.etag, "restored", row.scope)


def archived(memory: Memory) -> list[Note]:
    """Return the archived notes of the scopes that the caller reaches, sorted by path."""
    found = (note for note, _ in erasing.archived(memory.store))
    return [note for note in found if memory.places.reaches(_scope(note))]


# -- one note


def _restored(memory: Memory, note_id: str, *, dry_run: bool, author: str) -> Forgotten:
    found = _archived(memory, note_id.strip())
    path = found[0].path if found else memory.find(note_id).path
    steps = (f"bring {path} back",)
    if dry_run:
        return Forgotten(note_id, path, "restore", steps, False)
    done = restore(memory, note_id, author)
    return Forgotten(done.id, done.path, "restore", steps, True)


def _archived(memory: Memory, wanted: str) -> tuple[Note, bytes] | None:
    """Return the archived note of this id, or of the path it has or had.

    Raises:
        InvalidRequest: There are several.
    """
    fitting = [
        (note, content)
        for note, content in erasing.archived(memory.store)
        if wanted in _names(note) and memory.places.reaches(_scope(note))
    ]
    if len(fitting) > 1:
        paths = ", ".join(note.path for note, _ in fitting)
        raise InvalidRequest(f"{wanted} was archived more than once. Name one by its path: {paths}")
    return fitting[0] if fitting and not memory.index.find(wanted) else None


def _scope(note: Note) -> str:
    return scope_of(note.path.removeprefix(f"{ARCHIVE}/"))


def _names(note: Note) -> set[str]:
    paths = {note.path, note.path.removeprefix(f"{ARCHIVE}/")}
    return {str(note.id), *paths, *map(concept_id, paths)}


def _back_in_force(memory: Memory, note_id: str, author: str) -> Written:
    row = memory.find(note_id)
    with memory.writing("restore", author):
        content, seen = memory.content(row)
        new = lifecycle.back_in_force(content, row.path)
        written = memory.rewrite(row.path, new, seen.etag)
        memory.enter_log("Restoration", row.scope, row.path, row.title)
    memory.announce([row.path])
    return memory.written(row.id, row.path, written.etag, "restored", row.scope)


# -- a selection


def _chosen(memory: Memory, selection: Selection, level: str) -> list[_Chosen]:
    """Return the notes that fit, sorted by path; in force only, where they are to be retired."""
    asked = selection.filter
    scopes = memory.places.to_read(asked.scopes) if asked.scopes else (memory.places.to_write(""),)
    wanted = replace(asked, scopes=scopes, everything=level != "retire")
    rows = memory.index.latest(wanted, memory.clock(), MOST + 1)
    if len(rows) > MOST:
        raise InvalidRequest(f"More than {MOST:,} notes fit. Narrow it down.")
    found = []
    for row in rows:
        read = memory.store.read(row.path) if _in_path(row.path, selection.path) else None
        if read and _is_by(parse(read[0], row.path), selection.author):
            found.append(_Chosen(row.id, row.path, row.title, read[1].etag, row))
    if level == "erase":
        found += _archived_fitting(memory, replace(selection, filter=wanted))
    return sorted(found, key=lambda one: one.path)


def _archived_fitting(memory: Memory, selection: Selection) -> list[_Chosen]:
    return [
        _Chosen(str(note.id), note.path, note.title, etag_of(content))
        for note, content in erasing.archived(memory.store)
        if _fits(note, selection)
    ]


def _fits(note: Note, selection: Selection) -> bool:
    """Say whether a note that is not indexed fits, as the index would."""
    home, wanted = note.path.removeprefix(f"{ARCHIVE}/"), selection.filter
    when = note.changed or note.created
    tags = {tag.casefold() for tag in note.tags}
    return (
        (not wanted.scopes or _scope(note) in wanted.scopes)
        and (not wanted.types or note.type.casefold() in {t.casefold() for t in wanted.types})
        and {tag.casefold() for tag in wanted.tags} <= tags
        and (wanted.since is None or (when is not None and when >= wanted.since))
        and (wanted.until is None or (when is not None and when < wanted.until))
        and (_in_path(home, selection.path) or _in_path(note.path, selection.path))
        and _is_by(note, selection.author)
    )


def _in_path(path: str, wanted: str) -> bool:
    return not wanted or path == wanted or (wanted.endswith("/") and path.startswith(wanted))


def _is_by(note: Note, author: str) -> bool:
    return not author or note.author == author or note.author.partition("/")[0] == author


def _mark(chosen: Sequence[_Chosen], level: str) -> str:
    """Return the token of exactly these versions of these notes, at this level."""
    said = json.dumps([level, *([one.id, one.path, one.etag] for one in chosen)])
    return "forget-" + hashlib.blake2b(said.encode(), digest_size=8).hexdigest()


def _ids(chosen: Sequence[_Chosen]) -> tuple[str, ...]:
    return tuple(one.id for one in chosen)


def _steps(chosen: Sequence[_Chosen], level: str) -> tuple[str, ...]:
    shown = tuple(f"{level} {one.path} ({one.title})" for one in chosen[:SHOWN])
    more = (f"{level} {len(chosen) - SHOWN} more",) if len(chosen) > SHOWN else ()
    return (*shown, *more) or ("no note fits",)


def _unseen(memory: Memory, selection: Selection, chosen: Sequence[_Chosen]) -> tuple[str, ...]:
    """Tell how many more fit that are held back, such as private ones, and are not named here."""
    if not selection.filter.held:
        return ()
    everyone = replace(selection, filter=replace(selection.filter, held=()))
    more = len(_chosen(memory, everyone, "archive")) - len(_chosen(memory, selection, "archive"))
    said = f"{more} more that are held back, such as private ones: a person forgets these by hand"
    return (said,) if more else ()


def _carry_out(
    memory: Memory, chosen: Sequence[_Chosen], level: str, author: str
) -> tuple[str, ...]:
    """Do it to each; return what could not be done."""
    if level == "erase":
        targets = [
            erasing.of_row(memory, one.row) if one.row else _archived_target(memory, one)
            for one in chosen
        ]
        memory.erase(targets, dry_run=False, author=author)
        return ()
    failed = []
    for one in chosen:
        try:
            inbox.forget(memory, one.id, level, author=author)
        except MemorixError as error:
            failed.append(f"left {one.path}: {error}")
    return tuple(failed)


def _archived_target(memory: Memory, one: _Chosen) -> erasing.Target:
    target = erasing.of_id(memory, one.path)
    if target is None:
        raise NoteNotFound(one.path)
    return target
