"""Read the best passages of an answer again beside the question, where a reranker is in use."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from memorix.errors import ModelUnavailable
from memorix.index.base import Index
from memorix.paging import Found
from memorix.ranking import reordered
from memorix.rerankers.base import Reranker

READ_AGAIN = 20
# Passages; each costs the model's whole work, and what answers is nearly always among so many.

_log = logging.getLogger(__name__)


class Reranking:
    """The reranker in use, if any, and what became of it; a broken one is let go."""

    def __init__(self, model: Reranker | None = None, state: str = "off") -> None:
        self._model, self.state = model, model.name if model else state

    def try_out(self) -> None:
        """Let the model read something, so that `state` is true of one that can be loaded only."""
        self._scores("where is the memory kept?", ["In a folder of notes."])

    def read_again(self, index: Index, question: str, found: Found) -> Found:
        """Return what was found with its best passages in the model's order."""
        if self._model is None or len(found.ranked) < 2:
            return found
        best = found.ranked[:READ_AGAIN]
        rows, texts = index.rows(r.note for r in best), index.texts(r.chunk for r in best)
        passages = [
            f"{rows[r.note].title if r.note in rows else ''}\n{texts.get(r.chunk, '')}"
            for r in best
        ]
        logits = self._scores(question, passages)
        if not logits:
            return found
        return replace(found, ranked=[*reordered(best, logits), *found.ranked[READ_AGAIN:]])

    def _scores(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        """Return the logits of passages; none, from now on, where the model breaks down."""
        if self._model is None:
            return ()
        try:
            return self._model.scores(question, passages)
        except ModelUnavailable as error:
            _log.warning("%s", error)
            self._model, self.state = None, f"off: {error}"
            return ()
