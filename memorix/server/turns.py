"""Let many clients take turns: no more calls at once than do any good, reads and writes apart.

A call takes a thread only when it is its turn, so that a write whose turn it is never waits for a
thread behind the reads, while other writes wait for it.
"""

import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.to_thread

READERS, WRITERS = 3, 2
# While one write holds the lock, the other looks for what its note resembles.

SPARE = 2
# Threads for what takes no turn.

SWITCH_S = 0.0005
# A write comes back from the disk many times.  Beside threads that all want the interpreter it
# would get that back only after Python's own 5 ms, each time.

PATIENCE_S = 60.0
# As long as hosts wait for an answer; who has had no turn by then is told so.

_IN_THREADS = ("tools/call", "resources/read", "prompts/get")
_BUSY = "The server is busy with other writes. Nothing was written; wait a little, then try again."


def limit_threads() -> None:
    """Set how many threads there are for calls, in place of the SDK's 40, and how they alternate;
    within the event loop that serves them."""
    limiter = anyio.to_thread.current_default_thread_limiter()
    limiter.total_tokens = READERS + WRITERS + SPARE
    sys.setswitchinterval(SWITCH_S)


class Turns:
    """The queues of reads and of writes, first come first served; who waits holds no thread.

    `writes` says whether the current call does.
    """

    def __init__(self, writes: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        self._writes, self._patience_s = writes, patience_s
        self._reading, self._writing = anyio.Semaphore(READERS), anyio.Semaphore(WRITERS)

    async def middleware(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Let a call wait for its turn; what needs no thread passes."""
        if ctx.method not in _IN_THREADS:
            return await call_next(ctx)
        if not self._writes():
            async with self._reading:
                return await call_next(ctx)
        with anyio.move_on_after(self._patience_s) as waiting:
            await self._writing.acquire()
        if waiting.cancelled_caught:
            return {"content": [{"type": "text", "text": _BUSY}], "isError": True}
        try:
            return await call_next(ctx)
        finally:
            self._writing.release()
