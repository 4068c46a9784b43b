"""Let git merge the notes of a vault note by note: what it needs for that, put in and taken out.

Git needs a line in `.gitattributes`, which is committed and so reaches every clone, and the command
of the driver in the configuration of each clone.  A clone without the latter merges as it always
did.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memorix import gitlog
from memorix.errors import InvalidRequest
from memorix.files import write_atomic
from memorix.gitprogram import GitFailed
from memorix.store import Store

ATTRIBUTES, LINE = ".gitattributes", "*.md merge=memorix"
SECTION = "merge.memorix"
TITLE = "notes of Memorix, key by key"
ARGUMENTS = "merge-driver %O %A %B --marker-size %L --path %P"

_SAMPLE = "note.md"
# A name that stands for every note, to ask git what holds of them.


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of notes in a repository: its root, and whether each of the two is in place.

    `effective` is whether git really takes the driver for notes there: another line of attributes
    may say otherwise.
    """

    place: Path
    root: Path
    attributes: bool
    driver: bool
    effective: bool

    @property
    def missing(self) -> tuple[str, ...]:
        """What is not in place, in words."""
        said = {
            f"{ATTRIBUTES} does not say `{LINE}`": not self.attributes,
            "this clone does not know the driver": not self.driver,
            "another line of attributes says otherwise": self.attributes and not self.effective,
        }
        return tuple(what for what, holds in said.items() if holds)


def look(store: Store, command: Sequence[str]) -> list[Folder]:
    """Return the folders of the vault that lie in a repository; `command` starts this program.

    Raises:
        InvalidRequest: None does, or git is not installed.
    """
    found = [
        _looked_at(place, root, command)
        for place in store.roots()
        if (root := gitlog.root_of(place)) is not None
    ]
    if not found:
        raise InvalidRequest(
            f"{store.vault} lies in no git repository, or git is not installed. `git init` makes "
            "one of it."
        )
    return found


def put(folder: Folder, command: Sequence[str]) -> None:
    """Let git merge the notes of a folder by us.

    Raises:
        InvalidRequest: Git or the disk refuses.
    """
    file = folder.place / ATTRIBUTES
    try:
        gitlog.configure(folder.root, f"{SECTION}.name", TITLE)
        gitlog.configure(folder.root, f"{SECTION}.driver", driver(command))
        write_atomic(file, with_line(_bytes(file).decode("utf-8", "surrogateescape")))
    except (GitFailed, OSError) as error:
        raise InvalidRequest(f"{folder.root} was not set up: {error}.") from error


def take(folder: Folder) -> None:
    """Take out what `put` put in, and nothing else.

    Raises:
        InvalidRequest: Git or the disk refuses.
    """
    file = folder.place / ATTRIBUTES
    try:
        gitlog.forget_section(folder.root, SECTION)
        text = without_line(_bytes(file).decode("utf-8", "surrogateescape"))
        if text:
            write_atomic(file, text)
        else:
            file.unlink(missing_ok=True)
    except (GitFailed, OSError) as error:
        raise InvalidRequest(f"{folder.root} was not set back: {error}.") from error


def driver(command: Sequence[str]) -> str:
    """Return the command for git's shell; where the program is gone, git merges as without it.

    Git would else leave our side alone in the file.
    """
    plain = "git merge-file --marker-size=%L %A %O %B"
    program = shlex.quote(command[0])
    return f"if test -x {program}; then {shlex.join(command)} {ARGUMENTS}; else {plain}; fi"


def with_line(text: str) -> bytes:
    """Return the attributes with our line at their end, or as they are where they have it.

    A text that has no last line end gets none below our line either; `without_line` goes by that.
    """
    end = "\r\n" if "\r\n" in text else "\n"
    if _has_line(text):
        new = text
    elif text and not text.endswith("\n"):
        new = f"{text}{end}{LINE}"
    else:
        new = f"{text}{LINE}{end}"
    return new.encode("utf-8", "surrogateescape")


def without_line(text: str) -> bytes:
    """Return the attributes as they were without our line."""
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if line.strip() != LINE]
    if lines and lines[-1] == LINE and kept:
        kept[-1] = kept[-1].rstrip("\r\n")
    return "".join(kept).encode("utf-8", "surrogateescape")


def _looked_at(place: Path, root: Path, command: Sequence[str]) -> Folder:
    text = _bytes(place / ATTRIBUTES).decode("utf-8", "surrogateescape")
    set_to = gitlog.setting(root, f"{SECTION}.driver")
    asked = gitlog.attribute(root, "merge", place / _SAMPLE)
    return Folder(place, root, _has_line(text), set_to == driver(command), asked == "memorix")


def _has_line(text: str) -> bool:
    return any(line.strip() == LINE for line in text.splitlines())


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
