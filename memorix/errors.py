"""Every error that Memorix raises on purpose.

    MemorixError                 exit code 1
    ├── InvalidRequest           2   an argument that cannot be taken as it is
    │   ├── LimitReached         2   more, larger or faster than the settings allow
    │   ├── SecretRefused        2   a text with a key or password, where they are refused
    │   ├── UnsafePath           2   a path that would leave the vault
    │   ├── OnlyRead             2   a file of a host, which is read and never written
    │   └── NotAllowed           2   a caller's token does not reach so far
    ├── ConfigInvalid            2   settings that contradict each other or cannot be read
    ├── NoteNotFound             3   no note has this id
    ├── NoteChanged              4   the file is not what the caller has read
    ├── UndoRefused              4   the files are not what the change left
    ├── SelectionChanged         4   other notes fit than those that were shown
    ├── NoteUneditable           5   a file whose metadata cannot be parsed is never rewritten
    ├── VaultUnavailable         6   the notes folder is missing, unreadable or read-only
    ├── IndexUnavailable         7   the database is busy, full, foreign or newer than we are
    │   └── IndexDamaged         7   the database cannot be read, and is made anew
    ├── ModelUnavailable         8   the embedding model cannot be loaded
    ├── HostFileRefused          9   a host's file cannot be read, edited or written
    └── ServerUnavailable       10   the HTTP server cannot be started as asked

A message is one or two sentences for a person: what is wrong, then what to do next.
"""

from collections.abc import Sequence
from typing import ClassVar


class MemorixError(Exception):
    """Base of all errors raised on purpose; its text is fit for a user."""

    exit_code: ClassVar[int] = 1


class InvalidRequest(MemorixError):
    """An argument cannot be taken as it is."""

    exit_code = 2


class LimitReached(InvalidRequest):
    """Something is more than the settings allow; `setting` names the one that says so."""

    def __init__(self, said: str, setting: str, advice: str) -> None:
        way = f", or raise the setting {setting}" if setting else ""
        super().__init__(f"{said}. Nothing was written. {advice}{way}.")
        self.setting = setting


class SecretRefused(InvalidRequest):
    """A text holds what looks like a secret; `labels` say what, never the text."""

    def __init__(self, labels: Sequence[str]) -> None:
        super().__init__(
            f"This holds what looks like a secret: {', '.join(labels)}. Nothing was kept. Leave it "
            'out and say where it is kept instead; the setting `secrets = "mask"` does the former.'
        )
        self.labels = tuple(labels)


class UnsafePath(InvalidRequest):
    """A path would leave the vault, or is not a plain relative path."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path!r} is not a plain path inside the vault. "
            "Use a note's id, or its path as shown by recall."
        )
        self.path = path


class OnlyRead(InvalidRequest):
    """A file belongs to a host; the memory reads it and never writes it."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} is a file that a host keeps, and is only read here. Nothing was changed. Edit "
            "that file itself, or take it out with `memorix source remove`."
        )
        self.path = path


class NotAllowed(InvalidRequest):
    """A caller of the HTTP server may not do this, or not there."""


class ConfigInvalid(MemorixError):
    """Settings cannot be read or contradict each other; all problems are listed together."""

    exit_code = 2

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


class NoteNotFound(MemorixError):
    """No note has this id; `near` holds (id, title) of the closest ones."""

    exit_code = 3

    def __init__(self, wanted: str, near: Sequence[tuple[str, str]] = ()) -> None:
        advice = (
            "Nearest: " + "; ".join(f"{note_id} ({title})" for note_id, title in near) + ". "
            if near
            else ""
        )
        super().__init__(
            f"There is no note {wanted!r}. Nothing was changed. {advice}"
            "Use an id exactly as recall returns it."
        )
        self.wanted = wanted
        self.near = tuple(near)


class NoteChanged(MemorixError):
    """A note's file is not the version that the caller has read; `since` tells what it says now."""

    exit_code = 4

    def __init__(self, path: str, expected: str | None, found: str | None, since: str = "") -> None:
        what = (
            "exists already"
            if expected is None
            else ("is gone" if found is None else "has changed since it was read")
        )
        seen = f" Its etag is {found} now. {since}\n" if since else " "
        super().__init__(
            f"{path} {what}. Nothing was written.{seen}Read it again and repeat with the new etag."
        )
        self.path = path
        self.expected = expected
        self.found = found
        self.since = since


class UndoRefused(MemorixError):
    """A change cannot be undone, because its files are not what it left; nothing was written."""

    exit_code = 4


class SelectionChanged(MemorixError):
    """Other notes fit than those that the token stands for; nothing was changed."""

    exit_code = 4

    def __init__(self, count: int, token: str) -> None:
        super().__init__(
            "The notes that fit are not those of this token: some were added, changed or removed. "
            f"Nothing was changed. {count} fit now; look at them, then repeat with {token}."
        )
        self.token = token


class NoteUneditable(MemorixError):
    """A note's metadata cannot be parsed, so an edit could damage it."""

    exit_code = 5

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"{path} was not changed: {reason}. Mend the file in an editor, then try again."
        )
        self.path = path
        self.reason = reason


class VaultUnavailable(MemorixError):
    """The notes folder is missing, unreadable or read-only."""

    exit_code = 6


class IndexUnavailable(MemorixError):
    """The index database is busy, full, not ours, or newer than this version."""

    exit_code = 7


class IndexDamaged(IndexUnavailable):
    """The index database cannot be read; it is made anew from the notes."""


class ModelUnavailable(MemorixError):
    """An embedding model cannot be found or loaded."""

    exit_code = 8


class HostFileRefused(MemorixError):
    """A file of a host cannot be read, edited or written; it was left as it is."""

    exit_code = 9

    def __init__(self, path: object, line: int, reason: str) -> None:
        where = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{where}: {reason}. It was not changed. Mend it, then try again.")
        self.path = path
        self.line = line
        self.reason = reason


class ServerUnavailable(MemorixError):
    """The HTTP server cannot be started as asked: its address, its tokens or its certificate."""

    exit_code = 10
