"""A server in whose work something takes long: what must not wait for it, and what may be stopped.

A lock that the test holds makes a write take as long as it likes.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from filelock import FileLock
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CancelledNotification, CancelledNotificationParams

from tests.serving import MODES, PATIENCE_S, command, connected, environment, serving, token

WAYS = [(transport, era) for transport in ("stdio", "mcp", "sse") for era in MODES]
MANY, LONGEST_REPLY = 200, 8_000
# Notes that share a word, and characters that every host takes in one answer.

TAKEN_IN = 800
# More than one transaction of the index takes, so that it can be seen at work.


@asynccontextmanager
async def clients(env: dict[str, str], transport: str, era: str) -> AsyncIterator[list[Client]]:
    """Connect two clients to one server, or one to its own over stdio."""
    if transport == "stdio":
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "memorix", "serve"], env=env
        )
        async with Client(server, mode=MODES[era]) as client:
            yield [client, client]
        return
    secret = token(env, "tester")
    with serving(env, "--sse") as served:
        url = served.urls[transport]
        async with connected(url, secret, era) as one, connected(url, secret, era) as two:
            yield [one, two]


def run(test: Callable[[], Awaitable[Any]]) -> None:
    asyncio.run(asyncio.wait_for(test(), PATIENCE_S))  # type: ignore[arg-type]


async def remember(client: Client, text: str) -> str:
    result = await client.call_tool("remember", {"text": text})
    assert not result.is_error, result.content
    return str((result.structured_content or {})["status"])


async def recall_total(client: Client, query: str) -> int:
    result = await client.call_tool("recall", {"query": query})
    return int((result.structured_content or {})["total"])


async def ping(client: Client) -> None:
    if client.protocol_version == "2025-11-25":
        await client.session.send_ping()
    await client.list_tools(cache_mode="bypass")


def write_lock(env: dict[str, str]) -> FileLock:
    return FileLock(Path(env["MEMORIX_STATE_DIR"]) / "write.lock", thread_local=False)


@pytest.mark.fault("A-68")
@pytest.mark.parametrize(("transport", "era"), WAYS)
def test_a_write_that_waits_holds_up_no_other_call(
    tmp_path: Path, transport: str, era: str
) -> None:
    env = environment(tmp_path)

    async def look() -> None:
        async with clients(env, transport, era) as (one, two):
            await remember(one, "The crane is high.")
            with write_lock(env):
                waiting = asyncio.create_task(remember(one, "The quay is long."))
                for client in (one, two):
                    await ping(client)
                    assert await recall_total(client, "crane") == 1
                    await client.read_resource("memorix://brief")
                assert not waiting.done()
            assert await waiting == "created"

    run(look)


@pytest.mark.fault("A-68")
@pytest.mark.parametrize("era", MODES)
def test_more_writes_than_threads_that_all_wait_hold_up_no_other_call(
    tmp_path: Path, era: str
) -> None:
    env = environment(tmp_path)

    async def look() -> None:
        async with clients(env, "mcp", era) as (one, two):
            await remember(one, "The crane is high.")
            with write_lock(env):
                texts = [f"Quay {number} is long." for number in range(50)]
                waiting = [asyncio.create_task(remember(one, text)) for text in texts]
                await ping(one)
                assert await recall_total(two, "crane") == 1
                assert not any(task.done() for task in waiting)
            assert {await task for task in waiting} <= {"created", "possible conflict"}

    run(look)


@pytest.mark.fault("A-68")
@pytest.mark.parametrize("era", MODES)
def test_while_many_notes_are_taken_in_other_calls_are_answered(tmp_path: Path, era: str) -> None:
    env = environment(tmp_path)
    answered_at: list[int] = []

    async def taken_in(client: Client) -> int:
        status = await client.read_resource("memorix://status")
        return int(json.loads(status.contents[0].text)["by_scope"].get("harbour", 0))  # type: ignore[union-attr]

    async def look() -> None:
        async with clients(env, "mcp", era) as (one, two):
            await remember(one, "The crane is high.")
            folder = Path(env["MEMORIX_VAULT"]) / "projects" / "harbour"
            folder.mkdir(parents=True)
            for number in range(TAKEN_IN):
                text = f"# Ship {number}\n\nShip {number} is at the quay.\n"
                (folder / f"{number}.md").write_text(text, encoding="utf-8")
            while not answered_at or answered_at[-1] < TAKEN_IN:
                await ping(two)
                answered_at.append(await taken_in(one))

    run(look)
    assert [count for count in answered_at if 0 < count < TAKEN_IN]


@pytest.mark.fault("A-67")
@pytest.mark.parametrize(("transport", "era"), WAYS)
def test_a_call_that_is_cancelled_breaks_no_later_one(
    tmp_path: Path, transport: str, era: str
) -> None:
    env = environment(tmp_path)

    async def look() -> None:
        async with clients(env, transport, era) as (one, two):
            await remember(one, "The crane is high.")
            with write_lock(env):
                for _ in range(3):
                    with anyio.move_on_after(0.05):
                        await remember(one, "The quay is long.")
                await ping(one)
            for client in (one, two):
                assert await recall_total(client, "crane") == 1
            assert await remember(one, "The lamp is lit.") == "created"

    run(look)


@pytest.mark.fault("A-67")
@pytest.mark.parametrize("transport", ["stdio", "mcp", "sse"])
def test_a_call_that_nobody_made_can_be_cancelled(tmp_path: Path, transport: str) -> None:
    env = environment(tmp_path)

    async def look() -> None:
        async with clients(env, transport, "2025-11-25") as (one, _):
            for number in (0, 4711, "no such call"):
                await one.session.send_notification(cancelled(number))
            assert await remember(one, "The lamp is lit.") == "created"
            with pytest.raises(MCPError):
                await one.read_resource("memorix://nowhere")
            assert await recall_total(one, "lamp") == 1

    run(look)


def cancelled(number: int | str) -> CancelledNotification:
    return CancelledNotification(params=CancelledNotificationParams(request_id=number))


@pytest.mark.fault("A-61")
def test_a_common_word_gets_a_short_answer_and_the_next_page(tmp_path: Path) -> None:
    env = environment(tmp_path)
    folder = tmp_path / "vault" / "user"
    folder.mkdir(parents=True)
    for number in range(MANY):
        text = f"# Pier {number}\n\n" + f"The harbour of pier {number} has a long story. " * 100
        (folder / f"{number}.md").write_text(text, encoding="utf-8")
    assert command(env, "reindex").returncode == 0

    async def look() -> None:
        async with clients(env, "stdio", "2026-07-28") as (client, _):
            seen: list[str] = []
            pages = [{}, {}]
            for page in pages:
                arguments = {"query": "harbour", "limit": 20, "max_tokens": 500} | page
                result = await client.call_tool("recall", arguments)
                data = result.structured_content or {}
                assert len(result.content[0].text) < LONGEST_REPLY  # type: ignore[union-attr]
                seen += [hit["id"] for hit in data["hits"]]
                pages[-1]["cursor"] = data["cursor"]
            assert len(set(seen)) == len(seen) > len(data["hits"]) > 1
            note = await client.call_tool("read", {"id": seen[0]})
            assert len((note.structured_content or {})["body"]) > LONGEST_REPLY / 2

    run(look)
