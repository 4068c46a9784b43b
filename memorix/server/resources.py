"""What a host can show: each note, the brief, the status; and notices when they change."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from memorix.errors import MemorixError

if TYPE_CHECKING:
    from memorix.memory import Memory

NOTE = "memorix://notes/{id}"
BRIEF = "memorix://brief"
STATUS = "memorix://status"


def add_resources(server: MCPServer[Any], memory: Callable[[], "Memory"]) -> None:
    """Register the resources; `memory` is called when one is read."""

    @server.resource(NOTE, name="note", mime_type="text/markdown", description="One note, whole.")
    def note(id: str) -> str:
        from memorix import answers

        return _shown(lambda: answers.reading_text(memory().read(id)))

    @server.resource(
        BRIEF, name="brief", mime_type="text/markdown", description="What matters at the start."
    )
    def brief() -> str:
        from memorix import answers

        return _shown(lambda: answers.brief_text(memory().brief()))

    @server.resource(
        STATUS, name="status", mime_type="application/json", description="Vault and index."
    )
    def state() -> str:
        from memorix import status

        return _shown(lambda: status.as_json(memory().status()))


def _shown(text: Callable[[], str]) -> str:
    try:
        return text()
    except MemorixError as error:
        raise ResourceError(str(error)) from error


class Notices:
    """Tells clients that resources changed: `subscriptions/listen` (2026-07-28) through the bus,
    `resources/subscribe` (2025-11-25 and older) through the sessions that asked."""

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self._sessions: dict[tuple[int, str], Any] = {}

    def serve_old_protocol(self, server: MCPServer[Any]) -> None:
        # The SDK's high-level server has no door for these two methods of the older protocol.
        low = server._lowlevel_server
        low.add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
        low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self._leave)

    async def _subscribe(self, ctx: Any, params: Any) -> EmptyResult:
        self._sessions[id(ctx.session), str(params.uri)] = ctx.session
        return EmptyResult()

    async def _leave(self, ctx: Any, params: Any) -> EmptyResult:
        self._sessions.pop((id(ctx.session), str(params.uri)), None)
        return EmptyResult()

    async def publish(self, uris: Sequence[str]) -> None:
        await self.bus.publish(ResourcesListChanged())
        for uri in (*uris, BRIEF, STATUS):
            await self.bus.publish(ResourceUpdated(uri=uri))
            for key, session in list(self._sessions.items()):
                if key[1] == uri:
                    try:
                        await session.send_resource_updated(uri)
                    except Exception:  # noqa: BLE001 - a client that left must not stop the others
                        self._sessions.pop(key, None)
