"""A body cut into chunks: complete, in order, never too long."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorix.chunks import (
    MAX_EMBEDDED_TOKENS,
    MAX_SENTENCES,
    Chunk,
    embedding_text,
    estimate_tokens,
    sentences,
    split,
)

LINES = st.sampled_from(
    [
        *["# One", "## Two", "### Three #", "#tag", "```", "~~~", "```py", "", "  ", "\r"],
        *["- an item", "One sentence. Another one! A third?", "重跑后五十条引用已清零。再来。"],
        *["x" * 90, "a1b2c3d4" * 20, "한국어 문장입니다 " * 4, "word " * 40, "\x0b\u2028 odd"],
    ]
)
BODIES = st.lists(LINES, max_size=40).map("\n".join) | st.text(max_size=300)
PARAGRAPH = "The pump was checked again today. Nothing was found, and the log was signed. " * 4


def ink(text: str) -> str:
    return "".join(text.split())


def headings(body: str, title: str = "") -> list[str]:
    return [chunk.heading for chunk in split(title, body, max_tokens=30)]


@given(BODIES, st.integers(5, 60))
def test_chunks_hold_all_of_the_body_in_order(body: str, max_tokens: int) -> None:
    chunks = split("Title", body, max_tokens=max_tokens)

    assert ink("".join(chunk.text for chunk in chunks)) == ink(body)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(one.end <= other.start for one, other in pairwise(chunks))


@given(BODIES, st.integers(5, 60))
def test_a_chunk_is_a_slice_that_can_be_quoted_and_fits(body: str, max_tokens: int) -> None:
    for chunk in split("Title", body, max_tokens=max_tokens):
        assert chunk.text == body[chunk.start : chunk.end]
        assert chunk.line == body.count("\n", 0, chunk.start) + 1
        assert chunk.text.strip()
        assert chunk.tokens == estimate_tokens(chunk.text) <= max_tokens


@given(st.text(max_size=400), BODIES)
def test_what_an_embedder_sees_always_fits(title: str, body: str) -> None:
    for chunk in split(title, body):
        seen = embedding_text(title, chunk)

        assert seen.endswith(chunk.text)
        assert estimate_tokens(seen) <= MAX_EMBEDDED_TOKENS


def test_a_tiny_note_is_one_chunk() -> None:
    body = "# Backups\n\nEvery night.\n\n## Where\n\nOn the second disk.\n\n## Who\n\nAnna.\n"

    (chunk,) = split("Backups", body)

    assert (chunk.text, chunk.heading, chunk.line) == (body.strip(), "", 1)


def test_an_empty_body_has_no_chunks() -> None:
    assert split("Title", "") == split("Title", " \n\n\t") == ()


def test_a_long_note_is_cut_at_its_headings() -> None:
    body = "\n\n".join(f"{mark}\n\n{PARAGRAPH}" for mark in ("# A", "## B", "## C", "# D"))

    chunks = split("Log", body, max_tokens=100)

    assert [chunk.heading for chunk in chunks] == ["A", "A > B", "A > C", "D"]
    assert [chunk.text[:4].strip() for chunk in chunks] == ["# A", "## B", "## C", "# D"]


def test_small_sections_under_one_heading_stay_together() -> None:
    small = "".join(f"## Part {n}\n\nA few words.\n\n" for n in range(3))

    chunks = split("Log", f"# A\n\n{PARAGRAPH}\n\n{small}# B\n\n{PARAGRAPH}", max_tokens=90)

    assert [chunk.heading for chunk in chunks] == ["A", "A", "B"]
    assert chunks[1].text == small.strip()


@pytest.mark.parametrize("fence", ["```", "~~~", "````", "  ```"])
def test_code_contributes_no_headings(fence: str) -> None:
    code = f"{fence}sh\n# not a heading\n{PARAGRAPH}\n```x\n## nor this\n{fence}\n"

    found = headings(f"# Real\n\n{code}\n## Below\n\n{PARAGRAPH}")

    assert set(found) == {"Real", "Real > Below"}


def test_tags_and_indented_code_are_no_headings() -> None:
    assert set(headings(f"#tag\n    # code\n\\# text\n####### seven\n{PARAGRAPH}")) == {""}


def test_closing_marks_belong_to_no_heading() -> None:
    assert headings(f"## About C# ##\n{PARAGRAPH}## C#\n")[0] == "About C#"


def test_prose_is_cut_between_sentences() -> None:
    for chunk in split("Log", PARAGRAPH * 5, max_tokens=60):
        assert chunk.text.endswith(".")


def test_chinese_is_cut_between_sentences() -> None:
    for chunk in split("Log", "重跑后五十条引用已清零。" * 60, max_tokens=60):
        assert chunk.text.endswith("。")


def test_a_long_line_is_cut_between_words() -> None:
    words = [f"word{'abc'[n % 3]}" for n in range(500)]

    chunks = split("Log", " ".join(words), max_tokens=50)

    assert " ".join(chunk.text for chunk in chunks).split() == words


@pytest.mark.parametrize(
    "body",
    [
        *["x" * 200_000, "a" + " " * 200_000 + "b", "." * 100_000, "重" * 100_000, "\n" * 200_000],
        "lorem ipsum " * 20_000,
        "".join(f"{'#' * (1 + n % 6)} H{n}\n\ntext\n\n" for n in range(20_000)),
        "```\n" * 50_000,
    ],
    ids=["letters", "spaces", "dots", "han", "empty lines", "words", "headings", "fences"],
)
def test_large_bodies_of_any_shape_are_cut_whole(body: str) -> None:
    chunks = split("Log", body)

    assert ink("".join(chunk.text for chunk in chunks)) == ink(body)
    assert all(estimate_tokens(chunk.text) <= 200 for chunk in chunks)


def test_lines_are_counted_in_the_body() -> None:
    body = f"\n\n# A\r\n\r\n{PARAGRAPH}\n\n# B\n{PARAGRAPH}"

    assert [chunk.line for chunk in split("Log", body, max_tokens=100)] == [3, 7]


def test_title_and_headings_stand_before_the_text_once() -> None:
    chunk = Chunk(0, "A > Where", "## Where\n\nOn disk two.", 0, 23, 1)

    assert embedding_text("Backups", chunk) == "Backups\nA\n## Where\n\nOn disk two."
    assert embedding_text("A", chunk) == "A\n## Where\n\nOn disk two."


def test_a_long_title_gives_way_to_the_text() -> None:
    (chunk,) = split("t", "Short.")

    seen = embedding_text("very long title " * 100, chunk)

    assert seen.endswith("\nShort.")
    assert estimate_tokens(seen) < 60


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("", 0),
        ("the cat sat on the mat", 6),
        ("重跑后五十条引用", 8),
        ("a = b[i] + (c >> 2);", 15),
        (random.Random(1).randbytes(32).hex(), 45),
        ("한국어", 7),
    ],
)
def test_an_estimate_is_not_below_what_wordpiece_makes(text: str, least: int) -> None:
    assert estimate_tokens(text) >= least


def test_a_text_is_told_apart_into_what_it_says() -> None:
    text = "It listens on 8443. Why? See below.\n\n- one item\n"
    text += "- 第二条很长的说明。只用加密连接，别忘了。"

    assert sentences(text) == (
        "It listens on 8443. Why? See below. - one item",
        "- 第二条很长的说明。",
        "只用加密连接，别忘了。",
    )


def test_what_says_one_thing_or_code_without_gaps_is_not_told_apart() -> None:
    assert sentences("The gateway listens on 8443.") == ()
    assert sentences("def port():\n    return 8443\n") == ()


@given(st.text(max_size=2000))
def test_sentences_hold_all_that_is_said_and_are_few(text: str) -> None:
    said = sentences(text)

    assert len(said) != 1
    assert len(said) <= MAX_SENTENCES
    if said:
        assert "".join(" ".join(said).split()) == "".join(text.split())
