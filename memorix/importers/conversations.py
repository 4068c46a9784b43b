"""Turn a conversation into records, one or several, for a person to look through."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from memorix.imported import Record
from memorix.note import cut_short
from memorix.yamltext import Value

PART = 60_000
# Characters after which the next turn of a conversation begins another note.

LONGEST_TITLE = 80

WHY = "a whole conversation; keep what matters of it"

_NAMES = {"user": "User", "human": "User", "assistant": "Assistant", "gemini": "Assistant"}


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said: its role as the program calls it, the text, and when."""

    role: str
    text: str
    at: datetime | None = None


def records(
    key: str, title: str, turns: Iterable[Turn], author: str, extra: Mapping[str, Value]
) -> Iterator[Record]:
    """Yield the notes of a conversation; none where nobody said anything."""
    said = [turn for turn in turns if turn.text.strip()]
    parts = list(_parts(said))
    title = title.strip() or _first_words(said)
    for number, part in enumerate(parts, 1):
        times = [turn.at for turn in part if turn.at]
        yield Record(
            key=key if number == 1 else f"{key}#{number}",
            title=title if len(parts) == 1 else f"{title} ({number}/{len(parts)})",
            body="\n\n".join(f"**{_name(turn.role)}:** {turn.text.strip()}" for turn in part),
            type="Episode",
            created=min(times, default=None),
            changed=max(times, default=None),
            author=author,
            extra=extra,
            review=WHY,
        )


def _parts(turns: list[Turn]) -> Iterator[list[Turn]]:
    """Cut a conversation between its turns, and a turn that is too long within it."""
    part: list[Turn] = []
    size = 0
    for turn in turns:
        for start in range(0, len(turn.text), PART):
            piece = replace(turn, text=turn.text[start : start + PART])
            if size >= PART:
                yield part
                part, size = [], 0
            part.append(piece)
            size += len(piece.text)
    if part:
        yield part


def _first_words(turns: list[Turn]) -> str:
    asked = next((turn for turn in turns if _name(turn.role) == "User"), None)
    first = asked or (turns[0] if turns else None)
    return cut_short(" ".join(first.text.split()), LONGEST_TITLE) if first else ""


def _name(role: str) -> str:
    return _NAMES.get(role.lower(), role.capitalize() or "Somebody")
