"""Take notes out of the vault, in any format and filtered."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from memorix import leaving
from memorix.errors import InvalidRequest
from memorix.exchange.writing import write
from memorix.exporters.base import Chosen, Exporter, Outgoing, Reference
from memorix.index.base import Row
from memorix.layout import scope_of
from memorix.memory import Memory
from memorix.note import parse
from memorix.notes import with_id
from memorix.query import Filter
from memorix.results import Exported

_ALL = 10_000_000
# Notes; more than any vault has.


@dataclass
class _Told:
    """What is told of notes that did not leave as they are: path, and the reason or the kind."""

    masked: list[tuple[str, str]] = field(default_factory=list)
    stayed: list[tuple[str, str]] = field(default_factory=list)


def export(
    memory: Memory,
    exporter: Exporter,
    target: Path,
    asked: Filter,
    *,
    everything: bool | None = None,
    private: bool = False,
    overwrite: bool = False,
) -> Exported:
    """Write the notes that pass a filter to a target; the same notes give the same bytes.

    The target is there as a whole or not at all; one that exists stays unless it is to be
    overwritten.  `everything` as `memorix.leaving` has it, where it is not left to the format; a
    block, which is read in every session, never holds what is out of force or in the inbox;
    `private` takes all as it is, what is private or secret too.

    Raises:
        InvalidRequest: There is no such scope, or the target exists or lies in the vault.
    """
    _refuse_vault(memory, target)
    told = _Told()
    chosen = _chosen(memory, exporter, asked, everything, told, private=private)
    files = write(exporter.files(chosen), target, exporter.form, overwrite=overwrite)
    masked, stayed = tuple(told.masked), tuple(told.stayed)
    return Exported(target, exporter.name, len(chosen.notes), files, masked, stayed)


def _refuse_vault(memory: Memory, target: Path) -> None:
    real, vault = target.resolve(), memory.store.vault.resolve()
    if real == vault or vault in real.parents:
        raise InvalidRequest(
            f"{target} lies in the vault, where an export would become notes. Name a place outside."
        )


def _chosen(
    memory: Memory,
    exporter: Exporter,
    asked: Filter,
    everything: bool | None,
    told: _Told,
    *,
    private: bool,
) -> Chosen:
    asked = replace(asked, scopes=memory.places.to_read(asked.scopes))
    whole = exporter.everything if everything is None else everything
    wanted = leaving.wanted(asked, everything=whole and exporter.form != "block")
    rows = memory.index.latest(wanted, memory.clock(), _ALL)
    notes = [
        Outgoing(with_id(parse(content, row.path), row), content, row.scope)
        for row in sorted(rows, key=lambda row: (row.scope, row.path))
        if (content := _content(memory, row.path, told, private=private)) is not None
    ]
    linked = _linked(memory, notes, {row.path: row for row in rows})
    pages = {} if leaving.narrowed(asked) else dict(_pages(memory, asked, told, private=private))
    title = asked.scopes[0] if len(asked.scopes) == 1 else "Memory"
    return Chosen(tuple(linked), title, asked.scopes, pages)


def _content(memory: Memory, path: str, told: _Told, *, private: bool) -> bytes | None:
    """Return what of a file may leave, None where nothing may or it is gone."""
    found = memory.store.read(path)
    if found is None or private:
        return found[0] if found else None
    screened = leaving.screened(found[0], path)
    if screened.content is None:
        told.stayed.append((path, screened.why))
    told.masked.extend((path, kind) for kind in screened.masked)
    return screened.content


def _pages(
    memory: Memory, asked: Filter, told: _Told, *, private: bool
) -> Iterator[tuple[str, bytes]]:
    for path in sorted(memory.store.scan(reserved=True)):
        if not asked.scopes or scope_of(path) in asked.scopes:
            content = _content(memory, path, told, private=private)
            if content is not None:
                yield path, content


def _linked(memory: Memory, notes: list[Outgoing], rows: dict[str, Row]) -> Iterator[Outgoing]:
    """Add to each note its links, led to the notes among these."""
    paths = {rows[one.note.path].key: one.note.path for one in notes}
    for key, one in zip(paths, notes, strict=True):
        links = tuple(
            Reference(
                link.target,
                link.label,
                link.relation,
                paths.get(link.means[0], "") if len(link.means) == 1 else "",
            )
            for link in memory.index.outgoing(key)
        )
        yield replace(one, links=links)
