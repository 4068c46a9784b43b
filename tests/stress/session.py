"""A host's end of a real server: the SDK's client, and a process that can be killed."""

import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

PATIENCE_S = 60.0
# A call that takes longer is a server that hangs.

_WITH_ITS_ID = 'echo $$ >"$0"; exec "$@" 2>>"$0.log"'
# The SDK starts the process and tells nobody which one it is.


class ServerDied(Exception):
    """The server was killed before it answered: whether it did what was asked is not known."""


class Refused(Exception):
    """The server answered that it will not do it, and why."""


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the settings of a project `app` on a vault of its own, by words alone."""
    (folder / "app").mkdir(parents=True, exist_ok=True)
    return {
        "MEMORIX_VAULT": str(folder / "vault"),
        "MEMORIX_STATE_DIR": str(folder / "state"),
        "MEMORIX_PROJECT_DIR": str(folder / "app"),
        "MEMORIX_MODEL": "none",
        **more,
    }


class Host:
    """Starts servers and talks to them; one for the whole program, safe from every thread."""

    def __init__(self, portal: BlockingPortal, scratch: Path) -> None:
        self._portal, self._scratch = portal, scratch
        self._numbers = itertools.count()

    @contextmanager
    def session(self, settings: Mapping[str, str]) -> Iterator["Session"]:
        """Start a server, and end it as a host does: by closing its stdin."""
        pid_file = self._scratch / f"server-{next(self._numbers)}"
        server = StdioServerParameters(
            command="/bin/sh",
            args=["-c", _WITH_ITS_ID, str(pid_file), sys.executable, "-m", "memorix", "serve"],
            env={**os.environ, **settings},
        )
        connection = self._portal.wrap_async_context_manager(Client(server))
        client = connection.__enter__()
        try:
            yield Session(self._portal, client, pid_file)
        finally:  # without the exception, which its task groups would wrap
            connection.__exit__(None, None, None)


class Session:
    def __init__(self, portal: BlockingPortal, client: Client, pid_file: Path) -> None:
        self._portal, self._client = portal, client
        self.pid = int(pid_file.read_text(encoding="utf-8"))
        self.log = pid_file.with_name(f"{pid_file.name}.log")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content.

        Raises:
            Refused: The tool said no.
            ServerDied: There was no answer.
        """
        return self._portal.call(self._call, tool, arguments)

    def found(self, question: str, **more: Any) -> list[str]:
        """Return the titles that recall answers with."""
        answer = self.call("recall", query=question, limit=50, max_tokens=100_000, **more)
        return [hit["title"] for hit in answer["hits"]]

    def status(self) -> dict[str, Any]:
        """Return the server's state."""
        return self._portal.call(self._status)

    def until_taken_in(self, notes: int, timeout_s: float = 600) -> None:
        """Wait until the server knows so many notes."""
        deadline = time.monotonic() + timeout_s
        while self.status()["notes"] != notes:
            assert time.monotonic() < deadline, "the folder was not taken in in time"
            time.sleep(0.1)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    async def _status(self) -> dict[str, Any]:
        answer = await self._client.read_resource("memorix://status")
        return dict(json.loads(answer.contents[0].text))  # type: ignore[union-attr]

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            with anyio.fail_after(PATIENCE_S):
                result = await self._client.call_tool(tool, arguments)
        except (MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise ServerDied(str(error)) from error
        if result.is_error:
            raise Refused(str(result.content[0].text))  # type: ignore[union-attr]
        return dict(result.structured_content or {})


@contextmanager
def hosting(scratch: Path) -> Iterator[Host]:
    scratch.mkdir(parents=True, exist_ok=True)
    with start_blocking_portal() as portal:
        yield Host(portal, scratch)
