"""What a model must offer that reads a question beside each passage and says how well they fit."""

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """A loaded cross-encoder; safe to call from several threads."""

    @property
    def name(self) -> str: ...

    def scores(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return a logit for each passage, in order: above 0 where it rather answers.

        Raises:
            ModelUnavailable: The model broke down.
        """
        ...
