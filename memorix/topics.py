"""Find the subjects that many notes tell of, and what to call them.

The figures were found by looking at what comes out for the turns of long conversations (LoCoMo),
the hardest material there is: most of it is greetings and thanks.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from memorix.resemblance import Vectors, alike_by_meaning

LEAST = 5
# Notes; fewer are read as quickly as a summary of them.

RARE_SHARE, RARE_WORDS = 0.03, 4
# A note that tells of something has so many words that at most that share of all notes have, which
# leaves small talk out.

SAME_SUBJECT = 0.4
# Cosine of two vectors, each without what all have in common.

KEY_WORDS, KEY_SHARE, SAME_KEYS = 20, 0.05, 0.2
# Where there are no vectors, the cosine of two notes' rarest words takes their place.

NAME_SHARE, NAME_LIFT, NAMES = 0.6, 12.0, 3
# A subject has a name: a word in most of its notes, and so many times as rare in all others.

Words = Mapping[str, str]
# The stems of a note's telling words, each with the word as it was written.

_Near = dict[int, float]


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject: the places of its notes, the most central first, and the words that name it."""

    notes: tuple[int, ...]
    name: tuple[str, ...]


def topics(words: Sequence[Words], vectors: Vectors | None, least: int = LEAST) -> list[Topic]:
    """Group notes by their subject, the largest group first; most notes belong to none.

    Notes are joined to stars: the one with most others close to it is the centre of a subject, and
    what is close to it belongs to it, so that no chain of resemblances runs from one subject to
    the next (Aslam, Pelekhov and Rus 2004, doi 10.7155/jgaa.00084).  Meaning decides where both
    notes have a vector, words where not.
    """
    places = _telling(words)
    words = [words[place] for place in places]
    near = _close(words, None if vectors is None else vectors[places])
    total = Counter(stem for held in words for stem in held)
    found = (_topic(star, words, total) for star in stars(near) if len(star) >= least)
    named = [Topic(tuple(places[p] for p in topic.notes), topic.name) for topic in found if topic]
    return sorted(named, key=lambda topic: (-len(topic.notes), topic.notes))


def stars(near: Mapping[int, _Near]) -> list[list[int]]:
    """Join places to stars, by how close each is to others: the centre first, then the closest."""
    weight = {place: sum(others.values()) for place, others in near.items()}
    taken: set[int] = set()
    stars = []
    for centre in sorted(near, key=lambda place: (-weight[place], place)):
        if centre in taken:
            continue
        around = [other for other in near[centre] if other not in taken]
        star = [centre, *sorted(around, key=lambda other: (-near[centre][other], other))]
        taken.update(star)
        stars.append(star)
    return stars


def _telling(words: Sequence[Words]) -> list[int]:
    """Return the places of the notes that tell of something."""
    total = Counter(stem for held in words for stem in held)
    most = max(RARE_SHARE * len(words), LEAST)
    return [
        place
        for place, held in enumerate(words)
        if sum(total[stem] <= most for stem in held) >= RARE_WORDS
    ]


def _close(words: Sequence[Words], vectors: Vectors | None) -> dict[int, _Near]:
    near: dict[int, _Near] = defaultdict(dict)
    seen: NDArray[np.bool_] = np.zeros(len(words), dtype=np.bool_)
    if vectors is not None and vectors.any():
        seen |= vectors.any(axis=1)
        for place, others, cosines in alike_by_meaning(_centred(vectors, seen), SAME_SUBJECT):
            near[place] = dict(zip(others.tolist(), cosines.tolist(), strict=True))
    if not seen.all():
        for first, second, cosine in _close_by_words(words):
            if not (seen[first] and seen[second]):
                near[first][second] = near[second][first] = cosine
    return near


def _centred(vectors: Vectors, seen: NDArray[np.bool_]) -> Vectors:
    """Take from all vectors what they have in common: the project, the persons, the tone."""
    moved = np.where(seen[:, None], vectors - vectors[seen].mean(axis=0), np.float32(0))
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    centred: Vectors = (moved / np.maximum(lengths, 1e-9)).astype(np.float32)
    return centred


def _close_by_words(words: Sequence[Words]) -> list[tuple[int, int, float]]:
    """Return the pairs that share two of their rarest words or more, and the cosine of these."""
    weights = _weights(words)
    lengths = [sqrt(sum(weight**2 for weight in held.values())) for held in weights]
    holders: dict[str, list[int]] = defaultdict(list)
    found = []
    for place, held in enumerate(weights):
        products: dict[int, float] = defaultdict(float)
        both: Counter[int] = Counter()
        for stem, weight in held.items():
            for other in holders[stem]:
                products[other] += weight**2
                both[other] += 1
            holders[stem].append(place)
        for other, product in products.items():
            cosine = product / (lengths[place] * lengths[other])
            if both[other] > 1 and cosine >= SAME_KEYS:
                found.append((other, place, cosine))
    return found


def _weights(words: Sequence[Words]) -> list[dict[str, float]]:
    """Return the rarest words of each note that others have too, with their weight."""
    total = Counter(stem for held in words for stem in held)
    most = max(KEY_SHARE * len(words), 2 * LEAST)
    weights = []
    for held in words:
        keys = sorted((total[stem], stem) for stem in held if 1 < total[stem] <= most)
        weights.append({stem: log(1 + len(words) / count) for count, stem in keys[:KEY_WORDS]})
    return weights


def _topic(star: Sequence[int], words: Sequence[Words], total: Counter[str]) -> Topic | None:
    """Name a star; None where no word stands for it."""
    within = Counter(stem for place in star for stem in words[place])
    outside = len(words) - len(star)
    marks = []
    for stem, count in within.items():
        share = count / len(star)
        rare = (total[stem] - count + 0.5) / (outside + 1)
        if share >= NAME_SHARE / 2 and share >= NAME_LIFT * rare:
            marks.append((-share * log(share / rare), stem, share))
    if not any(share >= NAME_SHARE for _, _, share in marks):
        return None
    best = sorted(marks, key=lambda mark: (mark[0], -len(mark[1]), mark[1]))
    return Topic(tuple(star), _name([_as_written(stem, star, words) for _, stem, _ in best]))


def _name(words: Sequence[str]) -> tuple[str, ...]:
    """Take the first words that say different things; pairs of characters join to one word."""
    name: list[str] = []
    for word in words:
        for place, known in enumerate(name):
            if word in known or known in word:
                break
            if not word.isascii() and (known[-1] == word[0] or word[-1] == known[0]):
                name[place] = known + word[1:] if known[-1] == word[0] else word + known[1:]
                break
        else:
            if len(name) < NAMES:
                name.append(word)
    return tuple(name)


def _as_written(stem: str, star: Sequence[int], words: Sequence[Words]) -> str:
    forms = Counter(words[place][stem] for place in star if stem in words[place])
    return min(forms, key=lambda form: (-forms[form], len(form), form))
