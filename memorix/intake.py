"""Decide how the notes of another bundle become notes of this vault.

Their bytes, ids, authors and dates stay.  What does not come along is their trust: who checked a
note elsewhere has not checked it here, so `verified` becomes `verified_at_source`, which is kept
as history and counts for nothing.
"""

import base64
import binascii
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from memorix.checking import is_concept, with_sound_block
from memorix.editing import rename_key, set_keys
from memorix.errors import NoteUneditable
from memorix.frontmatter import cut, read_block
from memorix.layout import PROJECTS, USER
from memorix.note import decode
from memorix.yamltext import Value

VERIFIED, VERIFIED_THERE = "verified", "verified_at_source"

LINES = "memorix-note/1"
# What each line of an export as JSON Lines says it is.

TIMES_IN, UTC_TIMES = "times_in", "UTC"
# A key that says which zone times without an offset are in, where a program takes no offset.

_FORBIDDEN = re.compile(r'[\\:*?"<>|\x00-\x1f]')


@dataclass(frozen=True, slots=True)
class Incoming:
    """A file on its way in: the vault path it is to have, and its bytes; `trusted` as they are."""

    path: str
    content: bytes
    trusted: bool = False


def incoming(
    files: Iterable[tuple[str, bytes]], root: str, source: str, *, trusted: bool = False
) -> Iterator[Incoming]:
    """Yield the files of a bundle as they are to be in the vault, below `root`, in their order.

    `source` names where they come from.  `trusted` takes them as they are, as when a vault of
    one's own is put back.
    """
    for path, content in files:
        changed = content if trusted or not is_concept(path) else as_taken_in(content, path, source)
        yield Incoming(portable(f"{root}/{path}".lstrip("/")), changed, trusted)


def from_line(entry: Mapping[str, object]) -> tuple[str, bytes] | None:
    """Return the path and the bytes of the file that a line of an export holds; None for another
    line, or a damaged one."""
    path, front, body = (entry.get(key) for key in ("path", "front", "body"))
    packed = entry.get("base64")
    if entry.get("format") != LINES or not isinstance(path, str) or not _is_in_vault(path):
        return None
    if isinstance(packed, str):
        try:
            return path, base64.b64decode(packed, validate=True)
        except (binascii.Error, ValueError):
            return None
    if isinstance(front, str) and isinstance(body, str):
        return path, (front + body).encode("utf-8", "replace")
    return None


def is_vault(paths: Collection[str]) -> bool:
    """Say whether paths are those of a whole vault, `user/...` and `projects/<name>/...`."""
    return bool(paths) and all(map(_is_in_vault, paths))


def _is_in_vault(path: str) -> bool:
    first, *rest = path.split("/")
    return first in (USER, PROJECTS) and ".." not in rest


def as_taken_in(content: bytes, path: str, source: str) -> bytes:
    """Mark a note as imported, once and for all; a note that cannot be edited stays as it is.

    Values that break the YAML are quoted on the way, so that all of the note is read from now on.
    """
    content = with_sound_block(content)
    text, odd = decode(content)
    if odd or not text.strip():
        return content
    meta = read_block(cut(text).block).values
    marks: dict[str, Value] = {} if meta.get("type") else {"type": "Note"}
    if "origin" not in meta:
        marks["origin"] = "imported"
    if meta.get("origin", "imported") == "imported" and "imported_from" not in meta:
        marks["imported_from"] = source
    try:
        text = rename_key(text, VERIFIED, VERIFIED_THERE, path)
        return set_keys(text, marks, path).encode()
    except NoteUneditable:
        return content


def portable(path: str) -> str:
    """Return a path of which every system can make a file, and which is not hidden."""
    parts = [_FORBIDDEN.sub("-", part).rstrip(" .") for part in path.split("/")]
    return "/".join(part if part and part[0] not in ".~" else f"_{part[1:]}" for part in parts)
