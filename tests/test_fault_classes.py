"""Faults that users of such tools met with odd files: each test says what is right instead."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memorix import settling
from memorix.arguments import query_from
from memorix.config import load
from memorix.errors import (
    ConfigInvalid,
    InvalidRequest,
    NoteNotFound,
    NoteUneditable,
    UnsafePath,
)
from memorix.lifecycle import Edit, draft_from, successor
from memorix.memory import Memory
from memorix.note import Note
from memorix.results import Written
from memorix.wiring import open_memory

LARGE = 12 * 1024 * 1024
# Bytes of a log that somebody saved among the notes.

GROWTH = 200_000
# Bytes by which a small file may make the index grow, whatever it unfolds to.


@dataclass(frozen=True)
class Shelf:
    """A folder of a vault with odd files in it, and what the memory makes of them."""

    memory: Memory
    folder: Path
    source: Path
    laid: dict[str, bytes] = field(default_factory=dict)

    def lay(self, *numbers: str) -> list[str]:
        """Copy the hard notes of these numbers in, index them and return their paths."""
        files = [file for number in numbers for file in sorted(self.source.glob(f"{number}-*.md"))]
        return [self.write(file.name, file.read_bytes()) for file in files]

    def lay_with_ten_good_notes(self, *numbers: str) -> list[str]:
        for number in range(10):
            text = f"# Good {number}\n\nThe lantern{number} is lit.\n"
            self.write(f"good-{number}.md", text.encode())
        return self.lay(*numbers)

    def write(self, name: str, content: bytes) -> str:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        self.laid[name] = content
        self.memory.catch_up()
        return f"user/{name}"

    def content(self, path: str) -> bytes:
        return (self.folder.parent / path).read_bytes()

    def untouched(self) -> bool:
        return all((self.folder / name).read_bytes() == old for name, old in self.laid.items())

    def note(self, path: str) -> Note:
        return self.memory.read(path).note

    def told(self, path: str) -> list[tuple[str, int]]:
        """Return code and line of each warning that the status shows for a file."""
        return [(code, line) for at, code, line, _ in self.memory.status().warnings if at == path]

    def found(self, question: str, **more: Any) -> list[str]:
        asked = query_from(question, 50, max_tokens=100_000, **more)
        return [hit.path for hit in self.memory.recall(asked).hits]

    def finds_both(self, question: str, paths: Sequence[str]) -> bool:
        """Say whether all are found, as hits or as copies that a hit counts."""
        hits = self.memory.recall(query_from(question, 50)).hits
        copies = sum(int(n.split()[0]) for h in hits for n in h.why.notes if "say the same" in n)
        return {hit.path for hit in hits} <= {*paths} and len(hits) + copies == len(paths)

    def finds_all_good_notes(self) -> bool:
        return all(
            self.found(f"lantern{number}") == [f"user/good-{number}.md"] for number in range(10)
        )

    def add_tag(self, path: str, tag: str = "new") -> None:
        reading = self.memory.read(path)
        tags = [*reading.note.tags, tag]
        self.memory.revise(path, reading.etag, Edit(keys={"tags": tags}))


@pytest.fixture
def shelf(memory: Memory, vault: Path, hard_notes: Path) -> Shelf:
    return Shelf(memory, vault / "user", hard_notes)


@pytest.fixture
def typed(settings: dict[str, str], tmp_path: Path) -> Callable[..., str]:
    """Type a command; the answer is what it prints where it ends as expected."""

    def run(*arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "memorix", *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **settings, "PYTHONUTF8": "1"},
            cwd=tmp_path / "app",
            check=False,
            timeout=90,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    return run


def keep(memory: Memory, text: str, title: str, scope: str = "") -> Written:
    return memory.remember(draft_from(text, title), scope)


def fences(content: bytes) -> int:
    return [line.strip() for line in content.splitlines()].count(b"---")


# -- the metadata block


@pytest.mark.fault("A-01")
def test_a_title_with_a_bare_colon_is_read_and_told_and_its_file_stays(shelf: Shelf) -> None:
    [path] = shelf.lay("01")

    note = shelf.note(path)
    assert (note.title, note.type, note.tags) == (
        "Release plan: second try",
        "decision",
        ("planning",),
    )
    assert shelf.found("quartzfox") == shelf.found("importer") == [path]
    assert shelf.told(path) == [("frontmatter-invalid", 2)]
    assert shelf.untouched()


@pytest.mark.fault("A-02")
@pytest.mark.parametrize("number", ["01", "09", "15", "16", "20", "22"])
def test_a_block_that_cannot_be_read_never_gets_a_second_one_on_top(
    shelf: Shelf, number: str
) -> None:
    [path] = shelf.lay(number)
    before = shelf.content(path)

    with pytest.raises(NoteUneditable, match=path):
        shelf.add_tag(path)
    shelf.memory.catch_up()

    assert shelf.untouched()
    assert fences(before) == 2


@pytest.mark.fault("A-02")
def test_a_block_that_is_not_closed_yet_never_gets_another_one_on_top(shelf: Shelf) -> None:
    [path] = shelf.lay("33")

    with pytest.raises(NoteUneditable, match=path):
        shelf.add_tag(path)

    assert shelf.told(path) == [("frontmatter-unclosed", 1)]
    assert shelf.found("Half written") == [path]
    assert shelf.untouched()


@pytest.mark.fault("A-03")
def test_a_bad_file_holds_back_no_other_and_is_named(
    shelf: Shelf, typed: Callable[..., str]
) -> None:
    [bad] = shelf.lay_with_ten_good_notes("01")

    first = typed("reindex", "--full")
    (shelf.folder / "good-3.md").write_bytes(b"# Good 3\n\nNow it is dark: mallowfen.\n")
    second = typed("reindex")

    assert first.startswith("11 notes read, 0 moved, 0 gone")
    assert second.startswith("1 notes read, 0 moved, 0 gone")
    assert second.strip().endswith("11 notes in the index.")
    assert json.loads(typed("recall", "mallowfen", "--json"))["hits"][0]["title"] == "Good 3"
    assert f"{bad}:2 frontmatter-invalid" in typed("status")
    assert "01-colon-in-title.md:2 OKF-6 error" in typed("check", str(shelf.folder), code=2)


@pytest.mark.fault("A-04")
def test_dates_numbers_and_booleans_stay_the_text_that_was_typed(shelf: Shelf) -> None:
    dates, words, clock, zones = shelf.lay("02", "03", "04", "36")

    titles = [shelf.note(path).title for path in (dates, words, clock)]
    meta = shelf.note(clock).meta
    assert titles == ["2025-10-24", "No", "10:30"]
    assert [meta[key] for key in ("start", "end", "postcode", "ticket")] == [
        "10:00",
        "09:30",
        "02142",
        "1234_5678",
    ]
    assert shelf.note(dates).tags == ("2025-10-24", "1.0", "3.10", "007", "2026")
    assert shelf.note(zones).meta["created"] == "2025-10-24T23:30:00-05:00"
    assert shelf.note(zones).meta["due"] == "24/10/2025"
    assert shelf.found("foxgloves", since="2025-10-25", until="2025-10-26") == [zones]
    assert shelf.found("larkspur") == [dates]
    assert shelf.found("marigold") == [clock]
    assert shelf.memory.status().warnings == ()


@pytest.mark.fault("A-05")
def test_a_tag_made_of_digits_outlives_an_edit_in_file_and_index(shelf: Shelf) -> None:
    [path] = shelf.lay("02")
    before = shelf.content(path)

    shelf.add_tag(path)

    assert shelf.content(path) == before.replace(b"007, 2026]", b"007, 2026, new]")
    assert shelf.note(path).tags == ("2025-10-24", "1.0", "3.10", "007", "2026", "new")
    assert [shelf.found("", tags=tag) for tag in ("2026", "007", "3.10", "new")] == [[path]] * 4
    assert shelf.found("", tags="7") == shelf.found("", tags="3.1") == []


@pytest.mark.fault("A-05")
@pytest.mark.parametrize(
    ("number", "old", "new"),
    [
        ("26", "naïve]", "naïve, new]"),
        ("28", ", C#]", ", C#, new]"),
    ],
)
def test_a_tag_is_added_beside_odd_ones_without_a_change_to_them(
    shelf: Shelf, number: str, old: str, new: str
) -> None:
    [path] = shelf.lay(number)
    before = shelf.content(path)

    shelf.add_tag(path)

    assert shelf.content(path) == before.replace(old.encode(), new.encode())


@pytest.mark.fault("A-06")
def test_empty_tags_are_left_out_and_told_and_stop_nothing(shelf: Shelf) -> None:
    empty, holes = shelf.lay_with_ten_good_notes("05", "06")

    note = shelf.note(empty)
    assert (note.title, note.type, note.tags) == ("Fallback heading", "Note", ())
    assert (shelf.note(holes).title, shelf.note(holes).tags) == ("Tags with holes", ("sqlite",))
    assert shelf.told(empty) == []
    assert [code for code, _ in shelf.told(holes)] == ["tag-dropped"]
    assert shelf.found("hazelwick") == [empty]
    assert shelf.found("bramblecot") == [holes]
    assert shelf.finds_all_good_notes()


@pytest.mark.fault("A-06")
def test_the_warning_of_an_empty_tag_leads_to_the_lines_of_the_tags(shelf: Shelf) -> None:
    [path] = shelf.lay("06")

    [(code, line)] = shelf.told(path)
    assert code == "tag-dropped"
    assert 3 <= line <= 7


@pytest.mark.fault("A-07")
def test_a_note_with_an_empty_block_or_no_body_or_no_byte_is_one_without_metadata(
    shelf: Shelf,
) -> None:
    heading, bookmark, nothing = shelf.lay_with_ten_good_notes("17", "18", "19")

    note = shelf.note(heading)
    assert (note.title, note.type, note.meta) == ("Only a heading", "Note", {})
    assert shelf.note(bookmark).tags == ("bookmark", "nettlecove")
    assert shelf.note(bookmark).body == ""
    assert shelf.note(nothing).meta == {}
    assert [shelf.told(path) for path in (heading, bookmark, nothing)] == [
        [],
        [("empty-body", 1)],
        [("empty-note", 1)],
    ]
    assert shelf.found("mossgrove") == [heading]
    assert shelf.found("Bookmark without text") == [bookmark]
    assert shelf.finds_all_good_notes()


@pytest.mark.fault("A-07")
def test_a_tag_goes_into_an_empty_block_and_not_into_a_second_one(shelf: Shelf) -> None:
    [path] = shelf.lay("17")
    before = shelf.content(path)

    shelf.add_tag(path)

    assert shelf.content(path) == before.replace(b"---\n\n---\n", b"---\n\ntags: [new]\n---\n")


@pytest.mark.fault("A-08")
def test_words_that_some_yaml_takes_for_booleans_stay_words(
    shelf: Shelf, typed: Callable[..., str]
) -> None:
    [path] = shelf.lay("03")
    before = shelf.content(path)

    shelf.add_tag(path)

    assert shelf.content(path) == before.replace(b"y, n]", b"y, n, new]")
    assert shelf.note(path).tags == ("no", "yes", "on", "off", "y", "n", "new")
    assert shelf.found("", tags="no") == [path]
    assert shelf.found("", tags="false") == []
    assert json.loads(typed("read", path, "--json"))["title"] == "No"


@pytest.mark.fault("A-09")
@pytest.mark.parametrize(
    ("number", "old", "new"), [("04", b"[rota]", b"[rota, new]"), ("36", b"[time]", b"[time, new]")]
)
def test_clock_times_and_dates_beside_a_changed_key_stay_to_the_byte(
    shelf: Shelf, number: str, old: bytes, new: bytes
) -> None:
    [path] = shelf.lay(number)
    before = shelf.content(path)

    shelf.add_tag(path)

    assert shelf.content(path) == before.replace(old, new)


@pytest.mark.fault("A-10")
def test_a_byte_order_mark_changes_nothing_but_itself(shelf: Shelf) -> None:
    [marked] = shelf.lay("10")
    before = shelf.content(marked)
    plain = shelf.write("plain.md", before.removeprefix(b"\xef\xbb\xbf"))

    shelf.add_tag(marked)
    shelf.add_tag(plain)

    with_mark, without = shelf.note(marked), shelf.note(plain)
    assert before.startswith(b"\xef\xbb\xbf---")
    assert (with_mark.title, with_mark.type) == ("Saved by a Windows editor", "howto")
    assert (with_mark.meta, with_mark.body) == (without.meta, without.body)
    assert shelf.content(marked) == before.replace(b"[windows]", b"[windows, new]")
    assert shelf.content(marked) == b"\xef\xbb\xbf" + shelf.content(plain)
    assert shelf.finds_both("fernmarsh", [marked, plain])


@pytest.mark.fault("A-11")
def test_line_ends_of_windows_are_read_and_kept(shelf: Shelf) -> None:
    [path] = shelf.lay("11")
    before, note = shelf.content(path), shelf.note(path)

    shelf.add_tag(path)
    tagged = shelf.content(path)
    shelf.memory.revise(
        path, shelf.memory.read(path).etag, Edit(find="First line.", replace="One.\nTwo.")
    )

    assert (note.title, note.tags) == ("Line ends of Windows", ("crlf", "windows"))
    assert tagged == before.replace(b"  - windows\r\n", b"  - windows\r\n  - new\r\n")
    assert b"\r\nOne.\r\nTwo.\r\nWord to find" in shelf.content(path)
    assert shelf.content(path).count(b"\n") == shelf.content(path).count(b"\r\n")
    assert fences(shelf.content(path)) == 2


@pytest.mark.fault("A-11")
def test_mixed_line_ends_stay_as_mixed_as_they_are(shelf: Shelf) -> None:
    [path] = shelf.lay("12")
    before, note = shelf.content(path), shelf.note(path)

    shelf.add_tag(path)

    assert (note.title, note.tags) == ("Mixed line ends", ("mixed",))
    assert shelf.content(path) == before.replace(b"[mixed]\r\n", b"[mixed, new]\r\n")
    assert shelf.found("heronby") == [path]


@pytest.mark.fault("A-12")
def test_rules_in_a_body_are_body_and_so_is_what_lies_between_them(shelf: Shelf) -> None:
    rules, rule_first = shelf.lay("13", "14")

    note, bare = shelf.note(rules), shelf.note(rule_first)
    assert (note.title, note.tags, note.status) == ("Three rules below", ("layout",), "stable")
    assert note.body.encode() == shelf.content(rules).split(b"---\n", 2)[2]
    assert shelf.found("status: this line is body text")[0] == rules
    assert shelf.found("ironbark") == [rules]
    assert (bare.title, bare.meta) == ("Starts with a rule", {})
    assert bare.body.encode() == shelf.content(rule_first)
    assert shelf.found("junipers") == [rule_first]


@pytest.mark.fault("A-13")
def test_a_banner_that_is_no_yaml_is_text_and_the_status_names_its_file(
    shelf: Shelf, typed: Callable[..., str]
) -> None:
    banner, tabs = shelf.lay_with_ten_good_notes("15", "20")

    status = typed("status")
    assert shelf.found("Northhaven") == shelf.found("kestrelmoor") == [banner]
    assert shelf.found("orchardby") == [tabs]
    assert shelf.note(banner).title == "Letter about the crane"
    assert shelf.note(tabs).title == "Tabs in the list"
    assert f"{banner}:2 frontmatter-invalid" in status
    assert f"{tabs}:4 frontmatter-invalid" in status
    assert "notes     12" in status
    assert shelf.untouched()


@pytest.mark.fault("A-14")
@pytest.mark.parametrize("block", ["- buy solder\n- call the lathe shop", "solder for the lathe"])
def test_the_words_of_a_block_without_keys_stay_words_of_the_note(shelf: Shelf, block: str) -> None:
    path = shelf.write("odd.md", f"---\n{block}\n---\n# Shopping\n\nlimewash\n".encode())

    note = shelf.note(path)
    assert (note.title, note.tags, note.meta) == ("Shopping", (), {})
    assert [shelf.found(word) for word in ("solder", "lathe", "limewash")] == [[path]] * 3
    assert shelf.told(path) == [("frontmatter-not-mapping", 2)]
    assert shelf.untouched()


@pytest.mark.fault("A-15")
def test_keys_that_are_no_words_are_kept_as_typed(shelf: Shelf, typed: Callable[..., str]) -> None:
    [path] = shelf.lay("21")
    before = shelf.content(path)

    shelf.add_tag(path)

    assert shelf.note(path).meta == {
        "title": "Keys of other kinds",
        "tags": ["keys", "new"],
        "2025": "year of review",
        "2025-10-24": "day of review",
        "yes": "agreed",
        "content": "a key with a common name",
    }
    assert shelf.content(path) == before.replace(b"[keys]", b"[keys, new]")
    assert shelf.found("pebblebrook") == [path]
    assert "Keys of other kinds" in typed("read", path)


@pytest.mark.fault("A-16")
def test_a_note_with_a_key_twice_is_read_and_the_second_one_is_told(shelf: Shelf) -> None:
    [path] = shelf.lay("09")

    note = shelf.note(path)
    assert (note.title, note.tags) == ("First title", ("one",))
    assert "emberfold" in note.body
    assert shelf.found("emberfold") == [path]
    assert shelf.told(path) == [("frontmatter-duplicate-key", 4), ("frontmatter-duplicate-key", 5)]


@pytest.mark.fault("A-17")
def test_adding_a_tag_changes_no_line_but_that_of_the_tag(shelf: Shelf) -> None:
    [path] = shelf.lay("31")
    before = shelf.content(path)

    shelf.add_tag(path)

    assert shelf.content(path) == before.replace(b"    - second\n", b"    - second\n    - new\n")
    assert shelf.note(path).tags == ("first", "second", "new")
    assert shelf.found("", tags="new") == [path]


@pytest.mark.fault("A-18")
def test_indentation_and_empty_lines_at_the_ends_of_a_body_outlive_an_edit(shelf: Shelf) -> None:
    [path] = shelf.lay("32")
    before, body = shelf.content(path), shelf.note(path).body

    shelf.add_tag(path)

    assert shelf.content(path) == before.replace(b"[layout]", b"[layout, new]")
    assert shelf.note(path).body == body
    assert body.startswith("    make all")
    assert body.endswith("cloverpike.\n\n\n")


@pytest.mark.fault("A-19")
def test_aliases_that_unfold_to_millions_cost_no_more_than_any_note(
    shelf: Shelf, typed: Callable[..., str], open_another: Callable[[], Memory]
) -> None:
    shelf.lay_with_ten_good_notes()
    shelf.memory.close()
    before = shelf.memory.index_path.stat().st_size
    rows = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)]
    bomb = "".join(["---\ntitle: Bomb\na0: &a0 [x]\n", *rows, "---\nWord: tarnhollow.\n"])
    again = Shelf(open_another(), shelf.folder, shelf.source)

    [mild], strong = again.lay("22"), again.write("bomb.md", bomb.encode())

    assert again.note(mild).title == "Aliases repeated"
    assert [again.told(path) for path in (mild, strong)] == [[("frontmatter-too-complex", 1)]] * 2
    assert again.found("quillstone") == [mild]
    assert again.found("tarnhollow") == [strong]
    assert again.finds_all_good_notes()
    assert len(typed("list", "--json")) + len(typed("read", mild, "--json")) < GROWTH
    again.memory.close()
    assert again.memory.index_path.stat().st_size - before < GROWTH


# -- the bytes


@pytest.mark.fault("A-20")
def test_files_that_are_not_utf8_are_named_and_stop_no_other(shelf: Shelf) -> None:
    latin, binary = shelf.lay_with_ten_good_notes("23", "25")

    with pytest.raises(NoteUneditable, match=latin):
        shelf.add_tag(latin)
    with pytest.raises(NoteUneditable, match=binary):
        shelf.add_tag(binary)

    note = shelf.note(latin)
    assert (note.title, note.tags) == ("Notiz aus dem Büro", ("büro",))
    assert shelf.told(latin) == [("encoding-not-utf8", 2)]
    assert shelf.told(binary) == [("binary-content", 1)]
    assert shelf.found("rosewain") == shelf.found("Prüfung") == [latin]
    assert shelf.finds_all_good_notes()
    assert shelf.untouched()


@pytest.mark.fault("A-21")
def test_what_follows_a_nul_is_found_and_the_file_keeps_its_bytes(shelf: Shelf) -> None:
    [path] = shelf.lay("24")

    with pytest.raises(NoteUneditable, match=path):
        shelf.add_tag(path)

    assert shelf.note(path).title == "Pasted from a terminal"
    assert "\0" not in shelf.note(path).body
    assert shelf.told(path) == [("control-characters", 5)]
    assert shelf.found("saltmere") == shelf.found("After the odd byte") == [path]
    assert shelf.untouched()


@pytest.mark.fault("A-21")
def test_a_nul_in_a_new_memory_reaches_neither_its_file_nor_the_index(shelf: Shelf) -> None:
    done = keep(shelf.memory, "Before\0after it: saltgrove.", "With\0in", "user")

    assert b"\0" not in shelf.content(done.path)
    assert shelf.note(done.path).title == "With in"
    assert shelf.found("saltgrove") == shelf.found("after it") == [done.path]


@pytest.mark.fault("A-21")
def test_the_codes_of_a_terminal_in_a_note_do_not_reach_the_reader_s_terminal(
    shelf: Shelf, typed: Callable[..., str]
) -> None:
    [path] = shelf.lay("24")

    printed = typed("recall", "saltmere") + typed("read", path)

    assert "saltmere" in printed
    assert not {"\x07", "\x1b"} & set(printed)


@pytest.mark.fault("A-29")
def test_a_huge_file_keeps_no_other_out_and_is_found_in_all_its_parts(shelf: Shelf) -> None:
    paragraph = "The gauge of tank three was read again, as on the morning before. " * 8 + "\n\n"
    half = paragraph * (LARGE // len(paragraph) // 2)
    shelf.lay_with_ten_good_notes()

    path = shelf.write("gauges.md", f"startmoor\n\n{half}middlemoor\n\n{half}endmoor\n".encode())

    assert shelf.finds_all_good_notes()
    assert [shelf.found(word) for word in ("startmoor", "middlemoor", "endmoor")] == [[path]] * 3
    assert shelf.memory.status().counts.notes == 11
    assert shelf.untouched()


# -- names and places


@pytest.mark.fault("A-03")
@pytest.mark.parametrize("name", ["What now?", "a:b", 'The "plan"', "~draft", "a*b", "a\\b", "a|b"])
@pytest.mark.skipif(os.name == "nt", reason="there such a file cannot be made")
def test_a_file_name_that_another_system_forbids_keeps_no_note_out(shelf: Shelf, name: str) -> None:
    shelf.lay_with_ten_good_notes()

    path = shelf.write(f"{name}.md", b"The heron is back.\n")

    assert shelf.finds_all_good_notes()
    assert shelf.found("heron") == [path]


@pytest.mark.fault("A-22")
def test_two_files_whose_names_differ_in_unicode_form_are_two_notes_or_one_file(
    shelf: Shelf,
) -> None:
    names = ["Café.md", "Cafe\u0301.md"]

    paths = [
        shelf.write(name, f"---\ntitle: Café\n---\nkestrel {name}\n".encode()) for name in names
    ]

    there = [f"user/{file.name}" for file in shelf.folder.iterdir()]
    assert shelf.finds_both("kestrel", there)
    assert shelf.memory.status().counts.notes == len(there)
    assert {shelf.content(path) for path in there} <= {shelf.content(path) for path in paths}
    assert all(shelf.note(path).body.encode() in shelf.content(path) for path in there)


@pytest.mark.fault("A-22")
@pytest.mark.parametrize(
    ("stored", "asked"), [("Café.md", "Cafe\u0301.md"), ("Cafe\u0301.md", "Café.md")]
)
def test_a_note_is_found_by_either_unicode_form_of_its_path(
    shelf: Shelf, stored: str, asked: str
) -> None:
    path = shelf.write(stored, b"kestrel\n")

    shelf.memory.catch_up([f"user/{asked}"])

    assert shelf.memory.status().counts.notes == 1
    assert shelf.note(f"user/{asked}").path == path


@pytest.mark.fault("A-22")
def test_two_files_whose_names_differ_in_case_are_never_taken_for_each_other(shelf: Shelf) -> None:
    upper, lower = shelf.write("Plan.md", b"one heron\n"), shelf.write("plan.md", b"one egret\n")
    if len(list(shelf.folder.iterdir())) == 1:
        pytest.skip("one file on this system")

    shelf.add_tag(lower)

    assert shelf.found("heron") == [upper]
    assert shelf.found("egret") == [lower]
    assert shelf.content(upper) == b"one heron\n"
    assert shelf.content(lower) == b"---\ntags: [new]\n---\n\none egret\n"


@pytest.mark.fault("A-22")
@pytest.mark.parametrize(
    ("there", "title"),
    [
        ("Plan.md", "plan"),
        ("Élan.md", "élan"),
        ("cafe\u0301.md", "café"),
    ],
)
def test_a_new_note_gets_no_name_that_is_another_s_on_some_system(
    shelf: Shelf, there: str, title: str
) -> None:
    shelf.write(there, b"heron\n")

    done = keep(shelf.memory, "egret", title, "user")

    assert done.path == f"user/{title}-2.md"
    assert shelf.untouched()


OUTSIDE = [
    "../../x",
    "..",
    "/etc/passwd",
    "~/x",
    "C:\\x",
    "user/../../x",
    "..%2f..%2fx",
    "%2e%2e/x",
]
# Ways to name a file that is not in the vault.


@pytest.mark.fault("A-23")
@pytest.mark.parametrize("place", OUTSIDE)
def test_no_id_scope_or_target_leads_out_of_the_vault(
    shelf: Shelf, typed: Callable[..., str], tmp_path: Path, place: str
) -> None:
    done = keep(shelf.memory, "The heron is back.", "Heron", "user")
    before = tree(tmp_path)

    for use in (
        shelf.memory.read,
        shelf.memory.forget,
        lambda wanted: shelf.memory.revise(wanted, done.etag, Edit(text="other")),
        lambda wanted: settling.supersede(shelf.memory, wanted, done.etag, successor("other", {})),
        lambda wanted: keep(shelf.memory, "other", "Other", wanted),
    ):
        with pytest.raises((UnsafePath, NoteNotFound, InvalidRequest)):
            use(place)
    typed("mv", done.id, place, code=2)

    assert tree(tmp_path) == before


@pytest.mark.fault("A-23")
@pytest.mark.parametrize("title", OUTSIDE)
def test_a_title_that_looks_like_a_path_stays_a_title_in_the_vault(
    shelf: Shelf, tmp_path: Path, title: str
) -> None:
    done = keep(shelf.memory, "The heron is back.", title, "user")

    assert shelf.note(done.path).title == title
    assert [file.name for file in shelf.folder.iterdir()] == [Path(done.path).name]
    assert not [file for file in tree(tmp_path) if file.endswith(".md") and "vault" not in file]


@pytest.mark.fault("A-23")
def test_links_of_the_file_system_that_lead_outwards_are_not_followed(
    shelf: Shelf, vault: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("quokka\n", encoding="utf-8")
    shelf.folder.mkdir(parents=True)
    (vault / "projects").mkdir()
    (shelf.folder / "out").symlink_to(outside)
    (shelf.folder / "leak.md").symlink_to(outside / "secret.md")
    (vault / "projects" / "evil").symlink_to(outside)

    shelf.memory.catch_up()

    assert shelf.found("quokka", scope="all") == []
    for path in ("user/out/secret.md", "user/leak.md", "projects/evil/secret.md"):
        with pytest.raises(NoteNotFound):
            shelf.memory.read(path)
    with pytest.raises(UnsafePath):
        keep(shelf.memory, "text", "Title", "evil")
    assert [file.name for file in outside.iterdir()] == ["secret.md"]


@pytest.mark.fault("A-23")
def test_a_change_of_a_link_that_leads_outwards_loses_no_other_change(
    shelf: Shelf, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("quokka\n", encoding="utf-8")
    good = shelf.write("good.md", b"heron\n")
    (shelf.folder / "leak.md").symlink_to(tmp_path / "secret.md")
    (shelf.folder / "good.md").write_bytes(b"egret\n")

    shelf.memory.catch_up(["user/leak.md", good])

    assert shelf.found("egret") == [good]
    assert shelf.found("quokka") == []


@pytest.mark.fault("A-24")
@pytest.mark.parametrize("letter", ["é", "漢"])
def test_titles_longer_than_a_name_may_be_make_names_cut_at_a_letter(
    shelf: Shelf, letter: str
) -> None:
    titles = [letter * 200 + end for end in ("a", "b")]

    done = [keep(shelf.memory, f"About {title}.", title, "user") for title in titles]

    names = [Path(written.path).name for written in done]
    assert len(set(names)) == 2
    assert all(len(name.encode()) <= 255 for name in names)
    assert all(set(name.removesuffix(".md")) <= {letter, "-", "2"} for name in names)
    assert [shelf.note(written.path).title for written in done] == titles
    assert sorted(file.name for file in shelf.folder.iterdir()) == sorted(names)


@pytest.mark.fault("A-25")
def test_titles_without_a_letter_make_a_file_each(shelf: Shelf) -> None:
    titles = ["😀", "🎩🎩", "???"]

    done = [keep(shelf.memory, f"About {title}.", title, "user") for title in titles]

    assert len({written.path for written in done}) == 3
    assert [shelf.note(written.path).title for written in done] == titles
    assert len(list(shelf.folder.iterdir())) == 3


AWKWARD = [
    *("a/b", "..", "../x", "con", "aux.notes", "NUL", "ends with dot.", "ends with space "),
    *(".hidden", "a:b", "a\\b", "what?", "*", "tab\there", "lpt1.x", "CON", "README"),
]
DEVICES = {"con", "prn", "aux", "nul"} | {f"{p}{n}" for p in ("com", "lpt") for n in "123456789¹²³"}
# Names that Windows keeps for devices, whatever follows a dot.


@pytest.mark.fault("A-26")
def test_awkward_titles_are_kept_whole_under_names_that_every_system_takes(shelf: Shelf) -> None:
    done = [keep(shelf.memory, f"About {title!r}.", title, "user") for title in AWKWARD]

    names = [Path(written.path).name for written in done]
    assert [shelf.note(written.path).title for written in done] == [
        " ".join(title.split()) for title in AWKWARD
    ]
    assert all(is_portable(name) for name in names)
    assert len({name.casefold() for name in names}) == len(AWKWARD)
    assert sorted(file.name for file in shelf.folder.iterdir()) == sorted(names)


@pytest.mark.fault("A-26")
@pytest.mark.parametrize("title", ["COM¹", "lpt²"])
def test_a_device_with_a_raised_digit_names_no_file(shelf: Shelf, title: str) -> None:
    done = keep(shelf.memory, "The serial port.", title, "user")

    assert is_portable(Path(done.path).name)


@pytest.mark.fault("A-26")
def test_a_memory_without_a_title_takes_one_from_its_text(shelf: Shelf) -> None:
    done = keep(shelf.memory, "The heron is back. It stands at the weir.", "", "user")

    assert done.path == "user/the-heron-is-back.md"
    assert shelf.note(done.path).title == "The heron is back"


def tree(root: Path) -> dict[str, bytes]:
    """Return every file below a folder but those of the index, which counts what is asked."""
    files = [file for file in root.rglob("*") if file.is_file() and "state" not in file.parts]
    return {str(file.relative_to(root)): file.read_bytes() for file in files}


def is_portable(name: str) -> bool:
    stem = name.partition(".")[0].casefold()
    plain = not set(name) & set('<>:"/\\|?*') and name.isprintable()
    return plain and stem not in DEVICES and name[0] not in " ." and stem[-1:] not in (" ", "")


@pytest.mark.fault("A-27")
def test_a_vault_behind_a_symbolic_link_is_one_vault_with_one_row_a_note(
    settings: dict[str, str], tmp_path: Path
) -> None:
    del settings["MEMORIX_STATE_DIR"]
    (tmp_path / "vault").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    by_link = Shelf(opened_at(settings, tmp_path / "link"), tmp_path / "link/user", tmp_path)
    done = keep(by_link.memory, "The heron is back.", "Heron", "user")
    by_hand = by_link.write("by-hand.md", b"The egret is back.\n")

    by_name = Shelf(opened_at(settings, tmp_path / "vault"), tmp_path / "vault/user", tmp_path)
    new = by_name.memory.catch_up()

    assert by_name.memory.index_path == by_link.memory.index_path
    assert not new
    for shelf in (by_link, by_name):
        assert shelf.found("heron") == [done.path]
        assert shelf.found("egret") == [by_hand]
        assert shelf.memory.status().counts.notes == 2
        assert shelf.memory.store.path_of(shelf.memory.store.locate(by_hand)) == by_hand
        shelf.memory.close()


def opened_at(settings: dict[str, str], vault: Path) -> Memory:
    return open_memory(load({}, settings | {"MEMORIX_VAULT": str(vault)}))


@pytest.mark.fault("A-28")
def test_nothing_but_notes_lies_in_the_vault(settings: dict[str, str], tmp_path: Path) -> None:
    del settings["MEMORIX_STATE_DIR"]
    memory = opened_at(settings, tmp_path / "vault")

    keep(memory, "The heron is back.", "Heron", "user")
    memory.recall(query_from("heron"))
    memory.close()

    assert [file.name for file in (tmp_path / "vault").rglob("*") if file.is_file()] == ["heron.md"]
    assert not memory.index_path.is_relative_to(tmp_path / "vault")


@pytest.mark.fault("A-28")
def test_a_state_folder_in_the_vault_is_refused(settings: dict[str, str], tmp_path: Path) -> None:
    inside = str(tmp_path / "vault" / "state")

    with pytest.raises(ConfigInvalid, match="must lie outside the vault"):
        load({}, settings | {"MEMORIX_STATE_DIR": inside})


@pytest.mark.fault("A-28")
def test_a_copy_that_a_sync_service_left_hides_and_replaces_nothing(shelf: Shelf) -> None:
    copy, original = shelf.lay("37")
    before = shelf.content(copy)

    shelf.add_tag(original)

    assert "conflicted copy" in copy
    assert shelf.found("gorseline") == [original]
    assert shelf.found("heathline") == [copy]
    assert {code for code, _ in [*shelf.told(copy), *shelf.told(original)]} == {
        "conflict-copy",
        "duplicate-id",
    }
    assert "conflict-copy" in [code for code, _ in shelf.told(copy)]
    assert shelf.content(copy) == before
    assert b"tags: [meeting, new]" in shelf.content(original)


HIDDEN = [".git/a.md", ".obsidian/a.md", ".trash/a.md", "node_modules/x/README.md"]
# Where Git, Obsidian and package managers keep Markdown that nobody wrote as a note.


@pytest.mark.fault("A-30")
@pytest.mark.parametrize("place", [*HIDDEN, f".git/{'n' * 252}.md", ".memorix-12.md"])
def test_hidden_places_and_those_of_other_tools_are_neither_indexed_nor_watched(
    shelf: Shelf, vault: Path, place: str
) -> None:
    shelf.write("good.md", b"The heron is back.\n")
    for folder in (shelf.folder, vault):
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"The heron is hidden.\n")

    shelf.memory.catch_up()

    assert shelf.found("heron", scope="all") == ["user/good.md"]
    assert shelf.memory.store.path_of(shelf.folder / place) is None
    assert shelf.memory.store.path_of(vault / place) is None
    with pytest.raises((NoteNotFound, UnsafePath)):
        shelf.memory.read(f"user/{place}")


# -- the body


@pytest.mark.fault("A-31")
@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("yarrowgate", "yarrowgate"),
        ("zinniaford", "zinniaford"),
        ("amberquay", "amberquay"),
        ("when was the valve of tank three replaced", "fourth of June"),
        ("where is the spare impeller", "impeller"),
    ],
)
def test_every_part_of_a_long_note_is_found_and_shown(
    shelf: Shelf, question: str, line: str
) -> None:
    [path] = shelf.lay_with_ten_good_notes("30")

    hit = shelf.memory.recall(query_from(question)).hits[0]

    assert hit.path == path
    assert line in hit.gist


@pytest.mark.fault("A-32")
def test_code_gives_a_note_no_tag_no_heading_and_no_metadata(shelf: Shelf) -> None:
    [path] = shelf.lay("29")

    note = shelf.note(path)
    assert (note.title, note.tags, note.warnings) == ("Code in a note", ("build",), ())
    assert set(note.meta) == {"title", "tags"}
    assert [shelf.found("", tags=tag) for tag in ("example", "fff", "notatag", "include")] == [
        [],
        [],
        [],
        [],
    ]
    assert shelf.found("", tags="build") == [path]
    assert shelf.found("willowfen") == shelf.found("stdio.h") == [path]


@pytest.mark.fault("A-32")
@pytest.mark.parametrize(
    "code",
    [
        "```\n# Inside\n```",
        "~~~\n```\n# Inside\n~~~",
        "- item\n  ```\n  # Inside\n  ```",
        "    # Inside",
        "````\n```\n# Inside\n```\n````",
        "~~~~\n~~~\n# Inside\n~~~~",
        "  ```\n# Inside\n  ```",
        "```\n# Before\n```not the end\n# Inside\n```",
        "```x``` is code in a line, not a fence.",
    ],
)
def test_a_heading_in_code_is_never_a_title(shelf: Shelf, code: str) -> None:
    path = shelf.write("fenced.md", f"{code}\n\n# Outside\n\nheron\n".encode())

    assert shelf.note(path).title == "Outside"
    assert [hit.title for hit in shelf.memory.recall(query_from("heron")).hits] == ["Outside"]


# -- the model


@pytest.mark.fault("A-86")
def test_without_the_network_a_model_that_is_missing_is_told_and_the_packaged_one_serves(
    typed: Callable[..., str],
    settings: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody answers there
    settings["MEMORIX_MODEL"] = "BAAI/bge-small-en-v1.5"
    typed("remember", "The crane is high.", "--title", "Crane")

    found = typed("recall", "crane")

    assert "The crane is high." in found
    assert "memorix model pull BAAI/bge-small-en-v1.5" in found
    assert "packaged model" in found
    assert load({}, settings).models_dir.is_relative_to(tmp_path / "home")
