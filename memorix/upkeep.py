"""Look a vault through for what wants to be settled, and settle what needs no judgement."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memorix import diverged, privacy
from memorix.errors import MemorixError
from memorix.index.base import Row
from memorix.layout import folder_of
from memorix.memory import Memory
from memorix.mending import on_a_sound_index
from memorix.note import parse, parse_time
from memorix.query import Filter
from memorix.resemblance import Vectors
from memorix.results import Forgotten
from memorix.tidying import Plan, Subject, plan
from memorix.validity import is_expired

MOST = 1_000_000
# Notes; all there are.


@on_a_sound_index
def survey(memory: Memory, scope: str = "") -> Plan:
    """Return what wants to be settled in a scope, by default in the project and for the user.

    Notes that are held back take no part.  Vectors are used where there are any.

    Raises:
        InvalidRequest: There is no such scope.
    """
    memory.look()
    scopes = memory.places.to_read((scope,) if scope else ())
    now = memory.clock()
    rows = memory.index.latest(Filter(scopes=scopes, everything=True), now, MOST)
    found = list(_subjects(memory, rows))
    vectors = _vectors(memory, [row for row, _ in found])
    return plan([subject for _, subject in found], vectors, scopes, now)


def settle(memory: Memory, wanted: Plan) -> tuple[list[Forgotten], list[tuple[str, str]]]:
    """Archive what has expired; return what was done, and (id, reason) of what could not be.

    Each is one ordinary change, which can be taken back like any other.
    """
    done: list[Forgotten] = []
    failed: list[tuple[str, str]] = []
    for finding in wanted.findings:
        for step in finding.steps if finding.safe else ():
            try:
                if is_expired(memory.read(step.id).note, memory.clock()):
                    done.append(memory.forget(step.id, str(step.options["level"])))
            except MemorixError as error:
                failed.append((step.id, str(error)))
    return done, failed


def _subjects(memory: Memory, rows: Sequence[Row]) -> Iterator[tuple[Row, Subject]]:
    recalls = memory.index.recalls(row.id for row in rows)
    copy_of = {one.path: one.note for one in diverged.found(memory)}
    for row in rows:
        read = memory.store.read(row.path)
        if read is None:
            continue
        note = privacy.public(parse(read[0], row.path))
        gone = row.superseded_by and memory.index.find(row.superseded_by) is None
        links = memory.index.outgoing(row.key)
        yield (
            row,
            Subject(
                note=note if note.id == row.id else replace(note, id=type(note.id)(row.id)),
                scope=row.scope,
                root=folder_of(row.scope),
                written=parse_time(row.date) or memory.clock(),
                recalls=recalls.get(row.id),
                dangling=tuple(dict.fromkeys(link.target for link in links if not link.means)),
                orphaned=bool(gone),
                copy_of=copy_of.get(row.path, ""),
            ),
        )


def _vectors(memory: Memory, rows: Sequence[Row]) -> Vectors | None:
    """Return one row of length 1 a note, the mean of its pieces; of length 0 where it has none."""
    if memory.embedder is None:
        return None
    pieces: Mapping[int, list[bytes]] = defaultdict(list)
    keys = (row.key for row in rows)
    for key, vector in memory.index.note_vectors(keys, memory.embedder.card.fingerprint):
        pieces[key].append(vector)
    if not pieces:
        return None
    vectors = np.zeros((len(rows), memory.embedder.card.dim), dtype=np.float32)
    for place, row in enumerate(rows):
        if row.key in pieces:
            mean = np.frombuffer(b"".join(pieces[row.key]), dtype=np.float32)
            mean = mean.reshape(len(pieces[row.key]), -1).mean(axis=0)
            vectors[place] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return vectors
