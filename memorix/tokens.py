"""The tokens that the HTTP server takes: names, rights and digests, in one private file."""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock

from memorix.access import Access, right_named
from memorix.errors import ConfigInvalid, InvalidRequest, MemorixError
from memorix.files import write_atomic

PREFIX = "memorix_"
# So that scanners of repositories and logs can tell a leaked one.

SECRET_BYTES = 32
# Nobody guesses 256 bits, so a plain digest keeps them as well as a slow one would.

VERSION = 1
LOCK_TIMEOUT_S = 10


@dataclass(frozen=True, slots=True)
class Token:
    """A token as the file knows it; the secret itself is shown once and kept nowhere."""

    access: Access
    digest: str
    created: datetime
    expires: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        return self.expires is None or now < self.expires


class TokenFile:
    """The tokens of a user.  A change counts at once, also for servers that run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._tokens: tuple[Token, ...] = ()

    def all(self) -> tuple[Token, ...]:
        """Return every token, also those that have expired, by name.

        Raises:
            ConfigInvalid: The file is damaged, or others may read it.
        """
        try:
            stat = self.path.stat()
        except OSError:
            return ()
        seen = stat.st_mtime_ns, stat.st_size, stat.st_ino
        if seen != self._seen:
            if os.name != "nt" and stat.st_mode & 0o077:
                raise ConfigInvalid([f"{self.path}: others may read it. Run chmod 600 on it"])
            self._tokens = tuple(_parsed(self.path))
            self._seen = seen
        return self._tokens

    def add(self, access: Access, now: datetime, expires: datetime | None = None) -> str:
        """Make a token and return its secret.

        Raises:
            InvalidRequest: There is a token of this name, or the name is not plain.
        """
        if not access.name.isprintable() or not access.name.strip():
            raise InvalidRequest("A token needs a plain name, such as laptop.")
        secret = PREFIX + secrets.token_urlsafe(SECRET_BYTES)
        with self._changing() as tokens:
            if any(token.access.name == access.name for token in tokens):
                raise InvalidRequest(
                    f"There is a token {access.name!r}. Revoke it, or take another name."
                )
            tokens.append(Token(access, _digest(secret), now, expires))
        return secret

    def revoke(self, name: str) -> None:
        """Take a token out of force.

        Raises:
            InvalidRequest: There is no token of this name.
        """
        with self._changing() as tokens:
            left = [token for token in tokens if token.access.name != name]
            if len(left) == len(tokens):
                known = ", ".join(token.access.name for token in tokens) or "none"
                raise InvalidRequest(f"There is no token {name!r}. There are: {known}.")
            tokens[:] = left

    def find(self, secret: str, now: datetime) -> Token | None:
        """Return the valid token with this secret; every one is compared, in constant time."""
        digest = _digest(secret)
        found = None
        for token in self.all():
            if hmac.compare_digest(token.digest, digest) and token.is_valid(now):
                found = token
        return found

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_suffix(".lock"), timeout=LOCK_TIMEOUT_S):
                tokens = list(self.all())
                yield tokens
                content = json.dumps(_as_data(tokens), ensure_ascii=False, indent=1) + "\n"
                write_atomic(self.path, content.encode(), private=True)
        except OSError as error:
            raise ConfigInvalid([f"{self.path}: cannot be written ({error})"]) from error


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _as_data(tokens: list[Token]) -> dict[str, Any]:
    rows = [
        {
            "name": token.access.name,
            "sha256": token.digest,
            "right": str(token.access.right),
            "scopes": sorted(token.access.scopes),
            "created": token.created.isoformat(),
            "expires": token.expires.isoformat() if token.expires else None,
        }
        for token in sorted(tokens, key=lambda token: token.access.name)
    ]
    return {"version": VERSION, "tokens": rows}


def _parsed(path: Path) -> Iterator[Token]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["version"] != VERSION:
            raise ConfigInvalid([f"{path}: was made by a newer Memorix. Update Memorix"])
        for row in data["tokens"]:
            yield _token(row)
    except (OSError, ValueError, TypeError, KeyError, MemorixError) as error:
        if isinstance(error, ConfigInvalid):
            raise
        raise ConfigInvalid(
            [f"{path}: is no list of tokens ({error}). Remove it, and make the tokens anew"]
        ) from error


def _token(row: dict[str, Any]) -> Token:
    access = Access(row["name"], right_named(row["right"]), frozenset(row["scopes"]))
    expires = row["expires"]
    return Token(
        access,
        row["sha256"],
        datetime.fromisoformat(row["created"]).astimezone(UTC),
        datetime.fromisoformat(expires).astimezone(UTC) if expires else None,
    )
