"""Take the records of another program into the vault, one note each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from memorix import admission, held, imported, sync, tombstones
from memorix.batches import batches
from memorix.erasure import marks_of
from memorix.errors import (
    NoteChanged,
    NoteUneditable,
    SecretRefused,
    UnsafePath,
    VaultUnavailable,
)
from memorix.imported import Record, Unreadable
from memorix.index.base import Put
from memorix.layout import folder_of
from memorix.memory import Memory
from memorix.note import digest, parse
from memorix.results import Taken

Read = Callable[[], Iterable[Record | Unreadable]]
# Reads the source from its beginning, each time it is called.


@dataclass
class _Names:
    """Where the note of each record lies, or will lie, and what is a repeat within the source."""

    paths: dict[str, str] = field(default_factory=dict)
    repeats: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    total: int = 0


@dataclass(frozen=True, slots=True)
class Import:
    """What is to be taken in: the source's format and name, the scope, and how.

    `review` sends all to the inbox; `replace` overwrites what was edited here; `again` takes in
    what was forgotten for good.
    """

    format: str
    source: str
    scope: str
    review: bool = False
    replace: bool = False
    again: bool = False
    dry_run: bool = False


def take_in(
    memory: Memory, read: Read, job: Import, progress: Callable[[int, int], None] | None = None
) -> Iterator[Taken]:
    """Take all records in and say of each what became of it; doing it twice does nothing more.

    The source is read twice: first to know where each record's note lies, so that relations can
    lead there, then to write.  Each batch is kept as a whole, so that an import that was killed
    goes on where it stopped.
    """
    names = _named(memory, read, job, progress)
    change, done = "", 0
    for batch in batches(read(), _size):
        puts: list[Put] = []
        if job.dry_run:
            results = [_take(memory, one, job, names, puts) for one in batch]
        else:
            with memory.writing("import", change=change) as change:
                memory.places.claim(job.scope)
                results = [_take(memory, one, job, names, puts) for one in batch]
                memory.put(puts)
            memory.announce([put.note.path for put in puts])
        done += len(batch)
        if progress:
            progress(done, names.total)
        yield from results


def _size(one: Record | Unreadable) -> int:
    return 0 if isinstance(one, Unreadable) else len(one.body)


def _named(
    memory: Memory, read: Read, job: Import, progress: Callable[[int, int], None] | None
) -> _Names:
    """Give every record the path of its note: that of the note it became, else a free one."""
    names, seen = _Names(), dict[str, str]()
    for one in read():
        names.total += 1
        if progress and names.total % 100 == 0:
            progress(names.total, 0)
        if isinstance(one, Unreadable):
            continue
        record = imported.tidied(one)
        if record.key in names.paths or record.key in names.repeats:
            continue
        said = f"{record.title}\0{digest(record.body)}" if record.body.strip() else ""
        if said and said in seen and not record.relations:
            names.repeats[record.key] = seen[said]
            continue
        names.paths[record.key] = path = _path(memory, record, job, names)
        names.taken.add(path.casefold())
        if said:
            seen[said] = record.key
    return names


def _path(memory: Memory, record: Record, job: Import, names: _Names) -> str:
    row = memory.index.find(imported.note_id(record, job.format, job.scope))
    if row:
        return row.path
    root = folder_of(job.scope)
    if job.review or imported.why_review(record):
        root = held.inbox_of(root)
    stem = f"{root}/{imported.place_of(record)}"

    def in_use(path: str) -> bool:
        return path.casefold() in names.taken or memory.index.has_path(path)

    return memory.store.free_path(stem, in_use)


def _take(
    memory: Memory, one: Record | Unreadable, job: Import, names: _Names, puts: list[Put]
) -> Taken:
    if isinstance(one, Unreadable):
        return Taken(one.where, "unreadable", one.reason)
    record = imported.tidied(one)
    if record.key in names.repeats:
        there = names.paths[names.repeats[record.key]]
        return Taken(there, imported.KNOWN, f"{record.key} says the same")
    path = names.paths[record.key]
    try:
        return _kept(memory, record, path, job, names, puts)
    except (UnsafePath, VaultUnavailable, NoteUneditable, SecretRefused, NoteChanged) as error:
        return Taken(path, "refused", str(error))


def _kept(
    memory: Memory, record: Record, path: str, job: Import, names: _Names, puts: list[Put]
) -> Taken:
    mark, found = imported.mark_of(record), memory.store.read(path)
    status, reason = (
        imported.verdict(parse(found[0], path), mark) if found else _newcomer(memory, record, job)
    )
    if status == imported.CONFLICTING and job.replace:
        status, reason = imported.CHANGED, "what was edited here is replaced"
    if status not in (imported.NEW, imported.CHANGED):
        return Taken(path, status, reason)
    review = "asked for" if job.review else imported.why_review(record)
    content = imported.composed(
        record,
        format=job.format,
        source=job.source,
        note_id=imported.note_id(record, job.format, job.scope),
        path=path,
        path_of=lambda key: names.paths.get(names.repeats.get(key, key), ""),
        suggested=bool(review),
    )
    content, masked = admission.of_change(b"", content, path, memory.secrets)
    if not found and (day := _forgotten(memory, content, path, job)):
        return Taken(path, "forgotten", f"erased on {day}; --again takes it in")
    if not job.dry_run:
        old, seen = found or (None, None)
        new = content if old is None else imported.updated(old, content, path)
        new = imported.signed(new, path, mark)
        puts.append(
            sync.put_for(path, new, memory.store.write(path, new, seen.etag if seen else None))
        )
    said = [f"masked: {', '.join(masked)}"] if masked else []
    said += [f"into the inbox: {review}"] if review and not job.review and not found else []
    return Taken(path, status, reason or "; ".join(said))


def _newcomer(memory: Memory, record: Record, job: Import) -> tuple[str, str]:
    """Say what a record is that has no note of its own: NEW, or KNOWN to the scope already."""
    if record.body.strip() and not record.relations:
        for row in memory.index.same_text(digest(record.body), job.scope):
            if row.title == record.title:
                return imported.KNOWN, f"its text is that of {row.path}"
    return imported.NEW, ""


def _forgotten(memory: Memory, content: bytes, path: str, job: Import) -> str:
    """Return the day on which a text was forgotten for good, unless it is learnt again."""
    marks, scopes = marks_of(parse(content, path)), (job.scope, *memory.places.to_read(()))
    day = tombstones.day_of(memory.store, scopes, marks)
    if day and job.again:
        if not job.dry_run:
            tombstones.lift(memory.store, scopes, marks)
        return ""
    return day
