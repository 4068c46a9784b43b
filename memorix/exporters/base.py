"""What every exporter offers, and what it is given.

An exporter is pure: from the same notes it makes the same bytes, without a clock, a random number
or a look at any file.  What is private or secret is out of the notes before it sees them.

Notes may have more text than fits into memory: an exporter takes them one by one, twice where it
has to, and keeps of each no more than its name and its links.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from memorix.note import Note

Files: TypeAlias = Iterator[tuple[str, bytes]]
# (path below the target with forward slashes, the next bytes of that file); the pieces of a file
# follow one another.

Form: TypeAlias = Literal["folder", "file", "block"]
# What an export is: a folder, which is packed where the target is named .zip, .tar.gz or .tgz; one
# file, whose path does not matter; or a block of lines within a file that somebody else writes,
# framed as `memorix.blocks` has it.


@dataclass(frozen=True, slots=True)
class Reference:
    """A link of a note: `target` and `label` as written, the `relation` it stands for, if any.

    `path` is that of the note it leads to, where that note is exported too; else it is empty, as
    for a note that stays in the vault, one that is not written yet, and a name of several notes.
    """

    target: str
    label: str = ""
    relation: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A note that is exported: its file's bytes, the same as read, its scope, and its links.

    `note.path` is the one in the vault, below the folder of the scope; `note.meta` has all keys.
    """

    note: Note
    content: bytes
    scope: str
    links: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """All that is exported: notes sorted by scope and path, and a `title` for the whole.

    A note is read when it is asked for, and is the same each time.
    `scopes` are those that were asked for, none where it was all there are.  `pages` are the files
    beside the notes, index.md and log.md, by their path in the vault; there are none where only
    some notes of the scopes were chosen.
    """

    notes: Sequence[Outgoing]
    title: str = "Memory"
    scopes: tuple[str, ...] = ()
    pages: Mapping[str, bytes] = field(default_factory=dict)


class Exporter(Protocol):
    """One format: its name for `--to`, a line about it, and how notes are written in it.

    A format that keeps `everything`, such as one for a backup, is also given what is out of force
    and what waits in the inbox, unless it is asked for what is current only.
    """

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def form(self) -> Form: ...

    @property
    def everything(self) -> bool: ...

    def files(self, chosen: Chosen) -> Files:
        """Yield the files of the export."""
        ...
