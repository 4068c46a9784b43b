"""The SQLite databases of memory programs, opened for reading only."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from memorix.imported import Record, Unreadable
from memorix.importers import exports
from memorix.importers.base import LONGEST_LINE, NO, SURE, head, unreadable
from memorix.importers.fields import Fields, parts, record

_CLAUDE_MEM = Fields(
    title=("title",),
    body=("narrative", "text"),
    lists=("facts",),
    description=("subtitle",),
    tags=("concepts",),
    created=("created_at_epoch", "created_at"),
    changed=(),
    extra={"project": "project", "files_modified": "code_refs", "memory_session_id": "session"},
    prefix="observation ",
)
_CLAUDE_MEM_SUMMARY = Fields(
    title=("request",),
    sections=("investigated", "learned", "completed", "next_steps", "notes"),
    type=(),
    kind="Episode",
    tags=(),
    created=("created_at_epoch", "created_at"),
    changed=(),
    extra={"project": "project", "files_edited": "code_refs", "memory_session_id": "session"},
    review="a summary that a program made of a session",
    prefix="summary ",
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table that holds records: columns by which it is known, and one that marks the deleted."""

    name: str
    columns: frozenset[str]
    fields: Fields
    deleted: str = ""


@dataclass(frozen=True, slots=True)
class Database:
    """The database of one program; the first of its tables tells it from others."""

    name: str
    tables: Sequence[Table]

    def detect(self, source: Path) -> float:
        if not head(source).startswith(b"SQLite format 3\0"):
            return NO
        try:
            with closing(_opened(source)) as db:
                return SURE if self.tables[0].columns <= _columns(db, self.tables[0].name) else NO
        except sqlite3.Error:
            return NO

    def read(self, source: Path) -> Iterator[Record | Unreadable]:
        """Yield the records of all tables.

        Raises:
            InvalidRequest: It is no SQLite database.
        """
        try:
            with closing(_opened(source)) as db:
                there = [t for t in self.tables if t.columns <= _columns(db, t.name)]
                for table in there:
                    yield from _rows(db, table)
        except sqlite3.Error as error:
            raise unreadable(source, error) from error


def _opened(source: Path) -> sqlite3.Connection:
    db = sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_LINE)
    return db


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    """Return the columns of a table; a view, which may compute for ever, has none."""
    there = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1"
    columns = f"SELECT name FROM pragma_table_info(?1) WHERE EXISTS ({there})"
    return {row["name"] for row in db.execute(columns, (table,))}


def _rows(db: sqlite3.Connection, table: Table) -> Iterator[Record | Unreadable]:
    """Yield the rows one by one; of each only the columns that tell something, and no blob."""
    columns = _columns(db, table.name)
    kept = f"WHERE {table.deleted} IS NULL" if table.deleted in columns else ""
    told = sorted(columns & parts(table.fields))
    said = ", ".join(f"CASE typeof({c}) WHEN 'blob' THEN NULL ELSE {c} END AS {c}" for c in told)
    number = 0
    try:
        for (place,) in db.execute(f"SELECT rowid FROM {table.name} {kept} ORDER BY rowid"):
            number += 1
            where = f"{table.name}:{number}"
            try:
                row = db.execute(f"SELECT {said} FROM {table.name} WHERE rowid = ?", (place,))
                yield from (record(dict(one), table.fields, where) for one in row.fetchall())
            except sqlite3.DataError:
                yield Unreadable(where, f"a text has more than {LONGEST_LINE:,} bytes")
    except sqlite3.DatabaseError as error:
        where = f"{table.name}:{number + 1}"
        yield Unreadable(where, f"the table is damaged from here on: {error}")


ALL = (
    Database(
        "mcp-memory-service",
        [Table("memories", frozenset({"content", "content_hash"}), exports.SERVICE, "deleted_at")],
    ),
    Database(
        "memorix-npm",
        [Table("observations", frozenset({"entityName", "narrative"}), exports.NPM)],
    ),
    Database(
        "claude-mem",
        [
            Table("observations", frozenset({"narrative", "project", "files_read"}), _CLAUDE_MEM),
            Table("session_summaries", frozenset({"learned", "project"}), _CLAUDE_MEM_SUMMARY),
        ],
    ),
    Database(
        "engram",
        [
            Table(
                "observations",
                frozenset({"content", "title", "topic_key"}),
                exports.ENGRAM,
                "deleted_at",
            )
        ],
    ),
)
