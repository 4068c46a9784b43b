"""Turn text into the words it is searched by, the same way for notes and for questions.

Every word is one token for the FTS5 tokenizer `unicode61 remove_diacritics 2 tokenchars '_'`, which
leaves it as it is: the splitting is done here.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from operator import add

from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]

MAX_TERMS = 64
# A question is rarely longer; a pasted log must not become a query of thousands of words.

MAX_PHRASES = 256
# Bounds the work of one search, also where the terms are long runs of CJK.

EXACT_COLUMNS = "{title exact}"
# What a note says itself, as written.

_ASKED_EXACT, _ASKED_STEM = "{title exact around}", "{title stem around}"
# The title, and what a short note is surrounded by, are kept as both kinds of words in one column.

_MAX_WORD = 64
# Longer words are cut: they are data (base64, minified code), and nobody types their ends.

_MAX_RUN = 64
# Characters of one CJK term in a question; a longer run becomes several terms.

_MOST_KNOWN = 40_000
# Words whose lexemes are kept, some 20 MB; forgotten all at once, which costs a second's work.

_LONGEST_KNOWN = 200
# Longer pieces are data, or whole paragraphs of Chinese; neither comes again.

_MOST_NAMES = 16_384
# Code repeats its names between other signs.

_STOP = frozenset(
    """
    a about after all also am an and any are as at be because been before being between both but
    by can cant could did didnt do does doesnt doing dont down during each for from further had
    has have havent having he her here hers herself him himself his how i if ill im in into is
    isnt it its itself ive just let me more most my myself no nor not of off on once only or other
    our ours out over own same she should so some such than that thats the their theirs them
    themselves then there these they this those through to too under until up us very was wasnt we
    were what whats when where which while who whom why will with wont would you your yours
    yourself
    """.split()  # noqa: SIM905 - a list of 130 strings is not easier to read
)

_ASKING = frozenset(
    "什么 怎么 哪些 多少 为什 时候 如何 哪里 哪个 谁的 是什 么时 的是 是谁".split()  # noqa: SIM905
)
# 2-grams that only ask; without them 1 point more of the CMRC questions find their text first.

_SPACELESS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Myanmar, Khmer
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c"  # signs used like Han
    "\u3040-\u30ff\u31f0-\u31ff\u3100-\u312f\u31a0-\u31bf"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
# Scripts without spaces, or with words longer than what is searched for.

_LETTERS = rf"[^\W{_SPACELESS}]+"
_ATOM = re.compile(
    rf"(?:(?=\w)[{_SPACELESS}])+"
    r"|(?<!\w)\.(?:net|NET|Net)\b"
    rf"|{_LETTERS}(?:(?:::|://|[-./:@\\]){_LETTERS})*(?:\+\+|(?<=\b[A-Za-z])#)?"
)
_POSSESSIVE = re.compile(r"(?<=\w)['’][sS]\b|\b(?:[cdjlmnstCDJLMNST]|[Qq]u)['’](?=\w)")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_ACCENTED = re.compile("[\u00c0-\u052f\u1e00-\u1fff]+")
_PATH_SEAM = re.compile(r"[/\\:@]+")
_WORD_SEAM = re.compile(r"[-_]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z]{2})")
_NUMBER_SEAM = re.compile(r"(?<=\d)[\W_]+(?=\d)")
_SEAM = re.compile(r"\W+|(?<!\d)_+|_+(?!\d)")
_NO_SIGNS = {code: None for code in range(128) if not chr(code).isalnum()}
_VERSION = re.compile(r"v(?=\d+_)")
_HEX = re.compile(r"0x[0-9a-f]+", re.IGNORECASE)
_PLAIN = re.compile(r"[a-z]+|[A-Z][a-z]+|[A-Z]+")

_stemmer = SnowballStemmer("english")


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A word, an identifier or a run of CJK from a question, with the lexemes that stand for it.

    `exact` are the words that mean all of it (for CJK its telling 2-grams), `parts` those that
    mean a part of an identifier, `stems` the English stems of either.  `kind` is word, identifier,
    cjk or stop.  `also` are other wordings of it, each as the 2-grams or stems that make it up.
    """

    text: str
    kind: str
    exact: tuple[str, ...]
    parts: tuple[str, ...] = ()
    stems: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Say whether finding this term tells anything."""
        return self.kind != "stop"

    @property
    def tokens(self) -> tuple[str, ...]:
        """The lexemes whose document frequencies tell how rare the term is."""
        own = self.exact if self.kind == "identifier" else self.exact + self.stems
        return tuple(dict.fromkeys(own + self.also))

    @property
    def forms(self) -> tuple[str, ...]:
        """Lower-case strings by which a sentence that has the term can be told."""
        lowered = self.text.lower()
        also = map(_as_written, self.also)
        if self.kind == "cjk":
            return tuple(dict.fromkeys([*self.exact, *also]))
        longer = (form for form in self.parts + self.stems if len(form) > 2)
        return tuple(dict.fromkeys([lowered, *longer, *also]))

    def share_of(self, held: frozenset[str]) -> float:
        """Return how much of the term the lexemes held by a text make up, 0 to 1."""
        if self.also and not held.isdisjoint(self.also):
            return 1.0
        if self.kind == "cjk":
            return sum(pair in held for pair in self.exact) / len(self.exact)
        if not held.isdisjoint(self.exact):
            return 1.0
        if not self.parts:
            return float(not held.isdisjoint(self.stems))
        found = sum(part in held or stem(part) in held for part in self.parts)
        return found / len(self.parts)


def index_words(text: str) -> str:
    """Return the exact lexemes of a text in its order, with spaces between them."""
    return " ".join(filter(None, map(_EXACT.__getitem__, text.split())))


def words_and_stems(text: str) -> tuple[str, str]:
    """Return the exact lexemes of a text, and the English stems of its words without stop words,
    each in its order with spaces between them."""
    pieces = text.split()
    exact, stemmed = map(_EXACT.__getitem__, pieces), map(_STEMS.__getitem__, pieces)
    return " ".join(filter(None, exact)), " ".join(filter(None, stemmed))


def telling_words(text: str) -> list[str]:
    """Return the exact lexemes of a text, each once, without stop words and single characters."""
    words = dict.fromkeys(index_words(text).split())
    return [word for word in words if len(word) > 1 and word not in _STOP]


def query_terms(text: str) -> tuple[QueryTerm, ...]:
    """Return what a question asks for, each once, in its order; at most `MAX_TERMS`."""
    found: dict[tuple[str, ...], QueryTerm] = {}
    for term in _terms_of(text):
        found.setdefault(term.exact, term)
        if len(found) == MAX_TERMS:
            break
    return tuple(found.values())


def match_expression(terms: Sequence[QueryTerm]) -> str:
    """Return the FTS5 query that finds any of the terms; empty where there is none.

    Stop words take part only where there is nothing else.
    """
    asked = [term for term in terms if term.counts] or terms
    exact = dict.fromkeys(word for term in asked for word in _worth_asking(term))
    stemmed = dict.fromkeys(word for term in asked for word in term.stems)
    for phrase in (phrase for term in asked for phrase in term.also):
        (stemmed if phrase.isascii() else exact).setdefault(phrase)
    columns = ((_ASKED_EXACT, exact), (_ASKED_STEM, stemmed))
    return " OR ".join(f"{name} : ({_any_of(words)})" for name, words in columns if words)


def language_hint(text: str) -> str:
    """Guess from its script what a text is written in: zh, ja, ko, th, ru, und (another script
    than the Latin one) or en; for deciding whether a model can read it."""
    if text.isascii():
        return "en"
    beyond = beyond_ascii(text)
    counts = {name: _count(pattern, beyond) for name, pattern in _SCRIPTS.items()}
    counts["en"] += len(text.encode("ascii", "ignore").translate(None, _NO_LETTERS))
    letters = sum(counts.values())
    han, kana = counts["zh"], counts["ja"]
    if (han + kana) >= _FOREIGN_SHARE * letters and kana * 10 >= han + kana > 0:
        return "ja"
    del counts["en"], counts["ja"]
    name = max(counts, key=lambda key: counts[key])
    return name if counts[name] and counts[name] >= _FOREIGN_SHARE * letters else "en"


_FOREIGN_SHARE = 0.3
# Notes in other languages are full of Latin names and code.

_SCRIPTS = {
    "zh": re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"),
    "ja": re.compile("[\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f]+"),
    "ko": re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+"),
    "th": re.compile("[\u0e01-\u0e4e]+"),
    "ru": re.compile("[\u0400-\u052f]+"),
    "und": re.compile("[\u0370-\u03ff\u0530-\u0dff\u0e80-\u10ff\u1200-\u1cff\ua4d0-\uabff]+"),
    "en": re.compile("[\u00c0-\u024f\u1e00-\u1eff]+"),
}
# Without the ASCII letters, which are counted by themselves: most of the text are such.

_ASCII = bytes(range(128))
_NO_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())


def beyond_ascii(text: str) -> str:
    """Return the characters of a text that are not ASCII, in a tenth of a pattern's time."""
    return text.encode("utf-8", "replace").translate(None, _ASCII).decode()


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(map(len, pattern.findall(text)))


def _as_written(phrase: str) -> str:
    """Return the characters that 2-grams were made of; English stems as they are."""
    first, *more = phrase.split()
    return phrase if phrase.isascii() else first + "".join(pair[-1] for pair in more)


def _worth_asking(term: QueryTerm) -> Iterator[str]:
    yield from term.exact
    yield from (part for part in term.parts if part not in _STOP and len(part) > 1)


def all_of(words: Iterable[str]) -> str:
    """Return the FTS5 query that finds all of these words, which are lexemes."""
    return " AND ".join(f'"{word}"' for word in words)


def _any_of(words: Iterable[str]) -> str:
    return " OR ".join([f'"{word}"' for word in words][:MAX_PHRASES])


class _Known(dict[str, str]):
    """One kind of lexemes of the pieces of text seen lately; a hit costs no call."""

    def __init__(self, kind: int) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, word: str) -> str:
        if len(word) >= _LONGEST_KNOWN:
            return _long_lexemes(word)[self._kind]
        found = _new_lexemes(word)
        for known, lexemes in zip(_KNOWN, found, strict=True):
            if len(known) >= _MOST_KNOWN:
                known.clear()
            known[word] = lexemes
        return found[self._kind]


@lru_cache(32)
def _long_lexemes(word: str) -> tuple[str, str]:
    """Return the lexemes of a long piece, kept until the other kind of them is asked for."""
    return _new_lexemes(word)


def _new_lexemes(word: str) -> tuple[str, str]:
    """Return the exact lexemes and the stems of a piece of text without white space."""
    bare = word.lstrip('([{"*`').rstrip('.,;:!?)]}"*`')
    if bare.isascii() and bare.isdigit():
        return bare[:_MAX_WORD], ""
    exact: list[str] = []
    stemmed: list[str] = []
    for atom in [bare] if bare.isascii() and bare.isalpha() else _ATOM.findall(_normal(word)):
        if is_spaceless(atom[0]):
            exact += _pairs(atom)
            exact += atom if len(atom) > 1 else ""
        elif _is_plain(atom):
            exact.append(folded := _folded(atom))
            stemmed += () if folded in _STOP else (stem(folded),)
        else:
            wholes, parts = _names_in(atom)
            exact += wholes
            exact += parts
            stemmed += _stems_in(wholes, parts)
    return " ".join(exact), " ".join(stemmed)


_KNOWN = _EXACT, _STEMS = _Known(0), _Known(1)


def _terms_of(text: str) -> Iterator[QueryTerm]:
    for match in _ATOM.finditer(_normal(text)):
        atom = match[0]
        if is_spaceless(atom[0]):
            yield from _cjk_terms(atom)
        elif _is_plain(atom):
            yield _word(atom)
        elif (names := _names_in(atom))[0]:
            yield _identifier(atom, *names)


def _normal(text: str) -> str:
    """Return a text without compatibility forms, accents, marks and apostrophes."""
    if "'" in text or "’" in text:
        text = _APOSTROPHE.sub("", _POSSESSIVE.sub(" ", text))
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    text = _ACCENTED.sub(lambda match: unicodedata.normalize("NFKD", match[0]), text)
    return text.translate(_WITHOUT_MARKS)


class _WithoutMarks(dict[int, int | None]):
    """For `str.translate`: drop what belongs to the letter before it and is no letter itself."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if _is_mark(chr(code)) else code
        return self[code]


_WITHOUT_MARKS = _WithoutMarks()


def _is_mark(character: str) -> bool:
    if "\u19b0" <= character <= "\u19c9" or character in "\u1cf2\u1cf3":
        return True  # SQLite has these vowels as marks, as earlier versions of Unicode had
    category = unicodedata.category(character)
    return category[0] == "M" or (category == "Cf" and character != "\u200b")


_SPACELESS_CHARACTER = re.compile(f"[{_SPACELESS}]")


def is_spaceless(character: str) -> bool:
    return not character.isascii() and bool(_SPACELESS_CHARACTER.match(character))


def _cjk_terms(run: str) -> Iterator[QueryTerm]:
    for start in range(0, max(len(run) - 1, 1), _MAX_RUN - 1):  # pieces share a character
        piece = run[start : start + _MAX_RUN]
        pairs = _pairs(piece)
        yield QueryTerm(piece, "cjk", _telling(pairs) or pairs)


def _telling(pairs: Sequence[str]) -> tuple[str, ...]:
    """Return the pairs that neither ask nor join a word to one that asks."""
    asking = [pair in _ASKING for pair in pairs]
    beside = zip([False, *asking[:-1]], [*asking[1:], False], strict=True)
    return tuple(
        p for p, own, near in zip(pairs, asking, beside, strict=True) if not own | any(near)
    )


def _pairs(run: str) -> tuple[str, ...]:
    return tuple(map(add, run, run[1:])) or (run,)


def _is_plain(atom: str) -> bool:
    return atom.isalpha() and (not atom.isascii() or _PLAIN.fullmatch(atom) is not None)


def _word(atom: str) -> QueryTerm:
    folded = _folded(atom)
    kind = "stop" if folded in _STOP else "word"
    return QueryTerm(atom, kind, (folded,), (), (stem(folded),))


def _identifier(atom: str, wholes: tuple[str, ...], parts: tuple[str, ...]) -> QueryTerm:
    kind = "identifier" if parts or not wholes[0].isalpha() else "word"
    return QueryTerm(atom, kind, wholes, parts, tuple(_stems_in(wholes, parts)))


def _stems_in(wholes: tuple[str, ...], parts: tuple[str, ...]) -> list[str]:
    """Return the stems of the smallest English words of an identifier."""
    return [stem(w) for w in parts or wholes if w.isascii() and w.isalpha() and w not in _STOP]


@lru_cache(_MOST_NAMES)
def _names_in(atom: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the joined forms of an identifier, and its parts; nothing where only signs are."""
    wholes = _wholes(atom)
    leaves = chain.from_iterable(map(_leaves, _PATH_SEAM.split(atom)))
    return wholes, tuple(dict.fromkeys([w for w in leaves if w and w not in wholes]))


def _wholes(atom: str) -> tuple[str, ...]:
    if atom.endswith("++"):
        return (f"{_joined(atom)[: _MAX_WORD - 2]}pp",)
    if atom.endswith("#"):
        return (f"{_joined(atom)}sharp",)
    if atom.startswith("."):  # the only such atom
        return ("dotnet",)
    whole = _joined(atom)
    if _VERSION.match(whole):
        return whole, whole[1:]
    return (whole,) if whole else ()


@lru_cache(_MOST_NAMES)
def _leaves(place: str) -> tuple[str, ...]:
    """Return the lexemes of one step of a path, from the whole step to its smallest words."""
    found = [_joined(place)]
    names = place.split(".")
    for name in names:
        found += (_joined(name),) if len(names) > 1 else ()
        if name.islower() and name.isalnum():  # one word, as most are
            continue
        if len(name) <= _MAX_WORD and not _HEX.fullmatch(name):
            pieces = _WORD_SEAM.split(name)
            found += map(_joined, pieces) if len(pieces) > 1 else ()
    return tuple(found)


def _joined(name: str) -> str:
    """Return a name as one legal token: digits stay apart from digits, all else is joined."""
    if name.isalnum():
        return _folded(name)
    if name.isascii() and not _NUMBER_SEAM.search(name):
        return _folded(name.translate(_NO_SIGNS))
    return _folded(_SEAM.sub("", _NUMBER_SEAM.sub("_", name)))


def _folded(word: str) -> str:
    return word.casefold()[:_MAX_WORD]


@lru_cache(_MOST_NAMES)
def stem(word: str) -> str:
    """Return the English stem of a lower-case word; other words come back as they are."""
    return _stemmer.stem_word(word) if word.isascii() and word.isalpha() else word
