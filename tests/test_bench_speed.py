import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from memorix.bench.results import Measured, Results, flat
from memorix.bench.speed.corpus import drafts, questions
from memorix.bench.speed.plot import plot
from memorix.bench.speed.report import markdown, plots
from memorix.bench.speed.starting import start
from memorix.bench.speed.suites import core, scale
from memorix.bench.speed.timing import Rounds, blocks
from memorix.errors import InvalidRequest

CHINESE = re.compile("[\u4e00-\u9fff]")


def test_made_notes_are_the_same_for_the_same_seed_and_no_two_are_alike() -> None:
    made = drafts(2_000)

    assert made == drafts(2_000)
    assert made != drafts(2_000, seed=8)
    assert len({draft.text for draft in made}) == 2_000


def test_made_notes_are_decisions_gotchas_commands_and_bug_fixes_in_two_languages() -> None:
    made = drafts(2_000)
    commands = [draft for draft in made if draft.type == "Procedure" and "`" in draft.text]
    fixes = [draft for draft in made if "bug" in draft.tags]

    for kind in (commands, fixes, *([d for d in made if d.type == t] for t in ("Decision",))):
        chinese = sum(bool(CHINESE.search(draft.text)) for draft in kind)
        assert 0.2 < chinese / len(kind) < 0.7
    assert {draft.type for draft in made} >= {"Decision", "Gotcha", "Fact", "Procedure"}
    assert len(set(questions(made, 500))) > 400


def test_a_ratio_is_that_of_medians_and_spreads_over_blocks() -> None:
    rounds = Rounds()
    for number in range(10):
        rounds.took("ours", 0.002 if number < 8 else 0.006)
        rounds.took("floor", 0.001)

    assert rounds.ratio(["ours"], ["floor"]) == Measured(2.0, 2.0, 6.0)
    assert rounds.median_ms("ours", "floor").value == pytest.approx(3.0)
    assert blocks(range(7), 3) == [[0, 1], [2, 3, 4], [5, 6]]


def test_a_plot_is_the_same_for_the_same_figures_and_can_be_drawn() -> None:
    lines = {"recall & more": [(1_000.0, 3.5), (10_000.0, 12.0)], "floor": [(1_000.0, 1.0)]}

    drawn = plot("recall, ms", "notes", lines)

    assert drawn == plot("recall, ms", "notes", lines)
    texts = [one.text for one in ElementTree.fromstring(drawn).iter() if one.tag.endswith("text")]
    assert {"recall, ms", "notes", "recall & more", "floor", "1,000", "10,000"} <= set(texts)


def test_numbers_of_nested_data_go_by_their_path() -> None:
    nested = {"a": {"p50": 1, "name": "x"}, "b": [2.5, {"c": True}]}

    assert dict(flat(nested)) == {"a.p50": 1.0, "b.0": 2.5, "b.1.c": 1.0}


def test_stores_of_several_sizes_are_measured_beside_their_floor(tmp_path: Path) -> None:
    results = scale([100, 200], 500, print)

    data = json.loads(json.dumps(results.as_data()))
    measures = data["measures"]
    for size in (100, 200):
        assert measures[f"{size}.recall.ratio"] > 1
        assert measures[f"{size}.remember.ratio"] > measures[f"{size}.remember.kept.ratio"] > 1
        assert measures[f"{size}.recall.answered"] > 0.3
        assert measures[f"{size}.disk.index_mb"] > measures[f"{size}.disk.words_mb"] > 0
    assert measures["simulated.500.vector.p50_ms"] > 0
    assert data["conditions"]["commit"]
    assert data["spread"]["100.recall.ratio"][0] <= data["spread"]["100.recall.ratio"][1]
    assert "| 200.recall.ratio |" in markdown(results)
    assert plots(results).keys() == {"recall", "remember"}


def test_a_store_too_small_to_measure_is_refused() -> None:
    for run in (lambda: core(99, print), lambda: scale([99], 0, print)):
        with pytest.raises(InvalidRequest, match="at least 100"):
            run()


def test_a_start_is_measured_beside_a_trivial_server_of_the_same_sdk(tmp_path: Path) -> None:
    found = start(tmp_path, starts=1)

    assert found["ours.tools_list_ms"].value >= found["ours.initialize_ms"].value
    assert 0.5 < found["initialize.ratio"].value < 5


def test_what_was_skipped_is_said_with_why() -> None:
    results = Results("core", {"start.ratio": Measured(1.2, 1.1, 1.3)}, {"tools": "it is off"})

    text = markdown(results)

    assert "| start.ratio | 1.2 | 1.1 to 1.3 |" in text
    assert "Skipped: tools, because it is off." in text
