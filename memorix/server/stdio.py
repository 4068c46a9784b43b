"""Serve one host over stdin and stdout."""

import io
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server

_SURROGATE = re.compile(r"[\ud800-\udfff]")


class HostLines(io.TextIOWrapper):
    """The host's messages, a line each, without halves of surrogate pairs.

    A host that cuts a text within an emoji sends one; the SDK cannot read such a message and would
    never answer it.
    """

    ended: Callable[[], None] = staticmethod(lambda: None)

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        line = super().readline(size)
        if not line:
            self.ended()
        return mended(line) if "\\ud" in line or "\\uD" in line else line


def mended(line: str) -> str:
    """Return a line of JSON with each lone surrogate replaced; other lines as they are."""
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except ValueError:
        return line
    return _SURROGATE.sub("\ufffd", text) + "\n"


async def run(server: MCPServer[Any], ended: Callable[[], None]) -> None:
    """Serve until the host closes our stdin; tell `ended` then, for a tool may still be at work."""
    lines = HostLines(sys.stdin.buffer, encoding="utf-8", errors="replace")
    lines.ended = ended
    low = server._lowlevel_server  # as `run_stdio_async` does, which takes no stream
    async with stdio_server(stdin=anyio.wrap_file(lines)) as (incoming, outgoing):
        await low.run(incoming, outgoing, low.create_initialization_options())
