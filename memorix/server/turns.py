"""Let many clients take turns: no more calls at once than do any good, and few writes among them.

A write waits for the disk several times.  Beside forty threads that all want the interpreter it
gets that back late each time, while the writes behind it hold a thread each and wait for its lock.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.to_thread

THREADS, WRITERS = 6, 2
# For all calls at once, in place of the SDK's 40, and for writes: while one of them holds the lock,
# the other looks for what its note resembles.

PATIENCE_S = 60.0
# As long as hosts wait for an answer; who has had no turn by then is told so.

_BUSY = "The server is busy with other writes. Nothing was written; wait a little, then try again."


def limit_threads() -> None:
    """Set the number of threads for calls; within the event loop that serves them."""
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS


class Turns:
    """The queue of writes, first come first served; who waits in it holds no thread.

    `writes` says whether the current call does.
    """

    def __init__(self, writes: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        self._writes, self._patience_s = writes, patience_s
        self._turns = anyio.Semaphore(WRITERS)

    async def middleware(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Let a write wait for its turn, and everything else pass."""
        if not self._writes():
            return await call_next(ctx)
        with anyio.move_on_after(self._patience_s) as waiting:
            await self._turns.acquire()
        if waiting.cancelled_caught:
            return {"content": [{"type": "text", "text": _BUSY}], "isError": True}
        try:
            return await call_next(ctx)
        finally:
            self._turns.release()
