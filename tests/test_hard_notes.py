"""The odd files of the manifest: each is read as far as it can be, and told about."""

import json
from pathlib import Path
from typing import Any

import pytest

from memorix.arguments import query_from
from memorix.memory import Memory
from memorix.note import parse, title_of

FOLDER = Path(__file__).parent / "data" / "hard-notes"
MANIFEST = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))["files"]
NOT_YET = {"possible-secret", "instruction-like-text", "date-not-understood", "value-converted"}
# Warnings of screening, which is a chapter of its own.


def named(entry: dict[str, Any]) -> str:
    return str(entry["file"])


@pytest.mark.parametrize("entry", MANIFEST, ids=named)
def test_an_odd_file_is_read_as_its_manifest_says(entry: dict[str, Any]) -> None:
    note = parse((FOLDER / entry["file"]).read_bytes(), f"user/{entry['file']}")
    also = entry.get("also_acceptable") or {}

    assert note.title in [entry["title"], title_of(entry["file"]), *also.get("title", [])]
    assert note.type.casefold() == entry["type"].casefold()
    assert list(note.tags) in [entry["tags"], *also.get("tags", [])]
    assert entry.get("body_starts_with", "") in note.body.lstrip("\r\n")


@pytest.mark.parametrize("entry", MANIFEST, ids=named)
def test_what_is_odd_about_a_file_is_told(entry: dict[str, Any]) -> None:
    note = parse((FOLDER / entry["file"]).read_bytes(), f"user/{entry['file']}")
    told = {warning.code for warning in note.warnings}
    expected = set(entry["warnings"]) - NOT_YET

    assert expected <= told
    assert told <= expected | set(entry.get("warnings_allowed") or [])


def test_every_odd_file_is_found_by_what_its_manifest_names(memory: Memory, vault: Path) -> None:
    folder = vault / "user"
    folder.mkdir(parents=True)
    for file in FOLDER.glob("*.md"):
        (folder / file.name).write_bytes(file.read_bytes())
    memory.catch_up()
    missed = []
    for entry in MANIFEST:
        for question in entry.get("recall_must_find_by") or []:
            answer = memory.recall(query_from(question, 50, max_tokens=100_000))
            if f"user/{entry['file']}" not in [hit.path for hit in answer.hits]:
                missed.append((entry["file"], question))

    assert missed == []
