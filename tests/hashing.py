"""A hash of words in the place of a model: it is no embedding, and serves only here."""

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memorix.embedders.base import ModelCard

if TYPE_CHECKING:
    from memorix.embedders.base import Vectors

DIM = 64


class HashingEmbedder:
    """An `Embedder` that puts each word of a text into one of 64 places."""

    def __init__(self, name: str = "hashing", languages: frozenset[str] = frozenset()) -> None:
        self._card = ModelCard(name, f"{name}-1", DIM, 512, languages, 0.1, "Apache-2.0", "tests")

    @property
    def card(self) -> ModelCard:
        return self._card

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        rows = np.zeros((len(texts), DIM), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0] = 1e-3  # a text without words has a direction too
            for word in text.lower().split():
                row[
                    int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest()) % DIM
                ] += 1
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def embed_query(self, text: str) -> "Vectors":
        row: Vectors = self.embed([text])[0]
        return row
