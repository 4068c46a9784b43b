"""Merge a note as git asks its merge driver to: three files in, the merged one in place of ours.

Git starts it once for each note that both sides changed, so it loads no more than it needs.
"""

import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memorix import gitlog
from memorix.errors import NoteUneditable
from memorix.gitprogram import GitFailed
from memorix.merging import SHORTEST, merge
from memorix.note import decode
from memorix.reserved import is_generated

_log = logging.getLogger(__name__)

USAGE = "memorix merge-driver BASE OURS THEIRS [--marker-size N] [--path P]"
MERGED, COLLIDED, REFUSED = 0, 1, 129
# Exit codes that git knows: above 128 it gives up on the whole merge.


def main(words: Sequence[str]) -> int:
    """Run `merge-driver`; return its exit code."""
    rest, options = _options(words)
    size = options["--marker-size"]
    if len(rest) != len(("base", "ours", "theirs")) or not size.isdecimal():
        sys.stderr.write(f"memorix: usage: {USAGE}\n")
        return REFUSED
    base, ours, theirs = map(Path, rest)
    path = options["--path"] or rest[1]
    try:
        conflicts = merge_files(base, ours, theirs, path, int(size) or SHORTEST)
    except (OSError, GitFailed) as error:
        sys.stderr.write(f"memorix: {path} was not merged: {error}\n")
        return REFUSED
    if conflicts:
        sys.stderr.write(f"memorix: {path}: both sides changed {', '.join(conflicts)}\n")
    return COLLIDED if conflicts else MERGED


def _options(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    rest, options = list[str](), {"--marker-size": str(SHORTEST), "--path": ""}
    given = iter(words)
    for word in given:
        name, equals, value = word.partition("=")
        if name in options:
            options[name] = value if equals else next(given, "")
        else:
            rest.append(word)
    return rest, options


def merge_files(
    base: Path, ours: Path, theirs: Path, path: str, size: int = SHORTEST
) -> tuple[str, ...]:
    """Merge three files into the second; return what of both sides stayed, between marks.

    Raises:
        OSError: A file cannot be read or written.
        GitFailed: Git cannot merge lines; nothing was written.
    """
    versions = tuple(file.read_bytes() for file in (base, ours, theirs))
    content, conflicts = merged(versions[0], versions[1], versions[2], path, size)
    if content != versions[1]:
        ours.write_bytes(content)  # git's own scratch file: it renames nothing into place
    return conflicts


def merged(
    base: bytes, ours: bytes, theirs: bytes, path: str, size: int = SHORTEST
) -> tuple[bytes, tuple[str, ...]]:
    """Merge three versions of a note; return its bytes, and what of both sides stayed.

    What cannot be merged by keys, such as metadata that is no YAML, is merged line by line.  A log
    keeps the lines of both sides, and an index that both sides made stays ours until it is made
    anew.

    Raises:
        GitFailed: Git cannot merge lines, as where one is binary.
    """

    def by_lines(*texts: str) -> tuple[str, bool]:
        found, clean = _by_lines([text.encode() for text in texts], size)
        return found.decode(), clean

    read = [decode(content) for content in (base, ours, theirs)]
    name = path.rpartition("/")[2]
    if name == "index.md" and all(is_generated(text) for text, _ in read[1:]):
        return ours, ()
    if name == "log.md":
        return _by_lines([base, ours, theirs], size, union=True)[0], ()
    if not any(odd for _, odd in read):
        try:
            found = merge(read[0][0], read[1][0], read[2][0], path, by_lines, size)
            return found.text.encode(), found.conflicts
        except NoteUneditable:
            pass
        except Exception:  # noqa: BLE001 -- git takes a crash for a collision, and loses theirs
            _log.exception("%s is merged line by line", path)
    text, clean = _by_lines([base, ours, theirs], size)
    return text, () if clean else ("lines",)


def _by_lines(versions: Sequence[bytes], size: int, *, union: bool = False) -> tuple[bytes, bool]:
    with tempfile.TemporaryDirectory(prefix="memorix-") as folder:
        files = [Path(folder, name) for name in ("base", "ours", "theirs")]
        for file, content in zip(files, versions, strict=True):
            file.write_bytes(content)
        return gitlog.merge_file(files[0], files[1], files[2], size, union=union)
