"""OpenCode: version 2 moved the servers one level down, into `mcp.servers`."""

import shutil
import subprocess

from memorix.hosts import jsonc
from memorix.hosts.base import SERVER, Host
from memorix.hosts.edits import Entry
from memorix.hosts.machine import Machine, Program, Scope

VERSION_TIMEOUT_S = 10.0
# It is a large program that starts slowly for the first time.


class OpenCode(Host):
    def server(self, machine: Machine, scope: Scope, text: str, program: Program) -> Entry:
        command = [program.path, *program.arguments("serve")]
        if _is_second(text, machine):
            return Entry(("mcp", "servers", SERVER), {"type": "local", "command": command})
        return Entry(("mcp", SERVER), {"type": "local", "command": command, "enabled": True})


def _is_second(text: str, machine: Machine) -> bool:
    """Tell the version by the settings that are there, else by asking the program."""
    mcp = jsonc.find(text, ("mcp",))
    named = {m.key for m in mcp.members} if mcp else set()
    servers = jsonc.find(text, ("mcp", "servers"))
    if servers and not {"type", "command", "enabled"} & {m.key for m in servers.members}:
        return True
    return False if named - {"servers", "timeout"} else _asked_version(machine) >= 2


def _asked_version(machine: Machine) -> int:
    """Return the major version of the installed program; 1 where there is none to ask."""
    program = shutil.which("opencode", path=machine.env.get("PATH"))
    if program is None:
        return 1
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return 1
    major = done.stdout.decode("ascii", "ignore").strip().removeprefix("v").partition(".")[0]
    return int(major) if major.isdigit() else 1
