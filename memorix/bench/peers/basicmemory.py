"""basic-memory: Markdown files beside an index of words and vectors."""

import socket
from collections.abc import Sequence
from pathlib import Path

from memorix.bench.peers import weights
from memorix.bench.peers.base import Absent, Peer, Tools
from memorix.bench.peers.installing import Adapter, Pypi
from memorix.bench.peers.serving import McpPeer

NEED = Pypi(("basic-memory",), oldest=(3, 12))
HUB, ANSWERS_WITHIN_S = ("huggingface.co", 443), 5.0
SETTINGS = {"BASIC_MEMORY_HOME": "{store}/notes"}
WORDS = {**SETTINGS, "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false"}
SAME = {
    **SETTINGS,
    "BASIC_MEMORY_SEMANTIC_EMBEDDING_MODEL": weights.MODEL,
    "BASIC_MEMORY_SEMANTIC_EMBEDDING_CACHE_DIR": "{store}/models",
    "HF_HUB_OFFLINE": "1",
}
TOOLS = Tools(
    lambda title, text: ("write_note", {"title": title, "content": text, "directory": "notes"}),
    lambda question, limit: ("search_notes", {"query": question, "page_size": limit}),
    lambda title, written: ("delete_note", {"identifier": title}),
    refusal=r"^# (Error|Note already)",
)
NOTES = "notes/**/*.md"


def _peers(folder: Path, name: str) -> Sequence[Peer]:
    command = [str(folder / "bin" / "basic-memory"), "mcp"]
    defaults = McpPeer(
        name, TOOLS, command, SETTINGS, about="defaults: words and bge-small", notes=NOTES
    )
    unreached = Absent(name, f"its model is fetched from {HUB[0]}, which cannot be reached")
    return [
        defaults if _reached() else unreached,
        McpPeer(
            f"{name}, words only", TOOLS, command, WORDS, about="semantic search off", notes=NOTES
        ),
        McpPeer(
            f"{name}, same weights",
            TOOLS,
            command,
            SAME,
            about="words and MiniLM as ours",
            notes=NOTES,
            prepare=lambda store: weights.place_as_download(store / "models"),
        ),
    ]


def _reached() -> bool:
    try:
        socket.create_connection(HUB, ANSWERS_WITHIN_S).close()
    except OSError:
        return False
    return True


ADAPTER = Adapter("basic-memory", NEED, _peers)
