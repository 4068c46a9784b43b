"""Measure silence: how often a question that no note answers is answered all the same."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from memorix.bench.data import Question, RetrievalSet
from memorix.bench.metrics import any_at, mean
from memorix.bench.recall import NO_BUDGET, UNSCORED, Stock, scope_of
from memorix.memory import Memory
from memorix.query import Filter, Query
from memorix.ranking import Mix

LOOKED_AT = 10
# A right note further down does not count as recalled.

NONSENSE = 100
# Questions of invented words.

_SYLLABLES = (
    "bra", "quo", "zim", "fel", "dro", "vux", "pli", "gno", "sket", "wum", "yar", "thop", "nerf",
)  # fmt: skip
_ASKED = (
    "what is the {} of the {}?",
    "why did the {} {} again?",
    "how do we configure {} for {}",
    "{} {} error",
    "{}的{}是什么？",
)
_NO_FLOOR = 1e-6
STRICTER = (0.34, 0.38, 0.46, 0.50)
# What else a strict answer might ask for, beside what it does: the curve that the choice is from.


def nonsense(seed: int = 7, count: int = NONSENSE) -> list[str]:
    """Return questions about things that do not exist, a fifth of them in Chinese."""
    chance = random.Random(seed)

    def word() -> str:
        return "".join(chance.sample(_SYLLABLES, 3))

    return [_ASKED[number % len(_ASKED)].format(word(), word()) for number in range(count)]


def silence(stock: Stock, data: RetrievalSet) -> dict[str, float]:
    """Return the share of questions answered that should not be, and of recall that is kept.

    Off-topic is each question of one group asked of the next one.  `kept` is the share of the
    questions whose right note is in the first ten without a floor that still have it there with
    one; `answered` is the share of its own questions that get any answer.
    """
    asked = [q for q in data.questions if q.gold and q.category not in UNSCORED]
    groups = list(dict.fromkeys(question.group for question in asked))
    away = dict(zip(groups, [*groups[1:], *groups[:1]], strict=True))
    with _mixed(stock, _without_floor(stock.memory)):
        recallable = [q for q in asked if any_at(_answer(stock, q), q.gold, LOOKED_AT)]
    found: dict[str, float] = {
        "count": len(asked), "recallable": len(recallable), "nonsense.count": NONSENSE
    }  # fmt: skip
    for name, strict, mix in floors(stock.memory.mix):
        with _mixed(stock, mix):
            own = {q.id: _answer(stock, q, strict=strict) for q in asked}
            off = [_answer(stock, replace(q, group=away[q.group]), strict=strict) for q in asked]
            odd = [_answer(stock, q, strict=strict) for q in _nonsense_in(groups)]
        found |= {
            f"{name}.false_injection": _share_answered(off),
            f"{name}.nonsense_answered": _share_answered(odd),
            f"{name}.answered": _share_answered(list(own.values())),
            f"{name}.kept": mean([any_at(own[q.id], q.gold, LOOKED_AT) for q in recallable]),
        }
    return found


def floors(mix: Mix) -> list[tuple[str, bool, Mix]]:
    """Return the floors to measure: name, whether it is strict, and the mix it is in."""
    others = [(f"strict_{w:.2f}", True, replace(mix, strict_words=w)) for w in STRICTER]
    return [("default", False, mix), ("strict", True, mix), *others]


def silence_rows(measures: Mapping[str, float], mix: Mix) -> list[list[str]]:
    """Return the rows of a table, a floor each."""
    keys = ("false_injection", "nonsense_answered", "answered", "kept")
    return [
        [name, *(f"{measures[f'{name}.{key}']:.3f}" for key in keys)] for name, *_ in floors(mix)
    ]


def _nonsense_in(groups: Sequence[str]) -> list[Question]:
    return [
        Question("", groups[number % len(groups)], text, (), "", "")
        for number, text in enumerate(nonsense())
    ]


@contextmanager
def _mixed(stock: Stock, mix: Mix) -> Iterator[None]:
    before, stock.memory.mix = stock.memory.mix, mix
    try:
        yield
    finally:
        stock.memory.mix = before


def _without_floor(memory: Memory) -> Mix:
    floor = memory.embedder.card.floor if memory.embedder else 0.0
    return replace(memory.mix, margin=_NO_FLOOR - floor, words_floor=_NO_FLOOR, rest=0.0)


def _answer(stock: Stock, question: Question, *, strict: bool = False) -> Sequence[str]:
    wanted = Filter(scopes=(scope_of(question.group),))
    query = Query(question.text, wanted, limit=LOOKED_AT, max_tokens=NO_BUDGET, strict=strict)
    return [stock.ids[hit.id] for hit in stock.memory.recall(query).hits]


def _share_answered(answers: Sequence[Sequence[str]]) -> float:
    return mean([float(bool(answer)) for answer in answers])
