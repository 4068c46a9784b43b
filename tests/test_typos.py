"""A word with a slip in it finds what was meant."""

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memorix.lifecycle import Draft
from memorix.memory import Memory
from memorix.query import Answer, Query
from memorix.typos import meant, neighbours

WORDS = st.text(string.ascii_lowercase, min_size=2, max_size=12)


@pytest.fixture
def filled(memory: Memory) -> Memory:
    for text in (
        "The Kubernetes ingress drops connections after sixty seconds.",
        "Invoices are rendered by the billing worker at night.",
        "The limit stands in MAX_CONNECTIONS of the pool.",
    ):
        memory.remember(Draft(text, text[:20]))
    return memory


def ask(memory: Memory, text: str, *, strict: bool = False) -> Answer:
    return memory.recall(Query(text, strict=strict))


@pytest.mark.parametrize(
    "typed", ["kuberntes", "kubrenetes", "kubernettes", "kubermetes", "lubernetes"]
)
def test_a_word_with_one_slip_finds_what_was_meant_and_tells_how_it_was_read(
    filled: Memory, typed: str
) -> None:
    answer = ask(filled, f"which ingress on {typed}")
    assert "ingress" in answer.hits[0].gist
    assert f"{typed}: kubernetes" in answer.read_as
    assert "Kubernetes" in ask(filled, typed).hits[0].gist


def test_a_part_of_an_identifier_may_be_mistyped(filled: Memory) -> None:
    assert "MAX_CONNECTIONS" in ask(filled, "MAX_CONECTIONS").hits[0].gist


def test_a_word_that_notes_have_is_never_read_as_another(filled: Memory) -> None:
    filled.remember(Draft("A kubernete is a small fish.", "Fish"))
    answer = ask(filled, "kubernete fish")
    assert "fish" in answer.hits[0].gist
    assert answer.read_as == ()


def test_short_words_and_words_far_from_all_others_stay_unknown(filled: Memory) -> None:
    assert not ask(filled, "pole").hits
    answer = ask(filled, "zygomorphic")
    assert not answer.hits
    assert "zygomorphic" in answer.silent


def test_who_did_not_ask_gets_no_guess(filled: Memory) -> None:
    assert not ask(filled, "kuberntes", strict=True).hits


def test_a_word_of_a_private_note_is_not_suggested(filled: Memory) -> None:
    filled.remember(Draft("The codename is brontosaurus.", "Name", extra={"private": "true"}))
    answer = ask(filled, "ingress brontosauris")
    assert all("brontosaurus" not in line for line in answer.read_as)


@given(WORDS, WORDS)
def test_two_words_are_neighbours_either_way_or_not_at_all(one: str, other: str) -> None:
    assert (other in neighbours(one)) == (one in neighbours(other))


@given(WORDS, st.data())
def test_every_slip_of_a_finger_is_a_neighbour(word: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(word) - 2))
    letter = data.draw(st.sampled_from(string.ascii_lowercase))
    head, two, tail = word[:place], word[place : place + 2], word[place + 2 :]
    slips = (head + two[1] + tail, head + two[::-1] + tail, head + letter + two + tail)
    for slip in slips:
        assume(slip != word)
        assert word in neighbours(slip)


def test_of_several_words_that_may_be_meant_the_commonest_is() -> None:
    assert meant("serber", {"server": 9, "sober": 50, "berber": 2}) == "server"
    assert meant("serber", {}) == "serber"
