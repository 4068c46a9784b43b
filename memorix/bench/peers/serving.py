"""Run a peer that speaks MCP over stdio, by the official client, and end all of its processes."""

import os
import re
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio import BrokenResourceError, ClosedResourceError
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from memorix.bench.peers import weights
from memorix.bench.peers.base import UNTIL_S, Call, Said, Tools

MARK = "MEMORIX_BENCH_PEER"
# Each process of a peer carries it in its environment, so that all are found, and no other.
STEP_S = 60.0
# No call may take longer.
REST_S, RESTING, RESTS_WITHIN_S = 1.0, 0.1, 300.0
# A peer rests when it has used less of a core for so long; some never do.
HOMES = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


def _nothing(store: Path) -> None:
    """Most stores need no preparation."""


@dataclass(frozen=True)
class McpPeer:
    """A peer behind a command; `{store}` in its settings is the folder of its store, and
    `{endpoint}` the address of what embeds for it, started only where it is named."""

    name: str
    tools: Tools
    command: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict)
    cannot: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    notes: str = ""
    prepare: Callable[[Path], None] = _nothing

    @contextmanager
    def opened(self, store: Path) -> "Iterator[McpSession]":
        """Yield a session with a server on that store; nothing of it runs afterwards.

        Raises:
            MCPError: It does not start, or ends before it is asked to.
        """
        mark = secrets.token_hex(8)
        own = {"PATH": os.environ["PATH"], **dict.fromkeys(HOMES, str(store)), MARK: mark}
        self.prepare(store)
        wants = any("{endpoint}" in value for value in self.settings.values())
        try:
            with (
                weights.endpoint(own) if wants else nullcontext("") as at,
                Path(os.devnull).open("w", encoding="utf-8") as log,
                start_blocking_portal() as portal,
            ):
                env = {key: v.format(store=store, endpoint=at) for key, v in self.settings.items()}
                parameters = StdioServerParameters(
                    command=self.command[0],
                    args=list(self.command[1:]),
                    cwd=store,
                    env={**own, **env},
                )
                client = Client(
                    stdio_client(parameters, log), read_timeout_seconds=STEP_S, mode="legacy"
                )
                began, spent = time.perf_counter(), _cpu_s(mark)
                with portal.wrap_async_context_manager(client) as inside:
                    portal.call(inside.list_tools)
                    took = (time.perf_counter() - began) * 1000
                    until = time.monotonic() + UNTIL_S
                    yield McpSession(portal, inside, self.tools, mark, took, spent, until)
        finally:
            _end(mark)


@dataclass(frozen=True)
class McpSession:
    """A server that runs, and the client that asks it."""

    portal: BlockingPortal
    client: Client
    asked: Tools
    mark: str
    started_ms: float
    spent_s: float
    until: float

    def write(self, title: str, text: str) -> Said:
        return self._call(self.asked.write(title, text))

    def recall(self, question: str, limit: int) -> Said:
        return self._call(self.asked.recall(question, limit))

    def find(self, title: str) -> Said:
        if self.asked.find:
            return self._call(self.asked.find(title))
        return self.recall(title.removeprefix("note-"), 10)

    def delete(self, title: str, written: Said) -> Said:
        return self._call(self.asked.delete(title, written))

    def tools(self) -> list[dict[str, Any]]:
        listed = self.portal.call(self.client.list_tools)
        return [t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in listed.tools]

    def caught_up(self) -> None:
        """Wait until the peer rests."""
        until, used = time.monotonic() + RESTS_WITHIN_S, self.cpu_s()
        while time.monotonic() < until:
            time.sleep(REST_S)
            before, used = used, self.cpu_s()
            if used - before < RESTING * REST_S:
                return

    def cpu_s(self) -> float:
        """Return what all processes of the peer that still run have used, and their children."""
        return _cpu_s(self.mark) - self.spent_s

    def resident_mb(self) -> float:
        pages = sum(
            int((process / "statm").read_text(encoding="utf-8").split()[1])
            for process in _processes(self.mark)
        )
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def kill(self) -> None:
        _end(self.mark)

    def _call(self, call: Call) -> Said:
        """Call a tool; a peer that is gone, or too slow, keeps nothing."""
        if time.monotonic() > self.until:
            raise TimeoutError(f"it took longer than {UNTIL_S:.0f} s")
        try:
            result = self.portal.call(self.client.call_tool, *call)
        except (MCPError, BrokenResourceError, ClosedResourceError) as error:
            return Said(str(error), False)
        text = "\n".join(getattr(part, "text", "") for part in result.content)
        refused = self.asked.refusal and re.search(self.asked.refusal, text)
        return Said(text, not (result.is_error or refused))


def supported() -> bool:
    """Tell whether this system shows the processes of others, as Linux does under /proc."""
    return sys.platform == "linux"


def _processes(mark: str) -> list[Path]:
    wanted, found = f"{MARK}={mark}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                found.append(process)
    return found


def _cpu_s(mark: str) -> float:
    ticks = 0
    for process in _processes(mark):
        with suppress(OSError):
            fields = (process / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _end(mark: str) -> None:
    """Kill every process that carries the mark in its environment."""
    for process in _processes(mark):
        with suppress(ProcessLookupError):
            os.kill(int(process.name), signal.SIGKILL)
