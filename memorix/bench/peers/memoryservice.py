"""mcp-memory-service: memories with tags in SQLite, found by vectors."""

from collections.abc import Sequence
from pathlib import Path

from memorix.bench.peers import weights
from memorix.bench.peers.base import Tools
from memorix.bench.peers.installing import Adapter, Pypi
from memorix.bench.peers.serving import McpPeer

NEED = Pypi(("mcp-memory-service[sqlite]",), extensions=True)
HASHES = {"MCP_MEMORY_USE_ONNX": "0"}
# What pip installs without an extra has no runtime for models, which comes to the same.
DOWNLOADED = ".cache/mcp_memory/onnx_models/all-MiniLM-L6-v2/onnx"
TOOLS = Tools(
    lambda title, text: ("memory_store", {"content": text, "metadata": {"tags": [title]}}),
    lambda question, limit: ("memory_search", {"query": question, "limit": limit}),
    lambda title, written: ("memory_delete", {"tags": [title]}),
    find=lambda title: ("memory_list", {"tags": [title]}),
    refusal=r"^(?!Memory stored|Found|Successfully|No memories|\s*\{)",
)


def _peers(folder: Path, name: str) -> Sequence[McpPeer]:
    command = [str(folder / "bin" / "memory"), "server"]
    plain = "as pip installs it: hashes of the text in place of vectors"
    same = "its extra sqlite, MiniLM as ours in place of its download of the same model"
    return [
        McpPeer(name, TOOLS, command, HASHES, about=plain),
        McpPeer(
            f"{name}, same weights",
            TOOLS,
            command,
            about=same,
            prepare=lambda store: weights.place(store / DOWNLOADED),
        ),
    ]


ADAPTER = Adapter("mcp-memory-service", NEED, _peers)
