"""Whether a hook of our plugin has nothing to do, because `memorix install` put in the same one."""

import os

_PLACES = {
    "claude-code": ("CLAUDE_CONFIG_DIR", ".claude", ("settings.json", "settings.local.json")),
    "codex": ("CODEX_HOME", ".codex", ("hooks.json",)),
}
# Host -> the variable that names the user's folder, its name there and in a project, and its files.


def is_installed(event: str, host: str, cwd: str) -> bool:
    """Say whether settings of the user or the project hold our hook for an event."""
    if host not in _PLACES:
        return False
    variable, name, files = _PLACES[host]
    user = os.environ.get(variable) or os.path.join(os.path.expanduser("~"), name)
    folders = [user, *(os.path.join(project, name) for project in _projects(host, cwd))]
    command = f" hook {event} --host {host}".encode()
    return any(command in _read(os.path.join(f, file)) for f in folders for file in files)


def _projects(host: str, cwd: str) -> "list[str]":
    """Return the folders whose settings a host reads: Claude Code tells its one, Codex goes up."""
    told = os.environ.get("CLAUDE_PROJECT_DIR")
    if host == "claude-code" and told:
        return [told]
    found = [cwd]
    while not os.path.exists(os.path.join(found[-1], ".git")):
        above = os.path.dirname(found[-1])
        if above == found[-1]:
            return [cwd]
        found.append(above)
    return found


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
