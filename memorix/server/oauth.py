"""Take the tokens of an OAuth authorization server: JWTs that it has signed for this server."""

import json
import logging
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio.to_thread
import jwt
from jwt.exceptions import PyJWKSetError

from memorix.access import Access, Right, is_plain
from memorix.errors import ServerUnavailable
from memorix.server.auth import Granted, scopes_of
from memorix.server.guard import is_loopback

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
ALGORITHMS += ["ES256", "ES384", "ES512", "EdDSA"]
# Only with a key that signs and another that checks: what checks is public.

LEEWAY_S = 30
# How far the clocks of two machines may be apart.

FETCH_TIMEOUT_S = 5.0
REFRESH_S = 60.0
# A token with an unknown key makes us look for new keys, but not more often than this.

KEPT_S = 3600.0
# After this the keys are fetched again, so that one that was withdrawn ends.

MOST_BYTES = 1_000_000
LIMITS_CLAIM = "memorix_scopes"
# The scopes of Memorix, a list of names, that a token is limited to; without it, it is not.

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Issuer:
    """Whose tokens are taken: `url` is what they name as `iss`, `resource`, this server's own URL
    to its clients, what they name as `aud`.  `keys` is a file with the public keys (a JWKS);
    without it the issuer is asked for them."""

    url: str
    resource: str
    keys: Path | None = None


def check(issuer: Issuer) -> None:
    """Refuse an issuer whose word could be forged on the way, and keys that cannot be read.

    Raises:
        ServerUnavailable: It says what to change.
    """
    for name, url in (("--oauth-issuer", issuer.url), ("--public-url", issuer.resource)):
        parts = urlsplit(url)
        plain = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if not (parts.hostname and (parts.scheme == "https" or plain)) or parts.fragment:
            raise ServerUnavailable(f"{name} takes an https URL, not {url!r}.")
    if issuer.keys:
        try:
            _parsed(issuer.keys.read_bytes())
        except (OSError, ValueError, PyJWKSetError) as error:
            raise ServerUnavailable(f"{issuer.keys} is no file of keys (JWKS): {error}.") from error


class SignedTokens:
    """The tokens of an authorization server."""

    def __init__(self, issuer: Issuer) -> None:
        self._issuer, self._keys = issuer, Keys(_source_of(issuer))

    async def granted(self, secret: str, now: datetime) -> Granted | None:
        if secret.count(".") != 2:
            return None
        return await anyio.to_thread.run_sync(self._granted, secret)

    def _granted(self, secret: str) -> Granted | None:
        try:
            key = self._keys.find(jwt.get_unverified_header(secret).get("kid"))
            if key is None:
                return None
            claims = jwt.decode(
                secret,
                key,
                algorithms=ALGORITHMS,
                audience=[self._issuer.resource, self._issuer.resource.rstrip("/")],
                issuer=self._issuer.url,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            _log.info("a token was refused: %s", type(error).__name__)
            return None
        return _grant(claims)


class Keys:
    """The public keys of an issuer, looked up anew when one is unknown or they are old."""

    def __init__(
        self, load: Callable[[], bytes], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._load, self._clock = load, clock
        self._lock = threading.Lock()
        self._keys: Mapping[str | None, jwt.PyJWK] = {}
        self._loaded = self._tried = -KEPT_S

    def find(self, name: object) -> jwt.PyJWK | None:
        """Return the key of this name; the only key, where a token names none."""
        with self._lock:
            if name not in self._keys or self._clock() - self._loaded >= KEPT_S:
                self._refresh()
            if name is None and len(self._keys) == 1:
                return next(iter(self._keys.values()))
            return self._keys.get(name) if isinstance(name, str) else None

    def _refresh(self) -> None:
        now = self._clock()
        if now - self._tried < REFRESH_S:
            return
        self._tried = now
        try:
            self._keys = {key.key_id: key for key in _parsed(self._load())}
            self._loaded = now
        except (OSError, ValueError, PyJWKSetError) as error:
            _log.error("the keys of the issuer cannot be had: %s", error)
            if now - self._loaded >= 2 * KEPT_S:
                self._keys = {}


def _parsed(content: bytes) -> list[jwt.PyJWK]:
    return jwt.PyJWKSet.from_dict(json.loads(content)).keys


def _source_of(issuer: Issuer) -> Callable[[], bytes]:
    if issuer.keys:
        return issuer.keys.read_bytes
    return lambda: _fetched(_keys_url(issuer.url))


def _keys_url(issuer: str) -> str:
    """Ask an issuer where its keys are, by RFC 8414, else by OpenID Connect Discovery.

    Raises:
        OSError, ValueError: It does not say.
    """
    parts = urlsplit(issuer)
    root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    places = [
        f"{root}/.well-known/oauth-authorization-server{path}",
        f"{root}{path}/.well-known/openid-configuration",
    ]
    for place in places:
        try:
            data = json.loads(_fetched(place))
        except OSError as error:
            trouble: Exception = error
            continue
        if data.get("issuer") == issuer and isinstance(data.get("jwks_uri"), str):
            return str(data["jwks_uri"])
        trouble = ValueError(f"{place} does not describe {issuer}")
    raise trouble


def _fetched(url: str) -> bytes:
    parts = urlsplit(url)
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise ValueError(f"{url} is not https")
    request = urllib.request.Request(url, headers={"accept": "application/json"})
    with urllib.request.urlopen(request, timeout=FETCH_TIMEOUT_S) as answer:
        content: bytes = answer.read(MOST_BYTES)
    return content


def _grant(claims: Mapping[str, Any]) -> Granted:
    """Return what the claims of a token that was checked grant; nothing where they are unclear."""
    subject = str(claims.get("sub", ""))
    client = str(claims.get("client_id") or claims.get("azp") or subject)
    right, limits = _right(claims), _limits(claims)
    access = None
    if right is not None and limits is not None:
        access = Access(f"{claims['iss']} {client} {subject}", right, limits)
    return Granted(
        token="",
        client_id=client,
        subject=subject,
        claims={"iss": claims["iss"]},
        scopes=scopes_of(access),
        expires_at=int(claims["exp"]) + LEEWAY_S,
        access=access,
    )


def _right(claims: Mapping[str, Any]) -> Right | None:
    given = claims.get("scope", claims.get("scp", ""))
    names = set(given.split() if isinstance(given, str) else map(str, given or ()))
    return max((right for right in Right if f"memorix:{right}" in names), default=None)


def _limits(claims: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the scopes a token is limited to; None where that cannot be made out."""
    if LIMITS_CLAIM not in claims:
        return frozenset()
    names = claims[LIMITS_CLAIM]
    if not isinstance(names, list) or not names:
        return None
    if not all(isinstance(name, str) and is_plain(name) for name in names):
        return None
    return frozenset(names)
