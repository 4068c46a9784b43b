"""Measure each peer in stores of its own; what could not be measured is told with its reason."""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anyio import BrokenResourceError, ClosedResourceError
from mcp import MCPError

from memorix.bench.data import Question
from memorix.bench.generated import near_copies
from memorix.bench.peers import judges, reference
from memorix.bench.peers.base import Peer
from memorix.bench.peers.ours import ours
from memorix.bench.peers.plain import PlainFiles
from memorix.bench.peers.serving import supported
from memorix.bench.report import conditions_text, table
from memorix.bench.results import Measured, Results, machine
from memorix.errors import InvalidRequest

FAILED = (
    ExceptionGroup,
    MCPError,
    BrokenResourceError,
    ClosedResourceError,
    OSError,
    ValueError,
    TimeoutError,
)
INSTALL_S = 600
LOSSES: Mapping[str, Callable[[Peer, Path], float]] = {
    "callers.lost": judges.lost_by_callers,
    "servers.lost": judges.lost_by_servers,
    "killed.lost": judges.lost_by_kill,
    "deleted.files_left": judges.left,
}


def peers(cache: Path, install: bool) -> list[Peer]:
    """Return all that are compared; with `install` those of npm are put into the cache first.

    Raises:
        InvalidRequest: This system does not show what processes use, or npm fails.
    """
    if not supported():
        raise InvalidRequest("Peers are measured on Linux only, where /proc tells their CPU time.")
    if install:
        _installed(reference.PACKAGE, cache / "server-memory")
    return [ours(""), ours("none"), reference.reference(cache), PlainFiles()]


def _installed(package: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(folder), package]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise InvalidRequest(f"{package} could not be installed with npm: {error}") from error


def compare(peers: Sequence[Peer], notes: int, tell: Callable[[str], None]) -> Results:
    """Measure every peer with so many notes; names of measures begin with that of the peer."""
    results = Results("peers", conditions={**machine(), "notes": notes, "set": "near-copies"})
    for peer in peers:
        tell(peer.name)
        _attempt(results, peer, "", lambda peer, store: _used(peer, store, notes))
        for name, judge in LOSSES.items():
            if name.split(".")[0] in peer.cannot:
                continue
            _attempt(results, peer, name, _named(name, judge))
        results.skipped |= {f"{peer.name}.{name}": why for name, why in peer.cannot.items()}
    return results


def markdown(results: Results, peers: Sequence[Peer]) -> str:
    """Return one column a peer; a measure that there is none of is n/a, and told below."""
    names = list(
        dict.fromkeys(
            key.removeprefix(f"{peer.name}.")
            for peer in peers
            for key in results.measures
            if key.startswith(f"{peer.name}.")
        )
    )
    rows = [[name, *(_figure(results, f"{peer.name}.{name}") for peer in peers)] for name in names]
    parts = [
        "# peers",
        conditions_text({key: str(value) for key, value in results.conditions.items()}),
        table(["measure", *(peer.name for peer in peers)], rows),
        *(f"n/a: {name}, because {why}." for name, why in results.skipped.items()),
    ]
    return "\n\n".join(parts) + "\n"


def _figure(results: Results, name: str) -> str:
    found = results.measures.get(name)
    return f"{found.value:,.4g}" if found else "n/a"


def _named(
    name: str, judge: Callable[[Peer, Path], float]
) -> Callable[[Peer, Path], Mapping[str, float]]:
    return lambda peer, store: {name: judge(peer, store)}


def _attempt(
    results: Results, peer: Peer, name: str, measure: Callable[[Peer, Path], Mapping[str, float]]
) -> None:
    """Measure in a scratch store; a peer that fails is told of and never ends the run."""
    with tempfile.TemporaryDirectory(prefix="memorix-peers-") as folder:
        try:
            found = measure(peer, Path(folder))
        except FAILED as error:
            results.skipped[f"{peer.name}.{name}".rstrip(".")] = _said(error)
            return
    results.add(
        peer.name,
        {key: Measured.once(value) for key, value in found.items() if key not in peer.cannot},
    )


def _said(error: BaseException) -> str:
    """Return what the first error within a group of them says, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _bare(questions: Sequence[Question]) -> list[Question]:
    """Return the questions that name an identifier, with nothing asked but that."""
    return [
        replace(question, text=question.text.split()[-1], category="bare identifier")
        for question in questions
        if question.category == "identifier"
    ]


def _used(peer: Peer, store: Path, notes: int) -> Mapping[str, float]:
    data = near_copies(notes=notes, asked=min(100, notes // 10))
    began = time.perf_counter()
    with peer.opened(store) as session:
        listed = session.tools()
        started = (time.perf_counter() - began) * 1000
        tokens = _tokens(listed)
        wrote = judges.filled(session, data.documents)
        found = judges.asked(session, [*data.questions, *_bare(data.questions)])
        held = session.resident_mb()
    measured = {"tools_tokens": tokens, "start_ms": started, **wrote, **found}
    return {**measured, "resident_mb": held, "disk_mb": judges.size_mb(store)}


def _tokens(listed: Sequence[Mapping[str, Any]]) -> float:
    """Return o200k tokens of what `tools/list` says.

    Raises:
        ValueError: What counts them is not installed.
    """
    try:
        from bpe_openai import get_encoding
    except ImportError as error:
        raise ValueError("bpe-openai is not installed; `pip install bpe-openai`") from error
    compact = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    return float(len(get_encoding("o200k_base").encode(compact)))
