"""The vectors that are kept by what was embedded: they outlive the notes' rows, not their text."""

import json
from collections.abc import Iterable

import apsw

from memorix.chunks import embedding_text, sentences
from memorix.index.base import Pending
from memorix.index.rows import chunk_of
from memorix.index.schema import fetch

_OF_NOTES = (
    "FROM chunks c JOIN kept_vectors v ON v.hash = c.hash AND v.model = ?"
    " WHERE c.note IN (SELECT value FROM json_each(?))"
)


def pending(
    db: apsw.Connection, fingerprint: str, languages: frozenset[str], limit: int
) -> list[Pending]:
    """Return the shortest texts that lack a vector of a model, or those of their sentences."""
    condition, values = missing(fingerprint, languages)
    rows = fetch(
        db,
        "SELECT c.hash, n.title, c.heading, c.text FROM chunks c JOIN notes n ON n.key = c.note"
        f" WHERE {condition} GROUP BY c.hash ORDER BY length(c.text) LIMIT ?",
        (*values, limit),
    )
    return [
        Pending(h, embedding_text(title, chunk_of(head, text)), sentences(text))
        for h, title, head, text in rows
    ]


def missing(fingerprint: str, languages: frozenset[str]) -> tuple[str, list[str]]:
    """Return the condition for a chunk `c` that the model has still to embed, and its values."""
    known = sorted(languages)
    condition = (
        "NOT EXISTS (SELECT 1 FROM kept_vectors v"
        " WHERE v.hash = c.hash AND v.model = ? AND v.sentences IS NOT NULL)"
    )
    if known:
        condition += f" AND c.language IN ({', '.join('?' * len(known))})"
    return condition, [fingerprint, *known]


def keep(
    db: apsw.Connection, fingerprint: str, rows: Iterable[tuple[bytes, bytes, bytes]]
) -> list[tuple[int, str, bytes]]:
    """Store for each hash the vector of its text and the packed ones of its sentences; return the
    chunk, scope and vector of each chunk that has one now."""
    owned = []
    for chunk_hash, vector, said in rows:
        db.execute(  # not of a text that was dropped while its vector was made
            "INSERT INTO kept_vectors(hash, model, vector, sentences)"
            " SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM chunks WHERE hash = ?1)"
            " ON CONFLICT DO UPDATE SET sentences = excluded.sentences",
            (chunk_hash, fingerprint, vector, said),
        )
        owners = fetch(
            db,
            "SELECT c.key, n.scope FROM chunks c JOIN notes n ON n.key = c.note WHERE c.hash = ?",
            (chunk_hash,),
        )
        owned += [(key, scope, vector) for key, scope in owners]
    return owned


def of_notes(db: apsw.Connection, keys: Iterable[int], fingerprint: str) -> list[tuple[int, bytes]]:
    sql = f"SELECT c.note, v.vector {_OF_NOTES} ORDER BY c.note, c.key"
    return fetch(db, sql, (fingerprint, json.dumps(list(keys))))


def sentences_of_notes(db: apsw.Connection, keys: Iterable[int], fingerprint: str) -> list[bytes]:
    sql = f"SELECT v.sentences {_OF_NOTES} AND v.sentences <> x''"
    return [blob for (blob,) in fetch(db, sql, (fingerprint, json.dumps(list(keys))))]
