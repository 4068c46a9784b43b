"""What an embedding model must offer, and what is known of one before it is loaded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What the index and a user must know of a model.

    `fingerprint` changes whenever the vectors of a text would; vectors of different fingerprints
    are never compared.  `languages` are the ISO 639-1 codes in which the model tells topics apart;
    an empty set means any.  `floor` is the cosine that unrelated texts stay below, about nineteen
    times in twenty.
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
    """A loaded model; safe to call from several threads."""

    @property
    def card(self) -> ModelCard: ...

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Return a float32 array of shape `(len(texts), card.dim)`, rows of length 1, in order.

        Texts longer than `card.max_tokens` are cut.
        """
        ...

    def embed_query(self, text: str) -> "Vectors":
        """Return the vector of a question, shape `(card.dim,)`; some models embed it unlike a
        passage."""
        ...
