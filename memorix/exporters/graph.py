"""Which of the notes that leave together link to which, and how their links are written anew."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memorix.exporters.base import Chosen
from memorix.layout import folder_of, scope_of
from memorix.links import Link, links
from memorix.note import Note, texts_of

LINKS = "links_to"
# The relation of a link that has no word of its own.

_KEYS = ("supersedes", "superseded_by", "contested_by")
# Keys of a note that name others by their ids.

_DEFINITION = re.compile(r"\[(?:[^\[\]\\]|\\.)*+\]:")


@dataclass(frozen=True, slots=True)
class Edge:
    """That a note stands to another by a relation; `LINKS` where its link says no word."""

    source: Note
    relation: str
    target: Note


class Graph:
    """The notes of an export in order of their paths, and the edges between them."""

    def __init__(self, chosen: Chosen) -> None:
        self.notes: Sequence[Note] = sorted((o.note for o in chosen.notes), key=_path)
        self._paths = {note.path: note for note in self.notes}
        self._ids = {str(note.id): note for note in reversed(self.notes)}
        self._led = {
            one.note.path: {link.target: link.path for link in reversed(one.links)}
            for one in chosen.notes
        }
        self._out: dict[str, tuple[Edge, ...]] = {n.path: self._edges(n) for n in self.notes}
        self._in: dict[str, list[Edge]] = {}
        for note in self.notes:
            for edge in self._out[note.path]:
                self._in.setdefault(edge.target.path, []).append(edge)

    def outgoing(self, note: Note) -> Sequence[Edge]:
        """Return the edges from a note, each once, in the order of its text."""
        return self._out[note.path]

    def incoming(self, note: Note) -> Sequence[Edge]:
        """Return the edges to a note, in order of the paths they come from."""
        return self._in.get(note.path, ())

    def target(self, note: Note, link: Link) -> Note | None:
        """Return the exported note that a link in the text of a note leads to."""
        return self._paths.get(self._led[note.path].get(link.target, ""))

    def _edges(self, note: Note) -> tuple[Edge, ...]:
        """Return what the text of a note says, then what only its keys say."""
        found: dict[tuple[str, str], Edge] = {}
        for link in links(note.body):
            target = self.target(note, link)
            if target and target is not note:
                edge = Edge(note, link.relation or LINKS, target)
                found.setdefault((edge.relation, target.path), edge)
        for relation in _KEYS:
            for named in texts_of(note.meta.get(relation)):
                target = self._ids.get(named)
                if target and target is not note:
                    found.setdefault((relation, target.path), Edge(note, relation, target))
        told = {path for relation, path in found if relation != LINKS}
        return tuple(e for (word, path), e in found.items() if word != LINKS or path not in told)


def relinked(
    body: str,
    target: Callable[[Link], Note | None],
    written: Callable[[Link, Note], str | None],
    place: Callable[[Note], str],
) -> str:
    """Return a body with its links to notes written anew.

    `written` gives what stands in the place of a link; where that is None, and for the definition
    of a reference, only the destination changes, to `place` of the note.
    """
    pieces: list[str] = []
    done = 0
    for link in links(body):
        note = target(link)
        if note is None or link.whole[0] < done:
            continue
        start, end = link.whole
        text = None if is_definition(body, link) else written(link, note)
        if text is None and link.kind == "wiki":
            continue
        if text is None:
            start, end, text = link.start, link.end, place(note)
        pieces += [body[done:start], text]
        done = end
    return "".join([*pieces, body[done:]])


def is_definition(body: str, link: Link) -> bool:
    """Say whether a link is the definition of a reference, `[label]: destination`."""
    return link.kind == "markdown" and bool(_DEFINITION.match(body, link.whole[0]))


def inside(notes: Sequence[Note]) -> Mapping[str, str]:
    """Return the path that each note has in an export: without the folder of its scope where all
    are of one scope."""
    scopes = {scope_of(note.path) for note in notes}
    root = f"{folder_of(scopes.pop())}/" if len(scopes) == 1 else ""
    return {note.path: note.path.removeprefix(root) for note in notes}


def unique(
    notes: Iterable[Note], name: Callable[[Note], str], joint: str = "-"
) -> Mapping[str, str]:
    """Return a name for each path of these notes; no two differ by their case alone.

    Of several notes with one name, the first has it, and the others have a number after `joint`.
    """
    taken: set[str] = set()
    names: dict[str, str] = {}
    for note in notes:
        wanted = name(note)
        free, number = wanted, 2
        while free.casefold() in taken:
            free, number = f"{wanted}{joint}{number}", number + 1
        taken.add(free.casefold())
        names[note.path] = free
    return names


def _path(note: Note) -> str:
    return note.path
