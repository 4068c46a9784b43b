"""The formats there are, and which of them a target asks for."""

from collections.abc import Sequence

from memorix.errors import InvalidRequest
from memorix.exporters import jsonl, okf
from memorix.exporters.base import Exporter

ALL: Sequence[Exporter] = (okf, jsonl)

BY_SUFFIX = {".jsonl": "jsonl", ".ndjson": "jsonl"}
# The format of a target whose name tells it; any other name is that of a bundle.


def choose(named: str, target: str) -> Exporter:
    """Return the format of this name, or without one, that of the target's name.

    Raises:
        InvalidRequest: There is no such format.
    """
    suffix = f".{target.rpartition('.')[2].lower()}"
    wanted = named or BY_SUFFIX.get(suffix, okf.name)
    for exporter in ALL:
        if exporter.name == wanted:
            return exporter
    names = ", ".join(exporter.name for exporter in ALL)
    raise InvalidRequest(f"There is no format {named!r}. There are: {names}. Nothing was written.")
