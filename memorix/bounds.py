"""Bound what assistants write: how large a note is, how many there are, how fast they come.

What a person writes by hand, imports or moves has no bound.
"""

import threading
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta

from memorix.errors import LimitReached
from memorix.lifecycle import Draft

MINUTE = timedelta(minutes=1)

LONGEST_TAG = 100
# Characters; a longer one is a sentence.


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds; each is named like its setting, and 0 is none."""

    max_note_kb: int = 1_000
    max_tags: int = 64
    max_notes: int = 100_000
    max_writes_a_minute: int = 3_000

    def check(self, draft: Draft) -> None:
        """See that a new note is not too large.

        Raises:
            LimitReached: It is; the message names the setting.
        """
        keys = "".join(f"{key}{value}" for key, value in draft.extra.items())
        self.check_size(len(f"{draft.text}{keys}".encode("utf-8", "replace")))
        if 0 < self.max_tags < len(draft.tags):
            said = f"A note with {len(draft.tags)} tags is refused; it may have {self.max_tags}"
            raise LimitReached(said, "max_tags", "Keep the few that it will be looked for by")
        if any(len(tag) > LONGEST_TAG for tag in draft.tags):
            said = f"A tag may have {LONGEST_TAG} characters"
            raise LimitReached(said, "", "Put the sentence into the text")

    def check_size(self, size_bytes: int) -> None:
        if 0 < self.max_note_kb * 1000 < size_bytes:
            said = f"The note would have {size_bytes:,} bytes; it may have {self.max_note_kb},000"
            advice = "Keep the document elsewhere and remember what matters of it"
            raise LimitReached(said, "max_note_kb", advice)

    def check_number(self, notes: int) -> None:
        """See that there is room for one more note."""
        if 0 < self.max_notes <= notes:
            said = f"The vault has {notes:,} notes, as many as it may"
            raise LimitReached(said, "max_notes", "Tidy up with `memorix tidy`")


class Pace:
    """How fast a process writes; safe from any thread."""

    def __init__(self, writes_a_minute: int = 0) -> None:
        self._most = writes_a_minute
        self._times: deque[datetime] = deque()
        self._lock = threading.Lock()

    def admit(self, now: datetime) -> None:
        """Count one more write.

        Raises:
            LimitReached: There were as many within a minute as there may be; it is not counted.
        """
        if not self._most:
            return
        with self._lock:
            while self._times and not now - MINUTE < self._times[0] <= now:
                self._times.popleft()
            if len(self._times) >= self._most:
                wait_s = (self._times[0] + MINUTE - now).total_seconds()
                said = f"There were {self._most:,} writes within a minute, as many as there may be"
                raise LimitReached(said, "max_writes_a_minute", f"Go on in {wait_s:.0f} seconds")
            self._times.append(now)
