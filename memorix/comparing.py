"""Find the notes that a new one resembles, and tell where notes contradict each other."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from memorix import conflict, privacy, trust
from memorix.index.base import Index, Row
from memorix.lexemes import telling_words
from memorix.lifecycle import Draft
from memorix.note import Note, format_time
from memorix.query import Filter, Hit
from memorix.ranking import idf
from memorix.results import Near, Written

SHOWN = 3
# Nearest notes told after a write; enough to see a repeat, few enough to read.

LENGTH, LOOKED_UP = 200, 8
# A new note is compared by so many words of its title and of so many of its first characters.

RARE, OFTEN, OF = 50, 500, 10_000
# A word in at most 50 chunks is looked up by itself, a commoner one together with others, so that
# writing stays as fast in a large vault as in a small one.  It is weighed as if in 500 chunks of
# 10,000.

NEAR_SHARE, LIKE_SHARE = 0.45, 0.3
# Of the weight of these words: from the first on a note is told as near, from the second on it is
# looked at for a contradiction.

COMPARED, MARKED = 6, 8
# Notes looked at for a contradiction: beside a new one, and among the first hits.


def nearest(index: Index, draft: Draft, scopes: tuple[str, ...], now: datetime) -> tuple[Near, ...]:
    """Return the notes in force of these scopes that a draft resembles, contradictions first."""
    draft = replace(draft, text=privacy.without(draft.text))
    owners = index.owners(_shares(index, draft), Filter(scopes=scopes), now)[:COMPARED]
    rows = index.rows(match.note for match in owners)
    texts = index.texts(match.chunk for match in owners)
    close: dict[int, Near] = {}
    for match in owners:
        row, text = rows.get(match.note), texts.get(match.chunk)
        if row is None or text is None:  # another writer has indexed it anew since
            continue
        found = _contradictions(draft, scopes[0], row, text)
        if found:
            close[match.note] = _near(row, conflict.told(found), conflict=True)
        elif match.score >= NEAR_SHARE and len(close) < SHOWN and match.note not in close:
            said = (draft.title, draft.text)
            close[match.note] = _near(row, conflict.differing(*said, row.title, text))
    ordered = sorted(close.values(), key=lambda near: not near.conflict)
    return tuple(ordered[:SHOWN])


def _contradictions(draft: Draft, scope: str, row: Row, text: str) -> Sequence[conflict.Conflict]:
    if "Episode" in (draft.type, row.type):  # what was said once is not what holds
        return ()
    if row.scope != scope and conflict.is_local(draft.text):  # a project may do it otherwise
        return ()
    return conflict.conflicts(draft.title, draft.text, row.title, text)


def _near(row: Row, differs: str, *, conflict: bool = False) -> Near:
    """Return a note as an answer tells it; it holds since it says so, or was first written."""
    since = row.valid_from or row.created
    return Near(row.id, row.title, row.gist, differs, conflict, row.seen.etag, since)


def _shares(index: Index, draft: Draft) -> dict[int, float]:
    """Return how much of the weight of a draft's words a chunk holds, from `LIKE_SHARE` on."""
    words = telling_words(f"{draft.title} {draft.text[:LENGTH]}")
    words.sort(key=lambda word: word.replace("_", "").isdigit())  # values tell least of the subject
    asked = words[:LOOKED_UP]
    held = dict(zip(asked, index.holding(asked, RARE + 1), strict=True))
    common = [word for word, chunks in held.items() if len(chunks) > RARE]
    if len(common) > 1:
        groups = [" ".join(common)] + [" ".join(pair) for pair in combinations(common[:3], 2)]
        for group, chunks in zip(groups, index.holding(groups, RARE), strict=True):
            for word in group.split():
                held[word] = list({*held[word], *chunks})
    counts = {word: OFTEN if word in common else max(len(held[word]), 1) for word in asked}
    weights = {word: idf(count, OF) for word, count in counts.items()}
    total = sum(weight for word, weight in weights.items() if held[word])
    shares: dict[int, float] = defaultdict(float)
    for word, chunks in held.items():
        for chunk in chunks:
            shares[chunk] += weights[word] / total
    return {chunk: share for chunk, share in shares.items() if share >= LIKE_SHARE}


def ways_to_settle(
    done: Written, draft: Draft, near: Sequence[Near], now: datetime
) -> tuple[str, ...]:
    """Return the calls that settle the first contradiction of a new note; none without one."""
    found = next((one for one in near if one.conflict), None)
    if found is None:
        return ()
    stated = draft.extra.get("valid_from")
    since = stated if isinstance(stated, str) else format_time(draft.when or now)
    new = conflict.Side(done.id, done.etag, since)
    return conflict.ways_to_settle(new, conflict.Side(found.id, found.etag, found.since))


def disputed(hits: Sequence[tuple[Hit, str]]) -> list[Hit]:
    """Mark the hits, given with the text that was found, that contradict each other.

    One of a branch that is not merged here is of another state of things, and says so itself; one
    that is out of force has been settled.
    """
    against: dict[str, list[str]] = defaultdict(list)
    stated = [
        (hit, text)
        for hit, text in hits[:MARKED]
        if hit.type != "Episode" and hit.status != "deprecated"
    ]
    for (one, text), (other, known) in combinations(stated, 2):
        same = one.branch == other.branch
        if same and conflict.conflicts(one.title, text, other.title, known):
            against[one.id].append(other.id)
            against[other.id].append(one.id)
    return [_disputed(hit, against[hit.id]) if hit.id in against else hit for hit, _ in hits]


def _disputed(hit: Hit, others: Sequence[str]) -> Hit:
    known = " ".join(hit.why.notes)
    marks = (f"possible conflict with {other}" for other in others if other not in known)
    why = replace(hit.why, notes=(*hit.why.notes, *marks))
    return replace(hit, why=why, disputes=tuple(others))


SAME_WORDS = 0.05
# Of the question's weight: two hits that hold it up to that are asked for alike.


def _is_meant(one: Hit, other: Hit) -> bool:
    """Say whether a question names one of two hits, by a number or an identifier and by more of
    its words than the other has: then it stays first.  Plain words tell what is asked about, which
    is the same for both."""
    named = any(not word.isalpha() for word in one.why.matched)
    return named and one.why.words > other.why.words + SAME_WORDS


def by_standing(hits: Sequence[Hit], note_of: Callable[[Hit], Note | None]) -> list[Hit]:
    """Put, of hits that contradict each other, the one first that is to be believed sooner.

    `note_of` reads a hit's note; it is asked only about these.
    """
    ordered = list(hits)
    notes = {hit.id: note_of(hit) for hit in hits if hit.disputes}
    ranks = {
        h.id: (not h.branch, *trust.standing(n, h.scope)) for h in hits if (n := notes.get(h.id))
    }
    for hit in sorted((h for h in hits if h.id in ranks), key=lambda h: ranks[h.id], reverse=True):
        place = ordered.index(hit)
        weaker = [h for h in ordered[:place] if h.id in hit.disputes and h.id in ranks]
        before = [h for h in weaker if ranks[h.id] < ranks[hit.id] and not _is_meant(h, hit)]
        if before:
            ordered.remove(hit)
            ordered.insert(ordered.index(before[0]), hit)
    return ordered
