"""What a host is: where it keeps its settings, and how it names our server in them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memorix.hosts.edits import Block, Entry, Whole
from memorix.hosts.hookfiles import HookFile
from memorix.hosts.machine import Machine, Program, Scope, Target

SERVER = "memorix-notes"
# The name of our entry; the plain one belongs to another tool, which may be installed beside us.

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
    `memorix-notes.*` is ours alone.  `plugins` are the files that say which plugins are on.  `next`
    tells what to do after an install.
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
    hooks: HookFile | None = None
    plugins: tuple[str, ...] = ()
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
