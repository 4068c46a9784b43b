"""Look at the HTTP servers that were started for this vault, and at the tokens they take."""

from collections.abc import Iterator
from pathlib import Path

from memorix import __version__, served
from memorix.config import Config, config_path
from memorix.doctor.base import FAILED, OK, WARNING, Check
from memorix.memory import Memory
from memorix.served import Served
from memorix.tokens import TokenFile

NAME = "http"


def _http(memory: Memory, config: Config) -> Iterator[Check]:
    for path, server in served.known(config.state_dir):
        yield _answering(path, server)


def _answering(path: Path, server: Served) -> Check:
    day = server.started.astimezone().strftime("%Y-%m-%d %H:%M")
    said = f"{server.url}, version {server.version}, started {day}"
    anew = f"memorix serve --http --port {server.port}"
    match served.health(server.url):
        case "silent":
            mend = f"end it if it hangs; {anew}, or delete {path}"
            return Check(NAME, FAILED, f"{said}: it does not answer", mend)
        case "another program":
            mend = f"choose another port: memorix serve --http --port N; delete {path}"
            return Check(NAME, FAILED, f"{said}: another program is there now", mend)
        case "unavailable":
            mend = "mend what is said of the vault and the index; it tries again by itself"
            return Check(NAME, FAILED, f"{said}: it cannot open the memory", mend)
    if server.version != __version__:
        mend = f"end it, then: {anew}"
        return Check(NAME, WARNING, f"{said}: this program is version {__version__}", mend)
    return Check(NAME, OK, f"{said}, answers")


def _tokens(memory: Memory, config: Config) -> Iterator[Check]:
    """Tell of the tokens for HTTP; a file that others may read is refused with what mends it."""
    tokens = TokenFile(config_path().parent / "tokens.json").all()
    expired = [token for token in tokens if not token.is_valid(memory.clock())]
    if len(tokens) > len(expired):
        yield Check("tokens", OK, f"{len(tokens) - len(expired)} in force, readable by you alone")
    for token in expired:
        said = f"{token.access.name} has expired"
        yield Check("tokens", WARNING, said, f"memorix token revoke {token.access.name}")


LOOKS = (_http, _tokens)
