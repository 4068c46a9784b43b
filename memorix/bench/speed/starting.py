"""How long servers and commands take to answer, from the start of their process."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from memorix.bench.results import Measured
from memorix.bench.speed.stock import environment
from memorix.bench.speed.timing import Rounds

STARTS = 15
TRIVIAL = """
from mcp.server import MCPServer
server = MCPServer("trivial")

@server.tool()
def add(a: int, b: int) -> int:
    return a + b

server.run("stdio")
"""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
HOOK = ["hook", "SessionStart", "--host", "claude-code"]
SCRIPT = "from memorix.__main__ import main; main()"
# What the program does that an installer makes; a host runs a hook by it.

SERVE = [sys.executable, "-m", "memorix", "serve"]
SETTLED_S, SETTLES_WITHIN_S = 2.0, 60.0


def start(folder: Path, starts: int = STARTS) -> Mapping[str, Measured]:
    """Start our server and one with a single trivial tool of the same SDK in turns, and what runs
    without a server: a hook, the help, and Python alone."""
    rounds, env = Rounds(), {**os.environ, **environment(folder)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled once
    payload = json.dumps({"source": "startup", "cwd": str(folder)}).encode()
    commands = {
        "python": [sys.executable, "-c", "pass"],
        "help": [sys.executable, "-m", "memorix", "--help"],
        "hook": [sys.executable, "-c", SCRIPT, *HOOK],
    }
    for number in range(starts + 1):  # the first fills the caches of the system
        timed = rounds if number else Rounds()
        for name, command in (("ours", SERVE), ("trivial", [sys.executable, "-c", TRIVIAL])):
            _answered(timed, name, command, env)
        for name, command in commands.items():
            timed.time(name, _ran, command, payload, env)
    names = [f"{which}.{what}" for which in ("ours", "trivial") for what in WHAT]
    return {
        **{f"{name}_ms": rounds.median_ms(name) for name in names},
        **{f"{what}.ratio": rounds.ratio([f"ours.{what}"], [f"trivial.{what}"]) for what in WHAT},
        **{f"{name}_ms": rounds.median_ms(name) for name in commands},
        "hook.ratio": rounds.ratio(["hook"], ["python"]),
        "help.ratio": rounds.ratio(["help"], ["python"]),
    }


WHAT = ("initialize", "tools_list")


def tool_tokens(folder: Path) -> float:
    """Return how many tokens (o200k) the tools cost in a host's context.

    Raises:
        ImportError: What counts them, bpe-openai, is not installed.
    """
    from bpe_openai import get_encoding

    env = {**os.environ, **environment(folder), "MEMORIX_MODEL": "none"}
    with serving(SERVE, env) as server:
        tools = _listed(server)["result"]["tools"]
    compact = json.dumps(tools, ensure_ascii=False, separators=(",", ":"))
    return float(len(get_encoding("o200k_base").encode(compact)))


def resident(folder: Path) -> Mapping[str, Measured]:
    """Return megabytes that an idle server holds, by words alone and with its model; none where the
    system does not tell."""
    found = {}
    for name, model in (("words_only_mb", "none"), ("with_model_mb", "")):
        env = {**os.environ, **environment(folder / name), "MEMORIX_MODEL": model}
        with serving(SERVE, env) as server:
            held = _settled_mb(server.pid)
        if held:
            found[name] = Measured.once(held)
    return found


@contextmanager
def serving(command: Sequence[str], env: Mapping[str, str]) -> "Iterator[subprocess.Popen[bytes]]":
    """Yield a server once it has answered `initialize`."""
    with subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        _said(server, HELLO)
        yield server
        server.communicate()


def _answered(timed: Rounds, name: str, command: Sequence[str], env: Mapping[str, str]) -> None:
    began = time.perf_counter()
    with serving(command, env) as server:
        timed.took(f"{name}.initialize", time.perf_counter() - began)
        _listed(server)
        timed.took(f"{name}.tools_list", time.perf_counter() - began)


def _listed(server: "subprocess.Popen[bytes]") -> dict[str, Any]:
    _pipe(server.stdin).write(json.dumps(READY).encode() + b"\n")
    return _said(server, LIST)


def _said(server: "subprocess.Popen[bytes]", message: Mapping[str, Any]) -> dict[str, Any]:
    given, answers = _pipe(server.stdin), _pipe(server.stdout)
    given.write(json.dumps(message).encode() + b"\n")
    given.flush()
    answer: dict[str, Any] = json.loads(answers.readline())
    return answer


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _ran(command: Sequence[str], given: bytes, env: Mapping[str, str]) -> None:
    subprocess.run(command, input=given, env=env, check=True, capture_output=True)


def _settled_mb(pid: int) -> float:
    """Return what a process holds once that has not grown for two seconds; 0 without /proc."""
    status, last, began = Path(f"/proc/{pid}/status"), 0.0, time.monotonic()
    since = began
    while status.exists() and time.monotonic() - since < SETTLED_S:
        lines = status.read_text(encoding="utf-8").splitlines()
        now = next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))
        if abs(now - last) > 1 and time.monotonic() - began < SETTLES_WITHIN_S:
            last, since = now, time.monotonic()
        time.sleep(0.1)
    return last
