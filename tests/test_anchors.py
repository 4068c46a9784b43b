"""The one pass that tells which patterns are worth a look finds what a look for each would find."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorix import injection, keyforms
from memorix.anchors import Anchors, Words

WORDS = [
    *sorted({word for form in keyforms.FORMS for word in form.anchors}),
    "忘",
    "系统",
    "é",
    ".",
]
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS).map(lambda word: word[:-1]),
    st.text(max_size=5),
    st.characters(categories=["Cs"]),
)


@given(st.lists(PIECES, max_size=20).map("".join))
def test_what_has_an_anchor_in_a_text_is_found_in_its_order(text: str) -> None:
    anchored = [(form.label, form.anchors) for form in keyforms.FORMS]
    anchored += [("all of them", ("系统", *WORDS)), ("short", ("s", "é")), ("inner", ("k_l", "_t"))]

    expected = [item for item, anchors in anchored if any(anchor in text for anchor in anchors)]

    assert Anchors(anchored).within(text) == expected


@pytest.mark.parametrize("sign", injection._SIGNS, ids=lambda sign: f"{sign.words[0]}")
@given(data=st.data())
def test_whatever_speaks_to_a_model_holds_a_word_by_which_it_is_looked_for(
    sign: Any, data: st.DataObject
) -> None:
    text = data.draw(st.from_regex(sign.pattern))

    match = sign.pattern.search(text)

    assert match
    assert any(word in match[0] for word in sign.words)


def test_no_anchor_is_found_in_a_text_without_any() -> None:
    assert Anchors([("key", ("sk-",))]).within("") == []
    assert Anchors([("key", ("sk-",))]).within("s k-") == []


@given(st.lists(PIECES, max_size=20).map("".join))
def test_words_are_found_where_an_alternation_of_them_matches(text: str) -> None:
    words = ["sk", "sk-", "系统", "é", "ab", "a"]

    expected = [match.span() for match in re.finditer("|".join(words), text)]

    assert Words(words).within(text) == expected


def test_every_character_that_hides_text_is_looked_for() -> None:
    joiners = [0x200B, 0x200C, *range(0x2060, 0x2065), 0xFEFF]
    variants = [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]
    tags = range(0xE0020, 0xE0080)
    for code in (*joiners, *variants, *tags):
        assert next(injection.hidden(f"a note{chr(code) * 4}"))[2] == "hidden text", hex(code)
    for code in (0x200B, 0x2060, 0xAD, 0xFEFF):
        assert next(injection.hidden(f"ig{chr(code)}no{chr(code)}re"))[2] == "hidden text", hex(
            code
        )
    for code in (0x202D, 0x202E):
        assert next(injection.hidden(f"ab{chr(code)}cd"))[2] == "text turned around", hex(code)
