"""The transports over HTTP, and sessions that outlive the server that opened them."""

from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from memorix.server.auth import PROJECT_PATH
from memorix.server.callers import current

MESSAGES = "/messages/"

MAX_BODY_BYTES = 4 * 1024 * 1024
# Of one request; a note holds a million characters at the most.

MAX_SESSIONS, SESSION_IDLE_S = 1_000, 1_800.0
REMEMBERED = 20_000
# Sessions that we opened, to tell one that has ended from one of the process before us.


class Streamable:
    """Streamable HTTP.

    2026-07-28 knows no sessions.  Those of 2025-11-25 would all be unknown after a restart, and
    many hosts never open another: a session of another process is served without one.  One that
    ended in this process is answered 404, as the protocol asks.

    Nothing is told before the answer of a call, so that it is plain JSON: a stream of one event
    takes the server half as long again.
    """

    def __init__(self, server: Server[Any]) -> None:
        self._with = StreamableHTTPSessionManager(
            server,
            session_idle_timeout=SESSION_IDLE_S,
            max_request_body_size=MAX_BODY_BYTES,
            max_sessions=MAX_SESSIONS,
            json_response=True,
        )
        self._without = StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=MAX_BODY_BYTES
        )
        self._opened: OrderedDict[str, None] = OrderedDict()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with self._with.run(), self._without.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = Headers(scope=scope).get(MCP_SESSION_ID_HEADER)
        if session is None:
            await self._with.handle_request(scope, receive, self._remembering(send))
        elif session in self._opened:
            await self._with.handle_request(scope, receive, send)
        else:
            await self._without.handle_request(scope, receive, send)

    def _remembering(self, send: Send) -> Send:
        async def remembering(message: Message) -> None:
            if message["type"] == "http.response.start":
                session = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                if session:
                    self._opened[session] = None
                if len(self._opened) > REMEMBERED:
                    self._opened.popitem(last=False)
            await send(message)

        return remembering


class Sse:
    """The transport of the years before Streamable HTTP: one stream, and messages posted beside."""

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        self._transport = SseServerTransport(MESSAGES, max_request_body_size=MAX_BODY_BYTES)

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        project = current.get().project
        if project:
            scope = {**scope, "root_path": PROJECT_PATH + project}
        async with self._transport.connect_sse(scope, receive, send) as (incoming, outgoing):
            options = self._server.create_initialization_options()
            await serve_dual_era_loop(
                self._server, incoming, outgoing, lifespan_state={}, init_options=options
            )

    async def message(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._transport.handle_post_message(scope, receive, send)
