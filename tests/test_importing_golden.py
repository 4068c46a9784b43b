"""A small sample of each format comes in as the very notes that were looked through once.

`python -m tests.test_importing_golden` writes the notes anew; look through what differs then.
"""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from memorix import importing
from memorix.config import load
from memorix.importers import formats, tables
from memorix.wiring import open_memory

DATA = Path(__file__).parent / "data" / "imports"
WRITTEN = DATA / "basic-memory", DATA / "mcp-memory.jsonl", DATA / "mcp-memory-service.json"
SOURCES = {path.name: path for path in sorted((DATA / "samples").iterdir())} | {
    path.stem: path for path in (*WRITTEN, DATA / "memorix-npm.sql")
}
# Samples of our own making, and what programs themselves have written.

MOMENT = 1_767_603_600
# When every file was written, in seconds since 1970: where a format has no times, that counts.


def laid_out(name: str, folder: Path) -> Path:
    """Copy a sample; a single file stands for itself, and a script becomes its database."""
    source = folder / SOURCES[name].name
    if SOURCES[name].is_dir():
        shutil.copytree(SOURCES[name], source)
    else:
        shutil.copy(SOURCES[name], source)
    for script in [*source.rglob("*.sql"), *([source] if source.suffix == ".sql" else [])]:
        with closing(sqlite3.connect(script.with_suffix(".db"))) as made:
            made.executescript(script.read_text(encoding="utf-8"))
        script.unlink()
        source = script.with_suffix(".db")
    for file in folder.rglob("*"):
        os.utime(file, (MOMENT, MOMENT))
    inside = list(source.iterdir()) if source.is_dir() else []
    return inside[0] if len(inside) == 1 and inside[0].is_file() else source


def taken_in(name: str, folder: Path) -> str:
    """Import a sample into an empty vault; return the format and every note, by its path."""
    source = laid_out(name, folder)
    importer = formats.choose(source)
    assert importer is not None
    (folder / "app").mkdir()
    places = {key: str(folder / key.lower()) for key in ("VAULT", "STATE_DIR")}
    settings = {f"MEMORIX_{key}": value for key, value in places.items()}
    own = {"MEMORIX_PROJECT_DIR": str(folder / "app"), "MEMORIX_MODEL": "none"}
    memory = open_memory(load({}, settings | own))
    job = importing.Import(importer.name, source.name, "app")
    told = [taken.status for taken in importing.take_in(memory, lambda: importer.read(source), job)]
    memory.close()
    assert set(told) <= {"new", "known"}
    vault = folder / "vault"
    notes = {file.relative_to(vault).as_posix(): file for file in sorted(vault.rglob("*.md"))}
    parts = [f"==== {path}\n{file.read_bytes().decode()}" for path, file in notes.items()]
    return "\n".join([f"{importer.name}\n", *parts])


def golden(name: str) -> Path:
    return DATA / "golden" / f"{name}.txt"


@pytest.mark.parametrize("name", SOURCES)
def test_a_sample_comes_in_as_these_notes(name: str, tmp_path: Path) -> None:
    assert taken_in(name, tmp_path) == golden(name).read_bytes().decode()


def test_every_format_has_a_sample() -> None:
    firsts = {golden(name).read_text(encoding="utf-8").partition("\n")[0] for name in SOURCES}

    assert firsts == {one.name for one in (*formats.ALL, *tables.importers({}))}


def write() -> None:
    for name in SOURCES:
        with tempfile.TemporaryDirectory(prefix="memorix-") as folder:
            golden(name).parent.mkdir(exist_ok=True)
            golden(name).write_bytes(taken_in(name, Path(folder)).encode())


if __name__ == "__main__":
    write()
