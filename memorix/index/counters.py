"""The counters of use, kept beside the index; all of it runs in the caller's transaction."""

from collections.abc import Sequence
from datetime import date, timedelta

import apsw

from memorix.index.schema import fetch
from memorix.note import format_time
from memorix.usage import KEPT_DAYS, SHOWING, USED_WITHIN, USING, Shown, Total, Use


def count(db: apsw.Connection, uses: Sequence[Use]) -> None:
    for use in uses:
        day, moment = use.at.date().isoformat(), format_time(use.at)
        db.execute(
            "INSERT INTO uses VALUES (?, ?, ?, 1, ?) ON CONFLICT DO UPDATE SET"
            " calls = calls + 1, tokens = tokens + excluded.tokens",
            (day, use.host, use.act, use.tokens),
        )
        if use.act in SHOWING:
            db.executemany(
                "INSERT INTO shown VALUES (?, ?, ?, ?, 1, 0, ?) ON CONFLICT DO UPDATE SET"
                " times = times + 1, waiting_since = excluded.waiting_since",
                [(day, use.host, use.act, note_id, moment) for note_id in use.ids],
            )
        if use.act in USING:
            db.executemany(
                "UPDATE shown SET used = used + 1, waiting_since = ''"
                " WHERE substr(?, 1, length(host)) = host COLLATE NOCASE"
                " AND id = ? AND waiting_since >= ?",
                [(use.host, note_id, format_time(use.at - USED_WITHIN)) for note_id in use.ids],
            )
    if uses:
        oldest = (uses[-1].at.date() - timedelta(days=KEPT_DAYS)).isoformat()
        for table in ("uses", "shown"):
            db.execute(f"DELETE FROM {table} WHERE day < ?", (oldest,))


def totals(db: apsw.Connection, since: date) -> list[Total]:
    rows = fetch(
        db,
        "SELECT host, act, sum(calls), sum(tokens),"
        " (SELECT coalesce(sum(times), 0) FROM shown s WHERE s.host = u.host AND s.act = u.act"
        "  AND s.day >= ?1),"
        " (SELECT coalesce(sum(used), 0) FROM shown s WHERE s.host = u.host AND s.act = u.act"
        "  AND s.day >= ?1)"
        " FROM uses u WHERE day >= ?1 GROUP BY host, act ORDER BY host, act",
        (since.isoformat(),),
    )
    return [Total(*row) for row in rows]


def most_shown(db: apsw.Connection, since: date, limit: int) -> list[Shown]:
    rows = fetch(
        db,
        "SELECT id, sum(times), sum(used) FROM shown WHERE day >= ? GROUP BY id"
        " ORDER BY 2 DESC, 3 DESC, id LIMIT ?",
        (since.isoformat(), limit),
    )
    return [Shown(*row) for row in rows]
