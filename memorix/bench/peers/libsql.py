"""mcp-memory-libsql: a graph of entities in a libSQL database, found by words."""

from collections.abc import Sequence
from pathlib import Path

from memorix.bench.peers.base import Tools
from memorix.bench.peers.installing import Adapter, Npm
from memorix.bench.peers.serving import McpPeer

NEED = Npm(("mcp-memory-libsql@latest",))
MOST = 50
# Matches that its schema lets one ask for.
TOOLS = Tools(
    lambda title, text: (
        "create_entities",
        {"entities": [{"name": title, "entityType": "note", "observations": [text]}]},
    ),
    lambda question, limit: ("search_nodes", {"query": question, "limit": min(limit, MOST)}),
    lambda title, written: ("delete_entity", {"name": title}),
)


def _peers(folder: Path, name: str) -> Sequence[McpPeer]:
    settings = {"LIBSQL_URL": "file:{store}/memory.db"}
    command = ["node", str(NEED.module(folder) / "dist" / "index.js")]
    return [McpPeer(name, TOOLS, command, settings, about="defaults: words, no model")]


ADAPTER = Adapter("mcp-memory-libsql", NEED, _peers)
