"""One command takes back what any other wrote, to the byte, and takes its own work back again."""

from pathlib import Path

import pytest

from tests.undoing import WRITES, Shelf, copied, shelf


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return shelf(tmp_path_factory.mktemp("shelf"))


@pytest.mark.parametrize("line", WRITES.values(), ids=WRITES)
def test_each_kind_of_write_is_taken_back_by_one_command(
    line: str, made: Shelf, tmp_path: Path
) -> None:
    own = copied(made, tmp_path / "own")
    before = own.contents()
    own.typed(line)
    after = own.contents()

    said = own.typed("undo")
    taken_back = own.contents()
    own.typed(said.rpartition("redo: memorix ")[2])

    assert after != before
    assert taken_back == before
    assert own.contents() == after
    assert own.typed("reindex").startswith("0 notes read, 0 moved, 0 gone")


def test_history_and_its_differences_tell_of_each_version(made: Shelf) -> None:
    versions = made.typed("history {lamp} --diff").splitlines()

    assert "+The lamp is yellow." in versions
    assert "-The lamp is yellow." in versions
    assert "+The lamp is green." in versions
    assert [line for line in made.typed("history").splitlines() if "  archive  " in line]
