"""Sources of a size that nobody means: each is named in time and with little memory."""

import json
import sqlite3
import zipfile
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from memorix import importing
from memorix.errors import InvalidRequest
from memorix.exchange.reading import read
from memorix.imported import Record, Unreadable
from memorix.importers import formats
from memorix.importers.base import LONGEST_LINE
from memorix.importers.jsonfile import LARGEST_RECORD
from memorix.memory import Memory
from memorix.note import parse
from tests.test_importing_accounts import chatgpt
from tests.test_importing_damaged import ALL, FILES, contents, take, whole
from tests.test_importing_programs import CLAUDE_MEM, database

GIANT = "x" * (LONGEST_LINE + 1)
MANY = 20_000
# Keys and levels, more than anything real has.

SOUND = {"id": "2", "content": "The one after it."}


def told(source: Path, named: str = "") -> tuple[list[str], list[str]]:
    """Return the titles that a source gives, and the reasons of what it does not."""
    importer = formats.choose(source, named)
    assert importer is not None
    found = list(importer.read(source))
    bodies = [one.body for one in found if isinstance(one, Record)]
    return bodies, [one.reason for one in found if isinstance(one, Unreadable)]


def test_a_giant_line_is_named_and_the_next_comes_in(tmp_path: Path) -> None:
    lines = [json.dumps({"id": "1", "content": GIANT}), json.dumps(SOUND)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "a.csv").write_text(f"id,content\n1,{GIANT}\n2,The one after it.\n", "utf-8")

    assert told(tmp_path / "a.jsonl", "jsonl") == (["The one after it."], ["the line is too long"])
    assert told(tmp_path / "a.csv") == (["The one after it."], ["the line is too long"])


def test_a_field_that_never_ends_is_named(tmp_path: Path) -> None:
    rows = "".join(f"line {number} of it\n" for number in range(LONGEST_LINE // 16))
    (tmp_path / "a.csv").write_text(f'id,content\n1,"{rows}\n', encoding="utf-8")

    bodies, reasons = told(tmp_path / "a.csv")

    assert reasons[0].startswith("field larger than field limit")
    assert sum(map(len, bodies)) < LONGEST_LINE


def test_a_giant_text_in_json_ends_the_file_and_what_came_before_it_is_there(
    tmp_path: Path,
) -> None:
    rows = [{"id": "1", "memory": "Before it.", "user_id": "u"}, {"id": "2", "memory": GIANT * 2}]
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps({"results": rows}), encoding="utf-8")

    bodies, reasons = told(file)

    assert bodies == ["Before it."]
    assert reasons == [
        f"the file is damaged from here on: a text has more than {LONGEST_LINE:,} bytes"
    ]


def test_a_giant_record_in_json_is_named_and_the_next_comes_in(tmp_path: Path) -> None:
    values = [f"{number:06d}" for number in range(LARGEST_RECORD // 32)]
    giant = {"id": "1", "user_id": "u", "memory": "It.", "metadata": {"values": values}}
    file = tmp_path / "mem0.json"
    file.write_text(json.dumps([giant, {"id": "2", "memory": "The one after it."}]), "utf-8")

    assert told(file) == (
        ["The one after it."],
        [f"it takes more than {LARGEST_RECORD:,} bytes"],
    )


def test_blobs_of_a_database_are_not_read_and_a_giant_text_is_named(tmp_path: Path) -> None:
    file = database(tmp_path / "claude-mem.db", CLAUDE_MEM)
    with closing(sqlite3.connect(file)) as db:
        said = "INSERT INTO observations (id, project, files_read, title, narrative) VALUES "
        db.execute(f"{said} (8, 'p', zeroblob(50000000), 'Blob', 'Beside a blob.')")
        db.execute(f"{said} (9, 'p', '', 'Giant', ?)", (GIANT,))
        db.execute(f"{said} (10, 'p', '', zeroblob(50000000), 'Under a blob.')")
        db.commit()

    bodies, reasons = told(file)

    assert {"Beside a blob.", "Under a blob."} <= set(bodies)
    assert reasons == [f"a text has more than {LONGEST_LINE:,} bytes"]


def test_a_view_that_computes_for_ever_is_no_table(tmp_path: Path) -> None:
    file = tmp_path / "endless.db"
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
    columns = "i AS narrative, i AS project, i AS files_read FROM n"
    database(file, f"CREATE VIEW observations AS {endless} {columns};")

    assert all(importer.detect(file) == 0 for importer in ALL)


@pytest.mark.parametrize("name", ["conversations.json", "notes/a.md"])
def test_an_archive_that_unpacks_to_far_more_than_text_is_refused(
    tmp_path: Path, name: str
) -> None:
    file = tmp_path / "bomb.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        if name == "conversations.json":
            archive.writestr(name, json.dumps([chatgpt()]) + " " * 80_000_000)
        for number in range(6 if name == "notes/a.md" else 0):
            archive.writestr(f"{number}/{name}", "x " * 7_000_000)

    if name == "conversations.json":
        importer = formats.choose(file, "chatgpt")
        assert importer is not None
        with pytest.raises(InvalidRequest, match="unpacks to far more than text"):
            list(importer.read(file))
    else:
        with pytest.raises(InvalidRequest, match="far more than notes do"):
            read(file)


LAUGHS = "".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]\n" for n in range(9))


@pytest.mark.parametrize(
    "block",
    [
        f"a0: &a0 [ha, ha, ha]\n{LAUGHS}tags: *a9\n",
        f"tags: {'[' * MANY}{']' * MANY}\n",
        "".join(f"key{number}: value\n" for number in range(MANY)),
        "".join(f"key{number}: [value, {number}]\n" for number in range(MANY // 10)),
        "title: " + "long " * MANY + "\n",
        "tags: [" + ", ".join(f"tag{number}" for number in range(MANY)) + "]\n",
    ],
    ids=["billion-laughs", "deep", "keys", "lists", "title", "tags"],
)
@pytest.mark.timeout(120)
def test_a_block_of_any_size_comes_in_or_is_named(
    memory: Memory, vault: Path, tmp_path: Path, block: str
) -> None:
    source = tmp_path / "obsidian"
    (source / ".obsidian").mkdir(parents=True)
    (source / "odd.md").write_text(f"---\n{block}---\nThe text of it.\n", encoding="utf-8")
    (source / "sound.md").write_text("The one after it.\n", encoding="utf-8")
    importer = formats.choose(source)
    assert importer is not None

    job = importing.Import(importer.name, source.name, "app")
    counts = Counter(
        one.status for one in importing.take_in(memory, lambda: importer.read(source), job)
    )

    assert counts == {"new": 2}
    (odd,) = [file for file in vault.rglob("*.md") if file.name != "sound.md"]
    assert "The text of it." in parse(odd.read_bytes(), odd.name).body


def huge(content: bytes, how: str) -> bytes:
    """Return a sample in a size that nobody means."""
    if how == "one line":
        return content + b" x" * (LONGEST_LINE // 2)
    if how == "deep":
        return content + b'[{"a":' * MANY
    return b"{" + b",".join(b'"k%d": "v"' % number for number in range(MANY)) + b"}"


@pytest.mark.timeout(180)
@pytest.mark.parametrize("how", ["one line", "deep", "keys"])
def test_a_huge_source_crashes_no_importer_and_leaves_nothing_half_written(
    memory: Memory, vault: Path, tmp_path: Path, how: str
) -> None:
    source = tmp_path / "huge"
    source.mkdir()
    for name in sorted(FILES):
        file, content = contents(name, tmp_path)
        source.joinpath(file).write_bytes(huge(content, how))
        take(memory, name, source / file)
        source.joinpath(file).unlink()

    whole(vault)
