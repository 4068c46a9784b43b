"""Damaged sources: every importer names what it cannot read, and nothing half-written is left."""

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memorix import importing
from memorix.errors import InvalidRequest
from memorix.importers import formats, tables
from memorix.importers.base import Importer
from memorix.memory import Memory
from memorix.note import parse
from tests.test_importing import SAMPLES, entity
from tests.test_importing_accounts import CLAUDE, chatgpt
from tests.test_importing_programs import CLAUDE_MEM, database

Sample = Callable[[Path], Path]


def said(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode()


ROW = {"id": "1", "memory": "x y z", "user_id": "u", "content": "a b", "label": "l", "value": "v"}
LINE = {"type": "user", "sessionId": "s", "message": {"content": "hello there"}, "cwd": "/w"}
FILES: dict[str, tuple[str, bytes]] = {
    "mcp-memory": ("memory.jsonl", said(entity("a", "b c")) + b"\n" + said(entity("d", "e"))),
    "chatgpt": ("conversations.json", said([chatgpt(), chatgpt("B", "2")])),
    "claude": ("conversations.json", said([CLAUDE, CLAUDE])),
    "claude-code-sessions": ("s.jsonl", said(LINE) + b"\n" + said(LINE)),
    "codex-sessions": ("s.jsonl", said({"type": "session_meta", "payload": {"id": "c"}})),
    "memory-folder": ("MEMORY.md", b"---\nname: x\ntype: user\n---\n# A\n\nb\n\n## C\n\nd\n"),
    "instructions": ("CLAUDE.md", b"# A\n\nb\n\n## C\n\nd\n\n```\n# e\n"),
    "mem0": ("m.json", said({"results": [ROW, ROW]})),
    "letta": ("a.af", said({"blocks": [ROW]})),
    "engram": ("e.json", said({"observations": [ROW, {"content": "z", "title": "t"}]})),
    "graphiti": ("g.json", said({"nodes": [{"uuid": "1", "name": "n"}], "edges": [ROW]})),
    "basic-memory": ("a.md", (SAMPLES / "basic-memory/specs/Search.md").read_bytes()),
    "obsidian": ("a.md", b"---\ntags: [a, b]\n---\n#x [[y]] ![[z]]\n"),
    "logseq": ("a.md", b"alias:: b\ntags:: c\n\n- d #[[e f]]\n"),
    "foam": ("a.md", b"# A\n\n[[b]]\n"),
    "adr": ("0001-a.md", b"# 1. A\n\nDate: 2025-01-02\n\n## Status\n\nAccepted\n"),
    "text": ("a.txt", "先验证再发布".encode()),
    "jsonl": ("a.jsonl", said(ROW)),
    "csv": ("a.csv", b'id,title,body\n1,"a","b ""c"" d"\n2,e,f\n'),
    "mcp-memory-service": ("m.json", (SAMPLES / "mcp-memory-service.json").read_bytes()),
    "memorix-npm": ("o.json", said([{"id": 1, "entityName": "e", "title": "t", "facts": "[1"}])),
    "claude-mem": ("c.db", b""),
}
ALL: tuple[Importer, ...] = (*formats.ALL, *tables.importers({}))
ODD = (None, 7, -1.5, 10**400, True, "", "\x00\x1b", "\ud800", [], {}, [[["x"]]], {"a": {"b": []}})


def contents(name: str, folder: Path) -> tuple[str, bytes]:
    if name == "claude-mem":
        return "c.db", database(folder / "whole.db", CLAUDE_MEM).read_bytes()
    return FILES[name]


def damaged(content: bytes, chance: random.Random) -> bytes:
    """Return a content cut short, with bytes changed, NULs put in, or something put twice."""
    start, end = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    how = chance.randrange(5)
    if how == 0:
        return content[:start]
    if how == 1:
        return content[:start] + chance.randbytes(8) + content[end:]
    if how == 2:
        return content[:start] + b"\0\0\xff\xfe" + content[start:]
    if how == 3:
        return content[:start] + content[start:end] * 3 + content[end:]
    return content[:start] + b"[" * 3000 + content[start:]


def with_odd_values(data: object, chance: random.Random) -> object:
    """Return JSON data with a value here and there replaced by one of another kind."""
    if chance.random() < 0.12:
        return chance.choice(ODD)
    if isinstance(data, dict):
        return {key: with_odd_values(value, chance) for key, value in data.items()}
    if isinstance(data, list):
        return [with_odd_values(value, chance) for value in data]
    return data


def take(memory: Memory, name: str, source: Path) -> None:
    """Import with every importer of a format; only a sentence for the user may end it."""
    for importer in ALL:
        if importer.name != name:
            continue
        importer.detect(source)
        job = importing.Import(name, source.name, "app")
        with suppress(InvalidRequest):
            for taken in importing.take_in(memory, lambda one=importer: one.read(source), job):
                assert taken.status != "unreadable" or taken.reason


def whole(vault: Path) -> None:
    """See that every file there is one that was written to its end."""
    for file in vault.rglob("*"):
        if file.is_file() and file.parent.name != ".memorix" and file.suffix == ".md":
            note = parse(file.read_bytes(), file.name)
            assert note.meta["imported_as"]
            assert not note.warnings or {w.code for w in note.warnings} <= {"empty-body"}
    assert not [file for file in vault.rglob(".memorix-*") if file.is_file()]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", sorted({one.name for one in ALL}))
def test_a_damaged_source_crashes_no_importer_and_leaves_nothing_half_written(
    name: str, memory: Memory, vault: Path, tmp_path: Path
) -> None:
    chance = random.Random(name)
    file, content = contents(name, tmp_path)
    source = tmp_path / "damaged" / file
    source.parent.mkdir()
    for number in range(25):
        source.write_bytes(damaged(content, chance) if number else b"")
        take(memory, name, source)

    whole(vault)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", sorted(n for n, (file, _) in FILES.items() if "json" in file))
def test_values_of_other_kinds_crash_no_importer(
    name: str, memory: Memory, vault: Path, tmp_path: Path
) -> None:
    chance = random.Random(name)
    file, content = contents(name, tmp_path)
    lines = content.splitlines() if file.endswith(".jsonl") else [content]
    source = tmp_path / "odd" / file
    source.parent.mkdir()
    for _ in range(25):
        odd = [with_odd_values(json.loads(line), chance) for line in lines]
        source.write_text("\n".join(json.dumps(one) for one in odd), encoding="utf-8")
        take(memory, name, source)

    whole(vault)


def test_every_format_has_a_sample_that_is_damaged_here() -> None:
    assert {one.name for one in ALL} == set(FILES)
