"""What is erased comes back through no channel, and leaves a tombstone."""

import os
import zlib
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import pytest

from memorix import history, inbox, moving, settling, transfer
from memorix.arguments import query_from
from memorix.config import load
from memorix.embedding import embedded
from memorix.errors import NoteNotFound, UndoRefused
from memorix.intake import Incoming
from memorix.lifecycle import Edit, by, draft_from, successor
from memorix.memory import Memory
from memorix.wiring import open_memory
from tests.hashing import HashingEmbedder
from tests.stress.crashes import prepared

AGENT = "claude-code/2.1"
CODE = "The door code is blue heron seventeen."


def keep(memory: Memory, text: str, title: str = "", scope: str = "") -> str:
    return memory.remember(by(draft_from(text, title), AGENT), scope, again=True).id


def everything(root: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every file below a folder with its bytes, and what the journal has compressed."""
    for file in root.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            yield file, content
            for line in content.splitlines() if file.name == "journal" else ():
                if line.startswith(b"b2-"):
                    yield file, zlib.decompress(b64decode(line.partition(b" ")[2]))


def holding(root: Path, *words: str) -> list[str]:
    """Return the files that hold one of the words, in any case."""
    return sorted(
        {
            f"{file.relative_to(root)}: {word}"
            for file, content in everything(root)
            for word in words
            if word.encode().lower() in content.lower()
        }
    )


@pytest.fixture
def logged(settings: dict[str, str]) -> Iterator[Memory]:
    memory = open_memory(load({}, {**settings, "MEMORIX_LOG": "on"}))
    memory.use_model(HashingEmbedder())
    yield memory
    memory.close()


@pytest.mark.fault("A-54")
@pytest.mark.rule("MEM-26")
def test_an_erased_note_leaves_no_byte_in_vault_index_and_journal(
    logged: Memory, tmp_path: Path, vault: Path
) -> None:
    memory = logged
    note = keep(memory, CODE, "Door code")
    name = Path(memory.read(note).note.path).name
    other = keep(memory, f"See [the door code]({name}) and [[Door code]].", "House")
    keep(memory, f"- depends_on [Door code]({name}) (at night)", "Alarm")
    memory.revise(note, memory.read(note).etag, Edit(find="heron", replace="egret"))
    new = settling.supersede(
        memory, note, memory.read(note).etag, successor("The door code is green finch.", {})
    ).id
    moving.move(memory, new, "projects/app/deep/door.md", links=True)
    transfer.write_indexes(memory, "app")
    memory.embed_pending()
    memory.recall(query_from("door code"))

    for erased in (note, new):
        memory.forget(erased, "erase", author=AGENT)

    words = ("heron", "egret", "finch", "door code", "door-code", "green-finch")
    assert holding(tmp_path, *words) == []
    assert "See (erased note) and (erased note)." in memory.read(other).note.body
    assert memory.recall(query_from("door code heron")).hits == []
    assert note in (vault / "projects/app/log.md").read_text(encoding="utf-8")


def test_keys_that_name_an_erased_note_go_and_every_other_byte_stays(
    memory: Memory, vault: Path
) -> None:
    old = keep(memory, "The lamp is green.", "Lamp")
    path = vault / memory.read(old).note.path
    new = settling.supersede(
        memory, old, memory.read(old).etag, successor("The lamp is off.", {})
    ).id
    other = vault / "user" / "by-hand.md"
    other.parent.mkdir()
    other.write_bytes(
        b'---\r\ntype: Fact # mine\r\nrelated: ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "'
        + new.encode()
        + b'"]\r\n---\r\n\r\nKeep   this.\r\n'
    )
    memory.catch_up()
    before = path.read_text(encoding="utf-8")

    memory.forget(new, "erase")

    gone = [line for line in before.splitlines() if line not in path.read_text(encoding="utf-8")]
    assert [line.split("[")[0].split(":")[0].strip() for line in gone] == [
        "superseded_by",
        "- superseded_by",
    ]
    assert "- superseded_by (erased note)" in path.read_text(encoding="utf-8")
    assert other.read_bytes() == (
        b'---\r\ntype: Fact # mine\r\nrelated: ["01ARZ3NDEKTSV4RRFFQ69G5FAV"]\r\n---\r\n\r\n'
        b"Keep   this.\r\n"
    )
    assert memory.read(old).note.status == "deprecated"


def test_links_of_every_kind_become_a_neutral_word(memory: Memory, vault: Path) -> None:
    note = keep(memory, CODE, "Door code")
    memory.revise(note, memory.read(note).etag, Edit(keys={"title": "Blue bird"}))
    by_hand = vault / "projects/app/by-hand.md"
    kinds = (
        "[x](door-code.md) [x](./door-code) [x](/door-code.md#top) ![x](<door-code.md> 't') "
        "[[door-code]] [[Blue bird|y]] [[Door code#top]] ![[app/door-code]] "
        "[![i](a.png)](door-code.md)"
    )
    stays = "[x](door.md) [[Door]] `[[door-code]]` [x](https://a.b/door-code.md)"
    by_hand.write_text(f"{kinds} {stays}\n\n[ref]: door-code.md\n", encoding="utf-8")
    memory.catch_up()

    memory.forget(note, "erase")

    said = by_hand.read_text(encoding="utf-8")
    assert said == f"{'(erased note) ' * 9}{stays}\n\n\n"


def test_bystanders_that_say_the_same_words_stay(memory: Memory, vault: Path) -> None:
    note = keep(memory, CODE, "Door code")
    twin = keep(memory, CODE, "Door code", "user")
    near = keep(memory, "The door code is blue heron eighteen.", "Door code two")
    kept = [(vault / memory.read(n).note.path).read_bytes() for n in (twin, near)]

    memory.forget(note, "erase")

    assert [(vault / memory.read(n).note.path).read_bytes() for n in (twin, near)] == kept
    assert {hit.id for hit in memory.recall(query_from("door code heron")).hits} == {twin, near}


def test_a_wikilink_that_means_another_note_of_the_same_name_stays(
    memory: Memory, vault: Path
) -> None:
    note, twin = keep(memory, CODE, "Lamp"), keep(memory, "Another lamp.", "Lamp", "user")
    here, there = keep(memory, "[[Lamp]]", "Here"), keep(memory, "[[Lamp]]", "There", "user")
    kept = (vault / memory.read(there).note.path).read_bytes()

    memory.forget(note, "erase")

    assert memory.read(here).note.body.strip() == "(erased note)"
    assert (vault / memory.read(there).note.path).read_bytes() == kept
    assert [link.id for link in memory.read(there).links] == [twin]


def test_copies_in_the_archive_and_in_a_trash_go_too(memory: Memory, vault: Path) -> None:
    note = keep(memory, CODE, "Door code")
    path = memory.read(note).note.path
    content = (vault / path).read_bytes()
    for place in ("archive/projects/app/door-code.md", "user/.trash/door-code.md"):
        (vault / place).parent.mkdir(parents=True, exist_ok=True)
        (vault / place).write_bytes(content)
    (vault / "projects/app/.memorix-0123456789abcdef").write_bytes(content[:-5])

    memory.forget(note, "erase")

    assert holding(vault, "heron") == []


def test_an_archived_note_can_be_erased_by_its_id(memory: Memory, tmp_path: Path) -> None:
    note = keep(memory, CODE, "Door code")
    memory.forget(note, "archive")

    memory.forget(note, "erase")

    assert holding(tmp_path, "heron", "door code", "door-code") == []


def test_a_note_that_was_undone_can_be_erased_by_its_id(memory: Memory, tmp_path: Path) -> None:
    note = keep(memory, CODE, "Door code")
    history.undo(memory, note)
    bystander = keep(memory, "Another text.", "Door code")
    assert "state/journal: heron" in holding(tmp_path, "heron")

    memory.forget(note, "erase")

    assert holding(tmp_path, "heron") == []
    assert memory.read(bystander).note.body.strip() == "Another text."


def test_a_note_without_an_id_of_its_own_leaves_not_even_its_name(
    logged: Memory, vault: Path, tmp_path: Path
) -> None:
    file = vault / "user" / "heron-code.md"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"# Heron\n\nBlue heron.\n")
    logged.catch_up()
    logged.revise(
        "user/heron-code", logged.read("user/heron-code").etag, Edit(find="Blue", replace="Red")
    )

    logged.forget("user/heron-code", "erase")

    assert holding(tmp_path, "heron") == []
    assert "**Erasure** note without an id" in (vault / "user/log.md").read_text(encoding="utf-8")


def test_erasing_cannot_be_undone_and_undoing_others_brings_nothing_back(
    memory: Memory, vault: Path, tmp_path: Path
) -> None:
    note = keep(memory, CODE, "Door code")
    other = keep(memory, "See [Door code](door-code.md). It is white.", "House")
    memory.revise(other, memory.read(other).etag, Edit(find="white", replace="black"))
    memory.forget(note, "erase")
    erased = history.changes(memory, 1)[0].change

    assert erased.what == "erase"
    for wanted in (erased.id, note):
        with pytest.raises(UndoRefused, match="for good"):
            history.undo(memory, wanted)
    history.undo(memory, other)

    assert memory.read(other).note.body.strip() == "See (erased note). It is white."
    assert holding(tmp_path, "heron", "door code", "door-code") == []
    with pytest.raises(NoteNotFound):
        history.versions_of(memory, "projects/app/door-code.md")


def test_the_indexes_of_repositories_forget_it_too(
    settings: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / ".memorix.toml").write_text(
        'id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"\nproject = "repo"\nbundle = "memory"\n', encoding="utf-8"
    )
    here = open_memory(load({}, settings))
    there = open_memory(load({}, {**settings, "MEMORIX_PROJECT_DIR": str(tmp_path / "repo")}))
    note = keep(here, CODE, "Door code", "user")
    keep(here, "See [it](door-code.md).", "House", "user")
    there.catch_up()
    assert there.recall(query_from("blue heron")).hits

    here.forget(note, "erase")
    left = holding(tmp_path, "heron", "door code", "door-code")
    there.catch_up()

    assert left == []
    assert [hit.title for hit in there.recall(query_from("house")).hits] == ["House"]
    for memory in (here, there):
        memory.close()


def test_a_vector_that_is_made_while_its_note_is_erased_is_not_kept(memory: Memory) -> None:
    model = HashingEmbedder()
    memory.use_model(model)
    note = keep(memory, CODE, "Door code")
    keep(memory, "Another.", "Other")
    card = model.card
    batch = memory.index.pending(card.fingerprint, card.languages, 9)

    memory.forget(note, "erase")
    memory.index.keep_vectors(card.fingerprint, embedded(model, batch))

    assert memory.status().counts.vectors == 1
    kept = memory.index_path.read_bytes() + memory.index_path.with_name("index.db-wal").read_bytes()
    gone = next(item.hash for item in batch if "heron" in item.text)
    assert gone not in kept


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_whichever_call_it_died_at_the_next_command_finishes_an_erasing_that_had_begun(
    tmp_path: Path,
) -> None:
    ends = []
    with prepared(tmp_path / "crashes") as crashes:
        for number in range(1, 80):
            left = crashes.run("erase", dies_at=number)
            memory = open_memory(load({}, left.settings))
            memory.catch_up()
            memory.close()

            case = Path(left.settings["MEMORIX_VAULT"]).parent
            begun = left.files() != left.before
            ends.append(begun)
            assert bool(holding(case, "the first text")) != begun, f"killed at call {number}"
            assert not [*case.rglob("erasing.json")]
            if left.status == 0:
                break

    assert left.status == 0
    assert ends == sorted(ends)  # first nothing was done, from one call on all of it
    assert ends[0] is False


# -- tombstones


@pytest.mark.rule("MEM-41")
def test_what_was_erased_is_not_learnt_again_unless_on_purpose(
    settings: dict[str, str], vault: Path, tmp_path: Path
) -> None:
    memory = open_memory(load({}, settings))
    note = keep(memory, CODE, "Door code")
    memory.revise(note, memory.read(note).etag, Edit(find="seventeen", replace="eighteen"))
    memory.forget(note, "erase")
    memory.close()
    for file in (tmp_path / "state").rglob("*"):  # as on another machine
        if file.is_file():
            file.unlink()
    memory = open_memory(load({}, settings))
    memory.catch_up()

    for text in (CODE, "The door  code is\nblue heron eighteen.  "):
        done = memory.remember(by(draft_from(text, "Another title"), AGENT))
        assert (done.status, done.id) == ("forgotten", "")
        assert done.settle[0].startswith(f"forgotten on {memory.clock().astimezone().date()}")
    assert list(vault.rglob("*.md")) == []
    other = memory.remember(draft_from("The door code is blue heron nineteen."))
    again = memory.remember(draft_from(CODE, "Door code"), again=True)
    memory.forget(again.id, "archive")

    assert other.status == "created"
    assert again.status == "created"
    assert memory.remember(draft_from(CODE)).status == "created"
    memory.close()


@pytest.mark.rule("MEM-41")
def test_a_tombstone_is_a_line_of_hash_and_day_in_the_scope(memory: Memory, vault: Path) -> None:
    note = keep(memory, CODE, "Door code")
    memory.forget(note, "erase")

    file = vault / "projects/app/.memorix/forgotten"
    lines = [x for x in file.read_text(encoding="utf-8").splitlines() if not x.startswith("#")]
    day = memory.clock().astimezone().date().isoformat()
    assert [line.split(" ")[1] for line in lines] == [day, day]
    assert lines[0].split(" ")[0] == note
    assert lines[1].startswith("b2-")
    file.unlink()
    assert memory.remember(draft_from(CODE)).status == "created"


def test_an_import_does_not_bring_back_what_was_erased(memory: Memory, vault: Path) -> None:
    note = keep(memory, CODE, "Door code")
    old = (vault / memory.read(note).note.path).read_bytes()
    memory.revise(note, memory.read(note).etag, Edit(find="heron", replace="egret"))
    plain = {"user/a.md": old, "user/b.md": CODE.encode(), "user/c.md": b"Else.\n"}
    files = [Incoming(path, content) for path, content in plain.items()]
    memory.forget(note, "erase")

    done = list(transfer.take_in(memory, files))
    kept = sorted(path.name for path in vault.rglob("*.md"))
    again = list(transfer.take_in(memory, files[1:2], again=True))

    assert [taken.status for taken in done] == ["forgotten", "forgotten", "new"]
    assert kept == ["c.md"]
    assert again[0].status == "new"


def test_an_import_under_its_title_as_heading_does_not_bring_it_back_either(
    memory: Memory, vault: Path
) -> None:
    memory.forget(keep(memory, CODE, "Door code"), "erase")

    files = [
        Incoming("user/a.md", f"# Door code\n\n{CODE}\n".encode()),
        Incoming("user/b.md", b"# Door code\n\nIt is asked for at the desk.\n"),
    ]
    done = list(transfer.take_in(memory, files))

    assert [taken.status for taken in done] == ["forgotten", "new"]
    assert [path.name for path in vault.rglob("*.md")] == ["b.md"]


def test_a_suggestion_that_was_turned_down_is_not_made_again(memory: Memory, vault: Path) -> None:
    draft = draft_from(CODE, "Door code", suggested=True)
    done = memory.remember(draft)
    inbox.reject(memory, done.id)

    assert memory.remember(draft).status == "forgotten"
    history.undo(memory)
    assert memory.read(done.id).note.title == "Door code"
    assert not list(vault.rglob("forgotten"))


def test_undoing_what_was_learnt_again_leaves_it_forgotten(memory: Memory) -> None:
    note = keep(memory, CODE, "Door code")
    memory.forget(note, "erase")
    memory.remember(draft_from(CODE), again=True)

    history.undo(memory)

    assert memory.remember(draft_from(CODE)).status == "forgotten"
