"""The scenarios themselves: their form, their number, and the rules they were written by."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

import pytest
from py_rust_stemmers import SnowballStemmer

from memorix.bench.operations.distractors import names
from memorix.bench.operations.scenarios import FAMILIES, HALVES, LANGUAGES, Scenario, Step, read

STOP = frozenset(
    re.findall(
        r"\w+",
        """a about after again all also am an and any are as at be been before being but by
        can could did do does down for from had has have how i if in into is it its may me
        more most must my no not of off on one only or other our out over own same should so
        some such than that the their them then there these they this those to too under
        until up us was we were what when where which while who why will with without would
        you your""",
    )
)
STOP_ZH = ("什么", "怎么", "为什么", "多少", "我们", "现在", "可以", "哪个", "哪里", "时候", "的时")
# Words that say nothing of what is asked.

MOST_SHARED = 2
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_stem = SnowballStemmer("english").stem_word


def content_words(text: str) -> set[str]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return {_stem(word) for word in words if word not in STOP and len(word) > 1}


def shared(question: str, note: str) -> set[str]:
    """Return the words, and the runs of two Chinese characters or more, that both texts hold."""
    common = content_words(question) & content_words(note)
    for word in STOP_ZH:
        question, note = question.replace(word, " "), note.replace(word, " ")
    mine, theirs = " ".join(_HAN.findall(question)), " ".join(_HAN.findall(note))
    blocks = SequenceMatcher(None, mine, theirs, autojunk=False).get_matching_blocks()
    runs = (part for b in blocks for part in mine[b.a : b.a + b.size].split())
    return common | {run for run in runs if len(run) > 1}


def said_by(step: Step) -> str:
    return " ".join(str(step.args.get(key, "")) for key in ("title", "text", "content"))


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


@pytest.fixture(scope="module", params=HALVES)
def half(request: pytest.FixtureRequest) -> list[Scenario]:
    return read(request.param)


def test_ids_are_unique_and_tell_family_and_half() -> None:
    ids = [scenario.id for half in HALVES for scenario in read(half)]

    assert len(ids) == len(set(ids))
    for name in HALVES:
        assert all(s.id.startswith(f"{s.family}-{name[0]}") for s in read(name))


def test_every_scenario_is_well_formed(half: list[Scenario]) -> None:
    for scenario in half:
        assert scenario.lang in LANGUAGES, scenario.id
        assert scenario.family in FAMILIES, scenario.id
        made = [step.name for step in scenario.steps if step.name]
        assert len(made) == len(set(made)), scenario.id
        assert scenario.probes, scenario.id
        for probe in scenario.probes:
            asked = probe.query or probe.via != "recall" or probe.filters
            assert asked, f"{scenario.id} asks nothing"
            wanted = (
                probe.must, probe.must_not, probe.first, probe.order, probe.strings, probe.empty,
                probe.not_strings, probe.all_or_none, probe.flags, probe.unflagged, probe.status,
            )  # fmt: skip
            assert any(wanted), f"{scenario.id} expects nothing of {probe.query!r}"


def test_what_recall_has_to_tell_is_said_by_a_step(half: list[Scenario]) -> None:
    """A string that no note holds would be a probe nobody can pass."""
    for scenario in half:
        said = "\n".join(text for step in scenario.steps for text in texts_in(step.args))
        for probe in scenario.probes:
            if probe.via in ("recall", "files"):
                assert not [text for text in probe.strings if text not in said], scenario.id


def test_hard_questions_share_at_most_two_content_words_with_their_note(
    half: list[Scenario],
) -> None:
    for scenario in half:
        notes = {step.name: said_by(step) for step in scenario.steps if step.name}
        for probe in scenario.probes:
            if probe.kind == "hard":
                for name in probe.must:
                    common = shared(probe.query, notes[name])
                    assert len(common) <= MOST_SHARED, f"{scenario.id} {probe.query!r}: {common}"


def test_no_question_is_asked_twice(half: list[Scenario]) -> None:
    asked = Counter(
        (scenario.id, probe.query, probe.at, str(probe.filters), probe.project, probe.user)
        for scenario in half
        for probe in scenario.probes
        if probe.query
    )

    assert [question for question, times in asked.items() if times > 1] == []


def test_distractors_speak_of_systems_no_scenario_knows(half: list[Scenario]) -> None:
    birds = re.compile(rf"\b({'|'.join(names())})\b", re.IGNORECASE)

    for scenario in half:
        texts = [said_by(step) for step in scenario.steps] + [p.query for p in scenario.probes]
        assert not [text for text in texts if birds.search(text)], scenario.id


def test_a_third_is_chinese_or_mixed(half: list[Scenario]) -> None:
    other = [scenario for scenario in half if scenario.lang != "en"]

    assert len(other) >= len(half) / 3 - 1


def test_there_are_as_many_as_were_promised() -> None:
    every = [scenario for name in HALVES for scenario in read(name)]

    assert len(every) >= 270
    assert sum(len(scenario.probes) for scenario in every) >= 1280
    assert sum(scenario.lang != "en" for scenario in every) >= len(every) / 3


def test_each_family_has_half_of_its_scenarios_held_out() -> None:
    for family in FAMILIES:
        given, held_out = (len(read(name, [family])) for name in HALVES)
        assert abs(given - held_out) <= 1, family
