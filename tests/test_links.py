"""The links, relations and observations of a body: found as CommonMark has it, followed, moved."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from memorix.frontmatter import cut
from memorix.links import (
    RELATIONS,
    Link,
    Observation,
    is_outside,
    links,
    name_key,
    note_path,
    observations,
    rebased,
    redirected,
    relative_link,
)

DATA = Path(__file__).parent / "data" / "okf-bundles"
BUNDLES = sorted(DATA.glob("*/bundles/*"))

MARKS = st.sampled_from(
    [
        *["[a](b)", "[c](<d e>)", "![i](j)", "[[k]]", "[[l#m|n]]", "[o](p.md#q 't')", "[r]: s\n"],
        *["[", "](", "]", "(", ")", "[[", "]]", "`", "``", "```\n", "~~~\n", "\n", "\n\n", "<!--"],
        *["- ", "> ", "1. ", "# Relations\n", "---\n", "\t", "    ", "-->", "\\", "#t", "é", "\r"],
    ]
)
BODIES = st.lists(MARKS, max_size=30).map("".join) | st.text(max_size=200)


def targets(body: str) -> list[str]:
    return [link.target for link in links(body)]


def relations(body: str) -> list[str]:
    return [link.relation for link in links(body)]


def only(body: str) -> Link:
    (link,) = links(body)
    return link


# -- Markdown links


@pytest.mark.parametrize(
    ("body", "target", "anchor", "label"),
    [
        ("see [a note](b.md) there", "b.md", "", "a note"),
        ('[a](b.md "a title")', "b.md", "", "a"),
        ("[a]( b.md 'it' )", "b.md", "", "a"),
        ("[a](b.md\n(title))", "b.md", "", "a"),
        ("[a](<b c.md>)", "b c.md", "", "a"),
        ('[a](<b c.md#d> "t")', "b c.md", "d", "a"),
        ("![a](b.png)", "b.png", "", "a"),
        ("[a [b] c](d.md)", "d.md", "", "a [b] c"),
        ("[[1]](https://x.org/1)", "https://x.org/1", "", "[1]"),
        ("[a](b(c(d)).md)", "b(c(d)).md", "", "a"),
        (r"[a](b\(c.md)", "b(c.md", "", "a"),
        (r"[a\] b](c.md)", "c.md", "", "a] b"),
        ("[two\nlines](c.md)", "c.md", "", "two lines"),
        ("[a](my%20note%231.md#part%20two)", "my note#1.md", "part two", "a"),
        ("[a](b&amp;c.md)", "b&c.md", "", "a"),
        ("[a](100%.md)", "100%.md", "", "a"),
        ("[a](#part)", "", "part", "a"),
        ("[a]()", "", "", "a"),
        ("[a](<>)", "", "", "a"),
        ("[`a]`](b.md)", "b.md", "", "`a]`"),
        ("[ref]: b.md#c 'title'", "b.md", "c", "ref"),
        ("- [ref]: <b c.md>", "b c.md", "", "ref"),
    ],
)
def test_a_markdown_link_is_read(body: str, target: str, anchor: str, label: str) -> None:
    link = only(body)

    assert link.kind == "markdown"
    assert (link.target, link.anchor, link.label) == (target, anchor, label)


@pytest.mark.parametrize(
    "body",
    [
        "<https://x.org> and https://x.org",
        "<https://x.org/[a](b.md)>",
        r"\[a](b.md)",
        "[a] (b.md)",
        "[a](b c.md)",
        "[a](b.md 'open)",
        "[a](b(c.md)",
        "[a](<b\nc.md>)",
        "[a\n\nb](c.md)",
        "[a][ref] and [ref]",
        "[^1]: b.md",
        "[ ]: b.md",
        "text\n[ref]: b.md",
    ],
)
def test_what_only_looks_like_a_markdown_link_is_none(body: str) -> None:
    assert links(body) == ()


def test_a_footnote_holds_links_and_is_none() -> None:
    assert targets("[^1]: Taken from [a](b.md).") == ["b.md"]


def test_an_image_in_a_link_counts_and_so_does_the_link() -> None:
    assert targets("[![a](b.png)](c.md)") == ["b.png", "c.md"]


def test_a_link_holds_no_other_link() -> None:
    assert targets("[a [b](c.md) d](e.md)") == ["c.md"]


def test_a_definition_is_a_link_and_its_uses_are_none() -> None:
    assert targets("[a][r] and [b][r]\n\n[r]: c.md\n[s]: d.md\n") == ["c.md", "d.md"]


def test_links_come_in_order_with_their_lines() -> None:
    body = "[r]: a.md\n\n[[b]] [c](d.md)\r\n\n> e\n> [f\n> g](h.md)\n"

    found = [(link.target, link.line) for link in links(body)]

    assert found == [("a.md", 1), ("b", 3), ("d.md", 3), ("h.md", 7)]


# -- wikilinks


@pytest.mark.parametrize(
    ("body", "target", "anchor", "label"),
    [
        ("[[Build cache]]", "Build cache", "", ""),
        ("![[plan.pdf]]", "plan.pdf", "", ""),
        ("[[a/b|the label]]", "a/b", "", "the label"),
        ("[[A#Part one|label]]", "A", "Part one", "label"),
        ("[[A#^block]]", "A", "^block", ""),
        ("[[#Part]]", "", "Part", ""),
        ("[[ A ]]", "A", "", ""),
        (r"| [[A\|label]] |", "A", "", "label"),
        ("[[[A]]]", "A", "", ""),
        ("[[100%25]]", "100%25", "", ""),
    ],
)
def test_a_wikilink_is_read(body: str, target: str, anchor: str, label: str) -> None:
    link = only(body)

    assert link.kind == "wiki"
    assert (link.target, link.anchor, link.label) == (target, anchor, label)
    assert body[link.start : link.end] == target


@pytest.mark.parametrize("body", ["[[]]", "[[ ]]", "[[|a]]", "[[a\nb]]", r"\[[a]]", "[[a]", "[a]]"])
def test_what_only_looks_like_a_wikilink_is_none(body: str) -> None:
    assert links(body) == ()


# -- code and comments


@pytest.mark.parametrize(
    "body",
    [
        "```\nX\n```",
        "~~~~ md\n~~~\nX\n~~~~",
        "   ```\nX\n   ```",
        "```\nX",
        "- a\n\n  ```\n  X\n  ```",
        "1. a\n   - b\n\n     ```\n     X\n     ```",
        "- a\n\n        ```\n        X\n        ```",
        "- ```\n  X\n  ```",
        "> ```\n> X\n> ```",
        "> - a\n>\n>   ~~~\n>   X",
        "```\n    ```\nX\n```",
        "a\n\n    X",
        "a\n\n\tX\n\n    X",
        "# a\n    X",
        "`X`",
        "``a ` X``",
        "`a\nX`",
        "<!-- X -->",
        "a <!-- X --> b",
        "<!--\n\nX\n-->",
        "<!-- X",
    ],
)
def test_code_and_comments_hold_no_links(body: str) -> None:
    found = {mark: links(body.replace("X", mark)) for mark in ("[a](b.md)", "[[a]]")}

    assert found == {"[a](b.md)": (), "[[a]]": ()}


@pytest.mark.parametrize(
    "body",
    [
        "```\na\n```\nX",
        "```\na\n````\nX",
        "> ```\n> a\n\nX",
        "- ```\n  a\n\nX",
        "``` a`b\nX",
        "a\n    X",
        "- a\n\n      X",
        "`a X",
        "`a `` X",
        "\\`X`",
        "`a\n\nX`",
        "| ` |\n| X |\n| ` |",
        "a\n\n[r]: b <!-- X",
        "<!-- a -->\nX",
        "<!--\na\n     -->\nX",
        "a <!-- X",
        "<div>X</div>",
        "# X",
        "X\n===",
    ],
)
def test_text_beside_code_and_comments_holds_links(body: str) -> None:
    assert targets(body.replace("X", "[x](y.md)"))[-1:] == ["y.md"]


@given(BODIES, st.sampled_from(["```", "~~~~"]))
def test_links_in_fenced_code_never_appear(inside: str, fence: str) -> None:
    code = inside.replace("```", "").replace("~~~", "")

    found = links(f"[[before]]\n\n{fence}\n{code}\n{fence}\n\n[after](it)\n")

    assert [link.target for link in found] == ["before", "it"]


# -- typed relations


@pytest.mark.parametrize("word", sorted(RELATIONS))
def test_a_known_word_at_the_head_of_an_item_is_a_relation(word: str) -> None:
    body = f"- {word} [A](a.md) (only on CI)\n* {word.upper()}  [[B]]\n+ {word} [c](c.md) [d](d)"

    assert relations(body) == [word, word, word, ""]


def test_a_dash_in_a_relation_equals_an_underscore() -> None:
    assert relations("- depends-on [A](a.md)\n- Blocked-By [[B]]") == ["depends_on", "blocked_by"]


@pytest.mark.parametrize(
    "line",
    [
        "- see [A](a.md)",
        "- depends_on: [A](a.md)",
        "- it depends_on [A](a.md)",
        "- depends_on ![A](a.png)",
        "- depends_on[A](a.md)",
        "- [ ] depends_on [A](a.md)",
        "- **depends_on** [A](a.md)",
        "- 2026-01-05 [A](a.md)",
        "- a.b_c [A](a.md)",
        f"- {'a_' * 21} [A](a.md)",
        "depends_on [A](a.md)",
        "1. depends_on [A](a.md)",
        "- a\n  depends_on [A](a.md)",
    ],
)
def test_a_link_in_prose_has_no_relation(line: str) -> None:
    assert relations(line) == [""]


@pytest.mark.parametrize(
    "heading", ["# Relations", "### RELATIONS ##", "Relations\n---", "> # relations"]
)
def test_an_unknown_word_is_a_relation_under_that_heading(heading: str) -> None:
    assert relations(f"{heading}\n\n- tests [A](a.md)\n\n##### More\n\n- cites [[B]]") == [
        "tests",
        "cites",
    ]


def test_the_next_heading_ends_the_relations() -> None:
    assert relations("## Relations\n- tests [A](a.md)\n## Notes\n- see [B](b.md)") == ["tests", ""]


def test_relations_are_found_in_lists_in_lists_and_in_quotes() -> None:
    body = "- a\n  - part_of [A](a.md)\n\n> * part_of [[B]]\n"

    assert relations(body) == ["part_of", "part_of"]


# -- observations


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("- [fact] It runs.", Observation("fact", "It runs.", (), "", 1)),
        (
            "* [tech debt] Slow #ci #a/b (only on CI)",
            Observation("tech debt", "Slow", ("ci", "a/b"), "only on CI", 1),
        ),
        ("+ [实现] 快 #速度", Observation("实现", "快", ("速度",), "", 1)),
        ("- [निर्णय] uv", Observation("निर्णय", "uv", (), "", 1)),
        (
            "- [a] The #big pump, #12 (x (y))",
            Observation("a", "The #big pump, #12", ("big",), "x (y)", 1),
        ),
        ("- [a] see [b](c.md)", Observation("a", "see [b](c.md)", (), "", 1)),
        ("- [a] f(x)", Observation("a", "f(x)", (), "", 1)),
        ("- [a] b) c)", Observation("a", "b) c)", (), "", 1)),
        ("> - [a] b", Observation("a", "b", (), "", 1)),
    ],
)
def test_an_observation_is_read(line: str, seen: Observation) -> None:
    assert observations(line) == (seen,)


@pytest.mark.parametrize(
    "line",
    [
        *["- [ ] a", "- [x] a", "- [X] a", "- [-] a", "- [/] a", "- [x](y)", "- [a](b) c"],
        *["- [x][y]", "- [x]: y", "- [^x] a", "- [^x]: a", "- [[a]] b", "- [a]b", "- [a]"],
        *["- [1] a", "- [a.b] c", f"- [{'a' * 41}] b", "[a] b", "1. [a] b", "- b [a] c"],
        *["```\n- [a] b\n```", "a\n\n    - [a] b", "<!--\n- [a] b\n-->"],
    ],
)
def test_what_only_looks_like_an_observation_is_none(line: str) -> None:
    assert observations(line) == ()


def test_observations_come_in_order_with_their_lines() -> None:
    body = "# Facts\n\n- [a] one\n  more of it\n- b\n- [c] two\r\n"

    found = [(one.category, one.text, one.line) for one in observations(body)]

    assert found == [("a", "one", 3), ("c", "two", 6)]


# -- where links lead


@pytest.mark.parametrize(
    "target",
    ["http://a.org", "HTTPS:a", "mailto:a@b", "obsidian://open", "//host/a", "C:/a.md", "c:\\a"],
)
def test_a_scheme_a_drive_or_a_host_is_outside(target: str) -> None:
    assert is_outside(target)


@pytest.mark.parametrize(
    "target", ["", "a.md", "/a", "Note: a title", "std::vector", "12:30", "#a"]
)
def test_a_path_or_a_name_is_not_outside(target: str) -> None:
    assert not is_outside(target)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("c.md", "projects/app/a/c.md"),
        ("./c", "projects/app/a/c.md"),
        ("../c.md", "projects/app/c.md"),
        ("/x/c.md", "projects/app/x/c.md"),
        ("x//c.md", "projects/app/a/x/c.md"),
        ("x/", "projects/app/a/x/index.md"),
        ("..", "projects/app/index.md"),
        ("/", "projects/app/index.md"),
        ("../../../", "index.md"),
        ("../../../user/c", "user/c.md"),
        ("/../../../c.md", ""),
        ("../../../../c.md", ""),
        ("plan.PDF", "projects/app/a/plan.PDF"),
        ("release 1.2", "projects/app/a/release 1.2.md"),
        ("cafe\u0301.md", "projects/app/a/caf\u00e9.md"),
        ("https://a.org/b.md", ""),
        ("", ""),
    ],
)
def test_a_target_leads_to_a_path_of_the_vault(target: str, path: str) -> None:
    assert note_path("projects/app/a/b.md", target, "projects/app") == path


def test_without_a_root_an_absolute_target_begins_at_the_vault() -> None:
    assert note_path("a/b.md", "/c/", "") == "c/index.md"
    assert note_path("a.md", "/", "") == "index.md"


def test_names_differ_neither_by_case_nor_form_nor_white_space() -> None:
    assert name_key("Cafe\u0301  Notes.MD") == name_key("caf\u00e9 notes") == "caf\u00e9 notes"


PARTS = st.lists(st.text("abc (1)%#é<>\\`&;", min_size=1, max_size=4), min_size=1, max_size=4)


@given(PARTS, PARTS)
def test_a_relative_link_leads_back_to_its_target(source: list[str], target: list[str]) -> None:
    here, there = "/".join(source) + ".md", "/".join(target) + ".md"

    link = only(f"[a]({relative_link(here, there)})")

    assert note_path(here, link.target, "") == there
    assert link.anchor == ""


# -- links that follow a note


OLD, NEW = "projects/app/a/old name.md", "projects/app/b/new (1).md"
NAMES = frozenset(map(name_key, [OLD, "a/old name", "old name"]))


def followed(body: str, new: str = NEW) -> str:
    return redirected(body, "projects/app/a/me.md", "projects/app", OLD, new, NAMES)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[a](old%20name.md)", "[a](../b/new%20%281%29.md)"),
        ("[a](<old name.md>)", "[a](<../b/new (1).md>)"),
        ("[a](</a/old name.md#x y> 't')", "[a](</b/new (1).md#x y> 't')"),
        ('[a](/a/old%20name.md#x%20y "t")', '[a](/b/new%20%281%29.md#x%20y "t")'),
        ("[a](old%20name)", "[a](../b/new%20%281%29)"),
        ("[a]: ../a/old%20name.md 't'", "[a]: ../b/new%20%281%29.md 't'"),
        ("![a]( old%20name.md )", "![a]( ../b/new%20%281%29.md )"),
        ("[[Old Name]]", "[[new (1)]]"),
        ("![[ old name.md#x|y ]]", "![[ new (1)#x|y ]]"),
        ("[[projects/app/a/old name]]", "[[projects/app/b/new (1)]]"),
        ("[[/a/old name|y]]", "[[/b/new (1)|y]]"),
    ],
)
def test_a_link_follows_a_note_in_its_style(before: str, after: str) -> None:
    assert followed(f"x\r\n\r\n{before}\r\n") == f"x\r\n\r\n{after}\r\n"


@pytest.mark.parametrize(
    "body",
    [
        *["[a](other.md)", "[a](old%20name/)", "[a](#old%20name)", "[a](https://x/old%20name.md)"],
        *["[[The old title]]", "[[x/old name]]", "`[[old name]]`", "[a]( )", "old name.md"],
    ],
)
def test_other_links_stay(body: str) -> None:
    assert followed(body) == body


def test_every_link_of_a_body_follows() -> None:
    body = "- see [a](old%20name.md), [[old name]]\n\n`[[old name]]`\n\n[r]: old%20name#x\n"

    assert followed(body, "projects/app/a/n.md") == (
        "- see [a](n.md), [[n]]\n\n`[[old name]]`\n\n[r]: n#x\n"
    )


def test_an_absolute_link_turns_relative_where_the_note_left_its_root() -> None:
    assert followed("[a](/a/old%20name.md)", "user/n.md") == "[a](../../../user/n.md)"


def test_the_ending_is_written_where_a_name_would_be_misread_without_it() -> None:
    assert followed("[a](old%20name)", "projects/app/a/node.js.md") == "[a](node.js.md)"


def test_a_leading_dot_stays() -> None:
    assert followed("[a](./old%20name.md)", "projects/app/a/n.md") == "[a](./n.md)"


@pytest.mark.parametrize("name", ["a#b", "a|b", "a[b]"])
def test_a_wikilink_stays_where_the_new_name_cannot_be_written(name: str) -> None:
    assert followed("[[old name]]", f"projects/app/a/{name}.md") == "[[old name]]"


def test_a_wikilink_by_file_name_stays_where_only_the_folder_changed() -> None:
    assert followed("[[Old name]]", "projects/app/b/old name.md") == "[[Old name]]"


@given(BODIES)
def test_links_to_other_notes_never_change(body: str) -> None:
    names = frozenset({name_key("far/away.md"), name_key("away")})

    assert redirected(body, "a/me.md", "a", "far/away.md", "far/off.md", names) == body


@given(BODIES, PARTS)
def test_what_led_to_a_note_leads_to_it_after_it_moved(body: str, parts: list[str]) -> None:
    old, new = "a/b.md", "/".join(["a", *parts]) + ".md"

    after = redirected(body, "a/me.md", "a", old, new, frozenset())

    was, now = destinations(body, "a/me.md"), destinations(after, "a/me.md")
    assert now == [new if place == old else place for place in was]


def destinations(body: str, source: str) -> list[str]:
    return [note_path(source, link.target, "a") for link in links(body) if link.kind == "markdown"]


# -- links of a note that moved


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[a](b.md#x 't')", "[a](../../a/b.md#x 't')"),
        ("[a](<b c>)", "[a](<../../a/b c>)"),
        ("![a](../p%201.png)", "![a](../../p%201.png)"),
        ("[a](x/)", "[a](../../a/x/)"),
        ("[a](./)", "[a](../../a/)"),
        ("[a](../d/)", "[a](../)"),
        ("[a](../d/e/)", "[a](./)"),
        ("[r]: b.md", "[r]: ../../a/b.md"),
        ("[a](old.md#x)", "[a](new.md#x)"),
        ("[a](old)", "[a](new)"),
    ],
)
def test_a_relative_link_of_a_moved_note_leads_where_it_led(before: str, after: str) -> None:
    assert rebased(before, "a/old.md", "d/e/new.md", "") == after


@pytest.mark.parametrize(
    "body",
    ["[a](/b.md)", "[a](#x)", "[a]()", "[a](https://x.org)", "[[b]]", "[[../b]]", "[a](../../b)"],
)
def test_what_is_not_relative_stays_in_a_moved_note(body: str) -> None:
    assert rebased(body, "a/old.md", "d/e/new.md", "") == body


def test_a_note_renamed_in_its_folder_keeps_its_links_as_written() -> None:
    body = "[a](b%2Dc.md) [d](../a/e.md) [f](./g)"

    assert rebased(body, "a/old.md", "a/new.md", "") == body


@given(BODIES, PARTS)
def test_every_link_leads_where_it_led_after_a_move(body: str, parts: list[str]) -> None:
    new = "/".join(parts) + ".md"

    after = rebased(body, "a/me.md", new, "")

    assert destinations(after, new) == destinations(body, "a/me.md")


# -- any text


@given(BODIES)
def test_no_text_is_too_odd(body: str) -> None:
    links(body)
    observations(body)
    redirected(body, body, body, body, body, frozenset({body}))
    rebased(body, body, body[::-1], body)
    note_path(body, body[::-1], body)


@given(BODIES)
def test_a_link_says_where_its_destination_is_written(body: str) -> None:
    found = links(body)

    for link in found:
        written = body[link.start : link.end]
        assert link.line == body.count("\n", 0, link.start) + 1
        if link.kind == "wiki":
            assert written == link.target
        else:
            again = only(f"[a](<{written}>)")
            assert (again.target, again.anchor) == (link.target, link.anchor)
    assert all(one.end <= other.start for one, other in pairwise(found))


# All work is linear in the length; were it not, these would meet the time limit of the tests.
@pytest.mark.parametrize(
    "unit",
    [
        *["[", "](", "`", "[[", "[](", "![", "[]", "[[a|", "[a](<", '[a](b "', "[a](b (", "<!--"],
        *["\\[", "> ", "- ", "` ``", "((", "\t", "[[a]](", "<a:", "&#", "[^", "- [a] #b "],
    ],
)
def test_a_megabyte_of_one_line_is_read(unit: str) -> None:
    body = unit * (1_000_000 // len(unit)) + "\n\n~~~\n~~~\n\n[[last]]\n"

    links(body)
    observations(body)


@pytest.mark.parametrize(
    "unit",
    [
        *["- a\n", ">\n", "\n", "```\n", "[a]: b\n", "# \n", "|a\n", "* *\n", "- a\n\n", "<!--\n"],
        *["- [a] b #c (d)\n", "- part_of [a](b)\n", " \n", "    a\n", "[a\n", "> - `\n"],
    ],
)
def test_many_short_lines_are_read(unit: str) -> None:
    body = "- > " * 20 + unit * (200_000 // len(unit)) + "\n\n[[last]]\n"

    links(body)
    observations(body)


def test_images_in_images_are_read() -> None:
    assert len(links("![" * 20_000 + "](b)" * 20_000)) == 20_000


# -- beside another reader


def peer() -> MarkdownIt:
    """Return a CommonMark parser that leaves destinations as written, without reference links."""
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


PEER = peer()


def of_peer(tokens: Sequence[Token]) -> Iterator[Link]:
    for token in tokens:
        if token.type in ("link_open", "image") and token.info != "auto":
            written = str(token.attrs.get("href", token.attrs.get("src")))
            yield only(f"[a](<{written}>)")
        yield from of_peer(token.children or [])


def inline(body: str) -> Counter[tuple[str, str]]:
    """Count the Markdown links of a body, definitions aside."""
    written = (link for link in links(body) if link.kind == "markdown" and not defines(body, link))
    return Counter((link.target, link.anchor) for link in written)


def defines(body: str, link: Link) -> bool:
    return body[: link.start].rstrip(" \t<").endswith("]:")


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: f"{path.parts[-3]}-{path.name}")
def test_real_bundles_hold_the_links_that_another_reader_finds(bundle: Path) -> None:
    differing = {}
    for file in sorted(bundle.rglob("*.md")):
        body = cut(file.read_text("utf-8")).body
        theirs = Counter((link.target, link.anchor) for link in of_peer(PEER.parse(body)))
        if inline(body) != theirs:
            differing[file.name] = (inline(body), theirs)

    assert differing == {}


SHARED = st.sampled_from(
    [
        *["[a](b)", "[c](<d e>)", "![i](j)", "[o](p#q 't')", "[", "]", ")", "`", "``", "\\", "x"],
        *["```\n", "~~~\n", "\n", "\n\n", "- ", "* ", "1. ", "> ", "# ", "\n---\n", "===", "y z"],
    ]
)


@given(st.lists(SHARED, max_size=20).map("".join))
def test_another_reader_finds_the_same_links_in_odd_text(body: str) -> None:
    theirs = Counter((link.target, link.anchor) for link in of_peer(PEER.parse(body)))

    assert inline(body) == theirs


@pytest.mark.parametrize(
    "body",
    [
        "- a\n\n      [x](y.md)",  # indented code within a list
        "-     [x](y.md)",
        "`a\n| [x](y.md) `",  # code over several rows of what may be a table
        "<div>\n[x](y.md)\n</div>",  # raw HTML
        '<b title="[x](y.md)">',
        "a <!--- [x](z.md) -- --> [x](y.md) <!---->",  # dashes in comments
    ],
)
def test_where_readers_differ_the_unsure_counts_as_text(body: str) -> None:
    assert targets(body) == ["y.md"]
