import re
from dataclasses import replace
from datetime import date, datetime
from random import Random
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorix.frontmatter import cut
from memorix.note import etag_of
from memorix.reserved import (
    OKF_VERSION,
    Entry,
    all_indexes,
    index_for,
    index_problems,
    is_generated,
    log_problems,
    updated_index,
    with_log_entry,
    without_log_text,
)

DAY = date(2026, 10, 2)
ENTRY = Entry("user/uv.md", "Use uv", "The tool for environments.")
LOG = (
    "# Log\n\n## 2026-10-02\n\n* **Creation** [Use uv](user/uv.md)\n\n"
    "## 2026-09-30\n\n* **Update** [Port](user/port.md)\n"
)

NAMES = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="/"),
    min_size=1,
    max_size=12,
)
FOLDERS = st.sampled_from(["", "user/", "user/deep/", "Проект/"])
ENTRIES = st.lists(
    st.builds(
        lambda folder, name, title, text: Entry(f"{folder}{name}.md", title, text),
        FOLDERS,
        NAMES.filter(lambda name: name not in ("index", "log")),
        st.text(max_size=20),
        st.text(max_size=40),
    ),
    max_size=8,
)


def _without_block(text: str) -> list[str]:
    return cut(text).body.split("\n")


def test_the_root_index_names_the_version_then_notes_then_folders() -> None:
    entries = [Entry("b.md", "B", ""), Entry("a.md", "A", "First of all.")]

    text = index_for("", entries, ["user", "archive"], "My memory")

    visible = text[: text.rindex("<!--")]
    assert visible == (
        f'---\nokf_version: "{OKF_VERSION}"\n---\n\n# My memory\n\n'
        "* [A](a.md) - First of all.\n* [B](b.md)\n\n"
        "## Folders\n\n* [archive/](archive/)\n* [user/](user/)\n\n"
    )


def test_a_folder_index_has_no_block_and_is_headed_by_its_own_name() -> None:
    text = index_for("projects/my-shop", [], ["projects/my-shop/api"], "My memory")

    assert text.startswith("# My shop\n\n## Folders\n\n* [api/](api/)\n")


def test_an_index_without_folders_has_no_heading_for_them() -> None:
    assert "Folders" not in index_for("user", [ENTRY], [], "")


def test_links_are_relative_to_the_folder_and_percent_encoded() -> None:
    entry = Entry("user/a (b) #1?: 50%.md", "T", "")

    text = index_for("user", [entry], [], "")

    assert "* [T](a%20%28b%29%20%231%3F%3A%2050%25.md)\n" in text


def test_a_link_keeps_letters_of_every_script() -> None:
    assert "](部署.md)" in index_for("", [Entry("部署.md", "部署", "")], [], "Memory")


def test_labels_escape_brackets_backslashes_and_tags() -> None:
    text = index_for("", [Entry("a.md", r"List<T> [x] a\b < c", "")], [], "Memory")

    assert r"* [List\<T> \[x\] a\\b < c](a.md)" in text


def test_a_title_and_a_description_over_several_lines_become_one() -> None:
    text = index_for("", [Entry("a.md", "A\nB", "one\r\n two\u2028three")], [], "M\nN")

    assert "# M N\n\n* [A B](a.md) - one two three\n" in text


def test_a_note_without_a_title_is_listed_by_its_file_name() -> None:
    assert "* [My note](my-note.md)\n" in index_for("", [Entry("my-note.md", "", "")], [], "M")


def test_a_note_and_a_folder_of_one_name_are_told_apart_by_the_slash() -> None:
    text = index_for("", [Entry("a.md", "A", "")], ["a"], "Memory")

    assert "* [A](a.md)\n" in text
    assert "* [a/](a/)\n" in text


def test_names_in_either_unicode_form_have_the_same_place() -> None:
    composed = [Entry("\u00e9.md", "E", ""), Entry("f.md", "F", ""), Entry("z.md", "Z", "")]
    decomposed = [replace(composed[0], path="e\u0301.md"), *composed[1:]]

    orders = [re.findall(r"\[(.)\]", index_for("", e, [], "M")) for e in (composed, decomposed)]

    assert orders == [["F", "Z", "E"]] * 2


@given(ENTRIES, st.randoms())
def test_the_order_in_which_notes_come_changes_no_byte(
    entries: list[Entry], chance: Random
) -> None:
    mixed = list(entries)
    chance.shuffle(mixed)

    assert all_indexes(mixed, "Memory") == all_indexes(entries, "Memory")


@given(ENTRIES)
def test_every_note_and_folder_is_reached_from_the_root_by_its_links(entries: list[Entry]) -> None:
    indexes = all_indexes(entries, "Memory")
    found, waiting = set(), [""]

    while waiting and indexes:
        folder = waiting.pop()
        links = re.findall(r"^\* .*?\]\(([^)]*)\)", indexes[f"{folder}index.md"], re.MULTILINE)
        waiting += [folder + unquote(link) for link in links if link.endswith("/")]
        found |= {folder + unquote(link) for link in links if not link.endswith("/")}

    assert found == {entry.path for entry in entries}


def test_a_folder_with_only_folders_in_it_has_an_index_too() -> None:
    indexes = all_indexes([Entry("a/b/c.md", "C", "")], "Memory")

    assert sorted(indexes) == ["a/b/index.md", "a/index.md", "index.md"]
    assert "* [b/](b/)" in indexes["a/index.md"]


def test_reserved_files_are_never_listed_as_notes() -> None:
    assert all_indexes([Entry("log.md", "Log", ""), Entry("a/index.md", "A", "")], "M") == {}


@given(ENTRIES, st.text(max_size=20))
def test_what_is_generated_is_known_for_it_and_has_no_problem(
    entries: list[Entry], title: str
) -> None:
    for path, text in all_indexes(entries, title).items():
        assert is_generated(text)
        assert is_generated(text.replace("\n", "\r\n"))
        assert index_problems(text, root=path == "index.md") == ()
        assert all(line[:2] in ("", "* ", "# ", "##", "<!") for line in _without_block(text))


@given(st.data())
def test_an_index_with_any_visible_character_changed_is_not_generated(data: st.DataObject) -> None:
    text = index_for("", [ENTRY, Entry("ü.md", "Ü", "x")], ["user"], "Memory")
    at = data.draw(st.sampled_from([i for i, c in enumerate(text) if not c.isspace()]))
    other = data.draw(st.characters(exclude_categories=["Cs"]).filter(lambda c: c != text[at]))

    assert not is_generated(text[:at] + other + text[at + 1 :])
    assert not is_generated(text[:at] + text[at + 1 :])
    assert not is_generated(text[:at] + other + text[at:])


def test_text_by_hand_is_not_generated() -> None:
    assert not is_generated("")
    assert not is_generated("# My own index\n\n* [A](a.md)\n")
    assert not is_generated(index_for("", [], [], "Memory") + "One more line.\n")


def test_a_missing_index_is_written() -> None:
    assert updated_index(None, "new") == "new"


def test_a_generated_index_is_renewed_and_left_alone_when_nothing_changed() -> None:
    old = index_for("", [], ["user"], "Memory")
    new = index_for("", [ENTRY], ["user"], "Memory")

    assert updated_index(old, new) == new
    assert updated_index(old.replace("\n", "\r\n"), new) == new
    assert updated_index(new, new) is None
    assert updated_index(new.replace("\n", "\r\n"), new) is None


@pytest.mark.parametrize("extra", ["x", "\n", "\ufeff"])
def test_an_index_made_or_edited_by_hand_is_never_replaced(extra: str) -> None:
    new = index_for("", [ENTRY], [], "Memory")

    assert updated_index("# Mine\n", new) is None
    assert updated_index("", new) is None
    assert updated_index(extra + index_for("", [], [], "Memory"), new) is None


def _by_a_version_that_writes(okf: str, text: str) -> str:
    rest, start, mark = text.rpartition("<!--")
    earlier = rest.replace(f'"{OKF_VERSION}"', f'"{okf}"')
    return earlier + start + mark.replace(etag_of(rest.encode()), etag_of(earlier.encode()))


def test_a_generated_root_keeps_the_version_it_names() -> None:
    new = index_for("", [ENTRY], [], "Memory")
    old = _by_a_version_that_writes("0.1", index_for("", [], [], "Memory"))

    renewed = updated_index(old, new)

    assert renewed == _by_a_version_that_writes("0.1", new)
    assert is_generated(renewed)
    assert updated_index(renewed, new) is None


@pytest.mark.parametrize(
    ("text", "root", "lines"),
    [
        ("# Prose\n\nand\n\n- any\n+ list\n1. style\n\n---\n\n# More\n", False, []),
        ('\ufeff---\r\nokf_version: "0.2"\r\n---\r\n\r\n# A\r\n', True, []),
        ("---\nokf_version: 0.2\n---\n", True, []),
        ("---\n---\n# A\n", True, []),
        ("---\n# A rule, then prose\n", False, []),
        ("---\n---\n# A\n", False, [1]),
        ('---\nokf_version: "0.2"\n---\n', False, [1]),
        ('---\nokf_version: "0.2"\ntitle: A\n"type": b\n---\n', True, [3, 4]),
        ("---\nokf_versions: a\nokf: 1\n---\n", True, [2, 3]),
        ("---\n- a\n- b\n---\n", True, [2]),
        ("---\nokf_version: 1\nokf_version: 2\n---\n", True, [3]),
        ("---\nokf_version: [\n---\n", True, [3]),
        ("---\nokf_version: 1\n# A\n", True, [1]),
    ],
)
def test_only_metadata_is_a_problem_of_an_index(text: str, root: bool, lines: list[int]) -> None:
    assert [problem.line for problem in index_problems(text, root=root)] == lines


def test_the_first_entry_makes_a_log() -> None:
    text = with_log_entry("", "Creation", "[Use uv](user/uv.md)", DAY)

    assert text == "# Log\n\n## 2026-10-02\n\n* **Creation** [Use uv](user/uv.md)\n"


def test_a_second_entry_of_a_day_stands_above_the_first() -> None:
    text = with_log_entry(LOG, "Update", "b", DAY)

    assert text == LOG.replace("* **Creation**", "* **Update** b\n* **Creation**")


def test_a_new_day_stands_above_the_older_ones() -> None:
    text = with_log_entry(LOG, "Update", "b", date(2026, 10, 1))

    assert text == LOG.replace("## 2026-09-30", "## 2026-10-01\n\n* **Update** b\n\n## 2026-09-30")


def test_an_older_day_goes_to_the_end() -> None:
    text = with_log_entry(LOG, "Update", "b", date(2026, 1, 1))

    assert text == LOG + "\n## 2026-01-01\n\n* **Update** b\n"


def test_a_day_is_found_again_though_groups_are_out_of_order() -> None:
    old = "## 2026-01-01\n* a\n## 2026-10-02\n* b\n## 2026-05-05\n* c\n"

    text = with_log_entry(old, "Update", "d", DAY)

    assert text == old.replace("* b\n", "* **Update** d\n* b\n")


def test_a_day_with_words_after_its_date_is_not_given_a_second_group() -> None:
    text = with_log_entry("## 2026-10-02 (late)\n\n* a\n", "Update", "b", DAY)

    assert text == "## 2026-10-02 (late)\n\n* **Update** b\n* a\n"


def test_the_end_of_a_file_without_a_final_newline_is_mended() -> None:
    heading = with_log_entry("# Log\n\n## 2026-10-02", "Update", "b", DAY)
    prose = with_log_entry("Prose", "Update", "b", DAY)

    assert heading == "# Log\n\n## 2026-10-02\n\n* **Update** b\n"
    assert prose == "Prose\n\n## 2026-10-02\n\n* **Update** b\n"


def test_a_final_newline_that_is_missing_elsewhere_stays_missing() -> None:
    assert with_log_entry("## 2026-10-02\n\n* a", "Update", "b", DAY).endswith("\n* a")


def test_windows_line_ends_a_byte_order_mark_a_block_and_prose_stay() -> None:
    old = "\ufeff---\ntype: Log\n---\n\n# History\n\nProse.\n\n## 2026-01-01\n\n- a\n"
    crlf = old.replace("\n", "\r\n")

    text = with_log_entry(crlf, "Update", "b", DAY)

    new = "## 2026-10-02\r\n\r\n* **Update** b\r\n\r\n"
    assert text == crlf.replace("## 2026-01-01", new + "## 2026-01-01")


@pytest.mark.parametrize("old", ["\ufeff", "\n\n", "---\na: b\n---", "---\na: b\n---\n"])
def test_a_log_without_any_text_gets_its_heading(old: str) -> None:
    text = with_log_entry(old, "Update", "b", DAY)

    assert text.startswith(old)
    assert "\n# Log\n\n## 2026-10-02\n\n* **Update** b\n" in "\n" + text.removeprefix("\ufeff")
    assert cut(text).block == cut(old).block


def test_an_entry_is_one_line_and_a_moment_counts_as_its_day() -> None:
    text = with_log_entry("", "Up\ndate", " a\r\n## 2020-01-01\n b ", datetime(2026, 10, 2, 8))

    assert text == "# Log\n\n## 2026-10-02\n\n* **Up date** a ## 2020-01-01 b\n"


def test_prose_below_a_date_does_not_become_part_of_the_new_entry() -> None:
    text = with_log_entry("## 2026-10-02\nProse.\n", "Update", "b", DAY)

    assert text == "## 2026-10-02\n* **Update** b\n\nProse.\n"


def test_an_entry_stands_as_far_in_as_what_follows_it() -> None:
    text = with_log_entry("## 2026-10-02\n\n  * a\n", "Update", "b", DAY)

    assert text == "## 2026-10-02\n\n  * **Update** b\n  * a\n"


def test_a_date_in_a_fence_or_a_comment_is_no_group() -> None:
    for start, end in [("```", "```"), ("~~~~ md", "~~~~~"), ("<!-- so:", "-->")]:
        old = f"# Log\n\n{start}\n## 2026-10-02\n\n{end}\n\n## 2026-01-01\n"

        text = with_log_entry(old, "Update", "b", DAY)

        assert text.index("**Update**") > text.rindex(end)
        assert log_problems(text) == ()


def test_a_fence_that_is_never_closed_hides_nothing() -> None:
    old = "# Log\n\n```\n\n## 2026-10-02\n\n* a\n"

    assert with_log_entry(old, "Update", "b", DAY).endswith("\n\n* **Update** b\n* a\n")


def test_a_fence_in_an_entry_ends_with_the_entry() -> None:
    old = "## 2026-10-02\n\n* a\n  ```\n  code\n\n## 2026-09-30\n\n```\n## no\n```\n"

    assert log_problems(old) == ()
    assert log_problems(old.replace("09-30", "10-03"))[0].line == 7


LINES = st.sampled_from(
    [
        "", "", "* a", "- b", "prose", "  more", "# Log", "## 2026-10-02", "## 2026-10-01",
        "## 2026-09-30", "  ## 2025-01-01", "## 2024-01-01 (note)", "## words", "```", "~~~", "---",
        "  ```", "* ```", "    code", "<!-- a", "-->", "a: b",
    ]
)  # fmt: skip
OLD = st.builds(
    lambda bom, lines, newline, end: bom + newline.join(lines) + end * newline,
    st.sampled_from(["", "\ufeff", "---\na: b\n---\n"]),
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(0, 2),
)
DAYS = st.dates(date(2026, 9, 29), date(2026, 10, 3))


@given(OLD, DAYS)
def test_a_new_entry_leaves_every_byte_of_a_log_and_breaks_no_rule(old: str, day: date) -> None:
    text = with_log_entry(old, "Update", "b", day)
    again = with_log_entry(text, "Update", "c", day)

    cuts = range(len(old) + 1)
    assert any(text.startswith(old[:at]) and text.endswith(old[at:]) for at in cuts)
    assert text.count("**Update** b") == 1
    assert len(again.splitlines()) - len(text.splitlines()) == 1
    assert again.index("**Update** c") < again.index("**Update** b")
    if log_problems(old) == ():
        assert log_problems(text) == log_problems(again) == ()


@given(st.lists(st.tuples(DAYS, st.text(max_size=30), st.text(max_size=60)), max_size=12))
def test_a_log_we_wrote_is_newest_first_with_one_group_a_day(
    entries: list[tuple[date, str, str]],
) -> None:
    text = ""
    for day, verb, sentence in entries:
        text = with_log_entry(text, verb, sentence, day)

    days = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert days == sorted({day.isoformat() for day, *_ in entries}, reverse=True)
    assert len(re.findall(r"^\* \*\*", text, re.MULTILINE)) == len(entries)
    assert log_problems(text) == ()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("# Log\n\nProse.\n\n## 2026-10-02\n\n### Part\n\n## 2026-10-01 ##\n", []),
        ("---\ntype: Log\n---\n\n# Log\n\n## 2026-10-02\n", []),
        ("## 2026-10-02\n## 2026-10-02\n## 2026-10-01\n", [2]),
        ("## 2026-10-01\n## 2026-10-02\n## 2026-09-30\n", [2]),
        ("---\ntype: Log\n---\n## 2026-07-03 (note)\n", [4]),
        ("\ufeff## 2026-02-30\r\n\r\n##\r\n   ## words\r\n", [1, 3, 4]),
        ("## 20261002\n## 2026-W40-5\n## 2026-1-5\n## 2026-10-020\n", [1, 2, 3, 4]),
        ("##2026\n### 2026\n    ## code\n", []),
    ],
)
def test_a_log_has_dates_newest_first_and_each_once(text: str, lines: list[int]) -> None:
    assert [problem.line for problem in log_problems(text)] == lines


@pytest.mark.parametrize(
    "link",
    [
        "[Use uv](user/uv.md)", "[Use uv](/user/uv.md)", "[Use uv](./user/uv.md#why)",
        "[Use uv](<user/uv.md>)", '[Use uv](user/uv.md "title")', "[Use uv](user/uv)",
        "[Use uv](us%65r/uv.md)", "[[user/uv]]", "[[uv|Use uv]]", "[[user/uv.md#a]]",
        "`user/uv.md`", "[[x](y.md) and [Use uv](user/uv.md)",
    ],
)  # fmt: skip
def test_an_erased_note_is_named_by_its_id_alone_however_it_was_linked(link: str) -> None:
    old = LOG.replace("[Use uv](user/uv.md)", f"of {link}, because\n  secret\n\n  more secret")

    text = without_log_text(old, "user/uv.md", "01X")

    expected = LOG.replace("* **Creation** [Use uv](user/uv.md)", "- **Erasure** note 01X")
    assert text == expected


@pytest.mark.parametrize(
    "link",
    ["[a](user/uv.md.md)", "[a](user/uv/)", "[a](other/user/uv.md)", "[[xuv]]", "`uv`", "[a]()"],
)
def test_entries_about_other_notes_stay(link: str) -> None:
    old = f"# Log [a](user/uv.md)\n\n* {link}\n  [b](b.md)\n"

    assert without_log_text(old, "user/uv.md", "01X") == old


def test_a_path_with_odd_characters_is_found_as_it_was_linked() -> None:
    path = "user/a (b) [ü] #1.md"
    listed = index_for("", [Entry(path, "T", "")], [], "Memory")
    line = next(line for line in listed.splitlines() if line.startswith("* "))

    assert without_log_text(line, path, "01X") == "- **Erasure** note 01X"
    assert without_log_text("* [T](a\\(b.md)", "a(b.md", "01X") == "- **Erasure** note 01X"


def test_an_erasure_ends_where_the_next_entry_heading_or_fence_begins() -> None:
    old = "* [a](a.md)\nlazy\n* b\n* [a](a.md)\n## 2026-01-01\n  - [a](a.md)\n```\nc\n```\n"

    text = without_log_text(old, "a.md", "X")

    erased = "- **Erasure** note X\n"
    assert text == f"{erased}* b\n{erased}## 2026-01-01\n  {erased}```\nc\n```\n"


def test_an_erasure_keeps_windows_line_ends_and_what_is_around() -> None:
    old = "\ufeff---\r\na: b\r\n---\r\n* [a](a.md)\r\n\r\n* b"

    text = without_log_text(old, "a.md", "X")

    assert text == old.replace("* [a](a.md)", "- **Erasure** note X")


@given(OLD)
def test_a_log_that_does_not_name_a_note_survives_its_erasure(old: str) -> None:
    assert without_log_text(old, "user/uv.md", "01X") == old
