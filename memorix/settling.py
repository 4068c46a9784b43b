"""Settle how notes stand to each other: one replaces another, disputes it, or sums several up."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memorix import admission, counterparts, inbox, lifecycle, relations, unfinished
from memorix.errors import InvalidRequest, NoteChanged
from memorix.grammar import stated_since
from memorix.index.base import Drop, Row
from memorix.lifecycle import Draft, Edit
from memorix.memory import Memory
from memorix.mending import on_a_sound_index
from memorix.note import Note, digest, format_time, parse, render
from memorix.notes import VIA
from memorix.reconcile import Seen
from memorix.results import Written
from memorix.validity import holds_since, is_older

TOPIC = "Reference"
# The type of a document made of several notes, unless it is given another.


@dataclass(frozen=True, slots=True)
class Revision:
    """What is to become of a note; all but one of the ways are empty.

    `edit` changes it.  `draft` becomes a new note in its place, and in that of the notes `merge`
    ((id, etag) each).  `replaced_by` is the note that takes its place, `contested_by` are those
    that it disagrees with.
    """

    edit: Edit = field(default_factory=Edit)
    draft: Draft | None = None
    merge: tuple[tuple[str, str], ...] = ()
    replaced_by: str = ""
    contested_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Settlement:
    """A note to write, whose rename counts, and those that are to say the same of it then."""

    status: str
    note: Note
    content: bytes
    expect: str | None
    scope: str
    others: tuple[Row, ...]
    before: bytes | None = None
    masked: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[str, ...]:
        verb = "change" if self.expect else "create"
        follow = (relations.sentence(row.path, row.title, self.note) for row in self.others)
        return (f"{verb} {self.note.path} ({self.note.title})", *follow)


def revise(
    memory: Memory,
    note_id: str,
    etag: str,
    revision: Revision,
    author: str = "",
    *,
    dry_run: bool = False,
) -> Written:
    """Do what a revision says to a note that is still the version with this etag.

    Raises:
        NoteNotFound, NoteChanged, NoteUneditable, InvalidRequest: Nothing was written.
    """
    match revision:
        case Revision(draft=Draft() as draft, merge=merge) if merge:
            return combine(memory, [(note_id, etag), *merge], draft, dry_run=dry_run)
        case Revision(draft=Draft() as draft):
            return supersede(memory, note_id, etag, draft, dry_run=dry_run)
        case Revision(replaced_by=successor) if successor:
            return replaced_by(memory, note_id, etag, successor, author, dry_run=dry_run)
        case Revision(contested_by=others) if others:
            return contest(memory, note_id, etag, others, author, dry_run=dry_run)
    if dry_run:
        return memory.revise(note_id, etag, revision.edit, author, dry_run=True)
    return inbox.revise(memory, note_id, etag, revision.edit, author)


@on_a_sound_index
def supersede(
    memory: Memory, note_id: str, etag: str, draft: Draft, *, dry_run: bool = False
) -> Written:
    """Put a new note in the place of an old one, which stays readable but out of force.

    A draft that states an earlier `valid_from` than the old note has does not take its place: it is
    filed as history, and the old note stays in force.  The same request again writes nothing.

    Raises:
        NoteNotFound, NoteChanged, NoteUneditable, InvalidRequest: Nothing was written.
    """
    row = memory.find(note_id)
    draft, masked = admission.of_draft(draft, memory.secrets)
    with memory.writing("supersede", draft.author):
        done = _done_before(memory, row, draft)
        if done:
            return done
        old = _replaceable(row, memory.expected(row, etag)[0])
        draft = replace(draft, tags=draft.tags or old.tags, type=draft.type or old.type)
        path = _path_beside(memory, row, draft)
        draft = counterparts.with_sources(draft, path, memory.note_of)
        draft = _dated(draft, old)
        late = is_older(memory.composed(draft, path, row.scope), old)
        if late:
            draft, status = relations.as_history(draft, old, path), "filed as history"
        else:
            draft, status = relations.superseding(draft, [old], path), "superseded"
        note = memory.composed(draft, path, row.scope)
        plan = _Settlement(status, note, render(note), None, row.scope, (row,), masked=masked)
        return _carried_out(memory, plan, "" if late else row.id, dry_run=dry_run)


@on_a_sound_index
def combine(
    memory: Memory,
    wanted: Sequence[tuple[str, str]],
    draft: Draft,
    *,
    dry_run: bool = False,
) -> Written:
    """Put one topic document in the place of several notes, given as (id, etag) each.

    Raises:
        NoteNotFound, NoteChanged, NoteUneditable, InvalidRequest: Nothing was written.
    """
    rows = [memory.find(note_id) for note_id, _ in wanted]
    if len({row.id for row in rows}) < len(rows):
        raise InvalidRequest("A note cannot be merged with itself. Name each once.")
    draft, masked = admission.of_draft(draft, memory.secrets)
    with memory.writing("merge", draft.author):
        done = _done_before(memory, rows[0], draft)
        if done:
            return done
        pairs = list(zip(rows, (etag for _, etag in wanted), strict=True))
        old = [_replaceable(row, memory.expected(row, etag)[0]) for row, etag in pairs]
        path = _path_beside(memory, rows[0], draft)
        draft = counterparts.with_sources(
            replace(draft, type=draft.type or TOPIC), path, memory.note_of
        )
        draft = relations.merging(draft, old, path)
        note = memory.composed(draft, path, rows[0].scope)
        others, replaced = tuple(rows), ", ".join(row.id for row in rows)
        plan = _Settlement("merged", note, render(note), None, rows[0].scope, others, masked=masked)
        return _carried_out(memory, plan, replaced, dry_run=dry_run)


@on_a_sound_index
def replaced_by(
    memory: Memory,
    note_id: str,
    etag: str,
    successor: str,
    author: str = "",
    *,
    dry_run: bool = False,
) -> Written:
    """Let a note that is there already take the place of another; what comes back names the one
    that is in force, as after any replacement.

    One that states an earlier `valid_from` than the other is filed as its history instead.

    Raises:
        NoteNotFound, NoteChanged, NoteUneditable, InvalidRequest: Nothing was written.
    """
    row, newer = memory.find(note_id), memory.find(successor)
    if row.id == newer.id:
        raise InvalidRequest("A note cannot replace itself. Nothing was changed.")
    with memory.writing("supersede", author):
        if row.superseded_by == newer.id:
            done = memory.written(row.id, row.path, row.seen.etag, "superseded", row.scope)
            return _naming(memory, done, newer, row)
        content, seen = memory.expected(row, etag)
        other, known = memory.content(newer)
        old, new = _replaceable(row, content), _replaceable(newer, other)
        late = is_older(new, old)
        if late:
            row, newer, content, seen, old, new = newer, row, other, known, new, old
        named = {**new.meta, "supersedes": [*new.supersedes, str(old.id)]}
        marked = relations.counterpart(content, row.path, replace(new, meta=named)) or content
        status = "filed as history" if late else "superseded"
        note = parse(marked, row.path)
        plan = _Settlement(status, note, marked, seen.etag, row.scope, (newer,), content)
        done = _carried_out(memory, plan, row.id, dry_run=dry_run)
        return done if late else _naming(memory, done, newer, row)


def _naming(memory: Memory, done: Written, kept: Row, old: Row) -> Written:
    row = memory.find(kept.id)
    etag = done.etag and row.seen.etag  # a dry run has none
    return replace(done, id=row.id, path=row.path, etag=etag, scope=row.scope, superseded=old.id)


@on_a_sound_index
def contest(
    memory: Memory,
    note_id: str,
    etag: str,
    others: Sequence[str],
    author: str = "",
    *,
    dry_run: bool = False,
) -> Written:
    """Mark notes that disagree, on both sides; recall returns both with the mark, and picks none.

    Raises:
        NoteNotFound, NoteChanged, NoteUneditable, InvalidRequest: Nothing was written.
    """
    row, rows = memory.find(note_id), [memory.find(other) for other in others]
    if row.id in {other.id for other in rows}:
        raise InvalidRequest("A note cannot contest itself. Nothing was changed.")
    with memory.writing("contest", author):
        ids = [other.id for other in rows]
        if set(ids) <= set(row.contested_by):
            return memory.written(row.id, row.path, row.seen.etag, "contested", row.scope)
        content, seen = memory.expected(row, etag)
        edit = Edit(keys={"contested_by+": ids})
        marked = lifecycle.edited(
            content, row.path, edit, memory.clock(), author or memory.author, VIA
        )
        note = parse(marked, row.path)
        plan = _Settlement("contested", note, marked, seen.etag, row.scope, tuple(rows), content)
        return _carried_out(memory, plan, dry_run=dry_run)


def _dated(draft: Draft, old: Note) -> Draft:
    """Return a draft with the time its text states, where that lies before the old note's."""
    stated, since = stated_since(draft.text), holds_since(old)
    if "valid_from" in draft.extra or stated is None or since is None or stated >= since:
        return draft
    return replace(draft, extra={**draft.extra, "valid_from": format_time(stated)})


def _replaceable(row: Row, content: bytes) -> Note:
    """Return a note that another may take the place of.

    Raises:
        InvalidRequest: One has done so already.
    """
    note = parse(content, row.path)
    if note.superseded_by:
        raise InvalidRequest(
            f"{row.path} is replaced by {note.superseded_by} already. Nothing was changed. "
            "Read that note, and supersede it."
        )
    return note if note.id == row.id else replace(note, id=type(note.id)(row.id))


def _done_before(memory: Memory, row: Row, draft: Draft) -> Written | None:
    """Return what a request did that comes a second time, as after an answer that was lost."""
    newer = memory.index.find(row.superseded_by) if row.superseded_by else None
    content = memory.content(newer)[0] if newer else b""
    if newer is None or digest(parse(content, newer.path).body) != digest(draft.text):
        return None
    done = memory.written(newer.id, newer.path, newer.seen.etag, "superseded", newer.scope)
    return replace(done, superseded=row.id)


def _path_beside(memory: Memory, row: Row, draft: Draft) -> str:
    stem = f"{row.path.rpartition('/')[0]}/{lifecycle.stem_for(draft)}".lstrip("/")
    return memory.store.free_path(stem, memory.index.has_path)


def _carried_out(
    memory: Memory, plan: _Settlement, replaced: str = "", *, dry_run: bool
) -> Written:
    """Do what a plan says, one note after the other; a dry run only returns its steps."""
    note = plan.note
    seen_before: dict[str, str] = {}
    for row in plan.others:  # what cannot be edited is told before anything is written
        content, seen = memory.content(row)
        relations.counterpart(content, row.path, note)
        seen_before[row.path] = seen.etag
    if dry_run:
        planned = memory.written(note.id, note.path, "", "planned", plan.scope)
        return replace(planned, superseded=replaced, steps=plan.steps, masked=plan.masked)
    with unfinished.noted(memory.unfinished, note.path, memory.journal.current):
        seen = memory.rewrite(note.path, plan.content, plan.expect)
        try:
            followed = memory.mirror(note.path, seen_before)
        except NoteChanged:  # saved by somebody at this moment
            _withdraw(memory, plan, seen)
            raise
    memory.enter_log("Update" if plan.expect else "Creation", plan.scope, note.path, note.title)
    for row in plan.others if replaced else ():
        memory.enter_log("Deprecation", row.scope, row.path, row.title)
    memory.announce([note.path, *followed])
    written = memory.written(note.id, note.path, seen.etag, plan.status, plan.scope)
    return replace(written, superseded=replaced, steps=plan.steps, masked=plan.masked)


def _withdraw(memory: Memory, plan: _Settlement, seen: Seen) -> None:
    """Take back the note that a plan wrote, where nothing says the same of it yet; what has begun
    to is brought to its end by the next catch-up."""
    said = {name for row in plan.others for name in _names(memory.content(row)[0], row.path)}
    if plan.note.id not in said:
        if plan.before is None:
            memory.store.remove(plan.note.path, seen.etag)
            memory.put([Drop(plan.note.path)])
        else:
            memory.rewrite(plan.note.path, plan.before, seen.etag)


def _names(content: bytes, path: str) -> tuple[str, ...]:
    note = parse(content, path)
    return (*note.supersedes, note.superseded_by, *note.contested_by)
