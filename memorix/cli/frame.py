"""What every command shares: its options, the open memory, and how its answer is printed."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorix.errors import InvalidRequest

if TYPE_CHECKING:
    from memorix.config import Config
    from memorix.memory import Memory

EMBED_AT_ONCE = 200
# Vectors a question makes before it is answered; the rest is left to a server or to `reindex`.

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, as the tools return it.")]
ScopeOption = Annotated[
    str, typer.Option("--scope", "-s", help="project, user, a project's name, or all.")
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="KEY=VALUE, or keys as JSON; KEY= takes one away.")
]
NoteIdArgument = Annotated[str, typer.Argument(help="A note's id or path.")]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# A note must not be able to drive the terminal it is shown on.

flags: dict[str, str | None] = {}
# The options given before the command.


def settings() -> "Config":
    from memorix.config import load

    return load(flags)


@contextmanager
def opened(*, model: bool = False, catch_up: bool = True) -> "Iterator[Memory]":
    from memorix import capturing, wiring

    config = settings()
    memory = wiring.open_memory(config, author=person())
    memory.beside = capturing.beside()
    try:
        if catch_up:
            memory.catch_up()
        if model:
            wiring.load_model(memory, config)
        yield memory
    finally:
        memory.close()


def person() -> str:
    """Return the actor of what is typed by hand (OKF section 7)."""
    import getpass

    try:
        return f"human:{getpass.getuser()}"
    except (OSError, KeyError):
        return "human:user"


def keys_given(pairs: list[str] | None) -> dict[str, Any]:
    """Read what `--set` was given.

    Raises:
        InvalidRequest: One is neither KEY=VALUE nor JSON.
    """
    from memorix.keys import keys_from

    found: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if pair.lstrip().startswith("{"):
            found |= keys_from(pair)
        elif equals and name.strip():
            found[name.strip()] = value
        else:
            raise InvalidRequest(f"--set takes KEY=VALUE, not {pair!r}.")
    return found


def shown(data: Any, text: str, as_json: bool) -> None:
    print(
        json.dumps(data, ensure_ascii=False, indent=1) if as_json else _CONTROL.sub("\ufffd", text)
    )


@contextmanager
def progress() -> Iterator[Callable[[str], Callable[[int, int], None]]]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as shown:

        def bar(name: str) -> Callable[[int, int], None]:
            task = shown.add_task(name, total=None, start=True)
            return lambda done, total: shown.update(task, completed=done, total=total or None)

        yield bar


def counting(bar: Callable[[int, int], None]) -> Callable[[int], None]:
    return lambda done: bar(done, 0)
