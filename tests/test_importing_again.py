"""A later import of a bundle: what changed there comes, what was edited here stays."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memorix import exporting, intake, moving, settling, transfer
from memorix.arguments import revision_from
from memorix.config import load
from memorix.exchange.reading import read
from memorix.exporters import jsonl, okf
from memorix.lifecycle import Draft, Edit
from memorix.memory import Memory
from memorix.query import Filter
from memorix.results import Taken
from memorix.wiring import open_memory

Carry = Callable[..., dict[str, int]]


@pytest.fixture
def here(settings: dict[str, str], tmp_path: Path) -> Iterator[Memory]:
    """The memory of another machine, into which what is exported is taken."""
    own = {"MEMORIX_VAULT": str(tmp_path / "here"), "MEMORIX_STATE_DIR": str(tmp_path / "s2")}
    opened = open_memory(load({}, settings | own))
    yield opened
    opened.close()


@pytest.fixture
def carry(memory: Memory, tmp_path: Path, here: Memory) -> Carry:
    """Export all, import that on the other machine, and count what became of it."""

    def carried(target: str = "all.jsonl", *, trusted: bool = False, **how: bool) -> dict[str, int]:
        exporter = jsonl if target.endswith("jsonl") else okf
        place = tmp_path / target
        exporting.export(memory, exporter, place, Filter(scopes=("user",)), overwrite=True)
        here.catch_up()
        done = taken(here, place, trusted=trusted, **how)
        return dict(Counter(one.status for one in done if one.path.endswith(("gate.md", "p.md"))))

    return carried


def taken(here: Memory, source: Path, *, trusted: bool = False, **how: bool) -> list[Taken]:
    found = read(source)
    root = "" if intake.is_vault(found.files) else "user"
    files = intake.incoming(found.each(), root, found.name, trusted=trusted)
    return list(transfer.take_in(here, files, **how))


@pytest.fixture
def gate(memory: Memory, vault: Path) -> Path:
    for title, text in (("Gate", "The gate closes at 4.0 m."), ("P", "It starts at 3.1 m.")):
        memory.remember(Draft(text, title=title), "user")
    return vault / "user" / "gate.md"


def change(memory: Memory, old: str, new: str, path: str = "user/gate.md") -> None:
    memory.catch_up()
    memory.revise(path, memory.read(path).etag, Edit(find=old, replace=new))


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize("target", ["all.jsonl", "bundle", "bundle.zip", "bundle.tar.gz"])
def test_what_changed_there_comes_and_twice_changes_nothing(
    memory: Memory, here: Memory, carry: Carry, gate: Path, target: str, trusted: bool
) -> None:
    first = carry(target, trusted=trusted)
    change(memory, "4.0 m", "4.2 m")
    planned = carry(target, trusted=trusted, dry_run=True)
    second = carry(target, trusted=trusted)

    assert first == {"new": 2}
    assert planned == second == {"changed": 1, "known": 1}
    assert carry(target, trusted=trusted) == {"known": 2}
    assert (here.store.vault / "user/gate.md").read_bytes() == gate.read_bytes()


def test_what_was_edited_here_stays_whatever_comes(
    memory: Memory, here: Memory, carry: Carry, gate: Path, tmp_path: Path
) -> None:
    carry()
    change(here, "4.0 m", "4.1 m")

    assert carry() == {"known": 2}
    change(memory, "4.0 m", "4.2 m")
    assert carry() == {"conflicting": 1, "known": 1}
    assert "4.1 m" in here.read("user/gate.md").note.body
    (told,) = [one for one in taken(here, tmp_path / "all.jsonl") if one.status == "conflicting"]
    assert told.reason == "it changed there and was edited here; the note that is here stays"
    assert carry(replace=True) == {"changed": 1, "known": 1}
    assert (here.store.vault / "user/gate.md").read_bytes() == gate.read_bytes()


def test_keys_that_were_set_here_stay_when_the_text_comes(
    memory: Memory, here: Memory, carry: Carry, gate: Path
) -> None:
    carry()
    etag = here.read("user/gate.md").etag
    checked = revision_from(set={"importance": "high"}, verify=True)
    settling.revise(here, "user/gate.md", etag, checked, "human:ann")
    change(memory, "4.0 m", "4.2 m")

    assert carry() == {"changed": 1, "known": 1}
    note = here.read("user/gate.md").note
    assert "4.2 m" in note.body
    assert note.meta["importance"] == "high"
    assert note.meta["verified"]


def test_a_note_that_was_moved_here_is_brought_up_where_it_is(
    memory: Memory, here: Memory, carry: Carry, gate: Path
) -> None:
    carry()
    moving.move(here, "user/gate.md", "user/harbour/gate.md")

    assert carry() == {"known": 2}
    change(memory, "4.0 m", "4.2 m")
    assert carry() == {"changed": 1, "known": 1}
    assert (here.store.vault / "user/harbour/gate.md").read_bytes() == gate.read_bytes()
    assert not (here.store.vault / "user/gate.md").exists()


def test_a_bundle_of_another_name_with_the_same_notes_changes_nothing(
    memory: Memory, here: Memory, tmp_path: Path
) -> None:
    for name in ("bundle-november", "bundle-december"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "gate.md").write_text("# Gate\n\nAt 4.0 m.\n", encoding="utf-8")

    first = taken(here, tmp_path / "bundle-november")
    second = taken(here, tmp_path / "bundle-december")

    assert [(one.status, one.path) for one in first] == [("new", "user/gate.md")]
    assert [one.status for one in second] == ["known"]
    assert here.read("user/gate.md").note.meta["imported_from"] == "bundle-november"


def test_what_came_before_anything_was_noted_stays_until_it_is_to_be_replaced(
    memory: Memory, here: Memory, carry: Carry, gate: Path
) -> None:
    carry()
    (here.store.vault / "user/.memorix/imported").unlink()
    change(memory, "4.0 m", "4.2 m")

    assert carry() == {"conflicting": 1, "known": 1}
    assert carry(replace=True) == {"changed": 1, "known": 1}


def test_what_is_noted_of_an_import_holds_no_word_of_a_note(
    here: Memory, carry: Carry, gate: Path
) -> None:
    carry()

    noted = (here.store.vault / "user/.memorix/imported").read_text(encoding="utf-8")
    lines = [line for line in noted.splitlines() if not line.startswith("#")]
    assert len(lines) == 2
    assert all(set(line) <= set("0123456789abcdef ") for line in lines)


def test_the_command_tells_of_each_file_what_became_of_it(
    memorix: Callable[..., str], memory: Memory, gate: Path, tmp_path: Path
) -> None:
    own = {"MEMORIX_VAULT": str(tmp_path / "here"), "MEMORIX_STATE_DIR": str(tmp_path / "s2")}
    file = str(tmp_path / "all.jsonl")
    memorix("export", file)
    memorix("import", file, **own)
    change(memory, "4.0 m", "4.2 m")
    memorix("export", file, "--overwrite")

    told = json.loads(memorix("import", file, "--dry-run", "--json", **own))

    assert told["counts"] == {"changed": 1, "known": 1}
    assert not told["done"]
