import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from memorix.bench import baselines
from memorix.bench.data import read_crossing
from memorix.bench.metrics import any_at, paired_interval, recall_at, reciprocal_rank
from memorix.bench.run import Wanted, run
from memorix.errors import InvalidRequest, ModelUnavailable


def test_the_measures_are_those_of_the_books() -> None:
    assert recall_at(["a", "b", "c"], ["b", "x"], 2) == 0.5
    assert any_at(["a", "b"], ["b", "x"], 1) == 0.0
    assert reciprocal_rank(["a", "b"], ["b"]) == 0.5
    assert reciprocal_rank(["a"], ["b"]) == 0.0


def write_set(
    folder: Path, documents: Sequence[Mapping[str, object]], queries: Sequence[Mapping[str, object]]
) -> None:
    folder.mkdir()
    for name, rows in (("docs", documents), ("queries", queries)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


def test_a_set_is_indexed_asked_and_judged(tmp_path: Path) -> None:
    documents = [
        {"id": "1", "group": "g", "session": "s1", "speaker": "A", "text": "A red kite."},
        {"id": "2", "group": "g", "session": "s2", "speaker": "B", "text": "A blue boat."},
    ]
    queries = [
        {"id": "q1", "group": "g", "query": "kite", "gold": ["1"], "category": "x"},
        {"id": "q2", "group": "g", "query": "zeppelin", "gold": ["2"], "category": "x"},
        {"id": "q3", "group": "g", "query": "boat", "gold": [], "category": "abstention"},
    ]
    write_set(tmp_path / "tiny", documents, queries)
    told: list[str] = []

    report = run(Wanted(tmp_path, model="none"), told.append)

    found = report.measures()
    assert found["tiny.count"] == 2
    assert found["tiny.r1"] == 0.5
    assert found["tiny.sessions.r1"] == 0.5
    assert found["tiny.bm25.r1"] == found["tiny.grep.r1"] == found["tiny.fts5.r1"] == 0.5
    assert found["tiny.density"] == 1.0
    assert report.as_data()["leads"]["tiny.r1"]["grep"] == {  # type: ignore[index]
        "difference": 0.0,
        "low": 0.0,
        "high": 0.0,
    }
    assert "| Memorix | 0.500 |" in report.as_markdown()
    assert report.as_markdown().strip() == "\n".join(told).strip().replace("\n\n\n", "\n\n")


def test_a_folder_without_sets_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="no retrieval sets"):
        run(Wanted(tmp_path, model="none"), print)
    with pytest.raises(InvalidRequest, match="is not there"):
        run(Wanted(tmp_path, ["x"], "none"), print)


def test_a_model_that_is_not_there_is_not_measured_by_another(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="Nothing was measured"):
        run(Wanted(tmp_path, ["generated"], "no/such-model"), print)


def test_an_interval_holds_the_difference_and_knows_when_there_is_none() -> None:
    ours, theirs = [1.0, 1.0, 0.0, 1.0] * 50, [0.0, 1.0, 0.0, 1.0] * 50

    low, high = paired_interval(ours, theirs)

    assert 0.18 < low < 0.25 < high < 0.32
    assert paired_interval(ours, theirs) == (low, high)
    assert paired_interval(ours, ours) == (0.0, 0.0)


def test_the_baselines_rank_as_their_books_say() -> None:
    texts = {
        "long": "The port of the gateway is open, as is the port of the mailer and of the ledger.",
        "short": "The gateway port.",
        "other": "Nothing here.",
        "joined": "gateways",
    }
    by_words = baselines.bm25(texts)

    assert list(by_words("gateway port"))[:2] == ["short", "long"]
    assert "joined" not in by_words("gateway")
    assert list(baselines.grep(texts)("gateway")) == ["joined", "short", "long"]
    assert baselines.fts5(texts)('NEAR( "gateway" port')[0] == "short"
    assert list(baselines.fts5(texts)("?!")) == []
    assert list(baselines.rrf(lambda _: ["a", "b"], lambda _: ["b", "c"])("x")) == ["b", "a", "c"]


def test_vectors_alone_rank_by_the_best_piece() -> None:
    def vector(x: float, y: float) -> npt.NDArray[np.float32]:
        return np.array([x, y], dtype=np.float32)

    pieces = [("a", vector(0, 1)), ("b", vector(0.6, 0.8)), ("a", vector(1, 0))]

    ranked = baselines.dense(pieces, lambda _: vector(1, 0))

    assert ranked
    assert list(ranked("x")) == ["a", "b"]
    assert baselines.dense([], lambda _: vector(1, 0)) is None


def test_questions_in_one_language_are_answered_in_the_other(tmp_path: Path) -> None:
    texts = [{"id": f"{lang}0", "group": "all", "text": lang} for lang in ("en", "zh")]
    asked = [
        {"id": f"{lang}-q", "group": "all", "query": "?", "gold": [f"{lang}0"], "lang": lang}
        | {"gold_en": "en0", "gold_zh": "zh0"}
        for lang in ("en", "zh")
    ]
    write_set(tmp_path / "parallel", texts, asked)

    crossing = read_crossing(tmp_path / "parallel", "zh", "en")

    assert [d.id for d in crossing.documents] == ["en0"]
    assert [(q.id, q.gold) for q in crossing.questions] == [("zh-q", ("en0",))]
    with pytest.raises(InvalidRequest, match="no questions in fr"):
        read_crossing(tmp_path / "parallel", "fr", "en")


def test_an_identifier_is_first_among_near_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memorix.bench.run.COPIES", 300)

    found = run(Wanted(Path(), ["identifiers"], "none"), print).measures()

    assert found["identifiers.count"] == 100
    assert found["identifiers.r1"] == 1.0


def test_silence_is_measured_on_questions_of_others(tmp_path: Path) -> None:
    texts = [
        {"id": f"{group}{number}", "group": group, "text": f"The {word} is in the {group} shed."}
        for group, words in (("left", ["kite", "saw"]), ("right", ["boat", "oar"]))
        for number, word in enumerate(words)
    ]
    asked = [
        {"id": "1", "group": "left", "query": "kite saw", "gold": ["left0"]},
        {"id": "2", "group": "right", "query": "left boat", "gold": ["right0"]},
    ]
    write_set(tmp_path / "locomo", texts, asked)

    found = run(Wanted(tmp_path, ["off-topic"], "none"), print).measures()

    assert found["off-topic.recallable"] == 2
    assert found["off-topic.default.answered"] == found["off-topic.default.kept"] == 1.0
    assert found["off-topic.default.false_injection"] == 0.5
    assert found["off-topic.default.nonsense_answered"] == 0.0


def test_latency_is_that_of_words_and_meaning_together(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="name a model"):
        run(Wanted(tmp_path, ["latency"], "none"), print)
