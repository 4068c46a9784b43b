"""What was measured, as Markdown tables, and whether anything was lost or wrong."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.stress.crashes import COLUMNS, INDEX
from tests.stress.idle import AIM_CPU_S
from tests.stress.latency import AIM_P50_MS, AIM_P95_MS

AIM_LOOK, AIM_REINDEX = 2.0, 0.5

Found = Mapping[str, Any]


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def writers(found: Sequence[Found]) -> str:
    shown = {
        "acknowledged": "acknowledged",
        "deaths": "servers killed",
        "saves": "saves by people",
        "lost": "lost writes",
        "lost_saves": "lost saves",
        "twice": "kept twice",
        "not_found": "not found",
        "lock_errors": "lock errors",
        "index_equals_folder": "index is the folder",
        "second_catch_up_did": "second catch-up did",
    }
    rows = [
        [
            f"{run['servers']} x {run['writes']}, {run['people']} people",
            *(run[key] for key in shown),
        ]
        for run in found
    ]
    return table(["servers x writes", *shown.values()], rows)


def latency(found: Mapping[str, Found]) -> str:
    columns = ["notes", "recallable p50", "p95", "slowest", "bare event p50", "p95", "aims"]
    rows = [
        [
            size,
            *(f"{one['recallable'][f'p{p}_ms']} ms" for p in (50, 95, 100)),
            *(f"{one['event'][f'p{p}_ms']} ms" for p in (50, 95)),
            _met(
                one["recallable"]["p50_ms"] <= AIM_P50_MS
                and one["recallable"]["p95_ms"] <= AIM_P95_MS,
                f"{AIM_P50_MS} and {AIM_P95_MS} ms",
            ),
        ]
        for size, one in found.items()
    ]
    return table(columns, rows)


def idle(found: Sequence[Found]) -> str:
    rows = [
        [
            one["notes"],
            one["model"],
            f"{one['cpu_s']} s in {one['seconds']} s",
            one["notes_read"],
            _met(one["cpu_s"] < AIM_CPU_S and not one["notes_read"], f"{AIM_CPU_S} s, none read"),
        ]
        for one in found
    ]
    return table(["notes", "model", "processor", "notes opened", "aim"], rows)


def looks(found: Found) -> str:
    look, reindex = found["look"], found["reindex"]
    return table(
        [f"{found['notes']} notes", "ours", "the least there is", "ratio", "aim"],
        [
            [
                "a look, nothing changed",
                f"{look['catch_up_ms']} ms",
                f"{look['walk_ms']} ms, a walk with a stat of each file",
                look["ratio"],
                _met(look["ratio"] <= AIM_LOOK, f"at most {AIM_LOOK}"),
            ],
            [
                "all read anew, without vectors",
                f"{reindex['notes_per_s']} notes/s",
                f"{reindex['plain_per_s']} notes/s, the same text into plain FTS5",
                reindex["ratio"],
                _met(reindex["ratio"] >= AIM_REINDEX, f"at least {AIM_REINDEX}"),
            ],
            [
                "... beside its own words",
                "",
                f"{reindex['our_words_per_s']} notes/s, the words we make of it into plain FTS5",
                reindex["ratio_of_our_words"],
                "",
            ],
        ],
    )


def bursts(found: Found) -> str:
    rows = [
        [
            f"{one['files']} files {name}",
            f"{one['changing_s']} s",
            f"{one['right_after_s']} s",
            one["full_looks"],
            one["looks_at_paths"],
        ]
        for name, one in found.items()
        if name != "trickle"
    ]
    slow = found["trickle"]
    row = [f"{slow['lines']} lines, one each half second", "", f"{slow['slowest_ms']} ms, slowest"]
    rows.append([*row, slow["full_looks"], slow["looks_at_paths"]])
    return table(["what", "took", "right after", "full looks", "looks at paths"], rows)


def crashes(found: Mapping[str, Found]) -> str:
    rows = []
    for verb, one in found.items():
        states = [one["states"].get(state, 0) for state in ("old", "between", "new")]
        deaths = [one["deaths"][column] or "" for column in (*COLUMNS, INDEX)]
        rows.append([verb, *deaths, *states, len(one["faults"])])
    columns = [*COLUMNS, "index file", "left old", "between", "new", "faults"]
    return table(["killed in each", *columns], rows)


def faults(found: Mapping[str, Any]) -> list[str]:
    """Return what was lost or wrong; speed is no fault."""
    said = [
        f"writers: {run[key]} {key}"
        for run in found.get("writers", ())
        for key in (
            "lost",
            "lost_saves",
            "twice",
            "not_found",
            "lock_errors",
            "second_catch_up_did",
        )
        if run[key]
    ]
    said += [
        "writers: the index is not the folder"
        for run in found.get("writers", ())
        if not run["index_equals_folder"]
    ]
    for verb, one in found.get("crashes", {}).items():
        said += [f"{verb}: {fault}" for fault in one["faults"]]
    return said


def _met(met: bool, aim: str) -> str:
    return f"{aim}: {'met' if met else 'missed'}"
