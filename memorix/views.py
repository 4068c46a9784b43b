"""The memory as one caller may see it: from its project, within the scopes it reaches."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from memorix.branches import Branches
from memorix.errors import InvalidRequest, NotAllowed
from memorix.index.base import Index, Row
from memorix.learning import Learning
from memorix.lexemes import QueryTerm
from memorix.memory import Memory
from memorix.places import Places
from memorix.query import Filter, Match
from memorix.scopes import project_slug

PASSED = frozenset(
    {"size", "listing", "apply", "holding", "texts", "texts_of", "traits", "has_path"}
    | {"outgoing", "incoming", "embedded", "recalled", "purge", "reset", "journal", "vector_search"}
    | {"recalls", "note_vectors", "sentence_vectors", "edges"}
)
# What tells nothing of other notes, or is asked only about notes that were let through before.

CLOSED = frozenset(
    {"counts", "warnings", "pending", "keep_vectors", "clear", "problems", "close"}
    | {"count_uses", "uses", "most_shown", "show", "used", "impressions", "forget_impressions"}
)
# What is about the whole vault, and refused.

_NEAR_REACH = 50
# Names looked through for those that resemble the one asked for.


def seen_by(memory: Memory, project: str, scopes: frozenset[str]) -> Memory:
    """Return the memory as seen from a project (empty: none), by who reaches these scopes only.

    Without `scopes` all are reached.  Index, model and follower are shared.

    Raises:
        InvalidRequest: There is no such project, and it is no name for a new one.
    """
    if project and project not in scopes and project not in memory.places.known():
        plain = project_slug(project)
        if plain != project:
            raise InvalidRequest(f"There is no project {project!r}. A new one is named {plain!r}.")
    places = Places(memory.store, None, project, scopes)
    memory = replace(memory, branches=Branches())  # the caller's checkout is on another machine
    if not scopes:
        return replace(memory, places=places)
    return replace(
        memory,
        places=places,
        learning=Learning(),
        index=cast(Index, ScopedIndex(memory.index, scopes)),
    )


class ScopedIndex:
    """An index as it would be if the notes of other scopes did not exist.

    What is neither here nor in `PASSED` is refused: a method that the index gains stays closed to
    callers with limits until somebody has decided what it may tell them.
    """

    def __init__(self, index: Index, scopes: frozenset[str]) -> None:
        self._index, self._scopes = index, scopes

    def __getattr__(self, name: str) -> Any:
        if name in PASSED:
            return getattr(self._index, name)
        raise NotAllowed("That is about the whole vault, and this token reaches a part of it only.")

    def match_words(
        self, terms: Sequence[QueryTerm], wanted: Filter, now: datetime, limit: int
    ) -> list[Match]:
        within = self._within(wanted)
        return self._index.match_words(terms, within, now, limit) if within else []

    def match_vector(
        self, vector: bytes, fingerprint: str, wanted: Filter, now: datetime, limit: int
    ) -> list[Match]:
        within = self._within(wanted)
        return self._index.match_vector(vector, fingerprint, within, now, limit) if within else []

    def openings(self, keys: Iterable[int], wanted: Filter, now: datetime) -> Sequence[Match]:
        within = self._within(wanted)
        return self._index.openings(keys, within, now) if within else []

    def owners(self, scores: Mapping[int, float], wanted: Filter, now: datetime) -> Sequence[Match]:
        within = self._within(wanted)
        return self._index.owners(scores, within, now) if within else []

    def latest(self, wanted: Filter, now: datetime, limit: int, offset: int = 0) -> list[Row]:
        within = self._within(wanted)
        return self._index.latest(within, now, limit, offset) if within else []

    def keys(self, ids: Iterable[str], wanted: Filter, now: datetime) -> dict[str, int]:
        within = self._within(wanted)
        return self._index.keys(ids, within, now) if within else {}

    def frequencies(
        self, tokens: Iterable[str], scopes: Sequence[str] = ()
    ) -> tuple[dict[str, int], int]:
        within = self._within(Filter(scopes=tuple(scopes)))
        return self._index.frequencies(tokens, within.scopes) if within else ({}, 0)

    def count(self, wanted: Filter, now: datetime) -> int:
        within = self._within(wanted)
        return self._index.count(within, now) if within else 0

    def rows(self, keys: Iterable[int]) -> dict[int, Row]:
        return {key: row for key, row in self._index.rows(keys).items() if self._reaches(row)}

    def find(self, note_id: str) -> Row | None:
        row = self._index.find(note_id)
        return row if row and self._reaches(row) else None

    def near_ids(self, wanted: str, limit: int) -> list[Row]:
        near = self._index.near_ids(wanted, _NEAR_REACH)
        return [row for row in near if self._reaches(row)][:limit]

    def same_text(self, digest: str, scope: str) -> Sequence[Row]:
        return self._index.same_text(digest, scope) if scope in self._scopes else []

    def _within(self, wanted: Filter) -> Filter | None:
        asked = frozenset(wanted.scopes) & self._scopes if wanted.scopes else self._scopes
        return replace(wanted, scopes=tuple(sorted(asked))) if asked else None

    def _reaches(self, row: Row) -> bool:
        return row.scope in self._scopes
