"""Answer a question from the index: by words, by meaning, or both."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date, datetime
from functools import cache, lru_cache, partial
from itertools import islice
from math import log

from memorix import dates, floors, glossary, priors, spreading, typos
from memorix.embedders.base import Embedder
from memorix.index.base import Index
from memorix.lexemes import QueryTerm, index_words, language_hint, query_terms, stem
from memorix.paging import Found, joined
from memorix.query import Branch, Match, Query
from memorix.ranking import (
    Asked,
    Mix,
    Ranked,
    by_files,
    by_links,
    fuse,
    idf,
    in_years_with_notes,
    lifted,
)
from memorix.seams import without_seams

REACH = 100
# Candidates of each signal; beyond them nothing was ever found worth its time.

COMMON_SHARE, COMMON_FROM = 0.1, 100
# A word in more than a tenth of the chunks is left out of the dense question, in a store of a
# hundred chunks or more.

EVENTS = 5
# Notes looked at for the day of an event.

SEEDS = 10
# Hits whose links are followed.

WHOLE = 0.95
# Of a question's weight: who holds it leaves nothing to be found elsewhere.

SLIPS = 4
# Words of one question that are looked up with their neighbours; who types worse pasted something.

FEW = 100
# A store of fewer chunks is judged as one of that many: among three notes of one subject its words
# would seem to say nothing.

RARE_AT_MOST, RARE_SHARE = 3, 0.01
# An identifier in no more chunks than that points at something; a common one is just a word.

_PATH = re.compile(r"[\w./-]+", re.ASCII)
_ENDING = re.compile(r"\w\.[a-z]\w{0,7}\Z", re.ASCII)
# What may be a path stands between other signs, or Chinese; it has a slash or an ending.

FILES = 8
# Of one question that notes are looked up for; a pasted log names hundreds.

COUNT_DIGITS = 2
# A number of so few digits says how many, or how old; a port or an error has more.


_ROLES = frozenset(["user", "assistant", "me", "system", "owner", "human", "memorix"])
# No names, though authors are called so.


def search(
    index: Index,
    embedder: Embedder | None,
    query: Query,
    now: datetime,
    *,
    meaning: str,
    mix: Mix,
    unmerged: Callable[[Set[Branch]], frozenset[Branch]] = lambda branches: frozenset(),
) -> Found:
    """Find all notes that fit a question; none where it has no words.

    `meaning` says why `embedder` is None where it is.  `unmerged` tells which of some branches are
    not part of where the question is asked.
    """
    if not asked_for(query.text):
        return Found([], {}, meaning, query.filter)
    periods, text = _when(index, query, now)
    past = _past(periods, now) if not query.strict else None
    if past and not query.filter.as_of:
        query = replace(query, filter=replace(query.filter, during=past))
    ask = partial(_search, index, embedder, query, now, meaning, mix, unmerged)
    found = ask(periods, text)
    if not found.ranked and text != query.text:  # what seemed to date the question is its subject
        found = ask((), query.text)
    return found


def _search(
    index: Index,
    embedder: Embedder | None,
    query: Query,
    now: datetime,
    meaning: str,
    mix: Mix,
    unmerged: Callable[[Set[Branch]], frozenset[Branch]],
    periods: Sequence[dates.Period],
    text: str,
) -> Found:
    """Find what fits the `text` of a question, notes of the `periods` that it names first."""
    typed = glossary.translated(text, asked_for(text))
    terms, slips, counts, total = _read(index, typed, query)
    told = asked_for(_without_all(text, [p.said for p in periods] + [dates.order_said(text)]))
    also = {term.text: term.also for term in terms if term.also}
    told = tuple(replace(term, also=also.get(term.text, ())) for term in told)
    weights = _weighed(terms, _corrected(told, slips), counts, total)
    words = _by_words(index, terms, query, now, language_hint(text))
    near: list[Match] = []
    if embedder is not None:
        common = [t.text for t in weights if _frequency(t, counts) > COMMON_SHARE * total]
        apart = total >= COMMON_FROM and not query.strict  # names of here are evidence
        dense = _without(text, common) if apart else text
        near, meaning = _near(index, embedder, replace(query, text=dense), now)
    named = [term for term in terms if _is_rare_identifier(term, counts, total)]
    ranked = fuse(
        words,
        near,
        covered=_coverer(weights, mix),
        identified=(lambda match: share_held(named, match.tokens)) if named else None,
        pairs=_share_of_pairs(weights),
        language=language_hint(text),
        mix=mix,
    )
    ground = floors.Ground(
        floor=embedder.card.floor if embedder else 1.0,
        unseen=near[-1].score if len(near) >= REACH else None,
        nats=log(max(total, FEW) + 1),
    )
    ranked = floors.close(ranked, ground, mix, strict=query.strict)
    ranked, read_as = _by_traits(index, query, weights, ranked, periods, now, mix, unmerged)
    if mix.file and not query.strict:
        ranked = _by_files(index, query, ranked, now, mix)
    if ranked and mix.linked and not query.strict:
        ranked = _by_links(index, query, ranked, now, mix, ground)
    silent = "" if ranked else _silence(typed, index, query.filter.scopes)
    read_as += tuple(f"{word}: {meant}" for word, meant in slips.items() if ranked)
    return Found(ranked, weights, meaning, query.filter, silent, read_as, learnt=mix.learnt)


def _by_words(
    index: Index, terms: Sequence[QueryTerm], query: Query, now: datetime, language: str
) -> list[Match]:
    """Find chunks by the words of a question; those in another language by other wordings, too.

    In its own language these are evidence, but put nothing first: an English name in a Chinese text
    is rare, and would weigh more than all that the text says.
    """
    own = index.match_words([replace(t, also=()) for t in terms], query.filter, now, REACH)
    also = [replace(t, exact=(), parts=(), stems=()) for t in terms if t.also]
    if not also:
        return own
    found = {match.chunk: match for match in own}
    for match in index.match_words(also, query.filter, now, REACH):
        if first := found.get(match.chunk):  # BM25 is a sum over the words that are asked for
            more = 0.0 if match.language == language else match.score
            match = first._replace(
                score=first.score + more,
                tokens=first.tokens | match.tokens,
                around=first.around | match.around,
            )
        found[match.chunk] = match
    return list(found.values())


def _read(
    index: Index, typed: Sequence[QueryTerm], query: Query
) -> tuple[Sequence[QueryTerm], dict[str, str], dict[str, int], int]:
    """Return the terms of a question as they are meant, the slips in them, in how many chunks each
    of their tokens occurs, and how many chunks there are."""
    asked = [token for term in typed for token in term.tokens]
    counts, total = index.frequencies([*asked, *glossary.parts(typed)])
    typed, counts = glossary.known(typed, counts)
    slips = {} if query.strict else _mistyped(index, typed, counts, query)
    if not slips:
        return typed, slips, counts, total
    terms = _corrected(typed, slips)
    more, _ = index.frequencies(token for term in terms for token in term.tokens)
    return terms, slips, counts | more, total


def _weighed(
    terms: Sequence[QueryTerm], told: Sequence[QueryTerm], counts: dict[str, int], total: int
) -> dict[QueryTerm, float]:
    """Return the weight of each term that tells something; `told` are those besides dates."""
    telling = [t for t in told if t.counts] or [t for t in terms if t.counts] or terms
    telling = without_seams(telling, {t for t in telling if _frequency(t, counts)})
    return {t: idf(_frequency(t, counts), max(total, FEW)) for t in telling}


def _mistyped(
    index: Index, terms: Sequence[QueryTerm], counts: Mapping[str, int], query: Query
) -> dict[str, str]:
    """Return what the words of a question that no note has are slips of, where they are any: words
    that notes have which may be told of."""
    words = [w for term in terms for w in term.parts if w not in counts]
    known, _ = index.frequencies([*words, *map(stem, words)]) if words else ({}, 0)
    unknown = typos.unknown(terms, {**counts, **known})[:SLIPS]
    if not unknown:
        return {}
    near, _ = index.frequencies(other for word in unknown for other in typos.neighbours(word))
    near, _ = index.frequencies(near, query.filter.scopes)
    return {word: other for word in unknown if (other := typos.meant(word, near)) != word}


def _corrected(terms: Sequence[QueryTerm], slips: Mapping[str, str]) -> tuple[QueryTerm, ...]:
    return tuple(typos.corrected(term, slips) for term in terms)


def _when(index: Index, query: Query, now: datetime) -> tuple[tuple[dates.Period, ...], str]:
    """Return the times that a question names, and the question without the event it names one by,
    which no note has to hold."""
    if found := dates.periods(query.text, now.astimezone().date()):
        return found, query.text
    event = dates.event_named(query.text)
    terms = [term for term in asked_for(event.name if event else "") if term.counts]
    left = query.text.replace(event.said, " ", 1) if event else ""
    if not (event and terms and asked_for(left)):
        return (), query.text
    matches = index.match_words(terms, replace(query.filter, everything=True), now, EVENTS)
    about = [m for m in matches if all(t.share_of(m.tokens) > 0.5 for t in terms)]
    days = [day for t in index.traits(m.note for m in about[:1]).values() if (day := t.day)]
    if not days:
        return (), query.text
    first, end = (None, days[0]) if event.before else (days[0], None)
    return (dates.Period(first, end, event.said.strip()),), left


def _past(
    periods: Sequence[dates.Period], now: datetime
) -> tuple[datetime | None, datetime] | None:
    """Return the time that a question names, where it is over: what held then may not any more."""
    ends = [period.end for period in periods if period.end]
    if not ends or len(ends) < len(periods) or max(ends) > now.astimezone().date():
        return None
    firsts = [period.first for period in periods if period.first]
    first = min(firsts) if len(firsts) == len(periods) else None
    return _midnight(first) if first else None, _midnight(max(ends))


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day).astimezone()


def _without_all(text: str, said: Sequence[str]) -> str:
    for part in said:
        text = text.replace(part, " ", 1)
    return text


def share_held(named: Sequence[QueryTerm], tokens: frozenset[str]) -> float:
    """Return the share of identifiers that these search words hold whole."""
    return sum(not tokens.isdisjoint(term.exact) for term in named) / len(named)


def _coverer(weights: Mapping[QueryTerm, float], mix: Mix) -> Callable[[Match], float]:
    """Return what tells the share of a question that a match holds; many hold the same words."""

    @cache
    def share(own: frozenset[str], around: frozenset[str]) -> float:
        held = coverage(weights, own)
        if not around:
            return held
        return held + mix.around * (coverage(weights, own | around) - held)

    return lambda match: share(match.tokens, match.around)


def _by_traits(
    index: Index,
    query: Query,
    weights: Mapping[QueryTerm, float],
    ranked: list[Ranked],
    periods: Sequence[dates.Period],
    now: datetime,
    mix: Mix,
    unmerged: Callable[[Set[Branch]], frozenset[Branch]],
) -> tuple[list[Ranked], tuple[str, ...]]:
    """Order notes also by when, by whom and in which session they were written; say how dates of
    the question were read."""
    traits = index.traits([one.note for one in ranked])
    if periods:
        days = [day for trait in traits.values() if (day := trait.day)]
        periods = in_years_with_notes(periods, days)
    words = set(index_words(query.text).split())
    elsewhere = unmerged({trait.branch for trait in traits.values() if trait.branch})
    order = dates.order_asked(query.text)
    recalls = index.recalls(t.id for t in traits.values()) if mix.priors.strength else {}
    asked = Asked(
        periods,
        cache(partial(is_named, words=words)),
        order,
        elsewhere,
        covered=partial(coverage, weights),
        past=query.filter.during is not None,
    )
    if mix.priors != priors.Priors():
        prior = partial(priors.lifts, recalls=recalls, now=now, priors=mix.priors)
        asked = replace(asked, prior=prior)
    return lifted(ranked, traits, asked, mix), tuple(f"{p.said}: {p}" for p in periods)


def _by_files(
    index: Index, query: Query, ranked: list[Ranked], now: datetime, mix: Mix
) -> list[Ranked]:
    """Lift notes about a file that the question names, and bring in those found by nothing else."""
    files = files_named(query.text)
    if not files:
        return ranked
    wanted = replace(query.filter, having=(*query.filter.having, ("file", files)))
    about = {row.key for row in index.latest(wanted, now, SEEDS)}
    others = about - {one.note for one in ranked}
    beyond = index.openings(others, query.filter, now) if others else []
    return by_files(ranked, beyond, about, mix) if about else ranked


def files_named(text: str) -> tuple[str, ...]:
    """Return what may be paths of files in a text, with `/`, the first few, each once."""
    names = (match[0].removeprefix("./").rstrip(".") for match in _PATH.finditer(text))
    named = (name for name in names if "/" in name or _ENDING.search(name))
    return tuple(islice(dict.fromkeys(named), FILES))


def _by_links(
    index: Index,
    query: Query,
    ranked: list[Ranked],
    now: datetime,
    mix: Mix,
    ground: floors.Ground,
) -> list[Ranked]:
    """Lift notes by what they are linked with, and bring those in that only links lead to, two in a
    row at most, where no hit holds the whole question."""
    best = ranked[:SEEDS]
    edges = index.edges([one.note for one in best])
    if not edges:
        return ranked
    known = {one.note for one in ranked}
    partial = max(one.words for one in ranked) < WHOLE
    others = {note for edge in edges for note in edge} - known if partial else set()
    if 0 < len(others) <= SEEDS:  # more of them pass too little on
        edges = [*edges, *index.edges(others)]
        others = {note for edge in edges for note in edge} - known
    beyond = {m.note: m for m in index.openings(others, query.filter, now)} if others else {}
    reached = [pair for pair in edges if all(n in known or n in beyond for n in pair)]
    shares = spreading.received({one.note: one.score for one in best}, reached)
    return by_links(
        ranked, list(beyond.values()), shares, mix, lambda one: floors.is_vague(one, ground, mix)
    )


def is_named(author: str, words: Set[str]) -> bool:
    """Say whether a question with these words names an author: a person by any part of the name,
    a program by all of it."""
    person = author.startswith("human:")
    name = author.removeprefix("human:") if person else author.partition("/")[0]
    parts = [part for part in index_words(name).split() if part not in _ROLES and len(part) > 1]
    return bool(parts) and (any if person else all)(part in words for part in parts)


def _is_rare_identifier(term: QueryTerm, counts: dict[str, int], total: int) -> bool:
    """Say whether a term names one thing of the store: `ERR_0x3F`, `4711`, but not `well-known` or
    `38`."""
    plain_words = term.text.replace("-", "").isalpha() and term.text.islower()
    count = term.text.isdigit() and len(term.text) <= COUNT_DIGITS
    rare = 0 < _frequency(term, counts) <= max(RARE_AT_MOST, RARE_SHARE * total)
    return term.kind == "identifier" and rare and not plain_words and not count


@lru_cache(64)
def asked_for(text: str) -> tuple[QueryTerm, ...]:
    """Return the terms of a text, a run of CJK as its 2-grams, so that each has its own weight."""
    return tuple(unit for term in query_terms(text) for unit in _units(term))


def _units(term: QueryTerm) -> Sequence[QueryTerm]:
    if term.kind != "cjk":
        return (term,)
    return [QueryTerm(pair, "cjk", (pair,)) for pair in term.exact]


def _without(text: str, words: Sequence[str]) -> str:
    """Take words out of a question that say nothing here; all of it, if nothing would be left.

    Names of the project or its people are in so many notes that a sentence encoder finds little
    else; words leave them to BM25, which knows how common they are.
    """
    if not words:
        return text
    pattern = "|".join(re.escape(word) for word in words)
    left = re.sub(rf"(?<!\w)(?:{pattern})(?:['’]s)?(?!\w)", " ", text)
    return " ".join(left.split()) if any(c.isalpha() for c in left) else text


def coverage(weights: Mapping[QueryTerm, float], tokens: frozenset[str]) -> float:
    """Return the share of a question's weight that these search words make up."""
    total = sum(weights.values())
    held = sum(weight * term.share_of(tokens) for term, weight in weights.items())
    return held / total if total else 0.0


def _share_of_pairs(weights: Mapping[QueryTerm, float]) -> float:
    pairs = sum(weight for term, weight in weights.items() if term.kind == "cjk")
    return pairs / sum(weights.values())


def _near(index: Index, embedder: Embedder, query: Query, now: datetime) -> tuple[list[Match], str]:
    language = language_hint(query.text)
    if not embedder.card.knows(language):
        return [], f"off: the model does not know this language ({language})"
    vector = embedder.embed_query(query.text).tobytes()
    found = index.match_vector(vector, embedder.card.fingerprint, query.filter, now, REACH)
    return found, "yes"


def _frequency(term: QueryTerm, counts: dict[str, int]) -> int:
    return max((counts.get(token, 0) for token in term.tokens), default=0)


def _silence(terms: Sequence[QueryTerm], index: Index, scopes: Sequence[str]) -> str:
    counts, _ = index.frequencies((token for term in terms for token in term.tokens), scopes)
    unknown = joined([t for t in terms if t.counts and not _frequency(t, counts)])
    if unknown:
        return f"Nothing close. No note has: {', '.join(unknown[:8])}."
    return "Nothing close. The words occur, but no note brings enough of them together."
