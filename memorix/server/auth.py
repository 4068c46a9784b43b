"""Tell by its token who calls over HTTP, and admit it with the memory it may see."""

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import parse_qs, unquote

import anyio
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from memorix import access
from memorix.access import Access, Right
from memorix.errors import InvalidRequest, MemorixError, NotAllowed
from memorix.server.callers import Caller, current
from memorix.server.guard import (
    BURST,
    CALLS_A_SECOND,
    LONGEST_WAIT_S,
    TRIES_A_SECOND,
    TRIES_AT_ONCE,
    Rate,
    refuse,
    too_many,
)
from memorix.tokens import TokenFile

PROJECT_HEADER = "memorix-project"
PROJECT_PATH = "/projects/"
# Where an SSE client is told to send its messages, so that they carry its project too.

_log = logging.getLogger(__name__)


class Granted(AccessToken):
    """What a valid token grants; `access` is None where that is nothing here."""

    access: Access | None


class Source(Protocol):
    """Where valid tokens come from."""

    async def granted(self, secret: str, now: datetime) -> Granted | None:
        """Return what this secret grants; None where it is not one of ours or not valid now."""
        ...


class NamedTokens:
    """The tokens of `memorix token`."""

    def __init__(self, file: TokenFile) -> None:
        self._file = file

    async def granted(self, secret: str, now: datetime) -> Granted | None:
        token = self._file.find(secret, now)
        if token is None:
            return None
        access = token.access
        return Granted(token="", client_id=access.name, scopes=scopes_of(access), access=access)


def scopes_of(access: Access | None) -> list[str]:
    """Name the rights of a token as OAuth does."""
    return [f"memorix:{right}" for right in Right if access and right <= access.right]


class Verifier:
    """The SDK's `TokenVerifier` over several sources; a source that fails grants nothing."""

    def __init__(
        self,
        sources: Sequence[Source],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._sources, self._clock = sources, clock

    async def verify_token(self, token: str) -> Granted | None:
        for source in self._sources:
            try:
                found = await source.granted(token, self._clock())
            except MemorixError as error:
                _log.error("%s", error)
                continue
            if found:
                return found
        return None


class Admission:
    """Lets requests of known callers through, not too many at a time, and notes who they are.

    `open_to` is who calls without a token where none is asked for.  A caller names its project in
    the query (`?project=`), the header `Memorix-Project` or the path.
    """

    def __init__(self, app: ASGIApp, open_to: Access | None, project: str) -> None:
        self._app, self._open_to, self._project = app, open_to, project
        self._calls, self._tries = Rate(CALLS_A_SECOND, BURST), Rate(TRIES_A_SECOND, TRIES_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        user = scope.get("user")
        granted = user.access_token if isinstance(user, AuthenticatedUser) else None
        caller = granted.access if isinstance(granted, Granted) else self._open_to
        if caller is None:
            return await self._stranger(scope, receive, send)
        wait = self._calls.wait_s(caller.name, LONGEST_WAIT_S)
        if wait > LONGEST_WAIT_S:
            return await too_many(send, wait)
        await anyio.sleep(wait)
        await self._admit(caller, scope, receive, send)

    async def _stranger(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        guesses = "authorization" in Headers(scope=scope) and not scope["user"].is_authenticated
        wait = self._tries.wait_s(client[0] if client else "") if guesses else 0.0
        if wait:
            return await too_many(send, wait)
        await self._app(scope, receive, send)

    async def _admit(self, caller: Access, scope: Scope, receive: Receive, send: Send) -> None:
        asked, path = _project_of(scope)
        try:
            project = access.project_for(caller, asked or self._project)
        except NotAllowed as error:
            return await refuse(send, 403, "insufficient_scope", str(error))
        except InvalidRequest as error:
            return await refuse(send, 400, "invalid_request", str(error))
        token = current.set(Caller(caller, project))
        try:
            await self._app({**scope, "path": path}, receive, send)
        finally:
            current.reset(token)


def _project_of(scope: Scope) -> tuple[str, str]:
    """Return the project that a request names, and the path without it."""
    path: str = scope["path"]
    if path.startswith(PROJECT_PATH):
        project, _, rest = path.removeprefix(PROJECT_PATH).partition("/")
        return project, f"/{rest}"
    query = parse_qs(scope["query_string"].decode("latin-1"), encoding="utf-8")
    named = query.get("project", [""])[0]
    return named or unquote(Headers(scope=scope).get(PROJECT_HEADER, "")), path
