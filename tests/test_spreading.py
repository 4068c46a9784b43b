"""Notes that answer a question speak for those they are linked with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorix.lifecycle import Draft
from memorix.memory import Memory
from memorix.query import Answer, Filter, Match, Query
from memorix.ranking import LINKED, Mix, Ranked, by_links
from memorix.spreading import received

NOTES = st.integers(0, 6)
SEEDS = st.dictionaries(NOTES, st.floats(0.1, 10), min_size=1)
EDGES = st.lists(st.tuples(NOTES, NOTES))


def remember(memory: Memory, title: str, text: str, **more: object) -> str:
    return memory.remember(Draft(text, title, **more)).id  # type: ignore[arg-type]


def titles(answer: Answer) -> list[str]:
    return [hit.title for hit in answer.hits]


@pytest.fixture
def filled(memory: Memory) -> Memory:
    remember(memory, "Dispatcher", "The mail dispatcher belongs to [[Team Otter]].")
    remember(memory, "Team Otter", "Room 214, paged at any hour.", tags=("team",))
    remember(memory, "Team Crane", "Room 118, paged at any hour.", tags=("team",))
    remember(memory, "Renderer", "The invoice renderer belongs to [[Team Crane]].")
    return memory


def test_a_note_that_only_a_link_leads_to_comes_after_the_hit_that_links_it(
    filled: Memory,
) -> None:
    answer = filled.recall(Query("who is behind the mail dispatcher"))
    assert titles(answer) == ["Dispatcher", "Team Otter"]
    assert any(note.startswith(LINKED) for note in answer.hits[1].why.notes)


def test_of_notes_that_match_alike_the_one_linked_with_a_hit_is_first(filled: Memory) -> None:
    found = titles(filled.recall(Query("room of who has the mail dispatcher")))
    assert found.index("Team Otter") < found.index("Team Crane")


def test_a_link_is_followed_back(filled: Memory) -> None:
    assert titles(filled.recall(Query("what does team crane do")))[:2] == ["Team Crane", "Renderer"]


@pytest.mark.parametrize(
    ("question", "chain"),
    [
        (
            "what does tern rest on after all",
            [
                ("Service tern", "tern resizes avatars. Depends on [[Service skua]]."),
                ("Service skua", "skua holds the thumbnails. Depends on [[Volume petrel]]."),
                ("Volume petrel", "A network disk of 4 TB, snapshotted at two."),
            ],
        ),
        (
            "灯塔最终依赖哪台机器",
            [
                ("服务 灯塔", "灯塔推送通知，依赖 [[服务 礁石]]。"),
                ("服务 礁石", "礁石保存订阅关系，部署在 [[机房三号柜]]。"),
                ("机房三号柜", "三号柜两路供电，周日检修。"),
            ],
        ),
    ],
)
def test_two_links_in_a_row_are_followed(
    filled: Memory, question: str, chain: list[tuple[str, str]]
) -> None:
    for title, text in chain:
        remember(filled, title, text)

    assert titles(filled.recall(Query(question))) == [title for title, _ in chain]


def test_a_filter_holds_for_what_links_lead_to(filled: Memory) -> None:
    asked = Query("who pages the mail dispatcher", Filter(types=("Decision",)))
    assert titles(filled.recall(asked)) == []
    remember(filled, "Way", "The mail dispatcher retries; see [[Team Crane]].", type="Decision")
    assert titles(filled.recall(asked)) == ["Way"]


def test_what_nobody_asked_for_follows_no_links(filled: Memory) -> None:
    asked = Query("the mail dispatcher belongs to whom", strict=True)
    assert "Team Otter" not in titles(filled.recall(asked))


def test_a_note_that_links_everything_passes_little_on(filled: Memory) -> None:
    links = " ".join(f"[[Topic {number}]]" for number in range(30))
    for number in range(30):
        remember(filled, f"Topic {number}", f"Nothing on it yet {number}.")
    remember(filled, "Overview", f"The mail dispatcher and all else: {links}")
    found = titles(filled.recall(Query("page the mail dispatcher at night", limit=3)))
    assert set(found) == {"Dispatcher", "Overview", "Team Otter"}


@given(SEEDS, EDGES)
def test_what_is_received_is_a_share_of_the_most(
    seeds: dict[int, float], edges: list[tuple[int, int]]
) -> None:
    shares = received(seeds, edges)
    assert all(0 <= share <= 1 for share in shares.values())
    assert not shares or max(shares.values()) == 1
    assert set(shares) <= {note for edge in edges for note in edge}


@given(SEEDS, EDGES)
def test_links_lead_both_ways_and_count_once(
    seeds: dict[int, float], edges: list[tuple[int, int]]
) -> None:
    back = [(other, one) for one, other in edges]
    assert received(seeds, edges + back) == pytest.approx(received(seeds, edges))


def test_the_nearer_and_the_less_linked_note_receives_more() -> None:
    shares = received({1: 1.0}, [(1, 2), (2, 3)])
    assert shares[2] == 1 > shares[3] > 0
    shares = received({1: 1.0, 9: 1.0}, [(1, 2), (9, 3), (9, 4), (9, 5)])
    assert shares[2] == 1 > shares[3]


def test_a_hit_that_holds_the_whole_question_brings_nothing_in(filled: Memory) -> None:
    assert titles(filled.recall(Query("mail dispatcher"))) == ["Dispatcher"]


def test_links_bring_no_note_past_the_one_that_answers_best() -> None:
    named, beside, other = (
        Ranked(note, str(note), note, score, 0.5, 0.4, frozenset())
        for note, score in ((1, 1.0), (2, 0.9), (3, 0.95))
    )
    found = by_links([named, other, beside], [], {1: 0.2, 2: 1.0}, Mix(linked=0.3))
    assert [one.note for one in found] == [1, 2, 3]
    assert max(one.score for one in found) == 1.0


def test_a_note_that_only_resembles_comes_after_the_one_a_link_leads_to() -> None:
    best, near, far = (
        Ranked(note, "", note, score, words, 0.2, frozenset())
        for note, score, words in ((1, 1.0, 0.5), (2, 0.6, 0.1), (3, 0.5, 0.0))
    )
    linked = Match(9, 9, "", 0.0)

    found = by_links([best, near, far], [linked], {9: 1.0}, Mix(linked=0.3), lambda r: not r.words)

    assert [one.note for one in found] == [1, 2, 9, 3]
