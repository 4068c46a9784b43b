"""What we keep in other programs' files: an entry, a block of lines, or a file of our own."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from memorix import blocks
from memorix.hosts import jsonc, tomltext

_ABOUT = "`memorix uninstall` takes this block out"


class Edit(Protocol):
    """One thing of ours in a file; texts are without a byte order mark.

    All raise `NotJson` or `NotToml` where the text cannot be read.
    """

    @property
    def name(self) -> str:
        """What tells it from others in the same file, in every version of us."""

    def put(self, text: str) -> str:
        """Return the text with it."""

    def take(self, text: str, original: str | None) -> str:
        """Return the text without it, nor what was made to hold it, as `original` tells."""

    def held(self, text: str) -> bool:
        """Say whether the text has it, of whatever version."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A table of ours in a file of settings, under `keys`."""

    keys: tuple[str, ...]
    value: Mapping[str, Any] = field(default_factory=dict)
    toml: bool = False

    @property
    def name(self) -> str:
        return json.dumps(["toml" if self.toml else "json", *self.keys], ensure_ascii=False)

    def put(self, text: str) -> str:
        if self.toml:
            return tomltext.put(text, self.keys, self.value)
        return jsonc.put(text, self.keys, dict(self.value))

    def take(self, text: str, original: str | None) -> str:
        if self.toml:
            return tomltext.take(text, self.keys)
        text = jsonc.take(text, self.keys)
        for depth in range(len(self.keys) - 1, 0, -1):
            text = _without_empty(text, self.keys[:depth], original)
        return text

    def held(self, text: str) -> bool:
        return self.read(text) is not None

    def read(self, text: str) -> Any:
        """Return what the text has there; None if it has nothing."""
        if self.toml:
            return tomltext.find(text, self.keys)
        node = jsonc.find(text, self.keys)
        return jsonc.value(text, node) if node else None


def _without_empty(text: str, keys: tuple[str, ...], original: str | None) -> str:
    """Take away what holds nothing and was not there before; unless that is unknown."""
    node = jsonc.find(text, keys)
    if original is None or node is None or node.members or jsonc.find(original, keys):
        return text
    return jsonc.take(text, keys)


@dataclass(frozen=True, slots=True)
class Item:
    """An item of ours in a list under `keys`; `version` is what some files need at their top."""

    keys: tuple[str, ...]
    value: Mapping[str, Any] = field(default_factory=dict)
    version: int | None = None

    @property
    def name(self) -> str:
        return json.dumps(["item", *self.keys], ensure_ascii=False)

    def put(self, text: str) -> str:
        if self.version is not None and jsonc.find(text, _BESIDE) is None:
            text = jsonc.put(text, _BESIDE, self.version)
        ours = [found for found in self._items(text) if _is_ours(found)]
        if ours == [self.value]:
            return text
        return jsonc.append(jsonc.take_items(text, self.keys, _is_ours), self.keys, self.value)

    def take(self, text: str, original: str | None) -> str:
        text = jsonc.take_items(text, self.keys, _is_ours)
        for depth in range(len(self.keys), 0, -1):
            text = _without_empty(text, self.keys[:depth], original)
        made = original == "" and len(jsonc.parse(text).members) == len(_BESIDE)
        return jsonc.take(text, _BESIDE) if made else text

    def held(self, text: str) -> bool:
        return any(map(_is_ours, self._items(text)))

    def _items(self, text: str) -> list[Any]:
        node = jsonc.find(text, self.keys)
        found = jsonc.value(text, node) if node else []
        return found if isinstance(found, list) else []


_BESIDE = ("version",)
_OURS = re.compile(r"memorix\b.*\bhook\b.*--host\b")


def _is_ours(item: Any) -> bool:
    return bool(_OURS.search(json.dumps(item)))


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of ours at the end of a file of instructions."""

    lines: str = ""
    name: str = '["block"]'

    def put(self, text: str) -> str:
        return blocks.put(text, blocks.framed(blocks.RULES, _ABOUT, self.lines))

    def take(self, text: str, original: str | None) -> str:
        return blocks.take(text, blocks.RULES)

    def held(self, text: str) -> bool:
        return blocks.held(text, blocks.RULES)


@dataclass(frozen=True, slots=True)
class Whole:
    """A file that is ours alone."""

    content: str = ""
    name: str = '["whole"]'

    def put(self, text: str) -> str:
        return self.content

    def take(self, text: str, original: str | None) -> str:
        return ""

    def held(self, text: str) -> bool:
        return bool(text)


def named(name: str) -> Edit:
    """Return the edit with this name, fit to be taken out."""
    kind, *keys = json.loads(name)
    if kind == "block":
        return Block()
    if kind == "whole":
        return Whole()
    return Item(tuple(keys)) if kind == "item" else Entry(tuple(keys), toml=kind == "toml")
