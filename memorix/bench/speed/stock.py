"""A vault of so many notes in a scratch folder, with the memory that is opened on it."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path

import numpy as np

from memorix import embedders
from memorix.bench.latency import Matrix
from memorix.bench.speed.corpus import SEED, drafts
from memorix.config import Config, load
from memorix.embedders.base import Embedder, ModelCard
from memorix.lexemes import telling_words
from memorix.lifecycle import Draft
from memorix.memory import Memory
from memorix.note import format_time, new_id
from memorix.wiring import open_memory

SCOPE = "app"
BEGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)


class StandIn:
    """A model whose vector of a text is the sum of a vector by chance for each of its words.

    Texts that share words are near each other, so that recall answers as it does with a real one.
    A question takes the real model's time, and gets a vector of the same kind.
    """

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self._known: dict[str, Matrix] = {}

    @property
    def card(self) -> ModelCard:
        return self._model.card

    def embed(self, texts: Sequence[str]) -> Matrix:
        rows = np.stack([sum(map(self._of_word, self._words(text))) for text in texts])
        unit: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def embed_query(self, text: str) -> Matrix:
        self._model.embed_query(text)
        row: Matrix = self.embed([text])[0]
        return row

    def _words(self, text: str) -> Sequence[str]:
        return telling_words(text) or [text]

    def _of_word(self, word: str) -> Matrix:
        if word not in self._known:
            seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
            chance = np.random.default_rng(seed)
            self._known[word] = chance.standard_normal(self.card.dim).astype(np.float32)
        return self._known[word]


@dataclass(frozen=True, slots=True)
class Stock:
    """Notes and what keeps them.

    The texts have the vectors of a `StandIn`, because a search takes as long over any numbers and
    the model would need minutes for them.
    """

    folder: Path
    config: Config
    notes: Sequence[Draft]
    memory: Memory
    model: Embedder


@contextmanager
def stocked(folder: Path, size: int, model: Embedder) -> Iterator[Stock]:
    """Yield a vault with so many notes, all of one project, found by words and by meaning.

    They are files that somebody put there: to remember each would wait for the disk, which takes
    an hour for 100,000.
    """
    config = load({}, environment(folder))
    config.vault.mkdir(parents=True)
    notes = drafts(size, SEED)
    _write(config.vault / "projects" / SCOPE, notes)
    memory = open_memory(config)
    try:
        memory.use_model(StandIn(model))
        memory.catch_up()
        memory.embed_pending()
        yield Stock(folder, config, notes, memory, model)
    finally:
        memory.close()


def _write(folder: Path, notes: Sequence[Draft]) -> None:
    folder.mkdir(parents=True)
    chance = random.Random(SEED)
    for number, draft in enumerate(notes):
        when = BEGIN + timedelta(minutes=number)
        block = {
            "type": draft.type or "Fact",
            "title": draft.title,
            "id": new_id(when, chance.randbytes(10)),
            "tags": list(draft.tags),
            "created": format_time(when),
            "origin": "stated",
        }
        keys = (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in block.items())
        text = "\n".join(["---", *keys, "---", "", draft.text, ""])
        (folder / f"{number}.md").write_text(text, encoding="utf-8")


def environment(folder: Path, **more: str) -> Mapping[str, str]:
    """Return the settings of a vault of its own, whatever this machine is set to."""
    (folder / SCOPE).mkdir(parents=True, exist_ok=True)
    return {
        "MEMORIX_VAULT": str(folder / "vault"),
        "MEMORIX_STATE_DIR": str(folder / "state"),
        "MEMORIX_PROJECT_DIR": str(folder / SCOPE),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "MEMORIX_MAX_NOTES": "0",
        **more,
    }


def default_model() -> Embedder:
    return embedders.load("", Path())[0]
