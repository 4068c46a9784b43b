"""Plain files, one a note, and grep over them: what needs no memory at all."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memorix.bench.peers.base import Said

NO_SERVER = "there is no server"


@dataclass(frozen=True)
class PlainFiles:
    """The peer."""

    name: str = "grep"
    about: str = "plain files; those come first in which most words of the question are"
    notes: str = "*.md"
    cannot: Mapping[str, str] = field(
        default_factory=lambda: dict.fromkeys(
            ("tools_tokens", "start", "resident_mb", "write.cpu_ms", "recall.cpu_ms", "killed"),
            NO_SERVER,
        )
    )

    @contextmanager
    def opened(self, store: Path) -> "Iterator[Folder]":
        yield Folder(store)


@dataclass(frozen=True)
class Folder:
    """The files of one store."""

    store: Path
    started_ms: float = 0.0

    def write(self, title: str, text: str) -> Said:
        (self.store / f"{title}.md").write_text(text, encoding="utf-8")
        return Said(title, True)

    def recall(self, question: str, limit: int) -> Said:
        found = Counter[str]()
        for word in set(re.findall(r"\w+", question)):
            command = ["grep", "-rliF", "-e", word, "."]
            listed = subprocess.run(command, cwd=self.store, capture_output=True, check=False)
            found.update(Path(line).stem for line in listed.stdout.decode().splitlines())
        best = sorted(found, key=lambda title: (-found[title], title))
        return Said("\n".join(best[:limit]), True)

    def find(self, title: str) -> Said:
        return Said(title if (self.store / f"{title}.md").exists() else "", True)

    def delete(self, title: str, written: Said) -> Said:
        (self.store / f"{title}.md").unlink()
        return Said(title, True)

    def tools(self) -> list[dict[str, Any]]:
        return []

    def caught_up(self) -> None:
        """There is nothing that follows later."""

    def cpu_s(self) -> float:
        return 0.0

    def resident_mb(self) -> float:
        return 0.0

    def kill(self) -> None:
        """There is nothing to end."""
