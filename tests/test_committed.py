"""Versions that only git knows, and commits of what tools write, with a real git."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memorix import history
from memorix.lifecycle import Edit
from memorix.memory import Memory

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

Git = Callable[..., str]
Cli = Callable[..., str]
LAMP = "---\ntitle: Lamp\n---\nThe lamp is {}.\n"


@pytest.fixture
def git(vault: Path) -> Git:
    """Run git in the vault, as the person whose vault it is."""
    vault.mkdir(exist_ok=True)

    def run(*arguments: str) -> str:
        who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
        done = subprocess.run(
            ["git", "-C", str(vault), *who, *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
            timeout=60,
        )
        return done.stdout.strip()

    run("init", "-q", "-b", "main")
    return run


def commit_lamp(git: Git, vault: Path, name: str, *colours: str) -> Path:
    file = vault / "user" / name
    file.parent.mkdir(exist_ok=True)
    for colour in colours:
        file.write_text(LAMP.format(colour), encoding="utf-8", newline="\n")
        git("add", "--all")
        git("commit", "-qm", f"Paint it {colour}")
    return file


def mark_of(shown: str, words: str) -> str:
    """Return the etag in the line of `memorix history` that says these words."""
    (line,) = [line for line in shown.splitlines() if words in line]
    return next(word for word in line.split() if word.startswith("b2-"))


def test_the_commits_before_the_journal_are_versions_too(
    git: Git, memorix: Cli, memory: Memory, vault: Path
) -> None:
    file = commit_lamp(git, vault, "lamp.md", "green", "red")
    memorix("reindex")
    read = memorix("history", "user/lamp.md")
    assert "Ann  commit" in read
    etag = mark_of(read, "Paint it red")
    memory.catch_up()
    memory.revise("user/lamp", memory.read("user/lamp").etag, Edit(find="red", replace="blue"))

    shown = memorix("history", "user/lamp.md", "--diff").splitlines()

    words = ("Paint it green", "Paint it red", "  revise  ")
    order = [n for word in words for n, line in enumerate(shown) if word in line]
    assert len(order) == len(words)
    assert order == sorted(order)
    assert sum("Paint it red" in line for line in shown) == 1
    assert "-The lamp is green." in shown
    assert "+The lamp is blue." in shown
    memorix("restore", "user/lamp.md", "--version", mark_of("\n".join(shown), "Paint it green"))
    assert file.read_text(encoding="utf-8") == LAMP.format("green")
    memorix("restore", "user/lamp.md", "--version", etag)
    memorix("undo")
    assert file.read_text(encoding="utf-8") == LAMP.format("green")


def test_versions_under_an_earlier_name_and_of_a_removed_note_are_brought_back(
    git: Git, memorix: Cli, vault: Path
) -> None:
    file = commit_lamp(git, vault, "灯 lamp.md", "green", "red")
    git("mv", "user/灯 lamp.md", "user/light.md")
    git("commit", "-qm", "Rename it")
    memorix("reindex")
    assert "Paint it green" in memorix("history", "user/light.md")
    git("rm", "-q", "user/light.md")
    git("commit", "-qm", "Remove it")
    memorix("reindex")

    shown = memorix("history", "user/light.md")
    memorix("restore", "user/light.md", "--version", mark_of(shown, "Paint it green"))

    assert not file.exists()
    assert (vault / "user/light.md").read_text(encoding="utf-8") == LAMP.format("green")


def test_a_change_whose_text_the_journal_dropped_is_undone_from_git(
    git: Git, memory: Memory, vault: Path
) -> None:
    file = commit_lamp(git, vault, "lamp.md", "green")
    memory.catch_up()
    memory.revise("user/lamp", memory.read("user/lamp").etag, Edit(find="green", replace="red"))
    lines = memory.journal.path.read_bytes().splitlines(keepends=True)
    memory.journal.path.write_bytes(
        b"".join([lines[0].replace(b"made", b"Made"), *(x for x in lines[1:] if x[:1] == b"{")])
    )

    history.undo(memory)

    assert file.read_text(encoding="utf-8") == LAMP.format("green")


def test_a_note_that_nothing_knows_is_not_found_in_a_repository(git: Git, memorix: Cli) -> None:
    assert "There is no note" in memorix("history", "user/none.md", code=3)
    assert "plain path" in memorix("history", "../../etc/x.md", code=2)
