"""Notes as bundles of the Open Knowledge Format: one scope, or each scope in its folder.

Notes that are not conformant as they are, such as those without a type, are mended in the copy;
indexes are made where a person has made none.
"""

from memorix.checking import repairs
from memorix.exporters.base import Chosen, Files, Form
from memorix.indexes import indexes
from memorix.layout import folder_of, scope_of

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
