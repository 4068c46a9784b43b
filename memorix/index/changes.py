"""Write what happened to notes into the tables, inside a transaction that somebody else began.

What comes together is written together: a statement for each note costs more than its row, and
FTS5 writes out what it holds whenever a row comes before the last one, so that to delete and to
insert in turns takes five times as long.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import apsw

from memorix.index import context, graph
from memorix.index.base import Drop, Rename, Touch
from memorix.index.rows import Prepared, file_date, folded
from memorix.index.schema import fetch
from memorix.index.vectors import Vectors, kept_rows, table_name
from memorix.layout import folder_of
from memorix.note import concept_id

Ready = Prepared | Rename | Touch | Drop
# A change with all slow work done.

_LISTED = "(SELECT value FROM json_each(?))"


def write(db: apsw.Connection, vectors: Vectors, changes: Sequence[Ready]) -> None:
    """Bring the tables up to changes that happened in this order."""
    touched: list[context.Place] = []
    models = fetch(db, "SELECT fingerprint, dim FROM models")
    for model, dim in models:
        declare(db, vectors, model, dim)
    fingerprints = [model for model, _ in models]
    for _, alike in groupby(changes, type):
        touched += _take_in(db, vectors, fingerprints, list(alike))
    if any(isinstance(change, Drop) for change in changes):
        _hand_on_ids(db)
    context.refresh(db, touched)


def _take_in(
    db: apsw.Connection, vectors: Vectors, models: Sequence[str], changes: Sequence[Ready]
) -> list[context.Place]:
    """Take in changes of one kind; return the places in sessions that they touch."""
    puts = [change for change in changes if isinstance(change, Prepared)]
    touched = _put(db, vectors, models, puts) if puts else []
    touched += _drop(db, vectors, [change.path for change in changes if isinstance(change, Drop)])
    for change in changes:
        if isinstance(change, Rename):
            touched += _rename(db, vectors, models, change)
    touches = [change for change in changes if isinstance(change, Touch)]
    db.executemany(
        "UPDATE notes SET signature = ?, etag = ? WHERE path = ?",
        [(*touch.seen, touch.path) for touch in touches],
    )
    db.executemany(
        "UPDATE notes SET created = ?1, date = ?1 WHERE path = ?2",
        [(file_date(touch.seen), touch.path) for touch in touches if touch.undated],
    )
    return touched


def declare(db: apsw.Connection, vectors: Vectors, fingerprint: str, dim: int) -> None:
    """Make what a model needs for its vectors to be searched."""
    db.execute(
        "INSERT INTO models VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (fingerprint, dim, table_name(fingerprint)),
    )
    if vectors.declare(db, fingerprint, dim):
        vectors.add(db, fingerprint, kept_rows(db, fingerprint))


# -- notes that are new or were edited


def _put(
    db: apsw.Connection, vectors: Vectors, models: Sequence[str], changes: Iterable[Prepared]
) -> list[context.Place]:
    """Index notes in the place of what their paths held."""
    news = {change.path: change for change in changes}
    touched = _drop(db, vectors, list(news))
    first = _next_key(db, "notes")
    numbered = list(enumerate(news.values(), first))
    ids = _unique_ids(db, news)
    _insert(db, "notes", ((key, ids[new.path], *new.row) for key, new in numbered))
    _insert(db, "tags", ((key, tag) for key, new in numbered for tag in new.tags))
    _insert(db, "facets", ((key, *facet) for key, new in numbered for facet in new.facets))
    _insert(db, "warnings", (row for key, new in numbered for row in _warnings(key, new, ids)))
    graph.put(db, ((key, new.names, new.links) for key, new in numbered))
    _put_chunks(db, vectors, models, numbered)
    return [*touched, *context.places_of(db, [new.path for new in news.values() if new.told])]


def _next_key(db: apsw.Connection, table: str) -> int:
    return int(fetch(db, f"SELECT coalesce(max(key), 0) + 1 FROM {table}")[0][0])


def _insert(db: apsw.Connection, table: str, rows: Iterable[tuple[object, ...]]) -> None:
    """Insert whole rows; `table` may name the columns there are values for."""
    listed = list(rows)
    if listed:
        marks = ", ".join("?" * len(listed[0]))
        db.executemany(f"INSERT INTO {table} VALUES ({marks})", listed)


def _unique_ids(db: apsw.Connection, news: Mapping[str, Prepared]) -> dict[str, str]:
    """Return the id of each path: its note's own, or one of its path where another has that."""
    wanted = {path: _candidates(new) for path, new in news.items()}
    listed = json.dumps([one for candidates in wanted.values() for one in candidates])
    holders = dict(fetch(db, f"SELECT id, path FROM notes WHERE id IN {_LISTED}", (listed,)))
    return {
        path: next(one for one in candidates if holders.setdefault(one, path) == path)
        for path, candidates in wanted.items()
    }


def _candidates(new: Prepared) -> tuple[str, ...]:
    # Somebody may have typed the path of one note as the id of another.
    return new.id, concept_id(new.path), new.path, f"{new.path}~"


def _warnings(
    key: int, new: Prepared, ids: Mapping[str, str]
) -> Iterator[tuple[int, str, int, str]]:
    yield from ((key, *warning) for warning in new.warnings)
    if ids[new.path] != new.id:
        yield key, "duplicate-id", 1, f"another note has the id {new.id} already"


def _put_chunks(
    db: apsw.Connection,
    vectors: Vectors,
    models: Sequence[str],
    numbered: Sequence[tuple[int, Prepared]],
) -> None:
    first = _next_key(db, "chunks")
    chunks = [(key, *chunk) for key, new in numbered for chunk in new.chunks]
    words = [said for _, new in numbered for said in new.words]
    _insert(db, "chunks", ((rowid, *chunk) for rowid, chunk in enumerate(chunks, first)))
    columns = "words(rowid, title, exact, stem, around)"
    _insert(db, columns, ((rowid, *said) for rowid, said in enumerate(words, first)))
    for model in models:
        vectors.add(db, model, _kept(db, model, first))


def _kept(db: apsw.Connection, model: str, first: int) -> list[tuple[int, str, bytes]]:
    """Return the vectors there are already for the texts of chunks from `first` on."""
    return fetch(
        db,
        "SELECT c.key, n.scope, v.vector FROM chunks c JOIN notes n ON n.key = c.note"
        " JOIN kept_vectors v ON v.hash = c.hash AND v.model = ? WHERE c.key >= ?",
        (model, first),
    )


# -- notes that went, or went elsewhere


def _drop(db: apsw.Connection, vectors: Vectors, paths: Sequence[str]) -> list[context.Place]:
    """Forget the notes of these paths, and return the places in sessions that they leave."""
    listed = json.dumps(paths)
    keys = fetch(db, f"SELECT key FROM notes WHERE path IN {_LISTED}", (listed,)) if paths else []
    if not keys:
        return []
    touched = context.places_of(db, paths)
    notes = json.dumps([key for (key,) in keys])
    chunks = fetch(db, f"SELECT key FROM chunks WHERE note IN {_LISTED} ORDER BY key", (notes,))
    db.executemany("DELETE FROM words WHERE rowid = ?", chunks)
    vectors.remove(db, [chunk for (chunk,) in chunks])
    for table in ("chunks", "tags", "facets", "warnings", "names", "links"):
        fetch(db, f"DELETE FROM {table} WHERE note IN {_LISTED}", (notes,))
    fetch(db, f"DELETE FROM notes WHERE key IN {_LISTED}", (notes,))
    return touched


def _hand_on_ids(db: apsw.Connection) -> None:
    """Give an id that two notes had to the one that is left, where the first is gone."""
    for key, own_id in fetch(
        db,
        "SELECT min(key), own_id FROM notes WHERE id <> own_id AND own_id NOT IN"
        " (SELECT id FROM notes) GROUP BY own_id",
    ):
        fetch(db, "UPDATE notes SET id = ? WHERE key = ?", (own_id, key))
        fetch(db, "DELETE FROM warnings WHERE note = ? AND code = 'duplicate-id'", (key,))


def _rename(
    db: apsw.Connection, vectors: Vectors, models: Sequence[str], change: Rename
) -> list[context.Place]:
    """Give a note its new path, and the id and the names that are made of it; the rest stays."""
    found = fetch(db, "SELECT key, scope FROM notes WHERE path = ?", (change.old,))
    if not found:
        return []
    key, scope = found[0]
    away = scope != change.scope
    left = context.places_of(db, [change.old]) if away else []
    db.execute(
        "UPDATE notes SET path = ?1, folded = ?2, scope = ?3, signature = ?4, etag = ?5,"
        " own_id = CASE WHEN own_id = ?6 THEN ?7 ELSE own_id END,"
        " id = CASE WHEN id = ?6 AND NOT EXISTS (SELECT 1 FROM notes WHERE id = ?7)"
        " THEN ?7 ELSE id END WHERE key = ?8",
        (
            *(change.new, folded(change.new), change.scope, *change.seen),
            *(concept_id(change.old), concept_id(change.new), key),
        ),
    )
    graph.move(db, key, change.new, folder_of(change.scope))
    if not away:
        return []
    _move_vectors(db, vectors, models, key, change.scope)
    return [*left, *context.places_of(db, [change.new])]


def _move_vectors(
    db: apsw.Connection, vectors: Vectors, models: Sequence[str], key: int, scope: str
) -> None:
    """Put the vectors of a note among those of its new scope."""
    chunks = fetch(db, "SELECT key FROM chunks WHERE note = ?", (key,))
    vectors.remove(db, [chunk for (chunk,) in chunks])
    for model in models:
        rows = fetch(
            db,
            "SELECT c.key, v.vector FROM chunks c JOIN kept_vectors v ON v.hash = c.hash"
            " AND v.model = ? WHERE c.note = ?",
            (model, key),
        )
        vectors.add(db, model, [(chunk, scope, vector) for chunk, vector in rows])
