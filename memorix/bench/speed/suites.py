"""The suites `core` and `scale`: what is measured, in which order, at which sizes."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from memorix.bench.results import Measured, Results, machine
from memorix.bench.speed import (
    asking,
    counting,
    following,
    reading,
    starting,
    weighing,
    writing,
)
from memorix.bench.speed.corpus import drafts
from memorix.bench.speed.simulated import simulated
from memorix.bench.speed.stock import Stock, default_model, stocked
from memorix.embedders.base import Embedder
from memorix.errors import InvalidRequest

CORE_NOTES = 1_000
SIZES, CHUNKS = (1_000, 10_000, 100_000), 1_000_000
COUNTED_NOTES = 200

Tell = Callable[[str], None]
Part = Callable[[Stock], Mapping[str, Measured]]

AT_EACH_SIZE: Mapping[str, Part] = {
    "recall": asking.recall,
    "remember": writing.remember,
    "disk": weighing.disk,
    "memory": weighing.memory,
}
# Disk before the parts that change files, so that it is that of the notes alone.

ALSO_AT_ONE: Mapping[str, Part] = {
    "edit": following.edit_to_recallable,
    "reindex": reading.reindex,
}


def core(notes: int, tell: Tell) -> Results:
    """Measure start, tools/list, write, recall, edit to recallable, reindex, memory and disk.

    Raises:
        InvalidRequest: There are too few notes to measure with.
    """
    _refuse_few(notes)
    results = Results("core", conditions={**machine(), "notes": notes})
    model = default_model()
    results.conditions["model"] = model.card.name
    with tempfile.TemporaryDirectory(prefix="memorix-bench-") as name:
        scratch = Path(name)
        tell("start")
        results.add("start", starting.start(scratch))
        results.add("resident", starting.resident(scratch))
        _count_tokens(results, scratch)
        tell("embedding")
        results.add("embedding", reading.embedding(model, [d.text for d in drafts(notes)]))
        _at_size(results, scratch, notes, model, {**AT_EACH_SIZE, **ALSO_AT_ONE}, tell, "")
    return results


def scale(sizes: Sequence[int], chunks: int, tell: Tell) -> Results:
    """Measure what grows with the store, at each of these sizes, and the index alone with so many
    simulated chunks; none where `chunks` is 0.

    Raises:
        InvalidRequest: There are too few notes to measure with, or nothing to measure.
    """
    _refuse_few(min(sizes, default=chunks))
    results = Results("scale", conditions={**machine(), "sizes": list(sizes), "chunks": chunks})
    model = default_model()
    results.conditions["model"] = model.card.name
    with tempfile.TemporaryDirectory(prefix="memorix-bench-") as name:
        scratch = Path(name)
        for size in sorted(sizes):
            _at_size(results, scratch, size, model, AT_EACH_SIZE, tell, f"{size}.")
        if chunks:
            tell(f"index alone, {chunks:,} chunks")
            found = simulated(scratch / "simulated", chunks, model)
            results.add(f"simulated.{chunks}", found)
        else:
            results.skipped["simulated"] = "it was switched off"
    return results


def counts(tell: Tell) -> Results:
    """Count what a start, a recall and a remember take, whatever else the machine does."""
    results = Results("counts", conditions={**machine(), "notes": COUNTED_NOTES})
    with tempfile.TemporaryDirectory(prefix="memorix-bench-") as name:
        scratch = Path(name)
        tell("imports")
        found = dict(counting.imports(scratch / "start"))
        tell(f"a store of {COUNTED_NOTES:,} notes")
        with (
            counting.counting() as counted,
            stocked(scratch / "stock", COUNTED_NOTES, default_model()) as stock,
        ):
            found |= counting.work(stock, counted)
        results.measures |= counting.as_measures(found)
        _count_tokens(results, scratch / "tools")
    return results


def _refuse_few(notes: int) -> None:
    if notes < 100:
        raise InvalidRequest("Speed is measured with at least 100 notes.")


def _at_size(
    results: Results,
    scratch: Path,
    size: int,
    model: Embedder,
    parts: Mapping[str, Part],
    tell: Tell,
    prefix: str,
) -> None:
    tell(f"a store of {size:,} notes")
    with stocked(scratch / str(size), size, model) as stock:
        for name, part in parts.items():
            tell(f"{name}, {size:,} notes")
            results.add(f"{prefix}{name}", part(stock))


def _count_tokens(results: Results, scratch: Path) -> None:
    try:
        results.measures["tools.tokens"] = Measured.once(starting.tool_tokens(scratch))
    except ImportError:
        results.skipped["tools.tokens"] = "bpe-openai, which counts them, is not installed"
