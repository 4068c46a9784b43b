"""Run our recall over a retrieval set, through the public methods of the memory only."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memorix import embedders, lifecycle
from memorix.bench.data import Document, Question, RetrievalSet
from memorix.bench.metrics import any_at, mean, recall_at, reciprocal_rank
from memorix.config import Config
from memorix.errors import ModelUnavailable
from memorix.memory import Memory
from memorix.query import Filter, Query
from memorix.wiring import open_memory

DEPTH = 50
# Hits asked for; the deepest measure looks no further.

NO_BUDGET = 1_000_000
ROLES = frozenset({"user", "assistant"})
# Who speaks in a chat with an assistant; no names.

UNSCORED = frozenset({"adversarial", "abstention"})
# Categories whose questions have no answer in the store.


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the documents returned for it in order, and the tokens' worth of answer."""

    question: Question
    ranked: tuple[str, ...]


def measure(data: RetrievalSet, config: Config) -> dict[str, float]:
    """Index a set in a scratch vault and return our measures on it.

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
        asked = [_ask(memory, question, ids) for question in data.questions if question.gold]
    finally:
        memory.close()
    return summarise(data, [a for a in asked if a.question.category not in UNSCORED])


def _use_model(memory: Memory, config: Config) -> None:
    if config.model == "none":
        return
    embedder, instead = embedders.load(config.model, config.models_dir)
    if instead:
        raise ModelUnavailable(f"{instead.partition(' Using ')[0]} Nothing was measured.")
    memory.use_model(embedder)


def summarise(data: RetrievalSet, asked: Sequence[Asked]) -> dict[str, float]:
    """Return the measures over units, over the sessions they belong to, and by domain."""
    session = {d.id: d.session for d in data.documents}
    unit = unit_of(data)
    by_unit = _measures([(a.ranked, a.question.gold) for a in asked])
    found = {f"{unit}{key}": value for key, value in by_unit.items()}
    if len(set(session.values())) > 1:
        by_session = [
            (_unique(session[i] for i in a.ranked), _unique(session[i] for i in a.question.gold))
            for a in asked
        ]
        found |= {f"sessions.{key}": value for key, value in _measures(by_session).items()}
    for domain in sorted({a.question.domain for a in asked} - {""}):
        part = [(a.ranked, a.question.gold) for a in asked if a.question.domain == domain]
        found |= {f"{domain.lower()}.{key}": value for key, value in _measures(part).items()}
    for category in sorted({a.question.category for a in asked}):
        part = [(a.ranked, a.question.gold) for a in asked if a.question.category == category]
        measured = _measures(part)
        found |= {f"{category}.{key}": measured[key] for key in ("r5", "r10")}
    return found


def unit_of(data: RetrievalSet) -> str:
    """Return what a measure over documents is called by: those of a conversation are its turns."""
    return "turns." if any(document.date for document in data.documents) else ""


def _measures(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> dict[str, float]:
    return {
        "count": len(pairs),
        "r1": mean([recall_at(ranked, gold, 1) for ranked, gold in pairs]),
        "r5": mean([recall_at(ranked, gold, 5) for ranked, gold in pairs]),
        "r10": mean([recall_at(ranked, gold, 10) for ranked, gold in pairs]),
        "any5": mean([any_at(ranked, gold, 5) for ranked, gold in pairs]),
        "mrr": mean([reciprocal_rank(ranked, gold) for ranked, gold in pairs]),
    }


def _fill(memory: Memory, vault: Path, documents: Sequence[Document]) -> dict[str, str]:
    """Remember every document as a note of its group's project; return note id to document id."""
    names = Counter(d.group for d in documents)
    for group in names:
        (vault / "projects" / _scope(group)).mkdir(parents=True, exist_ok=True)
    drafts = [(_draft(d), _scope(d.group)) for d in documents]
    written = memory.remember_all(drafts)
    ids: dict[str, str] = {}
    for done, document in zip(written, documents, strict=True):
        ids.setdefault(done.id, document.id)
    return ids


def _draft(document: Document) -> lifecycle.Draft:
    """Make the note that an importer would: who spoke, when, and in which session."""
    person = document.speaker if document.speaker not in ROLES else ""
    draft = lifecycle.draft_from(document.text or "-", person or document.title)
    author = {"assistant": "assistant/1"}.get(document.speaker, f"human:{document.speaker}")
    return replace(
        draft,
        author=author if document.speaker else "",
        type="Episode" if document.when else draft.type,
        when=document.when,
        extra={"session": document.session} if document.when else {},
    )


def _scope(group: str) -> str:
    return f"g-{group}"


def _ask(memory: Memory, question: Question, ids: dict[str, str]) -> Asked:
    wanted = Filter(scopes=(_scope(question.group),))
    answer = memory.recall(Query(question.text, wanted, limit=DEPTH, max_tokens=NO_BUDGET))
    return Asked(question, tuple(ids[hit.id] for hit in answer.hits))


def _unique(values: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))  # type: ignore[call-overload]
