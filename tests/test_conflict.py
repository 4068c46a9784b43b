"""Whether two notes can both hold: pairs that cannot, and pairs that look as if they could not."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorix import settling
from memorix.arguments import query_from, revision_from
from memorix.bench.operations.distractors import fillers, names
from memorix.conflict import conflicts, differing
from memorix.lifecycle import by, draft_from
from memorix.memory import Memory
from memorix.note import RESERVED, Note, parse
from memorix.results import Written
from memorix.values import agree, find_values

DATA = Path(__file__).parent / "data"
MISSED_AT_MOST = 0.1
HELD_MISSED_AT_MOST, HELD_FALSE_AT_MOST = 0.2, 0.05
# Of pairs that were written after the rules.

BEYOND = {
    "Comments must be in English. | Comments may be in any language, not necessarily English.":
        "`any` names no other language",
    "Required coverage is 80 %. | Coverage must be at least 90 %.":
        "an exact value and a least one exclude each other only where both are demands",
    "Primary key type is UUID. | Primary keys are bigints.":
        "what a thing is and of which type it is are not known to be one",
    "The greenhouse sensors report every 10 minutes."
    " | We slowed the greenhouse sensors down from every 10 minutes to every half hour.":
        "each side has a verb that the other one has not",
    "The newsletter goes out through Mailchimp."
    " | The newsletter is sent through Brevo these days, not Mailchimp.":
        "nor are two verbs known to be one",
    "Game saves live in saves/. | Game saves now live in userdata/saves/.":
        "one path may be the end of the other one",
    "Pallets go from the dock to hall 3. | Pallets go from the dock to hall 4 on Fridays.":
        "an exception reads like a change",
}  # fmt: skip
# Pairs that the rules read wrongly, and why.


@dataclass(frozen=True)
class Pair:
    """Two notes, as (title, text) each, and whether they contradict each other."""

    line: str
    contradict: bool
    one: tuple[str, str]
    other: tuple[str, str]

    @property
    def flagged(self) -> bool:
        return bool(conflicts(*self.one, *self.other))


def pairs(name: str) -> list[Pair]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [_pair(line) for line in lines if line[:1] in ("+", "-")]


def _pair(line: str) -> Pair:
    sign, one, other = line.split(" | ")
    return Pair(line, sign == "+", _note(one), _note(other))


def _note(text: str) -> tuple[str, str]:
    title, _, body = text.rpartition(" :: ")
    return title.strip(), body.strip()


PAIRS = pairs("conflict-pairs.txt")


def test_no_pair_that_can_both_hold_is_flagged() -> None:
    assert [pair.line for pair in PAIRS if not pair.contradict and pair.flagged] == []


def test_nearly_all_contradictions_are_flagged() -> None:
    real = [pair for pair in PAIRS if pair.contradict]
    missed = [pair.line for pair in real if not pair.flagged]

    assert len(real) >= 200
    assert len(missed) <= MISSED_AT_MOST * len(real), missed


def test_pairs_that_the_rules_were_not_made_for_are_mostly_told_apart() -> None:
    held = pairs("conflict-pairs-held.txt")
    real, clear = ([p for p in held if p.contradict is wanted] for wanted in (True, False))

    assert sum(not pair.flagged for pair in real) <= HELD_MISSED_AT_MOST * len(real)
    assert sum(pair.flagged for pair in clear) <= HELD_FALSE_AT_MOST * len(clear)


def test_changes_denials_and_reports_of_every_kind_are_mostly_told_apart() -> None:
    """Told as drafts, with the titles that a draft without one is given."""
    kinds = pairs("conflict-kinds.txt")

    wrong = {pair.line[4:] for pair in kinds if drafted_flag(pair) != pair.contradict}

    assert len(kinds) >= 200
    assert wrong == BEYOND.keys()


def test_changes_and_reports_that_the_rules_were_not_made_for_are_mostly_told_apart() -> None:
    held = pairs("conflict-kinds-held.txt")
    real, clear = ([p for p in held if p.contradict is wanted] for wanted in (True, False))

    assert sum(not drafted_flag(pair) for pair in real) <= MISSED_AT_MOST * len(real)
    assert sum(drafted_flag(pair) for pair in clear) <= HELD_FALSE_AT_MOST * len(clear)


def test_notes_made_alike_of_two_things_are_not_set_against_each_other() -> None:
    """Only where a made note names both systems, or neither, may two of them be flagged."""
    notes = [(f.title, f.text) for lang in ("en", "zh") for f in fillers(120, 3, lang)]
    systems = [{name for name in names() if name in f"{title} {text}"} for title, text in notes]
    both = [(a, b) for a, b in combinations(range(len(notes)), 2) if not systems[a] & systems[b]]

    flagged = [pair for pair in both if conflicts(*notes[pair[0]], *notes[pair[1]])]

    assert len(both) > 20_000
    assert len(flagged) <= len(both) / 1000


def test_a_sentence_broken_to_fit_a_page_is_read_as_one() -> None:
    broken = "Retries of a failed upload to the archive in the basement are limited to\n5 times."

    assert conflicts("", broken, "", broken.replace("\n5", " 8"))
    assert not conflicts("", broken, "", broken.replace("\n5", " 5"))


def drafted_flag(pair: Pair) -> bool:
    one, other = (draft_from(text, title) for title, text in (pair.one, pair.other))
    return bool(conflicts(one.title, one.text, other.title, other.text))


def test_real_bundles_hold_hardly_a_contradiction() -> None:
    """Notes of one bundle that its authors keep consistent, all against all."""
    folder = DATA / "okf-bundles/okf-gem/bundles/okf-mcp"
    found = sorted(path for path in folder.rglob("*.md") if path.name not in RESERVED)
    notes = [parse(path.read_bytes(), path.name) for path in found]
    both = list(combinations(notes, 2))

    flagged = [pair for pair in both if conflicts(*stated(pair[0]), *stated(pair[1]))]

    assert len(both) > 100
    assert len(flagged) <= len(both) / 100


def stated(note: Note) -> tuple[str, str]:
    return note.title, note.body


def test_a_contradiction_is_one_from_either_side() -> None:
    backwards = {pair.line: bool(conflicts(*pair.other, *pair.one)) for pair in PAIRS}

    assert [pair.line for pair in PAIRS if pair.flagged != backwards[pair.line]] == []


def test_the_same_text_never_contradicts_itself() -> None:
    notes = {note for pair in PAIRS for note in (pair.one, pair.other)}

    assert [note for note in notes if conflicts(*note, *note)] == []


texts = st.text("aé'#+-.:=/01 \n第一月日点不要是用，。：（[]`*_\ue000🎉ßЖ한", max_size=40)


@given(texts, texts)
def test_any_text_is_read_and_either_side_says_the_same(one: str, other: str) -> None:
    here, there = (one[:9], one), (other[:9], other)

    assert bool(conflicts(*here, *there)) == bool(conflicts(*there, *here))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("30 s", "30000 ms", True),
        ("2 minutes", "120 seconds", True),
        ("1 小时", "60 分钟", True),
        ("2:15 am", "凌晨 2 点", False),
        ("02:15", "2:15 am", True),
        ("October 12", "2026-10-12", True),
        ("2026 年 10 月 12 日", "12 October", True),
        ("Tuesdays", "周二", True),
        ("3.11", "3.11.4", True),
        ("3.11", "3.12", False),
        ("v2", "2.4.1", True),
        ("three times", "3 times", True),
        ("两人", "2 人", True),
        ("1.5 GB", "1500 MB", True),
        ("https://A.test/x/", "https://a.test/x", True),
        ("/srv/app/deploy/values.yaml", "deploy/values.yaml", True),
        ("/metrics", "/internal/metrics", False),
        ("10 MB", "10 s", None),
    ],
)
def test_values_agree_whatever_their_unit_and_spelling(
    one: str, other: str, expected: bool | None
) -> None:
    assert agree(find_values(one)[0], find_values(other)[0]) is expected


def test_what_differs_is_told_in_values_and_words() -> None:
    told = differing(
        "Staging host", "Staging runs on harbour-eu-3.", "Production host", "Runs on harbour-eu-4."
    )

    assert told.startswith("here: harbour-eu-3")
    assert "there: harbour-eu-4" in told


# -- through the door


def keep(memory: Memory, text: str, title: str = "", **more: object) -> Written:
    return memory.remember(draft_from(text, title, **more))  # type: ignore[arg-type]


def hits(memory: Memory, question: str) -> list[str]:
    return [hit.id for hit in memory.recall(query_from(question)).hits]


def test_a_contradiction_is_told_with_both_sides_and_nothing_is_dropped(memory: Memory) -> None:
    old = keep(memory, "The gateway listens on port 8443.", "Gateway port")

    new = keep(memory, "The gateway listens on port 9443.", "Port of the gateway")

    assert new.status == "possible conflict"
    assert [(near.id, near.conflict) for near in new.near] == [(old.id, True)]
    assert "9443" in new.near[0].differs
    assert "8443" in new.near[0].differs
    assert sorted(hits(memory, "gateway port")) == sorted([old.id, new.id])


@pytest.mark.parametrize(
    ("way", "left"),
    [("it has changed", ["new"]), ("both are claimed", ["new", "old"])],
)
def test_the_calls_that_are_told_settle_it(way: str, left: list[str], memory: Memory) -> None:
    old = keep(memory, "网关监听 8443 端口。", "网关端口")
    new = keep(memory, "网关监听 9443 端口。", "网关的端口")
    call = next(told for told in new.settle if told.startswith(way))

    arguments = eval(call.partition(": ")[2].replace("revise(", "dict("))
    note_id, etag = arguments.pop("id"), arguments.pop("etag")
    settling.revise(memory, note_id, etag, revision_from(**arguments))

    ids = {"old": old.id, "new": new.id}
    assert sorted(hits(memory, "网关端口")) == sorted(ids[name] for name in left)
    assert keep(memory, "网关监听 9443 端口。", "网关的端口").status == "already known"


def test_an_older_fact_that_comes_late_is_to_be_replaced_by_the_newer(memory: Memory) -> None:
    current = keep(memory, "Backups run at 04:40.", "Backups")

    late = keep(memory, "Backups run at 01:00.", "Backups", keys={"valid_from": "2020-01-01"})

    assert late.settle[0].startswith("the new note tells of an earlier time")
    assert f'id="{late.id}"' in late.settle[0]
    assert f'supersede="{current.id}"' in late.settle[0]


def test_the_user_s_notes_are_compared_too_and_other_projects_are_not(
    memory: Memory, vault: Path
) -> None:
    (vault / "projects/other").mkdir(parents=True)
    (vault / "projects/other/n.md").write_text("Use tabs for indentation.", encoding="utf-8")
    memory.catch_up()
    mine = memory.remember(draft_from("Use spaces for indentation."), "user")

    new = keep(memory, "Use tabs for indentation.")

    assert mine.status == "created"
    assert new.status == "possible conflict"
    assert [near.id for near in new.near] == [mine.id]


def test_an_episode_contradicts_nothing(memory: Memory) -> None:
    keep(memory, "The gateway listens on port 8443.", "Gateway port")

    raw = keep(memory, "The gateway listens on port 9443.", "Log of the call", type="Episode")

    assert raw.status == "created"


def test_a_contradiction_is_found_among_many_notes_with_the_same_words(memory: Memory) -> None:
    things = ["timeout", "port", "region", "quota"]
    drafts = [
        draft_from(f"The {thing} of gateway-{n} is {n * 7 + place}.", f"gateway-{n} {thing}")
        for n in range(100)
        for place, thing in enumerate(things)
    ]
    memory.remember_all((draft, "") for draft in drafts)

    new = keep(memory, "The port of gateway-42 is 9999.", "gateway-42 port again")

    assert new.status == "possible conflict"
    assert new.near[0].title == "gateway-42 port"


def test_no_two_notes_that_can_both_hold_are_ever_made_one(
    open_another: Callable[[], Memory],
) -> None:
    memory = open_another()
    notes = [note for pair in PAIRS if not pair.contradict for note in (pair.one, pair.other)]
    distinct = list(dict.fromkeys(notes))

    done = memory.remember_all((draft_from(text, title), "") for title, text in distinct)

    assert len({written.id for written in done}) == len(distinct)


def marks(memory: Memory, question: str) -> dict[str, str]:
    return {hit.id: str(hit.why) for hit in memory.recall(query_from(question)).hits}


def test_both_sides_of_an_unsettled_contradiction_come_back_marked_the_newer_first(
    memory: Memory,
) -> None:
    old = keep(memory, "The worker pool has 8 threads, a good many for one worker.", "Worker pool")
    memory.clock = lambda: datetime.now(UTC) + timedelta(days=9)
    new = keep(memory, "There are 16 threads in the worker pool.", "Threads of the worker pool")
    bystander = keep(memory, "The worker pool is written in Rust.", "Language of the worker pool")

    found = marks(memory, "worker pool threads")

    assert f"possible conflict with {new.id}" in found[old.id]
    assert f"possible conflict with {old.id}" in found[new.id]
    assert "conflict" not in found[bystander.id]
    ids = list(found)
    assert ids.index(new.id) < ids.index(old.id)


def test_a_person_s_note_comes_before_a_program_s_newer_one(memory: Memory, vault: Path) -> None:
    (vault / "user").mkdir(parents=True)
    (vault / "user/indent.md").write_text(
        "---\ntype: Preference\n---\n\nIndent Python with four spaces.\n", encoding="utf-8"
    )
    memory.catch_up()
    guess = memory.remember(
        by(draft_from("Indent Python with two spaces.", "Python indentation"), "agent/1"), "user"
    )

    found = marks(memory, "how to indent Python")

    assert guess.status == "possible conflict"
    assert list(found) == ["user/indent", guess.id]


@pytest.mark.parametrize(
    "keys", [{"importance": "5"}, {"verified": [{"by": "x/1", "at": "2026-01-01T00:00:00Z"}]}]
)
def test_what_matters_more_or_was_confirmed_comes_before_what_is_newer(
    keys: dict[str, object], memory: Memory
) -> None:
    firm = keep(
        memory, "Releases are cut from the branch release/next.", "Release branch", keys=keys
    )
    memory.clock = lambda: datetime.now(UTC) + timedelta(days=9)
    guess = keep(memory, "Releases are cut from the branch main.", "Release branch?")

    assert list(marks(memory, "release branch")) == [firm.id, guess.id]


def test_a_settled_contradiction_is_no_longer_marked(memory: Memory) -> None:
    old = keep(memory, "The gateway listens on port 8443.", "Gateway port")
    new = keep(memory, "The gateway listens on port 9443.", "Gateway's port")

    settling.replaced_by(memory, old.id, old.etag, new.id)

    assert "conflict" not in marks(memory, "gateway port")[new.id]


def test_titles_made_of_the_texts_change_little_of_what_is_seen() -> None:
    untitled = [p for p in PAIRS if not (p.one[0] or p.other[0])]
    drafts = [(draft_from(p.one[1]), draft_from(p.other[1])) for p in untitled]
    flagged = [bool(conflicts(a.title, a.text, b.title, b.text)) for a, b in drafts]
    found = list(zip(untitled, flagged, strict=True))

    assert [p.line for p, seen in found if seen and not p.contradict] == []
    missed = [p.line for p, seen in found if p.contradict and not seen]
    assert len(missed) <= MISSED_AT_MOST * sum(p.contradict for p in untitled)
