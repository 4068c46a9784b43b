"""The server as a whole, and how it is run over stdio."""

import logging
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from anyio.from_thread import BlockingPortal
from mcp.server import MCPServer

from memorix import __version__
from memorix.config import Config
from memorix.server import stdio
from memorix.server.background import Background
from memorix.server.resources import Notices, add_resources
from memorix.server.tools import INSTRUCTIONS, add_tools, plain_refusals

if TYPE_CHECKING:
    from memorix.memory import Memory

NAME = "memorix-notes"


def build(config: Config) -> tuple[MCPServer[Any], Background]:
    """Make the server; nothing is opened before the first request is answered."""
    background, notices = Background(config), Notices()

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[None]:
        async with BlockingPortal() as portal:
            background.opened = lambda memory: _announce(memory, notices, portal)
            background.start()
            yield None
            await portal.stop(cancel_remaining=True)

    server: MCPServer[Any] = MCPServer(
        NAME,
        title="Memorix",
        version=__version__,
        instructions=INSTRUCTIONS,
        log_level=_level(config),
        lifespan=lifespan,
        subscriptions=notices.bus,
        middleware=[background.middleware, plain_refusals],
    )
    add_tools(server, background.memory)
    add_resources(server, background.memory)
    notices.serve_old_protocol(server)
    return server, background


def serve_stdio(config: Config) -> None:
    """Serve one host over stdin and stdout until it closes them; logs go to stderr."""
    logging.basicConfig(stream=sys.stderr, level=_level(config), format="memorix: %(message)s")
    server, background = build(config)
    try:
        anyio.run(stdio.run, server, background.leave_soon)
    finally:
        background.stop()


def _announce(memory: "Memory", notices: Notices, portal: BlockingPortal) -> None:
    def changed(paths: Sequence[str]) -> None:
        rows = (memory.index.find(path) for path in paths)
        uris = [f"memorix://notes/{row.id}" for row in rows if row]
        try:
            portal.start_task_soon(notices.publish, uris)
        except RuntimeError:  # the server is ending; nobody is left to tell
            return

    memory.changed = changed


def _level(config: Config) -> Any:
    return config.log_level.upper() or "WARNING"
