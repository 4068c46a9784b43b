"""Who gets in over HTTP, and how far: each test is an attack, or a mistake that invites one."""

import asyncio
import json
import socket
import ssl
import stat
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from tests.serving import (
    PATIENCE_S,
    Served,
    bearer,
    command,
    connected,
    environment,
    serving,
    token,
)

ERAS = ["2025-11-25", "2026-07-28"]
SECRET_WORDS = ("quintuple", "Zoltan")
# They stand in a note of the project `theirs` only, and no test sends them.

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    made = environment(tmp_path_factory.mktemp("secure"), MEMORIX_LOG_LEVEL="DEBUG")
    for name, *options in (
        ("admin", "--admin"),
        ("writer", "--write"),
        ("reader", "--read"),
        ("ours", "--write", "--scope", "ours"),
        ("dock", "--write", "--scope", "dock"),
        ("both", "--read", "--scope", "dock", "--scope", "user"),
        ("gone", "--write"),
    ):
        made[f"TOKEN_{name}"] = token(made, name, *options)
    assert command(made, "token", "revoke", "gone").returncode == 0
    return made


@pytest.fixture(scope="module")
def served(env: dict[str, str]) -> Iterator[Served]:
    with serving(env, "--sse", "--timeout", "1", "--allow-host", "notes.lan") as server:
        yield server


@pytest.fixture(scope="module")
def theirs(served: Served) -> dict[str, Any]:
    """A note of another project, one of ours that links to it, and one of the user's."""

    async def write() -> dict[str, Any]:
        async with connected(f"{served.url}?project=theirs", served.env["TOKEN_admin"]) as client:
            note = await call(
                client, "remember", title="Harbour dues by Zoltan", text="Vermilion: quintuple."
            )
        async with connected(f"{served.url}?project=dock", served.env["TOKEN_admin"]) as client:
            link = f"See [there](/{note['path']}) and [[harbour-dues-by-zoltan]]. Ann is pilot."
            await call(client, "remember", title="Pilot", text=link)
            await call(client, "remember", title="Tea", text="Tea at four.", scope="user")
        return note

    return dict(run(write))


def run(test: Callable[[], Awaitable[Any]]) -> Any:
    return asyncio.run(asyncio.wait_for(test(), PATIENCE_S))  # type: ignore[arg-type]


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


# -- names


@pytest.mark.fault("A-65")
@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages/", "/healthz", "/nowhere"])
@pytest.mark.parametrize(
    ("host", "answer"),
    [
        ("evil.example", 421),
        ("localhost.evil.example:80", 421),
        ("127.0.0.1.evil.example", 421),
        ("192.168.0.9:7878", 421),
        ("user@localhost", 421),
        ("", 421),
    ],
)
def test_a_name_that_is_not_ours_is_refused_everywhere(
    served: Served, path: str, host: str, answer: int
) -> None:
    url = served.url.replace("/mcp", path)
    headers = bearer(served.env["TOKEN_admin"], host=host)

    got = httpx2.post(url, json=PING, headers=headers), httpx2.get(url, headers=headers)

    assert [response.status_code for response in got] == [answer, answer]
    assert "mcp-session-id" not in got[0].headers


@pytest.mark.fault("A-65")
@pytest.mark.parametrize("host", ["localhost:9", "127.0.0.1", "[::1]:80", "notes.lan", "NOTES.lan"])
def test_names_that_are_ours_are_served(served: Served, host: str) -> None:
    url = served.url.replace("/mcp", "/healthz")

    assert httpx2.get(url, headers={"host": host}).status_code == 200


@pytest.mark.fault("A-65")
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "file://", "x"]
)
def test_a_page_of_another_site_is_refused_before_any_session(served: Served, origin: str) -> None:
    for url in served.urls.values():
        got = httpx2.post(url, json=PING, headers=bearer(served.env["TOKEN_admin"], origin=origin))
        assert got.status_code == 403
        assert "mcp-session-id" not in got.headers


def test_a_page_of_this_machine_may_ask(served: Served) -> None:
    url = served.url.replace("/mcp", "/healthz")

    for origin in ("http://localhost:5173", "http://127.0.0.1", f"http://127.0.0.1:{served.port}"):
        assert httpx2.get(url, headers={"origin": origin}).status_code == 200


# -- addresses


@pytest.mark.fault("A-66")
def test_only_this_machine_is_served_unless_asked(served: Served) -> None:
    table = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    listening = [row.split()[1] for row in table if row.split()[3] == "0A"]

    assert f"0100007F:{served.port:04X}" in listening
    assert f"00000000:{served.port:04X}" not in listening


@pytest.mark.fault("A-66")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_other_machines_are_not_served_without_a_token(env: dict[str, str], host: str) -> None:
    done = command(env, "serve", "--http", "--host", host, "--port", "0", "--no-token")

    assert done.returncode == 10
    assert "tokens are needed" in done.stderr


@pytest.mark.fault("A-66")
def test_nothing_is_served_before_there_is_a_token(tmp_path: Path) -> None:
    done = command(environment(tmp_path), "serve", "--http", "--host", "0.0.0.0", "--port", "0")

    assert done.returncode == 10
    assert "memorix token add" in done.stderr


def test_another_address_is_served_with_a_token_and_a_warning(env: dict[str, str]) -> None:
    with serving(env, "--host", "0.0.0.0") as server:
        url = f"http://127.0.0.1:{server.port}"
        strange = httpx2.get(f"{url}/healthz", headers={"host": "evil.example"})
        without = httpx2.post(f"{url}/mcp", json=PING)

    assert (strange.status_code, without.status_code) == (421, 401)
    assert any("without TLS" in line for line in server.log)


def test_who_asks_for_it_may_serve_this_machine_without_tokens(tmp_path: Path) -> None:
    async def look(url: str) -> None:
        async with connected(url) as client:
            assert (await call(client, "remember", text="Open."))["scope"] == "user"

    with serving(environment(tmp_path), "--no-token") as server:
        run(lambda: look(server.url))


def test_the_connection_is_private_with_a_certificate(env: dict[str, str], tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    make_certificate(certificate, key)
    wrong = command(env, "serve", "--http", "--tls-cert", str(key), "--tls-key", str(key))
    half = command(env, "serve", "--http", "--tls-cert", str(certificate))

    with serving(env, "--tls-cert", str(certificate), "--tls-key", str(key)) as server:
        trusting = ssl.create_default_context(cafile=str(certificate))
        health = httpx2.get(server.url.replace("/mcp", "/healthz"), verify=trusting)

    assert server.url.startswith("https://")
    assert health.status_code == 200
    assert (wrong.returncode, half.returncode) == (10, 10)
    assert "Traceback" not in wrong.stderr + half.stderr


# -- tokens


@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages/"])
@pytest.mark.parametrize(
    "value",
    [
        "", "Bearer", "Bearer wrong", "Basic YTpi", "bearer memorix_", "Bearer 😀",
        "Bearer TOKEN_gone", "Token TOKEN_admin", "TOKEN_admin",
    ],
)  # fmt: skip
def test_without_a_valid_token_nothing_is_served(served: Served, path: str, value: str) -> None:
    url = served.url.replace("/mcp", path)
    said = value
    for name in ("TOKEN_gone", "TOKEN_admin"):
        said = said.replace(name, served.env[name])
    headers = {b"authorization": said.encode()} if said else {}
    method = "GET" if path == "/sse" else "POST"

    got = httpx2.request(method, url, headers=headers, content=json.dumps(PING))

    assert got.status_code in (401, 429)
    if got.status_code == 401:
        assert got.headers["www-authenticate"].startswith("Bearer")


def test_a_token_ends_when_it_is_revoked_or_expires(served: Served) -> None:
    env = served.env
    secret = token(env, "brief", "--read")
    file = Path(env["XDG_CONFIG_HOME"]) / "memorix-notes" / "tokens.json"

    def status() -> int:
        return httpx2.get(served.url, headers=bearer(secret)).status_code

    valid = status()
    data = json.loads(file.read_text(encoding="utf-8"))
    for row in data["tokens"]:
        if row["name"] == "brief":
            row["expires"] = "2020-01-01T00:00:00+00:00"
    file.write_text(json.dumps(data), encoding="utf-8")
    expired = status()
    listed = command(env, "token", "list").stdout
    command(env, "token", "revoke", "brief")
    revoked = status()

    assert valid not in (401, 429)
    assert expired in (401, 429)
    assert revoked in (401, 429)
    assert "expired" in listed


def test_tokens_are_kept_as_digests_in_a_file_of_their_owner(env: dict[str, str]) -> None:
    file = Path(env["XDG_CONFIG_HOME"]) / "memorix-notes" / "tokens.json"
    text = file.read_text(encoding="utf-8")

    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert '"admin"' in text
    for name, secret in env.items():
        assert not name.startswith("TOKEN_") or secret not in text


def test_a_file_of_tokens_that_others_may_read_is_refused(tmp_path: Path) -> None:
    env = environment(tmp_path)
    token(env, "tester")
    file = tmp_path / "config" / "memorix-notes" / "tokens.json"
    file.chmod(0o644)

    done = command(env, "serve", "--http", "--port", "0")

    assert done.returncode == 2
    assert "chmod 600" in done.stderr


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"version": 2, "tokens": []}', "\udcff"])
def test_a_damaged_file_of_tokens_lets_nobody_in(tmp_path: Path, content: str) -> None:
    env = environment(tmp_path)
    secret = token(env, "tester")
    file = tmp_path / "config" / "memorix-notes" / "tokens.json"

    with serving(env) as server:
        file.write_bytes(content.encode("utf-8", "surrogateescape"))
        got = httpx2.post(server.url, json=PING, headers=bearer(secret))
    done = command(env, "token", "list")

    assert got.status_code == 401
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "admin"), "is a token 'admin'"),
        (("add", " "), "plain name"),
        (("add", "x", "--read", "--admin"), "Choose one"),
        (("add", "x", "--scope", "../up"), "no scope"),
        (("add", "x", "--scope", "all"), "no scope"),
        (("add", "x", "--expires", "soon"), "date"),
        (("add", "x", "--expires", "2020-01-01"), "has passed"),
        (("revoke", "nobody"), "no token 'nobody'"),
    ],
)
def test_what_a_user_can_get_wrong_about_tokens_is_told(
    env: dict[str, str], arguments: tuple[str, ...], said: str
) -> None:
    done = command(env, "token", *arguments)

    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


# -- rights


@pytest.mark.parametrize("era", ERAS)
def test_a_token_to_read_changes_nothing(served: Served, theirs: dict[str, Any], era: str) -> None:
    async def look() -> None:
        url = f"{served.url}?project=theirs"
        async with connected(url, served.env["TOKEN_reader"], era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["recall", "read", "brief"]
            assert (await call(client, "recall", query="vermilion"))["total"] == 1
            for tool, arguments in (
                ("remember", {"text": "x"}),
                ("revise", {"id": theirs["id"], "etag": theirs["etag"], "text": "x"}),
                ("forget", {"id": theirs["id"]}),
            ):
                said = await refusal(client, tool, **arguments)
                assert "right to write" in said
            assert "quintuple" in (await call(client, "read", id=theirs["id"]))["body"]

    run(look)


@pytest.mark.parametrize("level", ["erase", " erase "])
def test_what_cannot_be_taken_back_takes_the_right_of_an_admin(served: Served, level: str) -> None:
    async def look() -> None:
        async with connected(served.url, served.env["TOKEN_writer"]) as client:
            done = await call(client, "remember", text="A rope.")
            await refusal(client, "forget", id=done["id"], level=level)
            assert (await call(client, "read", id=done["id"]))["body"]
            assert (await call(client, "forget", id=done["id"]))["done"]

    run(look)


# -- scopes


@pytest.mark.parametrize(("era", "project"), [(ERAS[0], ""), (ERAS[1], "?project=ours")])
def test_no_tool_reaches_another_scope(
    served: Served, theirs: dict[str, Any], era: str, project: str
) -> None:
    """Every tool there is, with what names the other scope or its note in every argument."""
    path = theirs["path"]
    names = [
        theirs["id"], path, path.removesuffix(".md"), f"/{path}", "projects/ours/../theirs/x",
        "theirs", "all", "ours,theirs", "project", "Harbour dues", "vermilion", theirs["etag"],
    ]  # fmt: skip
    file = Path(served.env["MEMORIX_VAULT"]) / path
    before, notes = file.read_bytes(), sorted(file.parent.iterdir())

    async def look() -> list[str]:
        answers = []
        async with connected(served.url + project, served.env["TOKEN_ours"], era) as client:
            for tool in (await client.list_tools()).tools:
                texts = tool.input_schema["properties"]
                for field in texts:
                    for name in names:
                        arguments = dict.fromkeys(tool.input_schema.get("required", []), "pilot")
                        result = await client.call_tool(tool.name, arguments | {field: name})
                        answers.append(result.model_dump_json())
        return answers

    answers = run(look)

    assert len(answers) > 100
    assert not [text for text in answers for word in SECRET_WORDS if word in text]
    assert file.read_bytes() == before
    assert sorted(file.parent.iterdir()) == notes


def test_a_limited_token_works_where_it_may(served: Served, theirs: dict[str, Any]) -> None:
    async def look() -> None:
        async with connected(served.url, served.env["TOKEN_dock"]) as client:
            found = await call(client, "recall", query="pilot", scope="all")
            assert (found["scopes"], found["total"]) == (["dock"], 1)
            note = await call(client, "read", id=found["hits"][0]["id"])
            assert theirs["id"] not in json.dumps(note["links"])
            done = await call(client, "remember", text="The lock opens at nine.")
            assert done["scope"] == "dock"
            assert "Known: dock" in await refusal(client, "recall", query="x", scope="theirs")
            assert "no scope 'user'" in await refusal(client, "remember", text="x", scope="user")
            assert (await call(client, "brief"))["scopes"] == ["dock"]

    run(look)


def test_a_token_for_several_scopes_reaches_these(served: Served, theirs: dict[str, Any]) -> None:
    async def look() -> None:
        async with connected(served.url, served.env["TOKEN_both"]) as client:
            found = await call(client, "recall", query="pilot", scope="all")
            found["hits"] += (await call(client, "recall", query="tea vermilion"))["hits"]
            assert {hit["scope"] for hit in found["hits"]} == {"dock", "user"}

    run(look)


@pytest.mark.parametrize("scope", ["", "all", "theirs", "project", "dock,theirs"])
def test_no_prompt_reaches_another_scope(
    served: Served, theirs: dict[str, Any], scope: str
) -> None:
    async def look() -> list[str]:
        answers = []
        async with connected(served.url, served.env["TOKEN_dock"]) as client:
            for prompt in (await client.list_prompts()).prompts:
                given = {argument.name: scope for argument in prompt.arguments or [] if scope}
                try:
                    answers.append((await client.get_prompt(prompt.name, given)).model_dump_json())
                except MCPError as error:
                    answers.append(str(error))
        return answers

    answers = run(look)

    assert len(answers) >= 3
    assert not [text for text in answers for word in SECRET_WORDS if word in text]


@pytest.mark.parametrize("way", ["query", "header", "path"])
def test_no_way_to_name_a_project_leads_out(served: Served, way: str) -> None:
    url = served.url
    headers = bearer(served.env["TOKEN_ours"])
    if way == "query":
        url += "?project=theirs"
    elif way == "header":
        headers["memorix-project"] = "theirs"
    else:
        url = url.replace("/mcp", "/projects/theirs/mcp")

    got = httpx2.post(url, json=PING, headers=headers)

    assert got.status_code == 403
    assert got.json()["error"] == "insufficient_scope"


@pytest.mark.parametrize("era", ERAS)
def test_no_resource_reaches_another_scope(
    served: Served, theirs: dict[str, Any], era: str
) -> None:
    path = theirs["path"]
    encoded = path.replace("/", "%2F")
    uris = [
        f"memorix://notes/{theirs['id']}",
        f"memorix://notes/{path}",
        f"memorix://notes/{encoded}",
        f"memorix://notes/{encoded.removesuffix('.md')}",
        "memorix://brief",
        "memorix://brief?scope=theirs",
        "memorix://status",
    ]

    async def look() -> list[str]:
        answers = []
        async with connected(served.url, served.env["TOKEN_dock"], era) as client:
            for uri in uris:
                try:
                    answers.append((await client.read_resource(uri)).model_dump_json())
                except MCPError as error:
                    answers.append(str(error))
            listed = [(await client.list_resources()).model_dump_json()]
            return answers + listed

    answers = run(look)

    assert not [text for text in answers for word in SECRET_WORDS if word in text]
    assert "Pilot" in answers[4]


@pytest.mark.parametrize(
    "id",
    [
        "..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "../../tokens.json", "%2e%2e%2fconfig",
        "..%5C..%5Cwin.ini", "%252e%252e%252f", "user%2F..%2F..%2Fsecret.md", "secret.md%00.md",
        "file:%2F%2F%2Fetc%2Fpasswd",
    ],
)  # fmt: skip
def test_no_resource_leads_out_of_the_vault(served: Served, id: str) -> None:
    outside = Path(served.env["MEMORIX_VAULT"]).parent / "secret.md"
    outside.write_text("# Outside\n\nvermilion\n", encoding="utf-8")

    async def look() -> str:
        async with connected(served.url, served.env["TOKEN_admin"]) as client:
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"memorix://notes/{id}")
            return str(caught.value)

    said = run(look)

    assert "vermilion" not in said
    assert "root:" not in said


@pytest.mark.parametrize("era", ERAS)
def test_a_limited_client_is_not_told_of_changes_elsewhere(
    served: Served, theirs: dict[str, Any], era: str
) -> None:
    """It hears of its own note first, although the other was changed before."""
    env = served.env

    async def change(own: str) -> None:
        async with connected(f"{served.url}?project=theirs", env["TOKEN_admin"]) as admin:
            etag = (await call(admin, "read", id=theirs["id"]))["etag"]
            await call(admin, "revise", id=theirs["id"], etag=etag, set={"mood": era})
        file = Path(env["MEMORIX_VAULT"]) / own
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("red", "green"), encoding="utf-8")

    async def look() -> None:
        async with connected(served.url, env["TOKEN_dock"], era) as client:
            note = await call(client, "remember", text=f"The buoy of {era} is red.")
            uris = [f"memorix://notes/{one['id']}" for one in (theirs, note)]
            assert await first_told(client, uris, lambda: change(note["path"])) == uris[1]

    run(look)


# -- floods and stalls


def test_a_body_that_is_too_large_is_refused(served: Served) -> None:
    huge = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "' + b"a" * 5_000_000

    def pieces() -> Iterator[bytes]:
        yield from (huge[start : start + 65536] for start in range(0, len(huge), 65536))

    headers = bearer(served.env["TOKEN_admin"])
    headers["content-type"] = "application/json"
    with_length = httpx2.post(served.url, content=huge, headers=headers)
    in_pieces = httpx2.post(served.url, content=pieces(), headers=headers)

    assert [with_length.status_code, in_pieces.status_code] == [413, 413]


def test_a_request_that_never_comes_is_not_waited_for(served: Served) -> None:
    beginnings = [b"", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "]

    for beginning in beginnings:
        with socket.create_connection(("127.0.0.1", served.port), PATIENCE_S) as connection:
            connection.sendall(beginning)
            assert connection.recv(100) == b""


def test_a_body_that_never_comes_is_not_waited_for(served: Served) -> None:
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\nContent-Length: 900\r\n"
        f"Authorization: Bearer {served.env['TOKEN_admin']}\r\n\r\n{{"
    )

    with socket.create_connection(("127.0.0.1", served.port), PATIENCE_S) as connection:
        connection.sendall(head.encode())
        answer = connection.recv(1000)

    assert answer.startswith(b"HTTP/1.1 408")


def test_who_guesses_tokens_is_slowed_down_and_others_are_not(env: dict[str, str]) -> None:
    with serving(env) as server:
        guesses = [
            httpx2.post(server.url, json=PING, headers=bearer(f"memorix_{n}")) for n in range(30)
        ]
        known = httpx2.post(server.url, json=PING, headers=bearer(env["TOKEN_admin"]))

    assert [guesses[0].status_code, guesses[-1].status_code] == [401, 429]
    assert int(guesses[-1].headers["retry-after"]) > 0
    assert known.status_code not in (401, 429)


# -- logs


def test_logs_hold_neither_tokens_nor_notes(env: dict[str, str]) -> None:
    secret = env["TOKEN_admin"]

    async def look(served: Served) -> None:
        for path in ("mcp", "sse"):
            for era in ERAS:
                async with connected(f"{served.urls[path]}?project=logs", secret, era) as client:
                    await call(client, "remember", text=f"Verdigris on the {path} {era}.")
                    await call(client, "recall", query="verdigris")
                    await refusal(client, "read", id="verdigris")
                    await refusal(client, "recall", limit="verdigris")
                    await refusal(client, "verdigris")
        for body in (b"verdigris", b'{"verdigris": 1}', b'["verdigris"]'):
            headers = bearer(secret, accept="application/json, text/event-stream")
            headers["content-type"] = "application/json"
            httpx2.post(f"{served.url}?token={secret}", content=body, headers=headers)
        httpx2.get(served.url.replace("/mcp", "/%0D%0Amemorix:%20forged"), headers=headers)

    with serving(env | {"MEMORIX_LOG_LEVEL": "DEBUG"}, "--sse") as server:
        run(lambda: look(server))
    log = "".join(server.log)

    assert "POST '/mcp' 200" in log
    assert "erdigris" not in log
    assert secret.removeprefix("memorix_") not in log
    assert not [line for line in server.log if "forged" in line and line.startswith("memorix: for")]


async def first_told(client: Client, uris: list[str], change: Callable[[], Awaitable[None]]) -> str:
    """Subscribe to these resources, let one change, and return the first that is told of."""
    if client.protocol_version == "2026-07-28":
        async with client.listen(resource_subscriptions=uris) as changes:
            await change()
            return str((await anext(aiter(changes))).uri)  # type: ignore[union-attr]
    told: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: Any) -> None:
        await told.put(str(getattr(getattr(message, "params", None), "uri", "")))

    client.session._message_handler = hear
    for uri in uris:
        with pytest.warns(MCPDeprecationWarning):
            await client.subscribe_resource(uri)
    await change()
    return await told.get()


def make_certificate(certificate: Path, key: Path) -> None:
    """Make a certificate for this machine, signed by itself."""
    from datetime import UTC, datetime, timedelta
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(private, hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
