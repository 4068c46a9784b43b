"""Notes of which two machines made two versions: what is found of them, and merged."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from memorix.ancestry import Told, base_of
from memorix.cli.main import main
from memorix.mergedriver import merged

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

Cli = Callable[..., str]
GATE = "The pump starts at 3.1 m.\n\nThe gate closes at 4.0 m.\n\nCall the pilot first."
COPY = "gate.sync-conflict-20261203-101500-ABCDEFG.md"


@pytest.fixture
def as_process(memorix: Cli) -> Cli:
    """Type a command in a process of its own, as everywhere else."""
    return memorix


@pytest.fixture
def memorix(
    as_process: Cli,
    settings: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    """Type a command in this process: these tests type so many that starting took minutes."""
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path / "app")

    def typed(*arguments: str, code: int = 0, keep_output: bool = False) -> str:
        monkeypatch.setattr(sys, "argv", ["memorix", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        assert (left.value.code or 0) == code, said.err
        return said.out if code == 0 or keep_output else said.err

    return typed


@pytest.fixture
def gate(memorix: Cli, vault: Path) -> Path:
    """A note that Memorix wrote."""
    memorix("remember", GATE, "--title", "Gate", "--tags", "tide", "--scope", "user")
    return vault / "user" / "gate.md"


def copied(note: Path, *swaps: tuple[str, str], name: str = COPY) -> Path:
    """Lay a version of a note beside it, as a sync service does."""
    text = note.read_text(encoding="utf-8")
    for old, new in swaps:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    copy = note.with_name(name)
    copy.write_text(text, encoding="utf-8", newline="\n")
    return copy


def listed(memorix: Cli) -> list[tuple[str, str]]:
    found = json.loads(memorix("conflicts", "--json"))["conflicts"]
    return [(one["note"], one["copy"]) for one in found]


@pytest.mark.parametrize(
    "name",
    [
        "gate.sync-conflict-20261203-101500-ABCDEFG.md",
        "gate (conflicted copy 2026-12-03).md",
        "gate (Anna's conflicted copy 2026-12-03 (1)).md",
        "gate (Conflicted copy phone 202612031015).md",
        "gate（安娜的冲突副本 2026-12-03）.md",
        "gate_conflict-20261203-101500.md",
        "gate (SFConflict anna@example.org 2026-12-03-10-15-00).md",
        "gate_Anna-PC_Dec-03-1015-2026_Conflict.md",
        "gate.Conflict.md",
        "gate-ANNAS-PC.md",
        "gate 2.md",
        "gate (1).md",
    ],
)
def test_a_copy_is_known_by_the_name_its_service_gives_it(
    memorix: Cli, gate: Path, name: str
) -> None:
    copied(gate, ("4.0 m", "4.2 m"), name=name)

    assert listed(memorix) == [("user/gate.md", f"user/{name}")]


def test_notes_that_only_look_like_copies_are_none(memorix: Cli, gate: Path, vault: Path) -> None:
    memorix("remember", "Of another gate.", "--title", "Gate", "--scope", "user")
    (vault / "user" / "list.md").write_text("# List\n\nOne.\nTwo.\n", encoding="utf-8")
    (vault / "user" / "list 2.md").write_text("# Else\n\nThree.\nFour.\n", encoding="utf-8")
    (vault / "user" / "on conflicts (conflict of laws).md").write_text("Law.\n", encoding="utf-8")

    assert (vault / "user" / "gate-2.md").exists()
    assert listed(memorix) == []


def test_what_both_changed_apart_is_merged_and_the_copy_is_archived(
    memorix: Cli, gate: Path, vault: Path
) -> None:
    copy = copied(gate, ("4.0 m", "4.2 m"), ("tags: [tide]", "tags: [tide, harbour]"))
    memorix("revise", "user/gate.md", "--find", "3.1 m", "--replace", "3.3 m")
    before = gate.read_bytes(), copy.read_bytes()

    shown = memorix("conflicts", "merge")

    assert "+The gate closes at 4.2 m." in shown
    assert (gate.read_bytes(), copy.read_bytes()) == before
    memorix("conflicts", "merge", "--write")
    wanted = before[0].replace(b"4.0 m", b"4.2 m").replace(b"[tide]", b"[tide, harbour]")
    assert gate.read_bytes() == wanted
    assert not copy.exists()
    assert (vault / "archive" / "user" / copy.name).read_bytes() == before[1]
    assert listed(memorix) == []
    memorix("undo")
    assert (gate.read_bytes(), copy.read_bytes()) == before


def test_what_both_changed_otherwise_stays_until_somebody_says_which_counts(
    memorix: Cli, as_process: Cli, gate: Path
) -> None:
    copy = copied(gate, ("3.1 m", "3.9 m"), ("4.0 m", "4.2 m"))
    memorix("revise", "user/gate.md", "--find", "3.1 m", "--replace", "3.3 m")
    before = gate.read_bytes(), copy.read_bytes()

    said = as_process("conflicts", "merge", "--write", code=1, keep_output=True)

    assert "both changed text; nothing is written" in said
    assert "--take ours|theirs" in said
    assert (gate.read_bytes(), copy.read_bytes()) == before
    memorix("conflicts", "merge", "--write", "--take", "ours")
    assert "3.3 m.\n\nThe gate closes at 4.2 m." in gate.read_text(encoding="utf-8")
    memorix("undo")
    memorix("conflicts", "merge", "user/gate.md", "--write", "--take", "theirs")
    assert "3.9 m.\n\nThe gate closes at 4.2 m." in gate.read_text(encoding="utf-8")
    assert "--take is ours" in as_process("conflicts", "merge", "--take", "nobody", code=2)


def test_a_merge_that_was_undone_does_not_decide_the_next_one(memorix: Cli, gate: Path) -> None:
    copy = copied(gate, ("4.0 m", "4.2 m"))
    memorix("revise", "user/gate.md", "--find", "3.1 m", "--replace", "3.3 m")
    memorix("conflicts", "merge", "--write")
    memorix("undo")
    copy.write_text(
        copy.read_text(encoding="utf-8").replace("3.1 m", "3.9 m"), encoding="utf-8", newline="\n"
    )

    memorix("conflicts", "merge", "--write", code=1)


def test_the_version_of_here_may_be_the_one_that_was_set_aside(memorix: Cli, gate: Path) -> None:
    first = gate.read_text(encoding="utf-8")
    memorix("revise", "user/gate.md", "--find", "3.1 m", "--replace", "3.3 m")
    gate.rename(gate.with_name(COPY))
    gate.write_text(first.replace("4.0 m", "4.2 m"), encoding="utf-8", newline="\n")

    memorix("conflicts", "merge", "--write")

    text = gate.read_text(encoding="utf-8")
    assert "3.3 m" in text
    assert "4.2 m" in text


def test_an_earlier_version_adds_nothing(memorix: Cli, gate: Path) -> None:
    copied(gate)
    memorix("revise", "user/gate.md", "--find", "3.1 m", "--replace", "3.3 m")
    before = gate.read_bytes()

    memorix("conflicts", "merge", "--write")

    assert gate.read_bytes() == before
    assert listed(memorix) == []


def test_without_a_known_beginning_no_line_of_either_is_lost(memorix: Cli, vault: Path) -> None:
    note = vault / "user" / "plan.md"
    note.parent.mkdir(parents=True)
    note.write_text("---\ntags: [a, b]\n---\nOne.\n\nTwo.\n\nFour.\n", encoding="utf-8")
    swaps = (("[a, b]", "[a, c]"), ("One.\n\n", ""), ("Two.", "Two.\n\nThree."))
    copied(note, *swaps, name="plan (conflicted copy 2026-12-03).md")

    assert "not known" in memorix("conflicts", "show", "user/plan.md")
    memorix("conflicts", "merge", "--write")

    text = note.read_text(encoding="utf-8")
    assert text == "---\ntags: [a, b, c]\n---\nOne.\n\nTwo.\n\nThree.\n\nFour.\n"


def test_a_copy_whose_note_is_gone_gets_its_name(memorix: Cli, gate: Path) -> None:
    copy = copied(gate)
    gate.unlink()
    content = copy.read_bytes()

    memorix("conflicts", "merge", "--write")

    assert gate.read_bytes() == content
    assert not copy.exists()
    memorix("undo")
    assert copy.read_bytes() == content


def test_a_merge_that_was_killed_halfway_is_ended_by_the_next(
    memorix: Cli, gate: Path, vault: Path
) -> None:
    copy = copied(gate, ("4.0 m", "4.2 m"))
    memorix("revise", "user/gate.md", "--find", "3.1 m", "--replace", "3.3 m")
    memorix("conflicts", "merge", "--write")
    done = gate.read_bytes()
    (vault / "archive" / "user" / copy.name).rename(copy)  # it died before it took the copy away

    memorix("conflicts", "merge", "--write")

    assert gate.read_bytes() == done
    assert listed(memorix) == []


def test_doctor_status_and_tidy_tell_of_copies_and_of_what_merges_them(
    memorix: Cli, gate: Path
) -> None:
    copied(gate, ("4.0 m", "4.2 m"))

    command = f"memorix conflicts merge user/{COPY}"
    assert command in memorix("doctor", keep_output=True)
    assert "memorix conflicts" in memorix("status")
    plan = json.loads(memorix("tidy", "--json"))
    assert plan["counts"] == {"copy": 1}
    assert plan["findings"][0]["steps"][0]["command"] == command


def git(folder: Path, *words: str, code: int = 0) -> str:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def test_marks_that_git_left_in_a_note_are_merged_by_its_keys(
    memorix: Cli, gate: Path, vault: Path
) -> None:
    first = gate.read_text(encoding="utf-8")
    git(vault, "init", "-q", "-b", "main")
    git(vault, "add", "--all")
    git(vault, "commit", "-qm", "Begin")
    git(vault, "checkout", "-qb", "there")
    gate.write_text(first.replace("[tide]", "[tide, pilots]"), encoding="utf-8", newline="\n")
    git(vault, "commit", "-qam", "There")
    git(vault, "checkout", "-q", "main")
    ours = first.replace("[tide]", "[tide, harbour]").replace("4.0 m", "4.2 m")
    gate.write_text(ours, encoding="utf-8", newline="\n")
    git(vault, "commit", "-qam", "Here")
    git(vault, "merge", "there", code=1)
    assert "<<<<<<< HEAD" in gate.read_text(encoding="utf-8")

    assert listed(memorix) == [("user/gate.md", "")]
    memorix("conflicts", "merge", "--write")

    wanted = ours.replace("[tide, harbour]", "[tide, harbour, pilots]")
    assert gate.read_text(encoding="utf-8") == wanted
    assert listed(memorix) == []


def test_marks_around_one_passage_want_a_decision(memorix: Cli, vault: Path) -> None:
    note = vault / "user" / "gate.md"
    note.parent.mkdir(parents=True)
    text = "# Gate\n\n<<<<<<< HEAD\nAt 3.1 m.\n=======\nAt 3.3 m.\n>>>>>>> there\n\nEnd.\n"
    note.write_text(text, encoding="utf-8", newline="\n")

    memorix("conflicts", "merge", "--write", code=1)
    assert note.read_text(encoding="utf-8") == text
    memorix("conflicts", "merge", "--write", "--take", "theirs")

    assert note.read_text(encoding="utf-8") == "# Gate\n\nAt 3.3 m.\n\nEnd.\n"


@pytest.mark.parametrize("encoding", ["gbk", "utf-16"])
def test_a_note_in_another_encoding_keeps_its_bytes(
    memorix: Cli, vault: Path, encoding: str
) -> None:
    note = vault / "user" / "gate.md"
    note.parent.mkdir(parents=True)
    ours, theirs = (f"# 闸门\n\n水位{n}米。\n".encode(encoding) for n in "三四")
    note.write_bytes(ours)
    note.with_name(COPY).write_bytes(theirs)

    memorix("conflicts", "merge", "--write", code=1)
    assert note.read_bytes() == ours
    memorix("conflicts", "merge", "--write", "--take", "theirs")

    assert note.read_bytes() == theirs
    assert (vault / "archive" / "user" / COPY).read_bytes() == theirs


def test_marks_in_a_note_that_is_not_utf8_are_merged_too(memorix: Cli, vault: Path) -> None:
    note = vault / "user" / "gate.md"
    note.parent.mkdir(parents=True)
    text = "# 闸门\n\n<<<<<<< HEAD\n水位三米。\n=======\n水位四米。\n>>>>>>> there\n"
    note.write_bytes(text.encode("gbk"))

    assert listed(memorix) == [("user/gate.md", "")]
    memorix("conflicts", "merge", "--write", "--take", "theirs")

    assert note.read_bytes() == "# 闸门\n\n水位四米。\n".encode("gbk")


def test_a_note_and_its_copy_both_named_are_merged_once(memorix: Cli, gate: Path) -> None:
    copied(gate, ("4.0 m", "4.2 m"))
    both = ("user/gate.md", f"user/{COPY}")

    memorix("conflicts", "merge", *both, "user/nothing.md", "--write", code=2)
    assert "4.0 m" in gate.read_text(encoding="utf-8")
    memorix("conflicts", "merge", *both, "--write")

    assert "4.2 m" in gate.read_text(encoding="utf-8")
    assert listed(memorix) == []


def edited(lines: list[str], edits: list[tuple[int, str]], mark: str) -> list[str]:
    """Return lines with some changed, and others added; all of them new."""
    found = list(lines)
    for number, (place, how) in enumerate(edits):
        at = place % (len(found) + 1)
        new = f"{mark}{number}"
        if how == "add" or at == len(found):
            found.insert(at, new)
        else:
            found[at] = new
    return found


EDITS = some.lists(
    some.tuples(some.integers(0, 30), some.sampled_from(["add", "change"])), max_size=5
)


@settings(max_examples=150, deadline=None)
@given(
    some.lists(EDITS, min_size=1, max_size=4), EDITS, EDITS, some.integers(0, 3), some.booleans()
)
def test_no_line_that_one_side_wrote_is_lost_in_silence(
    steps: list[list[tuple[int, str]]],
    last: list[tuple[int, str]],
    there: list[tuple[int, str]],
    origin: int,
    whole: bool,
) -> None:
    rows = [[f"line {n}" for n in range(8)]]
    for number, step in enumerate([*steps, last]):
        rows.append(edited(rows[-1], step, f"here {number}."))
    theirs = edited(rows[origin % len(rows)], there, "there ")
    texts = ["".join(f"{line}\n" for line in row) for row in rows]
    told = [Told(text, number > 0) for number, text in enumerate(texts)]
    known = told if whole else told[1:]
    ours, other = texts[-1], "".join(f"{line}\n" for line in theirs)

    base, _ = base_of(known, ours, other, "n.md", whole=whole)
    content, conflicts = merged(base.encode(), ours.encode(), other.encode(), "n.md")

    if not conflicts:
        said = set(content.decode().splitlines())
        written = {line for line in theirs if line.startswith("there")}
        kept = {line for line in rows[-1] if line.startswith("here")}
        changed_there = {line for line in rows[origin % len(rows)] if line not in theirs}
        assert written <= said
        assert kept - changed_there <= said
