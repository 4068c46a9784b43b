from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from memorix.editing import set_keys
from memorix.errors import NoteUneditable
from memorix.frontmatter import cut, read_block
from memorix.yamltext import Value, compose, flow, key_text, read_simple, value_of

NOTE = """---
# how we install
type: Decision  # keep me
tags: [a, "b c"] # and me
list:
  - one
  - two   # second

# before the block scalar
"a key": >
  folded
  text
last: 5
---

    code first
"""


def changed_lines(old: str, new: str) -> list[str]:
    """The lines of `new` that are not in `old`, in order."""
    before = old.splitlines()
    return [line for line in new.splitlines() if line not in before]


@pytest.mark.rule("OKF-5")
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_block_is_read_with_every_kind_of_line_end(newline: str) -> None:
    parts = cut("---\ntype: Fact\n---\nbody\n".replace("\n", newline))

    assert read_block(parts.block).values == {"type": "Fact"}
    assert parts.body == f"body{newline}"


def test_a_byte_order_mark_does_not_hide_the_block() -> None:
    parts = cut("\ufeff---\ntype: Fact\n---\nbody")

    assert parts.has_block
    assert parts.joined() == "\ufeff---\ntype: Fact\n---\nbody"


@pytest.mark.rule("OKF-5")
@pytest.mark.parametrize("text", ["\n---\na: b\n---\n", "--- x\na: b\n---\n", "---\na: b\n", ""])
def test_only_a_closed_block_on_the_first_line_counts(text: str) -> None:
    assert cut(text).body == text
    assert not cut(text).has_block


def test_rules_in_the_body_are_body() -> None:
    assert cut("---\na: b\n---\none\n---\ntwo\n---\n").body == "one\n---\ntwo\n---\n"


@pytest.mark.rule("MEM-20")
def test_values_stay_as_typed() -> None:
    block = "a: 2026-01-05\nb: no\nc: 0123\nd: 1.10\ne: 12:30\nf: ~\ng: ''\nh: [1e3, on]\n"

    assert read_block(block).values == {
        "a": "2026-01-05",
        "b": "no",
        "c": "0123",
        "d": "1.10",
        "e": "12:30",
        "f": None,
        "g": "",
        "h": ["1e3", "on"],
    }


def test_a_block_that_is_no_yaml_gives_the_keys_that_stand_alone() -> None:
    block = read_block("title: Fix: the bug\ntype: Gotcha\ntags: [a, b]\n")

    assert not block.sound
    assert block.values == {"title": "Fix: the bug", "type": "Gotcha", "tags": ["a", "b"]}
    assert block.problems[0][:2] == ("frontmatter-invalid", 2)


def test_repeated_aliases_do_not_explode() -> None:
    rows = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    rows += [
        f"{n}: &{n} [{','.join([f'*{p}'] * 9)}]"
        for p, n in zip("abcdefgh", "bcdefghi", strict=True)
    ]

    block = read_block("\n".join(rows) + "\n")

    assert not block.sound
    assert block.problems[0][0] == "frontmatter-too-complex"


def test_deep_nesting_is_refused_and_not_followed() -> None:
    assert not read_block("a: " + "[" * 500 + "]" * 500 + "\n").sound


@pytest.mark.rule("MEM-21")
@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ({"type": "Fact: x"}, ['type: "Fact: x"  # keep me']),
        ({"tags": ["a", "b c", "new"]}, ['tags: [a, "b c", new] # and me']),
        ({"list": ["one", "two", "three"]}, ["  - three"]),
        ({"last": "6"}, ["last: 6"]),
        ({"last": "six"}, ["last: six"]),
        ({"new": {"by": "human:x"}}, ['new: { by: "human:x" }']),
        ({"a key": "y"}, ['"a key": "y"']),
        ({"list": None}, []),
    ],
)
def test_a_change_touches_only_the_lines_of_its_key(
    change: dict[str, object], lines: list[str]
) -> None:
    changed = set_keys(NOTE, change, "n.md")  # type: ignore[arg-type]

    assert changed_lines(NOTE, changed) == lines
    assert cut(changed).body == cut(NOTE).body


@pytest.mark.rule("MEM-22")
def test_a_block_that_cannot_be_parsed_is_never_rewritten() -> None:
    with pytest.raises(NoteUneditable, match=r"n\.md was not changed"):
        set_keys("---\ntitle: a: b\n---\n", {"tags": ["x"]}, "n.md")
    with pytest.raises(NoteUneditable):
        set_keys("---\na: 1\na: 2\n---\n", {"tags": ["x"]}, "n.md")


def test_a_note_without_a_block_gets_one_in_front() -> None:
    assert (
        set_keys("hello\r\n", {"tags": ["x"]}, "n.md") == "---\r\ntags: [x]\r\n---\r\n\r\nhello\r\n"
    )


texts = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=60)
values = st.recursive(texts, lambda inner: st.lists(inner, max_size=3), max_leaves=5)


@given(values)
def test_what_is_written_is_read_back_equal_by_any_yaml_reader(value: object) -> None:
    line = f"key: {flow(value)}\n"

    assert read_block(line).values == {"key": value}
    assert yaml.safe_load(line) == {"key": value}


@given(st.text("abc: \n-#'\"[]{}", max_size=80), texts)
def test_setting_a_key_and_taking_it_out_gives_the_bytes_back(body: str, value: str) -> None:
    note = f"---\ntype: Fact # c\n---\n{body}"

    changed = set_keys(note, {"extra": value or "x"}, "n.md")

    assert set_keys(changed, {"extra": None}, "n.md") == note


@given(st.text(max_size=200))
def test_reading_never_raises_and_loses_nothing(text: str) -> None:
    parts = cut(text)

    assert parts.joined() == text
    read_block(parts.block)


def test_every_hard_note_is_read_without_an_error(hard_notes: Path) -> None:
    from memorix.note import parse

    for file in sorted(hard_notes.glob("*.md")):
        parse(file.read_bytes(), file.name)


LINES = st.one_of(
    st.sampled_from(
        [
            "# why\n",
            "\n",
            "  \n",
            "a:\n",
            "a: # b\n",
            "tags:\n  - x\n  - 'y' # - z\n",
            "- x\n",
            "  - y\n",
            "b:\n- x y  # z\n- null\n",
            "c:\n  - x\n    - y\n",
            "d: x # y\n",
            'e: "x" # y\n',
            'f: "x"#\n',
            "g:\n\n",
            "h:  x\n",
            "i:\n  # only\n",
            "j: [a, b] # c\n",
            "k: { a: b } \n",
            "   x\n",
            "l:\r\n",
        ]
    ),
    st.text(alphabet="ab:# -[]{},'\"\\\t\r\n.|>&*!%@~?0é日", max_size=30),
    st.builds(
        lambda key, value: f"{key}: {value}\n",
        st.sampled_from(["type", "tags", "a-b", "x_1", "日期", "1", "null"]),
        st.one_of(
            st.text(alphabet="ab:# -[]{},'\".|>&*!%@~?0é日/", max_size=12),
            st.sampled_from(
                [
                    "null",
                    "~",
                    "[a, b]",
                    "[null, 'x y']",
                    "{ by: a/1, at: '2' }",
                    "10:30",
                    "C# x",
                    "x #",
                ]
            ),
        ),
    ),
)


@given(st.lists(LINES, max_size=5))
@settings(max_examples=500)
def test_the_quick_reading_of_simple_lines_is_that_of_the_whole_reader(lines: list[str]) -> None:
    block = "".join(lines)

    quick = read_simple(block)

    if quick is not None:
        root = compose(block)
        pairs = root.value if root else []
        assert quick == {key_text(k): value_of(v, iter(range(99)), 0) for k, v in pairs}


def test_the_quick_reading_takes_all_that_memorix_writes() -> None:
    block = (
        'type: Decision\ntitle: "Port: 8443"\nid: "01X"\ntags: [net, "a b"]\n'
        'generated: { by: "a/1", at: "2026-10-02T08:03:11Z" }\norigin: stated\n'
    )

    assert read_simple(block) == read_block(block).values
    assert read_simple(block.replace("\n", "\r\n")) == read_block(block).values


@pytest.mark.parametrize(
    "block",
    [
        'title: "a\u2028b"\nstatus: draft\ntags: [x]\n',
        "title: a\x85status: draft\ntags: [x]\n",
        "  title: a\n  tags: [x]\n",
        "? title\n: a\ntags: [x]\n",
        "title: &t a\nother: *t\ntags: [x]\n",
        "tags: ! [x]\n",
        "tags:\n- ! x\n",
    ],
)
@pytest.mark.parametrize("change", [{"title": "new"}, {"tags": ["x", "y"]}, {"added": "z"}])
def test_an_edit_reads_back_as_it_was_meant_or_is_refused(
    block: str, change: dict[str, Value]
) -> None:
    text = f"---\n{block}---\nbody\n"
    before = read_block(block).values

    try:
        changed = set_keys(text, change, "n.md")
    except NoteUneditable:
        return

    parts = cut(changed)
    assert read_block(parts.block).values == {**before, **change}
    assert parts.body == "body\n"


@pytest.mark.rule("MEM-21")
def test_an_unusual_end_of_a_line_within_a_value_costs_no_byte() -> None:
    text = '---\ntitle: "a\u2028b"\nstatus: draft\ntags: [x]\n---\nbody\n'

    changed = set_keys(text, {"tags": ["x", "new"]}, "n.md")

    assert changed == text.replace("[x]", "[x, new]")
