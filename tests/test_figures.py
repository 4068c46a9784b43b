import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIGURES = runpy.run_path(str(ROOT / "scripts/readme-figures"))
EVERY = runpy.run_path(str(ROOT / "scripts/bench-all"))
README = "before\n<!-- figures: speed -->\nold\n<!-- /figures -->\nafter\n"


def rendered(root: Path, readme: str) -> str:
    return str(FIGURES["rendered"](readme, root))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "scripts/figures").mkdir(parents=True)
    (tmp_path / "scripts/bench-results").mkdir()
    template = "{core: a.p50_ms} ms, {core: share | share}, {core: n | ,.0f} on {core: machine}\n"
    (tmp_path / "scripts/figures/speed.md").write_text(template, encoding="utf-8")
    return tmp_path


def keep(root: Path, **measures: float) -> None:
    data = {"measures": measures, "conditions": {"machine": "Linux"}}
    (root / "scripts/bench-results/core.json").write_text(json.dumps(data), encoding="utf-8")


def test_the_readme_says_what_the_benchmarks_found() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert rendered(ROOT, readme) == readme, "run scripts/readme-figures"
    assert readme.count("<!-- figures: ") == readme.count("<!-- /figures -->") >= 7


def test_a_figure_that_differs_from_its_file_is_noticed(results: Path) -> None:
    keep(results, **{"a.p50_ms": 3.14159, "share": 0.7771, "n": 12345})

    after = rendered(results, README)

    assert "3.1 ms, .777, 12,345 on Linux" in after
    assert after.startswith("before\n<!-- figures: speed -->\n")
    assert rendered(results, after) == after
    keep(results, **{"a.p50_ms": 4.0, "share": 0.7771, "n": 12345})
    assert rendered(results, after) != after


def test_a_result_that_is_not_there_is_named_with_the_command_that_makes_it(results: Path) -> None:
    with pytest.raises(SystemExit, match="run scripts/bench-all core"):
        rendered(results, README)


def test_what_was_compared_has_a_column_each_and_says_what_it_lacks(results: Path) -> None:
    template = "| ms | {core: *} |\n| --- | {core: *-} |\n| a write | {core: *.write.ms} |\n"
    (results / "scripts/figures/speed.md").write_text(
        template + "| a recall | {core: *.recall.ms | .1f} |\n", encoding="utf-8"
    )
    keep(results, **{"ours.write.ms": 2.0, "grep 3.1.recall.ms": 1.5, "ours.recall.ms": 4.0})

    after = rendered(results, README)

    assert "| ms | ours | grep 3.1 |\n| --- | --- | --- |\n| a write | 2 | n/a |" in after
    assert "| a recall | 4.0 | 1.5 |" in after


def test_a_measure_that_a_file_lacks_is_named(results: Path) -> None:
    keep(results, n=1)

    with pytest.raises(SystemExit, match=r"core.json has no measure 'a.p50_ms'"):
        rendered(results, README)


def test_results_of_all_suites_are_kept_in_one_shape() -> None:
    found = {
        "many": {"ms": {"p50": 1.23456}},
        "failures": [],
        "leads": {"x.r10": {"rrf": {"low": 1}}, "x.r5": {}},
    }

    kept = EVERY["as_kept"]("http", found, {"commit": "abc"})

    assert kept["measures"]["many.ms.p50"] == 1.235
    assert kept["measures"]["lead.x.r10.rrf.low"] == 1.0
    assert kept["conditions"] == {"commit": "abc"}


def test_a_suite_that_takes_too_long_is_stopped_and_named(tmp_path: Path) -> None:
    every = [sys.executable, str(ROOT / "scripts/bench-all"), "core-1000", "recall"]

    done = subprocess.run(
        [*every, "--times", "0.0002", "--results", str(tmp_path / "results")],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )

    assert "stopped: it took longer than" in done.stdout
    assert "skipped: it needs --data" in done.stdout
    assert not list((tmp_path / "results").glob("*.json"))
