"""Run our recall over a retrieval set, through the public methods of the memory only."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from memorix import embedders, lifecycle
from memorix.bench.baselines import Ranking, beside, dense
from memorix.bench.data import Document, Question, RetrievalSet
from memorix.config import Config
from memorix.errors import ModelUnavailable
from memorix.memory import Memory
from memorix.paging import cost_of
from memorix.query import Filter, Query
from memorix.ranking import cut_to_budget
from memorix.wiring import open_memory

DEPTH = 50
# Hits asked for; the deepest measure looks no further.

NO_BUDGET = 1_000_000
ROLES = frozenset({"user", "assistant"})
# Who speaks in a chat with an assistant; no names.

FAR_FUTURE = datetime(2100, 1, 1, tzinfo=UTC)
# When every note of a set is in force.

UNSCORED = frozenset({"adversarial", "abstention"})
# Categories whose questions have no answer in the store.


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the documents returned for it in order, and what a plain answer to it costs:
    its tokens, and those of the hits that are right."""

    question: Question
    ranked: tuple[str, ...]
    tokens: int = 0
    right_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What we and each baseline returned for the same questions over the same units."""

    ours: Sequence[Asked]
    baselines: Mapping[str, Sequence[Asked]]


@dataclass(frozen=True, slots=True)
class Stock:
    """A memory that holds a set; `ids` are the documents of its notes."""

    memory: Memory
    ids: Mapping[str, str]


@contextmanager
def stocked(data: RetrievalSet, config: Config) -> Iterator[Stock]:
    """Index a set in a scratch vault, with all its vectors.

    `config` names the folders to use (made where missing) and the model.

    Raises:
        ModelUnavailable: The model is not to be had; another would answer for it.
    """
    config.vault.mkdir(parents=True, exist_ok=True)
    memory = open_memory(config)
    try:
        _use_model(memory, config)
        ids = _fill(memory, config.vault, data.documents)
        memory.embed_pending()
        yield Stock(memory, ids)
    finally:
        memory.close()


def measure(data: RetrievalSet, config: Config) -> Outcome:
    """Ask every question of a set that is scored, of our memory and of the baselines."""
    questions = [q for q in data.questions if q.gold and q.category not in UNSCORED]
    with stocked(data, config) as stock:
        ours = [_ask(stock, question) for question in questions]
        return Outcome(ours, _asked_of_baselines(stock, data, questions))


def scope_of(group: str) -> str:
    """Return the scope that holds the notes of a group."""
    return f"g-{group}"


def _asked_of_baselines(
    stock: Stock, data: RetrievalSet, questions: Sequence[Question]
) -> dict[str, list[Asked]]:
    found: dict[str, list[Asked]] = defaultdict(list)
    for group in dict.fromkeys(question.group for question in questions):
        texts = {d.id: text_of(d) for d in data.documents if d.group == group}
        own = [question for question in questions if question.group == group]
        for name, ranking in beside(texts, _by_meaning(stock, texts)).items():
            found[name] += [Asked(q, tuple(ranking(q.text)[:DEPTH])) for q in own]
    return {name: asked for name, asked in found.items() if len(asked) == len(questions)}


def _by_meaning(stock: Stock, texts: Mapping[str, str]) -> Ranking | None:
    import numpy as np

    embedder, index = stock.memory.embedder, stock.memory.index
    if embedder is None:
        return None
    notes = [note for note, unit in stock.ids.items() if unit in texts]
    units = {key: stock.ids[note] for note, key in index.keys(notes, Filter(), FAR_FUTURE).items()}
    pairs = index.note_vectors(units, embedder.card.fingerprint)
    if len({key for key, _ in pairs}) < len(units):  # the model reads but a part: no rank among all
        return None
    vectors = [(units[key], np.frombuffer(blob, dtype=np.float32)) for key, blob in pairs]
    return dense(vectors, embedder.embed_query)


def text_of(document: Document) -> str:
    """Return a document as a file would hold it: who spoke or what it is from, and the text."""
    title = title_of(document)
    return f"{title}\n\n{document.text}" if title else document.text


def title_of(document: Document) -> str:
    person = document.speaker if document.speaker not in ROLES else ""
    return person or document.title


def _use_model(memory: Memory, config: Config) -> None:
    if config.model == "none":
        return
    embedder, instead = embedders.load(config.model, config.models_dir)
    if instead:
        raise ModelUnavailable(f"{instead.partition(' Using ')[0]} Nothing was measured.")
    memory.use_model(embedder)


def _fill(memory: Memory, vault: Path, documents: Sequence[Document]) -> dict[str, str]:
    """Remember every document as a note of its group's project; return note id to document id."""
    names = Counter(d.group for d in documents)
    for group in names:
        (vault / "projects" / scope_of(group)).mkdir(parents=True, exist_ok=True)
    drafts = [(_draft(d), scope_of(d.group)) for d in documents]
    written = memory.remember_all(drafts)
    ids: dict[str, str] = {}
    for done, document in zip(written, documents, strict=True):
        ids.setdefault(done.id, document.id)
    return ids


def _draft(document: Document) -> lifecycle.Draft:
    """Make the note that an importer would: who spoke, when, and in which session."""
    draft = lifecycle.draft_from(document.text or "-", title_of(document))
    author = {"assistant": "assistant/1"}.get(document.speaker, f"human:{document.speaker}")
    return replace(
        draft,
        author=author if document.speaker else "",
        type="Episode" if document.when else draft.type,
        when=document.when,
        extra={"session": document.session} if document.when else {},
    )


def _ask(stock: Stock, question: Question) -> Asked:
    wanted = Filter(scopes=(scope_of(question.group),))
    asked = Query(question.text, wanted, limit=DEPTH, max_tokens=NO_BUDGET)
    hits = stock.memory.recall(asked).hits
    ranked = tuple(stock.ids[hit.id] for hit in hits)
    plain = Query(question.text)
    costs = [cost_of(hit) for hit in hits[: plain.limit]]
    shown = costs[: cut_to_budget(costs, plain.max_tokens)]
    right = [cost for cost, unit in zip(shown, ranked, strict=False) if unit in question.gold]
    return Asked(question, ranked, sum(shown), sum(right))
