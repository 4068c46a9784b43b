"""The other notes that a note names: found by their ids, and made to say the same of it."""

from collections.abc import Callable, Mapping

from memorix import relations
from memorix.errors import NoteChanged
from memorix.index.base import Index
from memorix.layout import is_host_file
from memorix.lifecycle import Draft
from memorix.links import is_outside
from memorix.note import Note, parse
from memorix.reconcile import Seen
from memorix.store import Store


def mirror(
    store: Store,
    index: Index,
    path: str,
    rewrite: Callable[[str, bytes, str], Seen],
    expect: Mapping[str, str],
) -> tuple[str, ...]:
    """Make the notes that one replaces, is replaced by or disputes say so; return their paths.

    Call it with the write lock held.  Doing it twice changes nothing.  `expect` holds the etags of
    those that must not have changed.

    Raises:
        NoteChanged: One of them has.
    """
    found = store.read(path)
    note = parse(found[0], path) if found else None
    if note is None:
        return ()
    changed = []
    named = (*note.supersedes, note.superseded_by, *note.contested_by)
    for name in dict.fromkeys(filter(None, named)):  # one may be named twice, and is asked once
        row = index.find(name)
        other = store.read(row.path) if row else None
        if row is None or other is None or is_host_file(row.path):
            continue
        content, etag = other[0], other[1].etag
        if expect.get(row.path, etag) != etag:
            raise NoteChanged(row.path, expect[row.path], etag)
        marked = relations.counterpart(content, row.path, note)
        if marked:
            rewrite(row.path, marked, etag)
            changed.append(row.path)
    return tuple(changed)


def with_sources(draft: Draft, path: str, note_of: Callable[[str], Note]) -> Draft:
    """Return a draft whose sources, given as ids of notes or as URLs, are entries and links.

    `note_of` finds a note by its id and raises where there is none.
    """
    given = draft.extra.get("sources")
    names = [s for s in given if isinstance(s, str)] if isinstance(given, list) else []
    notes: Mapping[str, Note] = {name: note_of(name) for name in names if not is_outside(name)}
    return relations.drawing_on(draft, notes, path) if names else draft
