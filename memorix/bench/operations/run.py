"""Play scenarios against a memory, judge every probe, and tell the measures."""

import asyncio
import math
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from memorix import __version__
from memorix.bench.operations import scenarios
from memorix.bench.operations.adapter import Adapter, Done, NotOffered, Refused
from memorix.bench.operations.baselines import Grep, PlainFts5
from memorix.bench.operations.distractors import fillers
from memorix.bench.operations.judge import Verdict, judge, judge_write
from memorix.bench.operations.measures import Played, measure
from memorix.bench.operations.over_mcp import OverMcp
from memorix.bench.operations.scenarios import REFERENCES, Probe, Scenario, Step
from memorix.errors import InvalidRequest

BASELINES: Mapping[str, Callable[[Path], Adapter]] = {"grep": Grep, "fts5": PlainFts5}
SCENARIO_WITHIN_S = 300.0
# A server that hangs fails its scenario, not the run.

SHOWN = {
    "strict": "strict scenarios right",
    "strict.offered": "... of those wholly offered",
    "probes": "probes right",
    "update.accuracy": "update accuracy",
    "update.stale": "stale in the first 5",
    "wrong_merges": "wrong merges",
    "conflict.both_flagged": "conflicts, both sides flagged",
    "conflict.false_flags": "false flags",
    "forget.complete": "forget completeness",
    "forget.bystanders": "bystanders kept",
    "leaks": "leaks between scopes",
    "secrets.let_through": "secrets let through",
    "secrets.false_alarms": "false alarms on look-alikes",
    "time.accuracy": "as-of and date resolution",
    "refuse.silent": "silent where nothing fits",
    "refuse.false_empty": "silent where something does",
    "refuse.auroc": "refusal AUROC",
    "recall.r5": "recall@5 of family A",
    "evidence.density": "evidence density at 5",
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What is played, and by which memory; `fill` is the least number of distractors."""

    half: str = "given"
    families: Sequence[str] = ()
    baseline: str = ""
    model: str = ""
    fill: int = 0
    jobs: int = 2


@dataclass
class Costs:
    """Seconds of each call, by what was called."""

    taken: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def as_measures(self) -> dict[str, float]:
        found: dict[str, float] = {}
        for name, seconds in self.taken.items():
            found[f"cost.{name}.p50_ms"] = statistics.median(seconds) * 1000
            found[f"cost.{name}.p95_ms"] = (
                sorted(seconds)[math.ceil(0.95 * len(seconds)) - 1] * 1000
            )
        return found


def run(settings: Settings, tell: Callable[[str], None]) -> dict[str, Any]:
    """Play a half of the scenarios; return measures, failures and conditions as JSON data.

    Raises:
        InvalidRequest: There is no such family or baseline.
    """
    make = _maker(settings)
    read = scenarios.read(settings.half, settings.families)
    chosen = [replace(scenario, fill=max(scenario.fill, settings.fill)) for scenario in read]
    costs = Costs()
    began = time.perf_counter()
    played = asyncio.run(play_all(chosen, make, settings.jobs, costs))
    seconds = time.perf_counter() - began
    measures = measure(played) | costs.as_measures()
    for line in table(measures):
        tell(line)
    probes = sum(len(scenario.probes) for scenario in chosen)
    tell(f"{len(chosen)} scenarios, {probes} probes, {settings.half}, in {seconds:.0f} s")
    conditions = {**asdict(settings), "version": __version__, "seconds": round(seconds)}
    return {"measures": measures, "conditions": conditions, "failures": failures(played)}


def _maker(settings: Settings) -> Callable[[Path], Adapter]:
    if not settings.baseline:
        return lambda scratch: OverMcp(scratch, settings.model)
    if settings.baseline not in BASELINES:
        raise InvalidRequest(f"There is no baseline {settings.baseline!r}. Use grep or fts5.")
    return BASELINES[settings.baseline]


async def play_all(
    chosen: Sequence[Scenario], make: Callable[[Path], Adapter], jobs: int, costs: Costs
) -> list[Played]:
    """Play scenarios, `jobs` at a time, each in a scratch folder of its own."""
    free = asyncio.Semaphore(jobs)

    async def one(scenario: Scenario) -> Played:
        async with free:
            with tempfile.TemporaryDirectory(
                prefix="memorix-bench-", ignore_cleanup_errors=True
            ) as scratch:
                return await play(scenario, make(Path(scratch)), costs)

    return await asyncio.gather(*(one(scenario) for scenario in chosen))


async def play(scenario: Scenario, memory: Adapter, costs: Costs) -> Played:
    """Play one scenario and judge its probes."""
    try:
        async with asyncio.timeout(SCENARIO_WITHIN_S):
            await memory.begin(fillers(scenario.fill, scenario.seed, scenario.lang))
            return await _played(scenario, memory, costs)
    except NotOffered as lacking:
        return Played(scenario, [_lacks(p, str(lacking)) for p in scenario.probes], str(lacking))
    except TimeoutError:
        late = Verdict("", (f"not done within {SCENARIO_WITHIN_S:.0f} s",))
        return Played(scenario, [late] * len(scenario.probes))
    finally:
        await memory.end()


async def _played(scenario: Scenario, memory: Adapter, costs: Costs) -> Played:
    """Take the steps, ask each probe at its place among them, and judge what comes back."""
    written: dict[str, Done] = {}
    verdicts: list[Verdict] = []
    refused: list[str] = []
    waiting = list(scenario.probes)
    for number, step in enumerate(scenario.steps, 1):
        done = await _take(step, memory, written, costs)
        if done.status == "refused":
            refused.append(f"{step.op}: {done.text}")
        while waiting and (waiting[0].after or len(scenario.steps)) <= number:
            verdicts.append(await _judged(waiting.pop(0), memory, written, costs))
    verdicts += [await _judged(probe, memory, written, costs) for probe in waiting]
    return Played(scenario, verdicts, refused=refused)


async def _take(step: Step, memory: Adapter, written: dict[str, Done], costs: Costs) -> Done:
    """Take a step, and add what was written to what was written before."""
    await memory.at(step.at)
    began = time.perf_counter()
    try:
        done = await memory.do(step.op, _resolved(step, written))
    except Refused as refusal:
        done = Done(status="refused", text=str(refusal))
    costs.taken[step.op].append(time.perf_counter() - began)
    if step.name:
        written[step.name] = done
    for name, id in zip(step.args.get("names", ()), done.ids, strict=False):
        written[name] = Done(id, "created")
    return done


def _resolved(step: Step, written: Mapping[str, Done]) -> dict[str, Any]:
    """Return a step's arguments with ids where it names earlier notes."""
    return {
        key: written[value].id if key in REFERENCES else value for key, value in step.args.items()
    }


async def _judged(
    probe: Probe, memory: Adapter, written: Mapping[str, Done], costs: Costs
) -> Verdict:
    names = {name: done.id for name, done in written.items() if done.id}
    if probe.via == "answer":
        return judge_write(probe, written.get(probe.of), names)
    await memory.at(probe.at)
    try:
        await memory.settle(probe)
        began = time.perf_counter()
        seen = await memory.look(probe, names.get(probe.of, ""))
    except NotOffered as lacking:
        return _lacks(probe, str(lacking))
    except Refused as refusal:
        return Verdict(probe.kind, (f"refused: {refusal}",))
    costs.taken[probe.via].append(time.perf_counter() - began)
    return judge(probe, seen, names)


def _lacks(probe: Probe, what: str) -> Verdict:
    return Verdict(probe.kind, not_offered=what)


def table(measures: Mapping[str, float]) -> list[str]:
    """Return the measures a reader wants first, a line each."""
    lines = [
        f"{label:32} {measures[name]:6.3f}"
        + (f"  of {measures[f'{name}.n']:.0f}" if f"{name}.n" in measures else "")
        for name, label in SHOWN.items()
        if name in measures
    ]
    if "strict" in measures:
        low, high = measures["strict.low"], measures["strict.high"]
        lines[0] += f"  (95 %: {low:.3f} to {high:.3f})"
    by_family = [
        f"{name.split('.')[1]} {measures[name]:.2f}"
        for name in measures
        if name.startswith(("family.", "lang.")) and name.endswith(".strict")
    ]
    return [*lines, f"strict by family and language: {', '.join(by_family)}"]


def failures(played: Sequence[Played]) -> list[dict[str, Any]]:
    """Return every probe that was not right, with what was wrong."""
    return [
        {
            "scenario": p.scenario.id,
            "kind": probe.kind,
            "via": probe.via,
            "query": probe.query,
            "faults": list(verdict.faults),
            "not_offered": verdict.not_offered,
            "ranked": list(verdict.ranked),
            "steps_refused": list(p.refused),
        }
        for p in played
        for probe, verdict in zip(p.scenario.probes, p.verdicts, strict=True)
        if not verdict.right
    ]
