"""Read scenarios: steps with their times, then probes that are judged by ids and exact strings.

A scenario is one JSON object a line.  `steps` are `{"op", "at", "args", "as"}`; `probes` name
notes by the `as` of their step.  README.md beside the data tells every field.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

from memorix.bench.operations import planted
from memorix.errors import InvalidRequest

FAMILIES: Mapping[str, str] = {
    "A": "accurate recall",
    "B": "update",
    "C": "conflict",
    "D": "forgetting",
    "E": "time",
    "F": "test-time learning",
    "G": "long range",
    "H": "scope and isolation",
    "I": "refuse",
    "J": "hygiene",
    "K": "durability",
}
HALVES = ("given", "held-out")
# The second is not looked at while anything is built or tuned.

LANGUAGES = ("en", "zh", "mixed")
CHANNELS = ("recall", "answer", "read", "list", "brief", "export", "files", "bytes", "inbox")
# Where a probe looks: what recall returns, what a step was answered, one note, all notes, the
# brief, an export, the Markdown, every byte of vault and index, and what waits for review.

REFERENCES = ("of", "other", "to")
# Arguments of a step that name the note of an earlier one.


@dataclass(frozen=True, slots=True)
class Step:
    """One call; `name` is what probes and later steps call the note it makes."""

    op: str
    at: datetime
    args: Mapping[str, Any]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """One question and what its answer must be; an empty field demands nothing.

    It is asked after so many steps; 0 is after all of them.

    `must` are notes among the first `k`, `order` notes in this order there.  `must_not` may not
    come back; what is in `flags` may, with one of its flags (alternatives are split by `|`);
    `unflagged` may carry no flag of conflict.  `all_or_none` strings stand together or not at all.
    `status` is one the write of step `of` may have been answered with.  `empty` asks for silence.
    """

    kind: str
    at: datetime
    query: str = ""
    via: str = "recall"
    of: str = ""
    project: str = ""
    user: str = ""
    filters: Mapping[str, Any] = field(default_factory=dict)
    k: int = 5
    after: int = 0
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    first: str = ""
    order: tuple[str, ...] = ()
    strings: tuple[str, ...] = ()
    not_strings: tuple[str, ...] = ()
    all_or_none: tuple[str, ...] = ()
    flags: Mapping[str, str] = field(default_factory=dict)
    unflagged: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """A script and its probes; `fill` other notes, made from `seed`, are there before it begins."""

    id: str
    family: str
    lang: str
    seed: int
    fill: int
    steps: Sequence[Step]
    probes: Sequence[Probe]


def read(half: str, families: Sequence[str] = ()) -> list[Scenario]:
    """Return the scenarios of a half, of these families or of all.

    Raises:
        InvalidRequest: There is no such family.
    """
    wanted = [name.upper() for name in families] or list(FAMILIES)
    unknown = [name for name in wanted if name not in FAMILIES]
    if unknown:
        raise InvalidRequest(f"There is no family {unknown[0]!r}. There are A to K.")
    return [scenario_from(row) for name in wanted for row in _rows(half, name)]


def _rows(half: str, family: str) -> Iterator[dict[str, Any]]:
    file = files("memorix.bench.operations").joinpath(half, f"{family.lower()}.jsonl")
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def scenario_from(row: Mapping[str, Any]) -> Scenario:
    """Make a scenario of its JSON object, with its made-up secrets put together.

    Raises:
        InvalidRequest: It has an unknown field, lacks one, or names a note that no step makes.
    """
    whole = planted.put_together(row, row["seed"])
    steps = [
        Step(s["op"], _time(s["at"]), s.get("args", {}), s.get("as", "")) for s in whole["steps"]
    ]
    probes = [_probe(whole["id"], p) for p in whole["probes"]]
    scenario = Scenario(
        whole["id"], whole["family"], whole["lang"], row["seed"], row.get("fill", 0), steps, probes
    )
    _check(scenario)
    return scenario


def _probe(id: str, row: Mapping[str, Any]) -> Probe:
    known = {f.name: f for f in fields(Probe)}
    odd = sorted(row.keys() - known.keys())
    missing = [n for n, f in known.items() if _is_needed(f) and n not in row]
    if odd or missing:
        raise InvalidRequest(f"{id}: a probe has {odd} too much and {missing} too little.")
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
    values["at"] = _time(row["at"])
    return Probe(**values)


def _is_needed(field: Any) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _check(scenario: Scenario) -> None:
    made: set[str] = set()
    for step in scenario.steps:
        _known(scenario, made, [step.args[key] for key in REFERENCES if key in step.args])
        made |= {step.name} | set(step.args.get("names", ())) if step.name or step.args else made
    for probe in scenario.probes:
        named = (*probe.must, *probe.must_not, *probe.order, *probe.unflagged, *probe.flags)
        _known(scenario, made, [*named, *filter(None, (probe.first, probe.of))])
        if probe.via not in CHANNELS:
            raise InvalidRequest(f"{scenario.id}: there is no channel {probe.via!r}.")


def _known(scenario: Scenario, made: set[str], names: Sequence[str]) -> None:
    for name in names:
        if name not in made:
            raise InvalidRequest(f"{scenario.id}: no step makes {name!r}.")


def _time(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
