"""Measure every set of a folder, each in a scratch vault of its own."""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from memorix.bench.data import read_set
from memorix.bench.generated import near_copies
from memorix.bench.recall import measure, unit_of
from memorix.config import load
from memorix.errors import InvalidRequest

GENERATED = "generated"
# The set that needs no folder: a store of near-copies.

SHOWN = ("count", "r1", "r5", "r10", "any5", "mrr")


def run(
    folder: Path, names: Sequence[str], model: str, tell: Callable[[str], None]
) -> dict[str, float]:
    """Return all measures, named `set.measure`; tell a line a set, `generated` among them.

    Raises:
        InvalidRequest: The folder or a set is not there.
    """
    sets = list(names) or sorted(f.parent.name for f in folder.glob("*/docs.jsonl.gz"))
    if not sets:
        raise InvalidRequest(f"{folder} holds no retrieval sets.")
    found: dict[str, float] = {}
    tell(f"{'set':16}" + "".join(f"{name:>9}" for name in SHOWN) + "  seconds")
    for name in sets:
        began = time.perf_counter()
        data = near_copies() if name == GENERATED else read_set(folder / name)
        with tempfile.TemporaryDirectory(prefix="memorix-bench-") as scratch:
            measures = measure(data, load({}, _environment(Path(scratch), model)))
        unit = unit_of(data)
        row = "".join(f"{measures[unit + key]:9.3f}" for key in SHOWN[1:])
        took = time.perf_counter() - began
        tell(f"{name:16}{measures[unit + 'count']:9.0f}{row}  {took:.0f}")
        found |= {f"{name}.{key}": value for key, value in measures.items()}
    return found


def _environment(scratch: Path, model: str) -> dict[str, str]:
    (scratch / "project").mkdir()
    return {
        "MEMORIX_VAULT": str(scratch / "vault"),
        "MEMORIX_STATE_DIR": str(scratch / "state"),
        "MEMORIX_PROJECT_DIR": str(scratch / "project"),
        "MEMORIX_MODEL": model,
    }
