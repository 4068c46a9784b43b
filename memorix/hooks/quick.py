"""The brief, straight from the index: the same text as the tool's, without the engine."""

import os
import time

import apsw

from memorix import brief
from memorix.hooks import fastjson
from memorix.hooks.places import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BUSY_TIMEOUT_S = 2.0
# A writer holds the lock for milliseconds; no session should wait longer for its brief.

_IN_FORCE = (
    "status <> 'deprecated' AND valid_from <= :now AND (valid_to = '' OR valid_to > :now)"
    " AND (expires_at = '' OR expires_at > :now)"
)
_AMONG = "IN (SELECT value FROM json_each({}))"
_SHOWN = f"scope COLLATE NOCASE {_AMONG.format(':scopes')} AND held {_AMONG.format(':held')}"
_OF_ONE_SCOPE = (
    "SELECT * FROM (SELECT key FROM notes WHERE held = :held ->> {}"
    f" AND scope = :scopes ->> {{}} COLLATE NOCASE AND {_IN_FORCE}"
    f" ORDER BY date DESC, path LIMIT {brief.REACH})"
)
# In the order of the index `notes_in_force`: of ten thousand notes, only these are looked at.

_NEWEST = (
    "SELECT id, type, title, gist, date, scope, contested_by, path, signature,"
    " EXISTS (SELECT 1 FROM warnings WHERE note = key AND code = 'instruction-like')"
    f" FROM notes WHERE key IN ({{}}) ORDER BY date DESC, path LIMIT {brief.REACH}"
)
_COUNT = f"SELECT count(*) FROM notes WHERE {_SHOWN} AND {_IN_FORCE}"
_TOLD = (
    "SELECT text FROM chunks WHERE note IN (SELECT key FROM notes WHERE held = 'host file' AND"
    f" scope COLLATE NOCASE {_AMONG.format(':scopes')}) ORDER BY key"
)
_WAITING = (
    "SELECT count(*) FROM notes WHERE held = 'inbox' AND"
    f" scope COLLATE NOCASE {_AMONG.format(':scopes')}"
)


def compose(place: Place, max_tokens: int) -> "tuple[brief.Brief, list[str]] | None":
    """Write the brief of a place; None where there is no index yet, or no note to tell of.

    Besides, the paths of the notes in it whose files are not what the index has seen.

    Raises:
        apsw.Error: The index cannot be read, or is of a version with other tables.
    """
    if not os.path.exists(place.index):
        return None
    db = apsw.Connection(place.index, flags=apsw.SQLITE_OPEN_READONLY)
    db.set_busy_timeout(int(BUSY_TIMEOUT_S * 1000))
    asked = {
        "now": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "scopes": fastjson.dumps(place.scopes),
        "held": fastjson.dumps(place.held),
    }
    rows: list[Any] = db.execute(_newest(place), asked).fetchall()
    total = len(rows) if len(rows) < brief.REACH else _number(db, _COUNT, asked)
    waiting = _number(db, _WAITING, asked)
    told_by_hosts: list[Any] = db.execute(_TOLD, asked).fetchall()
    db.close()
    if not rows and not waiting:
        return None
    entries = [
        brief.Entry(
            row[0], row[1], row[2], row[3], row[4], row[5], row[6].split("\x1f") if row[6] else ()
        )
        for row in rows
        if not row[9]
    ]
    entries = brief.besides(entries, [text for (text,) in told_by_hosts])
    told = brief.compose(entries, total, place.scopes, max_tokens, waiting)
    seen = {row[0]: (row[7], row[8]) for row in rows}
    files = [seen[entry.id] for entry in told.shown]
    return told, [path for path, mark in files if signature(place.file(path)) != mark]


def _newest(place: Place) -> str:
    numbers = [(h, s) for h in range(len(place.held)) for s in range(len(place.scopes))]
    return _NEWEST.format(" UNION ALL ".join(_OF_ONE_SCOPE.format(*pair) for pair in numbers))


def signature(file: str) -> str:
    """Return what the store takes to tell whether a file was changed."""
    try:
        stat = os.stat(file)
    except OSError:
        return ""
    return f"{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}-{stat.st_ino}"


def _number(db: apsw.Connection, sql: str, values: "dict[str, str]") -> int:
    rows: list[Any] = db.execute(sql, values).fetchall()
    return int(rows[0][0])
