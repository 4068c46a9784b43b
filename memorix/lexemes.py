"""Text as search words: identifiers whole and in parts, CJK characters and bigrams, stems.

SQLite's tokenizer sees only what this module emits: words of letters, digits and `_`, separated by
spaces, so that the same string is found whichever of its spellings a text or a question uses.
Bigrams beat a dictionary for Chinese and need none (96 % of CMRC 2018 answers at rank 1).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from py_rust_stemmers import SnowballStemmer

MAX_TERMS = 64
# A question longer than that is a text; its first words say what it is about.

MAX_WORD = 64
# Longer runs are data (hashes, base64); their head is enough to find them.

_CJK = (
    "\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)  # scripts written without spaces, and Hangul, whose particles cling to the word
_PIECE = re.compile(rf"[{_CJK}]+|[^\W{_CJK}](?:[^\W{_CJK}]|[.\-/\\:@#+'’&$])*")
_CJK_RUN = re.compile(rf"[{_CJK}]+")
_PART = re.compile(r"[^\W_]+")
_POSSESSIVE = re.compile(r"['’]s\b")
_SEGMENT = re.compile(r"[/\\]+")
_CASE = re.compile(r"[^\W\d_a-z]+(?![a-z])|[^\W\d_a-z]?[a-z]+|\d+|[^\W\d_]+")
_SPOKEN_WORDS = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp", ".net": "dotnet"}
_SPOKEN = re.compile(r"(?<!\w)(?:[cC]\+\+|[cCfF]#|\.(?i:net))(?!\w)")
_STEMMER = SnowballStemmer("english")
_STOP = frozenset(
    """a about all also am an and any are as at be because been before being but by can could did do
    does doing don for from get had has have having he her here him his how i if in into is it its
    just like me more most my no not now of on only or other our out over own same she should so
    some such than that the their them then there these they this those to too up us use used using
    very was we were what when where which while who why will with would you your""".split()  # noqa: SIM905
)
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")
_THAI = re.compile(r"[\u0e00-\u0e7f]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_LETTER = re.compile(r"[^\W\d_]")
FOREIGN_SHARE = 0.3
# Of the letters; a Chinese note full of identifiers is still a Chinese note.


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One thing a question asks for.

    `exact` is looked up among the words as written, `stem` among the stems (empty where there is
    none).  `kind` is `word`, `identifier`, `cjk` or `stop`.
    """

    text: str
    kind: str
    exact: str
    stem: str = ""

    @property
    def counts(self) -> bool:
        """Say whether the term carries weight in the question."""
        return self.kind != "stop"

    @property
    def tokens(self) -> tuple[str, ...]:
        return (self.exact, self.stem) if self.stem and self.stem != self.exact else (self.exact,)

    def found_in(self, tokens: frozenset[str]) -> bool:
        return self.exact in tokens or self.stem in tokens


def index_words(text: str) -> tuple[str, str]:
    """Return (words, stems) of a text as the index holds them, in order, separated by spaces.

    Words are as written, in lower case; stems are English and leave stop words out.
    """
    found = [_expanded(piece) for piece in _PIECE.findall(_normalised(text))]
    return " ".join([words for words, _ in found]), " ".join([s for _, s in found if s])


def query_terms(text: str) -> tuple[QueryTerm, ...]:
    """Return what a question asks for, at most `MAX_TERMS` terms, each once.

    An identifier is one term as a whole, and its parts are terms of their own.
    """
    terms: dict[str, QueryTerm] = {}
    for piece in _PIECE.findall(_normalised(text)):
        for term in _terms_of(piece):
            terms.setdefault(term.exact, term)
        if len(terms) >= MAX_TERMS:
            break
    return tuple(terms.values())[:MAX_TERMS]


def match_expression(terms: Sequence[QueryTerm]) -> str:
    """Return the FTS5 query for any of the terms; empty where there are none.

    Stop words are asked for only where there is nothing else.
    """
    asked = [term for term in terms if term.counts] or list(terms)
    return " OR ".join(_expression(term) for term in asked)


def language_hint(text: str) -> str:
    """Guess a text's language from its script, as an ISO 639-1 code; Latin script counts as `en`.

    It decides whether a model that knows few languages is asked at all.
    """
    sample = text[:4000]
    letters = len(_LETTER.findall(sample)) or 1
    for script, language in ((_KANA, "ja"), (_HANGUL, "ko"), (_THAI, "th"), (_CYRILLIC, "ru")):
        if len(script.findall(sample)) / letters >= FOREIGN_SHARE / 2:
            return language
    return "zh" if len(_HAN.findall(sample)) / letters >= FOREIGN_SHARE else "en"


def _normalised(text: str) -> str:
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return _SPOKEN.sub(lambda match: _SPOKEN_WORDS[match.group().lower()], plain)


def _expression(term: QueryTerm) -> str:
    exact = f'{{title exact}} : "{term.exact}"'
    return f'{exact} OR {{title stem}} : "{term.stem}"' if term.stem else exact


def _terms_of(piece: str) -> list[QueryTerm]:
    if _CJK_RUN.match(piece):
        return [QueryTerm(gram, "cjk", gram) for gram in _grams(piece) or [piece]]
    wholes, parts = _forms(piece)
    terms = [QueryTerm(piece.strip(".-/\\:'’&"), "identifier", whole) for whole in wholes]
    for part in parts:
        kind = "stop" if part in _STOP else "word"
        if not wholes and any(c.isdigit() for c in part) and len(part) > 2:
            kind = "identifier"
        terms.append(QueryTerm(part, kind, part, "" if kind == "stop" else _stem(part)))
    return terms


@lru_cache(maxsize=1 << 16)
def _expanded(piece: str) -> tuple[str, str]:
    """Return (exact words, stems) of one piece of text; most pieces come again and again."""
    if _CJK_RUN.match(piece):
        return " ".join([*_letters(piece), *_grams(piece)]), ""
    wholes, parts = _forms(piece)
    stemmed = (_stem(part) for part in parts if part not in _STOP)
    return " ".join([*wholes, *parts]), " ".join(stemmed)


def _forms(piece: str) -> tuple[list[str], list[str]]:
    """Return a piece's joined forms (none for a plain word) and its parts, all in lower case."""
    if piece.isascii() and piece.isalpha() and (piece.islower() or piece[1:].islower()):
        return [], [piece.lower()[:MAX_WORD]]
    bare = _POSSESSIVE.sub("", piece).replace("'", "").replace("’", "")
    wholes: list[str] = []
    parts: list[str] = []
    segments = [segment for segment in _SEGMENT.split(bare) if segment]
    for segment in [bare, *segments] if len(segments) > 1 else [bare]:
        words = _PART.findall(segment)
        small = [part for word in words for part in _cased(word)]
        if len(words) > 1 or small != [word.lower() for word in words]:
            digits = all(part.isdigit() for part in words)
            wholes.append(("_" if digits else "").join(words).lower()[:MAX_WORD])
        parts += [*(word.lower()[:MAX_WORD] for word in words if len(words) > 1), *small]
    return _once(wholes), _once(part for part in parts if part not in wholes)


def _cased(word: str) -> list[str]:
    """Split camelCase and letters from digits; what is one character stays with the whole."""
    pieces = _CASE.findall(word)
    return [piece.lower()[:MAX_WORD] for piece in pieces if len(piece) > 1 or len(pieces) == 1]


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word for word in words if word))


def _letters(run: str) -> list[str]:
    return [c for c in run if unicodedata.category(c)[0] in "LN"]


def _grams(run: str) -> list[str]:
    letters = _letters(run)
    return [first + second for first, second in pairwise(letters)]


@lru_cache(maxsize=1 << 15)
def _stem(word: str) -> str:
    return str(_STEMMER.stem_word(word))
