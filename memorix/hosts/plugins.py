"""Our plugins for Claude Code and Codex, and the marketplace files that offer them."""

import json
import tomllib
from typing import Any

from memorix import __version__
from memorix.hosts.base import SERVER, plain
from memorix.hosts.catalogue import BY_NAME
from memorix.hosts.edits import Item
from memorix.hosts.listings import DESCRIPTION, KEYWORDS, LICENSE, MAKER, registry_entry
from memorix.hosts.machine import Program
from memorix.hosts.skills import SKILLS, skill_file

PROGRAM = Program(SERVER)
# By its name, not its path: the same files serve every machine. `memorix` may be another tool.

_FOLDERS = {"claude-code": ".claude-plugin", "codex": ".codex-plugin"}
_MARKETPLACES = {"claude-code": ".claude-plugin", "codex": ".agents/plugins"}


def repository_files() -> dict[str, str]:
    """Return what a repository needs as a marketplace and for the MCP registry, by path in it."""
    files = {
        f"{folder}/marketplace.json": _json(marketplace(h)) for h, folder in _MARKETPLACES.items()
    }
    files["server.json"] = _json(registry_entry())
    for host in _FOLDERS:
        inside = plugin_files(host)
        files |= {f"{_place(host)}/{path}": text for path, text in inside.items()}
    return files


def plugin_files(host: str) -> dict[str, str]:
    """Return the files of one plugin, by path in its folder."""
    return {
        f"{_FOLDERS[host]}/plugin.json": _json(manifest(host)),
        ".mcp.json": _json({"mcpServers": {SERVER: plain(PROGRAM)}}),
        "hooks/hooks.json": _json({"hooks": hooks(host)}),
        **{f"skills/{name}/SKILL.md": skill_file(name) for name in SKILLS},
    }


def manifest(host: str) -> dict[str, Any]:
    """Return what a plugin says of itself; Claude Code finds its parts by their places."""
    said = {
        "name": SERVER,
        "version": __version__,
        "description": DESCRIPTION,
        "author": MAKER,
        "license": LICENSE,
        "keywords": KEYWORDS,
    }
    if host != "codex":
        return said
    shown = {
        "displayName": "Memorix",
        "shortDescription": DESCRIPTION,
        "developerName": MAKER["name"],
        "category": "Productivity",
        "capabilities": ["Read", "Write"],
    }
    parts = {"skills": "./skills/", "mcpServers": "./.mcp.json", "hooks": "./hooks/hooks.json"}
    return {**said, **parts, "interface": shown}


def marketplace(host: str) -> dict[str, Any]:
    """Return the list of plugins that a host finds at the root of a repository; it holds ours."""
    path = f"./{_place(host)}"
    if host == "codex":
        policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
        source = {"source": "local", "path": path}
        offer = {"name": SERVER, "source": source, "policy": policy, "category": "Productivity"}
        return {"name": SERVER, "interface": {"displayName": "Memorix"}, "plugins": [offer]}
    offer = {"name": SERVER, "source": path, "description": DESCRIPTION, "category": "productivity"}
    return {"name": SERVER, "description": DESCRIPTION, "owner": MAKER, "plugins": [offer]}


def hooks(host: str) -> dict[str, Any]:
    """Return the hooks that an install would write, marked as the plugin's.

    A hook with that mark says nothing where an install has put in the same one.
    """
    wanted = BY_NAME[host].hooks
    assert wanted is not None, "a host of plugins has hooks"
    edits = wanted.shape(host, f"{PROGRAM.path} hook --plugin")
    return {edit.keys[-1]: [edit.value] for edit in edits if isinstance(edit, Item)}


def is_enabled(file: str, text: str) -> bool:
    """Say whether settings of a host, `file` by name, have our plugin switched on.

    Settings that cannot be read have none.
    """
    try:
        data = tomllib.loads(text) if file.endswith(".toml") else json.loads(text)
    except ValueError:
        return False
    listed = data.get("plugins" if file.endswith(".toml") else "enabledPlugins")
    states = listed.items() if isinstance(listed, dict) else ()
    return any(name.split("@")[0] == SERVER and _is_on(state) for name, state in states)


def _is_on(state: object) -> bool:
    return bool(state.get("enabled", True) if isinstance(state, dict) else state)


def _place(host: str) -> str:
    return f"plugins/{host}"


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
