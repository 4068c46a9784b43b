"""What lifts a note whatever is asked: nothing, unless the settings say so."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memorix.arguments import query_from
from memorix.config import load
from memorix.errors import ConfigInvalid
from memorix.lifecycle import Draft
from memorix.memory import Memory
from memorix.priors import Priors, read
from memorix.query import Answer
from memorix.wiring import open_memory

NOW = datetime(2026, 12, 2, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def at_noon(memory: Memory) -> None:
    memory.clock = lambda: NOW


def keep(memory: Memory, title: str, days_ago: int = 10, **more: object) -> str:
    draft = Draft(f"The gateway of {title} is painted.", title)
    when = NOW - timedelta(days=days_ago)
    return memory.remember(replace(draft, when=when, **more)).id  # type: ignore[arg-type]


def ask(memory: Memory, **weights: float) -> Answer:
    memory.mix = replace(memory.mix, priors=Priors(**weights))
    return memory.recall(query_from("gateway painted"))


def titles(answer: Answer) -> list[str]:
    return [hit.title for hit in answer.hits]


def test_without_a_setting_no_prior_counts(memory: Memory) -> None:
    keep(memory, "alpha", extra={"importance": 1})
    keep(memory, "omega", extra={"importance": 5}, origin="inferred")

    first, second = ask(memory).hits

    assert first.score == second.score
    assert not first.why.notes
    assert not second.why.notes


@pytest.mark.parametrize(
    ("weight", "better", "worse", "said"),
    [
        ("importance", {"extra": {"importance": 5}}, {"extra": {"importance": 1}}, "importance"),
        ("origin", {}, {"origin": "inferred"}, ""),
        ("strength", {"days_ago": 1}, {"days_ago": 90}, "well remembered +"),
        ("status", {}, {"extra": {"status": "draft"}}, ""),
    ],
)
def test_each_prior_lifts_by_its_share_alone_and_says_so(
    memory: Memory, weight: str, better: dict[str, object], worse: dict[str, object], said: str
) -> None:
    keep(memory, "worse", **worse)  # type: ignore[arg-type]
    keep(memory, "better", **better)  # type: ignore[arg-type]
    plain = {hit.title: hit.score for hit in ask(memory).hits}

    lifted = ask(memory, **{weight: 0.4})

    assert plain["better"] == plain["worse"]
    assert titles(lifted) == ["better", "worse"]
    assert said in str(lifted.hits[0].why)
    assert max(hit.score / plain[hit.title] for hit in lifted.hits) <= 1.4


def test_what_a_person_confirmed_is_trusted_more(memory: Memory) -> None:
    events = [{"by": "human:ada", "at": "2026-11-30T12:00:00Z"}]
    keep(memory, "confirmed", 20, author="human:ada", extra={"verified": events})
    keep(memory, "unchecked", 10, author="human:ada")

    answer = ask(memory, trust=0.2)

    assert titles(answer)[0] == "confirmed"
    assert "human-reviewed +20%" in str(answer.hits[0].why)


def test_a_note_that_was_recalled_stays_remembered(memory: Memory) -> None:
    used, unused = keep(memory, "used", 90), keep(memory, "unused", 90)
    memory.index.recalled([used], NOW - timedelta(days=1))

    scores = {hit.id: hit.score for hit in ask(memory, strength=0.3).hits}

    assert scores[used] > 1.1 * scores[unused]


def test_the_setting_reaches_recall(
    settings: dict[str, str], open_another: Callable[[], Memory]
) -> None:
    keep(open_another(), "alpha", extra={"importance": 5})
    memory = open_memory(load({}, settings | {"MEMORIX_PRIORS": "importance = 0.25, trust=0.1"}))

    answer = memory.recall(query_from("gateway painted"))
    memory.close()

    assert "its importance +25%" in str(answer.hits[0].why)


@pytest.mark.parametrize(
    "text", ["luck=0.1", "trust", "trust=2", "trust=0.1, trust=0.2", "trust=-1"]
)
def test_a_prior_that_does_not_exist_or_goes_too_far_is_refused(
    settings: dict[str, str], text: str
) -> None:
    with pytest.raises(ConfigInvalid, match="MEMORIX_PRIORS: must be shares from 0 to 1"):
        load({}, settings | {"MEMORIX_PRIORS": text})


def test_what_is_written_is_what_is_read() -> None:
    assert read("strength=0.1, trust = 1.0") == Priors(strength=0.1, trust=1.0)
    assert read("") == Priors()
