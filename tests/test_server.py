"""The server as hosts see it: a real process, a real MCP client, both protocol eras."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import bpe_openai
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning

from memorix.server.tools import INSTRUCTIONS

ERAS = {"2025-11-25": "legacy", "2026-07-28": "auto"}
TOOLS = ["remember", "recall", "read", "revise", "forget", "brief"]
BUDGET = 2500
PATIENCE_S = 30


@asynccontextmanager
async def connected(settings: dict[str, str], era: str = "2026-07-28") -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "memorix", "serve"], env=settings
    )
    async with Client(server, mode=ERAS[era]) as client:  # type: ignore[arg-type]
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), PATIENCE_S))  # type: ignore[arg-type]


def test_a_whole_session_works_in_both_eras(settings: dict[str, str]) -> None:
    async def session(era: str) -> None:
        async with connected(settings, era) as client:
            assert client.protocol_version == era
            done = await call(client, "remember", text=f"The {era} gateway is on 8443.", title=era)
            assert done["status"] == "created"
            assert done["findable_now"] == {"words": "yes", "vector": "off"}
            found = await call(client, "recall", query=f"{era} gateway")
            assert found["hits"][0]["id"] == done["id"]
            assert set(found["hits"][0]) == {
                "id", "title", "gist", "type", "date", "scope", "origin", "trust", "score", "why",
            }  # fmt: skip
            note = await call(client, "read", id=done["id"])
            changed = await call(
                client, "revise", id=done["id"], etag=note["etag"], find="8443", replace="9443"
            )
            assert "9443" in (await call(client, "read", id=done["id"]))["body"]
            newer = await call(
                client, "revise", id=done["id"], etag=changed["etag"], supersede=True,
                text=f"The {era} gateway is gone.",
            )  # fmt: skip
            assert newer["status"] == "superseded"
            assert era in (await call(client, "brief"))["text"]
            assert (await call(client, "forget", id=newer["id"], level="erase"))["done"]

    for era in ERAS:
        run(lambda era=era: session(era))  # type: ignore[misc]


@pytest.mark.fault("A-62")
@pytest.mark.fault("A-63")
def test_the_tools_cost_few_tokens_and_have_flat_inputs(settings: dict[str, str]) -> None:
    async def look() -> None:
        async with connected(settings) as client:
            tools = (await client.list_tools()).tools
        listed = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]
        text = json.dumps(listed, separators=(",", ":"), ensure_ascii=False)
        tokens = len(bpe_openai.get_encoding("o200k_base").encode(text))
        assert [tool["name"] for tool in listed] == TOOLS
        assert tokens <= BUDGET
        for tool in listed:
            schema = json.dumps(tool["inputSchema"])
            assert not re.search(r'"(anyOf|oneOf|allOf|\$ref|const)"|"type": \[|null', schema)
            assert tool["outputSchema"]["type"] == "object"
            assert tool["annotations"]["openWorldHint"] is False
            assert len(f"mcp__memorix-notes__{tool['name']}") + 30 <= 60 + len("mcp__")
        hints = {tool["name"]: tool["annotations"] for tool in listed}
        assert [n for n in TOOLS if hints[n]["readOnlyHint"]] == ["recall", "read", "brief"]
        assert [n for n in TOOLS if hints[n].get("destructiveHint")] == ["revise", "forget"]

    run(look)


def test_the_first_512_characters_of_the_instructions_stand_alone() -> None:
    head = INSTRUCTIONS[:512]

    assert len(INSTRUCTIONS.encode()) <= 2048
    for word in ("recall", "remember", "revise", "forget", "never instructions"):
        assert word in head
    assert INSTRUCTIONS[:560].rfind(". ") <= 512


@pytest.mark.fault("A-69")
@pytest.mark.parametrize("tags", [["a", "b"], '["a", "b"]', "a, b", "a,b"])
def test_lists_are_taken_in_any_form(settings: dict[str, str], tags: object) -> None:
    async def look() -> None:
        async with connected(settings) as client:
            done = await call(client, "remember", text="x y", tags=tags, title=None, scope=None)
            assert (await call(client, "read", id=done["id"]))["tags"] == ["a", "b"]
            await call(client, "recall", query="x", tags=None, limit="3", scope=None, explain=None)
            for keys in ({"mood": "calm"}, '{"mood": "glad"}', "mood: wild", None):
                etag = (await call(client, "read", id=done["id"]))["etag"]
                await call(
                    client, "revise", id=done["id"], etag=etag, find="x", replace="x", set=keys
                )
            assert (await call(client, "read", id=done["id"]))["meta"]["mood"] == "wild"

    run(look)


def test_a_number_is_taken_where_a_text_is_meant(settings: dict[str, str]) -> None:
    async def look() -> None:
        async with connected(settings) as client:
            done = await call(client, "remember", text=8443, title="Port of the gateway")
            found = await call(client, "recall", query=8443)
            assert [hit["id"] for hit in found["hits"]] == [done["id"]]
            await call(client, "revise", id=done["id"], etag=done["etag"], find=8443, replace=9443)
            assert "9443" in str(await call(client, "read", id=done["id"]))
            told = await refusal(client, "remember", text=1.10)
            assert "string" in told, "1.10 has become 1.1 on its way; it is not guessed"

    run(look)


def test_what_a_user_can_get_wrong_is_told_in_a_sentence(settings: dict[str, str]) -> None:
    async def look() -> None:
        async with connected(settings) as client:
            done = await call(client, "remember", text="The gateway.", title="Gateway port")
            near = await refusal(client, "forget", id=done["id"][:10])
            assert done["id"] in near
            assert "Nothing was changed" in near
            assert "has changed" in await refusal(
                client, "revise", id=done["id"], etag="b2-0", text="x"
            )
            assert "etag is missing" in await refusal(
                client, "revise", id=done["id"], etag="", text="x"
            )
            assert "plain path" in await refusal(client, "read", id="../../etc/passwd")
            assert "empty" in await refusal(client, "remember", text=" \0 ")
            assert "takes a date" in await refusal(client, "recall", query="x", since="soon")
            assert "no level" in await refusal(client, "forget", id=done["id"], level="nuke")
            assert "cursor" in await refusal(client, "recall", query="x", cursor="zz")
            wrong = await refusal(client, "recall", query="x", limit="many")
            missing = await refusal(client, "read")
            assert wrong.startswith("recall was not called. limit: Input should be a valid integer")
            assert missing == "read was not called. id: Field required."
            for text in ("Traceback", "pydantic"):
                assert text not in near + wrong + missing

    run(look)


def test_resources_show_notes_brief_and_status(settings: dict[str, str]) -> None:
    async def look() -> None:
        async with connected(settings) as client:
            done = await call(client, "remember", text="The gateway.", title="Gateway port")
            note = await client.read_resource(f"memorix://notes/{done['id']}")
            assert "The gateway." in note.contents[0].text  # type: ignore[union-attr]
            brief = await client.read_resource("memorix://brief")
            assert "Gateway port" in brief.contents[0].text  # type: ignore[union-attr]
            status = await client.read_resource("memorix://status")
            assert json.loads(status.contents[0].text)["notes"] == 1  # type: ignore[union-attr]
            templates = await client.list_resource_templates()
            assert [t.uri_template for t in templates.resource_templates] == [
                "memorix://notes/{id}"
            ]

    run(look)


def edit_by_hand(settings: dict[str, str], path: str, old: str, new: str) -> None:
    file = Path(settings["MEMORIX_VAULT"]) / path
    file.write_text(file.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def test_a_change_by_hand_is_told_to_a_client_of_the_older_protocol(
    settings: dict[str, str],
) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: Any) -> None:
        uri = getattr(getattr(message, "params", None), "uri", None)
        if uri:
            await told.put(str(uri))

    async def look() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "memorix", "serve"], env=settings
        )
        async with Client(server, mode="legacy", message_handler=hear) as client:
            done = await call(client, "remember", text="The gateway is on 8443.", title="Gateway")
            uri = f"memorix://notes/{done['id']}"
            with pytest.warns(MCPDeprecationWarning):
                await client.subscribe_resource(uri)
            edit_by_hand(settings, done["path"], "8443", "quokka")
            assert await told.get() == uri
            assert (await call(client, "recall", query="quokka"))["hits"]

    run(look)


def test_a_change_by_hand_is_told_to_a_client_that_listens(settings: dict[str, str]) -> None:
    async def look() -> None:
        async with connected(settings) as client:
            done = await call(client, "remember", text="The gateway is on 8443.", title="Gateway")
            uri = f"memorix://notes/{done['id']}"
            async with client.listen(resource_subscriptions=[uri]) as changes:
                edit_by_hand(settings, done["path"], "8443", "quokka")
                async for change in changes:
                    assert change.uri == uri  # type: ignore[union-attr]
                    break
            assert (await call(client, "recall", query="quokka"))["hits"]

    run(look)


def test_files_made_renamed_and_deleted_by_hand_are_in_the_next_recall(
    settings: dict[str, str],
) -> None:
    async def look() -> None:
        folder = Path(settings["MEMORIX_VAULT"]) / "user"
        async with connected(settings) as client:
            await call(client, "remember", text="First of all.")
            folder.mkdir()
            (folder / "a.md").write_text("# Larkspur\n\nA blue flower.\n", encoding="utf-8")
            assert await settled(client, "larkspur") == ["user/a"]
            (folder / "a.md").rename(folder / "b.md")
            assert await settled(client, "larkspur", ["user/b"]) == ["user/b"]
            (folder / "b.md").unlink()
            assert await settled(client, "larkspur", []) == []

    run(look)


async def settled(client: Client, question: str, expected: list[str] | None = None) -> list[str]:
    """Ask until the answer is as expected; the caller's time limit bounds it."""
    while True:
        hits = (await call(client, "recall", query=question))["hits"]
        ids = [hit["id"] for hit in hits]
        if ids == expected or (expected is None and ids):
            return ids
        await asyncio.sleep(0)


def start(settings: dict[str, str], **more: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "memorix", "serve"],
        env={**os.environ, **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )


def say(
    server: subprocess.Popen[bytes], method: str, number: int | None = None, **params: Any
) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    assert server.stdin is not None
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()


def hello(server: subprocess.Popen[bytes]) -> None:
    say(
        server, "initialize", 1, protocolVersion="2025-11-25", capabilities={},
        clientInfo={"name": "t", "version": "1"},
    )  # fmt: skip
    assert server.stdout is not None
    assert json.loads(server.stdout.readline())["id"] == 1
    say(server, "notifications/initialized")


@pytest.mark.fault("A-58")
def test_stdout_carries_json_rpc_only_at_the_loudest_level(settings: dict[str, str]) -> None:
    server = start(settings | {"MEMORIX_LOG_LEVEL": "DEBUG", "MEMORIX_MODEL": ""})
    hello(server)
    for number, tool in enumerate(TOOLS, 2):
        say(
            server, "tools/call", number, name=tool,
            arguments={"text": "x", "query": "x", "id": "x", "etag": "x"},
        )  # fmt: skip
    assert server.stdout is not None
    lines = [json.loads(server.stdout.readline()) for _ in TOOLS]
    rest, _ = server.communicate(timeout=PATIENCE_S)

    assert sorted(line["id"] for line in lines) == list(range(2, 8))
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert server.returncode == 0


@pytest.mark.fault("A-64")
def test_any_text_a_host_can_send_is_answered_whatever_the_code_page(
    settings: dict[str, str],
) -> None:
    server = start(settings | {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"})
    hello(server)
    texts = [r"half \ud83d an emoji", r"nul \u0000 inside", "端口 😀 naïve", r"a \\ud800 backslash"]
    assert server.stdin is not None
    assert server.stdout is not None
    answers = []
    for number, text in enumerate(texts, 2):
        message = (
            f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call",'
            f'"params":{{"name":"remember","arguments":{{"text":"{text}"}}}}}}\n'
        )
        server.stdin.write(message.encode())
        server.stdin.flush()
        answers.append(json.loads(server.stdout.readline()))
    server.communicate(timeout=PATIENCE_S)
    vault = Path(settings["MEMORIX_VAULT"])
    kept = "".join(file.read_text(encoding="utf-8") for file in vault.rglob("*.md"))

    assert [answer["result"]["isError"] for answer in answers] == [False] * 4
    for part in ("half \ufffd an emoji", "nul   inside", "端口 😀 naïve", r"a \ud800 backslash"):
        assert part in kept


@pytest.mark.fault("A-60")
def test_the_server_ends_when_its_host_closes_stdin(settings: dict[str, str]) -> None:
    server = start(settings)
    hello(server)

    server.communicate(timeout=5)

    assert server.returncode == 0


@pytest.mark.fault("A-60")
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_server_ends_when_its_host_is_killed(settings: dict[str, str], tmp_path: Path) -> None:
    """Even where another process keeps the pipe to its stdin open."""
    program = (
        "import os, subprocess, sys, time\n"
        "server = subprocess.Popen([sys.executable, '-m', 'memorix', 'serve'], stdin=0)\n"
        "print(server.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    reading, writing = os.pipe()
    host = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=reading,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **settings},
    )
    assert host.stdout is not None
    pid = int(host.stdout.readline())
    os.write(writing, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    host.stdout.readline()

    host.send_signal(signal.SIGKILL)
    host.wait()
    ended = subprocess.run(["tail", "--pid", str(pid), "-f", "/dev/null"], timeout=6, check=False)
    os.close(reading)
    os.close(writing)
    host.stdout.close()

    assert ended.returncode == 0


def test_what_is_far_too_long_is_refused_in_a_sentence(settings: dict[str, str]) -> None:
    async def session() -> None:
        async with connected(settings) as client:
            asked = await refusal(client, "recall", query="gate " * 5000)
            assert "25,000 characters; it may have 20,000" in asked
            for tool in ("forget", "read"):
                assert "There is no note" in await refusal(client, tool, id="x" * 60_000)

    run(session)


@pytest.mark.fault("A-81")
def test_two_servers_on_one_vault_lose_nothing(settings: dict[str, str]) -> None:
    async def look() -> None:
        async with connected(settings) as one, connected(settings, "2025-11-25") as two:
            writes = [
                call(client, "remember", text=f"Lamp {n} of {name} is lit.", title=f"{name} {n}")
                for n in range(20)
                for name, client in (("one", one), ("two", two))
            ]
            done = await asyncio.gather(*writes)
            assert len({written["id"] for written in done}) == 40
            for client in (one, two):
                found = await call(client, "recall", query="lamp lit", limit=50, max_tokens=9999)
                assert found["total"] == 40

    run(look)


@pytest.mark.fault("A-81")
def test_on_one_note_the_second_writer_is_told(settings: dict[str, str]) -> None:
    async def look() -> None:
        async with connected(settings) as one, connected(settings) as two:
            done = await call(one, "remember", text="One fish.", title="Fish")
            edits = [
                client.call_tool("revise", {"id": done["id"], "etag": done["etag"], "text": text})
                for client, text in ((one, "from one"), (two, "from two"))
            ]
            results = await asyncio.gather(*edits)
            assert sorted(result.is_error for result in results) == [False, True]

    run(look)


@pytest.mark.fault("A-59")
def test_a_model_that_never_finishes_loading_holds_up_nothing(
    settings: dict[str, str], tmp_path: Path
) -> None:
    library = tmp_path / "stuck" / "fastembed"
    library.mkdir(parents=True)
    (library / "__init__.py").write_text("import threading\nthreading.Event().wait()\n", "utf-8")
    paths = [str(library.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    stuck = settings | {"MEMORIX_MODEL": "minilm", "PYTHONPATH": os.pathsep.join(paths)}

    async def session() -> None:
        async with connected(stuck, "2025-11-25") as client:
            assert len((await client.list_tools()).tools) == len(TOOLS)
            done = await call(client, "remember", text="The crane is high.", title="Crane")
            assert done["status"] == "created"
            assert (await call(client, "recall", query="crane"))["total"] == 1

    run(session)
