"""Folders of Markdown that other programs keep come in with their links, tags and dates."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memorix.importers import formats
from memorix.memory import Memory
from tests.test_importing import SAMPLES, files, take, titled


def write(root: Path, contents: dict[str, str]) -> Path:
    for path, text in contents.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def recognised(source: Path) -> str:
    found = formats.choose(source)
    return found.name if found else formats.OKF


def test_an_obsidian_vault_keeps_names_tags_in_text_aliases_and_links(
    memory: Memory, tmp_path: Path
) -> None:
    source = write(
        tmp_path / "notes",
        {
            ".obsidian/app.json": "{}",
            "Team/On Call.md": "---\naliases: [Rota]\ntags: ops\nshift: weekly\n---\n"
            "Ask [[Ada Lovelace|Ada]]. #on-call #12 `#nocode` ![[plan.png]] ^block1\n",
            "People/Ada Lovelace.md": "Knows the [[Rota]].\n",
            "2026-03-04.md": "Met with #ops/db people.\n",
        },
    )

    assert recognised(source) == "obsidian"
    assert take(memory, source) == {"new": 3}

    rota = titled(memory, "On Call")
    assert rota.path == "projects/app/Team/On Call.md"
    assert (rota.tags, rota.aliases) == (("ops", "on-call"), ("Rota",))
    assert rota.meta["shift"] == "weekly"
    assert rota.body.strip().endswith("![[plan.png]] ^block1")
    assert [link.title for link in memory.read(rota.id).links][:1] == ["Ada Lovelace"]
    assert [link.title for link in memory.read(rota.id).backlinks] == ["Ada Lovelace"]
    day = titled(memory, "2026-03-04")
    assert (day.type, day.tags) == ("Episode", ("ops/db",))
    assert day.created == datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_a_logseq_graph_gives_page_properties_names_and_journal_days(
    memory: Memory, tmp_path: Path
) -> None:
    source = write(
        tmp_path / "graph",
        {
            "logseq/config.edn": "{}",
            "pages/team___rota.md": "alias:: on call\ntags:: [[ops]], people\n\n- who: [[ada]]\n"
            "  id:: 6512-aa\n- #[[late shift]]\n",
            "journals/2026_03_04.md": "- shipped the release\n",
        },
    )

    assert recognised(source) == "logseq"
    take(memory, source)

    rota = titled(memory, "team/rota")
    assert rota.aliases == ("on call",)
    assert rota.tags == ("ops", "people", "late-shift")
    assert "id:: 6512-aa" in rota.body
    assert titled(memory, "2026_03_04").created == datetime(2026, 3, 4, 12, tzinfo=UTC)


def test_a_project_that_basic_memory_wrote_keeps_permalinks_observations_and_relations(
    memory: Memory,
) -> None:
    source = SAMPLES / "basic-memory"

    assert recognised(source) == "basic-memory"
    assert take(memory, source) == {"new": 3}

    search = memory.read(titled(memory, "Search").id)
    assert search.note.path == "projects/app/specs/Search.md"
    assert search.note.meta["imported_id"] == "main/specs/search"
    assert (search.note.tags, search.note.aliases) == (("api", "search"), ("main/specs/search",))
    assert "- [decision] BM25 comes first #ranking (it is cheap)" in search.note.body
    assert [(link.relation, link.title) for link in search.links] == [
        ("depends_on", "Index"),
        ("relates_to", "发布流程"),
    ]
    assert take(memory, source) == {"known": 3}


def test_decision_records_keep_their_date_and_whether_they_hold(
    memory: Memory, tmp_path: Path
) -> None:
    source = write(
        tmp_path / "adr",
        {
            "0001-use-sqlite.md": "# 1. Use SQLite\n\nDate: 2025-02-03\n\n## Status\n\nAccepted\n\n"
            "## Decision\n\nSQLite.\n",
            "0002-use-mysql.md": "# 2. Use MySQL\n\nDate: 2024-01-01\n\n## Status\n\n"
            "Superseded by [1](0001-use-sqlite.md)\n\n## Decision\n\nMySQL.\n",
        },
    )

    assert recognised(source) == "adr"
    take(memory, source)

    old, new = titled(memory, "Use MySQL"), titled(memory, "Use SQLite")
    assert (new.type, new.status) == ("Decision", "stable")
    assert new.created == datetime(2025, 2, 3, 12, tzinfo=UTC)
    assert old.status == "deprecated"
    assert [link.title for link in memory.read(old.id).links] == ["Use SQLite"]


def test_a_text_file_comes_in_under_its_name(memory: Memory, tmp_path: Path) -> None:
    source = write(tmp_path, {"部署步骤.txt": "先在预发环境验证，再发布。\n"}) / "部署步骤.txt"

    assert recognised(source) == "text"
    take(memory, source)

    assert titled(memory, "部署步骤").body.strip() == "先在预发环境验证，再发布。"


def test_what_is_no_text_is_named_and_what_is_copied_anew_is_known(
    memory: Memory, vault: Path, tmp_path: Path
) -> None:
    source = write(tmp_path / "notes", {".obsidian/a": "", "a.md": "one two three", "b.md": ""})
    (source / "c.md").write_bytes(b"\xff\xfe\x00\x00\x01\x02\x00\xff" * 50)
    (source / "d.md").write_bytes(b"\x00\x01\x02\xff\x00" * 50)
    (source / "index.md").write_text("start", encoding="utf-8")

    first = take(memory, source)
    before = files(vault)
    (source / "a.md").touch()

    assert first["unreadable"] >= 1
    assert (vault / "projects/app/index-note.md").exists()
    assert take(memory, source).keys() == {"known", "unreadable"}
    assert files(vault) == before


@pytest.mark.parametrize("name", ["../up.md", "/etc/x.md"])
def test_a_name_in_a_source_cannot_lead_out_of_the_scope(
    memory: Memory, vault: Path, tmp_path: Path, name: str
) -> None:
    from memorix import importing
    from memorix.imported import Record

    job = importing.Import("text", "x", "app")
    record = Record("k", "t", "some text", place=name.removesuffix(".md"))
    (taken,) = importing.take_in(memory, lambda: [record], job)

    assert taken.path.startswith("projects/app/")
    assert list(files(vault)) == [str(vault / taken.path)]
