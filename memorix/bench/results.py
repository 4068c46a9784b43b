"""What every benchmark writes: measures, how far they spread, and under which conditions."""

import json
import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import memorix
from memorix.errors import InvalidRequest
from memorix.git import Repository


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure, and the least and the most that the blocks of its run came to."""

    value: float
    low: float
    high: float

    @classmethod
    def once(cls, value: float) -> "Measured":
        """Return a figure that does not spread, such as a size."""
        return cls(value, value, value)


@dataclass
class Results:
    """The figures of a suite by name, what was not measured and why, and the conditions."""

    suite: str
    measures: dict[str, Measured] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, Any] = field(default_factory=dict)

    def add(self, prefix: str, found: Mapping[str, Measured]) -> None:
        self.measures |= {f"{prefix}.{name}": one for name, one in found.items()}

    def as_data(self) -> dict[str, Any]:
        return {
            "suite": self.suite,
            "measures": {name: rounded(one.value) for name, one in self.measures.items()},
            "spread": {
                name: [rounded(one.low), rounded(one.high)]
                for name, one in self.measures.items()
                if one.low != one.high
            },
            "skipped": self.skipped,
            "conditions": self.conditions,
        }


def read(path: Path) -> Results:
    """Read what `write` wrote of results.

    Raises:
        InvalidRequest: The file is not there, or is none.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        spread = data["spread"]
        measures = {
            name: Measured(value, *spread.get(name, (value, value)))
            for name, value in data["measures"].items()
        }
        return Results(data["suite"], measures, data["skipped"], data["conditions"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidRequest(f"{path} holds no results of a benchmark: {error}.") from error


def machine() -> dict[str, Any]:
    """Return what any run was made with and on; `load` is that of the machine as it begins."""
    return {
        "version": memorix.__version__,
        "commit": commit(),
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0,
    }


def commit() -> str:
    root = Path(memorix.__file__).parents[1]
    repository = Repository.at(root) if (root / ".git").exists() else None
    return (repository.head()[1] if repository else "") or "not in a repository"


def flat(found: Any, prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of nested data by their path, joined by dots; a truth counts as 1 or 0."""
    if isinstance(found, Mapping):
        for key, value in found.items():
            yield from flat(value, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(found, list | tuple):
        for place, value in enumerate(found):
            yield from flat(value, f"{prefix}.{place}")
    elif isinstance(found, int | float):
        yield prefix, float(found)


def write(path: Path, data: Mapping[str, Any]) -> None:
    """Write what a run found as JSON, for people to read and compare, too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def rounded(value: float) -> float:
    """Return a figure with four digits that count; more would be noise."""
    return float(f"{value:.4g}") if abs(value) < 10_000 else float(round(value))
