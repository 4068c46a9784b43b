"""Where hosts keep their hooks, and in which shape they name the command of one."""

import json
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from memorix.hosts.edits import Edit, Item, Whole
from memorix.hosts.machine import Machine, Program, Scope, Target

TIMEOUT_S = 10
# A hook takes a fraction of a second; a host should not wait longer for one that hangs.

Shape = Callable[[str, str], tuple[Edit, ...]]
# From a host's name and the command before the event's name to the edits of its file.


@dataclass(frozen=True, slots=True)
class HookFile:
    """A file of hooks for each scope, and what we put into it.

    `told` is the host that the commands name, where several read the same file.
    """

    files: Mapping[Scope, str]
    shape: Shape
    told: str = ""

    def target(self, machine: Machine, scope: Scope, program: Program, host: str) -> Target | None:
        """Return our hooks in the host's file; None where the scope has none."""
        template = self.files.get(scope)
        if template is None:
            return None
        command = command_line([program.path, *program.arguments("hook")], machine)
        return Target(machine.place(template), self.shape(self.told or host, command))


def command_line(words: list[str], machine: Machine) -> str:
    """Return a command as one line for the shell that hosts use on this system."""
    if machine.system == "windows":  # Git's shell or PowerShell; both take this
        return subprocess.list2cmdline([word.replace("\\", "/") for word in words])
    return shlex.join(words)


def grouped(*names: str, timeout: int = TIMEOUT_S) -> Shape:
    """Return Claude Code's shape, which others took over: groups of commands by event."""

    def shape(host: str, command: str) -> tuple[Edit, ...]:
        def group(name: str) -> dict[str, object]:
            line = f"{command} {name} --host {host}"
            return {"hooks": [{"type": "command", "command": line, "timeout": timeout}]}

        return tuple(Item(("hooks", name), group(name)) for name in names)

    return shape


def listed(*names: str) -> Shape:
    """Return Cursor's shape: commands by event, below a version."""

    def shape(host: str, command: str) -> tuple[Edit, ...]:
        def entry(name: str) -> dict[str, object]:
            return {"command": f"{command} {name} --host {host}", "timeout": TIMEOUT_S}

        return tuple(Item(("hooks", name), entry(name), version=1) for name in names)

    return shape


def copilot(*names: str) -> Shape:
    """Return the shape of GitHub's Copilot, in a file of our own: a command for either shell.

    Its command line and VS Code read the same file.
    """

    def shape(host: str, command: str) -> tuple[Edit, ...]:
        def entry(name: str) -> dict[str, object]:
            line = f"{command} {name} --host {host}"
            shells = {"bash": line, "powershell": f"& {line}"}
            return {"type": "command", **shells, "timeoutSec": TIMEOUT_S}

        content = {"version": 1, "hooks": {name: [entry(name)] for name in names}}
        return (Whole(json.dumps(content, indent=2) + "\n"),)

    return shape
