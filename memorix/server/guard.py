"""Keep from the HTTP server what no client of ours sends: foreign names, floods, stalled bodies."""

import ipaddress
import json
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CALLS_A_SECOND, BURST = 100.0, 500.0
# Of one token, over all its clients; more than people and their assistants ever ask for.

LONGEST_WAIT_S = 5.0
# A caller that is a little too fast is slowed down so far before it is refused.

TRIES_A_SECOND, TRIES_AT_ONCE = 0.2, 20.0
# Of one address, without a valid token.

CALLERS_KEPT = 10_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Names:
    """Under which names the server may be spoken to, and for the pages of which sites.

    A page of any site can send requests to this machine, and make its own name lead here (DNS
    rebinding); `Host` and `Origin` tell.  An address is no name, so it cannot be made to lead here.
    """

    address: str
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()

    def allow_host(self, header: str) -> bool:
        name = _host_of(f"//{header}")
        if is_loopback(name) or name in self.hosts:
            return bool(name)
        return _is_address(name) and not is_loopback(self.address)

    def allow_origin(self, header: str, host: str) -> bool:
        if header in self.origins:
            return True
        scheme, _, place = header.partition("://")
        if scheme not in ("http", "https") or not place:
            return False
        return is_loopback(_host_of(f"//{place}")) or place == host


def is_loopback(name: str) -> bool:
    """Say whether a host name or an address is this machine's own, which no other can reach."""
    if name == "localhost":
        return True
    return _is_address(name) and ipaddress.ip_address(name).is_loopback


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _host_of(url: str) -> str:
    try:
        parts = urlsplit(url)
        plain = parts.username is None and not parts.path and not parts.query
        return (parts.hostname or "").rstrip(".") if plain else ""
    except ValueError:
        return ""


class Rate:
    """A token bucket for each caller."""

    def __init__(
        self, a_second: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._a_second, self._burst, self._clock = a_second, burst, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, caller: str, at_most: float = 0.0) -> float:
        """Return how long a caller has to wait; beyond `at_most` the call does not count."""
        now = self._clock()
        left, at = self._left.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._a_second)
        wait = max(0.0, (1.0 - left) / self._a_second)
        self._left[caller] = (left - 1.0 if wait <= at_most else left), now
        if len(self._left) > CALLERS_KEPT:
            self._left.popitem(last=False)
        return wait


class KnownNames:
    """Refuses requests under a foreign name, or from a foreign page, before anything else."""

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app, self._names = app, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            host, origins = headers.get("host", ""), headers.getlist("origin")
            if not self._names.allow_host(host):
                say = "This server is not known by that name. See --allow-host."
                return await refuse(send, 421, "unknown_host", say)
            if not all(self._names.allow_origin(origin, host) for origin in origins):
                say = "Pages of that site may not use this server. See --allow-origin."
                return await refuse(send, 403, "foreign_origin", say)
        await self._app(scope, receive, send)


class Patience:
    """Ends requests that do not arrive in time, and streams that nobody reads."""

    def __init__(self, app: ASGIApp, timeout_s: float) -> None:
        self._app, self._timeout_s = app, timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        exchange = _Exchange(receive, send, self._timeout_s)
        try:
            await self._app(scope, exchange.receive, exchange.send)
        except* _Late:
            if not exchange.started:
                await refuse(send, 408, "too_slow", "The request did not arrive in time.")


class _Late(Exception):
    """The other side did not keep up."""


class _Exchange:
    def __init__(self, receive: Receive, send: Send, timeout_s: float) -> None:
        self._receive, self._send, self._timeout_s = receive, send, timeout_s
        self._deadline = anyio.current_time() + timeout_s
        self._whole, self.started = False, False

    async def receive(self) -> Message:
        if self._whole:  # what comes now is the end of the connection
            return await self._receive()
        with anyio.move_on_at(self._deadline):
            message = await self._receive()
            self._whole = not message.get("more_body", False)
            return message
        raise _Late

    async def send(self, message: Message) -> None:
        self.started = True
        with anyio.move_on_after(self._timeout_s):
            return await self._send(message)
        raise _Late


async def refuse(
    send: Send, status: int, error: str, say: str, more: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    """Answer a request with an error, in the shape of OAuth's."""
    body = json.dumps({"error": error, "error_description": say}, ensure_ascii=False).encode()
    size = str(len(body)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", size), *more]
    _log.info("refused with %d: %s", status, error)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def too_many(send: Send, wait_s: float) -> None:
    say = "Too many requests. Wait, then try again."
    after = (b"retry-after", str(math.ceil(wait_s)).encode())
    await refuse(send, 429, "too_many_requests", say, (after,))
