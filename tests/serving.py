"""A real HTTP server in its own process, and real clients for it."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client

PATIENCE_S = 60
MODES = {"2025-11-25": "legacy", "2026-07-28": "auto"}


@dataclass
class Served:
    """A server that runs: `urls` are its endpoints by path, `log` is what it said on stderr."""

    process: subprocess.Popen[str]
    env: dict[str, str]
    urls: dict[str, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    reader: threading.Thread | None = None

    @property
    def url(self) -> str:
        return self.urls["mcp"]

    @property
    def port(self) -> int:
        return httpx2.URL(self.url).port or 0

    def follow(self) -> None:
        """Read where it serves, then the rest in a thread, so that it never waits for us."""
        stderr = self.process.stderr
        assert stderr is not None
        while line := stderr.readline():
            self.log.append(line)
            if line.startswith("memorix: serving "):
                url = line.split()[-1]
                self.urls[url.rpartition("/")[2]] = url
            if line.startswith("memorix: ready"):
                break
        else:
            raise AssertionError("".join(self.log))
        self.reader = threading.Thread(target=lambda: self.log.extend(stderr))
        self.reader.start()

    def stop(self) -> int:
        """End the server; return its exit code, with all that it said in `log`."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=PATIENCE_S)
        if self.reader:
            self.reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            if not stream.closed:
                assert stream is self.process.stderr or stream.read() == ""
                stream.close()
        return code


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return the environment of a user of its own, with a vault and without a model."""
    return {
        **os.environ,
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "MEMORIX_VAULT": str(folder / "vault"),
        "MEMORIX_STATE_DIR": str(folder / "state"),
        "MEMORIX_MODEL": "none",
        **more,
    }


def command(env: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memorix", *arguments],
        env=env,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )


def token(env: dict[str, str], name: str, *options: str) -> str:
    return command(env, "token", "add", name, *options).stdout.strip()


@contextmanager
def serving(env: dict[str, str], *options: str, port: int = 0) -> Iterator[Served]:
    process = subprocess.Popen(
        [sys.executable, "-m", "memorix", "serve", "--http", "--port", str(port), *options],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    served = Served(process, env)
    try:
        served.follow()
        yield served
    finally:
        served.stop()


def bearer(secret: str, **more: str) -> dict[str, str]:
    return {"authorization": f"Bearer {secret}", **more} if secret else more


@asynccontextmanager
async def connected(
    url: str, secret: str = "", era: str = "2026-07-28", **headers: str
) -> AsyncIterator[Client]:
    """Connect the SDK's client over Streamable HTTP, or over SSE where the URL says so."""
    mode = MODES[era]
    sent = bearer(secret, **headers)
    if "/sse" in url:
        async with Client(sse_client(url, headers=sent), mode=mode) as client:
            yield client
        return
    async with (
        httpx2.AsyncClient(headers=sent, timeout=PATIENCE_S, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client
