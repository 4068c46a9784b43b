"""What belongs together is one and what does not stays apart: projects, repeats, near names."""

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memorix.arguments import query_from
from memorix.config import load
from memorix.errors import NoteNotFound
from memorix.lifecycle import Draft, Edit
from memorix.memory import Memory
from memorix.wiring import open_memory


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def at(tmp_path: Path, settings: dict[str, str]) -> Callable[[Path], Memory]:
    """Open the one vault from a working folder."""

    def opened(folder: Path) -> Memory:
        return open_memory(load({}, settings | {"MEMORIX_PROJECT_DIR": str(folder)}))

    return opened


@pytest.fixture
def folders(tmp_path: Path, at: Callable[[Path], Memory]) -> dict[str, Path]:
    """Two repositories, a part and a worktree of the first, and a folder of no repository, with the
    same words remembered in each project and a note for all of them."""
    root = tmp_path / "work"
    found = {name: root / name for name in ("lantern", "heron", "elsewhere")}
    for name, folder in found.items():
        folder.mkdir(parents=True)
        if name != "elsewhere":
            git(folder, "init", "-q", "-b", "main")
            git(folder, "remote", "add", "origin", f"https://example.invalid/team/{name}.git")
            git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    found |= {"part": found["lantern"] / "src/api", "worktree": root / "feature"}
    found["part"].mkdir(parents=True)
    git(found["lantern"], "worktree", "add", "-q", "-b", "feature", str(found["worktree"]))
    for number, name in enumerate(("lantern", "heron", "elsewhere")):
        memory = at(found[name])
        memory.remember(Draft(f"The gateway listens on port 700{number}.", f"Port of {name}"))
        memory.remember(Draft("Tell the port of a gateway in digits.", "Ports"), "user")
        memory.close()
    return found


@pytest.mark.fault("A-71")
@pytest.mark.parametrize(
    ("place", "own"),
    [
        ("lantern", "lantern"),
        ("part", "lantern"),
        ("worktree", "lantern"),
        ("heron", "heron"),
        ("elsewhere", "elsewhere"),
    ],
)
def test_a_project_sees_its_own_notes_and_those_of_all_and_says_where_it_looked(
    place: str, own: str, folders: dict[str, Path], at: Callable[[Path], Memory]
) -> None:
    memory = at(folders[place])
    asked = memory.recall(query_from("port of the gateway", limit=20))
    latest = memory.recall(query_from("", limit=20))
    told = memory.brief()
    memory.close()

    for answer in (asked, latest):
        assert {hit.title for hit in answer.hits} == {f"Port of {own}", "Ports"}
        assert answer.scopes == (own, "user")
    assert {entry.title for entry in told.shown} == {f"Port of {own}", "Ports"}
    assert f"in {own} + user" in told.text


@pytest.mark.fault("A-71")
def test_where_no_project_is_only_the_notes_of_all_are_seen(
    folders: dict[str, Path], settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = folders["elsewhere"].parent
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    memory = open_memory(load({}, settings | {"MEMORIX_PROJECT_DIR": str(home)}))
    answer = memory.recall(query_from("port of the gateway", limit=20))
    memory.close()

    assert [hit.title for hit in answer.hits] == ["Ports"]
    assert answer.scopes == ("user",)


@pytest.mark.fault("A-74")
def test_a_fact_in_other_words_and_a_title_used_again_are_kept_and_pointed_out(
    memory: Memory,
) -> None:
    first = memory.remember(Draft("The nightly export of invoices runs at two.", "Invoice export"))
    worded = memory.remember(Draft("Invoices: the nightly export runs at two.", "Export at night"))
    titled = memory.remember(Draft("The lawyer wants a copy of each invoice.", "Invoice export"))

    assert [done.status for done in (worded, titled)] == ["created", "created"]
    assert first.id in [near.id for near in worded.near]
    assert first.id in [near.id for near in titled.near]
    assert len({first.path, worded.path, titled.path}) == 3


@pytest.mark.fault("A-74")
def test_the_same_fact_from_two_processes_at_once_is_one_note(
    open_another: Callable[[], Memory], vault: Path
) -> None:
    pair = [open_another(), open_another()]

    with ThreadPoolExecutor(2) as threads:
        done = list(threads.map(lambda m: m.remember(Draft("Use uv, not pip.", "uv")), pair))

    assert sorted(one.status for one in done) == ["already known", "created"]
    assert len({one.id for one in done}) == 1
    assert len([file for file in vault.rglob("*.md") if "uv" in file.stem]) == 1


@pytest.mark.fault("A-80")
@pytest.mark.parametrize("name", ["Gateway ports", "Gateway", "gateway port", "Gateway port c"])
def test_a_name_that_two_notes_nearly_have_changes_neither_and_suggests_them(
    memory: Memory, vault: Path, name: str
) -> None:
    ids = {memory.remember(Draft(f"Port {n}.", f"Gateway port {n}")).id for n in "ab"}
    before = {file: file.read_bytes() for file in vault.rglob("*.md")}

    for use in (memory.forget, lambda wanted: memory.revise(wanted, "", Edit(text="x"))):
        with pytest.raises(NoteNotFound) as caught:
            use(name)
        assert {id for id, _ in caught.value.near} == ids

    assert {file: file.read_bytes() for file in vault.rglob("*.md")} == before
