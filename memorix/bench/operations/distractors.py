"""Make notes to hide the right one among: of one invented company, the same for the same seed.

Their systems carry the names of birds and stones, which no hand-written scenario uses, so that
none of them can answer a probe.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from string import Formatter

FIRST = datetime(2025, 3, 3, 9, tzinfo=UTC)
SPAN_DAYS = 270
# They are all older than the first step of any scenario.


@dataclass(frozen=True, slots=True)
class Filler:
    text: str
    title: str
    type: str
    tags: tuple[str, ...]
    when: datetime


def fillers(count: int, seed: int, lang: str) -> list[Filler]:
    """Return `count` notes with different texts; half of them Chinese where `lang` is mixed."""
    dice = random.Random(f"{seed}/{lang}")
    made: dict[str, Filler] = {}
    for number, template in enumerate(_templates(dice, lang)):
        if len(made) == count:
            break
        if number > 200 * count + 1000:
            raise ValueError(f"there are not {count} different notes in {lang}")
        note = _filled(template, dice)
        made.setdefault(note.text, note)
    return list(made.values())


def names() -> Sequence[str]:
    """Return the names of the systems that the notes are about."""
    return list(_material()["slots"]["system"])


@cache
def _material() -> Mapping[str, dict[str, list[str]]]:
    text = files("memorix.bench.operations").joinpath("distractors.json").read_text("utf-8")
    material: Mapping[str, dict[str, list[str]]] = json.loads(text)
    return material


def _templates(dice: random.Random, lang: str) -> Iterator[Mapping[str, str]]:
    while True:
        language = dice.choice(["en", "zh"]) if lang == "mixed" else lang
        pool: Sequence[Mapping[str, str]] = _material()["templates"][language]  # type: ignore[assignment]
        yield dice.choice(pool)


def _filled(template: Mapping[str, str], dice: random.Random) -> Filler:
    chosen: dict[str, str] = {}
    for part in ("title", "text"):
        for _, slot, _, _ in Formatter().parse(template[part]):
            if slot and slot not in chosen:
                chosen[slot] = _value(slot, dice)
    when = FIRST + timedelta(days=dice.randrange(SPAN_DAYS), minutes=dice.randrange(600))
    return Filler(
        template["text"].format_map(chosen),
        template["title"].format_map(chosen),
        template["type"],
        (chosen["system"],),
        when,
    )


def _value(slot: str, dice: random.Random) -> str:
    slots = _material()["slots"]
    name = slot.rstrip("0123456789")
    if name == "n":
        return str(dice.randrange(2, 97))
    if name == "big":
        return str(dice.randrange(10, 900) * 10)
    if name == "port":
        return str(dice.randrange(20_000, 29_999))
    if name == "version":
        return f"{dice.randrange(0, 9)}.{dice.randrange(0, 30)}.{dice.randrange(0, 12)}"
    return dice.choice(slots[name])
