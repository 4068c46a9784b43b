"""Which files of its project a prompt is about: those that come with it, and those it names."""

import os
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

MOST, MOST_LOOKED_FOR = 8, 200
# Files of one prompt that notes are looked up for, and names that are tried; a pasted log has many.

_AROUND = "@`'\"“”‘’()[]{}<>,;!?，。；！？、（）"
_PLAIN = re.compile(r"[A-Za-z0-9_./\\~-]+")
# As a name stands in Chinese, without spaces around it.


def files(prompt: str, attached: Iterable[str], cwd: str) -> list[str]:
    """Return the files that are there, as paths from the project's root with `/`, as named."""
    root, found = _root(cwd), dict[str, None]()
    names = dict.fromkeys([*map(_path_of, attached), *_names(prompt)])
    for name in list(names)[:MOST_LOOKED_FOR]:
        path = os.path.normpath(os.path.join(cwd, name))
        if path.startswith(root + os.sep) and os.path.isfile(path):
            found[os.path.relpath(path, root).replace(os.sep, "/")] = None
    return list(found)[:MOST]


def _path_of(attached: str) -> str:
    """Return the path that a host names; as an address, it has blanks and Chinese in escapes."""
    if not attached.startswith("file://"):
        return attached
    path = unquote(attached.removeprefix("file://"))
    return path.lstrip("/") if os.name == "nt" else path  # a drive comes after the slash


def _names(prompt: str) -> Iterator[str]:
    """Yield what may be names of files: with a dot or a slash, also before a line's number."""
    for word in prompt.split():
        for name in (word.strip(_AROUND), *_PLAIN.findall(word)):
            if "." in name or "/" in name:
                yield name.rstrip(".:")
                yield name.partition(":")[0]


def _root(cwd: str) -> str:
    """Return the folder of the repository around a folder, else the folder itself."""
    folder = os.path.normpath(cwd)
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return os.path.normpath(cwd)
        folder = above
    return folder
