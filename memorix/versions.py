"""Tell from what was written which versions a note had, and how a change is undone.

A change is what one call did to the files.  It is known by the etags each file had before and
after, so that what it did can be told from what others did since, people among them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memorix.errors import UndoRefused

ERASED = "erase"
# The one change that cannot be undone: the journal keeps no more than that it took place.


@dataclass(frozen=True, slots=True)
class Effect:
    """What is about to happen to a file: its bytes before and after, None where there is none.

    One without both only tells that the file was written, in no version that is to be kept.

    `place` is the repository folder that the path is mounted from; empty in the vault itself.
    """

    path: str
    before: bytes | None
    after: bytes | None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """An effect by its etags, on the note with this id."""

    path: str
    before: str | None
    after: str | None
    note: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What one call did: when (ISO 8601), who (an actor of OKF), what; which change it undid."""

    id: str
    at: str
    who: str
    what: str
    steps: tuple[Step, ...] = ()
    undoes: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """Bring a file back to the version with this etag; `expect` is what must be there now."""

    path: str
    etag: str
    expect: str | None

    def __str__(self) -> str:
        return f"{'restore' if self.expect else 'bring back'} {self.path} ({self.etag[:12]})"


@dataclass(frozen=True, slots=True)
class Remove:
    path: str
    expect: str

    def __str__(self) -> str:
        return f"remove {self.path}"


@dataclass(frozen=True, slots=True)
class Shift:
    """Give a file its old path again."""

    path: str
    target: str
    expect: str

    def __str__(self) -> str:
        return f"move {self.path} back to {self.target}"


Operation = Write | Remove | Shift


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a note; without an etag the note was taken away from this path.

    `change` is empty where nobody told the journal: a person edited the file.  `blob` is git's name
    of its bytes where a commit holds them.
    """

    etag: str
    path: str
    at: str
    who: str
    what: str
    change: str = ""
    blob: str = ""


def net(change: Change) -> tuple[Step, ...]:
    """Return what a change did to each path in the end, in order, without what it left alone."""
    return tuple(step for step in _folded(change) if step.before != step.after)


def _folded(change: Change) -> list[Step]:
    steps: dict[str, Step] = {}
    for step in change.steps:
        first = steps.get(step.path, step)
        steps[step.path] = replace(step, before=first.before, note=step.note or first.note)
    return list(steps.values())


def undone(changes: Sequence[Change]) -> frozenset[str]:
    """Return the ids of the changes whose undoing is still in force."""
    found: set[str] = set()
    for change in reversed(changes):
        if change.undoes and change.id not in found:
            found.add(change.undoes)
    return frozenset(found)


def latest(changes: Sequence[Change], count: int) -> list[Change]:
    """Return the newest changes in force that are not undoings themselves, newest first."""
    out = undone(changes)
    standing = [c for c in reversed(changes) if c.id not in out and not c.undoes]
    return standing[:count]


def undo_plan(
    change: Change, found: Mapping[str, str | None], later: Sequence[Change] = ()
) -> tuple[Operation, ...]:
    """Plan how the files get back what they were before a change.

    `found` holds the etag of each path of the change now; `later` are the changes after it.

    Raises:
        UndoRefused: A file is not what the change left, or there is nothing to undo.
    """
    if change.what == ERASED:
        raise UndoRefused(f"{change.id} erased a note for good. Nothing of it was kept.")
    folded = _folded(change)
    steps = [step for step in folded if found.get(step.path) != step.before]
    if not steps:
        raise UndoRefused(
            f"There is nothing to undo in {change.id}: its files are as they were before it."
        )
    left = {(step.path, step.after) for step in change.steps}
    for step in steps:
        if (step.path, found.get(step.path)) not in left:
            raise UndoRefused(_refusal(change, step, later))
    # One that was killed may have left a file at any of its steps.
    return tuple(_operations([replace(s, after=found.get(s.path)) for s in steps]))


def _operations(steps: Sequence[Step]) -> Iterable[Operation]:
    """Reverse the steps; a note that went to another path goes back, which keeps its file."""
    came = {step.path: step for step in steps if step.before is None}
    for step in reversed(steps):
        if step.before is None or step.path in came:
            continue
        origin = _origin(step, came.values()) if step.after is None else None
        if origin and origin.after:
            del came[origin.path]
            yield Shift(origin.path, step.path, origin.after)
            if origin.after != step.before:
                yield Write(step.path, step.before, origin.after)
        else:
            yield Write(step.path, step.before, step.after)
    for step in came.values():
        if step.after:
            yield Remove(step.path, step.after)


def _origin(gone: Step, came: Iterable[Step]) -> Step | None:
    """Return the step that brought a note to where it is, which is gone from this path."""
    alike = [step for step in came if step.note == gone.note or step.after == gone.before]
    return alike[0] if alike else None


def _refusal(change: Change, step: Step, later: Sequence[Change]) -> str:
    since = [c for c in later if any(s.path == step.path for s in net(c))]
    if since:
        last = since[-1]
        return (
            f"{step.path} was changed again by {last.who} ({last.what}, {last.at}). Nothing was "
            f"undone. Undo that first: memorix undo {last.id}, or look: memorix history {step.path}"
        )
    return (
        f"{step.path} was changed by hand since {change.at}. Nothing was undone. To see what "
        f"changed: memorix history {step.path} --diff"
    )


def names(changes: Sequence[Change], note: str) -> frozenset[str]:
    """Return the ids a note was known by; one without its own is known by the paths it had."""
    found = {note}
    for change in reversed(changes):
        steps = net(change)
        for step in steps:
            if step.before is None and step.after and step.note in found:
                found.update(s.note for s in steps if s.after is None and s.before == step.after)
    return frozenset(found)


def versions(
    changes: Sequence[Change], note: str, path: str, etag: str | None
) -> tuple[Version, ...]:
    """Return the versions of a note, oldest first; `path` and `etag` are those of its file now.

    What was found before a write and left by no other is a version that a person made.
    """
    known, found, last = names(changes, note), list[Version](), ""
    for change in changes:
        steps = net(change)
        for step in (step for step in steps if step.note in known):
            if step.before and step.before != last:
                found.append(_by_hand(step.before, step.path, first=not found))
            if step.after is None and _origin(step, [s for s in steps if s.before is None]):
                last = step.before or ""  # it went to another path, of which the next step tells
                continue
            last = step.after or ""
            found.append(Version(last, step.path, change.at, change.who, change.what, change.id))
    if etag and etag != last:
        found.append(_by_hand(etag, path, first=not found))
    return tuple(found)


def in_time(told: Sequence[Version], committed: Sequence[Version]) -> tuple[Version, ...]:
    """Put versions that commits hold among those that are told of; both are oldest first.

    A version that is told of is listed once; where nobody knows when it was made, the first commit
    that holds it says so.
    """
    known = {version.etag for version in told if version.etag}
    first = {version.etag: version for version in reversed(committed)}
    rest = [v for v in committed if v.etag and v.etag not in known]
    explained = [_explained(version, first.get(version.etag)) for version in told]
    merged = list[Version]()
    for place, version in enumerate(explained):
        until = next((later.at for later in explained[place:] if later.at), "")
        while rest and (not until or rest[0].at <= until):
            merged.append(rest.pop(0))
        merged.append(version)
    return (*merged, *rest)


def _explained(version: Version, commit: Version | None) -> Version:
    if commit is None or not version.etag:
        return version
    version = replace(version, blob=commit.blob)
    return version if version.at else replace(commit, path=version.path)


def _by_hand(etag: str, path: str, *, first: bool) -> Version:
    return Version(etag, path, "", "", "found" if first else "edited by hand")
