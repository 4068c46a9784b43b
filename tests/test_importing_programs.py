"""What other memory programs keep in databases, exports and tables comes in as notes."""

import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from memorix.errors import InvalidRequest
from memorix.importers import formats
from memorix.memory import Memory
from tests.test_importing import SAMPLES, take, titled
from tests.test_importing_vaults import recognised

CLAUDE_MEM = """
CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT,
 type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
 files_modified TEXT, created_at TEXT, created_at_epoch INTEGER);
INSERT INTO observations VALUES (7, 's', 'app', NULL, 'bugfix', 'Port taken', 'The proxy has it',
 '["Proxy: 3001"]', 'Tests listen on 3002.', '["ports"]', '[]', '["dev.ts"]', '', 1767603600000);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT,
 request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, notes TEXT,
 files_read TEXT, files_edited TEXT, created_at TEXT, created_at_epoch INTEGER);
INSERT INTO session_summaries VALUES (7, 's', 'app', 'Fix the port', NULL, 'The proxy holds 3001',
 NULL, 'Document it', NULL, '[]', '[]', '2026-01-05T09:00:00Z', 1767603600000);
"""


def database(file: Path, script: str) -> Path:
    with closing(sqlite3.connect(file)) as db:
        db.executescript(script)
    return file


def wrote(file: Path, data: object) -> Path:
    file.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return file


def test_what_mcp_memory_service_wrote_is_the_same_from_its_database_and_its_export(
    memory: Memory, tmp_path: Path
) -> None:
    script = (SAMPLES / "mcp-memory-service.sql").read_text(encoding="utf-8")
    kept = database(tmp_path / "sqlite_vec.db", script)

    assert recognised(kept) == recognised(SAMPLES / "mcp-memory-service.json")
    assert take(memory, SAMPLES / "mcp-memory-service.json") == {"new": 3}

    note = titled(memory, "The staging database listens on port 5433")
    assert (note.type, note.tags) == ("Note", ("database", "staging"))
    assert note.meta["metadata"] == {"source": "chat"}
    assert str(note.created) == "2026-12-02 23:14:31+00:00"
    assert titled(memory, "每周五下午不发布").tags == ("流程",)
    assert take(memory, kept) == {"known": 3}


def test_what_memorix_of_npm_wrote_keeps_facts_files_and_entity(
    memory: Memory, tmp_path: Path
) -> None:
    script = (SAMPLES / "memorix-npm.sql").read_text(encoding="utf-8")
    source = database(tmp_path / "memorix.db", script)

    assert recognised(source) == "memorix-npm"
    assert take(memory, source) == {"new": 1}

    note = titled(memory, "Tokens are rotated every 15 minutes")
    assert (note.type, note.tags) == ("Decision", ("auth", "jwt"))
    assert note.meta["entity"] == "auth-module"
    assert note.meta["code_refs"] == ["src/auth/token.ts"]
    assert note.body.strip().endswith("- Refresh token lifetime: 30 days")


def test_claude_mem_gives_observations_and_sends_summaries_to_the_inbox(
    memory: Memory, tmp_path: Path
) -> None:
    source = database(tmp_path / "claude-mem.db", CLAUDE_MEM)

    assert recognised(source) == "claude-mem"
    assert take(memory, source) == {"new": 2}

    note = titled(memory, "Port taken")
    assert (note.type, note.description, note.tags) == ("Bugfix", "The proxy has it", ("ports",))
    assert note.body == "\nTests listen on 3002.\n\n- Proxy: 3001\n"
    assert str(note.created) == "2026-01-05 09:00:00+00:00"
    summary = titled(memory, "Fix the port")
    assert summary.path == "projects/app/inbox/fix-the-port.md"
    assert "## Next steps\n\nDocument it" in summary.body


def test_mem0_and_openmemory_keep_ids_categories_and_metadata(
    memory: Memory, tmp_path: Path
) -> None:
    row = {"id": "m-1", "memory": "Prefers morning meetings", "user_id": "ada", "hash": "h"}
    row |= {"categories": ["work"], "metadata": {"type": "preference"}}
    source = wrote(tmp_path / "mem0.json", {"results": [{**row, "created_at": "2026-02-03"}]})
    packed = tmp_path / "openmemory.zip"
    kept = {"memories": [{"id": "o-1", "content": "Drinks tea", "state": "active"}]}
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("memories.json", json.dumps({"user": {}, **kept}))

    assert recognised(source) == recognised(packed) == "mem0"
    assert (take(memory, source), take(memory, packed)) == ({"new": 1}, {"new": 1})

    note = titled(memory, "Prefers morning meetings")
    assert (note.type, note.tags, note.meta["user"]) == ("Preference", ("work",), "ada")
    assert note.meta["imported_id"] == "m-1"


def test_what_mem0_wrote_keeps_who_said_it_metadata_and_its_last_day(memory: Memory) -> None:
    assert recognised(SAMPLES / "mem0.json") == "mem0"
    assert take(memory, SAMPLES / "mem0.json") == {"new": 6}

    note = titled(memory, "Deploys go out on Wednesday morning, never on Friday.")
    assert (note.type, note.tags, note.author) == (
        "Convention",
        ("deploy", "ops"),
        "process:claude-code",
    )
    assert note.meta["metadata"] == {
        "category": "convention",
        "tags": ["deploy", "ops"],
        "source": "chat",
    }
    assert (note.meta["user"], note.meta["session"], note.meta["role"]) == ("ada", "run-7", "user")
    assert note.body == "\nDeploys go out on Wednesday morning, never on Friday.\n"
    told = titled(memory, "The port of the ledger is 9443.")
    assert (str(told.created), str(told.changed)) == (
        "2026-12-03 07:26:28+00:00",
        "2026-12-03 07:26:29+00:00",
    )
    answer = titled(memory, "Noted: the limit is set in gateway.toml.")
    assert answer.meta["role"] == "assistant"
    key = titled(memory, "Temporary: the staging key rotates today.")
    assert key.meta["expires_at"] == "2030-01-02T00:00:00Z"
    assert titled(memory, "周三上午发布，先在预发环境验证。").type == "Preference"
    assert take(memory, SAMPLES / "mem0.json") == {"known": 6}


def test_engram_letta_and_graphiti_exports_are_read(memory: Memory, tmp_path: Path) -> None:
    said = {"id": 3, "session_id": "s", "type": "decision", "title": "Use WAL", "content": "Yes."}
    engram = {"version": "0.1", "exported_at": "x", "sessions": [], "observations": [said]}
    letta = {"agents": [], "blocks": [{"id": "b", "label": "human", "value": "Ada", "limit": 5}]}
    nodes = [{"uuid": u, "name": n, "summary": n} for u, n in (("1", "Ada"), ("2", "Api"))]
    fact = {"uuid": "3", "source_node_uuid": "1", "target_node_uuid": "2", "fact": "Ada owns it"}
    edges = [{**fact, "name": "OWNS", "valid_at": "2025-01-02T00:00:00Z", "invalid_at": None}]
    sources = {
        "engram": wrote(tmp_path / "engram.json", engram),
        "letta": wrote(tmp_path / "agent.af", letta),
        "graphiti": wrote(tmp_path / "graph.json", {"nodes": nodes, "edges": edges}),
    }

    assert {name: recognised(file) for name, file in sources.items()} == {n: n for n in sources}
    counts = [take(memory, file) for file in sources.values()]

    assert counts == [{"new": 1}, {"new": 1}, {"new": 3}]
    assert titled(memory, "Use WAL").type == "Decision"
    assert titled(memory, "human").type == "Profile"
    owns = memory.read(titled(memory, "Ada owns it").id)
    assert str(owns.note.valid_from) == "2025-01-02 00:00:00+00:00"
    assert [link.title for link in owns.links] == ["Ada", "Api"]


def test_csv_and_json_lines_are_read_by_usual_names_or_by_a_mapping(
    memory: Memory, tmp_path: Path
) -> None:
    table = tmp_path / "notes.csv"
    table.write_text("标题,memo,team\n发布,每周三发布,支付\n", encoding="utf-8-sig")
    lines = tmp_path / "notes.jsonl"
    lines.write_text('{"id": 1, "text": "Tea at four", "room name": "B2"}\n', encoding="utf-8")

    assert take(memory, lines) == {"new": 1}
    assert take(memory, table, mapping={"body": "memo"}) == {"new": 1}

    assert titled(memory, "Tea at four").meta["room_name"] == "B2"
    note = titled(memory, "发布")
    assert (note.body, note.meta["team"]) == ("\n每周三发布\n", "支付")
    assert take(memory, table, mapping={"body": "memo"}) == {"known": 1}


def test_a_mapping_of_a_part_that_there_is_not_is_said(tmp_path: Path) -> None:
    table = tmp_path / "notes.csv"
    table.write_text("a,b\n1,2\n", encoding="utf-8")

    with pytest.raises(InvalidRequest, match="--map knows no 'text'"):
        formats.choose(table, "", {"text": "a"})
