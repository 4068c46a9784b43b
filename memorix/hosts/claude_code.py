"""Claude Code: its local scope is a table of the project in the user's settings."""

from dataclasses import replace

from memorix.hosts.base import Host
from memorix.hosts.edits import Entry
from memorix.hosts.machine import Machine, Program, Scope


class ClaudeCode(Host):
    def server(self, machine: Machine, scope: Scope, text: str, program: Program) -> Entry:
        entry = super().server(machine, scope, text, program)
        if scope != "local" or machine.project is None:
            return entry
        return replace(entry, keys=("projects", machine.project.as_posix(), *entry.keys))
