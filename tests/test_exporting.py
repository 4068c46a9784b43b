"""What leaves the vault comes back as it was."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from memorix.exchange.reading import LONGEST_LINE

Typed = Callable[..., str]

BUNDLES = Path(__file__).parent / "data" / "okf-bundles"


def notes(vault: Path) -> Mapping[str, bytes]:
    return {
        file.relative_to(vault).as_posix(): file.read_bytes()
        for file in sorted(vault.rglob("*.md"))
        if ".memorix" not in file.parts and file.name not in ("index.md", "log.md")
    }


@pytest.fixture
def other(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "other").mkdir()
    return {"MEMORIX_VAULT": str(tmp_path / "other"), "MEMORIX_STATE_DIR": str(tmp_path / "s2")}


@pytest.mark.timeout(240)
def test_json_lines_bring_every_note_back_to_the_byte(
    memorix: Typed, vault: Path, hard_notes: Path, tmp_path: Path, other: dict[str, str]
) -> None:
    for number, bundle in enumerate(sorted(BUNDLES.glob("*/bundles/*"))):
        shutil.copytree(bundle, vault / "projects" / f"p{number}")
    shutil.copytree(hard_notes, vault / "user" / "hard")
    (vault / "projects/p0/inbox").mkdir()
    (vault / "projects/p0/inbox/waits.md").write_bytes(b"---\r\nstatus: draft\r\n---\r\nx\r\n")

    memorix("export", str(tmp_path / "all.jsonl"), "--private")
    memorix("import", str(tmp_path / "all.jsonl"), "--trust", **other)
    memorix("export", str(tmp_path / "again.jsonl"), "--private", **other)

    there, here = notes(tmp_path / "other"), notes(vault)
    assert len(here) > 350
    assert {path: there[path] for path in there} == {path: here[path] for path in there}
    assert {path for path in here if path not in there} == set()
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "all.jsonl").read_bytes()


def test_a_damaged_line_is_named_and_the_rest_comes_in(
    memorix: Typed, vault: Path, tmp_path: Path, other: dict[str, str]
) -> None:
    (vault / "user").mkdir(parents=True)
    (vault / "user/a.md").write_text("---\ntype: Fact\n---\n\nOne.\n", encoding="utf-8")
    file = tmp_path / "all.jsonl"
    memorix("export", str(file))
    whole = file.read_text(encoding="utf-8")
    entry = json.loads(whole)
    odd = [{**entry, "path": path} for path in ("../out.md", "/etc/x.md", 7, None)]
    odd += [{**entry, "front": None}, {**entry, "base64": "%"}, {"x": 1}]
    lines = [json.dumps(one) for one in odd] + ['{"format"', "[" * 9000, "\0"]
    file.write_text(whole + "\n".join(lines), encoding="utf-8")

    told = memorix("import", str(file), "--trust", code=1, keep_output=True, **other)

    named = [line for line in told.splitlines() if line.startswith("unreadable: ")]
    assert named == [f"unreadable: all.jsonl:{n}: it holds no note" for n in range(2, 12)]
    assert set(notes(tmp_path / "other")) == {"user/a.md"}
    assert not (tmp_path / "out.md").exists()


def test_a_line_too_long_for_a_note_is_named_and_those_after_it_come_in(
    memorix: Typed, vault: Path, tmp_path: Path, other: dict[str, str]
) -> None:
    (vault / "user").mkdir(parents=True)
    (vault / "user/a.md").write_text("---\ntype: Fact\n---\n\nOne.\n", encoding="utf-8")
    file = tmp_path / "all.jsonl"
    memorix("export", str(file))
    whole = file.read_bytes()
    file.write_bytes(b"x" * (LONGEST_LINE + 1) + b"\n" + whole)

    told = memorix("import", str(file), "--trust", code=1, keep_output=True, **other)

    assert "unreadable: all.jsonl:1: the line is too long for a note" in told
    assert set(notes(tmp_path / "other")) == {"user/a.md"}
