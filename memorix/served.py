"""Which HTTP servers of a vault were started on this machine, and whether one answers."""

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from http.client import HTTPException
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from memorix.files import write_atomic

HEALTH_PATH = "/healthz"

PATIENCE_S = 3.0
# A server that is busy answers this path in milliseconds; it opens no memory.

Health = Literal["ok", "unavailable", "another program", "silent"]


@dataclass(frozen=True, slots=True)
class Served:
    """A server that was started and has not said that it ended; `url` is where clients find it."""

    url: str
    version: str
    started: datetime

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0


@contextmanager
def announced(state_dir: Path, server: Served) -> Iterator[None]:
    """Leave word of a server while it runs, in a file that its user alone can read.

    Raises:
        OSError: It cannot be written.
    """
    path = _folder(state_dir) / f"{server.port}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    data = asdict(server) | {"started": server.started.isoformat()}
    write_atomic(path, json.dumps(data).encode(), private=True)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def known(state_dir: Path) -> Iterator[tuple[Path, Served]]:
    """Yield the servers of which word was left, by port, each with the file that tells of it."""
    for path in sorted(_folder(state_dir).glob("*.json")):
        try:
            data = json.loads(path.read_bytes())
            started = datetime.fromisoformat(data["started"])
            yield path, Served(str(data["url"]), str(data["version"]), started)
        except (OSError, ValueError, KeyError, TypeError):
            continue


def health(url: str) -> Health:
    """Ask the server of a URL how it is; nothing secret is sent, so its certificate may be any."""
    parts = urlsplit(url)
    unverified = ssl.create_default_context()
    unverified.check_hostname, unverified.verify_mode = False, ssl.CERT_NONE
    direct = urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=unverified)
    opener = urllib.request.build_opener(*direct)
    try:
        with opener.open(f"{parts.scheme}://{parts.netloc}{HEALTH_PATH}", timeout=PATIENCE_S) as it:
            return "ok" if it.read(100) == b'{"status":"ok"}' else "another program"
    except urllib.error.HTTPError as error:
        with error:
            ours = error.code == 503 and error.read(100) == b'{"status":"unavailable"}'
        return "unavailable" if ours else "another program"
    except (OSError, ValueError, HTTPException):  # URLError is an OSError
        return "silent"


def _folder(state_dir: Path) -> Path:
    return state_dir / "servers"
