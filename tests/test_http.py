"""The HTTP server as its clients see it: a real process, real clients, both protocol eras."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning

from tests.serving import (
    MODES,
    PATIENCE_S,
    Served,
    bearer,
    command,
    connected,
    environment,
    serving,
    token,
)

ERAS = list(MODES)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    env = environment(tmp_path_factory.mktemp("served"))
    secret = token(env, "tester", "--admin")
    with serving(env, "--sse") as server:
        server.env["SECRET"] = secret
        yield server


def run(test: Callable[[], Awaitable[Any]]) -> Any:
    return asyncio.run(asyncio.wait_for(test(), PATIENCE_S))  # type: ignore[arg-type]


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("path", ["mcp", "sse"])
def test_a_whole_session_works_over_both_transports_in_both_eras(
    served: Served, path: str, era: str
) -> None:
    async def session() -> None:
        url, secret = served.urls[path], served.env["SECRET"]
        async with connected(f"{url}?project=quay-{path}", secret, era) as client:
            assert client.protocol_version == era
            done = await call(client, "remember", text=f"The {era} crane is on {path}.")
            assert done["scope"] == f"quay-{path}"
            found = await call(client, "recall", query=f"{era} crane")
            assert found["scopes"] == [f"quay-{path}", "user"]
            assert found["hits"][0]["id"] == done["id"]
            note = await call(client, "read", id=done["id"])
            changed = await call(
                client, "revise", id=done["id"], etag=note["etag"], find="crane", replace="derrick"
            )
            assert changed["status"] == "revised"
            assert "derrick" in (await call(client, "brief"))["text"]
            resource = await client.read_resource(f"memorix://notes/{done['id']}")
            assert "derrick" in resource.contents[0].text  # type: ignore[union-attr]
            assert (await call(client, "forget", id=done["id"], level="erase"))["done"]

    run(session)


@pytest.mark.parametrize(
    ("query", "header", "scope"),
    [
        ("", "", "user"),
        ("?project=lock", "", "lock"),
        ("?project=%E6%B0%B4%E9%97%B8", "", "水闸"),
        ("", "%E6%B0%B4%E9%97%B8", "水闸"),
        ("", "lock", "lock"),
        ("?project=lock", "other", "lock"),
    ],
)
def test_a_client_says_which_project_it_works_in(
    served: Served, query: str, header: str, scope: str
) -> None:
    async def session() -> None:
        headers = {"memorix-project": header} if header else {}
        async with connected(served.url + query, served.env["SECRET"], **headers) as client:
            done = await call(client, "remember", text=f"Known by {query} and {header}.")
            assert done["scope"] == scope

    run(session)


@pytest.mark.parametrize("name", ["..", "a/b", "../user", "all", "project", ".git", "a%00b"])
def test_a_project_whose_name_is_no_folder_is_refused(served: Served, name: str) -> None:
    answer = httpx2.post(
        f"{served.url}?project={name}", json={}, headers=bearer(served.env["SECRET"])
    )

    assert answer.status_code == 400
    assert "no name of a project" in answer.json()["error_description"]


def test_a_new_project_has_a_portable_name(served: Served) -> None:
    async def session() -> None:
        async with connected(f"{served.url}?project=My App", served.env["SECRET"]) as client:
            result = await client.call_tool("remember", {"text": "x"})
            assert result.is_error
            assert "'my-app'" in result.content[0].text  # type: ignore[union-attr]

    run(session)


@pytest.mark.parametrize("era", ERAS)
def test_a_change_by_hand_is_told_over_http(served: Served, era: str) -> None:
    told: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: Any) -> None:
        uri = getattr(getattr(message, "params", None), "uri", None)
        if uri:
            await told.put(str(uri))

    async def listen(client: Client, uri: str, change: Callable[[], None]) -> None:
        if era == "2025-11-25":
            client.session._message_handler = hear
            with pytest.warns(MCPDeprecationWarning):
                await client.subscribe_resource(uri)
            change()
            assert await told.get() == uri
            return
        async with client.listen(resource_subscriptions=[uri]) as changes:
            change()
            async for event in changes:
                assert event.uri == uri  # type: ignore[union-attr]
                break

    async def session() -> None:
        async with connected(served.url, served.env["SECRET"], era) as client:
            done = await call(client, "remember", text=f"The buoy of {era} is red.")
            file = Path(served.env["MEMORIX_VAULT"]) / done["path"]

            def change() -> None:
                text = file.read_text(encoding="utf-8")
                file.write_text(text.replace("red", "green"), encoding="utf-8")

            await listen(client, f"memorix://notes/{done['id']}", change)

    run(session)


@pytest.mark.fault("A-70")
@pytest.mark.parametrize("era", ERAS)
def test_a_client_goes_on_after_a_restart(tmp_path: Path, era: str) -> None:
    env = environment(tmp_path)
    secret = token(env, "tester")

    async def session() -> None:
        with serving(env) as first:
            client = connected(first.url, secret, era)
            connection = await client.__aenter__()
            await call(connection, "remember", text="The tide turns at six.")
            assert first.stop() == 0
        with serving(env, port=first.port):
            assert (await call(connection, "recall", query="tide"))["total"] == 1
            assert (await call(connection, "remember", text="And at noon."))["status"] == "created"
            await client.__aexit__(None, None, None)

    run(session)


@pytest.mark.fault("A-70")
def test_an_sse_stream_that_a_restart_cut_is_opened_again_at_the_same_address(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path)
    headers = bearer(token(env, "tester"))
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

    def messages(lines: Iterator[str]) -> str:
        return next(line for line in lines if line.startswith("data: ")).removeprefix("data: ")

    with serving(env, "--sse") as first:
        url, place = first.urls["sse"], httpx2.URL(first.urls["sse"])
        with httpx2.stream("GET", url, headers=headers, timeout=PATIENCE_S) as stream:
            lines = stream.iter_lines()
            cut = place.join(messages(lines))
            assert first.stop() == 0
            with suppress(httpx2.HTTPError):  # it ends, cleanly or not
                list(lines)
    with serving(env, "--sse", port=first.port):
        assert httpx2.post(cut, json=ping, headers=headers).status_code == 404
        with httpx2.stream("GET", url, headers=headers, timeout=PATIENCE_S) as stream:
            lines = stream.iter_lines()  # kept, so that the stream stays open
            again = place.join(messages(lines))
            assert httpx2.post(again, json=ping, headers=headers).status_code == 202


@pytest.mark.fault("A-70")
def test_a_session_that_its_client_ended_is_gone(served: Served) -> None:
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }  # fmt: skip
    headers = bearer(served.env["SECRET"], accept="application/json, text/event-stream")
    opened = httpx2.post(served.url, json=hello, headers=headers)
    headers["mcp-session-id"] = opened.headers["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}

    before = httpx2.post(served.url, json=ping, headers=headers)
    httpx2.delete(served.url, headers=headers)
    after = httpx2.post(served.url, json=ping, headers=headers)

    assert (before.status_code, after.status_code) == (200, 404)


@pytest.mark.parametrize("path", ["mcp", "sse"])
def test_the_server_ends_cleanly_with_streams_open(tmp_path: Path, path: str) -> None:
    env = environment(tmp_path)
    secret = token(env, "tester")

    async def session() -> tuple[int, Served]:
        with serving(env, "--sse") as server:
            client = connected(server.urls[path], secret, "2025-11-25")
            connection = await client.__aenter__()
            await call(connection, "remember", text="The quay is long.")
            server.process.terminate()
            code = await asyncio.to_thread(server.process.wait, 5)
            with suppress(BaseExceptionGroup):  # the client misses its stream
                await client.__aexit__(None, None, None)
            return code, server

    code, server = run(session)

    assert code == 0
    assert "Traceback" not in "".join(server.log)


def test_the_server_ends_cleanly_while_its_model_is_loaded(tmp_path: Path) -> None:
    env = environment(tmp_path, MEMORIX_MODEL="minilm")
    token(env, "tester")

    for _ in range(3):
        with serving(env) as server:
            code = server.stop()
        assert (code, "".join(server.log).count("terminate")) == (0, 0)


def test_health_is_told_to_anybody_and_says_nothing_else(served: Served) -> None:
    answer = httpx2.get(served.url.replace("/mcp", "/healthz"))

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_health_tells_of_an_index_that_cannot_be_opened(tmp_path: Path) -> None:
    env = environment(tmp_path)
    token(env, "tester")
    (tmp_path / "state" / "index.db").mkdir(parents=True)

    with serving(env) as server:
        url = server.url.replace("/mcp", "/healthz")
        answer = httpx2.get(url)
        while answer.status_code == 200:
            answer = httpx2.get(url)

    assert answer.status_code == 503
    assert str(tmp_path) not in answer.text


def test_a_port_that_is_taken_is_told_in_a_sentence(served: Served) -> None:
    done = command(served.env, "serve", "--http", "--port", str(served.port))

    assert done.returncode == 10
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


def test_many_clients_share_one_memory_and_lose_nothing(served: Served) -> None:
    async def one(number: int) -> list[str]:
        era = ERAS[number % 2]
        async with connected(f"{served.url}?project=many", served.env["SECRET"], era) as client:
            written = [
                await call(client, "remember", text=f"Lamp {n} of pier {number} is lit.")
                for n in range(5)
            ]
            return [done["id"] for done in written]

    async def session() -> None:
        ids = await asyncio.gather(*[one(number) for number in range(8)])
        assert len({note for notes in ids for note in notes}) == 40
        async with connected(f"{served.url}?project=many", served.env["SECRET"]) as client:
            found = await call(client, "recall", query="lamp lit", limit=50, max_tokens=9999)
            assert found["total"] == 40

    run(session)


def test_stdio_does_not_import_the_http_parts() -> None:
    program = (
        "import sys, memorix.server.app\n"
        "print([n for n in ('jwt', 'memorix.server.http') if n in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert done.stdout.strip() == b"[]"
