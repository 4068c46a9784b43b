"""What a host can show: each note, the brief, the status; and notices when they change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import anyio.lowlevel
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent
from mcp_types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from memorix.errors import MemorixError

if TYPE_CHECKING:
    from memorix.memory import Memory

NOTES = "memorix://notes/"
NOTE = NOTES + "{id}"
BRIEF = "memorix://brief"
STATUS = "memorix://status"

NOTICE_TIMEOUT_S = 5.0
# A client that does not take its notice within this time hears no more of it.


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


@dataclass(frozen=True, slots=True)
class Change:
    """A note that changed: its resource, empty where the note is gone, and its scope."""

    uri: str
    scope: str


Reach: TypeAlias = frozenset[str]
# The scopes a client may see; empty means all.


class Notices:
    """Tells clients that resources changed: `subscriptions/listen` (2026-07-28) through the bus,
    `resources/subscribe` (2025-11-25 and older) through the connections that asked.

    `reach` is asked at each subscription what its client may see; of other scopes it hears nothing.
    """

    def __init__(self, reach: Callable[[], Reach] = frozenset) -> None:
        self.bus = Bus(reach)
        self._reach = reach
        self._subscribed: dict[tuple[Any, str], Reach] = {}

    def serve_old_protocol(self, server: MCPServer[Any]) -> None:
        # The SDK's high-level server has no door for these two methods of the older protocol.
        low = server._lowlevel_server
        low.add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
        low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, self._leave)

    async def _subscribe(self, ctx: Any, params: Any) -> EmptyResult:
        connection = ctx.session._connection  # the session itself is new with each request
        key = connection, str(params.uri)
        if key not in self._subscribed:
            connection.exit_stack.callback(self._subscribed.pop, key, None)
        self._subscribed[key] = self._reach()
        return EmptyResult()

    async def _leave(self, ctx: Any, params: Any) -> EmptyResult:
        self._subscribed.pop((ctx.session._connection, str(params.uri)), None)
        return EmptyResult()

    async def publish(self, changes: Sequence[Change]) -> None:
        await self.bus.tell(changes)
        for key, reach in list(self._subscribed.items()):
            connection, uri = key
            if uri in _seen_by(reach, changes):
                try:
                    with anyio.fail_after(NOTICE_TIMEOUT_S):
                        await connection.send_resource_updated(uri)
                except Exception:  # noqa: BLE001 - a client that left must not stop the others
                    self._subscribed.pop(key, None)


class Bus:
    """The SDK's `SubscriptionBus`, with an eye to what each listener may see."""

    def __init__(self, reach: Callable[[], Reach]) -> None:
        self._reach = reach
        self._listeners: dict[object, tuple[Callable[[ServerEvent], None], Reach]] = {}

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        key = object()
        self._listeners[key] = listener, self._reach()
        return lambda: void(self._listeners.pop(key, None))

    async def publish(self, event: ServerEvent) -> None:
        """Tell every listener of an event that belongs to no scope."""
        for listener, _ in list(self._listeners.values()):
            listener(event)

    async def tell(self, changes: Sequence[Change]) -> None:
        for listener, reach in list(self._listeners.values()):
            uris = _seen_by(reach, changes)
            if uris:
                listener(ResourcesListChanged())
            for uri in uris:
                listener(ResourceUpdated(uri=uri))
        await anyio.lowlevel.checkpoint()  # so that streams drain between two bursts


def _seen_by(reach: Reach, changes: Sequence[Change]) -> list[str]:
    seen = [change.uri for change in changes if not reach or change.scope in reach]
    return [*(uri for uri in seen if uri), BRIEF, STATUS] if seen else []


def void(_: object) -> None:
    """Take a result that nobody needs."""
