"""What the harness asks of a memory, whatever it is made of."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Call = tuple[str, dict[str, Any]]
# A tool and its arguments.


@dataclass(frozen=True, slots=True)
class Said:
    """What a memory answered; `kept` is whether it claims to have done what it was asked."""

    text: str
    kept: bool


class Session(Protocol):
    """A memory that runs. Each method may be called from several threads."""

    def write(self, title: str, text: str) -> Said: ...

    def recall(self, question: str, limit: int) -> Said: ...

    def delete(self, title: str, written: Said) -> Said: ...

    def tools(self) -> list[dict[str, Any]]: ...

    def cpu_s(self) -> float: ...

    def resident_mb(self) -> float: ...

    def kill(self) -> None: ...


class Peer(Protocol):
    """A memory to measure; `cannot` names measures that do not apply to it, and why."""

    @property
    def name(self) -> str: ...

    @property
    def cannot(self) -> Mapping[str, str]: ...

    def opened(self, store: Path) -> AbstractContextManager[Session]: ...


@dataclass(frozen=True, slots=True)
class Tools:
    """How writing, recalling and deleting are called of a peer that speaks MCP."""

    write: Callable[[str, str], Call]
    recall: Callable[[str, int], Call]
    delete: Callable[[str, Said], Call]
