"""The formats there are, and which of them a source has."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from memorix.errors import InvalidRequest
from memorix.importers import (
    accounts,
    databases,
    exports,
    instructions,
    server_memory,
    sessions,
    tables,
    vaults,
)
from memorix.importers.base import MAYBE, Importer

OKF = "okf"
# A bundle or folder of Markdown, which comes in as it is.

ALL: Sequence[Importer] = (
    server_memory,
    accounts.ChatGPT(),
    accounts.Claude(),
    *sessions.ALL,
    *instructions.ALL,
    *databases.ALL,
    *exports.ALL,
    *vaults.ALL,
)
# Where two are equally certain, the first is taken.


def choose(
    source: Path, named: str = "", mapping: Mapping[str, str] = MappingProxyType({})
) -> Importer | None:
    """Return the importer for a source, None where it is Markdown that comes in as it is.

    `mapping` tells where JSON Lines or CSV have the parts of a record, such as `body` to `memo`.

    Raises:
        InvalidRequest: There is no such source or format, or the mapping has no such part.
    """
    if not source.exists():
        raise InvalidRequest(f"There is no {source}. Name a file or a folder.")
    plain = tables.importers(mapping)
    known: Sequence[Importer] = plain if mapping else (*ALL, *plain)
    if named == OKF:
        return None
    if named:
        known = _by_name(named, known)
    likely = max(known, key=lambda one: one.detect(source))
    if named or likely.detect(source) >= MAYBE:
        return likely
    if mapping:
        raise InvalidRequest(f"--map is for JSON Lines and CSV; {source} is neither.")
    return None


def _by_name(named: str, known: Sequence[Importer]) -> Sequence[Importer]:
    """Return the importers of a format: one program may keep a database and export JSON."""
    found = [one for one in known if one.name == named]
    if found:
        return found
    names = ", ".join(sorted({OKF, *(one.name for one in known)}))
    raise InvalidRequest(f"There is no format {named!r}. There are: {names}.")
