"""The scenario suite: how it judges, what it measures, and the adapters it drives."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memorix.bench.operations import planted
from memorix.bench.operations.adapter import Adapter, Done, Found, Seen
from memorix.bench.operations.baselines import Grep, PlainFts5
from memorix.bench.operations.distractors import fillers
from memorix.bench.operations.judge import Verdict, judge, judge_write
from memorix.bench.operations.measures import Played, auroc, measure, wilson
from memorix.bench.operations.over_mcp import OverMcp
from memorix.bench.operations.run import Costs, failures, play
from memorix.bench.operations.scenarios import Probe, Scenario, scenario_from
from memorix.cli.main import app
from memorix.errors import InvalidRequest

NOW = "2026-03-02T09:00:00Z"
NAMES = {"n1": "id-1", "n2": "id-2"}


def probe(**wanted: Any) -> Probe:
    row = {"kind": "newest", "at": NOW, "query": "port", **wanted}
    steps = [step("remember", f"n{n}", text="x") for n in (1, 2)]
    return scenario(steps, [row]).probes[0]


def step(op: str, name: str = "", at: str = NOW, **args: Any) -> dict[str, Any]:
    return {"op": op, "at": at, "args": args, "as": name}


def scenario(
    steps: list[dict[str, Any]], probes: list[dict[str, Any]], family: str = "B"
) -> Scenario:
    row = {"id": "T-1", "family": family, "lang": "en", "seed": 1}
    return scenario_from({**row, "steps": steps, "probes": probes})


def seen(*hits: Found) -> Seen:
    return Seen(hits, "\n".join(hit.text for hit in hits), unsure=not hits)


NEW, OLD = Found("id-2", "port 8443", score=0.9), Found("id-1", "port 8080", score=0.5)
MARKED = Found("id-1", "port 8080", frozenset({"superseded"}))


# -- judging


@pytest.mark.parametrize(
    ("wanted", "answer", "faults"),
    [
        ({"first": "n2", "must": ["n2"]}, seen(NEW, OLD), []),
        ({"first": "n2", "must": ["n2"]}, seen(OLD, NEW), ["n2 is not first"]),
        ({"must": ["n2"], "k": 1}, seen(OLD, NEW), ["n2 is missing"]),
        ({"must_not": ["n1"]}, seen(NEW, OLD), ["n1 came back"]),
        ({"flags": {"n1": "superseded|contested"}}, seen(NEW, MARKED), []),
        ({"flags": {"n1": "superseded"}}, seen(NEW), []),
        ({"flags": {"n1": "superseded"}}, seen(OLD), ["n1 is not marked superseded"]),
        ({"order": ["n2", "n1"]}, seen(OLD, NEW), ["not in the order n2, n1"]),
        ({"strings": ["8443"]}, seen(OLD), ["'8443' is not told"]),
        ({"not_strings": ["8080"]}, seen(NEW, OLD), ["'8080' is told"]),
        ({"not_strings": ["8080"]}, seen(NEW, MARKED), []),
        ({"empty": True}, seen(), []),
        ({"empty": True}, seen(NEW), ["1 notes instead of silence"]),
        ({"all_or_none": ["8443", "8080"], "via": "files"}, Seen(text="8443"), ["in part"]),
        ({"all_or_none": ["8443", "8080"], "via": "files"}, Seen(text=""), []),
    ],
)
def test_an_answer_is_judged_by_ids_and_exact_strings(
    wanted: dict[str, Any], answer: Seen, faults: list[str]
) -> None:
    found = judge(probe(**wanted), answer, NAMES).faults

    assert len(found) == len(faults)
    assert all(fault in text for fault, text in zip(faults, found, strict=True))


def test_two_facts_kept_as_one_note_are_a_wrong_merge() -> None:
    verdict = judge(
        probe(kind="apart", via="list", must=["n1", "n2"]),
        seen(NEW),
        {"n1": "id-2", "n2": "id-2"},
    )

    assert verdict.merged == 1
    assert not verdict.right


def test_an_old_value_is_stale_only_unmarked_and_in_the_first_five() -> None:
    asked = probe(flags={"n1": "superseded"})
    others = [Found(f"x{n}", "") for n in range(5)]

    assert judge(asked, seen(NEW, OLD), NAMES).stale
    assert not judge(asked, seen(NEW, MARKED), NAMES).stale
    assert not judge(asked, seen(*others, OLD), NAMES).stale


@pytest.mark.parametrize(
    ("wanted", "right"),
    [
        ({"status": ["conflict"], "must": ["n1"]}, True),
        ({"status": ["created"]}, False),
        ({"status": ["masked"]}, True),
        ({"not_strings": ["hunter2"]}, False),
    ],
)
def test_the_answer_to_a_write_is_judged_too(wanted: dict[str, Any], right: bool) -> None:
    done = Done("id-2", "conflict", ["id-1"], text="took out hunter2", masked=True)

    assert judge_write(probe(via="answer", of="n2", **wanted), done, NAMES).right is right


def test_a_scenario_that_names_an_unknown_note_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="no step makes 'n7'"):
        scenario(
            [step("remember", "n1", text="x")], [{"kind": "newest", "at": NOW, "must": ["n7"]}]
        )
    with pytest.raises(InvalidRequest, match="too much"):
        scenario([], [{"kind": "newest", "at": NOW, "musst": []}])


# -- measures


def test_the_interval_of_a_share_is_wilsons() -> None:
    low, high = wilson(81, 263)

    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)


def test_auroc_counts_how_often_an_answerable_question_scores_higher() -> None:
    assert auroc([0.1, 0.2], [0.3, 0.15]) == 0.75
    assert auroc([0.5], [0.5]) == 0.5


def test_what_a_memory_does_not_offer_is_told_apart_from_what_it_gets_wrong() -> None:
    row = {"kind": "newest", "at": NOW, "query": "port"}
    one = scenario([], [row])
    played = [
        Played(one, [Verdict("newest")]),
        Played(one, [Verdict("newest", ("n1 is missing",))]),
        Played(one, [Verdict("newest", not_offered="supersede")], "supersede"),
    ]

    found = measure(played)

    assert found["strict"] == pytest.approx(1 / 3)
    assert found["strict.offered"] == 0.5
    assert found["not_offered.scenarios"] == 1
    assert found["update.accuracy"] == 0.5
    assert [f["not_offered"] for f in failures(played)] == ["", "supersede"]


def test_secrets_are_counted_one_by_one() -> None:
    row = {"kind": "secret", "at": NOW, "via": "bytes", "not_strings": ["aa", "bb"]}
    one = scenario([], [row], "J")

    found = measure([Played(one, [judge(one.probes[0], Seen(text="..bb.."), {})])])

    assert found["secrets.let_through"] == 0.5


def test_only_a_flag_on_a_note_without_conflict_is_a_false_one() -> None:
    steps = [step("remember", f"n{n}", text="x") for n in (1, 2)]
    row = {"kind": "clear", "at": NOW, "query": "x", "unflagged": ["n2"]}
    one = scenario(steps, [row], "C")
    flag = frozenset({"contested"})

    for marked, false in (("id-1", 0.0), ("id-2", 1.0)):
        verdict = judge(one.probes[0], seen(Found(marked, "x", flag)), NAMES)
        assert measure([Played(one, [verdict])])["conflict.false_flags"] == false


# -- what scenarios are made of


def test_distractors_are_the_same_for_the_same_seed_and_all_different() -> None:
    notes = fillers(400, 3, "mixed")

    assert notes == fillers(400, 3, "mixed")
    assert notes != fillers(400, 4, "mixed")
    assert len({note.text for note in notes}) == 400


def test_made_up_secrets_are_whole_only_once_they_are_read() -> None:
    text = "key {secret:aws-id}, {secret:github-2}"

    made = planted.put_together({"args": [text]}, 7)["args"][0]

    assert "{" not in made
    assert "AKIA" in made
    assert made == planted.put_together(text, 7)
    assert made != planted.put_together(text, 8)


# -- the adapters, each with the same small scenarios


def update() -> Scenario:
    return scenario(
        [
            step("remember", "n1", text="The gateway listens on 8080.", title="Gateway port"),
            step("remember", "n2", text="Backups run at 02:15.", title="Backup time"),
            step("revise", "n1", of="n1", find="8080", replace="8443"),
            step("forget", of="n2", level="erase"),
            step("restart"),
        ],
        [
            {"kind": "newest", "at": NOW, "query": "gateway port", "first": "n1",
             "strings": ["8443"], "not_strings": ["8080"]},
            {"kind": "gone", "at": NOW, "query": "when do backups run", "must_not": ["n2"]},
        ],
    )  # fmt: skip


ADAPTERS: list[Callable[[Path], Adapter]] = [Grep, PlainFts5, lambda path: OverMcp(path, "none")]


@pytest.mark.parametrize("make", ADAPTERS, ids=["grep", "fts5", "memorix"])
def test_every_adapter_plays_a_scenario(make: Callable[[Path], Adapter], tmp_path: Path) -> None:
    played = asyncio.run(play(update(), make(tmp_path), Costs()))

    assert failures([played]) == []
    assert played.right


def test_a_baseline_says_what_it_does_not_offer(tmp_path: Path) -> None:
    one = scenario(
        [step("remember", "n1", text="a"), step("supersede", "n2", of="n1", text="b")],
        [{"kind": "newest", "at": NOW, "query": "a", "first": "n2"}],
    )

    played = asyncio.run(play(one, Grep(tmp_path), Costs()))

    assert played.not_offered == "supersede"
    assert not played.offered


def test_ours_is_driven_through_crashes_hand_edits_and_other_days(tmp_path: Path) -> None:
    one = scenario(
        [
            step("remember", "n1", at="2026-01-05T09:00:00Z", text="The rota is in PagerTree."),
            step("edit_file", of="n1", find="PagerTree", replace="OpsHook"),
            step("kill"),
            step("write_file", "n2", path="projects/atlas/hand.md", content="Gate code is 5512.\n"),
            step("rename_file", of="n2", path="projects/atlas/kept/gate.md"),
            step("rebuild"),
            step("parallel", texts=["One is about oak.", "Two, of elm."], names=["p1", "p2"]),
            step("reindex"),
        ],
        [
            {"kind": "durable", "at": NOW, "query": "rota", "first": "n1", "strings": ["OpsHook"]},
            {"kind": "durable", "at": NOW, "query": "gate code", "strings": ["5512"]},
            {"kind": "durable", "at": NOW, "via": "list", "must": ["n1", "p1", "p2"]},
            {"kind": "as-of", "at": NOW, "query": "rota", "must_not": ["n1"],
             "filters": {"as_of": "2026-01-01"}},
            {"kind": "durable", "at": NOW, "via": "files", "not_strings": ["PagerTree"]},
            {"kind": "own", "at": NOW, "via": "export", "strings": ["OpsHook", "5512"]},
            {"kind": "leak", "at": NOW, "query": "gate code", "project": "borealis",
             "must_not": ["n2"]},
        ],
        "K",
    )  # fmt: skip

    played = asyncio.run(play(one, OverMcp(tmp_path, "none"), Costs()))

    assert failures([played]) == []


def test_the_command_writes_measures_failures_and_conditions(tmp_path: Path) -> None:
    out = tmp_path / "measures.json"
    arguments = ["bench", "operations", "--family", "B", "--baseline", "grep", "--json", str(out)]

    result = CliRunner().invoke(app, arguments)

    assert result.exit_code == 0, result.output
    found = json.loads(out.read_text(encoding="utf-8"))
    assert 0 < found["measures"]["probes"] < 1
    assert found["conditions"]["baseline"] == "grep"
    assert all(f["faults"] or f["not_offered"] for f in found["failures"])


def test_an_unknown_family_or_baseline_is_told() -> None:
    for wrong in (["--family", "Z"], ["--baseline", "vi"]):
        result = CliRunner().invoke(app, ["bench", "operations", *wrong])

        assert isinstance(result.exception, InvalidRequest)
