"""What is read teaches how far words count: within a margin, and never much to the worse."""

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from memorix.arguments import query_from
from memorix.config import load
from memorix.feedback import MARGIN, Impression, Signals, learn
from memorix.lifecycle import Draft
from memorix.memory import Memory
from memorix.wiring import open_memory
from tests.hashing import HashingEmbedder

LOSS = 0.03
# Of reciprocal rank, which what was learnt may cost against the fixed share, whoever reads.

Page = list[Signals]


def pages(seed: int, count: int) -> list[Page]:
    chance = random.Random(seed)
    return [
        [Signals(share, chance.random(), chance.random()) for _ in range(20)]
        for share in (chance.uniform(0.1, 0.7) for _ in range(count))
    ]


def at(offset: float, one: Signals) -> float:
    return one.score + offset * one.slope


def wanted(page: Page, taste: float, noise: random.Random) -> Signals:
    return max(page, key=lambda one: at(taste, one) + noise.gauss(0, 0.02))


def shown(page: Page, offset: float) -> Page:
    return sorted(page, key=lambda one: -at(offset, one))[:8]


def watched(taste: float, seed: int, careless: float, questions: int) -> list[Impression]:
    noise, seen = random.Random(seed), []
    for number, page in enumerate(pages(seed, questions)):
        listed, best = shown(page, 0.0), wanted(page, taste, noise)
        read = noise.choice(listed) if noise.random() < careless else best
        seen += [
            Impression(str(number), str(place), place, one, one is read)
            for place, one in enumerate(listed)
        ]
    return seen


def mean_rank(taste: float, offset: float, seed: int) -> float:
    noise = random.Random(seed)
    tested = pages(seed, 300)
    ranks = []
    for page in tested:
        best = wanted(page, taste, noise)
        ranks.append(1 / (1 + shown_in_full(page, offset).index(best)))
    return sum(ranks) / len(ranks)


def shown_in_full(page: Page, offset: float) -> Page:
    return sorted(page, key=lambda one: -at(offset, one))


@pytest.mark.parametrize("taste", [-0.3, 0.3])
def test_readers_with_a_taste_are_served_better(taste: float) -> None:
    offset = learn(watched(taste, 1, 0.1, 150)).offset

    assert offset * taste > 0
    assert mean_rank(taste, offset, 99) > mean_rank(taste, 0.0, 99) + 0.02


@pytest.mark.parametrize("careless", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("taste", [-0.3, -0.1, 0.0, 0.1, 0.3])
def test_nobody_is_served_worse_by_more_than_the_margin(taste: float, careless: float) -> None:
    for seed in range(4):
        learnt = learn(watched(taste, seed, careless, 100))

        assert abs(learnt.offset) <= MARGIN
        fixed = mean_rank(taste, 0.0, seed + 50)
        assert mean_rank(taste, learnt.offset, seed + 50) >= fixed - LOSS


def test_a_few_reads_teach_nothing() -> None:
    assert learn(watched(0.3, 1, 0.0, 5)).offset == 0.0


@pytest.fixture
def learning(settings: dict[str, str]) -> Iterator[Memory]:
    memory = open_memory(load({}, settings | {"MEMORIX_LEARN": "on"}))
    memory.clock = lambda: datetime(2026, 12, 2, 12, tzinfo=UTC)
    memory.use_model(HashingEmbedder())
    yield memory
    memory.close()


def keep_and_ask(memory: Memory) -> list[str]:
    for number in range(3):
        memory.remember(Draft(f"The gateway number {number} is painted.", f"Gate {number}"))
    memory.embed_pending()
    return [hit.id for hit in memory.recall(query_from("gateway painted")).hits]


def test_what_is_read_after_a_recall_is_kept_and_leaves_with_its_note(learning: Memory) -> None:
    ids = keep_and_ask(learning)
    learning.read(ids[1])

    assert [(one.id, one.read) for one in learning.index.impressions()] == [
        (note_id, note_id == ids[1]) for note_id in ids
    ]
    learning.forget(ids[1], "erase")
    assert ids[1] not in {one.id for one in learning.index.impressions()}


def test_nothing_is_kept_unless_it_is_switched_on(memory: Memory) -> None:
    memory.use_model(HashingEmbedder())
    memory.read(keep_and_ask(memory)[0])

    assert memory.index.impressions() == []


def test_what_was_learnt_is_shown_and_forgotten_by_command(
    learning: Memory, memorix: Callable[..., str]
) -> None:
    learning.read(keep_and_ask(learning)[0])

    before = json.loads(memorix("feedback", "--json", MEMORIX_LEARN="on"))
    after = json.loads(memorix("feedback", "--reset", "--json", MEMORIX_LEARN="on"))

    assert (before["on"], before["shown"], before["reads"], before["offset"]) == (True, 3, 1, 0.0)
    assert (after["shown"], after["reads"]) == (0, 0)


def test_what_was_learnt_reaches_recall(learning: Memory) -> None:
    ids = keep_and_ask(learning)
    listed = [Signals(0.4, 0.2, 0.9), Signals(0.4, 0.9, 0.3)]
    for number in range(60):
        rows = [Impression(f"q{number}", ids[p], p, s) for p, s in enumerate(listed)]
        learning.index.show("", rows, learning.clock())
        learning.read(ids[1])

    hits = learning.recall(query_from("gateway painted")).hits

    learnt = learning.learning.mixed(learning.index, learning.mix).learnt
    assert 0 < learnt <= MARGIN
    assert hits
    assert all(f"words {learnt:+.0%} by reading" in hit.why.notes for hit in hits)
