"""Memorix itself, asked as any other, and the least that a server of its SDK is."""

import re
import sys
from pathlib import Path

import memorix
from memorix.bench.peers.base import Said, Tools
from memorix.bench.peers.serving import McpPeer
from memorix.bench.speed import starting
from memorix.embedders.cards import MULTILINGUAL

SETTINGS = {
    "MEMORIX_VAULT": "{store}/vault",
    "MEMORIX_STATE_DIR": "{store}/state",
    "MEMORIX_PROJECT_DIR": "{store}",
    "PYTHONPATH": str(Path(memorix.__file__).parents[1]),
}
# The last names the package that measures: another one may be installed.


def _purged(title: str, written: Said) -> tuple[str, dict[str, str]]:
    found = re.search(r"^id (\w+)", written.text, re.MULTILINE)
    return "forget", {"id": found[1] if found else title, "level": "erase"}


TOOLS = Tools(
    lambda title, text: ("remember", {"title": title, "text": text}),
    lambda question, limit: ("recall", {"query": question, "limit": limit}),
    _purged,
)


ABOUT = {
    "": ("memorix", "defaults: packaged MiniLM"),
    "none": ("memorix, words only", "no model"),
    MULTILINGUAL.name: ("memorix, multilingual", "the model of the extra of that name"),
}


def ours(model: str) -> McpPeer:
    """Return our server with a model by name, or `none`."""
    name, about = ABOUT[model]
    return McpPeer(
        name,
        TOOLS,
        [sys.executable, "-m", "memorix", "serve"],
        {**SETTINGS, "MEMORIX_MODEL": model},
        about=about,
        notes="vault/**/*.md",
    )


TRIVIAL = McpPeer("trivial", TOOLS, [sys.executable, "-c", starting.TRIVIAL])
