"""The HTTP server as an OAuth resource server: whose signed tokens it takes, and for what."""

import asyncio
import base64
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from memorix.server.oauth import KEPT_S, REFRESH_S, Keys
from tests.serving import PATIENCE_S, Served, bearer, command, connected, environment, serving

RESOURCE = "https://notes.example/mcp"
HOUR_S = 3600
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}

RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
KEYS = {
    "keys": [
        {**json.loads(RSAAlgorithm.to_jwk(RSA_KEY.public_key())), "kid": "one", "use": "sig"},
        {**json.loads(ECAlgorithm.to_jwk(EC_KEY.public_key())), "kid": "two", "alg": "ES256"},
    ]
}


class Authority:
    """An authorization server on this machine: metadata, keys, and tokens for who asks."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = KEYS
        self.asked: list[str] = []
        authority = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                authority.asked.append(self.path)
                self.answer(authority.pages().get(self.path))

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                secret = authority.token(scope="memorix:write", aud=authority.audience)
                self.answer({"access_token": secret, "token_type": "Bearer", "expires_in": 600})

            def answer(self, data: Any) -> None:
                body = json.dumps(data).encode()
                self.send_response(200 if data else 404)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.audience = RESOURCE
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def pages(self) -> dict[str, Any]:
        described = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/keys",
            "token_endpoint": f"{self.url}/token",
            "authorization_endpoint": f"{self.url}/authorize",
            "response_types_supported": ["code"],
        }
        return {"/.well-known/oauth-authorization-server": described, "/keys": self.keys}

    def token(self, key: Any = RSA_KEY, alg: str = "RS256", kid: str = "one", **more: Any) -> str:
        now = int(time.time())
        claims = {
            "iss": self.url, "aud": RESOURCE, "sub": "ann", "client_id": "editor", "iat": now,
            "exp": now + HOUR_S, "scope": "openid memorix:admin",
        }  # fmt: skip
        kept = {name: value for name, value in (claims | more).items() if value is not None}
        return jwt.encode(kept, key, algorithm=alg, headers={"kid": kid})

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def authority() -> Iterator[Authority]:
    made = Authority()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def served(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("oauth")
    keys = folder / "keys.json"
    keys.write_text(json.dumps(KEYS), encoding="utf-8")
    options = ["--oauth-issuer", authority.url, "--oauth-keys", str(keys)]
    with serving(environment(folder), *options, "--public-url", RESOURCE) as server:
        yield server


def run(test: Callable[[], Awaitable[Any]]) -> Any:
    return asyncio.run(asyncio.wait_for(test(), PATIENCE_S))  # type: ignore[arg-type]


def status(served: Served, secret: str) -> int:
    headers = bearer(secret, accept="application/json, text/event-stream")
    return httpx2.post(served.url, json=PING, headers=headers).status_code


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"key": EC_KEY, "alg": "ES256", "kid": "two"},
        {"aud": ["https://other.example", RESOURCE]},
        {"aud": RESOURCE.rstrip("/")},
        {"scope": None, "scp": ["memorix:read"]},
        {"scope": None, "scp": "memorix:read"},
    ],
)
def test_a_token_signed_for_this_server_is_taken(
    served: Served, authority: Authority, more: dict[str, Any]
) -> None:
    assert status(served, authority.token(**more)) == 400  # let in: only a session was missing


@pytest.mark.parametrize(
    "more",
    [
        {"aud": "https://other.example/mcp"},
        {"aud": None},
        {"iss": "https://other.example"},
        {"iss": None},
        {"exp": 1},
        {"exp": None},
        {"nbf": 4_000_000_000},
        {"key": STRANGER},
        {"key": STRANGER, "kid": "unknown"},
        {"key": EC_KEY, "alg": "ES256", "kid": "one"},
    ],
)
def test_a_token_that_is_not_for_us_is_refused(
    served: Served, authority: Authority, more: dict[str, Any]
) -> None:
    assert status(served, authority.token(**more)) in (401, 429)


def test_a_token_that_is_forged_is_refused(served: Served, authority: Authority) -> None:
    """Unsigned; or signed with the public key as if it were a shared secret."""
    head, body, mark = authority.token().split(".")
    public = RSA_KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )

    def part(data: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(data).encode()).rstrip(b"=").decode()

    shared = jwt.api_jws.PyJWS()
    signer = shared._algorithms["HS256"]
    symmetric = part({"alg": "HS256", "kid": "one"}) + "." + body
    signature = base64.urlsafe_b64encode(signer.sign(symmetric.encode(), public)).rstrip(b"=")
    forged = [
        f"{part({'alg': 'none', 'kid': 'one'})}.{body}.",
        f"{head}.{body}.",
        f"{head}.{part({'aud': RESOURCE})}.{mark}",
        f"{symmetric}.{signature.decode()}",
        "a.b.c",
        "..",
    ]

    assert {status(served, secret) for secret in forged} <= {401, 429}


def test_a_stranger_is_told_where_to_get_a_token(served: Served, authority: Authority) -> None:
    answer = httpx2.post(served.url, json=PING)
    place = "https://notes.example/.well-known/oauth-protected-resource/mcp"
    described = httpx2.get(served.url.replace("/mcp", httpx2.URL(place).path)).json()

    assert answer.status_code == 401
    assert f'resource_metadata="{place}"' in answer.headers["www-authenticate"]
    assert described["resource"] == RESOURCE
    assert described["authorization_servers"] == [authority.url]
    assert described["scopes_supported"] == ["memorix:read", "memorix:write", "memorix:admin"]


@pytest.mark.parametrize(
    "more",
    [
        {"scope": "openid"},
        {"scope": None},
        {"scope": "memorix:root"},
        {"memorix_scopes": []},
        {"memorix_scopes": "ours"},
        {"memorix_scopes": ["../ours"]},
        {"memorix_scopes": [1]},
        {"scope": [7]},
    ],
)
def test_a_token_without_a_clear_right_is_known_but_not_let_in(
    served: Served, authority: Authority, more: dict[str, Any]
) -> None:
    headers = bearer(authority.token(**more))

    answer = httpx2.post(served.url, json=PING, headers=headers)

    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


def test_claims_limit_what_a_token_reaches(served: Served, authority: Authority) -> None:
    async def look() -> None:
        everything = authority.token()
        limited = authority.token(scope="memorix:read", memorix_scopes=["ours", "水闸"])
        async with connected(f"{served.url}?project=theirs", everything) as client:
            await client.call_tool("remember", {"text": "A vermilion ledger."})
        async with connected(served.url, limited) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("recall", {"query": "vermilion", "scope": "all"})
            assert names == ["recall", "read", "brief"]
            assert found.structured_content is not None
            assert found.structured_content["scopes"] == ["ours", "水闸"]
            assert found.structured_content["hits"] == []

    run(look)


class Kept:
    """Where the SDK's client keeps its tokens."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def test_the_sdk_signs_in_by_itself(authority: Authority, tmp_path: Path) -> None:
    """From the refusal to the token: metadata of the resource, of the issuer, keys by the net."""

    async def look(url: str) -> None:
        authority.audience = url
        provider = ClientCredentialsOAuthProvider(url, Kept(), "id", "secret", issuer=authority.url)
        async with (
            httpx2.AsyncClient(auth=provider, timeout=PATIENCE_S, trust_env=False) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            result = await client.call_tool("remember", {"text": "Signed in."})
            assert not result.is_error

    with serving(environment(tmp_path), "--oauth-issuer", authority.url) as server:
        run(lambda: look(server.url))

    assert "/keys" in authority.asked


def test_keys_are_asked_for_again_when_one_is_unknown_and_when_they_are_old() -> None:
    now, asked, at_issuer = 0.0, [], KEYS["keys"][:1]

    def load() -> bytes:
        asked.append(now)
        return json.dumps({"keys": at_issuer}).encode()

    keys = Keys(load, lambda: now)
    first = keys.find("one"), keys.find("two")
    at_issuer = KEYS["keys"][1:]
    soon = keys.find("two")
    now += REFRESH_S
    rotated = keys.find("two"), keys.find("one")
    at_issuer = KEYS["keys"][:1]
    now += KEPT_S
    withdrawn = keys.find("two")

    assert first[0] is not None
    assert (first[1], soon, rotated[1], withdrawn) == (None, None, None, None)
    assert rotated[0] is not None
    assert asked == [0, REFRESH_S, REFRESH_S + KEPT_S]


def test_an_issuer_that_cannot_be_asked_lets_nobody_in(
    authority: Authority, tmp_path: Path
) -> None:
    nowhere = "http://127.0.0.1:9"

    with serving(
        environment(tmp_path), "--oauth-issuer", nowhere, "--public-url", RESOURCE
    ) as server:
        refused = status(server, authority.token(iss=nowhere))

    assert refused == 401
    assert any("keys of the issuer" in line for line in server.log)


@pytest.mark.parametrize(
    "options",
    [
        ("--oauth-issuer", "http://issuer.example"),
        ("--oauth-issuer", "issuer"),
        ("--oauth-issuer", "https://issuer.example", "--public-url", "ftp://notes.example"),
        ("--oauth-issuer", "https://issuer.example", "--oauth-keys", "nowhere.json"),
        ("--oauth-issuer", "https://issuer.example", "--oauth-keys", __file__),
    ],
)
def test_what_a_user_can_get_wrong_about_oauth_is_told(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = command(environment(tmp_path), "serve", "--http", "--port", "0", *options)

    assert done.returncode == 10
    assert "Traceback" not in done.stderr
