"""Forgetting by what notes are, bringing them back, and the proof that one is gone."""

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memorix import erasing, forgetting, history, proving
from memorix.arguments import query_from, selection_from
from memorix.config import load
from memorix.errors import InvalidRequest, NoteNotFound, SelectionChanged
from memorix.lifecycle import Edit, by, draft_from
from memorix.memory import Memory
from memorix.wiring import open_memory
from tests.hashing import HashingEmbedder
from tests.test_erasing import CODE, keep
from tests.test_history import contents
from tests.test_server import call, connected, refusal


def tagged(memory: Memory, text: str, *tags: str, author: str = "", scope: str = "") -> str:
    draft = by(draft_from(text, text.rstrip("."), tags=list(tags)), author)
    return memory.remember(draft, scope).id


@pytest.fixture
def shelf(memory: Memory) -> dict[str, str]:
    """Five notes that differ by tag, type, author, scope and path."""
    return {
        "lamp": tagged(memory, "Lamp.", "light", "home", author="claude-code/2.1"),
        "door": tagged(memory, "Door.", "home", author="human:dana"),
        "gate": tagged(memory, "Gate.", "garden", author="codex/1"),
        "user": tagged(memory, "User lamp.", "light", "home", scope="user"),
        "lit": memory.remember(draft_from("Lit.", "Lit", type="Gotcha", tags=["light"])).id,
    }


def listed(memory: Memory, level: str = "retire", **wanted: str) -> set[str]:
    return set(forgetting.forget(memory, "", level, selection_from(**wanted)).ids)


@pytest.mark.fault("A-80")
def test_a_selection_holds_the_notes_that_fit_every_condition_exactly(
    memory: Memory, shelf: dict[str, str]
) -> None:
    names = {note: name for name, note in shelf.items()}

    def chosen(**wanted: str) -> set[str]:
        return {names[note] for note in listed(memory, **wanted)}

    assert chosen(tags="home") == {"lamp", "door"}
    assert chosen(tags="light, home") == {"lamp"}
    assert chosen(tags="light", scope="all") == {"lamp", "user", "lit"}
    assert chosen(type="gotcha") == {"lit"}
    assert chosen(author="claude-code") == {"lamp"}
    assert chosen(author="human:dana") == {"door"}
    assert chosen(path="projects/app/gate.md") == {"gate"}
    assert chosen(path="projects/app/") == {"lamp", "door", "gate", "lit"}
    assert chosen(until="2020-01-01") == set()
    assert chosen(since="2020-01-01") == {"lamp", "door", "gate", "lit"}
    for near in ({"tags": "hom"}, {"author": "claude"}, {"path": "projects/app/gat"}):
        assert chosen(**near) == set()


@pytest.mark.parametrize("level", ["retire", "archive", "erase"])
def test_a_selection_is_forgotten_with_the_token_of_its_listing_and_one_undo_brings_it_back(
    level: str, memory: Memory, shelf: dict[str, str], vault: Path
) -> None:
    which, before = selection_from(tags="home"), contents(vault)

    plan = forgetting.forget(memory, "", level, which)
    untouched = contents(vault)
    done = forgetting.forget(memory, "", level, which, token=plan.token)

    assert untouched == before
    assert not plan.done
    assert sorted(plan.steps) == [
        f"{level} projects/app/door.md (Door)", f"{level} projects/app/lamp.md (Lamp)",
    ]  # fmt: skip
    assert done.done
    assert set(done.ids) == {shelf["lamp"], shelf["door"]}
    assert {hit.title for hit in memory.recall(query_from("lamp door gate")).hits} >= {"Gate"}
    assert not {"Lamp", "Door"} & {h.title for h in memory.recall(query_from("lamp door")).hits}
    if level != "erase":
        history.undo(memory)
        assert contents(vault) == before


@pytest.mark.parametrize("change", ["another", "edited", "gone", "level", "made up"])
def test_a_token_of_another_set_is_refused_and_nothing_is_changed(
    change: str, memory: Memory, shelf: dict[str, str], vault: Path
) -> None:
    which = selection_from(tags="home")
    token, level = forgetting.forget(memory, "", "archive", which).token, "archive"
    match change:
        case "another":
            tagged(memory, "Window.", "home")
        case "edited":
            path = vault / memory.read(shelf["door"]).note.path
            path.write_bytes(path.read_bytes() + b"By hand.\n")
        case "gone":
            memory.forget(shelf["door"])
            memory.forget(shelf["door"], "archive")
        case "level":
            level = "erase"
        case _:
            token = "forget-0000000000000000"
    before = contents(vault)

    with pytest.raises(SelectionChanged, match="Nothing was changed"):
        forgetting.forget(memory, "", level, which, token=token)

    assert contents(vault) == before


def test_what_names_no_note_or_too_much_is_refused(memory: Memory, shelf: dict[str, str]) -> None:
    for arguments in ({}, {"token": "forget-0"}):
        with pytest.raises(InvalidRequest, match="what is to be forgotten"):
            forgetting.forget(memory, "", "retire", selection_from(), **arguments)
    with pytest.raises(InvalidRequest, match="not both"):
        forgetting.forget(memory, shelf["lamp"], "retire", selection_from(tags="home"))
    with pytest.raises(InvalidRequest, match="no level"):
        forgetting.forget(memory, "", "burn", selection_from(tags="home"))
    assert forgetting.forget(memory, "", "retire", selection_from(tags="x")).steps == (
        "no note fits",
    )


def test_erasing_a_selection_reaches_the_archive_and_retired_notes_retiring_does_not(
    memory: Memory, shelf: dict[str, str], vault: Path
) -> None:
    memory.forget(shelf["lamp"], "archive")
    memory.forget(shelf["door"])

    assert listed(memory, "retire", tags="home") == set()
    assert listed(memory, "archive", tags="home") == {shelf["door"]}
    plan = forgetting.forget(memory, "", "erase", selection_from(tags="home"))
    forgetting.forget(memory, "", "erase", selection_from(tags="home"), token=plan.token)

    assert set(plan.ids) == {shelf["lamp"], shelf["door"]}
    assert [*(vault / "archive").rglob("*.md")] == []


def test_private_notes_are_counted_for_an_assistant_and_chosen_by_a_person(
    memory: Memory, vault: Path
) -> None:
    tagged(memory, "Lamp.", "home")
    secret = tagged(memory, "Diary.", "home")
    memory.revise(secret, memory.read(secret).etag, Edit(keys={"private": "true"}))

    told = forgetting.forget(memory, "", "erase", selection_from(tags="home"))
    own = forgetting.forget(memory, "", "erase", selection_from(tags="home", held=True))

    assert secret not in told.ids
    assert "Diary" not in str(told.steps)
    assert told.steps[-1].startswith("1 more that are held back")
    assert secret in own.ids


# -- back again


def test_an_archived_note_comes_back_to_where_it_was(memory: Memory, vault: Path) -> None:
    note = keep(memory, CODE, "Door code")
    before = contents(vault)
    memory.forget(note, "archive")
    assert [n.id for n in forgetting.archived(memory)] == [note]

    done = forgetting.restore(memory, note)

    assert (done.status, done.id) == ("restored", note)
    assert contents(vault) == before
    assert memory.recall(query_from("heron")).hits[0].id == note
    history.undo(memory)
    assert [n.id for n in forgetting.archived(memory)] == [note]


def test_a_note_that_comes_back_takes_no_other_ones_place(memory: Memory, vault: Path) -> None:
    note = keep(memory, CODE, "Door code")
    memory.forget(note, "archive")
    other = keep(memory, "Another.", "Door code")

    done = forgetting.restore(memory, note)

    assert done.path == "projects/app/door-code-2.md"
    assert memory.read(other).note.body.strip() == "Another."


def test_a_retired_note_comes_back_into_force_to_the_byte(memory: Memory, vault: Path) -> None:
    note = keep(memory, CODE, "Door code")
    before = contents(vault)
    memory.forget(note)

    assert forgetting.restore(memory, note).status == "restored"

    assert contents(vault) == before
    with pytest.raises(InvalidRequest, match="in force already"):
        forgetting.restore(memory, note)
    with pytest.raises(NoteNotFound):
        forgetting.restore(memory, note[:-1])


# -- proof


def test_the_proof_names_what_was_searched_and_finds_nothing(
    memory: Memory, tmp_path: Path
) -> None:
    memory.use_model(HashingEmbedder())
    note = keep(memory, f"{CODE}\n\n门禁的密码是蓝色苍鹭十七号，只有管家知道。", "Door code")
    keep(memory, "The door is white.", "Door")
    memory.embed_pending()
    memory.recall(query_from("blue heron"))

    done, proof = proving.erase(memory, note)

    assert done.done
    assert proof.left == ()
    assert proof.sought > 5
    assert {s.folder for s in proof.searched} == {tmp_path / "vault", tmp_path / "state"}
    assert all(s.files and s.size_bytes for s in proof.searched)
    assert any("backups" in beyond for beyond in proof.beyond)


@pytest.mark.parametrize("place", ["vault/x.bin", "vault/.hidden/y", "state/z.tmp"])
def test_the_proof_bites(place: str, memory: Memory, tmp_path: Path) -> None:
    note = keep(memory, CODE, "Door code")
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True, parents=True)
    file.write_bytes(b"\0" * 8_000_000 + b"THE DOOR CODE is blue HERON")

    _, proof = proving.erase(memory, note)

    assert any(str(file) in left for left in proof.left)


@pytest.mark.parametrize("kept", ["vector", "row", "words"])
def test_the_proof_looks_into_the_index(kept: str, memory: Memory) -> None:
    memory.use_model(HashingEmbedder())
    note = keep(memory, CODE, "Door code")
    memory.embed_pending()
    evidence = proving.gather(memory, erasing.of_row(memory, memory.find(note)))
    if kept == "vector":
        (memory.index_path.with_name("copy")).write_bytes(b"x" + evidence.vectors[0])
        memory.forget(note, "erase")
    elif kept == "words":
        memory.forget(note, "erase")
        keep(memory, "seventeen heron code door blue the is", "Other")

    proof = proving.search(memory, evidence)

    said = {"vector": "its vector", "row": "its row", "words": "of its words"}[kept]
    assert any(said in left for left in proof.left)


def test_words_that_other_notes_say_are_theirs(memory: Memory) -> None:
    note = keep(memory, CODE, "Door code")
    twin = keep(memory, CODE, "Twin", "user")

    _, proof = proving.erase(memory, note)

    assert proof.left == ()
    assert memory.read(twin).note.path in proof.others


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Dana", "-c", "user.email=dana@example.org")
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *arguments],
        check=True, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    return done.stdout


def test_the_proof_says_how_to_purge_what_git_holds(memory: Memory, vault: Path) -> None:
    note = keep(memory, CODE, "Door code")
    path = memory.read(note).note.path
    git(vault, "init", "-q")
    git(vault, "add", "-A")
    git(vault, "commit", "-qm", "all")
    (vault / "old.zip").write_bytes(b"PK")

    _, proof = proving.erase(memory, note)

    said = "\n".join(proof.beyond)
    assert proof.left == ()
    assert f"git filter-repo --invert-paths --path '{path}'" in said
    assert f"the git history of {vault} holds it, in 1 commits" in said
    assert "old.zip, which was not opened" in said


# -- at the faces


def test_an_assistant_forgets_by_what_notes_are_in_two_steps(settings: dict[str, str]) -> None:
    async def session() -> None:
        async with connected(settings) as client:
            for text in ("Lamp one.", "Lamp two.", "Door."):
                tags = ["old"] if text.startswith("Lamp") else []
                await call(client, "remember", text=text, title=text, tags=tags)
            plan = await call(client, "forget", tags="old", level="archive")
            assert (plan["done"], len(plan["ids"])) == (False, 2)
            assert "token" in await refusal(
                client, "forget", tags="old", level="archive", token="forget-1"
            )
            done = await call(client, "forget", tags=["old"], level="archive", token=plan["token"])
            assert done["done"]
            assert (await call(client, "recall", query="lamp"))["hits"] == []
            back = await call(client, "forget", id=plan["ids"][0], level="restore")
            assert back["path"].startswith("projects/app/lamp-")
            assert len((await call(client, "recall", query="lamp"))["hits"]) == 1
            await call(client, "forget", id=plan["ids"][0], level="erase")
            gone = "Lamp one." if back["path"].endswith("lamp-one.md") else "Lamp two."
            assert (await call(client, "remember", text=gone))["status"] == "forgotten"
            assert (await call(client, "remember", text=gone, again=True))["status"] == "created"

    asyncio.run(asyncio.wait_for(session(), 60))


def test_the_command_line_forgets_proves_and_restores(
    memorix: Callable[..., str], settings: dict[str, str], tmp_path: Path
) -> None:
    notes = [
        json.loads(memorix("remember", text, "--tags", "t", "--json"))["id"]
        for text in ("The blue heron is in the reeds.", "The grey goose is on the lawn.")
    ]
    listing = memorix("forget", "--tags", "t", "--level", "archive")
    token = listing.rsplit(" ", 1)[1].strip()
    assert "nothing done yet" in listing
    assert "2 notes" in memorix("forget", "--tags", "t", "--level", "archive", "--token", token)
    assert notes[0] in memorix("restore")
    assert "restored" in memorix("restore", notes[0])
    said = memorix("forget", notes[0], "--level", "erase", "--prove")
    assert "nothing of it is left there" in said
    assert "beyond reach: backups" in said
    assert "No notes" in memorix("recall", "heron in the reeds")
    assert "no note" in memorix("forget", notes[0], "--level", "erase", "--prove", code=3)
    memorix("remember", "The blue heron is in the reeds.")
    assert "are not those of this token" in memorix(
        "forget", "--scope", "app", "--token", token, code=4
    )


def test_an_erased_fact_comes_back_through_no_channel_after_a_restart_and_a_reindex(
    settings: dict[str, str], vault: Path, tmp_path: Path, memorix: Callable[..., str]
) -> None:
    env = {**settings, "MEMORIX_LOG": "on", "MEMORIX_MODEL": ""}
    memory = open_memory(load({}, {**env, "MEMORIX_MODEL": "none"}))
    memory.use_model(HashingEmbedder())
    name = "The vault combination"
    fact = keep(memory, "The combination is 44-17-93, told by the locksmith.", name)
    other = keep(memory, f"Ask before you use [{name}](the-vault-combination.md).", "Locksmith")
    memory.embed_pending()
    memory.forget(fact, "erase")
    memory.close()

    async def session() -> list[str]:
        async with connected(env) as client:
            state = {"model": "loading"}
            while state["model"] == "loading" or state["vectors_pending"]:
                await asyncio.sleep(0.05)
                found = (await client.read_resource("memorix://status")).contents[0]
                state = json.loads(found.text)  # type: ignore[union-attr]
            said = [
                await client.call_tool("recall", {"query": query})
                for query in ("which numbers open the safe", "combination", "locksmith", "told")
            ]
            said += [await client.call_tool("read", {"id": i}) for i in (fact, other)]
            said += [await client.call_tool("brief", {})]
            resources = [
                await client.read_resource(uri)
                for uri in (f"memorix://notes/{other}", "memorix://brief", "memorix://status")
            ]
            return [str(one) for one in (*said, *resources)]

    memorix("reindex", "--full", MEMORIX_LOG="on")
    for file in (tmp_path / "state").rglob("index.db*"):
        file.unlink()
    answers = asyncio.run(asyncio.wait_for(session(), 60))
    answers += [
        memorix("list", "--all"),
        memorix("history"),
        memorix("history", other, "--diff"),
        memorix("restore"),
        (vault / "projects/app/log.md").read_text(encoding="utf-8"),
    ]
    memorix("export", str(tmp_path / "out"), "--to", "okf", "--scope", "app")
    answers += [f.read_text(encoding="utf-8") for f in (tmp_path / "out").rglob("*.md")]

    for answer in answers:
        for secret in ("44-17-93", "told by the locksmith", "ault combination"):
            assert secret not in answer
    assert "(erased note)" in "".join(answers)
