"""The links between notes in the index: stored as written, resolved when they are asked for.

A link to a note that does not exist yet is pending; it leads there as soon as the note appears,
because nothing but the note's names is looked up.
"""

from collections.abc import Iterable, Iterator

import apsw

from memorix.index.base import LinkRow
from memorix.index.schema import fetch
from memorix.links import Link, is_outside, links, name_key, note_path
from memorix.note import RESERVED, Note

PATH, SUFFIX, TITLE, ALIAS = range(4)
# What a wikilink may mean, from the surest to the vaguest.

Names = tuple[tuple[str, int], ...]
Links = tuple[tuple[str, ...], ...]


def names_of(note: Note, root: str) -> Names:
    """Return what wikilinks may call a note, each name with how sure it is.

    A title that is also the name of the file is there as both: the file may get another name.
    """
    said = ((note.title, TITLE), *((alias, ALIAS) for alias in note.aliases))
    return (*_named(_place_names(note.path, root)), *_named(said))


def _named(names: Iterable[tuple[str, int]]) -> Names:
    found: dict[str, int] = {}
    for name, rank in names:
        found.setdefault(name_key(name), rank)
    return tuple((name, rank) for name, rank in found.items() if name)


def _place_names(path: str, root: str) -> Iterator[tuple[str, int]]:
    yield path, PATH
    yield path.removeprefix(f"{root}/"), PATH
    parts = path.split("/")
    yield from (("/".join(parts[start:]), SUFFIX) for start in range(1, len(parts)))


def links_of(note: Note, root: str) -> Links:
    """Return a note's links as rows: kind, target as written, path or name, relation, label."""
    rows = (
        (link.kind, link.target, _key(note, root, link), link.relation, link.label)
        for link in links(note.body)
        if link.target and not is_outside(link.target)
    )
    return tuple(row for row in rows if row[0] == "wiki" or _is_note(row[2]))


def _key(note: Note, root: str, link: Link) -> str:
    if link.kind == "wiki":
        return name_key(link.target.strip("/"))
    return note_path(note.path, link.target, root)


def _is_note(path: str) -> bool:
    # A Markdown link to an image, to a reserved file or to a folder leads to no note.
    return path.endswith(".md") and path.rpartition("/")[2] not in RESERVED


def put(db: apsw.Connection, notes: Iterable[tuple[int, Names, Links]]) -> None:
    """Insert the names and the links of notes, each with its key."""
    listed = list(notes)
    db.executemany(
        "INSERT OR IGNORE INTO names(name, rank, note) VALUES (?, ?, ?)",
        [(name, rank, key) for key, names, _ in listed for name, rank in names],
    )
    db.executemany(
        "INSERT INTO links(note, kind, target, key, relation, label) VALUES (?, ?, ?, ?, ?, ?)",
        [(key, *link) for key, _, links in listed for link in links],
    )


def move(db: apsw.Connection, key: int, path: str, root: str) -> None:
    """Give a note the names of its new path, beside those it has of its title and aliases."""
    fetch(db, "DELETE FROM names WHERE note = ? AND rank <= ?", (key, SUFFIX))
    put(db, [(key, _named(_place_names(path, root)), ())])


def outgoing(db: apsw.Connection, key: int) -> list[LinkRow]:
    """Return the links of a note in their order, each with the keys of the notes it may mean."""
    rows = fetch(
        db,
        "SELECT l.note, l.kind, l.target, l.key, l.relation, l.label, n.scope FROM links l"
        " JOIN notes n ON n.key = l.note WHERE l.note = ? ORDER BY l.rowid",
        (key,),
    )
    return list(_resolved(db, rows))


def incoming(db: apsw.Connection, key: int) -> list[LinkRow]:
    """Return the links of other notes that lead to this one and to no other."""
    rows = fetch(
        db,
        "SELECT l.note, l.kind, l.target, l.key, l.relation, l.label, n.scope FROM links l"
        " JOIN notes n ON n.key = l.note WHERE l.note <> ?1 AND ("
        " (l.kind = 'markdown' AND l.key = (SELECT path FROM notes WHERE key = ?1))"
        " OR (l.kind = 'wiki' AND l.key IN (SELECT name FROM names WHERE note = ?1)))"
        " ORDER BY n.date DESC, n.path, l.rowid",
        (key,),
    )
    return [link for link in _resolved(db, rows) if link.means == (key,)]


def edges(db: apsw.Connection, keys: Iterable[int]) -> list[tuple[int, int]]:
    """Return (from, to) of every link that leaves or reaches one of these notes and is no riddle.

    A vault without links, as most are at first, costs one look.
    """
    if not fetch(db, "SELECT 1 FROM links LIMIT 1"):
        return []
    found = []
    for key in keys:
        found += [(key, *link.means) for link in outgoing(db, key) if len(link.means) == 1]
        found += [(link.note, key) for link in incoming(db, key)]
    return [(one, other) for one, other in found]


def _resolved(db: apsw.Connection, rows: Iterable[tuple[object, ...]]) -> Iterator[LinkRow]:
    for note, kind, target, key, relation, label, scope in rows:
        means = _by_name(db, str(key), str(scope)) if kind == "wiki" else _by_path(db, str(key))
        yield LinkRow(int(str(note)), str(target), str(relation), str(label), means)


def _by_path(db: apsw.Connection, path: str) -> tuple[int, ...]:
    return tuple(key for (key,) in fetch(db, "SELECT key FROM notes WHERE path = ?", (path,)))


def _by_name(db: apsw.Connection, name: str, scope: str) -> tuple[int, ...]:
    """Find the notes that a name means: those of the scope before others, then the surest kind."""
    rows = fetch(
        db,
        "SELECT m.note, n.scope = ?, m.rank FROM names m JOIN notes n ON n.key = m.note"
        " WHERE m.name = ? ORDER BY 2 DESC, 3",
        (scope, name),
    )
    return tuple(note for note, *how in rows if how == list(rows[0][1:]))
