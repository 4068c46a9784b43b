"""The formats an export can have, by the name of its target."""

from pathlib import Path

from memorix.exchange.base import Files, Writer
from memorix.exchange.bundle import write_folder, write_tar, write_zip
from memorix.exchange.jsonl import write_lines

BY_SUFFIX: dict[str, Writer] = {
    ".jsonl": write_lines,
    ".zip": write_zip,
    ".tar.gz": write_tar,
    ".tgz": write_tar,
}


def write(files: Files, target: Path) -> int:
    """Write notes to a target in the format of its name; a plain name is a folder.

    Raises:
        InvalidRequest: The target exists already.
    """
    for suffix, writer in BY_SUFFIX.items():
        if target.name.endswith(suffix):
            return writer(files, target)
    return write_folder(files, target)
