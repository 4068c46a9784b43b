"""The tables of the index, and how a database file is made or taken over.

Derived tables are dropped and made anew when `SCHEMA_VERSION` changes: the notes are the truth, so
nothing has to be converted.  Kept tables survive; they are only ever added to.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw

from memorix.errors import IndexUnavailable
from memorix.index.disks import network_disk

APPLICATION_ID = 0x4D656D78
# "Memx": tells our file from another program's.

SCHEMA_VERSION = 11

BUSY_TIMEOUT_S = 30.0
# Longer than any transaction of ours by far; a client sees a lock error only if something hangs.

WORDS_WEIGHTS = "bm25(4.0, 1.0, 0.7, 0.4)"
# Column weights: a title says more than a body, a stem less than the word, and what stands beside
# a short note less than what it says.

DELETED_PERCENT = 50
# Of a part of the words, before it is merged for that alone.  At the 10 that FTS5 has by itself, to
# replace thousands of notes takes twice as long.

DERIVED = """
CREATE TABLE notes (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    own_id TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,
    folded TEXT NOT NULL,
    scope TEXT NOT NULL,
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    gist TEXT NOT NULL,
    created TEXT NOT NULL,
    date TEXT NOT NULL,
    status TEXT NOT NULL,
    valid_from TEXT NOT NULL,
    valid_to TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    stale_after TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    held TEXT NOT NULL DEFAULT '',
    contested_by TEXT NOT NULL,
    session TEXT NOT NULL,
    branch TEXT NOT NULL,
    author TEXT NOT NULL,
    origin TEXT NOT NULL,
    tier TEXT NOT NULL,
    names TEXT NOT NULL,
    day TEXT NOT NULL,
    digest TEXT NOT NULL,
    etag TEXT NOT NULL,
    signature TEXT NOT NULL
);
CREATE INDEX notes_by_digest ON notes (digest, scope);
CREATE INDEX notes_by_folded_path ON notes (folded);
CREATE INDEX notes_by_date ON notes (date);
CREATE INDEX notes_in_force ON notes (held, scope COLLATE NOCASE, date DESC, path, status,
    valid_from, valid_to, expires_at);
CREATE INDEX notes_by_session ON notes (session, scope, created, id) WHERE session <> '';
CREATE TABLE tags (note INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (note, tag))
    WITHOUT ROWID;
CREATE TABLE facets (note INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL);
CREATE INDEX facets_by_note ON facets (note);
CREATE TABLE warnings (note INTEGER NOT NULL, code TEXT NOT NULL, line INTEGER NOT NULL,
    message TEXT NOT NULL);
CREATE INDEX warnings_by_note ON warnings (note);
CREATE TABLE chunks (
    key INTEGER PRIMARY KEY,
    note INTEGER NOT NULL,
    language TEXT NOT NULL,
    hash BLOB NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX chunks_by_note ON chunks (note);
CREATE INDEX chunks_by_hash ON chunks (hash);
CREATE TABLE links (note INTEGER NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL,
    key TEXT NOT NULL, relation TEXT NOT NULL, label TEXT NOT NULL);
CREATE INDEX links_by_note ON links (note);
CREATE INDEX links_by_key ON links (key);
CREATE TABLE names (name TEXT NOT NULL, rank INTEGER NOT NULL, note INTEGER NOT NULL,
    PRIMARY KEY (name, rank, note)) WITHOUT ROWID;
CREATE INDEX names_by_note ON names (note);
CREATE VIRTUAL TABLE words USING fts5(
    title, exact, stem, around, content='', contentless_delete=1,
    tokenize="unicode61 remove_diacritics 2 tokenchars '_'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
"""

KEPT = """
CREATE TABLE IF NOT EXISTS kept_vectors (
    hash BLOB NOT NULL,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    sentences BLOB,
    UNIQUE (hash, model)
);
CREATE TABLE IF NOT EXISTS models (fingerprint TEXT PRIMARY KEY, dim INTEGER NOT NULL,
    vec_table TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS recalls (id TEXT PRIMARY KEY, count INTEGER NOT NULL,
    last TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uses (day TEXT NOT NULL, host TEXT NOT NULL, act TEXT NOT NULL,
    calls INTEGER NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (day, host, act)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shown (day TEXT NOT NULL, host TEXT NOT NULL, act TEXT NOT NULL,
    id TEXT NOT NULL, times INTEGER NOT NULL, used INTEGER NOT NULL, waiting_since TEXT NOT NULL,
    PRIMARY KEY (id, host, act, day)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS impressions (question TEXT NOT NULL, session TEXT NOT NULL,
    at TEXT NOT NULL, id TEXT NOT NULL, place INTEGER NOT NULL, share REAL NOT NULL,
    words REAL NOT NULL, meaning REAL NOT NULL, lift REAL NOT NULL, used INTEGER NOT NULL,
    UNIQUE (question, id));
"""

_ADDED = (
    ("recalls", "stability_days", "REAL NOT NULL DEFAULT 0"),
    ("kept_vectors", "sentences", "BLOB"),  # NULL: to be made
)
# Columns that kept tables of older versions lack.

_LAID_OUT = (("kept_vectors", "WITHOUT ROWID"),)
# Kept tables that older versions laid out otherwise.  In a table that is its own index a vector
# takes a page for itself: more than twice the room, and several times as long to write.

_DERIVED_NAMES = (
    "vocabulary", "words", "chunks", "warnings", "tags", "facets", "links", "names", "notes",
)  # fmt: skip


def fetch(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    """Run a statement to its end and return its rows; apsw stops at the first row otherwise."""
    return db.execute(sql, tuple(values)).fetchall()


def prepare(db: apsw.Connection, path: str) -> str:
    """Set the connection up, make or take over the database file; return its journal mode.

    Raises:
        IndexUnavailable: The file belongs to another program or to a newer version of this one.
    """
    db.set_busy_timeout(int(BUSY_TIMEOUT_S * 1000))
    _refuse_foreign(db, path)
    network = network_disk(Path(path))
    journal = _set_journal(db, "TRUNCATE") if network else _set_journal(db, "WAL")
    for pragma in ("synchronous = NORMAL", "secure_delete = ON", "temp_store = MEMORY"):
        fetch(db, f"PRAGMA {pragma}")
    if _version(db) != SCHEMA_VERSION:
        _create(db)
    return journal


def _refuse_foreign(db: apsw.Connection, path: str) -> None:
    with db:  # one view of the file, which another process may be making at this moment
        application = fetch(db, "PRAGMA application_id")[0][0]
        version = _version(db)
        empty = not fetch(db, "SELECT count(*) FROM sqlite_schema")[0][0]
    if application != APPLICATION_ID and not (empty and application == 0):
        raise IndexUnavailable(
            f"{path} is not an index of Memorix; it was not touched. "
            "Move it away or set MEMORIX_STATE_DIR."
        )
    if version > SCHEMA_VERSION:
        raise IndexUnavailable(
            f"{path} was made by a newer Memorix (index version {version}, this one knows "
            f"{SCHEMA_VERSION}); it was not touched. Update Memorix."
        )


def _version(db: apsw.Connection) -> int:
    return int(fetch(db, "PRAGMA user_version")[0][0])


def _set_journal(db: apsw.Connection, wanted: str) -> str:
    """Switch to a way of keeping transactions, and return the one there is.

    The switch ignores the busy timeout, so wait here.  A disk that cannot share the memory that a
    write-ahead log needs may say so; there the file is used without it, one process at a time.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            return str(fetch(db, f"PRAGMA journal_mode = {wanted}")[0][0])
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        except (apsw.CantOpenError, apsw.IOError):
            return str(fetch(db, "PRAGMA journal_mode = TRUNCATE")[0][0])


def _create(db: apsw.Connection) -> None:
    fetch(db, "BEGIN IMMEDIATE")
    try:
        if _version(db) != SCHEMA_VERSION:
            drop_derived(db)
            fetch(db, DERIVED)
            _lay_out_kept(db)
            _add_columns(db)
            set_up_words(db)
            fetch(db, f"PRAGMA application_id = {APPLICATION_ID}")
            fetch(db, f"PRAGMA user_version = {SCHEMA_VERSION}")
        fetch(db, "COMMIT")
    except BaseException:
        if db.in_transaction:
            fetch(db, "ROLLBACK")
        raise


def _lay_out_kept(db: apsw.Connection) -> None:
    """Make the kept tables; one of an older layout is made anew with what it holds."""
    sql = "SELECT 1 FROM sqlite_schema WHERE name = ? AND instr(sql, ?)"
    old = [table for table, layout in _LAID_OUT if fetch(db, sql, (table, layout))]
    for table in old:
        fetch(db, f"ALTER TABLE {table} RENAME TO old_{table}")
    fetch(db, KEPT)
    for table in old:
        columns = ", ".join(row[1] for row in fetch(db, f"PRAGMA table_info(old_{table})"))
        fetch(db, f"INSERT INTO {table}({columns}) SELECT {columns} FROM old_{table}")
        fetch(db, f"DROP TABLE old_{table}")


def _add_columns(db: apsw.Connection) -> None:
    for table, column, kind in _ADDED:
        if column not in {row[1] for row in fetch(db, f"PRAGMA table_info({table})")}:
            fetch(db, f"ALTER TABLE {table} ADD COLUMN {column} {kind}")


def drop_derived(db: apsw.Connection) -> None:
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    for name in _DERIVED_NAMES:
        if name in tables:
            fetch(db, f"DROP TABLE {name}")
    if "models" in tables:  # made and filled again by the next write that has vectors
        for (name,) in fetch(db, "SELECT vec_table FROM models"):
            fetch(db, f"DROP TABLE IF EXISTS {name}")


def set_up_words(db: apsw.Connection) -> None:
    for setting, value in (("rank", WORDS_WEIGHTS), ("deletemerge", DELETED_PERCENT)):
        fetch(db, "INSERT INTO words(words, rank) VALUES (?, ?)", (setting, value))
