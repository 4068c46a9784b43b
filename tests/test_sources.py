"""Files that hosts keep: recall finds them beside the notes, and nothing ever changes them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memorix import sources
from memorix.bench.secretset import planted
from memorix.errors import OnlyRead
from memorix.files import walk
from memorix.lifecycle import Edit, draft_from
from memorix.memory import LOOK_AT_MOST, Memory
from memorix.query import Query
from memorix.settling import Revision, revise
from memorix.sources import Sources
from tests.following import Followed

Typed = Callable[..., str]

RULES = "# Rules\n\n- Run `make lint-harbour` before each commit.\n- 部署前先跑烟雾测试。\n"


@pytest.fixture
def rules(tmp_path: Path, vault: Path) -> Path:
    """The CLAUDE.md of a project that is no repository; the vault is there, and empty."""
    vault.mkdir()
    file = tmp_path / "app" / "CLAUDE.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(RULES, encoding="utf-8")
    return file


def hits(memorix: Typed, question: str) -> list[dict[str, Any]]:
    return list(json.loads(memorix("recall", question, "--json"))["hits"])


@pytest.mark.parametrize("question", ["lint-harbour before commit", "烟雾测试什么时候跑"])
def test_recall_finds_what_a_host_file_says_and_tells_whose_it_is(
    memorix: Typed, rules: Path, question: str
) -> None:
    assert hits(memorix, question) == []

    told = json.loads(memorix("source", "add", "--json"))
    (hit,) = hits(memorix, question)

    assert told["added"][0]["files"] == [str(rules)]
    assert (hit["title"], hit["origin"]) == ("Rules", "host file")
    assert rules.read_text(encoding="utf-8") == RULES


def test_a_folder_of_rules_and_one_of_memories_are_looked_through_anew(
    memorix: Typed, tmp_path: Path, vault: Path
) -> None:
    vault.mkdir()
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "MEMORY.md").write_text("- [Pier](pier.md)\n", encoding="utf-8")
    memorix("source", "add", str(kept), "--scope", "user")
    (kept / "pier.md").write_text("The pier gauge is Hokkaido-7.\n", encoding="utf-8")

    (hit,) = hits(memorix, "Hokkaido-7")

    assert hit["scope"] == "user"
    assert str(kept / "pier.md") in memorix("source", "list")


def test_a_folder_is_listed_once_however_many_of_its_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, register = tmp_path / "kept", tmp_path / "state" / "sources.json"
    kept.mkdir()
    for name in ("MEMORY.md", *(f"{n}.md" for n in range(20))):
        (kept / name).write_text("x\n", encoding="utf-8")
    here, other = Sources(register), Sources(register)
    here.add(kept, "user")
    listed: list[Path] = []

    def counted(root: Path) -> Iterator[Path]:
        listed.append(root)
        return walk(root)

    monkeypatch.setattr(sources, "walk", counted)

    found = here.files()
    assert all(here.file_of(path) == file for path, file in found.items())
    assert len(listed) == 1

    (kept / "new.md").write_text("x\n", encoding="utf-8")
    new = here.all()[0].path_of(kept / "new.md")
    assert here.file_of(new) == kept / "new.md"
    other.remove(kept)
    assert here.file_of(new) is None
    assert here.file_of("user/note.md") is None


def test_an_edited_host_file_counts_at_the_next_question_in_a_large_vault(
    memory: Memory, start: Callable[..., Followed], tmp_path: Path, vault: Path
) -> None:
    rules = tmp_path / "app/CLAUDE.md"
    rules.write_text(RULES, encoding="utf-8")
    vault.mkdir()
    memory.remember_all((draft_from(f"Fact {n} of many."), "") for n in range(LOOK_AT_MOST + 1))
    memory = start().memory
    memory.store.sources.add(rules, memory.places.slug)
    found = memory.recall(Query("lint-harbour")).hits
    rules.write_text("# Rules\n\nUse `just tidy-quay` instead.\n", encoding="utf-8")

    assert [hit.title for hit in found] == ["Rules"]
    assert [hit.title for hit in memory.recall(Query("tidy-quay")).hits] == ["Rules"]
    assert memory.recall(Query("lint-harbour")).hits == []
    rules.unlink()
    assert memory.recall(Query("tidy-quay")).hits == []


@pytest.mark.parametrize("level", ["retire", "archive", "erase"])
def test_nothing_forgets_a_host_file(memory: Memory, rules: Path, level: str) -> None:
    path = source(memory, rules)

    with pytest.raises(OnlyRead, match="source remove"):
        memory.forget(path, level)

    assert rules.read_text(encoding="utf-8") == RULES
    assert len(memory.recall(Query("lint-harbour")).hits) == 1


@pytest.mark.parametrize(
    "revision",
    [
        Revision(Edit(find="make", replace="just")),
        Revision(draft=draft_from("Run `just lint` before each commit.")),
    ],
)
def test_nothing_revises_a_host_file_and_nothing_is_left_half_done(
    memory: Memory, rules: Path, revision: Revision
) -> None:
    path = source(memory, rules)
    etag = memory.read(path).etag

    with pytest.raises(OnlyRead):
        revise(memory, path, etag, revision)

    assert rules.read_text(encoding="utf-8") == RULES
    assert list(memory.store.scan()) == []
    assert memory.catch_up().paths == ()


def test_a_note_may_dispute_a_host_file_without_touching_it(memory: Memory, rules: Path) -> None:
    path = source(memory, rules)
    note = memory.remember(draft_from("Lint runs in CI now.", "Lint in CI"))
    host = memory.find(path).id

    revise(memory, note.id, note.etag, Revision(contested_by=(host,)))

    assert memory.note_of(note.id).contested_by == (host,)
    assert rules.read_text(encoding="utf-8") == RULES


def test_the_brief_neither_tells_of_host_files_nor_repeats_their_lines(
    memorix: Typed, memory: Memory, rules: Path, tmp_path: Path
) -> None:
    for draft in (
        draft_from("Run  `make LINT-harbour` before each commit.", "Lint first", "Procedure"),
        draft_from("部署前先跑烟雾测试。", "部署", "Procedure"),
        draft_from("The quay is 40 m long.", "Quay", "Fact"),
    ):
        memory.remember(draft)
    before = memory.brief().text
    source(memory, rules)

    told = memory.brief().text
    said = memorix(
        "hook", "SessionStart", "--host", "claude-code",
        stdin=json.dumps({"cwd": str(tmp_path / "app")}),
    )  # fmt: skip

    assert "Lint first" in before
    assert "部署" in before
    assert [line for line in told.splitlines()[1:] if "Quay" not in line] == []
    assert json.dumps(told)[1:-1].encode() in json.dumps(json.loads(said)).encode()
    assert "Rules" not in told


def test_a_key_in_a_host_file_keeps_it_out_of_recall(memorix: Typed, rules: Path) -> None:
    secret = next(planted(7, 1)).text
    rules.write_text(f"{RULES}\n{secret}\n", encoding="utf-8")
    memorix("source", "add")

    assert hits(memorix, "lint-harbour") == []


def test_a_removed_source_is_found_no_more_and_stays_where_it_is(
    memorix: Typed, rules: Path
) -> None:
    memorix("source", "add", str(rules))
    memorix("source", "remove", str(rules))

    assert hits(memorix, "lint-harbour") == []
    assert memorix("source", "list") == "There are no sources.\n"
    assert rules.read_text(encoding="utf-8") == RULES


def test_what_cannot_be_a_source_is_refused_in_a_sentence(
    memorix: Typed, tmp_path: Path, vault: Path
) -> None:
    (tmp_path / "empty").mkdir()
    assert "memorix init" in memorix("source", "add", str(tmp_path), code=6)
    vault.mkdir()

    assert "is not there" in memorix("source", "add", str(tmp_path / "gone.md"), code=2)
    assert "holds no instructions" in memorix("source", "add", str(tmp_path / "empty"), code=2)
    assert "is no source" in memorix("source", "remove", str(tmp_path / "gone.md"), code=2)


def test_host_files_are_neither_exported_nor_checked_and_the_doctor_names_a_missing_one(
    memorix: Typed, rules: Path, tmp_path: Path
) -> None:
    memorix("remember", "The quay is 40 m long.")
    memorix("source", "add")
    memorix("export", str(tmp_path / "out"))
    memorix("check")
    rules.unlink()

    checks = json.loads(memorix("doctor", "--json"))["checks"]

    left = [file.read_text("utf-8") for file in (tmp_path / "out").rglob("*.md")]
    assert left
    assert not [text for text in left if "lint-harbour" in text]
    assert [c["said"] for c in checks if c["name"] == "sources"] == [f"{rules.parent} is not there"]


def test_no_two_files_have_one_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setattr(Path, "home", lambda: home)
    outside = [tmp_path / "a:b" / "rules.md", tmp_path / "ab" / "rules.md"]
    inside = [home / file.relative_to(file.anchor) for file in outside]
    inside += [home / "~root" / file.relative_to(file.anchor) for file in outside]
    files = [*outside, *inside]
    here = Sources(tmp_path / "state" / "sources.json")
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_text("x\n", encoding="utf-8")
        here.add(file, "user")

    found = here.files()

    assert sorted(found.values()) == sorted(files)


@pytest.mark.parametrize(
    "broken",
    [
        b'[{"place": "/srv/rules.md", "scope": "user"},',
        b'{"place": "/srv/rules.md"}',
        b'[{"place": "/srv/rules.md", "scopes": ["user"]}]',
        b"\xff\xfe",
    ],
)
def test_a_broken_register_is_kept_aside_before_a_new_one_is_begun(
    rules: Path, tmp_path: Path, broken: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    register = tmp_path / "state" / "sources.json"
    register.parent.mkdir(exist_ok=True)
    register.write_bytes(broken)

    here = Sources(register)
    here.add(rules, "user")
    here.add(rules.parent, "app")
    register.write_bytes(b"[")
    here.add(rules, "user")

    assert f"it is kept as {register}.broken. " in caplog.text
    assert Path(f"{register}.broken").read_bytes() == broken
    assert Path(f"{register}.broken-1").read_bytes() == b"["
    assert [source.place for source in here.all()] == [rules]


def test_the_doctor_tells_of_a_broken_register(memorix: Typed, rules: Path, tmp_path: Path) -> None:
    memorix("source", "add", str(rules))
    register = tmp_path / "state" / "sources.json"
    whole = register.read_text(encoding="utf-8")
    register.write_text(whole[:-2], encoding="utf-8")

    checks = json.loads(memorix("doctor", "--json", code=1, keep_output=True))["checks"]
    assert [c["verdict"] for c in checks if c["name"] == "sources"] == ["failed"]

    register.write_text(whole, encoding="utf-8")
    checks = json.loads(memorix("doctor", "--json"))["checks"]
    assert [c["verdict"] for c in checks if c["name"] == "sources"] == ["ok"]


def source(memory: Memory, file: Path) -> str:
    """Add a source and return the path that its file has among the notes."""
    added = memory.store.sources.add(file, memory.places.slug)
    memory.catch_up(memory.store.host_files())
    return added.path_of(file)
