"""What the uses of the memory return."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memorix.index.base import Counts
from memorix.note import Note

if TYPE_CHECKING:  # its locks take long to import, and a hook needs none
    from memorix.committing import State
    from memorix.sync import FollowerState


@dataclass(frozen=True, slots=True)
class Near:
    """An existing note that resembles what was just written.

    `differs` says in which values or words; `conflict` that both cannot hold.
    """

    id: str
    title: str
    gist: str
    differs: str = ""
    conflict: bool = False
    etag: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did.

    `status` is created, suggested, accepted, already known or possible conflict; forgotten where
    nothing was written because it was erased once; revised,
    superseded, filed as history, contested or merged; planned after a dry run.  `vector` is `yes`,
    `pending`, or `off` where no model is in use.  `superseded` are the ids of the notes it
    replaces, `steps` what was done to which file, `settle` the calls by which a possible conflict
    ends, `masked` the kinds of secrets left out.
    """

    id: str
    path: str
    etag: str
    status: str
    scope: str
    vector: str
    near: tuple[Near, ...] = ()
    superseded: str = ""
    steps: tuple[str, ...] = ()
    settle: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()


def forgotten_on(day: str, scope: str) -> Written:
    """Return what a write did that was not to bring back what was forgotten for good."""
    way = f"forgotten on {day}; if the user wants it back, remember it with again=true"
    return Written("", "", "", "forgotten", scope, "no", settle=(way,))


@dataclass(frozen=True, slots=True)
class Linked:
    """The other end of a link; `state` is empty, `pending` (no such note yet) or `ambiguous`."""

    title: str
    id: str = ""
    relation: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A note as its file says now, with the notes it links to and those that link to it.

    `trust` is OKF's tier; `flags` say `stale` where a re-check is due, and `changed since` where
    the text was changed after it was confirmed.
    """

    note: Note
    etag: str
    scope: str
    trust: str = "unverified"
    flags: tuple[str, ...] = ()
    links: tuple[Linked, ...] = ()
    backlinks: tuple[Linked, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """A note's new path; `repaired` are notes whose links follow it, `left` those whose do not."""

    id: str
    path: str
    old_path: str
    etag: str
    repaired: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """What an import did with a file: new, known, changed, conflicting, forgotten, refused or
    unreadable; and why."""

    path: str
    status: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote; `masked` are (path, kind of secret), `stayed` (path, why it stayed)."""

    target: Path
    format: str
    notes: int
    files: int
    masked: tuple[tuple[str, str], ...] = ()
    stayed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was done, or with a dry run would be done, to forget a note.

    Of a selection there is no `id` but all `ids`, and the `token` with which it is carried out.
    """

    id: str
    path: str
    level: str
    steps: tuple[str, ...]
    done: bool
    token: str = ""
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a vault and its index; `waiting` counts the suggestions to be reviewed.

    `commits` says what is not committed yet; None where nothing is to be.
    """

    vault: Path
    index: Path
    scopes: tuple[str, ...]
    project: str
    project_by: str
    counts: Counts
    model: str
    vector_search: str
    following: "FollowerState | None"
    trouble: str = ""
    warnings: tuple[tuple[str, str, int, str], ...] = ()
    waiting: int = 0
    reranker: str = "off"
    commits: "State | None" = None
