"""The six uses, through the engine's public door, on real files and a real index."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memorix import settling
from memorix.arguments import query_from
from memorix.config import Config, load
from memorix.errors import (
    IndexUnavailable,
    InvalidRequest,
    NoteChanged,
    NoteNotFound,
    NoteUneditable,
    UnsafePath,
    VaultUnavailable,
)
from memorix.index.base import Drop
from memorix.lifecycle import Edit, draft_from, successor
from memorix.memory import Memory
from memorix.query import Filter
from memorix.results import Written
from memorix.wiring import open_memory
from tests.hashing import HashingEmbedder


def keep(memory: Memory, text: str, title: str = "", scope: str = "", **more: object) -> Written:
    return memory.remember(draft_from(text, title, **more), scope)  # type: ignore[arg-type]


def titles(memory: Memory, question: str = "", **more: object) -> list[str]:
    return [hit.title for hit in memory.recall(query_from(question, **more)).hits]  # type: ignore[arg-type]


def test_what_is_remembered_is_a_file_and_is_found_at_once(memory: Memory, vault: Path) -> None:
    done = keep(memory, "The gateway listens on port 8443.", "Gateway port", tags=["net"])

    assert done.status == "created"
    assert done.path == "projects/app/gateway-port.md"
    assert "The gateway listens on port 8443." in (vault / done.path).read_text(encoding="utf-8")
    assert titles(memory, "which port has the gateway") == ["Gateway port"]


def test_an_exact_repeat_writes_nothing(memory: Memory, vault: Path) -> None:
    first = keep(memory, "Use uv, not pip.")
    again = keep(memory, "  Use  uv,\n not pip. ")

    assert (again.status, again.id) == ("already known", first.id)
    assert len(list(vault.rglob("*.md"))) == 1


def test_near_notes_are_told_and_both_are_kept(memory: Memory) -> None:
    first = keep(memory, "Staging of the tariff engine runs on harbour-eu-3.", "Staging host")
    second = keep(
        memory, "Production of the tariff engine runs on harbour-eu-3.", "Production host"
    )

    assert second.status == "created"
    assert [near.id for near in second.near] == [first.id]


def test_the_same_text_in_two_scopes_is_two_notes(memory: Memory) -> None:
    assert keep(memory, "Answer in English.").scope == "app"
    assert keep(memory, "Answer in English.", scope="user").status == "created"


@pytest.mark.rule("MEM-1")
def test_titles_that_look_alike_never_share_a_file(memory: Memory, vault: Path) -> None:
    for title in ("🎉", "🚀", "???", "é" * 200 + "a", "é" * 200 + "b", "CON", "con"):
        keep(memory, f"About {title!r}.", title)

    notes = list(vault.rglob("*.md"))
    assert len(notes) == 7
    assert {memory.read(f"projects/app/{note.name}").note.title for note in notes} >= {
        "é" * 200 + "a",
        "é" * 200 + "b",
    }


@pytest.mark.parametrize("title", ["../../x", "/etc/passwd", "C:\\x", "~/x", "a%2f..%2fx"])
def test_no_title_leads_out_of_the_vault(memory: Memory, tmp_path: Path, title: str) -> None:
    done = keep(memory, "text", title)

    assert (tmp_path / "vault" / "projects" / "app").samefile(memory.store.locate(done.path).parent)


@pytest.mark.parametrize(
    "wanted", ["../x", "/etc/passwd", "~/x", "C:\\x", "user/../../x", "%2e%2e/x", "a\\..\\b"]
)
def test_no_id_leads_out_of_the_vault(memory: Memory, wanted: str) -> None:
    for use in (memory.read, memory.forget):
        with pytest.raises(UnsafePath):
            use(wanted)


def test_nothing_is_written_through_a_symbolic_link_out_of_the_vault(
    memory: Memory, vault: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault / "projects").mkdir(parents=True)
    (vault / "projects" / "evil").symlink_to(outside)

    with pytest.raises(UnsafePath):
        keep(memory, "text", scope="evil")

    assert not list(outside.iterdir())


@pytest.mark.parametrize("text", ["", "  \n ", "\0"])
def test_an_empty_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="empty"):
        draft_from(text)


def test_nul_and_lone_surrogates_are_taken_out_and_the_rest_is_found(memory: Memory) -> None:
    keep(memory, "before\0after \ud800 quartzfox", "Odd")

    assert titles(memory, "quartzfox") == ["Odd"]
    assert titles(memory, "after") == ["Odd"]


def test_a_question_may_be_anything(memory: Memory) -> None:
    keep(memory, 'Say "NEAR" (or) not.')

    for question in ['"', "NEAR(", "a AND", "-x", "*", "col:x", "\0", "\ud800", "x" * 5000]:
        memory.recall(query_from(question))


def test_an_edit_by_hand_is_in_the_next_recall(memory: Memory, vault: Path) -> None:
    done = keep(memory, "The gateway listens on port 8443.", "Gateway port")
    file = vault / done.path
    file.write_text(file.read_text(encoding="utf-8").replace("8443", "9553"), encoding="utf-8")

    hits = memory.recall(query_from("gateway port")).hits

    assert "9553" in hits[0].gist
    assert "9553" in memory.read(done.id).note.body


def test_a_note_deleted_by_hand_is_never_served(memory: Memory, vault: Path) -> None:
    done = keep(memory, "The gateway listens on port 8443.")
    (vault / done.path).unlink()

    assert titles(memory, "gateway") == []
    with pytest.raises(NoteNotFound):
        memory.read(done.id)


def test_what_changed_while_nothing_ran_is_taken_in(
    memory: Memory, open_another: Callable[[], Memory], vault: Path
) -> None:
    kept, dropped, moved = (
        keep(memory, f"About {name}.", name) for name in ("kiwi", "lime", "fig")
    )
    memory.close()
    (vault / dropped.path).unlink()
    (vault / moved.path).rename(vault / "user-figs.md")
    (vault / "projects/app/new.md").write_text("# Guava\n\nBy hand.\n", encoding="utf-8")
    later = open_another()

    done = later.catch_up()

    assert (done.changed, done.moved, done.gone) == (1, 1, 1)
    assert sorted(titles(later)) == ["Guava", "fig", "kiwi"]
    assert later.read(moved.id).note.path == "user-figs.md"
    assert not later.catch_up()
    assert later.read(kept.id)


def test_dropping_the_index_and_reading_again_gives_the_same_recall(memory: Memory) -> None:
    for number in range(20):
        keep(memory, f"Service {number} of the mesh speaks gRPC on port {7000 + number}.")
    questions = ["gRPC port", "service 7", "7013", "mesh"]
    before = [[hit.id for hit in memory.recall(query_from(q)).hits] for q in questions]

    memory.index.clear()
    memory.catch_up()

    assert [[hit.id for hit in memory.recall(query_from(q)).hits] for q in questions] == before


@pytest.mark.rule("MEM-21")
def test_revise_changes_the_passage_and_nothing_else(memory: Memory, vault: Path) -> None:
    done = keep(memory, "One fish.\n\nTwo fish.", "Fish")
    file = vault / done.path
    text = file.read_text(encoding="utf-8").replace("type: Fact", "type: Fact  # mine\nmood: ~")
    file.write_text(text, encoding="utf-8", newline="")
    etag = memory.read(done.id).etag

    memory.revise(done.id, etag, Edit(find="Two", replace="Red", keys={"importance": "4"}), "x/1")

    new = file.read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith(("generated", "Two"))]
    assert [line for line in new.splitlines() if line in kept] == kept
    assert "Red fish." in new
    assert 'importance: "4"' in new
    assert "by: x/1" in new.replace('"', "")
    assert titles(memory, "red") == ["Fish"]


@pytest.mark.fault("A-82")
@pytest.mark.rule("MEM-23")
def test_a_write_based_on_an_old_reading_is_refused(memory: Memory, vault: Path) -> None:
    done = keep(memory, "One fish.", "Fish")
    file = vault / done.path
    file.write_text(file.read_text(encoding="utf-8") + "\nBy hand.\n", encoding="utf-8")
    before = file.read_bytes()

    for edit in (Edit(text="new"), Edit(find="One", replace="Two"), Edit(keys={"a": "b"})):
        with pytest.raises(NoteChanged, match="has changed"):
            memory.revise(done.id, done.etag, edit)
    with pytest.raises(NoteChanged):
        settling.supersede(memory, done.id, done.etag, successor("new", {}))

    assert file.read_bytes() == before


def changing(memory: Memory, note_id: str, etag: str) -> dict[str, Callable[[], object]]:
    """Return the ways to change or remove a note that is there."""
    return {
        "revise": lambda: memory.revise(note_id, etag, Edit(text="Two fish.")),
        "tag": lambda: memory.revise(note_id, etag, Edit(keys={"tags": ["fish"]})),
        "supersede": lambda: settling.supersede(memory, note_id, etag, successor("Two fish.", {})),
        "retire": lambda: memory.forget(note_id, "retire"),
        "archive": lambda: memory.forget(note_id, "archive"),
    }


@pytest.mark.fault("A-82")
@pytest.mark.parametrize("verb", ["revise", "tag", "supersede", "retire", "archive"])
def test_what_a_person_saves_while_the_disk_takes_its_time_is_kept(
    verb: str, memory: Memory, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = keep(memory, "One fish.", "Fish")
    file, saved = vault / done.path, b"Saved by hand.\n"
    sync = os.fsync

    def slow(descriptor: int) -> None:
        file.write_bytes(saved)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    with pytest.raises(NoteChanged, match="has changed"):
        changing(memory, done.id, done.etag)[verb]()

    memory.catch_up()
    assert [path.read_bytes() for path in vault.rglob("*.md")] == [saved]
    assert not list(vault.rglob(".memorix-*"))
    assert [row.path for row in memory.list(Filter())] == [done.path]


def by_hand(file: Path) -> None:
    file.write_bytes(b"Saved by hand.\n")


def by_rename(file: Path) -> None:
    file.with_name("new").write_bytes(b"Saved by hand.\n")
    os.replace(file.with_name("new"), file)  # noqa: PTH105 - `Path.replace` is what is watched


def by_removal(file: Path) -> None:
    file.unlink()


@pytest.mark.fault("A-82")
@pytest.mark.parametrize("save", [by_hand, by_rename, by_removal])
def test_what_a_person_saves_right_after_a_write_is_kept_and_the_write_is_no_failure(
    save: Callable[[Path], None], memory: Memory, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def replaced(temporary: Path, file: Path) -> None:
        replace(temporary, file)
        if file.suffix == ".md":
            save(file)

    monkeypatch.setattr(Path, "replace", replaced)
    done = keep(memory, "One fish.", "Fish")
    memory.catch_up()

    left = [] if save is by_removal else ["Saved by hand."]
    assert done.status == "created"
    assert [file.read_text(encoding="utf-8").strip() for file in vault.rglob("*.md")] == left
    assert [hit.gist for hit in memory.recall(query_from("fish")).hits] == left


def test_a_disk_that_holds_something_else_than_was_written_is_told(
    memory: Memory, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def failing(temporary: Path, file: Path) -> None:
        stat = temporary.stat()
        temporary.write_bytes(temporary.read_bytes().replace(b"fish", b"f\0sh"))
        os.utime(temporary, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        replace(temporary, file)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(VaultUnavailable, match="does not hold what was just written"):
        keep(memory, "One fish.", "Fish")


def test_a_passage_that_is_not_there_or_there_twice_is_refused(memory: Memory) -> None:
    done = keep(memory, "fish and fish", "Fish")

    with pytest.raises(InvalidRequest, match="not in the note"):
        memory.revise(done.id, done.etag, Edit(find="bird"))
    with pytest.raises(InvalidRequest, match="2 times"):
        memory.revise(done.id, done.etag, Edit(find="fish"))


@pytest.mark.rule("MEM-22", "OKF-6")
def test_a_file_with_broken_metadata_is_found_and_never_rewritten(
    memory: Memory, vault: Path
) -> None:
    (vault / "user").mkdir(parents=True)
    file = vault / "user" / "odd.md"
    file.write_bytes(b"---\ntitle: Fix: the quartzfox\ntype: Gotcha\n---\n\nlarkspur\n")
    memory.catch_up()
    before = file.read_bytes()

    found = memory.recall(query_from("larkspur")).hits[0]
    with pytest.raises(NoteUneditable, match="was not changed"):
        memory.revise(found.id, memory.read(found.id).etag, Edit(keys={"tags": ["x"]}))

    assert (found.title, found.type) == ("Fix: the quartzfox", "Gotcha")
    assert memory.status().warnings[0][:3] == ("user/odd.md", "frontmatter-invalid", 2)
    assert file.read_bytes() == before


@pytest.mark.rule("MEM-9")
def test_a_superseded_note_leaves_recall_and_stays_readable(memory: Memory, vault: Path) -> None:
    old = keep(memory, "Backups run at 02:15.", "Backup time", tags=["ops"])
    new = settling.supersede(memory, old.id, old.etag, successor("Backups run at 04:40.", {}))

    assert [hit.id for hit in memory.recall(query_from("when do backups run")).hits] == [new.id]
    note = memory.read(old.id).note
    assert (note.status, note.superseded_by) == ("deprecated", new.id)
    assert note.valid_to
    assert memory.read(new.id).note.meta["supersedes"] == [old.id]
    assert "superseded_by [Backups run at 04:40]" in note.body
    assert memory.read(new.id).note.tags == ("ops",)


@pytest.mark.rule("MEM-8")
def test_what_was_in_force_is_found_as_of_a_date(memory: Memory, vault: Path) -> None:
    (vault / "user").mkdir(parents=True)
    for name, start, end in (("old", "2024-01-01", "2025-01-01"), ("new", "2025-01-01", "")):
        block = f"type: Fact\ntitle: {name}\nvalid_from: {start}T00:00:00Z\n"
        block += f"valid_to: {end}T00:00:00Z\nstatus: deprecated\n" if end else ""
        (vault / "user" / f"{name}.md").write_text(
            f"---\n{block}---\nThe port.\n", encoding="utf-8"
        )
    memory.catch_up()

    assert titles(memory, "port") == ["new"]
    assert titles(memory, "port", as_of="2024-06-01") == ["old"]
    assert titles(memory, "port", as_of="2025-06-01") == ["new"]
    assert titles(memory, "port", as_of="2023-06-01") == []


@pytest.mark.rule("MEM-26")
def test_retire_keeps_the_file_archive_moves_it_erase_leaves_nothing(
    memory: Memory, vault: Path, tmp_path: Path
) -> None:
    notes = [
        keep(memory, f"The {word} code is heron.", word) for word in ("kiwi", "lime", "quokka")
    ]

    for note, level in zip(notes, ("retire", "archive", "erase"), strict=True):
        assert memory.forget(note.id, level).done

    assert titles(memory, "heron") == []
    assert memory.read(notes[0].id).note.status == "deprecated"
    assert (vault / "archive" / notes[1].path).is_file()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if b"quokka" in path.read_bytes()]


def test_a_dry_run_of_forget_changes_nothing(memory: Memory, vault: Path) -> None:
    done = keep(memory, "The code is heron.")

    plan = memory.forget(done.id, "erase", dry_run=True)

    assert not plan.done
    assert plan.steps
    assert (vault / done.path).is_file()
    assert len(titles(memory, "heron")) == 1


@pytest.mark.fault("A-80")
def test_an_unknown_id_is_refused_with_near_ones_and_never_guessed(memory: Memory) -> None:
    done = keep(memory, "The gateway.", "Gateway port")

    for wanted in (
        done.id[:12],
        done.id.lower(),
        "gateway-port",
        "Gateway port",
        "projects/app/gate",
    ):
        for use in (memory.read, memory.forget):
            with pytest.raises(NoteNotFound):
                use(wanted)
        with pytest.raises(NoteNotFound):
            memory.revise(wanted, done.etag, Edit(text="x"))
    with pytest.raises(NoteNotFound) as caught:
        memory.forget("Gateway")

    assert caught.value.near == ((done.id, "Gateway port"),)
    assert memory.read(done.id).note.status == "stable"


@pytest.mark.rule("MEM-28")
def test_nothing_of_another_project_is_returned_unless_named(memory: Memory, vault: Path) -> None:
    other = vault / "projects" / "other"
    other.mkdir(parents=True)
    (other / "n.md").write_text("The port is 1.", encoding="utf-8")
    memory.catch_up()
    keep(memory, "The port is 2.", "Mine")
    keep(memory, "The port is 3.", "Ours", scope="user")

    assert sorted(titles(memory, "port")) == ["Mine", "Ours"]
    assert titles(memory, "port", scope="other") == ["N"]
    assert len(titles(memory, "port", scope="all")) == 3
    assert memory.recall(query_from("port")).scopes == ("app", "user")
    with pytest.raises(InvalidRequest, match="no scope"):
        titles(memory, "port", scope="nowhere")


def test_recall_filters_by_type_tag_and_date(memory: Memory) -> None:
    keep(memory, "Port one.", "A", type="decision", tags="net, x")
    keep(memory, "Port two.", "B", type="Gotcha", tags="net")

    assert titles(memory, "port", type="gotcha") == ["B"]
    assert titles(memory, "port", tags=["x"]) == ["A"]
    assert len(titles(memory, "port", tags="net", since="2020-01-01")) == 2
    assert titles(memory, "port", until="2020-01-01") == []


def test_pages_follow_each_other_without_gap_or_repeat(memory: Memory) -> None:
    for number in range(25):
        keep(memory, f"Lantern {number} is lit.", f"Lantern {number}")
    seen: list[str] = []
    cursor = ""
    while True:
        answer = memory.recall(query_from("lantern", 7, cursor=cursor))
        seen += [hit.id for hit in answer.hits]
        if not answer.truncated:
            break
        cursor = answer.next_cursor

    assert len(seen) == len(set(seen)) == 25 == answer.total


def test_an_answer_keeps_to_its_budget_and_says_so(memory: Memory) -> None:
    for number in range(20):
        keep(memory, f"Lantern {number} hangs in the north hall beside the old clock.")

    answer = memory.recall(query_from("lantern", 20, max_tokens=200))

    assert 1 <= len(answer.hits) < 6
    assert answer.truncated


def test_recall_is_silent_when_nothing_fits_and_says_which_words_are_unknown(
    memory: Memory,
) -> None:
    keep(memory, "The gateway listens on port 8443.")

    answer = memory.recall(query_from("sourdough hydration"))

    assert not answer.hits
    assert "sourdough" in answer.silent


def test_the_brief_names_what_binds_first_and_keeps_to_its_budget(memory: Memory) -> None:
    for number in range(30):
        keep(memory, f"Fact {number} about the harbour and its many lamps.", f"Fact {number}")
    keep(memory, "Answer briefly.", "Style", type="Preference", scope="user")

    brief = memory.brief(max_tokens=200)

    assert brief.text.splitlines()[1].startswith("- Preference")
    assert brief.total == 31
    assert brief.truncated
    assert brief.text == memory.brief(max_tokens=200).text


def test_a_missing_vault_is_reported_and_its_index_is_kept(
    memory: Memory, vault: Path, tmp_path: Path
) -> None:
    keep(memory, "The gateway.")
    vault.rename(tmp_path / "away")

    with pytest.raises(VaultUnavailable):
        memory.catch_up()
    with pytest.raises(VaultUnavailable):
        titles(memory, "gateway")
    with pytest.raises(VaultUnavailable, match="missing"):
        keep(memory, "Another.")

    assert not vault.exists()
    (tmp_path / "away").rename(vault)
    assert titles(memory, "gateway") == ["The gateway"]


def test_a_vault_that_cannot_be_written_is_told(memory: Memory, vault: Path) -> None:
    keep(memory, "The gateway.")
    (vault / "user").write_text("a file where the folder should be", encoding="utf-8")

    with pytest.raises(VaultUnavailable, match="was not written"):
        keep(memory, "Another.", scope="user")


def test_a_state_folder_that_cannot_be_made_is_told(
    settings: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(IndexUnavailable, match="cannot be used"):
        open_memory(load({}, settings | {"MEMORIX_STATE_DIR": str(tmp_path / "file" / "state")}))


def test_a_sudden_loss_of_most_notes_asks_before_it_is_believed(
    memory: Memory, vault: Path
) -> None:
    for number in range(12):
        keep(memory, f"Note {number}.")
    for file in list(vault.rglob("*.md"))[:10]:
        file.unlink()

    with pytest.raises(VaultUnavailable, match="accept-loss"):
        memory.catch_up()

    assert memory.catch_up(accept_loss=True).gone == 10


@pytest.mark.rule("OKF-4", "MEM-24")
def test_every_hard_note_is_indexed_and_none_is_touched(
    memory: Memory, vault: Path, hard_notes: Path
) -> None:
    manifest = json.loads((hard_notes / "manifest.json").read_text(encoding="utf-8"))
    folder = vault / "user"
    folder.mkdir(parents=True)
    before = {}
    for file in hard_notes.glob("*.md"):
        before[file.name] = file.read_bytes()
        (folder / file.name).write_bytes(before[file.name])

    memory.catch_up()

    indexed = {path.removeprefix("user/") for path in memory.index.listing()}
    must = {entry["file"] for entry in manifest["files"] if entry["must_be_indexed"]}
    assert must <= indexed
    assert {file.name: file.read_bytes() for file in folder.glob("*.md")} == before


def test_a_model_joins_later_and_another_takes_its_place(memory: Memory) -> None:
    done = keep(memory, "lantern lantern lantern", "Lantern")
    first, second = HashingEmbedder("first"), HashingEmbedder("second")

    memory.use_model(first)
    made = memory.embed_pending()
    by_first = memory.recall(query_from("lantern")).hits[0].why.meaning
    memory.use_model(second)
    before = memory.recall(query_from("lantern")).hits[0].why.meaning
    again = memory.embed_pending()
    after = memory.recall(query_from("lantern")).hits[0].why.meaning

    assert (made, again) == (1, 1)
    assert by_first == after == pytest.approx(1.0, abs=0.01)
    assert before is None
    assert memory.remember(draft_from("lantern lantern lantern")).vector == "yes"
    assert done.vector == "off"


def test_a_question_in_a_language_the_model_lacks_is_answered_by_words(memory: Memory) -> None:
    keep(memory, "网关的端口是八四四三。", "网关端口")
    memory.use_model(HashingEmbedder("english", frozenset({"en"})))
    memory.embed_pending()

    answer = memory.recall(query_from("网关端口"))

    assert [hit.title for hit in answer.hits] == ["网关端口"]
    assert answer.hits[0].why.meaning is None
    assert "does not know this language (zh)" in answer.meaning


@pytest.mark.rule("MEM-2")
def test_two_copies_of_one_note_are_both_kept_and_the_second_is_told(
    memory: Memory, vault: Path
) -> None:
    done = keep(memory, "The gateway.")
    (vault / "projects/app/copy.md").write_bytes((vault / done.path).read_bytes())

    memory.catch_up()

    assert len(memory.list(Filter())) == 2
    assert "1 more say the same" in memory.recall(query_from("gateway")).hits[0].why.notes
    assert [warning[1] for warning in memory.status().warnings] == ["duplicate-id"]


def test_the_vault_behind_a_symbolic_link_is_the_same_vault(
    memory: Memory, config: Config, tmp_path: Path, settings: dict[str, str]
) -> None:
    keep(memory, "The gateway.")
    (tmp_path / "link").symlink_to(config.vault)

    assert load({}, settings | {"MEMORIX_VAULT": str(tmp_path / "link")}).vault == config.vault


def test_a_new_note_has_no_vector_yet_and_a_text_that_was_there_has_its_own(
    memory: Memory,
) -> None:
    memory.use_model(HashingEmbedder())

    first = keep(memory, "The heron is back.", "Heron")
    memory.embed_pending()
    memory.forget(first.id, "archive")
    again = keep(memory, "The heron is back.", "Heron")

    assert (first.vector, again.vector) == ("pending", "yes")


def test_a_write_passes_over_a_note_that_another_takes_away_meanwhile(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = keep(memory, "The gateway listens on port 8443 since March.", "Gateway port")
    owners = memory.index.owners

    def owners_before_it_goes(*asked: Any) -> Any:
        found = owners(*asked)
        memory.index.apply([Drop(old.path)])
        return found

    monkeypatch.setattr(memory.index, "owners", owners_before_it_goes)
    done = keep(memory, "The gateway listens on port 9443 since May.", "Gateway port of May")

    assert (done.status, done.near) == ("created", ())


def test_a_note_that_was_just_saved_is_read_by_its_path_before_any_event(
    memory: Memory, vault: Path
) -> None:
    memory.remember(draft_from("The lamp is green.", "Lamp"))
    for folder in ("projects/app/hand", "archive/user", "projects/app/.trash"):
        (vault / folder).mkdir(parents=True)
        (vault / folder / "tls.md").write_text("# TLS\n\nOnly 1.3.\n", encoding="utf-8")

    assert memory.find("projects/app/hand/tls").path == "projects/app/hand/tls.md"
    assert memory.read("projects/app/hand/tls.md").note.title == "TLS"
    (vault / "projects/app/folder.md").mkdir()
    for gone in ("projects/app/hand/ssl.md", "archive/user/tls.md", "projects/app/folder.md"):
        with pytest.raises(NoteNotFound):
            memory.read(gone)
    assert [hit.title for hit in memory.recall(query_from("TLS 1.3")).hits] == ["TLS"]
