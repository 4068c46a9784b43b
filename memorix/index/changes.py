"""Write what happened to notes into the tables, inside a transaction that somebody else began."""

import json
from collections.abc import Iterable, Sequence

import apsw

from memorix.index import context, graph
from memorix.index.base import Drop, Rename, Touch
from memorix.index.rows import Prepared, facets_of, folded, note_row
from memorix.index.schema import fetch
from memorix.index.vectors import Vectors, kept_rows, table_name
from memorix.layout import folder_of
from memorix.note import Note, concept_id

Ready = Prepared | Rename | Touch | Drop
# A change with all slow work done.


def write(db: apsw.Connection, vectors: Vectors, changes: Sequence[Ready]) -> None:
    touched: list[context.Place] = []
    _drop_words(db, changes)
    models = fetch(db, "SELECT fingerprint, dim FROM models")
    for model, dim in models:
        declare(db, vectors, model, dim)
    fingerprints = [model for model, _ in models]
    for change in changes:
        match change:
            case Prepared():
                touched += _put(db, vectors, fingerprints, change)
            case Rename():
                touched += _rename(db, vectors, fingerprints, change)
            case Touch():
                db.execute(
                    "UPDATE notes SET signature = ?, etag = ? WHERE path = ?",
                    (change.seen.signature, change.seen.etag, change.path),
                )
            case Drop():
                touched += _drop(db, vectors, change.path)
    if any(isinstance(change, Drop) for change in changes):
        _hand_on_ids(db)
    context.refresh(db, touched)


def declare(db: apsw.Connection, vectors: Vectors, fingerprint: str, dim: int) -> None:
    """Make what a model needs for its vectors to be searched."""
    db.execute(
        "INSERT INTO models VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (fingerprint, dim, table_name(fingerprint)),
    )
    if vectors.declare(db, fingerprint, dim):
        vectors.add(db, fingerprint, kept_rows(db, fingerprint))


def _drop_words(db: apsw.Connection, changes: Iterable[Ready]) -> None:
    """Delete the words of all notes that are to be replaced, before others are inserted.

    FTS5 writes out what it holds whenever a row comes before the last one: deleting and
    inserting in turns takes five times as long.
    """
    paths = [
        c.put.note.path if isinstance(c, Prepared) else c.path
        for c in changes
        if isinstance(c, Prepared | Drop)
    ]
    chunks = fetch(
        db,
        "SELECT c.key FROM chunks c JOIN notes n ON n.key = c.note"
        " WHERE n.path IN (SELECT value FROM json_each(?)) ORDER BY c.key",
        (json.dumps(paths),),
    )
    db.executemany("DELETE FROM words WHERE rowid = ?", chunks)


# -- a note that is new or was edited


def _put(
    db: apsw.Connection, vectors: Vectors, models: Sequence[str], new: Prepared
) -> list[context.Place]:
    """Index a note in the place of what its path held; return the places in sessions it touches."""
    note = new.put.note
    note_id = _unique_id(db, note)
    touched = _drop(db, vectors, note.path)
    values = note_row(new, note_id)
    db.execute(f"INSERT INTO notes VALUES (NULL{', ?' * len(values)})", values)
    key = db.last_insert_rowid()
    tags = {tag.lower() for tag in note.tags}
    db.executemany("INSERT INTO tags VALUES (?, ?)", [(key, tag) for tag in sorted(tags)])
    facets = [(key, *facet) for facet in facets_of(note)]
    db.executemany("INSERT INTO facets VALUES (?, ?, ?)", facets)
    graph.put(db, key, new.names, new.links)
    _put_warnings(db, key, note, note_id)
    _put_chunks(db, vectors, models, key, new)
    return [*touched, *context.place_of(db, note.path)] if context.session_of(note) else touched


def _unique_id(db: apsw.Connection, note: Note) -> str:
    holder = fetch(db, "SELECT path FROM notes WHERE id = ?", (note.id,))
    taken = holder and holder[0][0] != note.path
    return concept_id(note.path) if taken else note.id


def _put_warnings(db: apsw.Connection, key: int, note: Note, note_id: str) -> None:
    rows = [(key, w.code, w.line, w.message) for w in note.warnings]
    if note_id != note.id:
        rows.append((key, "duplicate-id", 1, f"another note has the id {note.id} already"))
    db.executemany("INSERT INTO warnings VALUES (?, ?, ?, ?)", rows)


def _put_chunks(
    db: apsw.Connection, vectors: Vectors, models: Sequence[str], key: int, new: Prepared
) -> None:
    for chunk, language, chunk_hash, words in new.chunks:
        db.execute(
            "INSERT INTO chunks(note, language, hash, heading, text) VALUES (?, ?, ?, ?, ?)",
            (key, language, chunk_hash, chunk.heading, chunk.text),
        )
        rowid = db.last_insert_rowid()
        db.execute(
            "INSERT INTO words(rowid, title, exact, stem, around) VALUES (?, ?, ?, ?, ?)",
            (rowid, *words),
        )
        for model in models:
            kept = fetch(
                db,
                "SELECT vector FROM kept_vectors WHERE hash = ? AND model = ?",
                (chunk_hash, model),
            )
            vectors.add(db, model, [(rowid, new.put.scope, vector) for (vector,) in kept])


# -- a note that went, or went elsewhere


def _drop(db: apsw.Connection, vectors: Vectors, path: str) -> list[context.Place]:
    """Forget the note of a path, and return the place in a session that it leaves."""
    keys = fetch(db, "SELECT key FROM notes WHERE path = ?", (path,))
    touched = context.place_of(db, path) if keys else []
    for (key,) in keys:
        chunks = _chunks(db, key)
        db.executemany("DELETE FROM words WHERE rowid = ?", [(chunk,) for chunk in chunks])
        vectors.remove(db, chunks)
        graph.drop(db, key)
        for table in ("chunks", "tags", "facets", "warnings"):
            fetch(db, f"DELETE FROM {table} WHERE note = ?", (key,))
        fetch(db, "DELETE FROM notes WHERE key = ?", (key,))
    return touched


def _chunks(db: apsw.Connection, key: int) -> list[int]:
    return [chunk for (chunk,) in fetch(db, "SELECT key FROM chunks WHERE note = ?", (key,))]


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
    left = context.place_of(db, change.old) if away else []
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
    return [*left, *context.place_of(db, change.new)]


def _move_vectors(
    db: apsw.Connection, vectors: Vectors, models: Sequence[str], key: int, scope: str
) -> None:
    """Put the vectors of a note among those of its new scope."""
    vectors.remove(db, _chunks(db, key))
    for model in models:
        rows = fetch(
            db,
            "SELECT c.key, v.vector FROM chunks c JOIN kept_vectors v ON v.hash = c.hash"
            " AND v.model = ? WHERE c.note = ?",
            (model, key),
        )
        vectors.add(db, model, [(chunk, scope, vector) for chunk, vector in rows])
