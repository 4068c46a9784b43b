from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorix.errors import InvalidRequest
from memorix.keys import keys_from, kind
from memorix.lifecycle import (
    Draft,
    Edit,
    compose,
    draft_from,
    edited,
    forget_plan,
    relative_link,
    successor,
)
from memorix.note import NoteId, parse, render

NOW = datetime(2026, 10, 2, 8, tzinfo=UTC)
VIA = "memorix/1"


def test_a_new_note_is_read_back_as_it_was_meant() -> None:
    draft = Draft(
        "Body: with *marks*\n\n---\n\nand a rule", 'A "title": with #signs', "Gotcha", ("a",)
    )

    note = compose(draft, NoteId("01X"), "user/a.md", NOW, VIA)
    again = parse(render(note), "user/a.md")

    assert (again.title, again.type, again.tags, again.id) == (draft.title, "Gotcha", ("a",), "01X")
    assert again.body.strip() == draft.text
    assert again.created == again.changed == NOW
    assert again.warnings == ()


@given(st.text(min_size=1, max_size=200), st.text(max_size=80))
def test_every_text_and_title_survive_being_written(text: str, title: str) -> None:
    try:
        draft = draft_from(text, title)
    except InvalidRequest:
        return

    again = parse(render(compose(draft, NoteId("01X"), "user/a.md", NOW, VIA)), "user/a.md")

    assert again.title == draft.title.strip()
    assert again.body.replace("\r\n", "\n").strip() == draft.text.replace("\r\n", "\n").strip()


def test_a_title_that_came_from_the_text_follows_it() -> None:
    note = render(compose(draft_from("The port is 1. Yes."), NoteId("01X"), "user/a.md", NOW, VIA))

    changed = parse(edited(note, "user/a.md", Edit(find="1.", replace="2."), NOW, "", VIA), "a.md")

    assert changed.title == "The port is 2"
    assert changed.aliases == ()


@pytest.mark.rule("MEM-3")
def test_a_new_title_keeps_the_old_one_as_an_alias() -> None:
    note = render(compose(Draft("x", "Old", "Fact"), NoteId("01X"), "user/a.md", NOW, VIA))

    changed = parse(edited(note, "user/a.md", Edit(keys={"title": "New"}), NOW, "", VIA), "a.md")

    assert (changed.title, changed.aliases) == ("New", ("Old",))


@pytest.mark.parametrize("key", ["id", "created", "generated"])
def test_what_a_note_keeps_for_life_cannot_be_set(key: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot be set"):
        edited(b"x", "user/a.md", Edit(keys={key: "y"}), NOW, "", VIA)


def test_a_time_that_is_none_is_refused_and_one_that_is_gets_its_offset() -> None:
    with pytest.raises(InvalidRequest, match="takes a date"):
        edited(b"x", "user/a.md", Edit(keys={"valid_to": "soon"}), NOW, "", VIA)

    changed = edited(
        b"x", "user/a.md", Edit(keys={"valid_to": "2026-01-05T10:00:00+02:00"}), NOW, "", VIA
    )

    assert b'valid_to: "2026-01-05T08:00:00Z"' in changed


@pytest.mark.rule("MEM-21")
def test_line_ends_of_the_file_are_kept() -> None:
    content = b"---\r\ntype: Fact\r\n---\r\n\r\none\r\ntwo\r\n"

    changed = edited(content, "user/a.md", Edit(find="one\ntwo", replace="a\nb"), NOW, "", VIA)

    assert changed.count(b"\n") == changed.count(b"\r\n")
    assert changed.endswith(b"a\r\nb\r\n")


@pytest.mark.parametrize(
    ("raw", "keys"),
    [
        ({"a": 1, "b": ["x"]}, {"a": "1", "b": ["x"]}),
        ('{"a": true}', {"a": "true"}),
        ("a: b\nc: d", {"a": "b", "c": "d"}),
        ("", {}),
        (None, {}),
    ],
)
def test_keys_are_taken_in_any_form(raw: object, keys: dict[str, object]) -> None:
    assert keys_from(raw) == keys


@pytest.mark.parametrize("raw", ["nonsense", "[1]", 5])
def test_what_is_no_keys_is_refused(raw: object) -> None:
    with pytest.raises(InvalidRequest, match="keys and values"):
        keys_from(raw)


@pytest.mark.rule("MEM-4", "OKF-10")
@pytest.mark.parametrize(
    ("given_type", "written"),
    [("decision", "Decision"), ("DECISION", "Decision"), ("API Table", "API Table"), ("", "")],
)
def test_types_are_written_one_way(given_type: str, written: str) -> None:
    assert kind(given_type) == written


parts = st.lists(st.text("abc (1)%#é", min_size=1, max_size=4), min_size=1, max_size=4)


@pytest.mark.rule("MEM-19")
@given(parts, parts)
def test_a_link_leads_from_one_note_to_the_other(source: list[str], target: list[str]) -> None:
    link = unquote(relative_link("/".join(source), "/".join(target)))

    place = source[:-1]
    for step in link.split("/"):
        place = place[:-1] if step == ".." else [*place, step]
    assert place == target


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="no level"):
        forget_plan("t", "user/a.md", "burn")


@given(
    st.text(min_size=1, max_size=200),
    st.dictionaries(
        st.sampled_from(["aliases", "valid_from", "expires_at", "owner", "applies_when", "tags"]),
        st.one_of(st.text(max_size=20), st.integers(), st.booleans(), st.lists(st.text())),
    ),
)
def test_what_is_indexed_of_a_new_note_is_what_its_file_says(
    text: str, keys: dict[str, object]
) -> None:
    try:
        draft = successor(text, keys_from(keys))
    except InvalidRequest:
        return

    note = compose(draft, NoteId("01X"), "user/a.md", NOW, VIA)
    again = parse(render(note), "user/a.md")

    assert replace(again, body="", warnings=(), meta={}) == replace(note, body="", meta={})
    assert again.body.strip() == note.body.strip()
    for key in ("created", "changed", "author", "origin", "valid_from", "expires_at"):
        assert getattr(again, key) == getattr(note, key)


@pytest.mark.parametrize(
    ("body", "find", "new"),
    [
        ("The pump\u200b starts at 3.1 m.", "The pump starts at 3.1", "The pump starts at 3.2 m."),
        ("泵\u2060在 3.1 米启动。", "泵在 3.1", "The pump starts at 3.2 米启动。"),
        ("\u202eThe pump\u202c runs.", "The pump\u202c runs", "\u202eThe pump starts at 3.2."),
    ],
)
def test_a_passage_is_replaced_though_some_of_it_is_unseen(body: str, find: str, new: str) -> None:
    note = f"---\ntype: Fact\n---\n\n{body}\n".encode()
    edit = Edit(find=find, replace="The pump starts at 3.2")

    changed = edited(note, "user/a.md", edit, NOW, "", VIA)

    assert parse(changed, "user/a.md").body.strip() == new


def test_a_passage_that_occurs_twice_for_its_reader_is_refused() -> None:
    note = b"---\ntype: Fact\n---\n\nOne \xe2\x80\x8bpump. One pu\xe2\x80\x8bmp.\n"

    with pytest.raises(InvalidRequest, match="occurs 2 times"):
        edited(note, "user/a.md", Edit(find="One pump", replace="Two"), NOW, "", VIA)
