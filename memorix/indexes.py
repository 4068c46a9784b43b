"""Decide what the index.md files of a bundle say, for people and for programs that read no more."""

from collections.abc import Iterable, Mapping

from memorix import privacy, reserved
from memorix.checking import is_concept
from memorix.note import parse


def indexes(files: Mapping[str, bytes], title: str) -> dict[str, bytes]:
    """Return the index files to write beside these notes, without those that are right."""
    return pages(entries(files.items()), files, title)


def entries(files: Iterable[tuple[str, bytes]]) -> list[reserved.Entry]:
    """Return what the indexes list of these files, of which no more than one is held."""
    parsed = (parse(content, path) for path, content in files if is_concept(path))
    notes = (privacy.public(note) for note in parsed if not privacy.is_private(note))
    return [reserved.Entry(note.path, note.title, note.description) for note in notes]


def pages(
    entries: Iterable[reserved.Entry], there: Mapping[str, bytes], title: str
) -> dict[str, bytes]:
    """Return the index files of these entries, without those that are right as they are `there`."""
    written: dict[str, bytes] = {}
    for path, text in reserved.all_indexes(entries, title).items():
        old = there.get(path)
        new = reserved.updated_index(None if old is None else old.decode("utf-8", "replace"), text)
        if new is not None:
            written[path] = new.encode()
    return written
