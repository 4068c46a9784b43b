"""Notes of which there are two versions: find them, show how they differ, make one note of both.

Sync services leave the second version in a file beside the note, git between marks within it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from memorix import ancestry, committed, copies, history, mergedriver
from memorix.errors import InvalidRequest, MemorixError, NoteNotFound, NoteUneditable
from memorix.frontmatter import cut, read_block, sides_of
from memorix.gitprogram import GitFailed
from memorix.layout import is_host_file
from memorix.memory import Memory
from memorix.merging import free_size, taken
from memorix.note import concept_id, decode, normalised, parse

SIDES = ("ours", "theirs")
# The note as it is under its name, and the copy; of git's marks, the version above and the one
# below.

MARKS = "git"


@dataclass(frozen=True, slots=True)
class Diverged:
    """A note of which there are two versions; `by` is who left the second.

    Without a `copy` the note holds both itself, between git's marks.  `alone` says that there is no
    note beside its copy.
    """

    note: str
    copy: str
    by: str
    alone: bool = False

    @property
    def path(self) -> str:
        """The file that tells of it, as a command takes it."""
        return self.copy or self.note


@dataclass(frozen=True, slots=True)
class Versions:
    """The two versions of a note, what they began from, and in words where that is known from."""

    ours: bytes
    theirs: bytes
    base: bytes
    known_from: str


@dataclass(frozen=True, slots=True)
class Merge:
    """What the versions of a note become: `content` in its file, while the copy is archived.

    `conflicts` names the keys, or `text`, that both sides changed, each otherwise; then nothing is
    written.  `archived` is where the copy went.
    """

    one: Diverged
    known_from: str
    lines: tuple[str, ...]
    content: bytes = b""
    conflicts: tuple[str, ...] = ()
    written: bool = False
    archived: str = ""


def found(memory: Memory, wanted: str = "") -> list[Diverged]:
    """Return the notes of which there are two versions, by their paths; or `wanted` alone.

    Raises:
        InvalidRequest: Of the one wanted there are not two versions.
    """
    listed = sorted([*_copies(memory), *_marked(memory)], key=lambda one: (one.note, one.copy))
    if not wanted:
        return listed
    names = {wanted.strip(), _path_of(memory, wanted)}
    fitting = [one for one in listed if names & {one.note, one.copy}]
    if not fitting:
        raise InvalidRequest(
            f"There are no two versions of {wanted}. `memorix conflicts` lists the notes that have "
            "a conflict copy beside them, or git's marks within."
        )
    return fitting


def versions(memory: Memory, one: Diverged) -> Versions:
    """Read the two versions of a note, and find what they began from.

    Raises:
        NoteNotFound: A file is gone.
    """
    ours = b"" if one.alone else _content(memory, one.note)
    if not one.copy:
        return _between_marks(memory, one.note, ours)
    theirs = _content(memory, one.copy)
    if one.alone:
        return Versions(theirs, theirs, theirs, "")
    base, known_from = _base(memory, one.note, ours, theirs)
    return Versions(ours, theirs, base, known_from)


def differences(one: Diverged, sides: Versions) -> list[str]:
    """Return how the second version differs from the first, as lines of a unified diff."""
    ours, theirs = one.note, one.copy or one.note
    names = (ours, theirs) if one.copy else (f"{ours} (ours)", f"{theirs} (theirs)")
    return _diff(sides.ours, sides.theirs, *names)


def merge(
    memory: Memory, one: Diverged, take: str = "", *, by: str = "", write: bool = False
) -> Merge:
    """Make one note of two versions, key by key and line by line; only shown unless `write` is set.

    What both changed, each otherwise, is a conflict, unless `take` says which side counts there.
    The copy is archived; one undo brings both files back.

    Raises:
        NoteNotFound, NoteChanged: A file is not what it was; nothing was written.
        InvalidRequest: Lines cannot be merged without git.
    """
    if not write:
        return _planned(memory, one, take)[0]
    with memory.writing("merge copy" if one.copy else "take out marks", by):
        plan, etags = _planned(memory, one, take)
        if plan.conflicts:
            return plan
        archived = _carry_out(memory, plan, etags)
        memory.catch_up(filter(memory.store.is_note, {one.note, one.path}), accept_loss=True)
        if row := memory.index.find(one.note):
            memory.enter_log("Merge", row.scope, one.note, row.title)
    memory.announce([one.note])
    return Merge(one, plan.known_from, plan.lines, plan.content, (), True, archived)


# -- finding


def _copies(memory: Memory) -> Iterator[Diverged]:
    paths = {path for path in memory.index.listing() if not is_host_file(path)}
    for path in paths:
        names = list(copies.named(path))
        beside = (name for name in names if name.of in paths or memory.store.signature(name.of))
        fitting = (n for n in beside if n.sure or _may_share_an_id(memory, n.of, path))
        fitting = (n for n in fitting if n.sure or _were_one(memory, n.of, path))
        if name := next(fitting, None):
            yield Diverged(name.of, path, name.by)
        elif names and names[0].sure:
            yield Diverged(names[0].of, path, names[0].by, alone=True)


def _may_share_an_id(memory: Memory, note: str, copy: str) -> bool:
    """Say whether one of two notes goes by its path, as those do whose id is another's, or none.

    It is asked of the index, so that notes which are only called alike need not be read.
    """
    rows = [memory.index.find(path) for path in (note, copy)]
    return any(row is None or row.id == concept_id(row.path) for row in rows)


def _were_one(memory: Memory, note: str, copy: str) -> bool:
    """Say whether two files are versions of one: they state one id, or none and much the same."""
    read = [memory.store.read(path) for path in (note, copy)]
    contents = [found[0] for found in read if found]
    if len(contents) < len(read):
        return False
    some, other = (
        parse(content, path) for content, path in zip(contents, (note, copy), strict=True)
    )
    if "id" in some.meta or "id" in other.meta:
        return some.meta.get("id") == other.meta.get("id")
    lines = [
        {normalised(line) for line in n.body.splitlines() if line.strip()} for n in (some, other)
    ]
    return 2 * len(lines[0] & lines[1]) >= max(min(map(len, lines)), 1)


def _marked(memory: Memory) -> Iterator[Diverged]:
    paths = {path for path, code, _, _ in memory.index.warnings() if code == "conflict-markers"}
    return (Diverged(path, "", MARKS) for path in paths if not is_host_file(path))


def _path_of(memory: Memory, wanted: str) -> str:
    try:
        return memory.find(wanted).path
    except MemorixError:
        return ""


# -- what two versions began from


def _between_marks(memory: Memory, path: str, content: bytes) -> Versions:
    sides = sides_of(_exact(content))
    if sides is None:
        raise InvalidRequest(f"{path} holds no two versions between git's marks any more.")
    ours, theirs, base = sides
    known_from = "what git left between the marks" if base else ""
    if not base and (staged := committed.before_the_merge(memory.store, path)) is not None:
        base, known_from = _exact(staged), "the commit before both, in git"
    base = base or ancestry.common(ours, theirs, path)
    return Versions(_bytes(ours), _bytes(theirs), _bytes(base), known_from)


def _base(memory: Memory, path: str, ours: bytes, theirs: bytes) -> tuple[bytes, str]:
    sides = [decode(content) for content in (ours, theirs)]
    if any(odd for _, odd in sides):
        return b"", ""
    known, whole = _history(memory, path)
    base, version = ancestry.base_of(known, sides[0][0], sides[1][0], path, whole=whole)
    return base.encode(), version.said if version else ""


def _history(memory: Memory, path: str) -> tuple[list[ancestry.Told], bool]:
    """Return what is known of a note's versions, and whether the first is its beginning."""
    try:
        told = history.versions_of(memory, path)
    except NoteNotFound:
        return [], False
    found, unbroken, whole = list[ancestry.Told](), False, False
    for place, version in enumerate(told):
        content = history.text_of(memory, version) if version.etag else None
        if content is not None:
            said = f"the version of {version.at} ({version.what})" if version.at else version.what
            linked = unbroken and bool(version.change)
            found.append(ancestry.Told(decode(content)[0], linked, said))
            whole = whole or (not place and bool(version.change or version.blob))
        unbroken = content is not None
    return found, whole and len(told) < committed.MOST


# -- merging


def _planned(
    memory: Memory, one: Diverged, take: str
) -> tuple[Merge, dict[str, tuple[bytes, str]]]:
    files = {path: _read(memory, path) for path in {one.path, *([] if one.alone else [one.note])}}
    sides = versions(memory, one)
    content, conflicts = _merged(sides, one.note, take)
    before = files[one.note][0] if one.note in files else sides.theirs
    lines = tuple(_diff(before, content, one.note, f"{one.note} (merged)"))
    return Merge(one, sides.known_from, lines, content, conflicts), files


def _merged(sides: Versions, path: str, take: str) -> tuple[bytes, tuple[str, ...]]:
    versions = (sides.base, sides.ours, sides.theirs)
    if any(b"\0" in content for content in versions):  # binary, as git sees it; UTF-16 is, too
        return (sides.theirs if take == "theirs" else sides.ours), () if take else ("lines",)
    size = free_size(*map(_exact, versions))
    try:
        content, conflicts = mergedriver.merged(*versions, path, size)
    except GitFailed as error:
        raise InvalidRequest(
            f"Both versions of {path} changed its text, and merging lines takes git: {error}. "
            "Nothing was written. Install git, or merge them by hand."
        ) from error
    if conflicts and take:
        content, conflicts = _bytes(taken(_exact(content), take, size)), ()
    if all(map(_is_sound, (sides.ours, sides.theirs))) and not (conflicts or _is_sound(content)):
        raise NoteUneditable(path, "its metadata is written in a way that no merge is safe in")
    return content, conflicts


def _exact(content: bytes) -> str:
    """Return a text that becomes these very bytes again, whatever their encoding."""
    return content.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _is_sound(content: bytes) -> bool:
    return read_block(cut(decode(content)[0]).block).sound


def _carry_out(memory: Memory, plan: Merge, files: dict[str, tuple[bytes, str]]) -> str:
    """Write the note, which is what counts, then take its copy away; return where that went."""
    one, store = plan.one, memory.store
    if one.alone:
        store.move(one.copy, one.note, files[one.copy][1])
        return ""
    before, etag = files[one.note]
    if plan.content != before:
        store.write(one.note, plan.content, etag)
    return store.archive(one.copy, files[one.copy][1]) if one.copy else ""


def _content(memory: Memory, path: str) -> bytes:
    return _read(memory, path)[0]


def _read(memory: Memory, path: str) -> tuple[bytes, str]:
    read = memory.store.read(path)
    if read is None:
        raise NoteNotFound(path)
    return read[0], read[1].etag


def _diff(old: bytes, new: bytes, name: str, other: str) -> list[str]:
    lines: Sequence[list[str]] = [decode(text)[0].splitlines(keepends=True) for text in (old, new)]
    return list(unified_diff(lines[0], lines[1], name, other))
