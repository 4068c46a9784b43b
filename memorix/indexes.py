"""Decide what the index.md files of a bundle say, for people and for programs that read no more."""

from collections.abc import Mapping

from memorix import privacy, reserved
from memorix.checking import is_concept
from memorix.note import parse


def indexes(files: Mapping[str, bytes], title: str) -> dict[str, bytes]:
    """Return the index files to write beside these notes, without those that are right."""
    parsed = (parse(content, path) for path, content in files.items() if is_concept(path))
    notes = [privacy.public(note) for note in parsed if not privacy.is_private(note)]
    entries = [reserved.Entry(note.path, note.title, note.description) for note in notes]
    written: dict[str, bytes] = {}
    for path, text in reserved.all_indexes(entries, title).items():
        old = files.get(path)
        new = reserved.updated_index(None if old is None else old.decode("utf-8", "replace"), text)
        if new is not None:
            written[path] = new.encode()
    return written
