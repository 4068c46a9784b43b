"""@modelcontextprotocol/server-memory: a graph of entities in one file."""

from pathlib import Path

from memorix.bench.peers.base import Tools
from memorix.bench.peers.serving import McpPeer

PACKAGE = "@modelcontextprotocol/server-memory"
SCRIPT = "node_modules/@modelcontextprotocol/server-memory/dist/index.js"
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
    command = ["node", str(cache / "server-memory" / SCRIPT)]
    return McpPeer("server-memory", TOOLS, command, settings)
