"""mem0: a library that keeps texts in Qdrant; a small server of ours speaks MCP for it."""

import json
from collections.abc import Sequence
from pathlib import Path

from memorix.bench.peers import mem0shim, weights
from memorix.bench.peers.base import Absent, Call, Peer, Said, Tools
from memorix.bench.peers.installing import Adapter, Pypi
from memorix.bench.peers.serving import McpPeer

NEED = Pypi(("mem0ai", "fastembed", "mcp>=2.3,<3"))
SETTINGS = {
    "MEM0_TELEMETRY": "False",
    "MEM0_DIR": "{store}/mem0",
    "FASTEMBED_CACHE_PATH": "{store}/models",
    "HF_HUB_OFFLINE": "1",
}


def _deleted(title: str, written: Said) -> Call:
    return "delete", {"id": json.loads(written.text)["results"][0]["id"]}


TOOLS = Tools(
    lambda title, text: ("add", {"title": title, "text": text}),
    lambda question, limit: ("search", {"question": question, "limit": limit}),
    _deleted,
    find=lambda title: ("find", {"title": title}),
)


def _peers(folder: Path, name: str) -> Sequence[Peer]:
    return [
        Absent(name, "by default it sends texts to a service that needs a key"),
        McpPeer(
            f"{name}, same weights",
            TOOLS,
            [str(NEED.python(folder)), "-P", mem0shim.__file__, weights.MODEL],
            SETTINGS,
            cannot={"tools_tokens": "it is a library", "start": "it is a library"},
            about="infer=False, Qdrant on disk, fastembed with MiniLM as ours, one call at a time",
            prepare=lambda store: weights.place_as_download(store / "models"),
        ),
    ]


ADAPTER = Adapter("mem0", NEED, _peers)
