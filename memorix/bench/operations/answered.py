"""Read what the tools of Memorix answer as what a probe counts."""

import re
from collections.abc import Mapping
from typing import Any

from memorix.bench.operations.adapter import Done, Found

_STATUS = {
    "created": "created",
    "already known": "known",
    "possible conflict": "conflict",
    "superseded": "created",
    "filed as history": "created",
    "suggested": "created",
}
_MARKS = {
    "superseded": r"\bsuperseded\b|\breplaced by\b",
    "contested": r"\bcontested\b|\bconflict",
    "retired": r"\bretired\b|\bdeprecated\b",
    "expired": r"\bexpired\b",
    "stale": r"\bstale\b|\bre-?check\b",
    "instruction": r"\breads like an instruction\b",
    "masked": r"\bmasked\b|\bsecret\b",
    "unreviewed": r"\bunreviewed\b|\binbox\b",
    "private": r"\bprivate\b",
    "branch": r"\bbranch\b",
}
_ULID = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")


def done_by(answer: Mapping[str, Any]) -> Done:
    """Return what a write did, and which other notes its answer names."""
    shown = answer["shown"]
    named = [id for id in _ULID.findall(shown) if id != answer["id"]]
    status = _STATUS.get(answer.get("status", ""), "changed")
    return Done(answer["id"], status, named, text=shown, masked="masked" in marks_in(shown))


def found(hit: Mapping[str, Any]) -> Found:
    rest = " ".join(str(v) for k, v in hit.items() if k not in ("id", "title", "gist", "type"))
    return Found(hit["id"], f"{hit['title']}\n{hit['gist']}", marks_in(rest), hit["score"])


def marks_in(text: str) -> frozenset[str]:
    """Return what a text says of a note besides its own words."""
    return frozenset(mark for mark, words in _MARKS.items() if re.search(words, text.lower()))
