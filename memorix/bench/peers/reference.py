"""@modelcontextprotocol/server-memory: a graph of entities in one file."""

from collections.abc import Sequence
from pathlib import Path

from memorix.bench.peers.base import Tools
from memorix.bench.peers.installing import Adapter, Npm
from memorix.bench.peers.serving import McpPeer

NEED = Npm(("@modelcontextprotocol/server-memory@latest",))
TOOLS = Tools(
    lambda title, text: (
        "create_entities",
        {"entities": [{"name": title, "entityType": "note", "observations": [text]}]},
    ),
    lambda question, limit: ("search_nodes", {"query": question}),
    lambda title, written: ("delete_entities", {"entityNames": [title]}),
)


def _peers(folder: Path, name: str) -> Sequence[McpPeer]:
    settings = {"MEMORY_FILE_PATH": "{store}/memory.jsonl"}
    command = ["node", str(NEED.module(folder) / "dist" / "index.js")]
    about = "defaults: substrings, no model"
    return [McpPeer(name, TOOLS, command, settings, about=about, notes="memory.jsonl")]


ADAPTER = Adapter("server-memory", NEED, _peers)
