"""Notes as bundles of the Open Knowledge Format: one scope, or each scope in its folder.

Notes that are not conformant as they are, such as those without a type, are mended in the copy;
indexes are made where a person has made none.
"""

import heapq
from collections.abc import Iterator, Sequence
from operator import itemgetter

from memorix import indexes
from memorix.checking import repaired
from memorix.exporters.base import Chosen, Files, Form
from memorix.layout import folder_of, scope_of

name = "okf"
about = "a bundle of the Open Knowledge Format: the Markdown files, with indexes"
form: Form = "folder"
everything = True


def files(chosen: Chosen) -> Files:
    places: dict[str, list[int]] = {}
    for place, one in enumerate(chosen.notes):
        places.setdefault(one.scope, []).append(place)
    alone = len(chosen.scopes) == 1
    for scope in sorted(places, key=folder_of):
        title = chosen.title if alone else scope
        bundle = _Bundle(chosen, scope, places[scope])
        for path, content in bundle.files(title):
            yield (path if alone else f"{folder_of(scope)}/{path}"), content


class _Bundle:
    """One scope as a bundle; paths are those in it."""

    def __init__(self, chosen: Chosen, scope: str, places: Sequence[int]) -> None:
        self._notes = chosen.notes
        self._places = places
        self._root = f"{folder_of(scope)}/"
        pages = chosen.pages.items()
        self._pages = {self._inner(path): page for path, page in pages if scope_of(path) == scope}

    def files(self, title: str) -> Files:
        """Yield the files of the bundle, sorted by path."""
        entries = indexes.entries(self._mended())
        pages = self._pages | indexes.pages(entries, self._pages, title)
        yield from heapq.merge(self._mended(), sorted(pages.items()), key=itemgetter(0))

    def _mended(self) -> Iterator[tuple[str, bytes]]:
        for place in self._places:
            one = self._notes[place]
            path = self._inner(one.note.path)
            yield path, repaired(path, one.content)

    def _inner(self, path: str) -> str:
        return path.removeprefix(self._root)
