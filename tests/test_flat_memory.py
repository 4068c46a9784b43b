"""What a whole vault takes on its way out, and in, is held one note at a time."""

import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from memorix import batches, exporting, transfer
from memorix.exchange.reading import read
from memorix.exporters import formats
from memorix.intake import incoming
from memorix.memory import Memory
from memorix.query import Filter

FEW, MANY = 4, 24
# Notes; what is held at once may not grow between them as what is written does.

GROWTH = 1.6
# Of the peak of memory, where six times as much is written: names and links are held of all.

TEXT = "\n\n".join("what the table says, and why it is so; " * 20 for _ in range(30)) + "\n"


def fill(vault: Path, notes: int) -> None:
    folder = vault / "projects/app"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(notes):
        text = f"---\ntype: Fact\ntitle: Table {number}\n---\n\nSee [[Table {number - 1}]].\n\n"
        (folder / f"table-{number}.md").write_text(text + TEXT, encoding="utf-8")


def peak(work: Callable[[], object]) -> int:
    """Return the most bytes that were held at once while something was done."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


FOLDERS = [one.name for one in formats.ALL if one.form == "folder"]
FILES = [one.name for one in formats.ALL if one.form == "file"]
TARGETS = [(name, name) for name in (*FOLDERS, *FILES)] + [("okf", "o.zip"), ("okf", "o.tar.gz")]


def exported(memory: Memory, vault: Path, notes: int, to: Path) -> dict[str, int]:
    """Export a vault of so many notes to every target and return the peak of each."""
    fill(vault, notes)
    memory.catch_up()
    peaks = {}
    for name, target in TARGETS:
        exporter = formats.choose(name, target)
        peaks[target] = peak(partial(exporting.export, memory, exporter, to / target, Filter()))
    return peaks


def test_an_export_holds_no_more_than_a_note_at_a_time(
    memory: Memory, vault: Path, tmp_path: Path
) -> None:
    exported(memory, vault, 1, tmp_path / "first")  # what a first run loads is kept for good
    few = exported(memory, vault, FEW, tmp_path / "few")
    many = exported(memory, vault, MANY, tmp_path / "many")

    assert {target for target in few if many[target] > GROWTH * few[target]} == set()


def taken_in(memory: Memory, source: Path, root: str) -> int:
    """Take a bundle in and return the peak."""

    def work() -> None:
        found = read(source)
        for taken in transfer.take_in(memory, incoming(found.each(), root, found.name)):
            assert taken.status == "new", taken

    return peak(work)


@pytest.mark.parametrize("target", ["bundle", "b.zip", "b.tar.gz", "b.jsonl"])
def test_a_bundle_comes_in_with_no_more_than_a_batch_held_at_a_time(
    memory: Memory, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(batches, "LARGEST", 2 * len(TEXT))
    exporter = formats.choose("", target)
    for notes in (1, FEW, MANY):
        fill(vault, notes)
        memory.catch_up()
        asked = Filter(scopes=("app",))
        exporting.export(memory, exporter, tmp_path / str(notes) / target, asked)
    for note in (vault / "projects/app").glob("*.md"):
        note.unlink()
    memory.catch_up(accept_loss=True)

    taken_in(memory, tmp_path / "1" / target, "projects/one")
    few = taken_in(memory, tmp_path / str(FEW) / target, "projects/few")
    # What is known of words is kept for all notes; its table may have to grow just then, but once.
    source = tmp_path / str(MANY) / target
    many = min(taken_in(memory, source, f"projects/many{n}") for n in (1, 2))

    assert many < GROWTH * few
