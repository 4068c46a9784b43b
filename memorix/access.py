"""What a caller of the HTTP server may do, and in which scopes: decisions about rights."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from memorix.errors import InvalidRequest, NotAllowed
from memorix.layout import USER


class Right(IntEnum):
    """Each holds those before it: reading, writing what can be taken back, and erasing."""

    READ = 1
    WRITE = 2
    ADMIN = 3

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Access:
    """What one caller may do; without `scopes` it holds in every scope."""

    name: str
    right: Right
    scopes: frozenset[str] = frozenset()

    def reaches(self, scope: str) -> bool:
        return not self.scopes or scope in self.scopes


def right_named(text: str) -> Right:
    """Return a right by its name.

    Raises:
        InvalidRequest: There is no such right.
    """
    try:
        return Right[text.strip().upper()]
    except KeyError:
        raise InvalidRequest(f"{text!r} is no right. Use read, write or admin.") from None


def right_for(reads_only: bool, arguments: Mapping[str, Any]) -> Right:
    """Return the right that a call of a tool takes; what cannot be taken back takes the most."""
    if reads_only:
        return Right.READ
    level = arguments.get("level")
    return Right.ADMIN if isinstance(level, str) and level.strip() == "erase" else Right.WRITE


def check(access: Access, needed: Right, what: str) -> None:
    """Let a caller pass who has the right.

    Raises:
        NotAllowed: It has not.
    """
    if access.right < needed:
        raise NotAllowed(
            f"{what} takes the right to {_DOES[needed]}, and this token has only {access.right}. "
            "Nothing was changed. Ask whoever runs the server for another token."
        )


_DOES = {Right.READ: "read", Right.WRITE: "write", Right.ADMIN: "administer"}


def project_for(access: Access, asked: str) -> str:
    """Return the project a caller works in: the one it names, else the only one it reaches.

    Empty means none: then it works in the user's scope.

    Raises:
        InvalidRequest: That is no name of a project.
        NotAllowed: Its token does not reach the project.
    """
    name = asked.strip()
    if name and name != USER:
        if not is_plain(name):
            raise InvalidRequest(f"{name!r} is no name of a project.")
        if not access.reaches(name):
            raise NotAllowed(f"This token does not reach the project {name!r}.")
        return name
    projects = sorted(access.scopes - {USER})
    return projects[0] if len(projects) == 1 and not name else ""


def is_plain(scope: str) -> bool:
    """Say whether a text can be the name of a scope: one folder, visible, no word of ours."""
    letters = scope.isprintable() and not _NOT_IN_NAMES & set(scope)
    return bool(scope) and letters and scope[0] not in ".~" and scope not in _TAKEN


_NOT_IN_NAMES = frozenset('/\\:*?"<>|')
_TAKEN = frozenset({"all", "project"})
# Words by which tools name scopes.
