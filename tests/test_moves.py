"""Notes that move keep what the index holds of them, and it is what a new index would hold."""

import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from memorix.arguments import query_from
from memorix.index.vectors import load_extension
from memorix.memory import Memory
from memorix.query import Filter

NOTES = {
    "plain.md": "The heron stands in the reeds.\n",
    "wiki.md": "See [[plain]] and [[titled]], and [[a/plain]].\n",
    "link.md": "See [the heron](plain.md) and [all](/deep/titled.md).\n",
    "reference.md": "See [the heron][1].\n\n[1]: ../a/plain.md\n",
    "deep/titled.md": "---\nid: X1\ntitle: titled\naliases: [a/plain]\ntags: [b]\n---\nWade.\n",
    "deep/private.md": "---\nprivate: true\nowner: Ann\n---\nIt nests at the weir.\n",
    "first.md": "---\ntype: Episode\nsession: s1\ncreated: 2026-10-01T08:00:00Z\n---\nDunlin.\n",
    "second.md": "---\ntype: Episode\nsession: s1\ncreated: 2026-10-01T09:00:00Z\n---\nGodwit.\n",
}
MOVES = [
    ("projects/app/a", "projects/app/b/c"),
    ("projects/app/a", "projects/other/a"),
    ("projects/app", "projects/other"),
    ("projects/app/a", "user/birds"),
    ("projects/app/a", "projects/app/inbox"),
    ("projects/app/a", "projects/app/a (conflicted copy)"),
    ("projects/app/a/plain.md", "projects/app/a/crane.md"),
    ("projects/app/a/deep/titled.md", "user/titled.md"),
    ("projects/app/a/second.md", "projects/other/second.md"),
]
TABLES = {
    "tags": "tag",
    "facets": "t.key, value",
    "warnings": "code, line, message",
    "links": "kind, target, t.key, relation, label",
    "names": "name, rank",
    "chunks": "language, hash, heading, text",
}


def lay(vault: Path) -> None:
    texts = {name: text.encode() for name, text in NOTES.items()}
    texts["wide.md"] = "See [the heron](deep/titled.md).\n".encode("utf-16")
    for name, text in texts.items():
        file = vault / "projects/app/a" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text)


def held(memory: Memory) -> dict[str, list[tuple[object, ...]]]:
    """Return all that the index holds, by table, without the numbers it gave to its rows."""
    db = apsw.Connection(str(memory.index_path))
    load_extension(db)
    columns = [row[1] for row in db.execute("PRAGMA table_info(notes)") if row[1] != "key"]
    found = {"notes": db.execute(f"SELECT {', '.join(columns)} FROM notes").fetchall()}
    for table, wanted in TABLES.items():
        joined = f"FROM {table} t JOIN notes n ON n.key = t.note"
        found[table] = db.execute(f"SELECT n.path, {wanted} {joined}").fetchall()
    db.execute("CREATE VIRTUAL TABLE temp.said USING fts5vocab('main', 'words', 'instance')")
    found["words"] = db.execute(
        "SELECT n.path, term, col, offset FROM said JOIN chunks c ON c.key = doc"
        " JOIN notes n ON n.key = c.note"
    ).fetchall()
    db.close()
    return {table: sorted(rows, key=repr) for table, rows in found.items()}


@pytest.mark.parametrize(("old", "new"), MOVES)
def test_the_index_after_a_move_is_that_of_a_first_look(
    old: str, new: str, memory: Memory, vault: Path
) -> None:
    lay(vault)
    memory.catch_up()
    (vault / new).parent.mkdir(parents=True, exist_ok=True)

    (vault / old).rename(vault / new)
    done = memory.catch_up()
    after = held(memory)
    memory.index.clear()
    memory.catch_up()

    assert done.moved > 0
    assert (done.changed, done.gone) == (0, 0)
    assert after == held(memory)


def test_a_note_that_was_also_written_anew_has_its_new_date(memory: Memory, vault: Path) -> None:
    lay(vault)
    memory.catch_up()
    target = vault / "user/plain.md"
    target.parent.mkdir()

    (vault / "projects/app/a/plain.md").rename(target)
    os.utime(target, (0, 86_400))
    memory.catch_up()

    row = memory.index.find("user/plain")
    assert row is not None
    assert row.date == "1970-01-02T00:00:00Z"


def test_what_is_asked_of_a_moved_note_is_answered_at_its_new_place(
    memory: Memory, vault: Path, open_another: Callable[[], Memory]
) -> None:
    lay(vault)
    memory.catch_up()

    (vault / "projects/app").rename(vault / "projects/other")
    memory.catch_up()

    hits = open_another().recall(query_from("heron reeds", scope="other")).hits
    assert [hit.path for hit in hits][:1] == ["projects/other/a/plain.md"]
    assert memory.list(Filter(scopes=("app",))) == []
