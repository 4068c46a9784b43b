"""A client's connection to a server process, which may be closed or killed at any time."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation

from memorix import __version__
from memorix.bench.operations.adapter import Refused

CLIENT = Implementation(name="memorix-bench", version=__version__)
ANSWER_WITHIN_S = 60.0


class Session:
    """One server process and one client, in a task of their own.

    A client must be closed in the task that opened it, and servers end in any order here.
    """

    def __init__(self, server: StdioServerParameters, pid: Path) -> None:
        self._server, self._pid = server, pid
        self._opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        try:
            with self._pid.with_suffix(".log").open("w", encoding="utf-8") as log:
                async with Client(
                    stdio_client(self._server, errlog=log),
                    client_info=CLIENT,
                    read_timeout_seconds=ANSWER_WITHIN_S,
                ) as client:
                    self._opened.set_result(client)
                    await self._closing.wait()
        except Exception as error:
            if not self._opened.done():
                self._opened.set_exception(error)
            elif not self._closing.is_set():
                raise

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool; its structured content, with the text a model gets as `shown`.

        Raises:
            Refused: The tool said no; the reason is the message.
        """
        client = await self._opened
        result = await client.call_tool(tool, dict(arguments))
        text = "\n".join(getattr(block, "text", "") for block in result.content)
        if result.is_error or result.structured_content is None:
            raise Refused(text)
        return {**result.structured_content, "shown": text}

    async def resource(self, uri: str) -> str:
        client = await self._opened
        answer = await client.read_resource(uri)
        return "\n".join(getattr(part, "text", "") for part in answer.contents)

    async def close(self) -> None:
        self._closing.set()
        await asyncio.gather(self._task, return_exceptions=True)

    async def kill(self) -> None:
        """End the server as a crash would: nothing is flushed or closed."""
        with suppress(ProcessLookupError, MCPError):
            await self._opened
            os.kill(int(self._pid.read_text(encoding="ascii")), signal.SIGKILL)
        await self.close()


def program(clock: Path, pid: Path, arguments: Sequence[str]) -> list[str]:
    """Return the command line of the real program in the time of this clock."""
    module = "memorix.bench.operations.clocked"
    return [sys.executable, "-m", module, str(clock), str(pid), *arguments]
