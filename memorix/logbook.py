"""Keep the `log.md` of a scope: what was written, replaced and forgotten, by day."""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from memorix import lifecycle, reserved
from memorix.errors import MemorixError
from memorix.layout import folder_of
from memorix.store import Store, unrecorded

_log = logging.getLogger(__name__)


def enter(store: Store, scope: str, verb: str, path: str, title: str, now: datetime) -> None:
    """Add an entry under today's date; call it with the write lock held."""
    log = f"{folder_of(scope)}/log.md"
    entry, today = lifecycle.log_entry(log, path, title), now.astimezone(UTC).date()
    _edit(store, log, lambda text: reserved.with_log_entry(text, verb, entry, today))


def _edit(store: Store, path: str, change: Callable[[str], str]) -> None:
    # A note that is saved stays said to be saved, whatever becomes of its log.
    try:
        found = store.read(path)
        old = found[0].decode() if found else ""
        new = change(old)
        if new != old:
            plain = replace(store, record=unrecorded)  # a log tells of an undoing, as of all else
            plain.write(path, new.encode(), found[1].etag if found else None)
    except (MemorixError, UnicodeDecodeError) as error:
        _log.warning("%s was not kept up: %s", path, error)
