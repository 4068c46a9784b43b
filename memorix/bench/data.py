"""Read a retrieval set: documents, and questions with the documents that answer them."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from memorix.dates import periods
from memorix.errors import InvalidRequest

FAR = date(2100, 1, 1)
# A day after all documents; theirs name their years.


@dataclass(frozen=True, slots=True)
class Document:
    """A text to find; `group` is the store it lies in, `session` the conversation it is from."""

    id: str
    group: str
    session: str
    date: str
    speaker: str
    text: str

    @property
    def title(self) -> str:
        """The name of what an article is from; a conversation has none."""
        return "" if self.date else self.session

    @property
    def when(self) -> datetime | None:
        """The noon of the day that the document is from, however the set writes it."""
        days = periods(self.date.replace("-", " ") if self.date[:1].isalpha() else self.date, FAR)
        first = days[0].first if days else None
        return datetime.combine(first, time(12), UTC) if first else None


@dataclass(frozen=True, slots=True)
class Question:
    """A question asked within one group; `gold` are the ids that answer it, maybe none."""

    id: str
    group: str
    text: str
    gold: tuple[str, ...]
    category: str
    domain: str


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


def read_crossing(folder: Path, asked: str, answered: str) -> RetrievalSet:
    """Read a set of parallel texts so that questions in one language, a code such as `zh`, are
    answered by the documents of another only.

    Raises:
        InvalidRequest: The folder has no such files, or says not which languages it is in.
    """
    own = read_set(folder)
    rows = [row for row in _rows(folder / "queries.jsonl.gz") if row.get("lang") == asked]
    gold = {row["id"]: str(row.get(f"gold_{answered}", "")) for row in rows}
    wanted = set(gold.values())
    documents = tuple(d for d in own.documents if d.id in wanted)
    questions = tuple(replace(q, gold=(gold[q.id],)) for q in own.questions if q.id in gold)
    if not documents:
        raise InvalidRequest(f"{folder} has no questions in {asked} with answers in {answered}.")
    return RetrievalSet(f"{folder.name} {asked} to {answered}", documents, questions)


def read_set(folder: Path) -> RetrievalSet:
    """Read `docs.jsonl.gz` and `queries.jsonl.gz`.

    Raises:
        InvalidRequest: The folder has no such files.
    """
    documents = tuple(
        Document(
            row["id"],
            row["group"],
            str(row.get("session", "")),
            str(row.get("date", "")),
            str(row.get("speaker", "")),
            row["text"],
        )
        for row in _rows(folder / "docs.jsonl.gz")
    )
    questions = tuple(
        Question(
            row["id"],
            row["group"],
            row["query"],
            tuple(row["gold"]),
            str(row.get("category", "")),
            str(row.get("domain", "")),
        )
        for row in _rows(folder / "queries.jsonl.gz")
    )
    return RetrievalSet(folder.name, documents, questions)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    if not file.is_file():
        raise InvalidRequest(f"{file} is not there. Name a folder with retrieval sets.")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
