"""What the harness asks of a memory, whatever it is made of."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Call = tuple[str, dict[str, Any]]
# A tool and its arguments.
UNTIL_S = 1800.0
# A session of a peer is given up after so long.


@dataclass(frozen=True, slots=True)
class Said:
    """What a memory answered; `kept` is whether it claims to have done what it was asked."""

    text: str
    kept: bool


class Session(Protocol):
    """A memory that runs. Each method may be called from several threads.

    Raises:
        TimeoutError: Any of them, when the session has lasted `UNTIL_S`.
    """

    @property
    def started_ms(self) -> float: ...

    def write(self, title: str, text: str) -> Said: ...

    def recall(self, question: str, limit: int) -> Said: ...

    def find(self, title: str) -> Said:
        """Look a note up by its title, by the surest means that the memory has."""

    def delete(self, title: str, written: Said) -> Said: ...

    def tools(self) -> list[dict[str, Any]]: ...

    def caught_up(self) -> None:
        """Wait until what was written can be recalled, by meaning too."""

    def cpu_s(self) -> float: ...

    def resident_mb(self) -> float: ...

    def kill(self) -> None: ...


class Peer(Protocol):
    """A memory to measure: `about` says in which setting, `cannot` names measures that do not
    apply to it, and why, and `notes` matches the files of its store that people may edit."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def cannot(self) -> Mapping[str, str]: ...

    @property
    def notes(self) -> str: ...

    def opened(self, store: Path) -> AbstractContextManager[Session]: ...


@dataclass(frozen=True)
class Absent:
    """A peer that cannot be run here, and why."""

    name: str
    why: str
    about: str = ""
    notes: str = ""
    cannot: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def opened(self, store: Path) -> Iterator[Session]:
        raise OSError(self.why)
        yield


@dataclass(frozen=True, slots=True)
class Tools:
    """How writing, recalling and deleting are called of a peer that speaks MCP; an answer that
    `refusal`, a regular expression, is found in kept nothing, though it is no error."""

    write: Callable[[str, str], Call]
    recall: Callable[[str, int], Call]
    delete: Callable[[str, Said], Call]
    find: Callable[[str], Call] | None = None
    refusal: str = ""
