"""Look at everything the memory stands on, and say what is wrong and what mends it."""

from collections.abc import Iterator

from memorix.config import Config
from memorix.doctor import hosts, memory, servers
from memorix.doctor.base import FAILED, OK, WARNING, Check
from memorix.errors import MemorixError
from memorix.memory import Memory

__all__ = ["FAILED", "OK", "WARNING", "Check", "examine"]


def examine(opened: Memory, config: Config) -> Iterator[Check]:
    """Look at the program, the vault, the index and what serves it, and the hosts, in order."""
    for look in (*memory.LOOKS, *hosts.LOOKS, *servers.LOOKS):
        try:
            yield from look(opened, config)
        except MemorixError as error:
            yield Check(look.__name__.strip("_").replace("_", " "), FAILED, str(error))
