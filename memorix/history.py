"""Look at what was written, take it back, and bring an earlier version of a note back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from memorix import committed, logbook
from memorix.errors import InvalidRequest, NoteNotFound, UndoRefused
from memorix.layout import scope_of
from memorix.memory import Memory
from memorix.note import decode
from memorix.versions import (
    Change,
    Operation,
    Remove,
    Shift,
    Version,
    Write,
    latest,
    names,
    net,
    undo_plan,
    undone,
    versions,
)

MIN_MARK = 6
# Characters of an etag after its `b2-`; fewer could mean several versions by chance.


@dataclass(frozen=True, slots=True)
class Undone:
    """A change that was taken back, how, and the change that did so: to undo that is to redo.

    With a dry run there is no such change yet.
    """

    change: Change
    steps: tuple[str, ...]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A change as a list shows it: the paths it touched, and whether it is undone by now."""

    change: Change
    paths: tuple[str, ...]
    undone: bool


def undo(
    memory: Memory, wanted: str = "", *, last: int = 1, by: str = "", dry_run: bool = False
) -> list[Undone]:
    """Take back one change, by its id, or a note's latest one, or the `last` ones of all.

    All is checked before anything is written.

    Raises:
        NoteNotFound: Nothing has this id.
        UndoRefused: A file is not what the change left.
    """
    with memory.store.locked():
        changes = memory.journal.changes()
        chosen = [_chosen(memory, changes, wanted)] if wanted else latest(changes, last)
        if not chosen:
            raise UndoRefused("There is nothing to undo: Memorix has written nothing of late.")
        found: dict[str, str | None] = {}
        plans = [(change, _plan(memory, changes, change, found)) for change in chosen]
        if dry_run:
            return [Undone(change, tuple(map(str, plan))) for change, plan in plans]
        return [_carry_out(memory, change, plan, by) for change, plan in plans]


def changes(memory: Memory, limit: int) -> list[Told]:
    """Return the latest changes, newest first."""
    listed = memory.journal.changes()
    out = undone(listed)
    newest = list(reversed(listed))[:limit]
    return [Told(c, tuple(step.path for step in net(c)), c.id in out) for c in newest]


def versions_of(memory: Memory, note_id: str) -> tuple[Version, ...]:
    """Return the versions of a note, oldest first, also of one that is gone.

    Where the notes lie in a git repository, those that its commits hold are among them.

    Raises:
        NoteNotFound: There is none, and never was as far as the journal and git tell.
    """
    listed = memory.journal.changes()
    row = memory.index.find(note_id.strip())
    note = row.id if row else _gone(listed, note_id.strip())
    if row is None and not note:
        return _in_git_alone(memory, note_id)
    found = memory.store.read(row.path) if row else None
    etag = found[1].etag if found else None
    told = versions(listed, note, row.path if row else "", etag)
    last = row.path if row else next((v.path for v in reversed(told) if v.path), "")
    return committed.with_committed(memory.store, told, last)


def _in_git_alone(memory: Memory, path: str) -> tuple[Version, ...]:
    wanted = path.strip()
    found = committed.versions(memory.store, wanted) if _is_note(memory, wanted) else []
    if not found:
        memory.find(path)  # says which notes are near
    return tuple(found)


def _is_note(memory: Memory, wanted: str) -> bool:
    return wanted.endswith(".md") and memory.store.is_note(wanted)


def text_of(memory: Memory, version: Version) -> bytes | None:
    """Return the bytes of a version; None where they are not kept."""
    if not version.etag:
        return b""
    found = memory.store.read(version.path)
    if found and found[1].etag == version.etag:
        return found[0]
    return memory.journal.text(version.etag) or committed.content(memory.store, version)


def differences(memory: Memory, told: Sequence[Version]) -> Iterator[list[str]]:
    """Yield for each version how it differs from the one before it, as lines of a unified diff."""
    old, name = b"", "/dev/null"
    for version in told:
        text = text_of(memory, version)
        if text is None:
            yield [f"(the text of {version.etag} is not kept)\n"]
            continue
        mark = f"{version.path}@{version.etag[:12] or 'gone'}"
        yield list(unified_diff(_lines(old), _lines(text), name, mark))
        old, name = text, mark


def bring_back(memory: Memory, note_id: str, mark: str, by: str = "") -> Version:
    """Write an earlier version of a note, named by the beginning of its etag, over the one now.

    Raises:
        NoteNotFound: There is no such note.
        InvalidRequest: The mark names no version, or several; or its text is not kept.
    """
    told = versions_of(memory, note_id)
    version = _named(told, mark)
    text = text_of(memory, version)
    if text is None:
        raise InvalidRequest(f"The text of {version.etag} is not kept any more.")
    row = memory.index.find(note_id.strip())
    with memory.writing("restore", by):
        path = row.path if row else memory.store.free_path(version.path.removesuffix(".md"))
        now = memory.store.read(path)
        memory.store.write(path, text, now[1].etag if now else None)
        memory.catch_up(filter(memory.store.is_note, [path]))
    memory.announce([path])
    return version


def _named(told: Sequence[Version], mark: str) -> Version:
    bare = mark.strip().removeprefix("b2-")
    fitting = {v.etag: v for v in told if v.etag and v.etag.removeprefix("b2-").startswith(bare)}
    if len(fitting) != 1 or len(bare) < MIN_MARK:
        raise InvalidRequest(
            f"{mark!r} names {len(fitting) if bare else 'no'} versions of this note. Nothing was "
            f"changed. Give at least {MIN_MARK} characters of an etag that `memorix history` shows."
        )
    return next(iter(fitting.values()))


def _gone(listed: Sequence[Change], wanted: str) -> str:
    """Return the id of a note that is no more, by its id or a path it had."""
    for change in reversed(listed):
        for step in change.steps:
            if wanted in (step.note, step.path, step.path.removesuffix(".md")):
                return step.note
    return ""


def _chosen(memory: Memory, listed: Sequence[Change], wanted: str) -> Change:
    wanted = wanted.strip()
    for change in listed:
        if change.id == wanted:
            return change
    row = memory.index.find(wanted)
    note = row.id if row else _gone(listed, wanted)
    if not note:
        memory.find(wanted)
        raise NoteNotFound(wanted)
    known = names(listed, note)
    own = [c for c in latest(listed, len(listed)) if known & {step.note for step in c.steps}]
    if not own:
        raise UndoRefused(
            f"There is nothing to undo: Memorix has not written {wanted} of late. To bring back an "
            f"earlier version: memorix history {wanted}, then memorix restore {wanted} --version"
        )
    return own[0]


def _plan(
    memory: Memory, listed: Sequence[Change], change: Change, found: dict[str, str | None]
) -> tuple[Operation, ...]:
    """Plan to undo a change, on files as `found` says they will be then; tell it what they become.

    Raises:
        UndoRefused: It cannot be done.
    """
    for step in (step for step in change.steps if step.path):
        if step.place != memory.store.place_of(step.path):
            raise UndoRefused(
                f"{change.id} was made to the notes in {step.place or memory.store.vault}. Nothing "
                "was undone. Go to that project and undo it there."
            )
        if step.path not in found:
            read = memory.store.read(step.path)
            found[step.path] = read[1].etag if read else None
    plan = undo_plan(change, found, listed[listed.index(change) + 1 :])
    for operation in plan:
        if isinstance(operation, Write) and _text_before(memory, operation) is None:
            raise UndoRefused(
                f"What {operation.path} said before {change.id} is not kept any more. Nothing was "
                "undone."
            )
    found.update({step.path: step.before for step in reversed(change.steps)})
    return plan


def _carry_out(memory: Memory, change: Change, plan: Sequence[Operation], by: str) -> Undone:
    paths = tuple(dict.fromkeys(path for operation in plan for path in _paths(operation)))
    titles = {path: row.title for path in paths if (row := memory.index.find(path))}
    with memory.writing("undo", by, undoes=change.id) as own:
        for operation in plan:
            _do(memory, operation)
        memory.catch_up(filter(memory.store.is_note, paths), accept_loss=True)
        _log(memory, paths, titles)
    memory.announce(paths)
    return Undone(change, tuple(map(str, plan)), own)


def _do(memory: Memory, operation: Operation) -> None:
    match operation:
        case Write(path, _, expect):
            memory.store.write(path, _text_before(memory, operation) or b"", expect)
        case Shift(path, target, expect):
            memory.store.move(path, target, expect)
        case Remove(path, expect):
            memory.store.remove(path, expect)


def _text_before(memory: Memory, operation: Write) -> bytes | None:
    kept = memory.journal.text(operation.etag)
    if kept is None:
        return committed.text(memory.store, operation.path, operation.etag)
    return kept


def _paths(operation: Operation) -> tuple[str, ...]:
    if isinstance(operation, Shift):
        return (operation.path, operation.target)
    return (operation.path,)


def _log(memory: Memory, paths: Sequence[str], titles: Mapping[str, str]) -> None:
    for path in paths if memory.log else ():
        row = memory.index.find(path)
        title = row.title if row else titles.get(path, "")
        if title:
            logbook.enter(memory.store, scope_of(path), "Undo", path, title, memory.clock())


def _lines(content: bytes) -> list[str]:
    return decode(content)[0].splitlines(keepends=True)
