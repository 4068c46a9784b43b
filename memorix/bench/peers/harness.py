"""Measure each peer in stores of its own; what could not be measured is told with its reason."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anyio import BrokenResourceError, ClosedResourceError
from mcp import MCPError

from memorix.bench.data import Question
from memorix.bench.generated import near_copies
from memorix.bench.peers import (
    basicmemory,
    judges,
    libsql,
    mem0,
    memorixnpm,
    memoryservice,
    qmd,
    reference,
)
from memorix.bench.peers.base import Peer
from memorix.bench.peers.ours import TRIVIAL, ours
from memorix.bench.peers.plain import PlainFiles
from memorix.bench.peers.serving import supported
from memorix.bench.report import conditions_text, table
from memorix.bench.results import Measured, Results, machine
from memorix.embedders.cards import MULTILINGUAL
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
JUDGES: Mapping[str, Callable[[Peer, Path], Mapping[str, float]]] = {
    "callers": judges.lost_by_callers,
    "servers": judges.lost_by_servers,
    "killed": judges.lost_by_kill,
    "deleted": judges.left,
    "edited": judges.edited,
}
OF_ALL = ("version", "commit", "when", "machine", "python", "load", "notes", "set")
# Conditions that are not those of one peer.
NOT_FILES = "its notes are not files to edit"
ADAPTERS = (
    reference.ADAPTER,
    libsql.ADAPTER,
    memorixnpm.ADAPTER,
    basicmemory.ADAPTER,
    memoryservice.ADAPTER,
    mem0.ADAPTER,
    qmd.ADAPTER,
)


def peers(cache: Path, install: bool, only: Sequence[str] = ()) -> list[Peer]:
    """Return all that are compared, or those that `only` names; with `install` the newest of the
    others are put into the cache first.

    Raises:
        InvalidRequest: This system does not show what processes use, or no peer has such a name.
    """
    if not supported():
        raise InvalidRequest("Peers are measured on Linux only, where /proc tells their CPU time.")
    own: list[Peer] = [ours(""), ours("none"), ours(MULTILINGUAL.name), PlainFiles()]
    found = [peer for peer in own if _wanted(peer.name, only)]
    for adapter in ADAPTERS:
        if _wanted(adapter.name, only):
            found += adapter.found(cache, install)
    if not found:
        names = ", ".join(adapter.name for adapter in ADAPTERS)
        raise InvalidRequest(
            f"No peer is called {' or '.join(only)}; there are memorix, grep, {names}."
        )
    return found


def _wanted(name: str, only: Sequence[str]) -> bool:
    return not only or name.partition(",")[0] in only


def compare(
    peers: Sequence[Peer],
    notes: int,
    tell: Callable[[str], None],
    keep: Callable[[Results], None] = lambda results: None,
    so_far: Results | None = None,
    starts: int = judges.STARTS,
) -> Results:
    """Measure every peer with so many notes, one at a time, and keep what there is after each;
    names of measures begin with that of the peer. Of `so_far` remains what is of other peers."""
    results = so_far or Results("peers")
    results.conditions |= {**machine(), "notes": notes, "set": "near-copies"}
    for peer in peers:
        tell(peer.name)
        _forget(results, peer)
        if peer.about:
            results.conditions[peer.name] = f"{peer.about}; {notes} notes, load {machine()['load']}"
        if _attempt(results, peer, "", lambda peer, store: _used(peer, store, notes)):
            _judged(results, peer, starts)
        results.skipped |= {f"{peer.name}.{name}": why for name, why in peer.cannot.items()}
        keep(results)
    return results


def _forget(results: Results, peer: Peer) -> None:
    for found in (results.measures, results.skipped):
        for name in [key for key in found if f"{key}.".startswith(f"{peer.name}.")]:
            del found[name]


def _judged(results: Results, peer: Peer, starts: int) -> None:
    """Measure what a peer does that runs, each in a store of its own."""
    if "start" not in peer.cannot:
        _attempt(results, peer, "start", lambda p, s: judges.started(p, TRIVIAL, s, starts))
    for name, judge in JUDGES.items():
        if name == "edited" and not peer.notes:
            results.skipped[f"{peer.name}.edited"] = NOT_FILES
        elif name not in peer.cannot:
            _attempt(results, peer, name, _named(name, judge))


def markdown(results: Results) -> str:
    """Return one column a peer; a measure that there is none of is n/a, and told below."""
    columns = [name for name, what in results.conditions.items() if name not in OF_ALL and what]
    names = list(
        dict.fromkeys(
            key.removeprefix(f"{column}.")
            for column in columns
            for key in results.measures
            if key.startswith(f"{column}.")
        )
    )
    rows = [[name, *(_figure(results, f"{column}.{name}") for column in columns)] for name in names]
    parts = [
        "# peers",
        conditions_text({key: str(value) for key, value in results.conditions.items()}),
        table(["measure", *columns], rows),
        *(f"n/a: {name}, because {why}." for name, why in results.skipped.items()),
    ]
    return "\n\n".join(parts) + "\n"


def _figure(results: Results, name: str) -> str:
    found = results.measures.get(name)
    if not found:
        return "n/a"
    return f"{found.value:,.0f}" if found.value >= 1000 else f"{found.value:.4g}"


def _named(
    name: str, judge: Callable[[Peer, Path], Mapping[str, float]]
) -> Callable[[Peer, Path], Mapping[str, float]]:
    return lambda peer, store: {f"{name}.{k}": v for k, v in judge(peer, store).items()}


def _attempt(
    results: Results, peer: Peer, name: str, measure: Callable[[Peer, Path], Mapping[str, float]]
) -> bool:
    """Measure in a scratch store; a peer that fails is told of and never ends the run."""
    with tempfile.TemporaryDirectory(prefix="memorix-peers-") as folder:
        try:
            found = measure(peer, Path(folder))
        except FAILED as error:
            results.skipped[f"{peer.name}.{name}".rstrip(".")] = _said(error)
            return False
    results.add(
        peer.name,
        {key: Measured.once(value) for key, value in found.items() if key not in peer.cannot},
    )
    return True


def _said(error: BaseException) -> str:
    """Return what the first error within a group of them says, in one line."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = " ".join(str(error).split())
    return text if type(error) is OSError else f"{type(error).__name__}: {text}"


def _bare(questions: Sequence[Question]) -> list[Question]:
    """Return the questions that name an identifier, with nothing asked but that."""
    return [
        replace(question, text=question.text.split()[-1], category="bare identifier")
        for question in questions
        if question.category == "identifier"
    ]


def _used(peer: Peer, store: Path, notes: int) -> Mapping[str, float]:
    data = near_copies(notes=notes, asked=min(100, notes // 10))
    with peer.opened(store) as session:
        tokens = _tokens(session.tools())
        wrote = judges.filled(session, data.documents)
        found = judges.asked(session, [*data.questions, *_bare(data.questions)])
        held = session.resident_mb()
    if not held and "resident_mb" not in peer.cannot:
        raise ValueError("its server ended in the midst of being asked")
    sizes = {"resident_mb": held, "disk_mb": judges.size_mb(store)}
    return {"tools_tokens": tokens, **wrote, **found, **sizes}


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
