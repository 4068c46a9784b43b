"""Put words and meaning together: which notes answer a question, in which order, and whether any.

The mix is a convex combination of min-max scores (Bruch, Gai and Ingber, "An Analysis of Fusion
Functions for Hybrid Retrieval", ACM TOIS 2023) whose share follows the question: where its words
are found, words lead; where hardly any is, meaning leads.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from memorix.dates import Period
from memorix.feedback import Signals
from memorix.priors import Priors
from memorix.query import Branch, Match, Traits


@dataclass(frozen=True, slots=True)
class Mix:
    """How words and meaning are weighed; tuned on the given halves of the public sets only.

    The share of words rises from `low` to `high` as the best match holds `cover_from` to `cover_to`
    of the question's weight; an identifier that few chunks hold gives at least `identifier`.  Every
    other pair of CJK characters straddles two words, so that a full match holds less of a Chinese
    question: its share is stretched by up to `pairs_stretch`.

    A note is evidence by its cosine plus `words_weigh` times the share of the question it holds;
    with the model's floor plus `margin` it is close.  Where a note has no vector, `words_floor` of
    the question's weight is close.  If no note is close there is no answer; if one is, notes with
    `rest` of that are shown too.

    A note in another language than the question's can hold none of its words: there the floor
    alone is close, and twice the margin is sure.

    What nobody asked for must be surer: a strict answer takes `strict_words` of evidence by words,
    which is `strict_weigh` times that share and `strict_bits` times BM25 in units of ln(chunks),
    and with a model the cosine of a close note besides.  If a note is sure, notes with
    `strict_rest` of that are shown too.

    What only stands around a note counts `around` of what it holds itself.  A score is lifted by
    these shares: `dated` where the note is from a time that the question names, `author` where the
    question names who wrote it, `own_words` where a person did, `session` as far as the session it
    belongs to matches best, `order` as far as it is the newest or oldest, where that is asked for.
    It is lowered by `elsewhere` where the note is from a branch that is not merged here.  `priors`
    are what a note is lifted by whatever is asked.

    `learnt` is added to the share of words: what reading has taught of this vault.

    A note gains `linked` of the best score as far as hits are linked with it, and `file` of it
    where its `code_refs` mean a file that the question names.
    """

    low: float = 0.1
    high: float = 0.7
    cover_from: float = 0.1
    cover_to: float = 0.4
    pairs_stretch: float = 0.6
    identifier: float = 0.75
    words_weigh: float = 0.4
    margin: float = 0.1
    words_floor: float = 0.22
    rest: float = 0.6
    strict_words: float = 0.42
    strict_weigh: float = 0.6
    strict_bits: float = 0.1
    strict_rest: float = 0.8
    around: float = 0.5
    dated: float = 0.5
    author: float = 0.4
    own_words: float = 0.2
    session: float = 0.5
    order: float = 0.3
    elsewhere: float = 0.15
    linked: float = 0.3
    file: float = 0.5
    learnt: float = 0.0
    priors: Priors = field(default_factory=Priors)


class Ranked(NamedTuple):
    """A note in the order of an answer: first by `named`, the share of the identifiers asked for
    that it holds, then by score; `words` is the covered share of the question's weight, `bm25` what
    it was found by words with, `foreign` whether it is in another language than the question,
    `logit` what a reranker said of it, where one was asked; `mixed` are the share of words in the
    mix and what words and meaning gave of it, None where words alone were asked."""

    note: int
    id: str
    chunk: int
    score: float
    words: float
    meaning: float | None
    tokens: frozenset[str]
    named: float = 0.0
    lifts: tuple[tuple[str, float], ...] = ()
    logit: float | None = None
    mixed: tuple[float, float, float] | None = None
    bm25: float = 0.0
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question says about the notes it wants: when, by whom, the newest or the oldest.

    `elsewhere` are the branches that are not part of where it is asked.  `prior` tells what lifts
    a note whatever is asked.  `covered` tells the share of the question that search words hold.
    `past` says that notes which held then, but not now, answer too.
    """

    periods: Sequence[Period] = ()
    named: Callable[[str], bool] = lambda author: False
    order: str = ""
    elsewhere: frozenset[Branch] = frozenset()
    prior: Callable[[Traits], Sequence[tuple[str, float]]] = lambda trait: ()
    covered: Callable[[frozenset[str]], float] = lambda tokens: 1.0
    past: bool = False


def lifted(
    ranked: Sequence[Ranked], traits: Mapping[int, Traits], asked: Asked, mix: Mix
) -> list[Ranked]:
    """Return the notes in the order that their traits make, best first, each with its lifts."""
    order = _by_age(traits, asked.order)
    found = []
    for one in ranked:
        trait = traits.get(one.note)
        lifts = _lifts(trait, order.get(one.note, 0.0), asked, mix) if trait else []
        found.append(_with_lifts(one, lifts) if lifts else one)
    found = _with_sessions(found, traits, asked, mix.session)
    return sorted(found, key=lambda r: (-r.named, -r.score))


def _with_lifts(one: Ranked, lifts: Sequence[tuple[str, float]]) -> Ranked:
    score = one.score * math.prod(1 + share for _, share in lifts)
    return one._replace(score=score, lifts=(*one.lifts, *lifts))


def _lifts(trait: Traits, age: float, asked: Asked, mix: Mix) -> list[tuple[str, float]]:
    person = trait.author.startswith("human:")
    lifts = [
        ("from that time", mix.dated * _is_dated(trait, asked)),
        ("by who is named", mix.author * asked.named(trait.author)),
        ("a person's words", mix.own_words * person),
        (asked.order, mix.order * age),
        *asked.prior(trait),
    ]
    if trait.branch in asked.elsewhere:
        lifts.append((unmerged(trait.branch[1]), -mix.elsewhere))
    return [(name, share) for name, share in lifts if share]


def unmerged(branch: str) -> str:
    """Return the mark of a note that was written on a branch which is not part of this one."""
    return f"from branch {branch}, not merged here"


def _is_dated(trait: Traits, asked: Asked) -> bool:
    if asked.past and trait.status == "deprecated":
        return True
    day = trait.day if asked.periods else None
    return day is not None and any(p.holds(day) for p in asked.periods)


def _by_age(traits: Mapping[int, Traits], order: str) -> dict[int, float]:
    """Return 1 for the note that is newest (or oldest), falling to 0 for the last."""
    if not order:
        return {}
    dated = {note: day for note, trait in traits.items() if (day := trait.day)}
    days = sorted(set(dated.values()), reverse=order == "newest")
    step = {day: 1 - place / len(days) for place, day in enumerate(days)}
    return {note: step[day] for note, day in dated.items()}


def reordered(ranked: Sequence[Ranked], logits: Sequence[float]) -> list[Ranked]:
    """Return the notes in a reranker's order; what lifts a note lifts it there as well."""
    found = []
    for one, logit in zip(ranked, logits, strict=True):
        certain = 1 / (1 + math.exp(-max(min(logit, 50.0), -50.0)))
        score = certain * math.prod(1 + share for _, share in one.lifts)
        found.append(one._replace(score=score, logit=logit))
    return sorted(found, key=lambda r: (-r.named, -r.score))


SESSION_OF = 3
# The best notes of a session tell how well it matches.


def _with_sessions(
    ranked: Sequence[Ranked], traits: Mapping[int, Traits], asked: Asked, share: float
) -> list[Ranked]:
    """Lift each note by how well its session matches, the best session in full."""
    members: dict[str, list[Ranked]] = defaultdict(list)
    for one in ranked:
        trait = traits.get(one.note)
        if trait and trait.session:
            members[trait.session].append(one)
    strength = _strength_of_sessions(members, asked.covered)
    best = max(strength.values(), default=0.0)
    if not best or not share:
        return list(ranked)
    found = []
    for one in ranked:
        trait = traits.get(one.note)
        lift = share * strength.get(trait.session, 0.0) / best if trait else 0.0
        found.append(_with_lifts(one, [("its session", lift)]) if lift else one)
    return found


def _strength_of_sessions(
    members: Mapping[str, Sequence[Ranked]], covered: Callable[[frozenset[str]], float]
) -> dict[str, float]:
    """Return how well each session matches: what its best notes score, times the share of the
    question that its notes hold together, if any of the sessions holds some.

    Evidence of passages and of the whole document, combined (Callan, "Passage-Level Evidence in
    Document Retrieval", SIGIR 1994): answers often stand two turns after what they are asked by.
    """
    together = {
        session: covered(frozenset().union(*(one.tokens for one in notes)))
        for session, notes in members.items()
    }
    by_words = any(together.values())
    return {
        session: (together[session] if by_words else 1.0)
        * sum(sorted(one.score for one in notes)[-SESSION_OF:])
        / SESSION_OF
        for session, notes in members.items()
    }


ABOUT_FILE = "about a file that is named"


def by_files(
    ranked: Sequence[Ranked], beyond: Sequence[Match], about: Set[int], mix: Mix
) -> list[Ranked]:
    """Return notes with those lifted that are about a file which the question names, and with those
    of them `beyond`, that share nothing else with it."""
    top = max((one.score for one in ranked), default=1.0)
    gain = (ABOUT_FILE, mix.file)
    lifted = [
        one._replace(score=one.score + mix.file * top, lifts=(*one.lifts, gain))
        if one.note in about
        else one
        for one in ranked
    ]
    brought = [_brought(match, gain, top) for match in beyond]
    return sorted([*lifted, *brought], key=lambda r: (-r.named, -r.score))


LINKED = "linked with a hit"
LEAST_LINKED = 0.2
# Of what reaches the best linked note; a note that only links lead to takes as much to be shown.
# The end of two links in a row gets a quarter.


def by_links(
    ranked: Sequence[Ranked],
    beyond: Sequence[Match],
    shares: Mapping[int, float],
    mix: Mix,
    vague: Callable[[Ranked], bool] = lambda one: False,
) -> list[Ranked]:
    """Return notes with what reaches them over links, the most as 1, added to their score.

    Links bring none past the best hit: what a question names answers before what that is linked
    with.

    Of `beyond`, notes that nothing but a link leads to, those join that enough reaches; they come
    before hits that are not linked and are `vague`, no evidence by themselves.
    """
    top = max((one.score for one in ranked), default=0.0)
    found = []
    for one in ranked:
        share = mix.linked * shares.get(one.note, 0.0)
        lifts = (*one.lifts, (LINKED, share)) if share else one.lifts
        score = min(one.score + share * top, top)
        found.append(one._replace(score=score, lifts=lifts))
    joining = [m for m in beyond if shares.get(m.note, 0.0) >= LEAST_LINKED]
    if joining:
        least = top * mix.linked * min(shares[m.note] for m in joining)
        found = [
            one._replace(score=min(one.score, least))
            if one.note not in shares and vague(one)
            else one
            for one in found
        ]
    brought = [_brought(match, (LINKED, mix.linked * shares[match.note]), top) for match in joining]
    return sorted([*brought, *found], key=lambda r: (-r.named, -r.score))


def _brought(match: Match, gain: tuple[str, float], top: float) -> Ranked:
    """Return a note that is found by something else than the words and the meaning of its text."""
    one = Ranked(match.note, match.id, match.chunk, gain[1] * top, 0.0, None, frozenset())
    return one._replace(lifts=(gain,))


def in_years_with_notes(periods: Sequence[Period], days: Sequence[date]) -> tuple[Period, ...]:
    """Return periods without a year in the latest year that any of the days is from."""
    if not days:
        return tuple(periods)
    span = range(max(days).year - min(days).year + 3)
    found = []
    for period in periods:
        earlier = (period.years_before(years) for years in span) if period.yearly else ()
        found.append(next((p for p in earlier if any(map(p.holds, days))), period))
    return tuple(found)


def idf(frequency: int, total: int) -> float:
    """Return the inverse document frequency (Robertson and Sparck Jones, smoothed as Lucene does):
    positive also where a word is in every chunk, so that a store of one note works."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def fuse(
    words: Sequence[Match],
    near: Sequence[Match],
    *,
    covered: Callable[[Match], float],
    identified: Callable[[Match], float] | None,
    pairs: float,
    language: str,
    mix: Mix,
) -> list[Ranked]:
    """Return the notes that share a word or a meaning with the question, one entry a note, in no
    order.

    `words` carry BM25, `near` cosines; `covered` tells which share of the question's weight a word
    match holds (0 to 1); `identified` which share of the rare identifiers that it names, None where
    it names none that some note holds: a note that holds them comes first; `pairs` is the share of
    the question's weight in CJK character pairs, `language` what it is written in.
    """
    by_words, by_meaning = _best(words), _best(near)
    top = max(by_words.values(), key=lambda m: m.score, default=None)
    reach = covered(top) * (1 + mix.pairs_stretch * pairs) if top else 0.0
    share = share_of_words(reach, identified is not None, bool(near), mix)
    low = min((m.score for m in by_meaning.values()), default=0.0)
    high = max((m.score for m in by_meaning.values()), default=0.0)
    ranked = []
    for note in dict.fromkeys([*by_words, *by_meaning]):  # words first: ties stay newest first
        word, meant = by_words.get(note), by_meaning.get(note)
        lexical = share * word.score / top.score if word and top else 0.0
        dense = (1 - share) * _between(meant.score, low, high) if meant else 0.0
        best = word if word and (not meant or lexical >= dense) else meant
        assert best is not None
        one = Ranked(
            note,
            best.id,
            best.chunk,
            lexical + dense,
            words=covered(word) if word else 0.0,
            meaning=meant.score - meant.chance if meant else None,
            tokens=word.tokens if word else frozenset(),
            named=identified(word) if identified and word else 0.0,
            mixed=(share, lexical, dense) if near else None,
            bm25=word.score if word else 0.0,
            foreign=meant is not None and meant.language != language,
        )
        ranked.append(one)
    return ranked


def signals_of(one: Ranked, learnt: float) -> Signals | None:
    """Return what made a note's score, with what lifted it; None where a reranker had the last
    word, or words alone were asked.  `learnt` is what reading has added to the share of words."""
    if one.mixed is None or one.logit is not None:
        return None
    share, lexical, dense = one.mixed
    words = lexical / share if share else 0.0
    meaning = dense / (1 - share) if share < 1 else 0.0
    return Signals(share - learnt, words, meaning, math.prod(1 + lift for _, lift in one.lifts))


def _between(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 1.0


def share_of_words(covered: float, identifier: bool, has_meaning: bool, mix: Mix) -> float:
    """Return the share of the word score in the mix, 0 to 1."""
    if not has_meaning:
        return 1.0
    reach = (covered - mix.cover_from) / (mix.cover_to - mix.cover_from)
    share = mix.low + (mix.high - mix.low) * min(max(reach, 0.0), 1.0)
    share = min(max(share + mix.learnt, 0.0), 1.0)
    return max(share, mix.identifier) if identifier else share


COPY = 0.85
# Share of words in common from which two texts say the same, if they name the same things.


def is_copy(one: Set[str], other: Set[str]) -> bool:
    """Say whether two texts, as their words, differ in nothing that tells: not in a number, as
    digits or Chinese numerals, not in a name with a digit, and in few words."""
    if min(len(one), len(other)) < COPY * max(len(one), len(other)):
        return False  # whatever they share
    if len(one & other) < COPY * len(one | other):
        return False
    return not any(any(map(str.isnumeric, word)) for word in one ^ other)


def cut_to_budget(costs: Sequence[int], max_tokens: int) -> int:
    """Return how many of the first items fit a budget of tokens: at least one, if there is any."""
    used = 0
    for count, cost in enumerate(costs):
        used += cost
        if used > max_tokens:
            return max(count, 1)
    return len(costs)


def best_sentence(sentences: Sequence[str], weights: Mapping[str, float]) -> str:
    """Return the sentence that holds most of the question's weight; the first where none does."""

    def held(sentence: str) -> float:
        lowered = sentence.lower()
        return sum(weight for word, weight in weights.items() if word in lowered)

    return max(sentences, key=held, default="")


def _best(matches: Sequence[Match]) -> dict[int, Match]:
    best: dict[int, Match] = {}
    for match in matches:
        if match.note not in best or match.score > best[match.note].score:
            best[match.note] = match
    return best
