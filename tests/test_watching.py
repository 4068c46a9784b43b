"""A running memory follows what editors, file managers and git do to its folder."""

import errno
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import watchdog.observers
from watchdog.observers.api import BaseObserver

from memorix.config import load
from memorix.lifecycle import draft_from
from memorix.memory import Memory
from memorix.query import Filter
from tests.editors import EDITORS, emacs, vim
from tests.following import Followed, followed, until

pytestmark = pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")
# Watchdog warns where it meets a new folder twice; as an error that would end its thread.

BURST = 1_500
CHECKED_OUT = 1_000
# Notes that come at once, more than a batch of ours.


@pytest.fixture(autouse=True)
def _as_in_a_large_vault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no question look through the folder by itself: what is not told of stays unseen."""
    monkeypatch.setattr("memorix.memory.LOOK_AT_MOST", -1)


@pytest.fixture
def notes(start: Callable[..., Followed]) -> Followed:
    return start()


# -- what editors save


@pytest.mark.fault("A-33")
@pytest.mark.parametrize("save", EDITORS)
def test_what_an_editor_saves_is_found_and_nothing_else(
    save: Callable[[Path, str], None], notes: Followed
) -> None:
    file = notes.known("user/note.md", "# Port\n\nThe heron is back.\n")

    for bird in ("egret", "bittern", "avocet"):
        text = f"# Port\n\nThe {bird} is back, with all of its friends.\n"
        save(file, text)
        until(lambda bird=bird: notes.found(bird) == ["user/note.md"])  # type: ignore[misc]
        assert file.read_bytes() == text.encode()

    assert notes.found("heron") == notes.found("egret") == notes.found("bittern") == []
    assert notes.listed() == ["user/note.md"]


@pytest.mark.fault("A-33")
@pytest.mark.parametrize("save", EDITORS)
def test_a_note_keeps_its_id_through_a_save(
    save: Callable[[Path, str], None], notes: Followed
) -> None:
    done = notes.memory.remember(draft_from("The heron is back.", "Birds"))
    file = notes.vault / done.path

    save(file, file.read_text(encoding="utf-8").replace("heron", "egret"))
    until(lambda: notes.found("egret") == [done.path])

    assert notes.memory.read(done.id).note.path == done.path
    assert notes.listed() == [done.path]


@pytest.mark.fault("A-33")
@pytest.mark.parametrize("save", [vim, emacs])
def test_files_that_an_editor_keeps_beside_a_note_cause_no_look(
    save: Callable[[Path, str], None], notes: Followed
) -> None:
    file = notes.known("user/note.md", "The heron is back.\n")
    notes.forget_looks_when_idle()

    save(file, "The egret is back.\n")

    assert notes.looked_at_since() == {"user/note.md"}


# -- files and folders that move


def test_a_file_that_moves_in_is_found_and_one_that_moves_out_is_not(
    notes: Followed, tmp_path: Path
) -> None:
    notes.known("user/other.md", "The wren stays.\n")
    (tmp_path / "in.md").write_text("The heron is back.\n", encoding="utf-8")

    (tmp_path / "in.md").rename(notes.vault / "user/in.md")
    until(lambda: notes.found("heron") == ["user/in.md"])
    (notes.vault / "user/in.md").rename(tmp_path / "out.md")
    until(lambda: notes.found("heron") == [])

    assert notes.listed() == ["user/other.md"]


def test_a_file_that_moves_within_keeps_its_id_and_leaves_nothing_behind(notes: Followed) -> None:
    done = notes.memory.remember(draft_from("The heron is back.", "Birds"), "user")

    (notes.vault / "projects/app").mkdir(parents=True)
    (notes.vault / done.path).rename(notes.vault / "projects/app/herons.md")
    until(lambda: notes.found("heron") == ["projects/app/herons.md"])

    assert notes.memory.read(done.id).note.path == "projects/app/herons.md"
    assert notes.listed() == ["projects/app/herons.md"]


@pytest.mark.fault("A-43")
def test_a_folder_that_moves_in_is_found_and_followed_from_then_on(
    notes: Followed, tmp_path: Path
) -> None:
    for number in range(30):
        file = tmp_path / f"birds/of/{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"The heron number {number}.\n", encoding="utf-8")
    notes.known("user/other.md", "The wren stays.\n")

    (tmp_path / "birds").rename(notes.vault / "user/birds")
    until(lambda: len(notes.found("heron")) == 30)
    notes.write("user/birds/of/7.md", "The egret is back.\n")
    until(lambda: notes.found("egret") == ["user/birds/of/7.md"])

    assert len(notes.found("heron")) == 29


def flock(notes: Followed, folder: str = "user/birds") -> list[str]:
    """Write 30 notes into a folder, and more beside it, so that no loss is taken for a fault."""
    birds = [f"{folder}/{number}.md" for number in range(30)]
    for number, path in enumerate(birds):
        notes.write(path, f"---\ntags: [feather]\n---\n\nThe heron number {number}.\n")
        notes.write(f"user/trees/{number}.md", f"The alder number {number}.\n")
    notes.write("user/trees/last.md", "The alder that is last.\n")
    until(lambda: len(notes.listed()) == 61)
    return sorted(birds)


@pytest.mark.fault("A-43")
@pytest.mark.parametrize("how", ["deleted", "moved out"])
def test_nothing_of_a_folder_that_is_gone_is_left(
    how: str, notes: Followed, tmp_path: Path
) -> None:
    flock(notes)
    folder = notes.vault / "user/birds"

    if how == "deleted":
        shutil.rmtree(folder)
    else:
        folder.rename(tmp_path / "birds")
    until(lambda: notes.found("heron") == [])

    assert notes.found("", tags="feather") == []
    assert len(notes.listed()) == 31
    assert notes.trouble == ""


@pytest.mark.fault("A-43")
def test_the_notes_of_a_renamed_folder_are_found_once_under_its_new_name(notes: Followed) -> None:
    flock(notes)

    (notes.vault / "user/birds").rename(notes.vault / "user/fowl")
    until(lambda: notes.found("", tags="feather") == sorted(f"user/fowl/{n}.md" for n in range(30)))
    notes.write("user/fowl/7.md", "The egret is back.\n")
    until(lambda: notes.found("egret") == ["user/fowl/7.md"])

    assert len(notes.listed()) == 61


def test_a_folder_renamed_away_and_back_loses_nothing(notes: Followed) -> None:
    birds = flock(notes)
    folder, away = notes.vault / "user/birds", notes.vault / "user/fowl"

    folder.rename(away)
    away.rename(folder)
    notes.write("user/birds/7.md", "The egret is back.\n")
    until(lambda: notes.found("egret") == ["user/birds/7.md"])

    assert notes.found("heron") == [path for path in birds if path != "user/birds/7.md"]
    assert notes.equals_folder()
    assert notes.trouble == ""


def test_a_folder_hidden_and_shown_again_is_gone_and_there_again(notes: Followed) -> None:
    birds = flock(notes)
    folder, hidden = notes.vault / "user/birds", notes.vault / "user/.birds"

    folder.rename(hidden)
    until(lambda: notes.found("heron") == [])
    hidden.rename(folder)
    until(lambda: notes.found("heron") == birds)

    assert notes.equals_folder()


def test_a_note_in_a_new_folder_of_a_new_folder_is_found(notes: Followed) -> None:
    notes.known("user/other.md", "The wren stays.\n")

    for number in range(10):
        notes.write(f"user/a{number}/b/c/d.md", f"The heron number {number}.\n")
    until(lambda: len(notes.found("heron")) == 10)

    assert notes.equals_folder()


# -- many at once, and many in a row


@pytest.fixture
def git(tmp_path: Path, vault: Path) -> Callable[..., str]:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")

    def run(*arguments: str) -> str:
        who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "gc.auto=0"]
        done = subprocess.run(
            ["git", *who, *arguments], cwd=vault, capture_output=True, check=True, text=True
        )
        return done.stdout

    return run


def two_branches(git: Callable[..., str], vault: Path, count: int) -> None:
    """Make a repository of the vault in which every note differs between its two branches."""
    vault.mkdir()
    git("init", "--quiet", "--initial-branch=main")
    for branch, bird in (("main", "heron"), ("other", "egret")):
        for number in range(count):
            file = vault / f"user/{number % 10}/{number}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# Bay {number}\n\nThe {bird} is back.\n", encoding="utf-8")
        if branch == "other":
            git("checkout", "--quiet", "-b", branch)
        git("add", ".")
        git("commit", "--quiet", "-m", branch)
    git("checkout", "--quiet", "main")


@pytest.mark.fault("A-40")
def test_the_index_is_the_working_tree_after_each_change_of_branch(
    git: Callable[..., str], vault: Path, start: Callable[..., Followed]
) -> None:
    two_branches(git, vault, CHECKED_OUT)
    notes = start()

    for branch, bird, gone in (("other", "egret", "heron"), ("main", "heron", "egret")):
        git("checkout", "--quiet", branch)
        until(lambda gone=gone: notes.found(gone) == [])  # type: ignore[misc]
        until(notes.equals_folder)
        assert len(notes.found(bird)) == 50

    assert len(notes.listed()) == CHECKED_OUT
    assert notes.trouble == ""


def test_a_branch_with_every_note_in_another_folder_keeps_them_all(
    git: Callable[..., str], vault: Path, start: Callable[..., Followed]
) -> None:
    two_branches(git, vault, 20)
    branch_with_moved_notes(git)
    notes = start()

    for branch, folder in (("main", "user"), ("moved", "elsewhere"), ("main", "user")):
        git("checkout", "--quiet", branch)
        wanted = {f"{folder}/{number % 10}/{number}.md" for number in range(20)}
        until(lambda wanted=wanted: notes.sees("heron", wanted))  # type: ignore[misc]
        until(notes.equals_folder)

    assert notes.trouble == ""


def test_a_branch_with_other_notes_in_another_folder_is_no_loss(
    git: Callable[..., str], vault: Path, start: Callable[..., Followed]
) -> None:
    two_branches(git, vault, 20)
    branch_with_moved_notes(git)
    git("checkout", "--quiet", "other")
    notes = start()

    git("checkout", "--quiet", "moved")
    until(lambda: len(list(notes.vault.glob("elsewhere/*/*.md"))) == 20)
    notes.memory.catch_up()

    assert len(notes.found("heron")) == 20
    assert notes.equals_folder()


def branch_with_moved_notes(git: Callable[..., str]) -> None:
    git("checkout", "--quiet", "-b", "moved")
    git("mv", "user", "elsewhere")
    git("commit", "--quiet", "-m", "move")


@pytest.mark.fault("A-40")
def test_what_git_puts_away_and_brings_back_is_followed(
    git: Callable[..., str], vault: Path, start: Callable[..., Followed]
) -> None:
    two_branches(git, vault, 20)
    notes = start()
    notes.write("user/3/3.md", "The bittern is back.\n")
    until(lambda: notes.found("bittern") == ["user/3/3.md"])

    git("stash", "--quiet")
    until(lambda: notes.found("bittern") == [])
    git("stash", "pop", "--quiet")
    until(lambda: notes.found("bittern") == ["user/3/3.md"])

    assert len(notes.found("heron")) == 19
    assert notes.equals_folder()


def test_a_burst_of_new_notes_is_taken_in_to_the_last(notes: Followed) -> None:
    for number in range(BURST):
        notes.write(f"user/{number % 20}/{number}.md", f"The heron number {number}.\n")

    until(lambda: notes.memory.index.size() == BURST)

    assert notes.found(f"{BURST - 1}") == [f"user/{(BURST - 1) % 20}/{BURST - 1}.md"]
    assert notes.equals_folder()


def test_a_note_that_grows_all_the_time_keeps_no_other_waiting(notes: Followed) -> None:
    diary = notes.known("user/diary.md", "# Diary\n\nheron 0\n")
    growing = threading.Thread(target=grow, args=(diary,))
    notes.forget_looks_when_idle()

    growing.start()
    notes.write("user/other.md", "The egret is back.\n")
    until(lambda: "user/other.md" in notes.listed())
    meanwhile = growing.is_alive()
    growing.join()
    until(lambda: notes.found("last") == ["user/diary.md"])

    assert meanwhile
    assert notes.looked_at() <= {"user/diary.md", "user/other.md", "user/before.md"}


def grow(file: Path) -> None:
    """Append a line every 20 ms for two seconds."""
    for number in range(100):
        with file.open("a", encoding="utf-8") as stream:
            stream.write(f"heron {number}\n")
        time.sleep(0.02)
    with file.open("a", encoding="utf-8") as stream:
        stream.write("the last\n")


# -- what is no reason to look


@pytest.mark.fault("A-34")
def test_reading_and_asking_cause_no_look(notes: Followed) -> None:
    notes.known("user/bird.md", "The heron is back.\n")
    notes.forget_looks_when_idle()
    synced = notes.settled()

    for _ in range(20):
        assert notes.found("heron") == ["user/bird.md"]
        notes.memory.read("user/bird.md")
        notes.memory.list(Filter())
        notes.memory.brief()
        notes.memory.status()
        (notes.vault / "user/bird.md").read_bytes()
        sorted(notes.vault.rglob("*"))

    assert notes.last_sync == synced
    assert notes.looked_at_since() == set()


NO_NOTES = [
    *(".git/index", ".git/notes.md", ".obsidian/workspace.json", ".trash/bird.md"),
    *("user/.hidden.md", "user/.bird.md.swp", "user/bird.md~", "user/#bird.md#", "user/4913"),
    *("user/bird.md.tmp", "user/.memorix-12.md", "user/picture.png", "node_modules/a/b.md"),
    *("user/index.md", "user/log.md"),
]
# Files that come and go in a vault and that are no notes.


@pytest.mark.fault("A-30")
@pytest.mark.parametrize("path", NO_NOTES)
def test_a_file_that_is_no_note_causes_no_look(path: str, notes: Followed) -> None:
    file = notes.write(path, "The heron is hidden.\n")
    notes.forget_looks_when_idle()

    for text in ("one\n", "two\n"):
        file.write_text(text, encoding="utf-8")
    file.rename(file.with_name(f"{file.name}.old"))
    file.with_name(f"{file.name}.old").unlink()

    assert notes.looked_at_since() == set()


@pytest.mark.fault("A-30")
@pytest.mark.parametrize("place", [".git/objects/ab", ".obsidian", "node_modules/a", "user/.x"])
def test_a_folder_that_holds_no_notes_causes_no_look(place: str, notes: Followed) -> None:
    (notes.vault / place).parent.mkdir(parents=True, exist_ok=True)
    notes.forget_looks_when_idle()

    (notes.vault / place).mkdir()
    (notes.vault / place).rmdir()

    assert notes.looked_at_since() == set()


def test_a_commit_causes_no_look(
    git: Callable[..., str], vault: Path, start: Callable[..., Followed]
) -> None:
    two_branches(git, vault, 20)
    notes = start()
    notes.known("user/3/3.md", "The bittern is back.\n")
    notes.forget_looks_when_idle()

    git("add", ".")
    git("commit", "--quiet", "-m", "bittern")

    assert notes.looked_at_since() == set()


# -- when events do not come


def observers(notes: Followed) -> list[BaseObserver]:
    """Return what watches this vault at the moment."""
    root = str(notes.vault)
    running = [thread for thread in threading.enumerate() if isinstance(thread, BaseObserver)]
    return [o for o in running if any(emitter.watch.path == root for emitter in o.emitters)]


def hears(notes: Followed) -> bool:
    return any(e.is_alive() for observer in observers(notes) for e in observer.emitters)


@pytest.mark.fault("A-42")
def test_an_observer_that_died_is_started_again_by_the_next_look(notes: Followed) -> None:
    notes.known("user/bird.md", "The heron is back.\n")
    [observer] = observers(notes)

    observer.stop()
    observer.join()
    notes.write("user/bird.md", "The egret is back.\n")
    notes.memory.remember(draft_from("The wren stays."))
    until(lambda: notes.found("egret") == ["user/bird.md"])
    until(lambda: hears(notes))
    notes.known("user/bird.md", "The bittern is back.\n")

    assert notes.mode == "events"


@pytest.mark.fault("A-42")
def test_an_observer_that_died_while_nothing_was_written_is_started_again(
    start: Callable[..., Followed],
) -> None:
    notes = start(MEMORIX_RESCAN_S="1")
    notes.known("user/bird.md", "The heron is back.\n")
    [observer] = observers(notes)

    observer.stop()
    observer.join()
    notes.write("user/bird.md", "The egret is back.\n")
    until(lambda: notes.found("egret") == ["user/bird.md"])
    until(lambda: hears(notes))

    assert notes.mode == "events"


@pytest.mark.fault("A-42")
def test_an_observer_that_lives_on_but_hears_nothing_is_replaced(
    start: Callable[..., Followed],
) -> None:
    notes = start(MEMORIX_RESCAN_S="1")
    notes.known("user/bird.md", "The heron is back.\n")
    [observer] = observers(notes)

    for emitter in observer.emitters:
        emitter.stop()
        emitter.join()
    notes.known("user/bird.md", "The egret is back.\n")
    notes.known("user/bird.md", "The bittern is back.\n")

    assert hears(notes)


def test_a_vault_that_was_deleted_and_made_anew_is_watched_again(
    start: Callable[..., Followed],
) -> None:
    notes = start(MEMORIX_RESCAN_S="1")
    notes.known("user/bird.md", "The heron is back.\n")

    shutil.rmtree(notes.vault)
    until(lambda: notes.trouble != "")
    notes.vault.mkdir()
    notes.known("user/bird.md", "The egret is back.\n")
    notes.known("user/bird.md", "The bittern is back.\n")

    assert hears(notes)


def test_what_changed_while_the_vault_was_away_is_taken_in_when_it_is_back(
    notes: Followed, tmp_path: Path
) -> None:
    notes.known("user/bird.md", "The heron is back.\n")
    notes.forget_looks_when_idle()

    notes.vault.rename(tmp_path / "away")
    (tmp_path / "away/user/bird.md").write_text("The egret is back.\n", encoding="utf-8")
    until(lambda: "missing" in notes.trouble)
    (tmp_path / "away").rename(notes.vault)
    notes.known("user/later.md", "The wren stays.\n")

    assert notes.found("egret") == ["user/bird.md"]


def test_trouble_is_over_when_the_folder_is_back(notes: Followed, tmp_path: Path) -> None:
    birds = flock(notes)
    notes.write("user/wren.md", "The wren stays.\n")
    for folder in ("birds", "trees"):
        (notes.vault / "user" / folder).rename(tmp_path / folder)
    until(lambda: "61 of 62 notes are missing" in notes.trouble)

    for folder in ("birds", "trees"):
        (tmp_path / folder).rename(notes.vault / "user" / folder)
    until(lambda: notes.sees("heron", set(birds)))
    until(lambda: notes.trouble == "")

    assert notes.equals_folder()


@pytest.mark.fault("A-37")
@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOSPC])
def test_where_the_system_has_no_watch_left_the_folder_is_polled(
    number: int, start: Callable[..., Followed], monkeypatch: pytest.MonkeyPatch
) -> None:
    class UsedUp:
        def __init__(self) -> None:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(watchdog.observers, "Observer", UsedUp)
    notes = start()

    notes.write("user/bird.md", "The heron is back.\n")
    until(lambda: notes.found("heron") == ["user/bird.md"])

    following = notes.memory.status().following
    assert following is not None
    assert following.mode == "polling"


def test_polling_follows_edits_moves_and_deletions(start: Callable[..., Followed]) -> None:
    notes = start(MEMORIX_WATCH="poll")
    file = notes.write("user/bird.md", "The heron is back.\n")
    until(lambda: notes.found("heron") == ["user/bird.md"])

    file.write_text("The egret is back.\n", encoding="utf-8")
    file.rename(notes.vault / "user/egret.md")
    until(lambda: notes.found("egret") == ["user/egret.md"])

    assert notes.mode == "polling"
    assert notes.listed() == ["user/egret.md"]


def test_without_watching_a_rescan_finds_what_changed(start: Callable[..., Followed]) -> None:
    notes = start(MEMORIX_WATCH="off", MEMORIX_RESCAN_S="1")

    notes.write("user/bird.md", "The heron is back.\n")
    until(lambda: notes.found("heron") == ["user/bird.md"])

    assert notes.mode == "off"
    assert observers(notes) == []


def test_a_vault_that_appears_later_is_watched_from_then_on(
    settings: dict[str, str], vault: Path, open_another: Callable[[], Memory]
) -> None:
    memory = open_another()
    with followed(memory, load({}, settings)) as notes:
        assert notes.mode == "off"

        memory.remember(draft_from("The wren stays."))
        until(lambda: notes.mode == "events")
        notes.known("user/bird.md", "The heron is back.\n")

        assert notes.found("heron") == ["user/bird.md"]
