"""Read a mistyped word as one that the store knows.

A word is taken for mistyped where no note has it and one that some note has differs from it in one
letter too many, too few, other, or swapped with the next: four of five misspellings are one of
these (Damerau, "A technique for computer detection and correction of spelling errors", CACM 1964).
All such words are made and looked up, as Norvig does ("How to write a spelling corrector", 2007):
some 50 a letter, which is cheaper than going through a vocabulary.
"""

import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memorix.lexemes import QueryTerm, stem

SHORTEST = 6
# Shorter words have too many neighbours that mean something else: `kilos`, `kills`.

_LONGEST = 24
# Longer ones are data, and would be looked up by the thousand.


def unknown(terms: Sequence[QueryTerm], counts: Mapping[str, int]) -> list[str]:
    """Return the words of a question that may be mistyped, given in how many chunks each occurs."""
    found: dict[str, None] = {}
    for term in terms:
        if term.counts and term.kind != "cjk":
            found.update(dict.fromkeys(_unknown_in(term, counts)))
    return list(found)


def _unknown_in(term: QueryTerm, counts: Mapping[str, int]) -> Iterator[str]:
    for word in term.parts or term.exact:
        plain = word.isascii() and word.isalpha() and SHORTEST <= len(word) <= _LONGEST
        if plain and not counts.get(word) and not counts.get(stem(word)):
            yield word


def neighbours(word: str) -> list[str]:
    """Return every word one slip of the fingers away, each once and without the word itself."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = [a + b[1:] for a, b in cuts if b]
    found += [a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1]
    found += [a + letter + b[1:] for a, b in cuts if b for letter in string.ascii_lowercase]
    found += [a + letter + b for a, b in cuts for letter in string.ascii_lowercase]
    return [other for other in dict.fromkeys(found) if other != word]


def meant(word: str, counts: Mapping[str, int]) -> str:
    """Return the neighbour that most chunks have; the word itself where none has any."""
    known = [other for other in neighbours(word) if counts.get(other)]
    return max(known, key=lambda other: counts[other], default=word)


def corrected(term: QueryTerm, words: Mapping[str, str]) -> QueryTerm:
    """Return a term with its mistyped words as they are meant."""
    if term.parts:
        parts = tuple(words.get(part, part) for part in term.parts)
        return term if parts == term.parts else replace(term, parts=parts, stems=_stems(parts))
    word = words.get(term.exact[0], term.exact[0])
    if word == term.exact[0]:
        return term
    return replace(term, text=word, exact=(word,), stems=(stem(word),))


def _stems(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(stem(part) for part in parts if part.isascii() and part.isalpha())
