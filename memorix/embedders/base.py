"""What an embedding model must offer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What the index and the user must know of a model without loading it.

    `fingerprint` changes whenever the vectors of a text would; vectors of different
    fingerprints are never compared.  `languages` are ISO 639-1 codes the model can tell
    topics apart in; an empty set means any.  `floor` is the cosine that an unrelated pair
    of texts stays below, about nineteen times in twenty.
    """

    name: str
    fingerprint: str
    dim: int
    max_tokens: int
    languages: frozenset[str]
    floor: float
    licence: str
    source: str

    def knows(self, language: str) -> bool:
        return not self.languages or language in self.languages


class Embedder(Protocol):
    """A loaded model: texts in, rows of length 1 out."""

    @property
    def card(self) -> ModelCard: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a float32 array of shape `(len(texts), card.dim)`, rows of length 1, in order.

        Texts longer than `card.max_tokens` are cut.  Safe to call from several threads.
        """
        ...

    def count_tokens(self, text: str) -> int:
        """Count the tokens of `text` as the model sees it, special tokens included, uncut."""
        ...
