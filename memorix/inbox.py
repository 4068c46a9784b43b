"""Settle what waits in the inbox: a suggestion becomes a note, or is turned down."""

from dataclasses import dataclass, replace

from memorix import comparing, held, lifecycle, moving, privacy, tombstones
from memorix.erasure import marks_of
from memorix.errors import InvalidRequest
from memorix.index.base import Drop, Row
from memorix.layout import USER, folder_of, scope_of
from memorix.lifecycle import Draft, Edit
from memorix.memory import Memory
from memorix.note import Note, parse
from memorix.results import Forgotten, Near, Written

ACCEPTS = ("stable", "accepted")
# The value of `status` by which an edit accepts a suggestion.


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a person needs to know to judge a suggestion; `source` is where it was imported from."""

    id: str
    title: str
    gist: str
    type: str
    date: str
    scope: str
    path: str
    author: str
    origin: str
    source: str


def suggestions(memory: Memory, scope: str = "") -> list[Suggestion]:
    """Return what waits for review, newest first; by default of the project and the user.

    Raises:
        InvalidRequest: There is no such scope.
    """
    memory.look()
    scopes = memory.places.to_read((scope,) if scope else ())
    found = ((row, memory.store.read(row.path)) for row in memory.waiting(scopes))
    return [_suggestion(row, parse(read[0], row.path)) for row, read in found if read]


def in_review(memory: Memory, scope: str = "") -> list[tuple[Suggestion, tuple[Near, ...]]]:
    """Return what waits for review, each with the notes that it resembles or contradicts.

    Private notes are left out: an assistant reads the list, and they are for their owner alone.

    Raises:
        InvalidRequest: There is no such scope.
    """
    waiting = suggestions(memory, scope)
    notes = [memory.read(one.id).note for one in waiting]
    return [
        (one, resembling(memory, note, one.scope))
        for one, note in zip(waiting, notes, strict=True)
        if not privacy.is_private(note)
    ]


def accept(memory: Memory, note_id: str, by: str = "") -> Written:
    """Make a suggestion a note of its scope: out of the inbox, its id kept, links following.

    Its links to others in the inbox stay: they are right again once those are accepted too.
    One whose text the scope holds already is archived instead, with the status `already known`.

    Raises:
        NoteNotFound, NoteChanged, NoteUneditable, InvalidRequest: Nothing was changed.
    """
    row = _waiting(memory, note_id)
    with memory.writing("accept", by):
        content, seen = memory.content(row)
        note = parse(content, row.path)
        known = memory.known(Draft(note.body, note.title), row.scope)
        if known:
            memory.forget(row.id, "archive")
            state = memory.read(known.id)
            return _written(memory, known.id, known.path, state.etag, "already known")
        near = resembling(memory, note, row.scope)
        stable = lifecycle.accepted(content, row.path)
        if stable != content:  # the move comes last: with it the note counts
            memory.rewrite(row.path, stable, seen.etag)
        root = folder_of(row.scope)
        stem = held.outside(row.path, root).removesuffix(".md")
        target = memory.store.free_path(stem, memory.index.has_path)
        moved = moving.move(memory, row.id, target, links=True, along=held.inbox_of(root))
    return replace(_written(memory, moved.id, moved.path, moved.etag, "accepted"), near=near)


def reject(memory: Memory, note_id: str, *, dry_run: bool = False, by: str = "") -> Forgotten:
    """Turn a suggestion down: its file is removed, and it is not suggested again.

    Raises:
        NoteNotFound, NoteChanged, InvalidRequest: Nothing was changed.
    """
    row = _waiting(memory, note_id)
    if not dry_run:
        with memory.writing("reject", by):
            content, seen = memory.content(row)
            marks = marks_of(parse(content, row.path))
            tombstones.keep(memory.store, row.scope, marks, memory.clock())
            memory.store.remove(row.path, seen.etag)
            memory.put([Drop(row.path)])
        memory.announce([row.path])
    steps = (
        f"remove the suggestion {row.path} ({row.title})",
        "keep a hash of it, so that it is not suggested again",
    )
    return Forgotten(row.id, row.path, "reject", steps, not dry_run)


def revise(memory: Memory, note_id: str, etag: str, edit: Edit, author: str = "") -> Written:
    """Change a note as `Memory.revise` does; a suggestion that is set to stable is accepted."""
    status = str(edit.keys.get("status") or "")
    if status not in ACCEPTS or not is_suggestion(memory.find(note_id)):
        return memory.revise(note_id, etag, edit, author)
    with memory.writing("accept", author):
        memory.revise(note_id, etag, replace(edit, keys={**edit.keys, "status": None}), author)
        return accept(memory, note_id)


def forget(
    memory: Memory, note_id: str, level: str, *, dry_run: bool = False, author: str = ""
) -> Forgotten:
    """Forget a note as `Memory.forget` does; retiring a suggestion turns it down."""
    if level == "retire" and is_suggestion(memory.find(note_id)):
        return reject(memory, note_id, dry_run=dry_run, by=author)
    return memory.forget(note_id, level, dry_run=dry_run, author=author)


def is_suggestion(row: Row) -> bool:
    return held.in_inbox(row.path, folder_of(row.scope))


def resembling(memory: Memory, note: Note, scope: str) -> tuple[Near, ...]:
    """Return the notes of a scope that a suggestion resembles, to be looked at before it counts."""
    said = privacy.public(note)
    draft = Draft(said.body, said.title, said.type)
    return comparing.nearest(memory.index, draft, (scope, USER), memory.clock())


def _suggestion(row: Row, note: Note) -> Suggestion:
    source = note.meta.get("imported_from")
    return Suggestion(
        id=row.id,
        title=row.title,
        gist=row.gist,
        type=row.type,
        date=row.date,
        scope=row.scope,
        path=row.path,
        author=note.author,
        origin=note.origin,
        source=source if isinstance(source, str) else "",
    )


def _written(memory: Memory, note_id: str, path: str, etag: str, status: str) -> Written:
    return Written(note_id, path, etag, status, scope_of(path), memory.vector_state(note_id))


def _waiting(memory: Memory, note_id: str) -> Row:
    row = memory.find(note_id)
    if not is_suggestion(row):
        raise InvalidRequest(
            f"{row.path} waits in no inbox; it counts already. Nothing was changed. "
            "`memorix inbox` lists what waits."
        )
    return row
