"""Which of the notes that leave together link to which, and how their links are written anew."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memorix.exporters.base import Chosen
from memorix.layout import folder_of, scope_of
from memorix.links import Link, links
from memorix.note import Note, texts_of

LINKS = "links_to"
# The relation of a link that has no word of its own.

_KEYS = ("supersedes", "superseded_by", "contested_by")
# Keys of a note that name others by their ids.

_TIMES = ("created", "generated", "timestamp", "date")
# Keys from which a note tells when it was made and changed.

_DEFINITION = re.compile(r"\[(?:[^\[\]\\]|\\.)*+\]:")


@dataclass(frozen=True, slots=True)
class Edge:
    """That a note stands to another by a relation; `LINKS` where its link says no word."""

    source: Note
    relation: str
    target: Note


class Graph:
    """The notes of an export in order of their paths, and the edges between them.

    `notes`, and those of edges, are without their text and with no key but those of their times;
    `whole` reads a note again.
    """

    def __init__(self, chosen: Chosen) -> None:
        self._chosen = chosen.notes
        self._places: dict[str, int] = {}
        self._paths: dict[str, Note] = {}
        self._led: dict[str, Mapping[str, str]] = {}
        stated: dict[str, list[tuple[str, str, str]]] = {}
        for place, one in enumerate(chosen.notes):
            path = one.note.path
            self._places[path], self._paths[path] = place, _head(one.note)
            self._led[path] = {link.target: link.path for link in reversed(one.links) if link.path}
            stated[path] = list(_stated(one.note, self._led[path]))
        self.notes: Sequence[Note] = sorted(self._paths.values(), key=_path)
        ids = {str(note.id): note.path for note in reversed(self.notes)}
        self._out = {n.path: self._edges(n, stated.pop(n.path), ids) for n in self.notes}
        self._in: dict[str, list[Edge]] = {}
        for note in self.notes:
            for edge in self._out[note.path]:
                self._in.setdefault(edge.target.path, []).append(edge)

    def whole(self) -> Iterator[Note]:
        """Yield the notes with their texts and all their keys, in order of their paths."""
        for note in self.notes:
            yield self._chosen[self._places[note.path]].note

    def outgoing(self, note: Note) -> Sequence[Edge]:
        """Return the edges from a note, each once, in the order of its text."""
        return self._out[note.path]

    def incoming(self, note: Note) -> Sequence[Edge]:
        """Return the edges to a note, in order of the paths they come from."""
        return self._in.get(note.path, ())

    def target(self, note: Note, link: Link) -> Note | None:
        """Return the exported note that a link in the text of a note leads to."""
        return self._paths.get(self._led[note.path].get(link.target, ""))

    def _edges(
        self, note: Note, stated: Sequence[tuple[str, str, str]], ids: Mapping[str, str]
    ) -> tuple[Edge, ...]:
        found: dict[tuple[str, str], Edge] = {}
        for relation, path, named in stated:
            target = self._paths.get(path or ids.get(named, ""))
            if target and target is not note:
                found.setdefault((relation, target.path), Edge(note, relation, target))
        told = {path for relation, path in found if relation != LINKS}
        return tuple(e for (word, path), e in found.items() if word != LINKS or path not in told)


def _stated(note: Note, led: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield (relation, path, id), of the last two one: what a note's text says, then its keys."""
    for link in links(note.body):
        if path := led.get(link.target):
            yield link.relation or LINKS, path, ""
    for relation in _KEYS:
        for named in texts_of(note.meta.get(relation)):
            yield relation, "", named


def _head(note: Note) -> Note:
    """Return what is kept of a note while others are read."""
    times = {key: note.meta[key] for key in _TIMES if key in note.meta}
    return replace(note, body="", meta=times, warnings=())


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
