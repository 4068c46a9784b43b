"""What was shown for questions and which of it was read; runs in the caller's transaction."""

from collections.abc import Sequence
from datetime import datetime

import apsw

from memorix.feedback import Impression, Signals
from memorix.index.schema import fetch
from memorix.note import format_time
from memorix.usage import USED_WITHIN

KEPT = 4000
# Hits: some 500 questions; what was liked before them is no longer asked.


def show(db: apsw.Connection, session: str, shown: Sequence[Impression], now: datetime) -> None:
    for one in shown:
        s = one.signals
        db.execute(
            "INSERT OR IGNORE INTO impressions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (
                *(one.question, session, format_time(now), one.id, one.place),
                *(s.share, s.words, s.meaning, s.lift),
            ),
        )
    newest = "SELECT rowid FROM impressions ORDER BY rowid DESC LIMIT ?"
    fetch(db, f"DELETE FROM impressions WHERE rowid NOT IN ({newest})", (KEPT,))


def used(db: apsw.Connection, session: str, note_id: str, now: datetime) -> bool:
    """Mark the last impression of a note in this session as read; say whether there is one."""
    fetch(
        db,
        "UPDATE impressions SET used = 1 WHERE rowid = (SELECT max(rowid) FROM impressions"
        " WHERE session = ? AND id = ? AND at >= ?)",
        (session, note_id, format_time(now - USED_WITHIN)),
    )
    return bool(db.changes())


def listed(db: apsw.Connection) -> list[Impression]:
    rows = fetch(
        db,
        "SELECT question, id, place, used, share, words, meaning, lift FROM impressions"
        " ORDER BY rowid",
    )
    return [Impression(q, i, p, Signals(*signals), bool(u)) for q, i, p, u, *signals in rows]
