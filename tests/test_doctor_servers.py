"""What the doctor tells of HTTP servers, and of hosts that have us twice or run no hook of ours."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

import memorix
from tests.serving import command, environment, serving, token


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    found = environment(tmp_path)
    token(found, "tester")
    return found


def doctor(env: dict[str, str], name: str) -> list[dict[str, str]]:
    """Return what the doctor says under one name."""
    done = command(env, "doctor", "--json")
    assert done.stderr == ""
    checks: list[dict[str, str]] = json.loads(done.stdout)["checks"]
    return [check for check in checks if check["name"] == name]


def records(env: dict[str, str]) -> list[Path]:
    return list((Path(env["MEMORIX_STATE_DIR"]) / "servers").glob("*"))


def write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), encoding="utf-8")


@contextmanager
def another_program(port: int) -> Iterator[int]:
    """Serve something else on a port."""

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = HTTPServer(("127.0.0.1", port), Other)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# -- servers


def test_the_doctor_names_each_server_that_runs_with_its_version(env: dict[str, str]) -> None:
    with serving(env) as one, serving(env, "--host", "0.0.0.0") as two:
        checks = doctor(env, "http")
        if os.name != "nt":
            assert {path.stat().st_mode & 0o777 for path in records(env)} == {0o600}

    told = {check["said"].split(",")[0] for check in checks}
    assert told == {f"http://127.0.0.1:{port}/mcp" for port in (one.port, two.port)}
    for check in checks:
        assert check["verdict"] == "ok"
        assert f"version {memorix.__version__}" in check["said"]
    assert doctor(env, "http") == []


def test_a_server_that_was_killed_is_told_with_the_command_that_starts_it_again(
    env: dict[str, str],
) -> None:
    with serving(env) as server:
        server.process.kill()

    (check,) = doctor(env, "http")

    assert check["verdict"] == "failed"
    assert "does not answer" in check["said"]
    assert f"memorix serve --http --port {server.port}" in check["mend"]
    assert str(records(env)[0]) in check["mend"]


def test_another_program_on_the_port_of_a_killed_server_is_not_taken_for_it(
    env: dict[str, str],
) -> None:
    with serving(env) as server:
        server.process.kill()

    with another_program(server.port):
        (check,) = doctor(env, "http")

    assert check["verdict"] == "failed"
    assert "another program" in check["said"]


def test_a_server_of_another_version_is_to_be_started_again(env: dict[str, str]) -> None:
    with serving(env) as server:
        (record,) = records(env)
        write(record, json.loads(record.read_bytes()) | {"version": "0.0.1"})
        (check,) = doctor(env, "http")

    assert check["verdict"] == "warning"
    assert "version 0.0.1" in check["said"]
    assert f"memorix serve --http --port {server.port}" in check["mend"]


def test_a_server_that_cannot_open_its_memory_is_told(env: dict[str, str]) -> None:
    index = Path(env["MEMORIX_STATE_DIR"]) / "index.db"
    index.mkdir(parents=True)

    with serving(env) as server:
        while httpx2.get(server.url.replace("/mcp", "/healthz")).status_code == 200:
            continue  # it opens the memory in the background
        index.rmdir()
        (check,) = doctor(env, "http")

    assert check["verdict"] == "failed"
    assert "cannot open the memory" in check["said"]


def test_a_host_that_names_the_address_of_a_server_is_asked_about_there(
    env: dict[str, str], tmp_path: Path
) -> None:
    settings = tmp_path / ".cursor" / "mcp.json"

    with serving(env) as server:
        write(settings, {"mcpServers": {"memorix-notes": {"url": server.url}}})
        (running,) = doctor(env, "cursor")
    (ended,) = doctor(env, "cursor")

    assert (running["verdict"], running["mend"]) == ("ok", "")
    assert f"uses {server.url}" in running["said"]
    assert ended["verdict"] == "failed"
    assert "memorix serve --http" in ended["mend"]


# -- plugins and hooks


def test_a_host_with_the_plugin_and_an_install_is_told_what_takes_one_out(
    env: dict[str, str], tmp_path: Path
) -> None:
    command(env, "install", "claude-code", "--yes")
    settings = tmp_path / ".claude" / "settings.json"
    on = {"enabledPlugins": {"memorix-notes@memorix-notes": True}}
    write(settings, json.loads(settings.read_bytes()) | on)

    twice = [check for check in doctor(env, "claude-code") if "twice" in check["said"]]

    assert [check["verdict"] for check in twice] == ["warning"]
    assert str(tmp_path / ".claude.json") in twice[0]["said"]
    assert f"hooks in {settings}" in twice[0]["said"]
    done = command(env, *twice[0]["mend"].split()[1:], "--yes")
    assert done.returncode == 0, done.stderr
    assert not [check for check in doctor(env, "claude-code") if "twice" in check["said"]]
    assert json.loads(settings.read_bytes()) == on


def test_hooks_that_no_host_has_run_are_told_until_one_has(env: dict[str, str]) -> None:
    command(env, "install", "codex", "copilot-cli", "--yes")
    idle = {check["said"].split(" has ")[0]: check["mend"] for check in doctor(env, "hooks")}
    assert "trust" in idle["Codex"]

    command(env, "hook", "SessionStart", "--host", "codex")
    command(env, "hook", "sessionStart", "--host", "copilot-cli")

    checks = doctor(env, "hooks")
    assert {check["said"].split(": ")[-1] for check in checks if check["verdict"] == "ok"} == {
        "codex SessionStart", "copilot-cli sessionStart"
    }  # fmt: skip
    assert not [check for check in checks if check["verdict"] != "ok"]


def test_hooks_that_start_another_program_are_told(env: dict[str, str], tmp_path: Path) -> None:
    command(env, "install", "codex", "--yes")
    file = tmp_path / ".codex" / "hooks.json"
    file.write_text(file.read_text("utf-8").replace("-m memorix", "-m memorix --cwd /"), "utf-8")

    (check,) = [check for check in doctor(env, "hooks") if str(file) in check["said"]]

    assert check["verdict"] == "warning"
    assert check["mend"] == "memorix install codex --scope user"
