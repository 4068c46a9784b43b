"""Take notes out of the vault, in any format and filtered."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, overload

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


class _Kept(Sequence[Outgoing]):
    """The notes of an export as they were when it began, kept in a file; each is read from there
    when it is asked for, with its links led to the notes among these."""

    def __init__(self, memory: Memory, file: IO[bytes]) -> None:
        self.memory = memory
        self._file = file
        self._places: list[tuple[Row, int, int]] = []
        self._paths: dict[int, str] = {}

    def add(self, row: Row, content: bytes) -> None:
        """Keep one more; all are to be added before the first is read."""
        self._places.append((row, self._file.tell(), len(content)))
        self._paths[row.key] = row.path
        try:
            self._file.write(content)
        except OSError as error:
            raise InvalidRequest(
                f"The notes cannot be gathered in {self.memory.store.lock_path.parent}: {error}. "
                "Make room there. Nothing was written."
            ) from error

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Outgoing: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Outgoing]: ...

    def __getitem__(self, place: int | slice) -> Outgoing | Sequence[Outgoing]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        row, start, size_bytes = self._places[place]
        self._file.seek(start)
        content = self._file.read(size_bytes)
        note = with_id(parse(content, row.path), row)
        return Outgoing(note, content, row.scope, tuple(self._links(row.key)))

    def _links(self, key: int) -> Iterator[Reference]:
        for link in self.memory.index.outgoing(key):
            path = self._paths.get(link.means[0], "") if len(link.means) == 1 else ""
            yield Reference(link.target, link.label, link.relation, path)


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
    with TemporaryFile(dir=memory.store.lock_path.parent) as file:
        chosen = _chosen(_Kept(memory, file), exporter, asked, everything, told, private=private)
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
    kept: _Kept,
    exporter: Exporter,
    asked: Filter,
    everything: bool | None,
    told: _Told,
    *,
    private: bool,
) -> Chosen:
    memory = kept.memory
    asked = replace(asked, scopes=memory.places.to_read(asked.scopes))
    whole = exporter.everything if everything is None else everything
    wanted = leaving.wanted(asked, everything=whole and exporter.form != "block")
    rows = memory.index.latest(wanted, memory.clock(), _ALL)
    for row in sorted(rows, key=lambda row: (row.scope, row.path)):
        content = _content(memory, row.path, told, private=private)
        if content is not None:
            kept.add(row, content)
    pages = {} if leaving.narrowed(asked) else dict(_pages(memory, asked, told, private=private))
    title = asked.scopes[0] if len(asked.scopes) == 1 else "Memory"
    return Chosen(kept, title, asked.scopes, pages)


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
