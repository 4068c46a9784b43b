"""Notes as bundles of the Open Knowledge Format: one scope, or each scope in its folder.

Notes that are not conformant as they are, such as those without a type, are mended in the copy;
indexes are made where a person has made none.
"""

from collections.abc import Mapping

from memorix import privacy, reserved
from memorix.checking import is_concept, repairs
from memorix.exporters.base import Chosen, Files, Form
from memorix.layout import folder_of, scope_of
from memorix.note import parse

name = "okf"
about = "a bundle of the Open Knowledge Format: the Markdown files, with indexes"
form: Form = "folder"
everything = True


def files(chosen: Chosen) -> Files:
    scopes = {one.scope for one in chosen.notes}
    alone = len(chosen.scopes) == 1
    for scope in sorted(scopes, key=folder_of):
        title = chosen.title if alone else scope
        for path, content in _bundle(chosen, scope, title).items():
            yield (path if alone else f"{folder_of(scope)}/{path}"), content


def _bundle(chosen: Chosen, scope: str, title: str) -> dict[str, bytes]:
    """Return one scope as a bundle: path in the bundle to bytes, sorted."""
    root = f"{folder_of(scope)}/"
    found = {one.note.path: one.content for one in chosen.notes if one.scope == scope}
    found |= {path: page for path, page in chosen.pages.items() if scope_of(path) == scope}
    files = {path.removeprefix(root): content for path, content in found.items()}
    files |= repairs(files)
    files |= indexes(files, title)
    return dict(sorted(files.items()))


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
