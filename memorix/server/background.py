"""What runs beside the answers: opening the memory, following the folder, loading the model.

None of it starts before the host's first request is answered.
"""

import logging
import os
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from memorix.config import Config
from memorix.errors import MemorixError

if TYPE_CHECKING:
    from memorix.memory import Memory

PATIENCE_S = 5.0
# A host that says nothing for so long is not waiting for an answer: start the work.

PARENT_CHECK_S = 1.0
LAST_WORDS_S = 3.0
# From losing the host to leaving for good: less than the five seconds a host's user will notice.

_log = logging.getLogger(__name__)


class Background:
    """Opens the memory when it is first needed, and loads the model after the first answer.

    `attached` says that it serves one host: then it lets the host's first request go first, and
    leaves when the host is gone.
    """

    def __init__(self, config: Config, author: str = "", *, attached: bool = True) -> None:
        self._config, self._author, self._attached = config, author, attached
        self._lock = threading.Lock()
        self._memory: Memory | None = None
        self._stop_following: Callable[[], None] = lambda: None
        self._answered = threading.Event()
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self.trouble = ""
        self.opened: Callable[[Memory], None] = lambda memory: None

    def memory(self) -> "Memory":
        """Return the memory, opened and followed.

        Raises:
            MemorixError: It cannot be opened; the next call tries again.
        """
        with self._lock:
            if self._memory is None:
                from memorix import capturing, wiring

                try:
                    memory = wiring.open_memory(self._config, author=self._author)
                    memory.beside = capturing.beside()
                except MemorixError as error:
                    self.trouble = str(error)
                    raise
                self.trouble = ""
                self.opened(memory)
                self._stop_following = wiring.follow(memory, self._config)
                self._memory = memory
            return self._memory

    async def middleware(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Let the heavy work begin once the first request has its answer."""
        try:
            return await call_next(ctx)
        finally:
            self._answered.set()

    def start(self) -> None:
        targets = [self._warm_up, *([self._watch_parent] if self._attached else [])]
        for target in targets:
            thread = threading.Thread(target=target, name=f"memorix{target.__name__}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def leave_soon(self) -> None:
        """Leave the process before long, whatever hangs; what is running may still finish."""
        deadline = threading.Timer(LAST_WORDS_S, os._exit, args=(0,))
        deadline.daemon = True
        deadline.start()

    def stop(self) -> None:
        """Stop following and close the index; leave the process whatever hangs."""
        self.leave_soon()
        self._stopped.set()
        self._answered.set()
        self._stop_following()
        for thread in self._threads:  # one that loads the model would break down with the process
            if thread is not threading.current_thread():
                thread.join(LAST_WORDS_S)
        if self._memory is not None:
            self._memory.close()

    def _warm_up(self) -> None:
        if self._attached:
            self._answered.wait(PATIENCE_S)
            self._stopped.wait(0.05)  # the answer is on its way out; importing would hold it up
        if self._stopped.is_set():
            return
        try:
            from memorix import wiring

            wiring.load_model(self.memory(), self._config)
            self._take_in()
        except MemorixError as error:
            _log.warning("%s", error)

    def _take_in(self) -> None:
        """Suggest what hooks left of sessions, once a host has a server."""
        from memorix import capturing

        if self._attached:
            capturing.take_in({"vault": str(self._config.vault)})

    def _watch_parent(self) -> None:
        """Leave when the host is gone, even if something else keeps our stdin open."""
        if os.name == "nt":
            return
        parent = os.getppid()
        while not self._stopped.wait(PARENT_CHECK_S):
            if os.getppid() != parent:
                self.stop()
                os._exit(0)
