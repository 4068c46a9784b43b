"""What the MCP registry and Claude Desktop are told of us: `server.json`, a bundle's manifest."""

import io
import zipfile
from collections.abc import Mapping
from typing import Any

from memorix import __version__
from memorix.hosts.base import SERVER

DESCRIPTION = "Local-first memory: Markdown notes you own, found by words and by meaning."
MAKER = {"name": "The Memorix founders"}
KEYWORDS = ["memory", "notes", "markdown", "mcp", "local-first"]
LICENSE = "Apache-2.0"

REGISTRY_NAME = f"io.github.memorix-notes/{SERVER}"
# The registry takes a name of a GitHub account from that account only, and a package of PyPI only
# if its README holds this name.

_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"

TOOLS = {
    "recall": "Find notes by words, by meaning, by day, type, tag or author.",
    "read": "Show a note whole, with what it links to.",
    "remember": "Keep one fact as a note.",
    "revise": "Change a note, or let a new one take its place.",
    "forget": "Retire, archive or erase notes.",
    "brief": "What matters here: preferences, decisions, gotchas and the newest notes.",
}
# As a person is shown them before an install; an assistant reads the server's own words.

ENTRY = "server.py"
ENTRY_TEXT = '''\
"""Start the server of this bundle, as `memorix serve` does."""

import sys

from memorix.__main__ import main

sys.argv[1:] = ["serve"]
main()
'''
# A host may start a bundle by its entry point alone, which takes no arguments.

_EPOCH = (1980, 1, 1, 0, 0, 0)
# The first day a zip can tell; the same files are then the same bundle, byte for byte.


def registry_entry() -> dict[str, Any]:
    """Return our entry in the MCP registry: a package of PyPI that serves stdio."""
    package = {
        "registryType": "pypi",
        "identifier": SERVER,
        "version": __version__,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "packageArguments": [{"type": "positional", "value": "serve"}],
    }
    return {
        "$schema": _SCHEMA,
        "name": REGISTRY_NAME,
        "title": "Memorix",
        "description": DESCRIPTION,
        "version": __version__,
        "packages": [package],
    }


def bundle_manifest() -> dict[str, Any]:
    """Return the manifest of our MCP bundle, whose host brings Python and what we need by uv."""
    place = "${__dirname}"
    arguments = ["run", "--quiet", "--no-dev", "--project", place, f"{place}/{ENTRY}"]
    return {
        "manifest_version": "0.4",
        "name": SERVER,
        "display_name": "Memorix",
        "version": __version__,
        "description": DESCRIPTION,
        "author": MAKER,
        "license": LICENSE,
        "keywords": KEYWORDS,
        "server": {
            "type": "uv",
            "entry_point": ENTRY,
            "mcp_config": {"command": "uv", "args": arguments},
        },
        "tools": [{"name": name, "description": text} for name, text in TOOLS.items()],
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": ">=3.11,<3.15"},
        },
    }


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return files as a zip that depends on nothing but their names and contents."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16  # the same on Windows
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])
    return buffer.getvalue()
