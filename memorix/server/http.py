"""Serve many clients over HTTP: who may, at which address, and until when."""

import logging
import socket
import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import h11
import uvicorn
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.routes import (
    build_resource_metadata_url,
    create_protected_resource_routes,
)
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from memorix import __version__, served
from memorix.access import Access, Right
from memorix.config import Config
from memorix.errors import ServerUnavailable
from memorix.server import oauth
from memorix.server.app import build, level, running
from memorix.server.auth import Admission, NamedTokens, Source, Verifier
from memorix.server.background import Background
from memorix.server.callers import Gate, current, is_writing, reach
from memorix.server.counting import Counting
from memorix.server.guard import KnownNames, Names, Patience, is_loopback
from memorix.server.resources import Notices
from memorix.server.sessions import MESSAGES, Sse, Streamable
from memorix.server.turns import Turns, limit_threads
from memorix.tokens import TokenFile

SCOPE = "memorix:read"
# What a token must have at the least to be let in at all.

PATH, SSE_PATH = "/mcp", "/sse"

TIMEOUT_S = 20.0
FAREWELL_S = 1
# For open streams to end by themselves once the server is told to stop.

MAX_CONNECTIONS = 900
# Below the usual 1,024 open files of a process, with room for the index.

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Options:
    """How to serve.  `open_to_all` asks for no token; `timeout_s` is how long a client may take to
    send its request, or to read the next piece of its answer."""

    host: str
    port: int
    sse: bool = False
    open_to_all: bool = False
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None
    timeout_s: float = TIMEOUT_S
    issuer: oauth.Issuer | None = None


def serve(config: Config, tokens: TokenFile, options: Options) -> None:
    """Serve until told to stop by a signal; what is to be known of it goes to stderr.

    Raises:
        ServerUnavailable: The address, the tokens or the certificate do not allow it.
        ConfigInvalid: The tokens cannot be read.
    """
    refuse_what_is_unsafe(options, bool(tokens.all()))
    _start_logging(config)
    background = Background(config, attached=False)
    listening = _listening(options.host, options.port)
    try:
        options = _with_own_url(options, listening.getsockname()[1])
        server = _Server(_uvicorn(application(config, background, tokens, options), options))
        server.ready = lambda: _say_where(options, listening.getsockname()[1])
        server.leaving = background.leave_soon
        with _announced(config, options, listening.getsockname()[1]):
            server.run(sockets=[listening])
    finally:
        background.stop()


@contextmanager
def _announced(config: Config, options: Options, port: int) -> Iterator[None]:
    """Let the doctor know of this server, at an address that this machine reaches it by."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(options.host, options.host)
    reached = url(host, port, secure=options.certificate is not None)
    with ExitStack() as stack:
        try:
            told = served.Served(reached, __version__, datetime.now(UTC))
            stack.enter_context(served.announced(config.state_dir, told))
        except OSError as error:
            _log.warning("the doctor cannot be told of this server: %s", error)
        yield


def _with_own_url(options: Options, port: int) -> Options:
    """Fill in what tokens of an issuer name as their audience, where nothing else was given."""
    if options.issuer is None:
        return options
    own = url(options.host, port, secure=options.certificate is not None)
    issuer = replace(options.issuer, resource=options.issuer.resource or own)
    oauth.check(issuer)
    return replace(options, issuer=issuer)


def refuse_what_is_unsafe(options: Options, has_tokens: bool) -> None:
    """Let through what keeps the notes from strangers.

    Raises:
        ServerUnavailable: Anybody could read the notes, or nobody.
    """
    if options.open_to_all and not is_loopback(options.host):
        raise ServerUnavailable(
            f"{options.host} can be reached from other machines, so tokens are needed there. "
            "Leave out --no-token, or serve 127.0.0.1."
        )
    if not (options.open_to_all or has_tokens or options.issuer):
        raise ServerUnavailable(
            "There is no token yet, so nobody could use the server. Make one: "
            "`memorix token add NAME --write`. It is shown once; give it to the client."
        )
    if bool(options.certificate) != bool(options.key):
        raise ServerUnavailable("TLS takes two files: --tls-cert and --tls-key.")


def application(
    config: Config, background: Background, tokens: TokenFile, options: Options
) -> ASGIApp:
    """Make the ASGI application."""
    gate, notices = Gate(background.memory), Notices(reach)
    counting = Counting(background.memory, lambda: current.get().access.name)
    turns = Turns(is_writing)
    through = [counting.middleware, gate.middleware, turns.middleware]
    server = build(config, gate.memory, notices, through)
    gate.server = server
    low = server._lowlevel_server
    streamable, sse = Streamable(low), Sse(low) if options.sse else None

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        limit_threads()
        async with streamable.run(), running(background, notices, counting):
            yield

    sources: list[Source] = [] if options.open_to_all else [NamedTokens(tokens)]
    if options.issuer:
        sources.append(oauth.SignedTokens(options.issuer))
    everyone = Access("anyone here", Right.ADMIN) if options.open_to_all else None
    names = Names(options.host, frozenset(options.hosts), frozenset(options.origins))
    return Starlette(
        routes=_routes(streamable, sse, options, background),
        lifespan=lifespan,
        middleware=[
            Middleware(Noted),
            Middleware(KnownNames, names=names),
            Middleware(Patience, timeout_s=options.timeout_s),
            Middleware(AuthenticationMiddleware, backend=BearerAuthBackend(Verifier(sources))),
            Middleware(AuthContextMiddleware),
            Middleware(Admission, open_to=everyone, project=config.project),
        ],
    )


def _routes(
    streamable: Streamable, sse: Sse | None, options: Options, background: Background
) -> list[BaseRoute]:
    issuer = options.issuer
    described = build_resource_metadata_url(_urls(issuer)[0]) if issuer else None

    def known(app: ASGIApp) -> ASGIApp:
        return app if options.open_to_all else RequireAuthMiddleware(app, [SCOPE], described)

    async def health(_: Request) -> Response:
        trouble = background.trouble
        state = {"status": "unavailable" if trouble else "ok"}
        return JSONResponse(state, 503 if trouble else 200)

    routes: list[BaseRoute] = [
        Route(served.HEALTH_PATH, health, methods=["GET"]),
        Route(PATH, known(streamable)),
    ]
    if issuer:
        resource, server = _urls(issuer)
        rights = [f"memorix:{right}" for right in Right]
        routes += create_protected_resource_routes(resource, [server], rights, "Memorix")
    if sse:
        routes.append(Route(SSE_PATH, known(_App(sse.stream)), methods=["GET"]))
        routes.append(Mount(MESSAGES, known(sse.message)))
    return routes


def _urls(issuer: oauth.Issuer) -> tuple[AnyHttpUrl, AnyHttpUrl]:
    """Return the URLs of this server and of the issuer, in the spelling they were given."""
    given = {"issuer_url": issuer.url, "resource_server_url": issuer.resource}
    settings = AuthSettings.model_validate(given | {"validate_token_resource": False})
    assert settings.resource_server_url is not None
    return settings.resource_server_url, settings.issuer_url


class _App:
    """An ASGI application that Starlette does not take for a function of a request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class Noted:
    """Logs each request: what, how it ended, how long it took; never a token, a query or a body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        began, status = time.monotonic(), 0

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            took = (time.monotonic() - began) * 1000
            _log.info("%s %s %d %.0f ms", scope["method"], ascii(scope["path"]), status, took)


class _Server(uvicorn.Server):
    """Ends with exit code 0 when told to; uvicorn would send itself the signal again."""

    ready: Callable[[], None]
    leaving: Callable[[], None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.leaving()
        self.force_exit = self.should_exit
        self.should_exit = True


class _Protocol(H11Protocol):
    """Closes connections on which no request, or only the beginning of one, arrives in time."""

    timeout_s = TIMEOUT_S
    _waiting: Any = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # asyncio does so only for sockets that it made; else small answers wait 40 ms for an ACK.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._mind()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._mind()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._waiting:
            self._waiting.cancel()

    def _mind(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            if self._waiting:
                self._waiting.cancel()
                self._waiting = None
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.timeout_s, self.transport.close)


def _uvicorn(app: ASGIApp, options: Options) -> uvicorn.Config:
    protocol = type("Protocol", (_Protocol,), {"timeout_s": options.timeout_s})
    made = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # anybody can write them
        server_header=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=FAREWELL_S,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
    )
    try:
        made.load()
    except OSError as error:  # ssl's own errors are among them
        raise ServerUnavailable(
            f"{options.certificate} and {options.key} cannot be used for TLS: {error}."
        ) from error
    return made


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        raise ServerUnavailable(
            f"{host} port {port} cannot be served: {error}. Is another server there? "
            "Choose another with --port."
        ) from error


def _start_logging(config: Config) -> None:
    """Log to stderr; of the libraries only warnings, for they log what is in notes and requests."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Discreet("memorix: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("memorix").setLevel(level(config))


class _Discreet(logging.Formatter):
    """Tells where an error came from, but not what it says: it may quote what clients sent."""

    def formatException(self, ei: Any) -> str:
        told, error = "", ei[1]
        while error is not None:
            frames = "".join(traceback.format_tb(error.__traceback__))
            told = f"{frames}{type(error).__name__}\n{told}"
            error = error.__cause__ or error.__context__
        return told.rstrip()


def url(host: str, port: int, *, secure: bool, path: str = PATH) -> str:
    """Return under which URL a server is reached."""
    name = f"[{host}]" if ":" in host else host
    return f"{'https' if secure else 'http'}://{name}:{port}{path}"


def _say_where(options: Options, port: int) -> None:
    secure = options.certificate is not None
    paths = [PATH, *([SSE_PATH] if options.sse else [])]
    lines = [f"serving {url(options.host, port, secure=secure, path=path)}" for path in paths]
    if not secure and not is_loopback(options.host):
        lines.append("without TLS, tokens and notes can be read on the way; see --tls-cert")
    lines.append("ready; end it with Ctrl+C")
    sys.stderr.write("".join(f"memorix: {line}\n" for line in lines))
    sys.stderr.flush()
