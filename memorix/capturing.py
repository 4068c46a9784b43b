"""Take what hooks kept of sessions into the inbox, where a person decides about it."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memorix import wiring
from memorix.config import load
from memorix.erasing import Beside
from memorix.errors import InvalidRequest, MemorixError
from memorix.hooks import desk
from memorix.index.sqlite import SqliteIndex
from memorix.lifecycle import Draft, by, draft_from
from memorix.usage import Use

TITLE_LENGTH = 60

_log = logging.getLogger(__name__)


def take_in(flags: Mapping[str, str | None] | None = None) -> int:
    """Suggest a note for each session that hooks left something of; return how many.

    What cannot be taken in now, as while the vault is missing, stays for the next time; twice the
    same is one suggestion.
    """
    taken = 0
    for name, left in desk.spooled():
        try:
            taken += _taken(left, flags or {})
        except InvalidRequest as error:  # it would not be taken the next time either
            _log.warning("What a hook left is not taken in: %s", error)
        except MemorixError as error:
            _log.warning("What hooks left waits: %s", error)
            break
        desk.drop(name)
    return taken


def count_uses() -> None:
    """Count what hooks showed of each index since this was last done."""
    uses: dict[str, list[Use]] = {}
    for left in desk.take_uses():
        with suppress(TypeError, ValueError, OverflowError, OSError):  # nobody else writes there
            at = datetime.fromtimestamp(int(left.get("at") or 0), UTC)
            ids = tuple(map(str, left.get("ids") or ()))
            host, act = str(left.get("host") or "unknown"), str(left.get("act") or "hook")
            use = Use(host, act, at, ids, int(left.get("tokens") or 0))
            uses.setdefault(str(left.get("index") or ""), []).append(use)
    for path, shown in uses.items():
        try:
            _count(Path(path), shown)
        except MemorixError as error:  # one of another vault, perhaps; the others are counted
            _log.warning("uses of %s were not counted: %s", path, error)


def _count(path: Path, shown: Sequence[Use]) -> None:
    if path.is_file():
        index = SqliteIndex(path)
        try:
            index.count_uses(shown)
        finally:
            index.close()


def beside() -> Beside:
    """Return what is to forget, too, what is erased."""
    return Beside(Path(desk.folder()), desk.forget)


def draft_of(left: Mapping[str, Any]) -> Draft:
    """Return what a hook left of a session as a suggestion: what was asked, and what was said.

    Raises:
        InvalidRequest: It is empty, or too much.
    """
    day = datetime.fromtimestamp(int(left.get("at") or 0), UTC).date()
    prompts = [" ".join(str(prompt).split()) for prompt in left.get("prompts") or []]
    text = str(left.get("text") or "")
    if not prompts:
        return draft_from(text, f"Summary of a session on {day}", "Episode", suggested=True)
    asked = "\n".join(f"- {prompt}" for prompt in prompts)
    body = f"# Asked\n\n{asked}\n\n# Said at the end\n\n{text}"
    first = prompts[0][:TITLE_LENGTH]
    return draft_from(body, f"Session on {day}: {first}", "Episode", suggested=True)


def _taken(left: Mapping[str, Any], flags: Mapping[str, str | None]) -> bool:
    cwd = str(left.get("cwd") or "")
    if not cwd or not Path(cwd).is_dir():  # a scratch folder that is gone has no memory
        return False
    draft = by(draft_of(left), str(left.get("host") or ""))
    memory = wiring.open_memory(load({**flags, "cwd": cwd}))
    try:
        return memory.remember(draft).status == "suggested"
    finally:
        memory.close()
