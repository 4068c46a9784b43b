import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from memorix.errors import IndexDamaged, IndexUnavailable
from memorix.index.base import Drop, Embedded, Index
from memorix.index.schema import APPLICATION_ID, SCHEMA_VERSION
from memorix.index.sqlite import SqliteIndex
from memorix.lexemes import query_terms
from memorix.query import Filter
from memorix.retention import Recalls
from tests.contract.index_contract import MODEL, NOW, TWO, IndexContract, put, vector

OPEN_FILES = Path("/proc/self/fd")


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


def test_an_older_index_gets_the_vectors_of_its_sentences(tmp_path: Path) -> None:
    file, contract = tmp_path / "index.db", IndexContract()
    index = SqliteIndex(file)
    index.apply([put("a", TWO)])
    contract.give_vectors(index, vector(1))
    index.close()
    db = apsw.Connection(str(file))
    db.execute("ALTER TABLE kept_vectors DROP COLUMN sentences").fetchall()
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION - 1}").fetchall()
    db.close()

    index = SqliteIndex(file)
    index.apply([put("a", TWO)])

    assert contract.near(index, vector(1)) == ["a"]
    (pending,) = index.pending(MODEL, frozenset(), 9)
    made = Embedded(pending.hash, vector(1), vector(0, 1) + vector(1))
    index.keep_vectors(MODEL, [made])
    assert index.pending(MODEL, frozenset(), 9) == []
    assert len(index.sentence_vectors([1], MODEL)) == 1
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


def test_a_file_that_is_no_database_is_set_aside_and_made_anew(tmp_path: Path) -> None:
    (tmp_path / "index.db").write_bytes(b"no database " * 500)

    index = SqliteIndex(tmp_path / "index.db")

    assert index.listing() == {}
    assert (tmp_path / "index.db.damaged").read_bytes() == b"no database " * 500


def test_a_file_deleted_while_it_is_in_use_is_made_anew(tmp_path: Path) -> None:
    index, other = SqliteIndex(tmp_path / "index.db"), SqliteIndex(tmp_path / "index.db")
    index.apply([put("a", "aaa")])
    for file in tmp_path.glob("index.db*"):
        file.unlink()

    emptied = index.listing()
    index.apply([put("b", "bbb")])

    assert emptied == {}
    assert other.listing().keys() == {"user/b.md"}


def test_a_damaged_file_is_told_as_such_and_a_sound_one_of_another_process_is_kept(
    tmp_path: Path,
) -> None:
    index, other = SqliteIndex(tmp_path / "index.db"), SqliteIndex(tmp_path / "index.db")
    index.apply([put(f"n{number}", "aaa") for number in range(50)])
    damage(tmp_path / "index.db")
    for one in (index, other):
        with pytest.raises(IndexDamaged, match="No note is lost"):
            one.match_words(query_terms("aaa"), Filter(), NOW, 5)

    index.reset()
    index.apply([put("b", "bbb")])
    other.reset()

    assert index.problems() == []
    assert other.listing().keys() == {"user/b.md"}


def damage(file: Path) -> None:
    """Take the words' pages away, as a disk or another program might."""
    db = apsw.Connection(str(file))
    db.execute("PRAGMA writable_schema = ON").fetchall()
    db.execute("DELETE FROM words_data").fetchall()
    db.close()


def test_the_id_of_a_copied_note_goes_to_the_copy_when_the_first_is_gone(tmp_path: Path) -> None:
    index = SqliteIndex(tmp_path / "index.db")
    index.apply([put("a", "one", id="X1"), put("b", "two", id="X1")])

    index.apply([Drop("user/a.md")])

    found = index.find("X1")
    assert found is not None
    assert found.path == "user/b.md"
    assert index.warnings() == []


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


def test_vectors_of_an_older_layout_are_taken_over(tmp_path: Path) -> None:
    file, vector = tmp_path / "index.db", b"\x00\x00\x80?" + bytes(28)
    index: Index = SqliteIndex(file)
    index.apply([put("a", "aaa")])
    contract = IndexContract()
    contract.give_vectors(index, vector)
    index.close()
    db = apsw.Connection(str(file))
    db.execute(
        "CREATE TABLE old (hash BLOB NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL,"
        " PRIMARY KEY (hash, model)) WITHOUT ROWID;"
        "INSERT INTO old SELECT hash, model, vector FROM kept_vectors; DROP TABLE kept_vectors;"
        "ALTER TABLE old RENAME TO kept_vectors;"
        f"PRAGMA user_version = {SCHEMA_VERSION - 1}"
    ).fetchall()
    db.close()

    index = SqliteIndex(file)
    index.apply([put("a", "aaa")])

    assert contract.near(index, vector) == ["a"]
    index.close()


def test_a_kept_vector_takes_little_more_than_its_bytes(tmp_path: Path) -> None:
    index = SqliteIndex(tmp_path / "index.db")
    index.apply([put(f"n{number}", f"note {number}") for number in range(300)])
    waiting = index.pending("model-1", frozenset(), 300)
    made = [Embedded(one.hash, number.to_bytes(1536, "big")) for number, one in enumerate(waiting)]
    index.keep_vectors("model-1", made)
    index.close()

    db = apsw.Connection(str(tmp_path / "index.db"))
    sql = "SELECT sum(pgsize) FROM dbstat WHERE name LIKE '%kept_vectors%'"
    [(size,)] = db.execute(sql).fetchall()
    db.close()

    assert len(waiting) == 300
    assert size < 1.5 * 300 * 1536


def test_counters_of_an_older_version_are_taken_over(tmp_path: Path) -> None:
    index = SqliteIndex(tmp_path / "index.db")
    index.apply([put("a", "gateway", id="A1")])
    index.recalled(["A1"], NOW)
    index.close()
    db = apsw.Connection(str(tmp_path / "index.db"))
    db.execute("ALTER TABLE recalls DROP COLUMN stability_days").fetchall()
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION - 1}").fetchall()
    db.close()

    index = SqliteIndex(tmp_path / "index.db")

    assert index.recalls(["A1"]) == {"A1": Recalls(1, NOW, 0.0)}
    index.close()


@pytest.mark.skipif(not OPEN_FILES.is_dir(), reason="lists open files")
def test_threads_that_ended_leave_no_files_open(tmp_path: Path) -> None:
    """A server has many threads, one after another; the system allows few open files."""
    index = SqliteIndex(tmp_path / "index.db")

    def use_it_in_threads(count: int) -> int:
        for _ in range(count):
            thread = threading.Thread(target=index.size)
            thread.start()
            thread.join()
        return sum(1 for _ in OPEN_FILES.iterdir())

    few, many = use_it_in_threads(3), use_it_in_threads(30)
    index.close()

    assert many == few
