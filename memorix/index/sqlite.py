"""The index in one SQLite file: notes, words (FTS5), chunks and their vectors."""

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import apsw

from memorix.errors import IndexUnavailable
from memorix.feedback import Impression
from memorix.index import counters, graph, impressions, kept, schema, strengths
from memorix.index.base import Change, Counts, Embedded, LinkRow, Pending, Put, Row
from memorix.index.changes import declare, write
from memorix.index.database import Database
from memorix.index.filters import where
from memorix.index.rows import folded, prepare, row_of
from memorix.index.schema import fetch
from memorix.index.sentences import packed, sharpened
from memorix.index.vectors import (
    MAX_NEIGHBOURS,
    BlobScan,
    VecTables,
    Vectors,
    load_extension,
)
from memorix.kinds import INBOX, INSTRUCTION, PRIVATE
from memorix.lexemes import (
    EXACT_COLUMNS,
    QueryTerm,
    all_of,
    match_expression,
)
from memorix.query import Filter, Match, Traits
from memorix.reconcile import Seen
from memorix.retention import Recalls
from memorix.usage import Shown, Total, Use

_ROW = (
    "n.key, n.id, n.path, n.scope, n.type, n.title, n.gist, n.created, n.date, n.status,"
    " n.valid_from, n.valid_to, n.expires_at, n.stale_after, n.superseded_by, n.held, n.branch,"
    " n.author, n.origin, n.tier,"
    f" EXISTS (SELECT 1 FROM warnings WHERE note = n.key AND code = '{INSTRUCTION}'),"
    " n.contested_by, n.signature, n.etag,"
    " (SELECT group_concat(tag, char(31)) FROM tags WHERE note = n.key)"
)
_AMONG = "IN (SELECT value FROM json_each(?))"
_SPARE, _WIDEN = 20, 8
# How much further to look where a filter left too little of the best matches, and for chunks one
# sentence of which is nearer than all of it.

_WORD, _APART = "\n", "\f"
_ONLY_AROUND = (3,)
# The column of `words` that holds what stands around a note.


class SqliteIndex:
    """An `Index` in one file, by default outside the vault."""

    def __init__(self, path: Path, *, extension: bool = True) -> None:
        self._extension = extension
        self._scan = BlobScan()
        self._db = Database(path, self._load, self._opened)
        self._db.connection()

    def _load(self, db: apsw.Connection) -> None:
        self._extension = self._extension and load_extension(db)

    @staticmethod
    def _opened(db: apsw.Connection) -> None:
        db.register_fts5_function("held", _held)

    # -- the folder's mirror

    def size(self) -> int:
        return int(self._db.query("SELECT count(*) FROM notes")[0][0])

    def listing(self) -> dict[str, Seen]:
        rows = self._db.query("SELECT path, signature, etag FROM notes")
        return {path: Seen(signature, etag) for path, signature, etag in rows}

    def apply(self, changes: Iterable[Change]) -> None:
        prepared = [prepare(c) if isinstance(c, Put) else c for c in changes]
        if prepared:
            with self._db.writing() as db:
                write(db, self._vectors(), prepared)

    # -- search

    def match_words(
        self, terms: Sequence[QueryTerm], wanted: Filter, now: datetime, limit: int
    ) -> list[Match]:
        expression = match_expression(terms)
        if not expression or limit < 1:
            return []
        condition, values = where(wanted, now)
        sql = (
            "SELECT rowid, -rank, held(words) FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        )
        found: list[Match] = []
        tokens_of = cache(_tokens)  # most hold the same few
        for reach in (limit + _SPARE, (limit + _SPARE) * _WIDEN, -1):
            best = self._db.query(sql, (expression, reach))
            held = {chunk: tokens_of(tokens) for chunk, _, tokens in best}
            scores = {chunk: score for chunk, score, _ in best}
            found = self._owned(scores, condition, values, held)[:limit]
            if len(found) >= limit or len(best) < reach or reach < 0:
                break
        return found

    def frequencies(
        self, tokens: Iterable[str], scopes: Sequence[str] = ()
    ) -> tuple[dict[str, int], int]:
        if scopes:
            return self._frequencies_in(dict.fromkeys(tokens), scopes)
        sql = f"SELECT term, doc FROM vocabulary WHERE term {_AMONG}"
        counts = dict(self._db.query(sql, (_listed(dict.fromkeys(tokens)),)))
        return counts, self._db.query("SELECT count(*) FROM chunks")[0][0]

    def _frequencies_in(
        self, tokens: Iterable[str], scopes: Sequence[str]
    ) -> tuple[dict[str, int], int]:
        joined = "chunks c JOIN notes n ON n.key = c.note"
        within = f"n.held = '' AND n.scope {_AMONG}"
        one = "SELECT count(*) FROM words w JOIN chunks c ON c.key = w.rowid"
        one += " JOIN notes n ON n.key = c.note"
        one += f" WHERE words MATCH ? AND {within}"
        listed = _listed(scopes)
        counts = {t: self._db.query(one, (f'"{t}"', listed))[0][0] for t in tokens}
        total = self._db.query(f"SELECT count(*) FROM {joined} WHERE {within}", (listed,))[0][0]
        return {token: count for token, count in counts.items() if count}, total

    def holding(self, words: Sequence[str], at_most: int) -> list[list[int]]:
        if not words:
            return []
        one = "(SELECT json_group_array(rowid) FROM"
        one += " (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?))"
        asked = [(f"{EXACT_COLUMNS} : ({all_of(word.split())})", at_most) for word in words]
        found = self._db.query(
            f"SELECT {', '.join([one] * len(words))}", [value for pair in asked for value in pair]
        )
        return [json.loads(chunks) for chunks in found[0]]

    def owners(self, scores: Mapping[int, float], wanted: Filter, now: datetime) -> list[Match]:
        return self._owned(scores, *where(wanted, now))

    def match_vector(
        self, vector: bytes, fingerprint: str, wanted: Filter, now: datetime, limit: int
    ) -> list[Match]:
        condition, values = where(wanted, now)
        found: list[Match] = []
        for reach in (limit + _SPARE, limit * _WIDEN, MAX_NEIGHBOURS):
            db = self._db.connection()
            with self._db.as_unavailable():
                near = self._vectors().nearest(db, vector, fingerprint, wanted.scopes, reach)
            found = self._owned(dict(near), condition, values)[: limit + _SPARE]
            if len(found) >= limit or len(near) < reach:
                break
        with self._db.as_unavailable():
            return sharpened(self._db.connection(), vector, fingerprint, found)[:limit]

    def keys(self, ids: Iterable[str], wanted: Filter, now: datetime) -> dict[str, int]:
        condition, values = where(wanted, now)
        sql = f"SELECT n.id, n.key FROM notes n WHERE n.id {_AMONG} AND {condition}"
        return dict(self._db.query(sql, (_listed(ids), *values)))

    def rows(self, keys: Iterable[int]) -> dict[int, Row]:
        sql = f"SELECT {_ROW} FROM notes n WHERE n.key {_AMONG}"
        return {row[0]: row_of(row) for row in self._db.query(sql, (_listed(keys),))}

    def traits(self, keys: Iterable[int]) -> dict[int, Traits]:
        sql = (
            "SELECT key, id, date, author, session, origin, tier, status,"
            " coalesce((SELECT value FROM facets WHERE note = n.key AND key = 'importance'), ''),"
            f" scope, branch FROM notes n WHERE key {_AMONG}"
        )
        rows = self._db.query(sql, (_listed(keys),))
        return {
            key: Traits._make((*said, (scope, branch) if branch else None))
            for key, *said, scope, branch in rows
        }

    def texts(self, chunks: Iterable[int]) -> dict[int, str]:
        sql = f"SELECT key, text FROM chunks WHERE key {_AMONG}"
        return dict(self._db.query(sql, (_listed(chunks),)))

    def texts_of(self, notes: Iterable[int]) -> list[str]:
        sql = f"SELECT text FROM chunks WHERE note {_AMONG} ORDER BY key"
        return [text for (text,) in self._db.query(sql, (_listed(notes),))]

    # -- single notes

    def find(self, note_id: str) -> Row | None:
        sql = f"SELECT {_ROW} FROM notes n WHERE n.id = ? OR n.path = ? OR n.path = ? || '.md'"
        rows = self._db.query(sql + " ORDER BY n.id = ? DESC", (note_id,) * 4)
        rows = rows or self._spelled_otherwise(note_id)
        return row_of(rows[0]) if rows else None

    def _spelled_otherwise(self, path: str) -> list[Any]:
        """Find the note whose path is this one in another Unicode form."""
        sql = f"SELECT {_ROW} FROM notes n WHERE n.folded IN (?, ?)"
        rows = self._db.query(sql, (folded(path), folded(f"{path}.md")))
        wanted = unicodedata.normalize("NFC", path).removesuffix(".md")
        same = (
            row for row in rows if unicodedata.normalize("NFC", row[2])[: -len(".md")] == wanted
        )
        return list(same)

    def has_path(self, path: str) -> bool:
        return bool(self._db.query("SELECT 1 FROM notes WHERE folded = ?", (folded(path),)))

    def near_ids(self, wanted: str, limit: int) -> list[Row]:
        sql = (
            f"SELECT {_ROW} FROM notes n WHERE held <> ? AND (n.id LIKE ? ESCAPE '\\'"
            " OR n.path LIKE ? ESCAPE '\\' OR n.title LIKE ? ESCAPE '\\') ORDER BY n.path LIMIT ?"
        )
        part = wanted.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        rows = self._db.query(sql, (PRIVATE, f"{part}%", f"%{part}%", f"%{part}%", limit))
        return [row_of(row) for row in rows]

    def same_text(self, digest: str, scope: str) -> list[Row]:
        sql = f"SELECT {_ROW} FROM notes n WHERE n.digest = ? AND n.scope = ?"
        rows = self._db.query(f"{sql} ORDER BY n.held = ?, n.date", (digest, scope, INBOX))
        return [row_of(row) for row in rows]

    def outgoing(self, key: int) -> list[LinkRow]:
        with self._db.as_unavailable():
            return graph.outgoing(self._db.connection(), key)

    def incoming(self, key: int) -> list[LinkRow]:
        with self._db.as_unavailable():
            return graph.incoming(self._db.connection(), key)

    def edges(self, keys: Iterable[int]) -> list[tuple[int, int]]:
        with self._db.as_unavailable():
            return graph.edges(self._db.connection(), keys)

    def openings(self, keys: Iterable[int], wanted: Filter, now: datetime) -> list[Match]:
        sql = f"SELECT min(key) FROM chunks WHERE note {_AMONG} GROUP BY note"
        first = self._db.query(sql, (_listed(keys),))
        return self._owned({chunk: 0.0 for (chunk,) in first}, *where(wanted, now))

    def latest(self, wanted: Filter, now: datetime, limit: int, offset: int = 0) -> list[Row]:
        condition, values = where(wanted, now)
        sql = (
            f"SELECT {_ROW} FROM notes n WHERE {condition}"
            " ORDER BY n.date DESC, n.path LIMIT ? OFFSET ?"
        )
        return [row_of(row) for row in self._db.query(sql, (*values, limit, offset))]

    def count(self, wanted: Filter, now: datetime) -> int:
        condition, values = where(wanted, now)
        return int(self._db.query(f"SELECT count(*) FROM notes n WHERE {condition}", values)[0][0])

    def warnings(self) -> list[tuple[str, str, int, str]]:
        return self._db.query(
            "SELECT n.path, w.code, w.line, w.message FROM warnings w"
            " JOIN notes n ON n.key = w.note ORDER BY n.path, w.line"
        )

    # -- vectors

    def pending(self, fingerprint: str, languages: frozenset[str], limit: int) -> list[Pending]:
        with self._db.as_unavailable():
            return kept.pending(self._db.connection(), fingerprint, languages, limit)

    def keep_vectors(self, fingerprint: str, made: Sequence[Embedded]) -> None:
        if not made:
            return
        rows = [(one.hash, one.vector, packed(one.sentences)) for one in made]
        with self._db.writing() as db:
            finder = self._vectors()
            declare(db, finder, fingerprint, len(made[0].vector) // 4)
            finder.add(db, fingerprint, kept.keep(db, fingerprint, rows))

    def note_vectors(self, keys: Iterable[int], fingerprint: str) -> list[tuple[int, bytes]]:
        with self._db.as_unavailable():
            return kept.of_notes(self._db.connection(), keys, fingerprint)

    def sentence_vectors(self, keys: Iterable[int], fingerprint: str) -> list[bytes]:
        with self._db.as_unavailable():
            return kept.sentences_of_notes(self._db.connection(), keys, fingerprint)

    def embedded(self, note_id: str, fingerprint: str, languages: frozenset[str]) -> bool:
        condition, values = kept.missing(fingerprint, languages)
        sql = (
            "SELECT 1 FROM chunks c WHERE c.note = (SELECT key FROM notes WHERE id = ?)"
            f" AND {condition} LIMIT 1"
        )
        return not self._db.query(sql, (note_id, *values))

    # -- figures and upkeep

    def counts(self, fingerprint: str, languages: frozenset[str]) -> Counts:
        condition, values = kept.missing(fingerprint, languages)
        one = "SELECT count(*) FROM "
        joined = "chunks c JOIN kept_vectors v ON v.hash = c.hash AND v.model = ?"
        return Counts(
            notes=self._db.query(f"{one} notes")[0][0],
            chunks=self._db.query(f"{one} chunks")[0][0],
            vectors=self._db.query(f"{one} {joined}", (fingerprint,))[0][0],
            pending=self._db.query(f"{one} chunks c WHERE {condition}", values)[0][0],
            by_scope=dict(
                self._db.query("SELECT scope, count(*) FROM notes GROUP BY 1 ORDER BY 1")
            ),
            by_type=dict(self._db.query("SELECT type, count(*) FROM notes GROUP BY 1 ORDER BY 1")),
        )

    def recalled(self, note_ids: Sequence[str], now: datetime) -> None:
        with self._db.writing() as db:
            strengths.count(db, note_ids, now)

    def recalls(self, note_ids: Iterable[str]) -> dict[str, Recalls]:
        with self._db.as_unavailable():
            return strengths.counted(self._db.connection(), note_ids)

    def count_uses(self, uses: Sequence[Use]) -> None:
        with self._db.writing() as db:
            counters.count(db, uses)

    def uses(self, since: date) -> list[Total]:
        with self._db.as_unavailable():
            return counters.totals(self._db.connection(), since)

    def most_shown(self, since: date, limit: int) -> list[Shown]:
        with self._db.as_unavailable():
            return counters.most_shown(self._db.connection(), since, limit)

    def show(self, session: str, shown: Sequence[Impression], now: datetime) -> None:
        with self._db.writing() as db:
            impressions.show(db, session, shown, now)

    def used(self, session: str, note_id: str, now: datetime) -> bool:
        with self._db.writing() as db:
            return impressions.used(db, session, note_id, now)

    def impressions(self) -> list[Impression]:
        with self._db.as_unavailable():
            return impressions.listed(self._db.connection())

    def forget_impressions(self) -> None:
        with self._db.writing() as db:
            fetch(db, "DELETE FROM impressions")

    def purge(self) -> None:
        with self._db.writing() as db:
            fetch(db, "DELETE FROM kept_vectors WHERE hash NOT IN (SELECT hash FROM chunks)")
            for table in ("recalls", "shown", "impressions"):
                fetch(db, f"DELETE FROM {table} WHERE id NOT IN (SELECT id FROM notes)")
            fetch(db, "INSERT INTO words(words) VALUES ('optimize')")
        with self._db.as_unavailable():
            db = self._db.connection()
            fetch(db, "VACUUM")
            busy = fetch(db, "PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
        if busy:
            raise IndexUnavailable(
                f"Another process reads {self._db.path}, so what was dropped may still be in its "
                "log. The next command finishes the work."
            )
        self._db.set_aside_path.unlink(missing_ok=True)

    def clear(self) -> None:
        with self._db.writing() as db:
            schema.drop_derived(db)
            fetch(db, schema.DERIVED)
            schema.set_up_words(db)

    def reset(self) -> None:
        self._db.set_aside()
        self._db.connection()

    def problems(self) -> list[str]:
        found = [row[0] for row in self._db.query("PRAGMA quick_check(5)") if row[0] != "ok"]
        chunks, words = (
            self._db.query(f"SELECT count(*) FROM {table}")[0][0]
            for table in ("chunks", "words_docsize")
        )
        if chunks != words:
            found.append(f"{chunks} texts, but the words of {words}")
        with self._db.writing() as db:
            fetch(db, "INSERT INTO words(words) VALUES ('integrity-check')")
        return found

    def close(self) -> None:
        self._db.close()

    @property
    def journal(self) -> str:
        """How transactions are kept: `wal`, or another mode where the disk cannot share memory."""
        return self._db.journal

    @property
    def vector_search(self) -> str:
        """How vectors are searched: `sqlite-vec` or `numpy`."""
        return self._vectors().name

    # -- parts of a query

    def _vectors(self) -> Vectors:
        self._db.connection()
        return VecTables() if self._extension else self._scan

    def _owned(
        self,
        scores: Mapping[int, float],
        condition: str,
        values: Sequence[Any],
        held: Mapping[int, tuple[frozenset[str], frozenset[str]]] = MappingProxyType({}),
    ) -> list[Match]:
        """Return the chunks whose notes pass a filter, best first, newer notes before older."""
        sql = (
            "SELECT c.key, c.note, n.id, c.language"
            " FROM chunks c CROSS JOIN notes n ON n.key = c.note"
            f" WHERE c.key {_AMONG} AND {condition} ORDER BY n.date DESC, n.id, c.key"
        )  # CROSS: else SQLite walks all notes of a scope to find the few that own these
        rows = self._db.query(sql, (_listed(scores), *values))
        nothing: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
        found = [
            Match(key, note, note_id, scores[key], *held.get(key, nothing), language)
            for key, note, note_id, language in rows
        ]
        return sorted(found, key=lambda match: -match.score)


def _held(api: apsw.FTS5ExtensionApi, *_: object) -> str:
    """List the words of the query that the current row holds itself, and apart from them those
    that only stand around it; runs in SQLite."""
    own: list[str] = []
    around: list[str] = []
    if api.aux_data is None:  # kept from row to row
        api.aux_data = [" ".join(filter(None, phrase)) for phrase in api.phrases]
    for number, phrase in enumerate(api.aux_data):
        if columns := api.phrase_columns(number):
            (around if columns == _ONLY_AROUND else own).append(phrase)
    return f"{_WORD.join(own)}{_APART}{_WORD.join(around)}"


def _tokens(held: str) -> tuple[frozenset[str], frozenset[str]]:
    own, _, around = held.partition(_APART)
    return frozenset(own.split(_WORD)), frozenset(around.split(_WORD) if around else ())


def _listed(values: Iterable[Any]) -> str:
    return json.dumps(list(values))


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))
