"""Where a note was written: project, branch, commit, session; and what a branch means elsewhere."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memorix.answers import reading_text
from memorix.arguments import query_from
from memorix.config import load
from memorix.index.base import Row
from memorix.lifecycle import Edit, draft_from
from memorix.memory import Memory
from memorix.query import Filter
from memorix.settling import Revision, revise
from memorix.wiring import open_memory
from tests.test_server import call, connected

ELSEWHERE = "from branch {}, not merged here"


class Repository:
    """A real repository, with a clock that stands still."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self("init", "--quiet", "--initial-branch=main")
        self.commit("first")

    def __call__(self, *words: str) -> str:
        who = {"NAME": "Kim", "EMAIL": "kim@host.test", "DATE": "2026-01-01T12:00:00Z"}
        named = {
            f"GIT_{role}_{key}": v for role in ("AUTHOR", "COMMITTER") for key, v in who.items()
        }
        env = {**os.environ, **named, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        command = ["git", "-C", str(self.root), *words]
        return (
            subprocess.run(command, env=env, check=True, capture_output=True)
            .stdout.decode()
            .strip()
        )

    def commit(self, message: str) -> str:
        self("commit", "--quiet", "--allow-empty", "-m", message)
        return self("rev-parse", "HEAD")


@pytest.fixture
def repository(settings: dict[str, str]) -> Repository:
    return Repository(Path(settings["MEMORIX_PROJECT_DIR"]))


@pytest.fixture
def opened(settings: dict[str, str]) -> Iterator[Callable[..., Memory]]:
    """Open the vault from a folder, with more variables of the environment if need be."""
    memories: list[Memory] = []

    def open_from(folder: Path | None = None, **more: str) -> Memory:
        where = {"MEMORIX_PROJECT_DIR": str(folder)} if folder else {}
        memories.append(open_memory(load({}, settings | where | more)))
        return memories[-1]

    yield open_from
    for memory in memories:
        memory.close()


def keep(memory: Memory, title: str, text: str = "", scope: str = "") -> str:
    draft = draft_from(text or f"{title}.", title)
    return memory.remember(draft, scope).id


def said_of(memory: Memory, note_id: str) -> dict[str, object]:
    meta = memory.read(note_id).note.meta
    return {key: meta[key] for key in ("project", "branch", "commit", "session") if key in meta}


def told(memory: Memory, question: str) -> dict[str, str]:
    """Return the hits in order: title, and why."""
    return {hit.title: str(hit.why) for hit in memory.recall(query_from(question)).hits}


# -- what is written down


@pytest.mark.rule("MEM-42")
def test_a_note_says_on_which_branch_and_commit_it_was_written(
    repository: Repository, opened: Callable[..., Memory]
) -> None:
    repository("checkout", "--quiet", "-b", "feature/retry")
    commit = repository.commit("second")

    memory = opened()

    assert said_of(memory, keep(memory, "Retries stop after 5")) == {
        "branch": "feature/retry",
        "commit": commit[:12],
    }
    assert said_of(memory, keep(memory, "Likes tabs", scope="user")) == {
        "project": ["app"],
        "branch": "feature/retry",
        "commit": commit[:12],
    }


@pytest.mark.rule("MEM-42")
def test_git_itself_is_not_needed_to_know_branch_and_commit(
    repository: Repository, opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = repository.commit("second")
    repository("pack-refs", "--all")
    monkeypatch.setenv("PATH", "")

    memory = opened()

    assert said_of(memory, keep(memory, "Packed")) == {"branch": "main", "commit": commit[:12]}


def test_each_worktree_has_its_own_branch(
    repository: Repository, opened: Callable[..., Memory], tmp_path: Path
) -> None:
    repository("worktree", "add", "--quiet", "-b", "spike", str(tmp_path / "spike"))

    memory = opened(tmp_path / "spike")

    assert said_of(memory, keep(memory, "Spiked"))["branch"] == "spike"
    assert memory.places.slug == opened().places.slug == "app"


def test_a_commit_that_is_checked_out_without_a_branch_is_named_alone(
    repository: Repository, opened: Callable[..., Memory]
) -> None:
    commit = repository("rev-parse", "HEAD")
    repository("checkout", "--quiet", "--detach")

    memory = opened()

    assert said_of(memory, keep(memory, "Detached")) == {"commit": commit[:12]}


def test_outside_a_repository_and_before_the_first_commit_nothing_is_made_up(
    settings: dict[str, str], opened: Callable[..., Memory], tmp_path: Path
) -> None:
    memory = opened()
    assert said_of(memory, keep(memory, "No repository")) == {}

    (tmp_path / "fresh").mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path / "fresh")], check=True)
    fresh = opened(tmp_path / "fresh")
    assert said_of(fresh, keep(fresh, "No commit")) == {"branch": "main"}


@pytest.mark.rule("MEM-42")
def test_a_new_text_moves_the_branch_and_keys_alone_do_not(
    repository: Repository, opened: Callable[..., Memory]
) -> None:
    memory = opened()
    first = memory.remember(draft_from("Port 1.", "Port"))
    repository("checkout", "--quiet", "-b", "feature")
    commit = repository.commit("second")

    tagged = memory.revise(first.id, first.etag, Edit(keys={"tags": ["net"]}))
    assert said_of(memory, first.id)["branch"] == "main"

    changed = memory.revise(first.id, tagged.etag, Edit(find="1", replace="2"))
    assert said_of(memory, first.id) == {"branch": "feature", "commit": commit[:12]}

    newer = revise(memory, first.id, changed.etag, Revision(draft=draft_from("Port 3.", "Port")))
    assert said_of(memory, newer.id) == {"branch": "feature", "commit": commit[:12]}


def test_what_is_imported_was_not_written_here(
    repository: Repository, opened: Callable[..., Memory], tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# From elsewhere\n", encoding="utf-8")
    from memorix import intake, transfer

    memory = opened()
    files = intake.incoming([("a.md", b"# From elsewhere\n")], "user", "notes")
    list(transfer.take_in(memory, files))

    assert said_of(memory, "user/a.md") == {}


@pytest.mark.rule("MEM-42")
def test_the_session_is_the_one_the_host_names(
    settings: dict[str, str], opened: Callable[..., Memory]
) -> None:
    memory = opened(MEMORIX_SESSION="session-1")
    assert said_of(memory, keep(memory, "One"))["session"] == "session-1"
    assert said_of(opened(CLAUDE_CODE_SESSION_ID="odd value"), keep(opened(), "Two")) == {}

    async def session() -> None:
        async with connected(settings | {"MEMORIX_SESSION": "session-2"}) as client:
            named = await client.call_tool(
                "remember", {"text": "Three."}, meta={"x-host": {"session_id": "session-3"}}
            )
            plain = await call(client, "remember", text="Four.")
            for done, expected in ((named.structured_content, "session-3"), (plain, "session-2")):
                assert done
                note = await call(client, "read", id=done["id"])
                assert note["meta"]["session"] == expected

    asyncio.run(asyncio.wait_for(session(), 30))


# -- what a branch means elsewhere


@pytest.fixture
def two_branches(repository: Repository, opened: Callable[..., Memory]) -> Memory:
    """A memory on `main` with one note of it and one, newer, of an unmerged branch `feature`."""
    memory = opened()
    keep(memory, "Gateway port on main", "The gateway listens on port 8443.")
    repository("checkout", "--quiet", "-b", "feature")
    repository.commit("work")
    keep(memory, "Gateway port on feature", "The gateway listens on port 9443.")
    repository("checkout", "--quiet", "main")
    return memory


@pytest.mark.rule("MEM-43")
def test_a_fact_of_an_unmerged_branch_is_marked_and_comes_after_one_that_holds_here(
    two_branches: Memory, repository: Repository
) -> None:
    found = told(two_branches, "gateway port")

    assert list(found) == ["Gateway port on main", "Gateway port on feature"]
    assert ELSEWHERE.format("feature") in found["Gateway port on feature"]
    assert "not merged" not in found["Gateway port on main"]


@pytest.mark.rule("MEM-43")
def test_on_its_own_branch_a_fact_is_not_marked_and_the_default_branch_holds_everywhere(
    two_branches: Memory, repository: Repository
) -> None:
    repository.commit("main goes on")
    repository("checkout", "--quiet", "feature")

    assert not any("not merged" in why for why in told(two_branches, "gateway port").values())


@pytest.mark.rule("MEM-43")
@pytest.mark.parametrize("how", ["merge", "delete", "squash"])
def test_the_mark_is_gone_once_the_branch_is_merged_or_gone(
    two_branches: Memory, repository: Repository, how: str
) -> None:
    assert "not merged" in told(two_branches, "gateway port")["Gateway port on feature"]

    if how == "merge":
        repository("merge", "--quiet", "--no-ff", "-m", "merge", "feature")
    else:
        if how == "squash":
            repository.commit("squashed")
        repository("branch", "-D", "feature")

    assert not any("not merged" in why for why in told(two_branches, "gateway port").values())


def test_a_fact_of_an_unmerged_branch_does_not_contradict_what_holds_here(
    two_branches: Memory, repository: Repository
) -> None:
    here = two_branches.recall(query_from("gateway port")).hits
    repository("merge", "--quiet", "--no-ff", "-m", "merge", "feature")
    merged = two_branches.recall(query_from("gateway port")).hits

    assert [hit.disputes for hit in here] == [(), ()]
    assert all(hit.disputes for hit in merged)


def test_a_note_that_is_read_tells_its_branch(two_branches: Memory) -> None:
    hit = two_branches.recall(query_from("gateway port 9443")).hits[0]

    assert "written on branch feature" in reading_text(two_branches.read(hit.id))


def test_a_project_named_as_its_folder_is_has_the_branches_of_that_folder(
    repository: Repository, opened: Callable[..., Memory]
) -> None:
    repository("checkout", "--quiet", "-b", "feature")
    ours = opened(MEMORIX_PROJECT=repository.root.name)
    kept = keep(ours, "Port", "The gateway listens on port 8443.")
    others = opened(MEMORIX_PROJECT="another")
    elsewhere = keep(others, "Dock", "The ferry leaves from dock 12.")

    assert ours.read(kept).note.meta["branch"] == "feature"
    assert "branch" not in others.read(elsewhere).note.meta


@pytest.mark.rule("MEM-43")
def test_without_git_nothing_is_marked(
    two_branches: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")

    assert not any("not merged" in why for why in told(two_branches, "gateway port").values())


@pytest.mark.rule("MEM-43")
def test_branches_of_another_project_are_none_of_ours(
    two_branches: Memory, opened: Callable[..., Memory], tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = Repository(tmp_path / "other")
    other("branch", "feature")

    elsewhere = opened(other.root)

    hits = elsewhere.recall(query_from("gateway port", scope="app")).hits
    assert len(hits) == 2
    assert not any("not merged" in str(hit.why) for hit in hits)


def test_the_rows_of_a_listing_tell_their_branch(two_branches: Memory) -> None:
    rows: list[Row] = list(two_branches.list(Filter()))

    assert {row.title: row.branch for row in rows} == {
        "Gateway port on main": "main",
        "Gateway port on feature": "feature",
    }
