"""The SQLite databases of memory programs, opened for reading only."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memorix.imported import Record, Unreadable
from memorix.importers import exports
from memorix.importers.base import NO, SURE, head, unreadable
from memorix.importers.fields import Fields, record

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
    return db


def _columns(db: sqlite3.Connection, table: str) -> set[str]:
    return {row["name"] for row in db.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def _rows(db: sqlite3.Connection, table: Table) -> Iterator[Record | Unreadable]:
    kept = f"WHERE {table.deleted} IS NULL" if table.deleted in _columns(db, table.name) else ""
    number = 0
    try:
        for row in db.execute(f"SELECT * FROM {table.name} {kept} ORDER BY rowid"):
            number += 1
            yield record(_plain(row), table.fields, f"{table.name}:{number}")
    except sqlite3.DatabaseError as error:
        where = f"{table.name}:{number + 1}"
        yield Unreadable(where, f"the table is damaged from here on: {error}")


def _plain(row: sqlite3.Row) -> Mapping[str, Any]:
    return {key: row[key] for key in row.keys() if not isinstance(row[key], bytes)}  # noqa: SIM118


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
