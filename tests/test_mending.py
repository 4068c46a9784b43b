"""What is broken beside the notes: a damaged index, odd files, a folder that is left out."""

import json
import os
import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import apsw
import pytest

from memorix import doctor
from memorix.arguments import query_from
from memorix.config import Config
from memorix.lifecycle import Edit, draft_from
from memorix.memory import Memory
from memorix.results import Written


def keep(memory: Memory, text: str) -> Written:
    return memory.remember(draft_from(text))


def found(memory: Memory, question: str) -> list[str]:
    return [hit.title for hit in memory.recall(query_from(question)).hits]


def without_words(file: Path) -> None:
    db = apsw.Connection(str(file))
    db.execute("PRAGMA writable_schema = ON").fetchall()
    db.execute("DELETE FROM words_data").fetchall()
    db.close()


def overwritten(file: Path) -> None:
    db = apsw.Connection(str(file))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    db.close()
    with file.open("r+b") as stream:
        stream.seek(4096)
        stream.write(os.urandom(file.stat().st_size - 4096))


def cut_off(file: Path) -> None:
    db = apsw.Connection(str(file))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    db.close()
    os.truncate(file, 5000)


def deleted(file: Path) -> None:
    for part in file.parent.glob("index.db*"):
        part.unlink()


DAMAGES = [without_words, overwritten, cut_off, deleted]
if sys.platform == "win32":
    DAMAGES.remove(deleted)  # an open file cannot be deleted there


@pytest.mark.fault("A-55")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_made_anew_by_the_next_question(
    damage: Callable[[Path], None], memory: Memory
) -> None:
    for number in range(30):
        keep(memory, f"The heron number {number} stands in bay {number}.")

    damage(memory.index_path)
    memory.catch_up()

    assert found(memory, "heron bay 7")[0] == "The heron number 7 stands in bay 7"
    assert memory.status().counts.notes == 30
    assert memory.index.problems() == []


@pytest.mark.fault("A-55")
@pytest.mark.parametrize("damage", DAMAGES)
def test_no_write_is_lost_on_a_damaged_index(
    damage: Callable[[Path], None], memory: Memory
) -> None:
    first = keep(memory, "The heron is back.")
    damage(memory.index_path)

    memory.revise(first.id, first.etag, Edit(find="back", replace="gone"))
    damage(memory.index_path)
    second = keep(memory, "The egret is back.")
    damage(memory.index_path)
    memory.forget(first.id, "erase")
    memory.catch_up()

    assert found(memory, "egret") == ["The egret is back"]
    assert found(memory, "heron") == []
    assert memory.read(second.id).etag == second.etag
    assert not list(memory.index_path.parent.glob("*.damaged"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_named_pipe_called_like_a_note_holds_nothing_up(memory: Memory, vault: Path) -> None:
    keep(memory, "The heron is back.")
    os.mkfifo(vault / "projects/app/pipe.md")

    memory.catch_up(["projects/app/pipe.md"])
    memory.catch_up()

    assert memory.status().counts.notes == 1
    assert found(memory, "heron") == ["The heron is back"]


def test_what_a_killed_writer_left_half_done_is_cleared_away(memory: Memory, vault: Path) -> None:
    keep(memory, "The heron is back.")
    old, young, own = (
        vault / f"projects/app/.memorix-{name}"
        for name in ("0123456789abcdef", "fedcba9876543210", "list.md")
    )
    for file in (old, young, own):
        file.write_bytes(b"The egret")
    for file in (old, own):
        os.utime(file, (0, 0))

    memory.catch_up()

    assert [file.exists() for file in (old, young, own)] == [False, True, True]


@pytest.mark.fault("A-30")
@pytest.mark.parametrize("name", [".gitignore", ".memorixignore"])
def test_ignored_places_are_not_indexed_and_come_back_when_they_are_no_more(
    name: str, memory: Memory, vault: Path
) -> None:
    for path in ("private/a.md", "drafts/b.md", "drafts/keep.md", "c.md"):
        (vault / "user" / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / "user" / path).write_text(f"heron {path}", encoding="utf-8")
    (vault / "user" / name).write_text("private/\n", encoding="utf-8")
    (vault / "user/drafts" / name).write_text("*.md\n!keep.md\n", encoding="utf-8")

    memory.catch_up()
    ignored = set(memory.index.listing())
    by_event = memory.store.path_of(vault / "user/private/a.md")
    (vault / "user" / name).unlink()
    memory.catch_up()

    assert ignored == {"user/c.md", "user/drafts/keep.md"}
    assert by_event is None
    assert set(memory.index.listing()) == ignored | {"user/private/a.md"}


def test_a_loss_told_path_by_path_asks_as_well(memory: Memory, vault: Path) -> None:
    from memorix.errors import VaultUnavailable

    done = [keep(memory, f"The heron number {number}.") for number in range(12)]
    for written in done[:9]:
        (vault / written.path).unlink()

    with pytest.raises(VaultUnavailable, match="9 of 12 notes are missing"):
        memory.catch_up([written.path for written in done])

    assert memory.status().counts.notes == 12


def test_the_doctor_finds_a_sound_memory_sound(memory: Memory, config: Config) -> None:
    keep(memory, "The heron is back.")

    checks = list(doctor.examine(memory, config))

    assert {check.verdict for check in checks} == {doctor.OK}
    names = [
        "program",
        "vault",
        "in step",
        "index",
        "words",
        "vectors",
        "watching",
        "lock",
        "notes",
    ]
    assert [check.name for check in checks] == names


def test_the_doctor_names_what_is_wrong_and_what_mends_it(
    memory: Memory, config: Config, vault: Path
) -> None:
    keep(memory, "The heron is back.")
    (vault / "projects/app/odd.md").write_text("---\na: b: c\n---\n", encoding="utf-8")
    (memory.index_path.parent / "index.db.damaged").write_bytes(b"x")

    said = {check.said: check for check in doctor.examine(memory, config) if check.mend}

    assert any("set aside" in text for text in said)
    odd = next(check for text, check in said.items() if "odd" in text)
    assert odd.mend == "memorix status, memorix check"


DATED = "---\ncreated: 2020-01-01\n---\n"


def words(seed: int) -> str:
    chance = random.Random(seed)
    return " ".join(f"{chance.choice(NAUTICAL)}{chance.randrange(99)}" for _ in range(12))


NAUTICAL = (
    *("anchor", "bolt", "crane", "dock", "eel", "fog", "gull", "hull", "iron", "jetty"),
    *("keel", "lamp", "mast", "net", "oar", "pier", "quay", "rope", "sail"),
)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"mark": "---\ntitle: '!!!'\n---\nx\n"}, "no title with words"),
        ({"mark": "---\ntitle: '→'\n---\n", "b": "# Quay\n"}, "b.md is found"),
        ({"mine": "---\nprivate: true\ntitle: Diary\n---\nx\n"}, "no title with words"),
        ({"key": "# Key\n\nAWS AKIAQ3EGRIUWMJ5XPLNT is it.\n"}, "no title with words"),
        (
            {f"{n}": f"{DATED}# Tide\n\nTide tide {words(n)}.\n" for n in range(120)}
            | {"now": f"---\ntitle: Tide\ncreated: 2020-01-02\n---\n{'Long. ' * 900}\n"},
            "now.md is found",
        ),
    ],
)
def test_the_doctor_finds_whatever_titles_there_are(
    memory: Memory, config: Config, files: Mapping[str, str], said: str
) -> None:
    for name, text in files.items():
        file = config.vault / f"user/{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    (check,) = (one for one in doctor.examine(memory, config) if one.name == "words")

    assert check.verdict == doctor.OK
    assert said in check.said


def test_the_doctor_fails_where_the_vault_is_missing(
    memory: Memory, config: Config, vault: Path
) -> None:
    keep(memory, "The heron is back.")
    vault.rename(vault.with_name("away"))

    checks = list(doctor.examine(memory, config))

    failed = [check.name for check in checks if check.verdict == doctor.FAILED]
    assert failed[:2] == ["vault", "in step"]
    assert not vault.exists()
    json.dumps([check.said for check in checks])
