"""Measure every set of a folder, each in a scratch vault of its own."""

import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import memorix
from memorix.bench import judging
from memorix.bench.data import RetrievalSet, read_crossing, read_set
from memorix.bench.generated import linked_notes, near_copies
from memorix.bench.latency import LARGE, SIZES, latency
from memorix.bench.metrics import ROUNDS
from memorix.bench.recall import measure, stocked
from memorix.bench.report import Report, Section, conditions_text, retrieval_text, table
from memorix.bench.silence import silence, silence_rows
from memorix.config import Config, load
from memorix.embedders.cards import MINILM, MULTILINGUAL
from memorix.errors import InvalidRequest
from memorix.git import Repository
from memorix.ranking import Mix

PARALLEL = "xquad_en_zh"
# The set whose texts are there in two languages.

CONVERSATIONS = "locomo"
# The set whose groups are about other people each.

COPIES = 10_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run is to measure: sets of a folder by name (empty: all of it), with which model."""

    folder: Path
    names: Sequence[str] = ()
    model: str = ""
    large: bool = False


def run(wanted: Wanted, tell: Callable[[str], None]) -> Report:
    """Measure each set and tell of it, as Markdown, as soon as it is done.

    Raises:
        InvalidRequest: The folder or a set is not there.
        ModelUnavailable: The model is not to be had.
    """
    names = list(wanted.names) or sorted(
        f.parent.name for f in wanted.folder.glob("*/docs.jsonl.gz")
    )
    if not names:
        raise InvalidRequest(f"{wanted.folder} holds no retrieval sets.")
    conditions = conditions_of(wanted.model)
    tell(conditions_text(conditions))
    sections = []
    for name in names:
        sections.append(OWN.get(name, partial(_of_folder, name))(wanted))
        tell(f"\n{sections[-1].markdown}")
    return Report(sections, conditions)


def conditions_of(model: str) -> dict[str, str]:
    """Return what a run was made with."""
    root = Path(memorix.__file__).parents[1]
    repository = Repository.at(root) if (root / ".git").exists() else None
    commit = repository.head()[1] if repository else ""
    return {
        "version": memorix.__version__,
        "commit": commit or "not in a repository",
        "model": model or MINILM.name,
        "configuration": repr(Mix()),
        "baselines": "the same units; grep counts matched words; BM25 k1 1.2, b 0.75; FTS5"
        " unicode61; dense: best piece by cosine; RRF 60 of BM25 and dense",
        "intervals": f"95 %, paired bootstrap, {ROUNDS} rounds, seed 0",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores,"
        f" Python {platform.python_version()}",
    }


def _of_folder(name: str, wanted: Wanted) -> Section:
    return _retrieval(name, read_set(wanted.folder / name), wanted.model)


def _off_topic(wanted: Wanted) -> Section:
    data = read_set(wanted.folder / CONVERSATIONS)
    with _scratch(wanted.model) as config, stocked(data, config) as stock:
        found = silence(stock, data)
    title = (
        f"## off-topic: {found['count']:.0f} questions of {CONVERSATIONS}, each asked of another"
        f" conversation, and {found['nonsense.count']:.0f} of invented words"
    )
    head = ["floor", "off-topic answered", "nonsense answered", "own answered", "recall kept"]
    rows = table(head, silence_rows(found, Mix()))
    kept = f"Kept: of {found['recallable']:.0f} whose right note is in the first 10 without a floor"
    return Section("off-topic", found, f"{title}\n\n{rows}\n\n{kept}.")


def _identifiers(wanted: Wanted) -> Section:
    data = near_copies(notes=COPIES, kinds=("identifier",))
    return _retrieval("identifiers", data, wanted.model)


def _latency(wanted: Wanted) -> Section:
    if wanted.model == "none":
        raise InvalidRequest("latency is that of words and meaning together: name a model.")
    found: dict[str, float] = {}
    rows = []
    for size in (*SIZES, LARGE) if wanted.large else SIZES:
        with _scratch(wanted.model) as config:
            at_size = latency(config, size)
        found |= {f"{size}.{key}": value for key, value in at_size.items()}
        rows.append([f"{size:,}", *(f"{value:.2f}" for value in at_size.values())])
    head = ["notes", *(key.replace("_", " ") for key in at_size)]
    said = (
        "Parts: embed the question, one FTS5 query, one vector scan, in plain tables of the same"
        " texts; vectors of texts by chance."
    )
    return Section("latency", found, f"## latency\n\n{table(head, rows)}\n\n{said}")


def _generated(wanted: Wanted) -> Section:
    return _retrieval("generated", near_copies(), wanted.model)


def _linked(wanted: Wanted) -> Section:
    return _retrieval("linked", linked_notes(), wanted.model)


def _crossing(wanted: Wanted) -> Section:
    data = read_crossing(wanted.folder / PARALLEL, "zh", "en")
    return _retrieval("xquad_zh_en", data, MULTILINGUAL.name)


OWN: Mapping[str, Callable[[Wanted], Section]] = {
    "generated": _generated,
    "linked": _linked,
    "xquad_zh_en": _crossing,
    "off-topic": _off_topic,
    "identifiers": _identifiers,
    "latency": _latency,
}
# The sets that are not a folder, by name.


def _retrieval(name: str, data: RetrievalSet, model: str) -> Section:
    began = time.perf_counter()
    with _scratch(model) as config:
        outcome = measure(data, config)
    found, leads = judging.measures(data, outcome), judging.leads(data, outcome)
    kinds = judging.categories(outcome.ours)
    unit = judging.unit_of(data)
    by_kind = {f"{kind}." for kind in kinds}
    views = {
        view: (view or unit or "notes.").removesuffix(".")
        for view in judging.views(data, outcome.ours)
        if view not in by_kind
    }
    title = (
        f"{name}: {len(data.documents)} units, model {model or MINILM.name},"
        f" {time.perf_counter() - began:.0f} s"
    )
    text = retrieval_text(title, found, leads, list(outcome.baselines), views, kinds)
    return Section(name, found, text, leads)


@contextmanager
def _scratch(model: str) -> Iterator[Config]:
    """Yield the settings of a vault that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="memorix-bench-") as name:
        scratch = Path(name)
        (scratch / "project").mkdir()
        environment = {
            "MEMORIX_VAULT": str(scratch / "vault"),
            "MEMORIX_STATE_DIR": str(scratch / "state"),
            "MEMORIX_PROJECT_DIR": str(scratch / "project"),
            "MEMORIX_MODEL": model,
        }
        yield load({}, environment)
