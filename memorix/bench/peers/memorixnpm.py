"""memorix of npm, which is another project: observations of a repository in SQLite."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memorix.bench.peers import weights
from memorix.bench.peers.base import Call, Said, Tools
from memorix.bench.peers.installing import Adapter, Npm
from memorix.bench.peers.serving import McpPeer
from memorix.gitprogram import git

NEED = Npm(("memorix@latest",))
MOST = 1000
# Matches to look a title up in: many come before it by their likeness alone.
ENDPOINT = {
    "MEMORIX_EMBEDDING": "api",
    "MEMORIX_EMBEDDING_BASE_URL": "{endpoint}",
    "MEMORIX_EMBEDDING_API_KEY": "none",
    "MEMORIX_EMBEDDING_MODEL": weights.MODEL,
}


def _archived(title: str, written: Said) -> Call:
    """It has no tool that deletes; to archive is to hide for ever."""
    found = re.search(r"#(\d+)", written.text)
    ids = [int(found[1])] if found else []
    return "memorix_resolve", {"ids": ids, "status": "archived"}


def _stored(title: str, text: str) -> Call:
    return (
        "memorix_store",
        {"entityName": title, "type": "gotcha", "title": title, "narrative": text},
    )


def _stored_by_topic(title: str, text: str) -> Call:
    """It judges no note under a topic of its own to be a copy of another."""
    tool, arguments = _stored(title, text)
    return tool, {**arguments, "topicKey": title}


PLAIN = Tools(
    _stored,
    lambda question, limit: ("memorix_search", {"query": question, "limit": limit}),
    _archived,
    find=lambda title: ("memorix_search", {"query": title, "limit": MOST}),
    refusal="Formation DISCARD",
)
BY_TOPIC = replace(PLAIN, write=_stored_by_topic)


def _repository(store: Path) -> None:
    """Make the store a repository: it keeps nothing outside of one."""
    if not (store / ".git").exists():
        git(store, "init", "--quiet", "--template=")


def _peers(folder: Path, name: str) -> Sequence[McpPeer]:
    command = ["node", str(NEED.module(folder) / "dist" / "cli" / "index.js"), "serve"]
    about = "defaults: words, no model"
    topics = "each note under a topic of its own"
    same = f"{topics}; MiniLM as ours, behind an embedding service on this machine"
    return [
        McpPeer(name, PLAIN, command, about=about, prepare=_repository),
        McpPeer(f"{name}, topics", BY_TOPIC, command, about=topics, prepare=_repository),
        McpPeer(
            f"{name}, same weights", BY_TOPIC, command, ENDPOINT, about=same, prepare=_repository
        ),
    ]


ADAPTER = Adapter("memorix (npm)", NEED, _peers)
