"""@modelcontextprotocol/server-memory: a graph of entities in one file."""

import json
from pathlib import Path

from memorix.bench.peers.base import Tools
from memorix.bench.peers.serving import McpPeer

PACKAGE = "@modelcontextprotocol/server-memory"
MODULE = "node_modules/@modelcontextprotocol/server-memory"
TOOLS = Tools(
    lambda title, text: (
        "create_entities",
        {"entities": [{"name": title, "entityType": "note", "observations": [text]}]},
    ),
    lambda question, limit: ("search_nodes", {"query": question}),
    lambda title, written: ("delete_entities", {"entityNames": [title]}),
)


def reference(cache: Path) -> McpPeer:
    """Return the reference server, as npm put it into a folder of its own."""
    settings = {"MEMORY_FILE_PATH": "{store}/memory.jsonl"}
    module = cache / "server-memory" / MODULE
    about = module / "package.json"
    version = json.loads(about.read_text(encoding="utf-8"))["version"] if about.exists() else "?"
    command = ["node", str(module / "dist" / "index.js")]
    return McpPeer(f"server-memory {version}", TOOLS, command, settings)
