"""Count what hosts do: who did what, after its answer and in a thread of its own."""

import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from memorix.errors import MemorixError
from memorix.server.resources import BRIEF, NOTES

if TYPE_CHECKING:
    from memorix.memory import Memory
    from memorix.usage import Use

GATHER_S = 2.0
# Uses are written together; what a killed server had not written yet is not missed.

MAX_HOST = 80
_BY_METHOD = {"prompts/get": "prompt", "resources/read": "read"}

_log = logging.getLogger(__name__)


class Counting:
    """Counts uses; `caller` names who has not said its own name."""

    def __init__(
        self, memory: Callable[[], "Memory"], caller: Callable[[], str] = lambda: "unknown"
    ) -> None:
        self._memory, self._caller = memory, caller
        self._uses: SimpleQueue[Use] = SimpleQueue()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memorix-counting", daemon=True)

    async def middleware(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        result = await call_next(ctx)
        if isinstance(result, dict) and not result.get("isError"):
            found = act_of(ctx.method, ctx.params or {}, result)
            if found:
                self._note(ctx, *found, result)
        return result

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Write what was counted; the index must still be open."""
        self._stopped.set()
        self._thread.join()

    def _note(self, ctx: Any, act: str, ids: tuple[str, ...], result: Mapping[str, Any]) -> None:
        from memorix.chunks import estimate_tokens
        from memorix.usage import Use

        params = ctx.session.client_params
        host = params.client_info.name if params else self._caller()
        tokens = sum(estimate_tokens(text) for text in _texts(result))
        self._uses.put(Use(host[:MAX_HOST], act, datetime.now(UTC), ids, tokens))

    def _run(self) -> None:
        while not self._stopped.wait(GATHER_S):
            self._write()
        self._write()

    def _write(self) -> None:
        uses = []
        while not self._uses.empty():
            uses.append(self._uses.get())
        if not uses:
            return
        from memorix.capturing import count_uses

        try:
            count_uses()  # what a hook showed, before what became of it
            self._memory().index.count_uses(uses)
        except MemorixError as error:
            _log.warning("uses were not counted: %s", error)


def act_of(
    method: str, params: Mapping[str, Any], result: Mapping[str, Any]
) -> tuple[str, tuple[str, ...]] | None:
    """Return what a request was, and the ids of the notes in its answer; None for other requests.

    A tool's act is its name; a note that is read as a resource is read, too.
    """
    if method == "tools/call":
        data = result.get("structuredContent") or {}
        listed = [hit["id"] for hit in data.get("hits", ())] or data.get("ids") or [data.get("id")]
        return str(params["name"]), tuple(note_id for note_id in listed if note_id)
    uri = str(params.get("uri", ""))
    if uri == BRIEF:
        return "brief", ()
    if method == "resources/read" and not uri.startswith(NOTES):
        return None
    act = _BY_METHOD.get(method)
    ids = (uri.removeprefix(NOTES),) if act == "read" else ()
    return (act, ids) if act else None


def _texts(result: Mapping[str, Any]) -> list[str]:
    """Return what a model gets to read of a result."""
    messages = [message.get("content") for message in result.get("messages", ())]
    blocks = [*result.get("content", ()), *result.get("contents", ()), *messages]
    return [str(block.get("text", "")) for block in blocks if isinstance(block, dict)]
