"""The formats there are, and which of them a target asks for."""

from collections.abc import Sequence

from memorix.errors import InvalidRequest
from memorix.exporters import (
    basic_memory,
    html,
    instructions,
    jsonl,
    markdown,
    mcp_memory,
    obsidian,
    okf,
)
from memorix.exporters.base import Exporter

ALL: Sequence[Exporter] = (
    okf,
    jsonl,
    markdown,
    mcp_memory,
    basic_memory,
    obsidian,
    instructions.Instructions(),
    html,
)

BY_SUFFIX = {".jsonl": "jsonl", ".ndjson": "jsonl", ".md": "markdown"}
# The format of a target whose name tells it; any other name is that of a bundle.


def choose(named: str, target: str, max_tokens: int = 0) -> Exporter:
    """Return the format of this name, or without one, that of the target's name.

    `max_tokens` is how many a block of instructions may take, 0 where that is left to it.

    Raises:
        InvalidRequest: There is no such format.
    """
    suffix = f".{target.rpartition('.')[2].lower()}"
    wanted = named or BY_SUFFIX.get(suffix, okf.name)
    for exporter in ALL:
        if exporter.name == wanted and max_tokens:
            return _within(exporter, max_tokens)
        if exporter.name == wanted:
            return exporter
    names = ", ".join(exporter.name for exporter in ALL)
    raise InvalidRequest(f"There is no format {named!r}. There are: {names}. Nothing was written.")


def _within(exporter: Exporter, max_tokens: int) -> Exporter:
    if not isinstance(exporter, instructions.Instructions):
        raise InvalidRequest(
            f"--max-tokens is for {instructions.Instructions().name}; {exporter.name} holds all. "
            "Leave it out. Nothing was written."
        )
    return instructions.Instructions(max_tokens)
