"""A text that is erased is in no byte of all that Memorix keeps, whoever has kept it meanwhile."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from memorix.config import load
from memorix.index.base import Row
from memorix.wiring import load_model, open_memory
from tests.test_server import call

PATIENCE_S = 240
CANARY = "The zyqvexa vault opens with brumbyfex seventeen."
CHINESE = "鹭岛密钥藏在蓝鲸灯塔的第七级台阶下面。"
WORDS = ("zyqvex", "brumbyfex", "鹭岛密", "密钥", "蓝鲸", "灯塔的第", "\\u9e6d", "鲸灯")


@pytest.fixture
def settings(settings: dict[str, str]) -> dict[str, str]:
    more = {"MEMORIX_GIT_COMMITS": "on", "MEMORIX_LOG": "on", "MEMORIX_LEARN": "on"}
    return {**os.environ, **settings, **more, "MEMORIX_MODEL": "minilm"}


def everything(root: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every file but git's with its bytes, and what is compressed in the journal."""
    for file in root.rglob("*"):
        if file.is_file() and ".git" not in file.relative_to(root).parts:
            content = file.read_bytes()
            yield file, content
            for line in content.splitlines() if file.name == "journal" else ():
                if line.startswith(b"b2-"):
                    yield file, zlib.decompress(b64decode(line.partition(b" ")[2]))


def holding(root: Path, *needles: bytes) -> list[str]:
    found = [
        f"{file.relative_to(root)}: {needle!r}"
        for file, content in everything(root)
        for needle in needles
        if needle in content or needle in content.lower()
    ]
    return sorted(set(found))


def vectors(settings: dict[str, str], *ids: str) -> list[bytes]:
    memory = open_memory(load({}, settings))
    try:
        load_model(memory, load({}, settings))
        assert memory.embedder is not None
        memory.embed_pending()
        rows: list[Row] = [memory.find(id) for id in ids]
        keys = [row.key for row in rows]
        return [v for _, v in memory.index.note_vectors(keys, memory.embedder.card.fingerprint)]
    finally:
        memory.close()


def hook(settings: dict[str, str], event: str, **payload: Any) -> None:
    subprocess.run(
        [sys.executable, "-m", "memorix", "hook", event, "--host", "claude-code"],
        input=json.dumps({"cwd": settings["MEMORIX_PROJECT_DIR"], **payload}).encode(),
        env=settings,
        check=True,
        capture_output=True,
        timeout=60,
    )


async def used(client: Client, text: str, title: str) -> str:
    """Let a note be written, changed, linked to, found and read, as notes are."""
    note = str((await call(client, "remember", text=text, title=title))["id"])
    mark = (await call(client, "read", id=note))["etag"]
    done = await call(client, "revise", id=note, etag=mark, set={"tags": "canary"})
    name = str((await call(client, "read", id=note))["path"]).rpartition("/")[2]
    for number, words in enumerate((f"See [{title}]({name}).", f"Beside [[{title}]] is room.")):
        await call(client, "remember", text=words, title=f"Door {number} of {len(text)}")
    for _ in range(2):
        await call(client, "recall", query=text)
    assert done["id"] == note
    return note


@pytest.mark.fault("A-54")
@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_an_erased_text_is_in_no_byte_while_a_server_runs_and_after(
    settings: dict[str, str], memorix: Callable[..., str], tmp_path: Path, vault: Path
) -> None:
    vault.mkdir()
    subprocess.run(["git", "-C", str(vault), "init", "-q"], check=True)
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "memorix", "serve"], env=settings
    )

    async def session() -> None:
        async with Client(server) as client:
            notes = [
                await used(client, CANARY, "Zyqvexa vault"),
                await used(client, CHINESE, "鹭岛密钥"),
            ]
            for event in ("UserPromptSubmit", "Stop"):
                told = {"prompt": CANARY, "last_assistant_message": f"{CHINESE} " * 20}
                hook(settings, event, session_id="s1", **told)
            hook(settings, "SessionEnd", session_id="s1", reason="exit")
            hook(settings, "UserPromptSubmit", session_id="s2", prompt=CHINESE)
            memorix("index", **settings)
            made = vectors(settings, *notes)
            needles = [word.encode() for word in WORDS]
            before = holding(tmp_path, *needles, *made)
            for note in notes:
                said.append(memorix("forget", note, "--level", "erase", "--prove", **settings))
            seen.extend([before, holding(tmp_path, *needles, *made)])
            hits = (await call(client, "recall", query="zyqvexa 鹭岛密钥"))["hits"]
            told = str([(hit["id"], hit["title"], hit["gist"]) for hit in hits]).lower()
            assert not [word for word in (*notes, *WORDS) if word.lower() in told]

    said: list[str] = []
    seen: list[list[str]] = []
    asyncio.run(asyncio.wait_for(session(), PATIENCE_S))

    before, after = seen
    assert after == []
    assert holding(tmp_path, *(word.encode() for word in WORDS)) == []
    for place in ("vault/projects", "state/index.db", "state/journal", "memorix-notes/hooks"):
        assert [one for one in before if place in one], place
    for told in said:
        assert "nothing of it is left there" in told
        assert f"the git history of {vault} holds it" in told
    assert "zyqvexa" not in subprocess.run(
        ["git", "-C", str(vault), "grep", "-i", "zyqvexa", "HEAD"],
        capture_output=True, text=True, encoding="utf-8", check=False,
    ).stdout  # fmt: skip
