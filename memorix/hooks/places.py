"""Which index and which scopes belong to a folder, remembered from the last time it was asked.

To find that out takes git, TOML and the settings.  What it depended on are a few files: while none
of them changed, the answer is the same.
"""

import os

from memorix.hooks import desk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEPT = 100
_NAMES = ("MEMORIX_", "XDG_", "CLAUDE_PROJECT_DIR")
# The variables that settings depend on.

_TABLE = "places.json"


class Place:
    """Where notes about a folder are: the index, the vault, the scopes read, other folders."""

    __slots__ = ("held", "index", "mounts", "scopes", "vault")

    def __init__(
        self,
        index: str,
        vault: str,
        scopes: "list[str]",
        mounts: "dict[str, str]",
        held: "list[str]",
    ) -> None:
        self.index, self.vault, self.scopes = index, vault, scopes
        self.mounts, self.held = mounts, held

    def file(self, path: str) -> str:
        """Return the file of a note."""
        for prefix, root in self.mounts.items():
            if path.startswith(f"{prefix}/"):
                return os.path.join(root, path[len(prefix) + 1 :])
        return os.path.join(self.vault, path)


def place_of(cwd: str, flags: "dict[str, str | None]") -> Place:
    """Return what belongs to a folder, from the last time if nothing it depends on has changed."""
    table = desk.load(_TABLE)
    key = _key(cwd, flags)
    known = table.get(key)
    if isinstance(known, dict) and all(_stat(p) == seen for p, seen in known["seen"]):
        return Place(**known["place"])
    found = _find_out(cwd, flags)
    seen = [(path, _stat(path)) for path in found.pop("files")]
    others = [(k, v) for k, v in table.items() if k != key][-KEPT:]
    desk.save(_TABLE, dict([*others, (key, {"place": found, "seen": seen})]))
    return Place(**found)


def _key(cwd: str, flags: "dict[str, str | None]") -> str:
    said = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith(_NAMES)]
    return "\n".join([cwd, *(f"{k}:{v}" for k, v in flags.items() if v), *said])


def _stat(path: str) -> "list[int]":
    try:
        found = os.stat(path)
    except OSError:
        return []
    if os.path.isdir(path):  # its time changes with every file in it; that it is there is enough
        return [found.st_ino]
    return [found.st_mtime_ns, found.st_size, found.st_ino]


def _find_out(cwd: str, flags: "dict[str, str | None]") -> "dict[str, Any]":
    """Ask the parts of the engine that know."""
    from memorix import wiring
    from memorix.config import config_path, load

    config = load({**flags, "cwd": cwd})
    found = wiring.where(config)
    folders = [*_up_to(str(config.cwd), str(found.root)), str(config.vault / "projects")]
    names = (".git", ".git/config", ".memorix.toml")
    files = [os.path.join(folder, name) for folder in folders for name in names]
    files += [str(config.vault / "projects" / scope / ".memorix.toml") for scope in found.scopes]
    return {
        "index": str(found.index),
        "vault": str(config.vault),
        "scopes": list(found.scopes),
        "mounts": {prefix: str(root) for prefix, root in found.mounts.items()},
        "held": list(found.held),
        "files": [str(config_path()), *files],
    }


def _up_to(cwd: str, root: str) -> "list[str]":
    folders = [cwd]
    while folders[-1] != root and os.path.dirname(folders[-1]) != folders[-1]:
        folders.append(os.path.dirname(folders[-1]))
    return folders
