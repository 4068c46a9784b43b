from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorix.note import (
    MAX_SLUG_BYTES,
    etag_of,
    first_sentence,
    format_time,
    new_id,
    parse,
    parse_time,
    slug,
    tags_from,
)


def test_a_note_is_read_with_its_metadata() -> None:
    content = (
        b'---\ntype: Decision\ntitle: "Use uv"\nid: "01X"\ntags: [python, tooling]\n'
        b'generated: { by: "claude-code/2.1", at: "2026-10-02T08:03:11Z" }\n---\n\nBecause.\n'
    )

    note = parse(content, "user/use-uv.md")

    assert (note.id, note.type, note.title, note.tags) == (
        "01X",
        "Decision",
        "Use uv",
        ("python", "tooling"),
    )
    assert note.changed == datetime(2026, 10, 2, 8, 3, 11, tzinfo=UTC)
    assert note.author == "claude-code/2.1"
    assert note.gist == "Because."


@pytest.mark.rule("OKF-11")
def test_a_file_without_metadata_is_a_note_by_its_name_and_heading() -> None:
    note = parse(b"# Port of the proxy\n\nIt is 8443.\n", "projects/app/proxy_port.md")

    assert note.id == "projects/app/proxy_port"
    assert note.title == "Port of the proxy"
    assert note.gist == "It is 8443."


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"\x00\x01\x02", b"---\n---\n", b"\xe9t\xe9"]
)
def test_no_bytes_are_too_odd_to_read(content: bytes) -> None:
    parse(content, "user/x.md")


def test_text_after_a_nul_is_read_and_the_nul_is_told() -> None:
    note = parse(b"one\x00two", "user/x.md")

    assert note.body == "one two"
    assert note.warnings[0].code == "control-characters"


@pytest.mark.rule("MEM-1", "OKF-2")
@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Use uv for Python", "use-uv-for-python"),
        ("端口改为 8443", "端口改为-8443"),
        ("CON", "con-note"),
        ("aux.notes", "aux-notes"),
        ("Log", "log-note"),
        ("Index", "index-note"),
        ("🎉", "note"),
        ("???", "note"),
        ("../../etc/passwd", "etc-passwd"),
        ("a:b\\c", "a-b-c"),
        ("ends with dot.", "ends-with-dot"),
    ],
)
def test_a_title_becomes_a_portable_file_name(title: str, name: str) -> None:
    assert slug(title) == name


@given(st.text(max_size=400))
def test_every_title_gives_a_usable_file_name(title: str) -> None:
    name = slug(title)

    assert name
    assert len(name.encode()) <= MAX_SLUG_BYTES + len("-note")
    assert not set(name) & set('/\\:*?"<>|. \0')


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)), st.binary(min_size=10, max_size=10)
)
def test_ids_sort_by_time(moment: datetime, chance: bytes) -> None:
    now = moment.replace(tzinfo=UTC)

    earlier, later = new_id(now, chance), new_id(now + timedelta(seconds=1), chance)

    assert earlier < later
    assert len(earlier) == 26


@pytest.mark.rule("OKF-13")
@pytest.mark.parametrize(
    ("raw", "tags"),
    [
        (["a", "b"], ("a", "b")),
        ('["a", "b"]', ("a", "b")),
        ("a, b", ("a", "b")),
        ("a", ("a",)),
        (None, ()),
        ("", ()),
        ("[]", ()),
        (["#A b", None, "", "a-b"], ("a-b",)),
        ("端口，网关", ("端口", "网关")),
    ],
)
def test_tags_are_taken_in_any_form(raw: object, tags: tuple[str, ...]) -> None:
    assert tags_from(raw) == tags


@pytest.mark.rule("OKF-15")
@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-10-02T08:03:11Z", datetime(2026, 10, 2, 8, 3, 11, tzinfo=UTC)),
        ("2026-10-02T10:03:11+02:00", datetime(2026, 10, 2, 8, 3, 11, tzinfo=UTC)),
        ("2026-10-02", datetime(2026, 10, 2, 12, tzinfo=UTC)),
        ("yesterday", None),
        ("", None),
    ],
)
def test_times_are_read_as_the_format_says(text: str, moment: datetime | None) -> None:
    assert parse_time(text) == moment


@pytest.mark.rule("OKF-15")
def test_times_are_written_in_utc() -> None:
    assert (
        format_time(datetime.fromisoformat("2026-10-02T10:03:11+02:00")) == "2026-10-02T08:03:11Z"
    )


@pytest.mark.parametrize(
    ("body", "gist"),
    [
        ("One. Two.", "One."),
        ("# Title\n\n- **bold** point. More", "bold point."),
        ("```\ncode\n```\nAfter it.", "After it."),
        ("端口是 8443。以前是 8080。", "端口是 8443。"),
        ("这是**重点**内容。", "这是重点内容。"),
        ("Call `register_plugin` in __init__.py.", "Call register_plugin in __init__.py."),
        ("- *.py and rules/*.yaml are linted", "*.py and rules/*.yaml are linted"),
        ("Under src/billing/** use `a * b`.", "Under src/billing/** use a * b."),
        ("Names are dotted, e.g. order.created. Then", "Names are dotted, e.g. order.created."),
        ("", ""),
    ],
)
def test_the_gist_is_the_first_sentence(body: str, gist: str) -> None:
    assert first_sentence(body) == gist


def test_etags_differ_by_content_and_name_their_algorithm() -> None:
    assert etag_of(b"a") == etag_of(b"a") != etag_of(b"b")
    assert etag_of(b"a").startswith("b2-")
