"""The formats there are, and which of them a source has."""

from collections.abc import Sequence
from pathlib import Path

from memorix.errors import InvalidRequest
from memorix.importers import accounts, instructions, server_memory, sessions, vaults
from memorix.importers.base import MAYBE, Importer

OKF = "okf"
# A bundle or folder of Markdown, which comes in as it is.

ALL: Sequence[Importer] = (
    server_memory,
    accounts.ChatGPT(),
    accounts.Claude(),
    *sessions.ALL,
    *instructions.ALL,
    *vaults.ALL,
)
# Where two are equally certain, the first is taken.


def choose(source: Path, named: str = "") -> Importer | None:
    """Return the importer for a source, None where it is Markdown that comes in as it is.

    Raises:
        InvalidRequest: There is no such source or format, or nothing is known to read it.
    """
    if not source.exists():
        raise InvalidRequest(f"There is no {source}. Name a file or a folder.")
    if named == OKF:
        return None
    if named:
        return _by_name(named)
    likely = max(ALL, key=lambda one: one.detect(source))
    return likely if likely.detect(source) >= MAYBE else None


def _by_name(named: str) -> Importer:
    for one in ALL:
        if one.name == named:
            return one
    names = ", ".join(sorted([OKF, *(one.name for one in ALL)]))
    raise InvalidRequest(f"There is no format {named!r}. There are: {names}.")
