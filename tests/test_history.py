"""Undo, redo and the versions of notes, through the memory and the command line."""

import os
import stat
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memorix import batches, history, moving, settling, transfer
from memorix.arguments import query_from
from memorix.config import Config, load
from memorix.errors import InvalidRequest, NoteNotFound, UndoRefused
from memorix.intake import Incoming
from memorix.lifecycle import Edit, by, draft_from, successor
from memorix.memory import Memory
from memorix.wiring import open_memory
from tests.stress.crashes import prepared
from tests.stress.dying import VERBS
from tests.test_processes import WRITER, run

AGENT = "claude-code/2.1"


def contents(vault: Path) -> dict[str, bytes]:
    return {str(p.relative_to(vault)): p.read_bytes() for p in sorted(vault.rglob("*.md"))}


def keep(memory: Memory, text: str, title: str = "", scope: str = "") -> str:
    return memory.remember(by(draft_from(text, title), AGENT), scope).id


def etag(memory: Memory, note: str) -> str:
    return memory.read(note).etag


def revise(memory: Memory, note: str, find: str, new: str) -> None:
    memory.revise(note, etag(memory, note), Edit(find=find, replace=new), AGENT)


def supersede(memory: Memory, note: str, text: str) -> str:
    draft = by(successor(text, {}), AGENT)
    return settling.supersede(memory, note, etag(memory, note), draft).id


def with_another(memory: Memory, note: str, settle: Callable[[str], object]) -> None:
    """Settle a note with the first of all others, if there is one."""
    own = memory.read(note).note.id
    rows = memory.list(replace(query_from().filter, scopes=("all",), everything=True))
    others = sorted(row.id for row in rows if row.id != own)
    if others:
        settle(others[0])


def merge(memory: Memory, note: str, other: str) -> None:
    pairs = [(name, etag(memory, name)) for name in (note, other)]
    settling.combine(memory, pairs, by(successor("Lamp and door.", {}), AGENT))


def take_in(memory: Memory, files: dict[str, bytes], *, replace: bool = True) -> None:
    list(transfer.take_in(memory, [Incoming(*f) for f in files.items()], replace=replace))


MANY = {f"user/imported/{n}.md": f"# Crate {n}\n\nCrate {n}.\n".encode() for n in range(230)}
WRITES: dict[str, Callable[[Memory, str], object]] = {
    "remember": lambda memory, note: keep(memory, "A second lamp is blue."),
    "revise": lambda memory, note: revise(memory, note, "green", "red"),
    "keys": lambda memory, note: memory.revise(
        note, etag(memory, note), Edit(keys={"title": "Other", "tags": ["a"]})
    ),
    "supersede": lambda memory, note: supersede(memory, note, "The lamp is off."),
    "merge": lambda memory, note: with_another(memory, note, lambda o: merge(memory, note, o)),
    "contest": lambda memory, note: with_another(
        memory, note, lambda o: settling.contest(memory, note, etag(memory, note), [o], AGENT)
    ),
    "retire": lambda memory, note: memory.forget(note, author=AGENT),
    "archive": lambda memory, note: memory.forget(note, "archive"),
    "mv": lambda memory, note: moving.move(memory, note, "projects/app/deep/er.md", links=True),
    "import": lambda memory, note: take_in(
        memory, {**MANY, memory.read(note).note.path: b"Another lamp.\n"}
    ),
    "index": lambda memory, note: transfer.write_indexes(memory, "app"),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_each_kind_of_write_is_undone_and_redone_by_one_command(
    write: Callable[[Memory, str], object], memory: Memory, vault: Path
) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    keep(memory, f"It hangs by [the lamp]({Path(memory.read(note).note.path).name}).", "Door")
    before = contents(vault)
    write(memory, note)
    after = contents(vault)

    (undone,) = history.undo(memory)
    taken_back = contents(vault)
    history.undo(memory, undone.id)

    assert after != before
    assert taken_back == before
    assert contents(vault) == after
    assert not memory.catch_up()


def test_recall_follows_an_undo(memory: Memory) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    revise(memory, note, "green", "purple")

    history.undo(memory, note)

    assert memory.recall(query_from("purple")).hits == []
    assert "green" in memory.recall(query_from("green lamp")).hits[0].gist
    history.undo(memory, note)
    assert memory.recall(query_from("green lamp")).hits == []


def test_undo_walks_back_change_by_change_and_several_at_once(memory: Memory, vault: Path) -> None:
    states = [contents(vault)]
    note = keep(memory, "One.", "Count")
    for number, word in enumerate(("Two", "Three", "Four")):
        states.append(contents(vault))
        revise(memory, note, ("One", "Two", "Three")[number], word)

    history.undo(memory)
    assert contents(vault) == states[3]
    history.undo(memory)
    assert contents(vault) == states[2]
    done = history.undo(memory, last=2)

    assert contents(vault) == states[0]
    assert [one.change.what for one in done] == ["revise", "remember"]
    with pytest.raises(UndoRefused, match="nothing to undo"):
        history.undo(memory)


def test_an_older_change_is_undone_where_nothing_came_after_it(memory: Memory, vault: Path) -> None:
    first, second = keep(memory, "The lamp is green."), keep(memory, "The door is red.")
    before = contents(vault)
    revise(memory, first, "green", "blue")
    changed = history.changes(memory, 1)[0].change.id
    revise(memory, second, "red", "brown")

    history.undo(memory, changed)

    assert contents(vault)[memory.read(first).note.path] == before[memory.read(first).note.path]
    assert "brown" in memory.read(second).note.body


@pytest.mark.fault("A-82")
def test_what_a_person_changed_since_is_not_undone_and_the_refusal_shows_the_way(
    memory: Memory, vault: Path
) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    revise(memory, note, "green", "red")
    file = vault / memory.read(note).note.path
    file.write_bytes(file.read_bytes() + b"And it hums.\n")
    before = contents(vault)

    with pytest.raises(UndoRefused, match="changed by hand") as refusal:
        history.undo(memory, note)

    assert contents(vault) == before
    assert f"memorix history {memory.read(note).note.path} --diff" in str(refusal.value)


def test_a_change_under_a_later_one_is_refused_by_name(memory: Memory, vault: Path) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    first = history.changes(memory, 1)[0].change.id
    revise(memory, note, "green", "red")
    later = history.changes(memory, 1)[0].change.id
    before = contents(vault)

    with pytest.raises(UndoRefused, match=f"memorix undo {later}"):
        history.undo(memory, first)

    assert contents(vault) == before


def test_several_are_undone_all_or_none(memory: Memory, vault: Path) -> None:
    edited = keep(memory, "The lamp is green.")
    keep(memory, "The door is red.")
    file = vault / memory.read(edited).note.path
    file.write_bytes(file.read_bytes() + b"By hand.\n")
    before = contents(vault)

    with pytest.raises(UndoRefused):
        history.undo(memory, last=2)

    assert contents(vault) == before


def test_what_a_person_wrote_before_a_write_comes_back_with_its_undoing(
    memory: Memory, vault: Path
) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    file = vault / memory.read(note).note.path
    file.write_bytes(file.read_bytes().replace(b"green", b"teal") + b"\r\n  odd \t\n")
    by_hand = file.read_bytes()
    revise(memory, note, "teal", "red")

    history.undo(memory)

    assert file.read_bytes() == by_hand


def test_a_dry_run_says_what_would_be_done(memory: Memory, vault: Path) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    memory.forget(note, "archive")
    before = contents(vault)

    (planned,) = history.undo(memory, dry_run=True)

    assert planned.steps == ("move archive/projects/app/lamp.md back to projects/app/lamp.md",)
    assert planned.id == ""
    assert contents(vault) == before
    assert history.changes(memory, 1)[0].change.what == "archive"


@pytest.mark.fault("A-80")
def test_a_name_that_is_nearly_one_undoes_nothing(memory: Memory, vault: Path) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    change = history.changes(memory, 1)[0].change.id
    before = contents(vault)

    for wanted in (note[:-1], change[:-2], note.lower(), "Lamp", "lamp"):
        with pytest.raises(NoteNotFound):
            history.undo(memory, wanted)

    assert contents(vault) == before


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_moving_archiving_and_their_undoing_keep_the_permissions_of_a_file(
    memory: Memory, vault: Path
) -> None:
    note = keep(memory, "The door code is 7.", "Code")
    path = memory.read(note).note.path
    (vault / path).chmod(0o600)

    memory.forget(note, "archive")
    archived = (vault / "archive" / path).stat().st_mode
    history.undo(memory)
    moving.move(memory, note, "projects/app/deep/")
    history.undo(memory)

    assert stat.S_IMODE(archived) == 0o600
    assert stat.S_IMODE((vault / path).stat().st_mode) == 0o600
    assert stat.S_IMODE(memory.journal.path.stat().st_mode) == 0o600


# -- versions


def test_the_history_of_a_note_tells_who_wrote_which_version_also_by_hand(
    memory: Memory, vault: Path
) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    revise(memory, note, "green", "red")
    file = vault / memory.read(note).note.path
    file.write_bytes(file.read_bytes().replace(b"red", b"blue"))
    moving.move(memory, note, "projects/app/deep/")
    revise(memory, note, "blue", "black")
    memory.forget(note, "archive", author="human:dana")

    told = history.versions_of(memory, note)

    assert [(v.who, v.what) for v in told] == [
        (AGENT, "remember"),
        (AGENT, "revise"),
        ("", "edited by hand"),
        ("memorix/0.1.0", "mv"),
        (AGENT, "revise"),
        ("human:dana", "archive"),
    ]
    texts = [(history.text_of(memory, v) or b"").decode() for v in told]
    said = [next(w for w in ("green", "red", "blue", "black") if w in text) for text in texts[:5]]
    assert said == ["green", "red", "blue", "blue", "black"]
    assert texts[5] == texts[4]
    assert told[-1].path == "archive/projects/app/deep/lamp.md"


def test_the_differences_of_versions_are_told_line_by_line(memory: Memory) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    revise(memory, note, "green", "red")

    first, second = history.differences(memory, history.versions_of(memory, note))

    assert "+The lamp is green.\n" in first
    assert "-The lamp is green.\n" in second
    assert "+The lamp is red.\n" in second


def test_one_version_is_brought_back_and_that_can_be_undone(memory: Memory, vault: Path) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    first = contents(vault)
    old = etag(memory, note)
    for before, after in (("green", "red"), ("red", "blue")):
        revise(memory, note, before, after)
    third = contents(vault)

    history.bring_back(memory, note, old[:11])
    brought = contents(vault)
    history.undo(memory)

    assert brought == first
    assert contents(vault) == third
    for mark in ("", "b2-", old[:5], "zzzzzzzz"):
        with pytest.raises(InvalidRequest, match="Nothing was changed"):
            history.bring_back(memory, note, mark)


def test_a_note_that_is_gone_still_has_its_history_and_comes_back(
    memory: Memory, vault: Path
) -> None:
    note = keep(memory, "The lamp is green.", "Lamp")
    path = memory.read(note).note.path
    content = (vault / path).read_bytes()
    (vault / path).unlink()
    memory.catch_up()

    (version,) = history.versions_of(memory, note)
    history.bring_back(memory, path, version.etag)

    assert (vault / path).read_bytes() == content
    assert memory.read(note).note.path == path


def test_a_note_without_an_id_of_its_own_is_followed_where_it_goes(
    memory: Memory, vault: Path
) -> None:
    (vault / "user").mkdir(parents=True)
    (vault / "user/plain.md").write_bytes(b"# Plain\n\nA plain word.\n")
    memory.catch_up()
    moving.move(memory, "user/plain.md", "user/deep/plain.md")
    revise(memory, "user/deep/plain", "word", "line")

    told = history.versions_of(memory, "user/deep/plain")

    assert [v.what for v in told] == ["found", "mv", "revise"]
    history.undo(memory, last=2)
    assert contents(vault) == {"user/plain.md": b"# Plain\n\nA plain word.\n"}


# -- the journal


def test_processes_that_write_at_once_lose_no_change(
    settings: dict[str, str], open_another: Callable[[], Memory]
) -> None:
    writers = [run(WRITER, settings, str(number), "15") for number in range(4)]
    results = [writer.communicate(timeout=90) for writer in writers]

    told = history.changes(open_another(), 100)

    assert [error for _, error in results if error] == []
    assert len(told) == 60
    assert {one.change.what for one in told} == {"remember"}
    assert len({path for one in told for path in one.paths}) == 60


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.parametrize("verb", sorted(VERBS.keys() - {"erase"}))
def test_whichever_call_a_writer_died_at_its_change_can_be_undone(
    verb: str, tmp_path: Path
) -> None:
    undone = 0
    with prepared(tmp_path / "crashes") as crashes:
        for number in range(1, 60):
            left = crashes.run(verb, dies_at=number)
            memory = open_memory(load({}, left.settings))
            memory.catch_up()
            if left.files() != left.before:
                history.undo(memory)
                undone += 1

            assert left.files() == left.before, f"killed at call {number}"
            assert not memory.catch_up()
            memory.close()
            if left.status == 0:
                break

    assert left.status == 0
    assert undone >= 2


def test_a_line_that_a_crash_cut_off_costs_no_other(memory: Memory, vault: Path) -> None:
    first = keep(memory, "The lamp is green.", "Lamp")
    for torn in (b'{"change": "01', b"\0\0\0", b"b2-00 eJ"):
        with memory.journal.path.open("ab") as file:
            file.write(torn)
        memory.revise(first, etag(memory, first), Edit(keys={"mood": torn.hex()}))
        keep(memory, f"Beside {torn!r}.", f"Beside {len(torn)}")

    assert len(history.undo(memory, last=9)) == 7
    assert contents(vault) == {}


def test_the_journal_keeps_to_its_size_and_drops_whole_old_changes(
    settings: dict[str, str], tmp_path: Path
) -> None:
    memory = open_memory(load({}, {**settings, "MEMORIX_JOURNAL_MB": "1"}))
    note = keep(memory, "start", "Long")
    path = memory.read(note).note.path
    for _ in range(60):
        noise = os.urandom(30_000).hex().encode()
        with memory.writing("revise"):
            memory.store.write(path, noise, etag(memory, path))

    told = history.changes(memory, 1000)
    size = memory.journal.path.stat().st_size

    assert size <= 1_000_000
    assert 5 <= len(told) < 60
    assert all(history.text_of(memory, v) for v in history.versions_of(memory, path)[-10:])
    assert len(history.undo(memory, last=5)) == 5
    memory.close()


def test_what_is_older_than_the_days_allowed_is_dropped(
    memory: Memory, vault: Path, config: Config
) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    for days in (0, 1, 80, 95):
        memory.clock = lambda days=days: start + timedelta(days=days)  # type: ignore[misc]
        keep(memory, f"Day {days}.")

    told = [t.change.at[:10] for t in history.changes(memory, 10)]

    assert config.journal_days == 90
    assert told == ["2026-04-06", "2026-03-22"]


def test_a_large_import_does_not_push_out_what_could_not_be_had_again(
    settings: dict[str, str], vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MOST", 2)  # notes: an import of many batches is one change
    memory = open_memory(load({}, {**settings, "MEMORIX_JOURNAL_MB": "1"}))
    note = keep(memory, "The lamp is green.", "Lamp")
    revise(memory, note, "green", "red")
    take_in(memory, {f"user/in/{n}.md": os.urandom(20_000).hex().encode() for n in range(60)})

    history.undo(memory, note)

    assert "green" in memory.read(note).note.body
    history.undo(memory)
    assert list(contents(vault)) == [memory.read(note).note.path]
    memory.close()


def test_without_days_nothing_is_kept(settings: dict[str, str]) -> None:
    memory = open_memory(load({}, {**settings, "MEMORIX_JOURNAL_DAYS": "0"}))
    note = keep(memory, "The lamp is green.", "Lamp")

    with pytest.raises(UndoRefused):
        history.undo(memory, note)
    memory.close()

    assert not memory.journal.path.exists()


def test_a_change_to_another_copy_of_the_repository_is_not_undone_here(
    settings: dict[str, str], tmp_path: Path
) -> None:
    for name in ("app", "copy"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / ".memorix.toml").write_text(
            'id = "01ARZ3NDEKTSV4RRFFQ69G5FAV"\nproject = "app"\nbundle = "memory"\n',
            encoding="utf-8",
        )
    here = open_memory(load({}, settings))
    there = open_memory(load({}, {**settings, "MEMORIX_PROJECT_DIR": str(tmp_path / "copy")}))
    keep(here, "The lamp is green.", "Lamp")

    with pytest.raises(UndoRefused, match="undo it there"):
        history.undo(there)
    history.undo(here)
    for memory in (here, there):
        memory.close()

    assert contents(tmp_path / "app") == {}


# -- any sequence

STEPS = st.lists(
    st.tuples(st.sampled_from([*WRITES, "remember in user"]), st.integers(0, 50)),
    max_size=8,
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_after_any_writes_undoing_all_gives_the_bytes_there_were(
    steps: list[tuple[str, int]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "app").mkdir()
        names = {"VAULT": "vault", "STATE_DIR": "state", "PROJECT_DIR": "app"}
        places = {f"MEMORIX_{key}": str(root / name) for key, name in names.items()}
        memory = open_memory(load({}, {**places, "MEMORIX_MODEL": "none"}))
        (root / "vault/user").mkdir(parents=True)
        (root / "vault/user/old.md").write_bytes(b"\xef\xbb\xbf# Old\r\n\r\nThe lamp is green.\r\n")
        memory.catch_up()
        before = contents(root / "vault")
        for kind, number in steps:
            write(memory, root / "vault", kind, number)

        while True:
            try:
                history.undo(memory)
            except UndoRefused:
                break
        left = history.changes(memory, 100)
        memory.close()

        assert all(told.undone or told.change.undoes for told in left)
        assert contents(root / "vault") == before


def write(memory: Memory, vault: Path, kind: str, number: int) -> None:
    """Make one write on one of the notes, if that can be done to it now."""
    rows = memory.list(replace(query_from().filter, scopes=("all",), everything=True))
    row = sorted(rows, key=lambda r: r.path)[number % len(rows)] if rows else None
    try:
        if kind == "remember in user":
            keep(memory, f"Fact {number}.", f"Fact {number}", "user")
        elif row and kind in WRITES:
            WRITES[kind](memory, row.path)
    except InvalidRequest:  # such as a passage that an earlier write has replaced
        return
