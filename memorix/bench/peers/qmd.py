"""qmd: an index of Markdown files that it is told to bring up to date."""

import os
import resource
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memorix.bench.peers.base import Said, Tools
from memorix.bench.peers.installing import Adapter, Npm
from memorix.bench.peers.serving import HOMES, McpPeer, McpSession

NEED = Npm(("@tobilu/qmd@latest",), own_node=True)
NOTES = "notes"
UPDATED_WITHIN_S = 600
TOLD = "its index follows files only when it is told to"
TOOLS = Tools(
    lambda title, text: ("status", {}),  # notes are files, written beside it
    lambda question, limit: (
        "query",
        {"searches": [{"type": "lex", "query": question}], "limit": limit, "rerank": False},
    ),
    lambda title, written: ("status", {}),
)


@dataclass(frozen=True)
class QmdPeer:
    """Its server, and its command that brings the index up to date."""

    server: McpPeer
    program: str
    about: str = (
        "words only, since its models are GGUF files of a hub; a write is a file, and the index is"
        " brought up to date once after all of them"
    )
    notes: str = ""
    cannot: Mapping[str, str] = field(default_factory=lambda: {"edited": TOLD, "killed": TOLD})

    @property
    def name(self) -> str:
        return self.server.name

    @contextmanager
    def opened(self, store: Path) -> "Iterator[QmdSession]":
        homes = dict.fromkeys(HOMES, str(store))
        command = Command(self.program, store, {**os.environ, **self.server.settings, **homes})
        folder = store / NOTES
        if folder.exists():
            command.run("update")
        else:
            folder.mkdir()
            command.run("collection", "add", str(folder), "--name", NOTES)
        with self.server.opened(store) as session:
            yield QmdSession(session, folder, command)


@dataclass
class Command:
    """The command line of qmd; `cpu_s` is what its runs have used."""

    program: str
    store: Path
    env: Mapping[str, str]
    cpu_s: float = 0.0

    def run(self, *words: str) -> None:
        """Run a subcommand.

        Raises:
            OSError: It failed, or took too long.
        """
        before = _children_s()
        try:
            subprocess.run(
                [self.program, *words],
                env=self.env,
                cwd=self.store,
                check=True,
                capture_output=True,
                timeout=UPDATED_WITHIN_S,
            )
        except subprocess.SubprocessError as error:
            raise OSError(str(error)) from error
        self.cpu_s += _children_s() - before


@dataclass
class QmdSession:
    """Files, the server that finds them, and the command that tells it of them."""

    server: McpSession
    folder: Path
    command: Command

    @property
    def started_ms(self) -> float:
        return self.server.started_ms

    def write(self, title: str, text: str) -> Said:
        (self.folder / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
        return Said(title, True)

    def recall(self, question: str, limit: int) -> Said:
        return self.server.recall(question, limit)

    def find(self, title: str) -> Said:
        return self.server.find(title)

    def delete(self, title: str, written: Said) -> Said:
        (self.folder / f"{title}.md").unlink()
        self.caught_up()
        return Said(title, True)

    def tools(self) -> list[dict[str, Any]]:
        return self.server.tools()

    def caught_up(self) -> None:
        self.command.run("update")

    def cpu_s(self) -> float:
        return self.server.cpu_s() + self.command.cpu_s

    def resident_mb(self) -> float:
        return self.server.resident_mb()

    def kill(self) -> None:
        self.server.kill()


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peers(folder: Path, name: str) -> Sequence[QmdPeer]:
    program = str(folder / "node_modules" / ".bin" / "qmd")
    server = McpPeer(name, TOOLS, [program, "mcp"], {"PATH": NEED.path(folder)})
    return [QmdPeer(server, program)]


ADAPTER = Adapter("qmd", NEED, _peers)
