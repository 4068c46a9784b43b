"""Each write as a commit of its own: typed and called as users do, with a real git."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import Implementation

from tests.test_processes import WRITER
from tests.test_processes import run as started
from tests.test_server import ERAS, call, run

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")

Git = Callable[..., str]
Cli = Callable[..., str]
ON = {"MEMORIX_GIT_COMMITS": "on"}
NO_GIT = {"PATH": str(Path(os.devnull).parent)}


@pytest.fixture
def settings(settings: dict[str, str]) -> dict[str, str]:
    return settings | ON


def git_in(folder: Path) -> Git:
    """Make a repository of a folder, with Ann as its user; return what runs git there."""

    def run(*arguments: str, code: int = 0, env: dict[str, str] | None = None) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=60,
        )
        assert done.returncode == code, done.stderr
        return done.stdout.strip()

    folder.mkdir(exist_ok=True)
    run("init", "-q", "-b", "main")
    run("config", "user.name", "Ann")
    run("config", "user.email", "ann@example.org")
    return run


@pytest.fixture
def git(vault: Path) -> Git:
    return git_in(vault)


def subjects(git: Git) -> list[str]:
    return git("log", "--reverse", "--format=%an: %s").splitlines()


def remember(memorix: Cli, text: str, *more: str, **env: str) -> str:
    told = json.loads(memorix("remember", text, "--scope", "user", "--json", *more, **env))
    return str(told["id"])


def test_what_assistants_write_becomes_commits_in_their_names(
    git: Git, settings: dict[str, str], vault: Path
) -> None:
    async def session() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "memorix", "serve"], env={**os.environ, **settings}
        )
        who = Implementation(name="Claude Code", version="2.1")
        async with Client(server, mode=ERAS["2026-07-28"], client_info=who) as client:  # type: ignore[arg-type]
            asked = {"text": "Gateway listens on 8443"}
            meta = {"session_id": "session-1"}
            first = await client.call_tool("remember", asked, meta=meta)  # type: ignore[arg-type]
            note = (first.structured_content or {})["id"]
            mark = (await call(client, "read", id=note))["etag"]
            await call(client, "revise", id=note, etag=mark, find="8443", replace="9443")
            mark = (await call(client, "read", id=note))["etag"]
            await call(client, "revise", id=note, etag=mark, supersede=True, text="It is gone.")
            await call(client, "remember", text="It is gone.")
            notes.append(note)

    notes: list[str] = []
    run(session)

    assert subjects(git) == [
        "Claude-Code/2.1: remember: Gateway listens on 8443",
        "Claude-Code/2.1: revise: Gateway listens on 9443",
        "Claude-Code/2.1: supersede: It is gone and 1 more",
    ]
    first = git("log", "--reverse", "--format=%ae|%cn|%(trailers:separator=%x7C)").splitlines()[0]
    address, committer, told, tool, session_told, change = first.split("|")
    assert (address, committer) == ("claude-code@memorix.invalid", "Ann")
    assert told == f"Memorix-Note: {notes[0]}"
    assert (tool, session_told) == ("Memorix-Tool: remember", "Memorix-Session: session-1")
    assert change.startswith("Memorix-Change: ")
    assert git("status", "--short") == ""


def test_a_commit_holds_the_files_of_its_write_and_what_is_staged_stays_staged(
    git: Git, memorix: Cli, vault: Path
) -> None:
    (vault / "plan.txt").write_text("one", encoding="utf-8")
    (vault / "loose.txt").write_text("two", encoding="utf-8")
    git("add", "plan.txt")
    hook = vault / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    hook.chmod(0o755)

    remember(memorix, "The lamp is green.")

    assert git("show", "--name-only", "--format=%s") == (
        "remember: The lamp is green\n\nuser/the-lamp-is-green.md"
    )
    assert git("status", "--short") == "A  plan.txt\n?? loose.txt"


def test_each_kind_of_write_and_its_undoing_is_one_commit(
    git: Git, memorix: Cli, vault: Path
) -> None:
    lamp = remember(memorix, "The lamp is green.", "--title", "Lamp")
    before = git("rev-parse", "HEAD^{tree}")
    for words in (
        ("forget", lamp),
        ("forget", lamp, "--level", "archive"),
        ("mv", lamp, "user/a/"),
    ):
        memorix(*words)
        memorix("undo")
        assert git("rev-parse", "HEAD^{tree}") == before

    assert [line.partition(": ")[2] for line in subjects(git)] == [
        "remember: Lamp", "retire: Lamp", "undo: Lamp", "archive: Lamp", "undo: Lamp",
        "mv: Lamp", "undo: Lamp",
    ]  # fmt: skip
    assert subjects(git)[0] == "Ann: remember: Lamp"
    undone, redone = git("log", "-2", "--format=%(trailers:key=Memorix-Undoes,valueonly)%x00"
                         "%(trailers:key=Memorix-Change,valueonly)").split("\n\n")[:2]  # fmt: skip
    assert undone.split("\0")[0].strip()
    assert undone.split("\0")[0].strip() in git("log", "-1", "--skip=1", "--format=%b"), redone
    assert git("status", "--short") == ""


def test_what_a_person_edited_before_is_committed_in_their_name(
    git: Git, memorix: Cli, vault: Path
) -> None:
    lamp = remember(memorix, "The lamp is green.", "--title", "Lamp")
    file = vault / "user/lamp.md"
    own = file.read_text(encoding="utf-8").replace("green", "red, as Ann says")
    file.write_text(own, encoding="utf-8", newline="\n")

    memorix("forget", lamp)

    assert subjects(git)[1:] == ["Ann: edited by hand: Lamp", "Ann: retire: Lamp"]
    assert git("show", "HEAD~1:user/lamp.md") + "\n" == own
    assert "deprecated" in git("diff", "HEAD~1", "HEAD")
    assert "red" not in git("diff", "-U0", "HEAD~1", "HEAD")


def test_while_a_merge_is_under_way_changes_wait_and_follow_in_order(
    git: Git, memorix: Cli, vault: Path
) -> None:
    text = vault / "shared.txt"
    text.write_text("begin", encoding="utf-8")
    git("add", "shared.txt")
    git("commit", "-qm", "Begin")
    for branch in ("theirs", "main"):
        git("checkout", "-q", *(("-b", branch) if branch == "theirs" else (branch,)))
        text.write_text(branch, encoding="utf-8")
        git("commit", "-qam", f"Say {branch}")
    git("merge", "theirs", code=1)

    remember(memorix, "The door is blue.", "--title", "Door")
    remember(memorix, "The roof is flat.", "--title", "Roof")

    assert "2 changes wait: a merge is under way" in memorix("status")
    assert "Door" not in git("log", "--format=%s")
    text.write_text("both", encoding="utf-8")
    git("commit", "-qam", "Say both")
    assert "all is committed" in memorix("doctor")
    assert subjects(git)[-3:] == [
        "Ann: Say both", "Ann: remember: Door", "Ann: remember: Roof",
    ]  # fmt: skip
    assert git("status", "--short") == ""


def test_a_person_who_writes_the_message_of_a_commit_is_not_disturbed(
    git: Git, memorix: Cli, settings: dict[str, str], vault: Path, tmp_path: Path
) -> None:
    remember(memorix, "The lamp is green.", "--title", "Lamp")
    (vault / "plan.txt").write_text("one", encoding="utf-8")
    git("add", "plan.txt")
    editor = tmp_path / "editor"
    typed = f"{shlex.quote(sys.executable)} -m memorix remember 'It is blue.' --title Door"
    editor.write_text(f"#!/bin/sh\n{typed} --scope user\necho Add the plan > $1\n", "utf-8")
    editor.chmod(0o755)

    git("-c", f"core.editor={editor}", "commit", "-q", env=settings)

    assert subjects(git) == ["Ann: remember: Lamp", "Ann: Add the plan"]
    assert "message of a commit" in memorix("status")
    assert "all is committed" in memorix("doctor")
    assert subjects(git)[2:] == ["Ann: remember: Door"]
    assert git("show", "--name-only", "--format=", "HEAD~1") == "plan.txt"


def test_a_commit_that_nobody_would_find_again_is_not_made(git: Git, memorix: Cli) -> None:
    remember(memorix, "The lamp is green.")
    git("checkout", "-q", "--detach")

    remember(memorix, "The door is blue.")

    assert len(subjects(git)) == 1
    assert "no branch is checked out" in memorix("status")


def test_a_lock_that_somebody_left_costs_no_note_and_is_told(
    git: Git, memorix: Cli, vault: Path
) -> None:
    remember(memorix, "The lamp is green.")
    lock = vault / ".git/index.lock"
    lock.touch()
    os.utime(lock, (0, 0))

    remember(memorix, "The door is blue.")

    assert (vault / "user/the-door-is-blue.md").exists()
    assert "index.lock" in memorix("doctor")
    lock.unlink()
    remember(memorix, "The roof is flat.")
    assert len(subjects(git)) == 3
    assert git("status", "--short") == ""


def test_what_was_written_while_git_was_away_is_committed_by_the_next_writer(
    git: Git, memorix: Cli
) -> None:
    lamp = remember(memorix, "The lamp is green.", "--title", "Lamp", **NO_GIT)
    memorix("forget", lamp, **NO_GIT)
    assert "git is not installed" in memorix("status", **NO_GIT)

    remember(memorix, "The door is blue.", "--title", "Door")

    assert [line.partition(": ")[2] for line in subjects(git)] == [
        "remember: Lamp", "retire: Lamp", "remember: Door",
    ]  # fmt: skip
    assert "green" in git("show", "HEAD~2:user/lamp.md")
    assert "deprecated" not in git("show", "HEAD~2:user/lamp.md")


def test_processes_that_write_at_once_make_one_commit_for_each_note(
    git: Git, settings: dict[str, str], vault: Path
) -> None:
    writers = [started(WRITER, settings, str(number), "5") for number in range(4)]
    results = [writer.communicate(timeout=90) for writer in writers]

    assert [error for _, error in results if error] == []
    written = {line for output, _ in results for line in output.split()}
    told = git("log", "--format=%(trailers:key=Memorix-Note,valueonly)").split()
    assert len(written) == 20
    assert sorted(told) == sorted(written)
    assert git("log", "--format=%P").count(" ") == 0
    assert git("status", "--short") == ""
    git("fsck", "--strict")


def test_an_erased_note_is_not_named_and_what_history_keeps_is_told(
    git: Git, memorix: Cli, vault: Path
) -> None:
    lamp = remember(memorix, "Quagga canary lamp.", "--title", "Quagga")
    remember(memorix, "It hangs by [the lamp](quagga.md).", "--title", "Door")
    (vault / "user/quagga.md").write_bytes(
        (vault / "user/quagga.md").read_bytes().replace(b"canary", b"zorilla")
    )

    said = memorix("forget", lamp, "--level", "erase", "--prove")

    assert subjects(git)[-1] == "Ann: erase: a note"
    assert lamp in git("log", "-1", "--format=%b")
    assert "uagga" not in git("log", "-1", "--format=%B")
    assert git("status", "--short") == ""
    assert "git history" in said
    assert "uagga" not in git("grep", "-i", "quagga", "HEAD", code=1)
    assert git("log", "--all", "--format=%h", "-Szorilla") == ""


def test_what_was_erased_before_it_was_committed_never_comes_into_the_repository(
    git: Git, memorix: Cli
) -> None:
    lamp = remember(memorix, "Quagga canary lamp.", "--title", "Quagga", **NO_GIT)
    remember(memorix, "It hangs by [the lamp](quagga.md).", "--title", "Door", **NO_GIT)
    memorix("forget", lamp, "--level", "erase", **NO_GIT)

    remember(memorix, "The roof is flat.", "--title", "Roof")

    assert [line.partition(": ")[2] for line in subjects(git)] == [
        "remember: Door", "remember: Roof",
    ]  # fmt: skip
    kept = git("cat-file", "--batch-all-objects", "--batch", "--buffer")
    assert "hangs by" in kept
    assert "quagga" not in kept.lower()


def test_what_git_is_told_to_ignore_is_left_alone(git: Git, memorix: Cli, vault: Path) -> None:
    (vault / ".gitignore").write_text("door*.md\n", encoding="utf-8")

    remember(memorix, "The door is blue.", "--title", "Door")
    remember(memorix, "The lamp is green.", "--title", "Lamp")

    assert [line.partition(": ")[2] for line in subjects(git)] == ["remember: Lamp"]


def test_files_are_committed_as_git_itself_would_take_them_in(
    git: Git, memorix: Cli, vault: Path
) -> None:
    (vault / ".gitattributes").write_text("*.md text eol=crlf\n", encoding="utf-8")
    git("add", ".gitattributes")
    git("commit", "-qm", "Set line ends")
    crlf = b"---\r\ntitle: Lamp\r\n---\r\nThe lamp is green.\r\n"
    (vault / "user").mkdir()
    (vault / "user/lamp.md").write_bytes(crlf)
    git("add", "--all")
    git("commit", "-qm", "Add it")

    memorix("forget", "user/lamp.md")
    memorix("undo")

    assert subjects(git)[-2:] == ["Ann: retire: Lamp", "Ann: undo: Lamp"]
    assert git("status", "--short") == ""
    assert (vault / "user/lamp.md").read_bytes() == crlf


def test_notes_kept_in_a_repository_are_committed_there_beside_its_code(
    memorix: Cli, tmp_path: Path, vault: Path
) -> None:
    app = tmp_path / "app"
    git = git_in(app)
    (app / "main.py").write_text("print(1)\n", encoding="utf-8")
    git("add", "main.py")
    memorix("init", "--in-repo")
    git("add", "--all")
    git("commit", "-qm", "Begin")
    (app / "main.py").write_text("print(2)\n", encoding="utf-8")
    git("add", "main.py")

    memorix("remember", "The lamp is green.", "--title", "Lamp")

    assert git("show", "--name-only", "--format=%s") == "remember: Lamp\n\nmemory/lamp.md"
    assert git("status", "--short") == "M  main.py"


def test_without_a_user_of_git_there_is_still_an_author(git: Git, memorix: Cli) -> None:
    git("config", "--unset", "user.name")
    git("config", "--unset", "user.email")

    remember(memorix, "The lamp is green.")

    said = git("log", "--format=%ae|%cn <%ce>")
    assert said.endswith("@memorix.invalid|Memorix <memorix@memorix.invalid>")


def test_a_private_note_is_not_named_in_the_log(git: Git, memorix: Cli) -> None:
    remember(memorix, "The quagga lives here.", "--set", "private=true")

    assert subjects(git) == ["Ann: remember: a private note"]


def test_nothing_is_committed_unless_asked_for(git: Git, memorix: Cli) -> None:
    remember(memorix, "The lamp is green.", MEMORIX_GIT_COMMITS="off")

    assert git("status", "--short") == "?? user/"


def test_commits_without_a_journal_or_a_repository_are_told(memorix: Cli) -> None:
    said = memorix("status", code=2, MEMORIX_JOURNAL_DAYS="0")
    assert "MEMORIX_GIT_COMMITS: needs a journal" in said

    remember(memorix, "The lamp is green.")

    assert "lies in no git repository" in memorix("doctor")


def test_the_whole_history_of_a_note_lists_each_version_once(git: Git, memorix: Cli) -> None:
    lamp = remember(memorix, "The lamp is green.", "--title", "Lamp")
    memorix("forget", lamp)

    shown = [line for line in memorix("history", lamp).splitlines() if "b2-" in line]

    assert len(shown) == 2
