"""The computer that hosts run on, and how they start us on it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from memorix.hosts.edits import Edit

Scope = Literal["user", "project", "local"]
SCOPES: tuple[Scope, ...] = ("user", "project", "local")

System = Literal["linux", "darwin", "windows"]

_VARIABLE = re.compile(r"\{(\w+)(?::([^{}]*))?\}")


@dataclass(frozen=True, slots=True)
class Machine:
    """The computer as a host sees it; `project` is the root of the project worked on, if any."""

    system: System
    home: Path
    project: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    def place(self, template: str) -> Path:
        """Return the path that a template means here.

        `{appdata}` is where the system keeps the settings of programs, `{xdg}` where Linux does,
        `{project}` the project, and `{NAME:path}` an environment variable, else the path.
        """
        filled = _VARIABLE.sub(lambda found: self._folder(found[1], found[2]), template)
        return self.home / filled[2:] if filled.startswith("~/") else Path(filled)

    def places(self, templates: Iterable[str]) -> list[Path]:
        """Return the paths of those templates that are meant for this system.

        One for a single system starts with its name: `windows:{appdata}/Zed`.
        """
        systems = get_args(System)
        parted = [t.partition(":") if t.startswith(systems) else ("", "", t) for t in templates]
        return [self.place(text) for system, _, text in parted if system in ("", self.system)]

    def _folder(self, name: str, otherwise: str | None) -> str:
        if otherwise is not None:
            return self.env.get(name) or otherwise
        if name == "project":
            return str(self.project)
        if name == "xdg" or self.system == "linux":
            return self.env.get("XDG_CONFIG_HOME") or "~/.config"
        if self.system == "darwin":
            return "~/Library/Application Support"
        return self.env.get("APPDATA") or "~/AppData/Roaming"


@dataclass(frozen=True, slots=True)
class Program:
    """How a host starts us: an absolute path, and what stands before the command's name."""

    path: str
    before: tuple[str, ...] = ()

    def arguments(self, *words: str) -> list[str]:
        return [*self.before, *words]


@dataclass(frozen=True, slots=True)
class Target:
    """A file, and what we want in it."""

    path: Path
    edits: tuple[Edit, ...]
