from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memorix.errors import IndexUnavailable
from memorix.index.base import Index
from memorix.index.schema import APPLICATION_ID, SCHEMA_VERSION
from memorix.index.sqlite import SqliteIndex
from tests.contract.index_contract import IndexContract, put


class TestWithTheExtension(IndexContract):
    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[SqliteIndex]:
        index = SqliteIndex(tmp_path / "index.db")
        assert index.vector_search == "sqlite-vec"
        yield index
        index.close()


class TestWithoutTheExtension(IndexContract):
    @pytest.fixture
    def index(self, tmp_path: Path) -> Iterator[SqliteIndex]:
        index = SqliteIndex(tmp_path / "index.db", extension=False)
        assert index.vector_search == "numpy"
        yield index
        index.close()


def test_a_file_of_another_program_is_refused_and_untouched(tmp_path: Path) -> None:
    file = tmp_path / "index.db"
    db = apsw.Connection(str(file))
    db.execute("CREATE TABLE theirs(x)").fetchall()
    db.close()
    before = file.read_bytes()

    with pytest.raises(IndexUnavailable, match="not an index of Memorix"):
        SqliteIndex(file)

    assert file.read_bytes() == before


def test_an_index_newer_than_the_program_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "index.db"
    db = apsw.Connection(str(file))
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}").fetchall()
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}").fetchall()
    db.close()

    with pytest.raises(IndexUnavailable, match="newer"):
        SqliteIndex(file)


def test_a_file_that_is_no_database_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_bytes(b"no database " * 500)

    with pytest.raises(IndexUnavailable, match="memorix reindex"):
        SqliteIndex(tmp_path / "index.db")


def test_an_older_schema_is_made_anew_and_its_vectors_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "index.db"
    index: Index = SqliteIndex(file)
    index.apply([put("a", "aaa")])
    contract = IndexContract()
    contract.give_vectors(index, b"\x00\x00\x80?" + bytes(28))
    index.close()
    db = apsw.Connection(str(file))
    db.execute("PRAGMA user_version = 0").fetchall()
    db.close()

    index = SqliteIndex(file)
    emptied = index.listing()
    index.apply([put("a", "aaa")])

    assert emptied == {}
    assert index.pending("model-1", frozenset(), 10) == []
    assert contract.near(index, b"\x00\x00\x80?" + bytes(28)) == ["a"]
    index.close()
