"""The prompts: work lists that a person hands to the assistant, who settles them with the tools."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import Field

from memorix.errors import MemorixError

if TYPE_CHECKING:
    from memorix.memory import Memory

# As with the tools, what a prompt needs is imported when it is asked for.

Scope = Annotated[str, Field(description="default: project + user; or a project's name, all")]


def add_prompts(server: MCPServer[Any], memory: Callable[[], "Memory"]) -> None:
    """Register the prompts; `memory` is called when one is asked for, never before."""

    @server.prompt(description="Settle what has piled up: repeats, contradictions, stale notes.")
    def reflect(scope: Scope = "") -> str:
        from memorix import upkeep, worklist

        return _shown(lambda: worklist.to_settle(upkeep.survey(memory(), scope)))

    @server.prompt(name="save-session", description="Keep what this session taught as notes.")
    def save_session() -> str:
        from memorix import worklist

        return worklist.SAVE_SESSION

    @server.prompt(
        name="review-inbox", description="Go through the suggested memories with the user."
    )
    def review_inbox(scope: Scope = "") -> str:
        from memorix import inbox, worklist

        return _shown(lambda: worklist.to_review(inbox.in_review(memory(), scope)))


def _shown(text: Callable[[], str]) -> str:
    """Turn our errors into what the SDK passes on; it hides the text of any other."""
    try:
        return text()
    except MemorixError as error:
        raise MCPError(INVALID_PARAMS, str(error)) from error
