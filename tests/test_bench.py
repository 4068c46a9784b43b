import gzip
import json
from pathlib import Path

import pytest

from memorix.bench.metrics import any_at, recall_at, reciprocal_rank
from memorix.bench.run import run
from memorix.errors import InvalidRequest, ModelUnavailable


def test_the_measures_are_those_of_the_books() -> None:
    assert recall_at(["a", "b", "c"], ["b", "x"], 2) == 0.5
    assert any_at(["a", "b"], ["b", "x"], 1) == 0.0
    assert reciprocal_rank(["a", "b"], ["b"]) == 0.5
    assert reciprocal_rank(["a"], ["b"]) == 0.0


def test_a_set_is_indexed_asked_and_judged(tmp_path: Path) -> None:
    documents = [
        {
            "id": "1",
            "group": "g",
            "session": "s1",
            "date": "",
            "speaker": "A",
            "text": "A red kite.",
        },
        {
            "id": "2",
            "group": "g",
            "session": "s2",
            "date": "",
            "speaker": "B",
            "text": "A blue boat.",
        },
    ]
    queries = [
        {"id": "q1", "group": "g", "query": "kite", "gold": ["1"], "category": "x"},
        {"id": "q2", "group": "g", "query": "zeppelin", "gold": ["2"], "category": "x"},
        {"id": "q3", "group": "g", "query": "boat", "gold": [], "category": "abstention"},
    ]
    (tmp_path / "tiny").mkdir()
    for name, rows in (("docs", documents), ("queries", queries)):
        with gzip.open(tmp_path / "tiny" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    told: list[str] = []

    found = run(tmp_path, [], "none", told.append)

    assert found["tiny.count"] == 2
    assert found["tiny.r1"] == 0.5
    assert found["tiny.sessions.r1"] == 0.5
    assert len(told) == 2


def test_a_folder_without_sets_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="no retrieval sets"):
        run(tmp_path, [], "none", print)
    with pytest.raises(InvalidRequest, match="is not there"):
        run(tmp_path, ["x"], "none", print)


def test_a_model_that_is_not_there_is_not_measured_by_another(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="Nothing was measured"):
        run(tmp_path, ["generated"], "no/such-model", print)
