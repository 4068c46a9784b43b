"""Answer a question from the index: by words, by meaning, or both."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from memorix.chunks import estimate_tokens
from memorix.embedders.base import Embedder
from memorix.index.base import Index, Row
from memorix.lexemes import QueryTerm, language_hint, query_terms
from memorix.note import cut_short
from memorix.query import Answer, Hit, Match, Query, Why
from memorix.ranking import Mix, Ranked, best_sentence, cut_to_budget, fuse, idf

REACH = 100
# Candidates of each signal; beyond them nothing was ever found worth its time.

GIST_LENGTH = 220
# Characters of the line shown; about 55 tokens of English.

_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
_LEAD = re.compile(r"^[#>\-*+\s]+")


def answer(
    index: Index,
    embedder: Embedder | None,
    query: Query,
    now: datetime,
    *,
    meaning: str,
    mix: Mix,
) -> Answer:
    """Find the notes that fit a question; without words in it, the latest ones.

    `meaning` says why `embedder` is None where it is.
    """
    terms = query_terms(query.text)
    if not terms:
        return _latest(index, query, now)
    counts, total = index.frequencies(token for term in terms for token in term.tokens)
    weights = {term: idf(_frequency(term, counts), total) for term in terms if term.counts}
    words = index.match_words(terms, query.filter, now, REACH)
    near: list[Match] = []
    if embedder is not None:
        near, meaning = _near(index, embedder, query, now)
    ranked = fuse(
        words,
        near,
        covered=lambda match: coverage(weights, match.tokens),
        identifier=any(t.kind == "identifier" and _frequency(t, counts) for t in terms),
        floor=embedder.card.floor if embedder else 1.0,
        mix=mix,
    )
    silent = "" if ranked else _silence(terms, counts)
    return _page(index, query, ranked, weights, meaning, silent)


def coverage(weights: Mapping[QueryTerm, float], tokens: frozenset[str]) -> float:
    """Return the share of a question's weight that these search words make up."""
    total = sum(weights.values())
    held = sum(weight for term, weight in weights.items() if term.found_in(tokens))
    return held / total if total else 0.0


def _near(index: Index, embedder: Embedder, query: Query, now: datetime) -> tuple[list[Match], str]:
    language = language_hint(query.text)
    if not embedder.card.knows(language):
        return [], f"off: the model does not know this language ({language})"
    vector = embedder.embed_query(query.text).tobytes()
    found = index.match_vector(vector, embedder.card.fingerprint, query.filter, now, REACH)
    return found, "yes"


def _frequency(term: QueryTerm, counts: dict[str, int]) -> int:
    return max((counts.get(token, 0) for token in term.tokens), default=0)


def _silence(terms: Sequence[QueryTerm], counts: dict[str, int]) -> str:
    unknown = [term.text for term in terms if term.counts and not _frequency(term, counts)]
    if unknown:
        return f"Nothing close. No note has: {', '.join(unknown[:8])}."
    return "Nothing close. The words occur, but no note brings enough of them together."


def _latest(index: Index, query: Query, now: datetime) -> Answer:
    wanted = query.limit + 1
    rows = index.latest(query.filter, now, wanted, query.offset)
    hits = [_hit(row, 0.0, Why(0.0, None), row.gist) for row in rows[: query.limit]]
    fitting = cut_to_budget([cost_of(hit) for hit in hits], query.max_tokens)
    more = len(rows) > fitting
    return Answer(
        hits[:fitting],
        query.offset + len(rows),
        query.filter.scopes,
        query.offset + fitting if more else None,
        silent="" if hits else "There are no notes here yet.",
    )


def _page(
    index: Index,
    query: Query,
    ranked: Sequence[Ranked],
    weights: Mapping[QueryTerm, float],
    meaning: str,
    silent: str,
) -> Answer:
    part = ranked[query.offset : query.offset + query.limit]
    rows = index.rows(r.note for r in part)
    texts = index.texts(r.chunk for r in part)
    hits = [
        _found(rows[r.note], r, texts.get(r.chunk, ""), weights) for r in part if r.note in rows
    ]
    fitting = cut_to_budget([cost_of(hit) for hit in hits], query.max_tokens)
    end = query.offset + fitting
    return Answer(
        hits[:fitting],
        len(ranked),
        query.filter.scopes,
        end if end < len(ranked) else None,
        meaning,
        silent,
    )


def _found(row: Row, ranked: Ranked, text: str, weights: Mapping[QueryTerm, float]) -> Hit:
    matched = tuple(term.text for term in weights if term.found_in(ranked.tokens))
    notes = ("superseded",) if row.superseded_by else ()
    why = Why(round(ranked.words, 3), _rounded(ranked.meaning), matched, notes)
    by_word = {term.text.lower(): weight for term, weight in weights.items()}
    sentences = [line for part in _SENTENCES.split(text) if (line := _LEAD.sub("", part).strip())]
    best = best_sentence([row.gist, *sentences], by_word)
    return _hit(row, round(ranked.score, 4), why, best)


def _hit(row: Row, score: float, why: Why, gist: str) -> Hit:
    return Hit(
        id=row.id,
        title=row.title,
        gist=cut_short(gist, GIST_LENGTH),
        type=row.type,
        date=row.date,
        scope=row.scope,
        score=score,
        why=why,
        path=row.path,
        status=row.status,
        seen=row.seen,
    )


def cost_of(hit: Hit) -> int:
    """Return about how many tokens a hit takes in an answer."""
    return estimate_tokens(f"{hit.id} {hit.title} {hit.gist} {hit.type} {hit.scope} {hit.why}") + 12


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
