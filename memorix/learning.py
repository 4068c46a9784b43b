"""Watch which hits are read, where the settings allow it, and let recall weigh words by that."""

import secrets
from dataclasses import replace
from datetime import datetime

from memorix.feedback import Impression, learn
from memorix.index.base import Index
from memorix.query import Answer
from memorix.ranking import Mix


class Learning:
    """What was learnt of one vault; does nothing unless it is `on`."""

    def __init__(self, *, on: bool = False) -> None:
        self.on = on
        self._offset: float | None = None

    def mixed(self, index: Index, mix: Mix) -> Mix:
        """Return the mix with what was learnt until now."""
        if not self.on:
            return mix
        if self._offset is None:
            self._offset = learn(index.impressions()).offset
        return replace(mix, learnt=self._offset)

    def show(self, index: Index, session: str, answer: Answer, now: datetime) -> None:
        if not self.on:
            return
        name = secrets.token_hex(8)
        shown = [
            Impression(name, hit.id, place, hit.why.signals)
            for place, hit in enumerate(answer.hits)
            if hit.why.signals
        ]
        if len(shown) > 1:
            index.show(session, shown, now)

    def read(self, index: Index, session: str, note_id: str, now: datetime) -> None:
        if self.on and index.used(session, note_id, now):
            self._offset = None

    def start_over(self) -> None:
        self._offset = None
