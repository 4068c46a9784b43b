"""One page of an answer: the hits that fit a budget, no two of them copies of each other."""

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from os import urandom

from memorix.chunks import estimate_tokens
from memorix.index.base import Index, Row
from memorix.kinds import HOST_FILE
from memorix.lexemes import QueryTerm, index_words, language_hint
from memorix.marking import marks
from memorix.note import cut_short
from memorix.query import Answer, Filter, Hit, Query, Why
from memorix.ranking import Ranked, best_sentence, cut_to_budget, is_copy, signals_of
from memorix.trust import origin_of

GIST_LENGTH, DENSE_GIST_LENGTH = 220, 80
# Characters of the line shown: about 55 tokens, of English and of scripts like Chinese.

LISTS = 64
# Ranked lists remembered for the next page; who pages through more at once gets a fresh one.

_SENTENCES = re.compile(r"(?<=[.!?])(?<!\b[ei]\.[ge]\.)(?<!\b(?:cf|vs)\.)\s+|(?<=[。！？；])|\n+")
_LEAD = re.compile(r"^[#>\-*+\s]+")
_SAME = " more say the same"

_Shown = tuple[Hit, int, str]
# A hit, its place in the list, and the text that was found.


@dataclass(frozen=True, slots=True)
class Found:
    """All notes that answer a question, best first, of which pages are shown.

    `weights` are the question's terms, `learnt` what reading has added to the share of words.  Of a
    list that was `kept` only the ids are sure: notes may have been indexed anew.  `filter` is what
    they passed: the question's own, and the past time that it names.
    """

    ranked: Sequence[Ranked]
    weights: Mapping[QueryTerm, float]
    meaning: str
    filter: Filter
    silent: str = ""
    read_as: tuple[str, ...] = ()
    kept: bool = False
    learnt: float = 0.0


class Lists:
    """The lists that pages were lately cut from, by name; safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Found] = OrderedDict()

    def keep(self, found: Found, name: str = "") -> str:
        name = name or urandom(4).hex()
        with self._lock:
            self._kept[name] = found
            self._kept.move_to_end(name)
            while len(self._kept) > LISTS:
                self._kept.popitem(last=False)
        return name

    def get(self, name: str) -> Found | None:
        with self._lock:
            return self._kept.get(name)


def page(
    index: Index,
    query: Query,
    now: datetime,
    found: Found,
    lists: Lists,
    body: Callable[[Row], str],
    disputed: Callable[[Sequence[tuple[Hit, str]]], list[Hit]],
) -> Answer:
    """Return the hits from the query's offset on; `body` gives a note's whole text.

    `disputed` marks hits, given with the text that was found, that contradict each other.

    A note that is gone by now, or does not pass the filter any more, is left out.
    """
    total, limit = len(found.ranked), query.limit
    shown: list[_Shown] = []
    end = query.offset
    while end < total and len(shown) < limit:
        block = range(end, min(end + limit, total))
        shown = _without_copies([*shown, *_hits(index, query, now, found, block, body)])
        end = block.stop
    hits = disputed([(hit, text) for hit, _, text in shown[:limit]])
    fitting = cut_to_budget([cost_of(hit) for hit in hits], query.max_tokens)
    more = shown[fitting][1] if fitting < len(shown) else end
    cursor = ""
    if more < total:
        cursor = f"{more}-{lists.keep(replace(found, kept=True), query.page)}"
    return Answer(
        hits[:fitting],
        total,
        query.filter.scopes,
        cursor,
        found.meaning,
        found.silent,
        read_as=found.read_as,
    )


def latest(index: Index, query: Query, now: datetime, body: Callable[[Row], str]) -> Answer:
    """Return the newest notes that pass the filter."""
    rows = index.latest(query.filter, now, query.limit + 1, query.offset)
    hits = []
    for row in rows[: query.limit]:
        why = Why(0.0, None, (), marks(index, row, now, query.filter.as_of))
        text = body(row) if query.detail != "brief" else ""
        hits.append(_hit(row, 0.0, why, row.gist, text))
    fitting = cut_to_budget([cost_of(hit) for hit in hits], query.max_tokens)
    return Answer(
        hits[:fitting],
        query.offset + len(rows),
        query.filter.scopes,
        f"{query.offset + fitting}" if len(rows) > fitting else "",
        silent="" if hits else "There are no notes here yet.",
    )


def cost_of(hit: Hit) -> int:
    """Return about how many tokens a hit takes in an answer."""
    said = f"{hit.id} {hit.title} {hit.gist} {hit.type} {hit.scope} {hit.why} {hit.text}"
    said += f" {hit.origin} {hit.tier}"
    return estimate_tokens(said) + 12


def _hits(
    index: Index,
    query: Query,
    now: datetime,
    found: Found,
    places: Sequence[int],
    body: Callable[[Row], str],
) -> list[_Shown]:
    ranked = [found.ranked[place] for place in places]
    if found.kept:
        keys = index.keys([one.id for one in ranked], found.filter, now)
        ranked = [one._replace(note=keys.get(one.id, -1)) for one in ranked]
    rows, texts = index.rows(r.note for r in ranked), index.texts(r.chunk for r in ranked)
    by_word = {form: weight for term, weight in found.weights.items() for form in term.forms}
    learnt = (f"words {found.learnt:+.0%} by reading",) if found.learnt else ()
    hits = []
    for one, place in zip(ranked, places, strict=True):
        if row := rows.get(one.note):
            text = texts.get(one.chunk, "")
            marked = (*marks(index, row, now, query.filter.as_of), *learnt)
            shown = {"brief": "", "passage": text}.get(query.detail)
            whole = body(row) if shown is None else shown
            best = best_sentence([row.gist, *_sentences_of(text)], by_word)
            hits.append((_found(row, one, best, found, marked, whole), place, text))
    return hits


def _without_copies(shown: Sequence[_Shown]) -> list[_Shown]:
    """Leave out hits that say the same as one of their scope before them, which tells of them."""
    kept: list[_Shown] = []
    words: list[tuple[tuple[str, str], frozenset[str]]] = []
    copies: Counter[int] = Counter()
    for hit, place, text in shown:
        own = frozenset(index_words(text or hit.title).split())
        alike = (
            n
            for n, (where, said) in enumerate(words)
            if where == (hit.scope, hit.status) and is_copy(own, said)
        )
        first = next(alike, None)
        if first is None:
            kept.append((hit, place, text))
            words.append(((hit.scope, hit.status), own))
        else:
            copies[first] += 1
    return [
        (_with_copies(hit, copies[number]), place, text)
        for number, (hit, place, text) in enumerate(kept)
    ]


def _with_copies(hit: Hit, count: int) -> Hit:
    notes = [note for note in hit.why.notes if not note.endswith(_SAME)]
    before = sum(int(note.split()[0]) for note in hit.why.notes if note.endswith(_SAME))
    if not before + count:
        return hit
    told = [f"{before + count}{_SAME}"]
    return replace(hit, why=replace(hit.why, notes=(*notes, *told)))


def _found(
    row: Row,
    ranked: Ranked,
    gist: str,
    found: Found,
    marked: tuple[str, ...],
    whole: str,
) -> Hit:
    matched = joined([t for t in found.weights if t.share_of(ranked.tokens) >= 0.5])
    lifts = [f"{name} {share:+.0%}" for name, share in ranked.lifts]
    if ranked.logit is not None:
        lifts.append(f"read again {ranked.logit:+.2f}")
    why = Why(
        round(ranked.words, 3),
        _rounded(ranked.meaning),
        matched,
        (*marked, *lifts),
        signals_of(ranked, found.learnt),
    )
    branch = row.branch if any(share < 0 for _, share in ranked.lifts) else ""
    return _hit(row, round(ranked.score, 4), why, gist, whole, branch)


def _sentences_of(text: str) -> list[str]:
    return [line for part in _SENTENCES.split(text) if (line := _LEAD.sub("", part).strip())]


def joined(terms: Sequence[QueryTerm]) -> tuple[str, ...]:
    """Return the texts of terms, character pairs that follow each other as the run they are."""
    runs: list[str] = []
    after_pair = False
    for term in terms:
        pair = term.kind == "cjk"
        if pair and after_pair and runs[-1].endswith(term.text[0]):
            runs[-1] += term.text[1:]
        else:
            runs.append(term.text)
        after_pair = pair
    return tuple(runs)


def _hit(row: Row, score: float, why: Why, gist: str, text: str, branch: str = "") -> Hit:
    return Hit(
        id=row.id,
        title=row.title,
        gist=cut_short(gist, GIST_LENGTH if language_hint(gist) == "en" else DENSE_GIST_LENGTH),
        type=row.type,
        date=row.date,
        scope=row.scope,
        score=score,
        why=why,
        path=row.path,
        status=row.status,
        seen=row.seen,
        branch=branch,
        text=text,
        origin=HOST_FILE if row.held == HOST_FILE else origin_of(row.author, row.origin),
        tier=row.tier,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
