"""What `memorix usage` tells after hosts have used the memory."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import Implementation

from tests.serving import MODES, PATIENCE_S, command, connected, environment, serving, token


def run(test: Callable[[], Awaitable[Any]]) -> None:
    asyncio.run(asyncio.wait_for(test(), PATIENCE_S))  # type: ignore[arg-type]


async def session(client: Client) -> None:
    """Write three notes, be shown two of them, and read one."""
    ids = []
    for name in ("pilot", "tide", "crane"):
        done = await client.call_tool("remember", {"text": f"The {name} is called Verdigris."})
        ids.append((done.structured_content or {})["id"])
    await client.call_tool("recall", {"query": "pilot tide"})
    await client.call_tool("read", {"id": ids[0]})
    await client.read_resource(f"memorix://notes/{ids[2]}")
    await client.call_tool("read", {"id": "no such note"})
    await client.call_tool("brief", {})


def usage(env: dict[str, str], *options: str) -> dict[str, Any]:
    return dict(json.loads(command(env, "usage", "--json", *options).stdout))


@pytest.mark.parametrize("era", list(MODES))
def test_each_host_is_told_with_what_it_did_and_what_was_of_use(tmp_path: Path, era: str) -> None:
    env = environment(tmp_path)
    server = StdioServerParameters(command=sys.executable, args=["-m", "memorix", "serve"], env=env)

    async def look() -> None:
        name = Implementation(name="some-editor", version="2.1")
        async with Client(server, mode=MODES[era], client_info=name) as client:
            await session(client)

    run(look)
    told = usage(env)
    (host,) = told["hosts"]
    text = command(env, "usage").stdout

    assert host | {"tokens": 0} == {
        "host": "some-editor", "recalls": 1, "briefs": 1, "hooks": 0, "reads": 2, "writes": 3,
        "tokens": 0, "shown": 5, "used": 1,
    }  # fmt: skip
    assert host["tokens"] > 200
    assert told["most_shown"][0]["used"] == 1
    assert "some-editor" in text
    assert "1 of 5" in text


def test_clients_over_http_are_told_apart(tmp_path: Path) -> None:
    env = environment(tmp_path)
    secret = token(env, "tester")

    async def look(url: str) -> None:
        async with connected(url, secret) as client:
            await session(client)

    with serving(env) as served:
        run(lambda: look(served.url))

    (host,) = usage(env)["hosts"]
    assert (host["host"], host["writes"]) == ("mcp", 3)


def test_nothing_that_was_asked_or_answered_is_kept(tmp_path: Path) -> None:
    env = environment(tmp_path)
    secret = token(env, "tester")

    async def look(url: str) -> None:
        async with connected(url, secret) as client:
            await session(client)
            await client.call_tool("recall", {"query": "where is the quinquereme?"})

    with serving(env) as served:
        run(lambda: look(served.url))
    command(env, "usage")

    kept = b"".join(file.read_bytes() for file in (tmp_path / "state").rglob("*.db*"))
    assert b"quinquereme" not in kept


def test_without_any_use_it_is_said_so(tmp_path: Path) -> None:
    env = environment(tmp_path)

    assert usage(env)["hosts"] == []
    assert "Nothing was counted" in command(env, "usage").stdout


def shown_by_a_hook(tmp_path: Path, env: dict[str, str], host: str) -> None:
    """Begin a session of a host, which is shown the brief."""
    payload = json.dumps({"cwd": str(tmp_path)})
    subprocess.run(
        [sys.executable, "-m", "memorix", "hook", "SessionStart", "--host", host],
        input=payload.encode(),
        env=env,
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=60,
    )


def test_what_a_hook_showed_is_counted_and_its_later_reading_as_use(tmp_path: Path) -> None:
    env = environment(tmp_path)
    command(env, "remember", "The quay is 40 m long.", "--scope", "user")
    shown_by_a_hook(tmp_path, env, "codex")
    server = StdioServerParameters(command=sys.executable, args=["-m", "memorix", "serve"], env=env)

    async def look() -> None:
        name = Implementation(name="codex-mcp-client", version="1")
        async with Client(server, client_info=name) as client:
            found = await client.call_tool("recall", {"query": "quay", "scope": "user"})
            hit = (found.structured_content or {})["hits"][0]
            await client.call_tool("read", {"id": hit["id"]})

    run(look)
    hosts = {host["host"]: host for host in usage(env)["hosts"]}

    told = hosts["codex"]
    assert (told["briefs"], told["shown"], told["used"]) == (1, 1, 1)
    assert told["tokens"] > 10
    assert hosts["codex-mcp-client"]["reads"] == 1


def test_uses_that_wait_are_counted_once_and_broken_ones_are_passed_over(tmp_path: Path) -> None:
    env = environment(tmp_path)
    command(env, "remember", "The quay is 40 m long.", "--scope", "user")
    shown_by_a_hook(tmp_path, env, "codex")
    (waiting,) = tmp_path.rglob("uses.jsonl")
    with waiting.open("ab") as file:
        file.write(b'{"index": 7}\n[]\n{"at": "never"\n\xff\n')

    usage(env)
    (host,) = usage(env)["hosts"]

    assert (host["briefs"], host["shown"]) == (1, 1)
    assert not waiting.exists()
