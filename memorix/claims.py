"""Read what a note states, clause by clause: of what, which property, which value, yes or no.

No model takes part.  A clause is cut at its predicate: what stands before it says what is spoken
of, what follows says what is so.  Values, names, closed classes of words (on and off, Redis and
Memcached) and denial are then told from the words that frame them.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memorix import grammar
from memorix.changes import as_told
from memorix.grammar import FIRST_MARK, MARK
from memorix.lexemes import stem
from memorix.lexicon import (
    ATTRIBUTES,
    EXCLUSIVE,
    GENERIC,
    QUALIFIERS,
    WEAK,
    ZH_GENERIC,
    ZH_WEAK,
)
from memorix.note import normalised, without_relations
from memorix.values import Value, find_values, int_of

MOST_CLAUSES, LONGEST = 40, 4000
# Statements, and characters read, of a note; what matters of a memory stands at its beginning.


WRAPPED = 60
# Characters from which on a line that ends in the middle of a sentence was broken to fit a page.

_ENDS = tuple(".!?:;|。！？：；")


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement.

    `frame` are the stems, and the single Chinese characters, of what is spoken of and in which
    respect; `weak` those that go with any name, `heads` the one that names the property, `names`
    those with a hyphen; `context` those of the title and the headings; `around` are frame, weak
    and context together.  `values` come with the word that says of what they are.  `classes` are
    the members of closed classes that are stated, `object` the words of what is stated where it is
    no value, `thing` what of it tells, and `told` with the words of the classes; `former` names
    what it says held before.  `asks` says that it asks to use something, `holds` is False where it
    is denied; `first` is its first word, `stance` what is to be done.  One that `leans` does not
    say itself what it speaks of.
    """

    text: str
    frame: frozenset[str]
    weak: frozenset[str]
    heads: frozenset[str]
    asks: bool
    names: frozenset[str]
    context: frozenset[str]
    around: frozenset[str]
    qualifiers: frozenset[str]
    values: tuple[tuple[Value, str], ...]
    classes: frozenset[tuple[str, str]]
    object: tuple[str, ...]
    thing: frozenset[str]
    told: frozenset[str]
    relation: str
    holds: bool
    first: str
    stance: str
    past: bool
    former: frozenset[str]
    leans: bool

    @property
    def stated(self) -> frozenset[str]:
        """What is stated, in the form of `former`."""
        values = {occasion_of(value) for value, _ in self.values}
        members = {f"{name}:{member}" for name, member in self.classes}
        return frozenset(values | members | set(map(stem, self.object)))

    @property
    def chosen(self) -> frozenset[str]:
        """The one word that is stated, and the words of the classes: a choice, not a subject."""
        return self.told if self.classes or len(self.object) == 1 else _NOTHING


@dataclass(frozen=True, slots=True)
class _Words:
    frame: frozenset[str]
    weak: frozenset[str]
    qualifiers: frozenset[str]


_NOTHING: frozenset[str] = frozenset()
WEAK_STEMS = frozenset(map(stem, WEAK))
_FENCE = re.compile(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_NO_STATEMENT = ("|", "[^", "    ", "\t")
# Begins a row of a table, a footnote, or code.

_LIST = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?|^\s*>\s?")
_SIGNS = re.compile(r"[`*_]")
_MARK, _MARK_WORD = re.compile(MARK), re.compile(rf"({MARK})\s*([a-z]{{3,}})?")
_NOT = re.compile(r"n['’]t\b")
_HAN = "\u3400-\u9fff"
_LATIN = rf"(?!{MARK})[^\W{_HAN}]"
_WORD = re.compile(rf"[§@]?{_LATIN}(?:{_LATIN}|[+#'.-](?={_LATIN}|[+#]))*[+#]*|[{_HAN}]+|{MARK}")
_WHERE = re.compile(r"(?<=[a-z]) (?:in|for|by|at|with|since|everywhere|again)\b.*$")
_LETTER = re.compile(r"(?<=[a-z] )(?!I\b)([A-Z])(?![\w+#'])|\b(US|IT)\b")
_ORDINAL = re.compile(r"\b(first|second|third|fourth|fifth|last)(?= [a-z])(?! of all)")
_ZH_ORDINAL = re.compile(r"第\s*(\d+|[一二三四五六七八九十]+)\s*[次个步轮条章节版期届批层阶]?")
_EVERY = re.compile(rf"(?:\bevery|每隔?)\s*({MARK})")
_RHYTHMS: dict[object, str] = {
    3600: "hourly",
    86_400: "daily",
    604_800: "weekly",
    2_592_000: "monthly",
}
_SETTING = re.compile(r"(?<![\w.-])([a-z_][\w.-]*)=([a-z][\w.-]*)(?![\w(=])")
_BEEN = re.compile(r"\b(?:has|have)\s+been\b")
_LASTING = re.compile(
    rf"\b(?:lives?|lasts?|(?:is|are|stays?|remains?) (?:good|valid))(?: for)? (?={MARK})"
)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_OF = re.compile(r"\b(?:of|for|in|on|at|with|to|from|by)\b")
_ANYWHERE = frozenset({"§default", "§owner"})
_SEQUENCE = re.compile(r"先(?P<first>.{1,20}?)[，,]?再(?P<then>.{1,20})$")
_ONLY_ALONE = frozenset("on off true false 开 关".split())  # noqa: SIM905
_ZH_GENERIC, _ZH_WEAK = re.compile(ZH_GENERIC), re.compile(ZH_WEAK)


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Find any of the words, the longest first; those in Latin letters only as whole words.

    Words are grouped by their first character: where no word begins the search passes on at once.
    """
    ends: dict[str, dict[bool, list[str]]] = {}
    for word in sorted(words, key=len, reverse=True):
        groups = ends.setdefault(re.escape(word[0]), {True: [], False: []})
        groups[word.isascii()].append(re.escape(word[1:]))
    parts = []
    for first, groups in ends.items():
        latin, other = "|".join(groups[True]), "|".join(groups[False])
        whole = rf"(?<![a-z0-9_@§-]{first})(?:{latin})(?![a-z0-9_-])"
        parts += [f"{first}{whole}"] if groups[True] else []
        parts += [f"{first}(?:{other})"] if groups[False] else []
    return re.compile("|".join(parts))


_KNOWN = ATTRIBUTES | QUALIFIERS
_KNOWN_WORD, _EXCLUSIVE = _pattern(_KNOWN), _pattern(EXCLUSIVE)


@lru_cache(512)
def claims(title: str, body: str) -> tuple[Claim, ...]:
    """Return what a note states, its title first; at most `MOST_CLAUSES`."""
    found: list[Claim] = []  # of a title that has a predicate; another is a name
    about, headings = _about(title, body), _NOTHING
    if not _begins(title, body):
        found += [claim for claim in _stated(title, _NOTHING) if claim.relation not in ("", "key")]
    named = found[:]
    for line in _unwrapped(_FENCE.sub("\n", without_relations(body[:LONGEST])).splitlines()):
        heading = _HEADING.match(line)
        if line.startswith(_NO_STATEMENT):
            continue
        if heading:
            headings = words_of(heading[1])
            continue
        found += _stated(_LIST.sub("", line), about | headings)
        if len(found) >= MOST_CLAUSES:
            break
    told = {claim: claim.stated for claim in found}
    titles = len(named)
    kept = [c for c in named if not any(told[c] and told[c] <= told[o] for o in found[titles:])]
    return tuple(dict.fromkeys(kept + found[titles:]))[:MOST_CLAUSES]


def _unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """Join lines that were broken in the middle of a sentence."""
    held = ""
    for line in lines:
        begins = line.startswith((*_NO_STATEMENT, "#")) or _LIST.match(line) or not line.strip()
        if held and begins:
            yield held
        held = f"{held} {line.strip()}" if held and not begins else line
        if len(line) < WRAPPED or line.startswith(_NO_STATEMENT) or line.rstrip().endswith(_ENDS):
            yield held
            held = ""
    if held:
        yield held


@lru_cache(512)
def subject_of(title: str, body: str) -> frozenset[str]:
    """Return what a note is about: what its title says, or else its first statement, without what
    is stated of it."""
    stated = claims(title, body)
    if not stated or (title and not _begins(title, body)):
        return frozenset(w for w in words_of(title) if w[:1] not in "=?" and not w.isdigit())
    return stated[0].frame


def _begins(title: str, body: str) -> bool:
    """Say whether a title is no more than how the body begins."""
    plain, whole = (_SIGNS.sub("", normalised(text)) for text in (title.rstrip("…"), body))
    return whole.startswith(plain)


def _about(title: str, body: str) -> frozenset[str]:
    """Return what a title names, or what the first statement speaks of where the title is made of
    it: what follows there is said of something else."""
    if not title or not _begins(title, body):
        return words_of(title)
    first = next((claim for claim in _stated(title, _NOTHING)), None)
    if first is None:
        return _NOTHING
    text = first.text
    for value in reversed(find_values(text)):
        text = f"{text[: value.start]} {text[value.end :]}"
    said = {word for word in words_of(text) if word[0] not in "?="} - first.stated
    return first.frame | first.weak | first.qualifiers | said - first.told


def _stated(line: str, context: frozenset[str]) -> Iterator[Claim]:
    """Yield the statements of a line; one without a subject speaks of what its sentence does, and
    one that begins with a pronoun of what was spoken of before."""
    subject = _NOTHING
    for clauses in grammar.sentences(line):
        for number, clause in enumerate(clauses):
            leans = number > 0 or grammar.refers_back(clause)
            claim, own = _claim(clause, context, subject if leans else None)
            subject = own or subject
            yield claim


def _claim(
    clause: str, context: frozenset[str], before: frozenset[str] | None
) -> tuple[Claim, frozenset[str]]:
    """Read one statement; return it with what it speaks of, `before` where it does not say; that
    is None where it stands for itself."""
    text, former = as_told(clause)
    plain = _ZH_ORDINAL.sub(lambda m: f" nth_{int_of(m[1])} ", text)
    values = [value for value in find_values(plain) if value.kind != "name"]
    masked = grammar.bounded(_masked(plain, values))
    stance, holds = grammar.stance(masked)
    affirmed = grammar.without_stance(masked) if stance or not holds else masked
    settings = _settings(affirmed)
    left, relation, right = grammar.cut(_SETTING.sub(" ", affirmed) if settings else affirmed)
    stated, tail = grammar.object_of(right) if relation in grammar.OPEN else ("", right)
    stated = stated.strip()
    named = _classes(stated or right, right)
    thing = _NOTHING if named else _read(stated, values).frame
    is_class = bool(named) and relation in ("be", "use")
    named = named or (_classes(right, right) if stated else named)
    tail = _MARK.sub(" ", tail)
    subject, said = _read(left, values), _read(tail if stated else _without_classes(tail), values)
    refers = not left.strip() or grammar.refers_back(left)
    spoken_of = subject.frame | before if refers and before else subject.frame
    frame = spoken_of | said.frame | {name for name, _ in settings}
    frame |= {"§owner"} if relation == "owner" else _NOTHING
    weak = subject.weak | said.weak
    claim = Claim(
        text=text,
        frame=frame,
        weak=weak,
        heads=_heads(left),
        asks=not left.strip() and relation == "use",
        names=frozenset(_NAME.findall(f"{left} {tail}")),
        context=context,
        around=frame | weak | context,
        qualifiers=subject.qualifiers | said.qualifiers | {w for w in context if w[0] == "?"},
        values=tuple(_labelled(right, values)),
        classes=frozenset(pair for _, pairs in named for pair in pairs)
        | _sequence(masked)
        | _rhythm(masked, values)
        | settings,
        object=() if is_class else _object_words(stated),
        thing=thing,
        told=thing | {part for word, _ in named for part in _parts(word)},
        relation=relation,
        holds=holds,
        first=next((stem(w) for w in _WORD.findall(affirmed) if w not in GENERIC), ""),
        stance=stance,
        past=grammar.is_past(text) and not former,
        former=_named_in(former) if former else _NOTHING,
        leans=not before if refers and before is not None else grammar.has_pronoun(text),
    )
    return claim, subject.frame if relation and not grammar.is_aside(left) else _NOTHING


def _masked(text: str, values: Sequence[Value]) -> str:
    """Put a sign in the place of each value, so that its characters are not read as words."""
    pieces, end = [], 0
    for number, value in enumerate(values):
        pieces += [text[end : value.start], f" {chr(FIRST_MARK + number)} "]
        end = value.end
    plain = _LETTER.sub(lambda m: f"letter_{m[0]}", "".join([*pieces, text[end:]])).lower()
    plain = _ORDINAL.sub(lambda m: f" nth_{m[1]} ", plain)
    plain = plain.replace("can't", "cannot").replace("won't", "will not")
    plain = _BEEN.sub("is", plain)
    plain = " ".join(_NOT.sub(" not", plain).split())
    return _LASTING.sub("expires ", plain)


def _named_in(former: str) -> frozenset[str]:
    """Return what a few words name: the values, or else the members of classes, or the words."""
    text = former.lower()
    members = [pair for _, pairs in _classes(text, text) for pair in pairs]
    return (
        frozenset(occasion_of(value) for value in find_values(former) if value.kind != "name")
        or frozenset(f"{name}:{member}" for name, member in members)
        or frozenset(map(stem, _object_words(text)))
    )


def _sequence(masked: str) -> frozenset[tuple[str, str]]:
    """Return which of two steps comes first, where that is said: `先 A 再 B`."""
    order = _SEQUENCE.search(masked)
    if order is None:
        return _NOTHING_SAID
    first, then = order["first"].strip(), order["then"].strip()
    return frozenset({("sequence", "then" if first < then else "first")})


_NOTHING_SAID: frozenset[tuple[str, str]] = frozenset()


def _rhythm(masked: str, values: Sequence[Value]) -> frozenset[tuple[str, str]]:
    """Return how often something happens, where a number says it: `every 24 hours` is daily."""
    spans = (values[ord(match[1]) - FIRST_MARK] for match in _EVERY.finditer(masked))
    seconds = [span.amount[0] for span in spans if span.kind == "duration"]
    return frozenset(("frequency", _RHYTHMS.get(s, f"every {s} s")) for s in seconds)


def _settings(text: str) -> frozenset[tuple[str, str]]:
    """Return what a statement sets beside what it says: `cookies are set with SameSite=Lax`."""
    found = list(_SETTING.finditer(text))
    alone = len(found) == 1 and found[0][0] == text.strip()
    return _NOTHING_SAID if alone else frozenset((f"={m[1]}", m[2]) for m in found)


def _heads(left: str) -> frozenset[str]:
    """Return what a subject is in the end: `branch` of `the default branch of the web app`."""
    words = list(_KNOWN_WORD.finditer(left))
    named = {
        _KNOWN[m[0]] for m in words if _KNOWN[m[0]] in _ANYWHERE or m.end() == len(left.rstrip())
    }
    first = _WORD.findall(_OF.split(left, maxsplit=1)[0])
    last = first[-1] if first else ""
    return frozenset(named | {_KNOWN.get(last, stem(last))}) if last else frozenset(named)


def _object_words(stated: str) -> tuple[str, ...]:
    words = _WORD.findall(stated)
    return tuple(word for word in words if word not in GENERIC)


def _parts(word: str) -> Iterable[str]:
    return word if _is_han(word) else (stem(word),)


def _is_han(word: str) -> bool:
    return "\u3400" <= word[0] <= "\u9fff"


def _classes(stated: str, right: str) -> list[tuple[str, Iterable[tuple[str, str]]]]:
    """Return the words that are members of closed classes, each with (class, member) pairs."""
    whole = _WHERE.sub("", right.rpartition(grammar.BAR)[2]).strip(" .")
    return [
        (match[0], EXCLUSIVE[match[0]].items())
        for match in _EXCLUSIVE.finditer(stated)
        if match[0] not in _ONLY_ALONE or whole == match[0]
    ]


def _without_classes(text: str) -> str:
    return _EXCLUSIVE.sub(lambda m: m[0] if m[0] in QUALIFIERS else " ", text)


def _read(text: str, values: Sequence[Value]) -> _Words:
    """Return the words of a text that tell what it speaks of."""
    qualifiers: set[str] = set()
    frame: set[str] = set()
    weak: set[str] = set()

    def take(match: re.Match[str]) -> str:
        name = _KNOWN[match[0]]
        (frame if name[0] == "§" else qualifiers).add(name)
        return " "

    for word in _words_in(_KNOWN_WORD.sub(take, text)) if text.strip() else ():
        mark = ord(word) - FIRST_MARK if len(word) == 1 else -1
        if 0 <= mark < len(values):
            frame.add(occasion_of(values[mark]))
        elif not _is_han(word):
            root = stem(word.removesuffix("'s"))
            if word not in GENERIC:
                (weak if root in WEAK_STEMS else frame).add(root)
        else:
            weak.update(_ZH_WEAK.findall(word))
            frame.update(_ZH_GENERIC.sub("", _ZH_WEAK.sub("", word)))
    return _Words(frozenset(frame), frozenset(weak), frozenset(qualifiers))


def _words_in(text: str) -> Iterator[str]:
    """Yield the words of a text; a hyphen holds only names with a digit together."""
    for word in _WORD.findall(text):
        plain = "-" in word and not any(c.isdigit() or c == "_" for c in word)
        yield from filter(None, word.split("-")) if plain else (word,)


@lru_cache(512)
def words_of(title: str) -> frozenset[str]:
    """Return what a title says that a note is about, with the days and names in it."""
    plain = unicodedata.normalize("NFKC", title)
    said = _read(plain.lower(), [])
    occasions = {occasion_of(v) for v in find_values(plain) if v.kind in ("date", "name")}
    return said.frame | said.weak | said.qualifiers - {"?new", "?old"} | occasions


def occasion_of(value: Value) -> str:
    return f"={value.kind}{value.amount}"


def _labelled(right: str, values: Sequence[Value]) -> Iterator[tuple[Value, str]]:
    """Yield the values that are stated, each with the word behind it that says of what."""
    for match in _MARK_WORD.finditer(right):
        word = match[2] or ""
        yield values[ord(match[1]) - FIRST_MARK], "" if word in GENERIC else stem(word)
