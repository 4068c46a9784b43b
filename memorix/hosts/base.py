"""What a host is: where it keeps its settings, and how it names our server in them."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from memorix.hosts.edits import Block, Edit, Entry, Whole

SERVER = "memorix-notes"
# The name of our entry; the plain one belongs to another tool, which may be installed beside us.

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


# -- the shapes in which hosts describe a server


def plain(program: Program) -> dict[str, Any]:
    return {"command": program.path, "args": program.arguments("serve")}


def stdio(program: Program) -> dict[str, Any]:
    return {"type": "stdio", **plain(program)}


@dataclass(frozen=True)
class Host:
    """A program that runs MCP servers.

    `files` tells for each scope where its settings may lie: the first that exists counts, else the
    first.  Our entry is below `keys` in them.  `signs` are paths that show the host is there,
    `programs` commands that do.  `rules` are the files of instructions it reads; one that ends in
    `memorix-notes.*` is ours alone.  `next` tells what to do after an install.
    """

    name: str
    title: str
    files: Mapping[Scope, tuple[str, ...]]
    keys: tuple[str, ...] = ("mcpServers",)
    toml: bool = False
    entry: Callable[[Program], dict[str, Any]] = plain
    signs: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    rules: Mapping[Scope, str] = field(default_factory=dict)
    rules_head: str = ""
    next: str = ""

    def settings(self, machine: Machine, scope: Scope) -> Path | None:
        """Return the file of settings of a scope; None where the host has no such scope."""
        places = machine.places(self.files.get(scope, ()))
        return next((path for path in places if path.exists()), places[0] if places else None)

    def server(self, machine: Machine, scope: Scope, text: str, program: Program) -> Entry:
        """Return our entry in the settings, which hold `text`.

        Raises:
            NotJson: The text cannot be read.
        """
        return Entry((*self.keys, SERVER), self.entry(program), toml=self.toml)

    def instructions(self, machine: Machine, scope: Scope, lines: str) -> Target | None:
        """Return our rules in the host's file of instructions, where the scope has one."""
        template = self.rules.get(scope)
        if template is None:
            return None
        path = machine.place(template)
        own = path.stem == SERVER
        return Target(path, (Whole(self.rules_head + lines) if own else Block(lines),))
