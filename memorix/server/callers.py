"""Who is calling over HTTP: each request's memory is the one its caller may see."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp.server import MCPServer

from memorix import access, views
from memorix.access import Access, Right

if TYPE_CHECKING:
    from memorix.memory import Memory


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request, and from which project; empty is none."""

    access: Access
    project: str


current: ContextVar[Caller] = ContextVar("caller")
# Set for each HTTP request; the SDK carries it to the handler, and to the handler's thread.

_needed: ContextVar[tuple[Right, str]] = ContextVar("needed")


def reach() -> frozenset[str]:
    """Return the scopes the current caller may see; empty means all."""
    return current.get().access.scopes


def is_writing() -> bool:
    """Say whether the current call takes more than the right to read."""
    return _needed.get()[0] > Right.READ


class Gate:
    """The only way from a request to the memory.

    Where it is not known who calls, or what right the call takes, there is no memory at all.
    """

    def __init__(self, memory: Callable[[], "Memory"]) -> None:
        self._memory = memory
        self.server: MCPServer[Any] | None = None

    def memory(self) -> "Memory":
        """Return the memory as the current caller may see it.

        Raises:
            NotAllowed: The caller has not the right that its call takes.
        """
        caller = current.get()
        access.check(caller.access, *_needed.get())
        return views.seen_by(self._memory(), caller.project, caller.access.scopes)

    async def middleware(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Note what right a message takes; list to a caller only the tools it may use."""
        token = _needed.set(self._right_for(ctx.method, ctx.params or {}))
        try:
            result = await call_next(ctx)
        finally:
            _needed.reset(token)
        if ctx.method == "tools/list" and isinstance(result, dict):
            right = current.get().access.right
            result["tools"] = [
                tool for tool in result["tools"] if self._tool_right(tool["name"], {}) <= right
            ]
        return result

    def _right_for(self, method: str, params: Any) -> tuple[Right, str]:
        if method != "tools/call":
            return Right.READ, method
        name, arguments = str(params.get("name")), params.get("arguments")
        given = arguments if isinstance(arguments, dict) else {}
        return self._tool_right(name, given), name

    def _tool_right(self, name: str, arguments: dict[str, Any]) -> Right:
        assert self.server is not None
        tool = self.server._tool_manager.get_tool(name)  # the SDK has no public door to it
        hints = tool.annotations if tool else None
        return access.right_for(bool(hints and hints.read_only_hint), arguments)
