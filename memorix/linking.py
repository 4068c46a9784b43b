"""Follow the links between notes: for a reader, and for a note that moves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memorix.frontmatter import cut
from memorix.index.base import Index, LinkRow, Row
from memorix.kinds import PRIVATE
from memorix.layout import folder_of
from memorix.links import name_key, redirected
from memorix.note import decode, is_ours, parse
from memorix.results import Linked
from memorix.store import Store

SHOWN = 20
# Links of one note told to a reader; a hub has hundreds, and tokens are dear.


@dataclass(frozen=True, slots=True)
class Repair:
    """A note whose links are to follow another that moved: its bytes before and after."""

    path: str
    etag: str
    content: bytes


def neighbours(index: Index, row: Row) -> tuple[tuple[Linked, ...], tuple[Linked, ...]]:
    """Return what a note links to, and what links to it, each once and at most `SHOWN`.

    Notes that are held back are not told of by the notes they link to.
    """
    out, back = index.outgoing(row.key), index.incoming(row.key)
    rows = index.rows({key for link in (*out, *back) for key in (link.note, *link.means)})
    leading = (_target(link, rows) for link in out)
    shown = (link for link in back if link.note in rows and not rows[link.note].held)
    coming = (_linked(rows[link.note], link.relation) for link in shown)
    return _each_once(leading), _each_once(coming)


def _target(link: LinkRow, rows: dict[int, Row]) -> Linked:
    means = [rows[key] for key in link.means if key in rows]
    if len(means) == 1:
        return _linked(means[0], link.relation)
    state = "ambiguous" if means else "pending"
    return Linked(link.target, "", link.relation, state)


def _linked(row: Row, relation: str) -> Linked:
    title = "a private note" if row.held == PRIVATE else row.title
    return Linked(title, row.id, relation)


def _each_once(links: Iterator[Linked]) -> tuple[Linked, ...]:
    return tuple(dict.fromkeys(links))[:SHOWN]


def inbound(index: Index, row: Row) -> list[Row]:
    """Return the notes that link to this one, sorted by path."""
    sources = {link.note for link in index.incoming(row.key)}
    return sorted(index.rows(sources).values(), key=lambda source: source.path)


def repairs(
    store: Store, sources: Sequence[Row], old: str, new: str
) -> tuple[list[Repair], list[str]]:
    """Plan how the links of these notes follow one that moved.

    Returns the repairs, and the paths of the notes that are left alone because a person wrote
    them: their links are theirs to change.
    """
    planned: list[Repair] = []
    left: list[str] = []
    steps = old.split("/")
    names = frozenset(name_key("/".join(steps[start:])) for start in range(len(steps)))
    for source in sources:
        found = store.read(source.path)
        if found is None:
            continue
        content, seen = found
        note = parse(content, source.path)
        if not is_ours(note) or decode(content)[1]:
            left.append(source.path)
            continue
        parts = cut(content.decode())
        root = folder_of(source.scope)
        body = redirected(parts.body, source.path, root, old, new, names)
        if body != parts.body:
            changed = replace(parts, body=body).joined().encode()
            planned.append(Repair(source.path, seen.etag, changed))
    return planned, left
