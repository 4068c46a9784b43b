"""The server as a whole, and how it is run over stdio."""

import logging
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
from anyio.from_thread import BlockingPortal
from mcp.server import MCPServer
from mcp.server.context import ServerMiddleware

from memorix import __version__
from memorix.config import Config
from memorix.layout import scope_of
from memorix.server import stdio
from memorix.server.background import Background
from memorix.server.counting import Counting
from memorix.server.prompts import add_prompts
from memorix.server.resources import Change, Notices, add_resources
from memorix.server.tools import INSTRUCTIONS, add_tools, plain_refusals

if TYPE_CHECKING:
    from memorix.memory import Memory

NAME = "memorix-notes"

Lifespan: TypeAlias = Callable[[MCPServer[Any]], AbstractAsyncContextManager[None]]


def build(
    config: Config,
    memory: Callable[[], "Memory"],
    notices: Notices,
    middleware: Sequence[ServerMiddleware[Any]],
    lifespan: Lifespan | None = None,
) -> MCPServer[Any]:
    """Make the server; `memory` is called when a tool or a resource is used, never before."""
    server: MCPServer[Any] = MCPServer(
        NAME,
        title="Memorix",
        version=__version__,
        instructions=INSTRUCTIONS,
        log_level=level(config),
        lifespan=lifespan,
        subscriptions=notices.bus,
        middleware=[*middleware, plain_refusals],
    )
    add_tools(server, memory)
    add_resources(server, memory)
    add_prompts(server, memory)
    notices.serve_old_protocol(server)
    return server


@asynccontextmanager
async def running(
    background: Background, notices: Notices, counting: Counting
) -> AsyncIterator[None]:
    """Let the background work while the server serves; what changes is told from its threads."""
    async with BlockingPortal() as portal:
        background.opened = lambda memory: _announce(memory, notices, portal)
        background.start()
        counting.start()
        yield None
        counting.stop()
        await portal.stop(cancel_remaining=True)


def serve_stdio(config: Config) -> None:
    """Serve one host over stdin and stdout until it closes them; logs go to stderr."""
    logging.basicConfig(stream=sys.stderr, level=level(config), format="memorix: %(message)s")
    background, notices = Background(config), Notices()
    counting = Counting(background.memory)
    server = build(
        config,
        background.memory,
        notices,
        [background.middleware, counting.middleware],
        lambda _: running(background, notices, counting),
    )
    try:
        anyio.run(stdio.run, server, background.leave_soon)
    finally:
        background.stop()


def _announce(memory: "Memory", notices: Notices, portal: BlockingPortal) -> None:
    def changed(paths: Sequence[str]) -> None:
        found = ((path, memory.index.find(path)) for path in paths)
        changes = [
            Change(f"memorix://notes/{row.id}" if row and not row.held else "", scope_of(path))
            for path, row in found
        ]
        try:
            portal.start_task_soon(notices.publish, changes)
        except RuntimeError:  # the server is ending; nobody is left to tell
            return

    memory.changed = changed


def level(config: Config) -> Any:
    return config.log_level.upper() or "WARNING"
