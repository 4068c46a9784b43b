"""Tell whether two notes state what cannot both hold: pure, from their texts alone."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memorix.claims import WEAK_STEMS, Claim, claims, occasion_of, subject_of, words_of
from memorix.grammar import MAY, MUST, MUST_NOT, NEED_NOT, OPEN
from memorix.lexemes import stem, telling_words
from memorix.lexicon import CLOSED, FUNCTIONAL, SINGLE
from memorix.note import cut_short, normalised
from memorix.values import Value, agree, find_values

_OPPOSED = {
    (MUST_NOT, MUST), (MUST_NOT, MAY), (NEED_NOT, MUST), (MUST_NOT, ""),
}  # fmt: skip
_OWN = 40
# Characters of a title by which one is known that was made of its text.

_READ, _TOLD, _SHOWN = 600, 3, 90
# Characters of a text that are compared, words of each side that are told, characters of them.

MOST_WORDS = 4
# Of a name or a value; what has more explains something.

_NAMING = frozenset({"path", "url", "host", "number"})
# Kinds of values that may also say of what something is stated.

_NUMBERS = frozenset({"number", "version"})
_HERE = re.compile(
    r"\b(?:in|for) this (?:project|repo|repository|codebase)\b|\bhere\b"
    r"|(?:本|这个|该|此)(?:项目|仓库|代码库)|这里",
    re.IGNORECASE,
)
# Says that a statement is about one project.

_FUNCTIONAL = frozenset(map(stem, FUNCTIONAL))
# What one statement asks for and another forbids, or spares; without a word of either, it is done.


@dataclass(frozen=True, slots=True)
class Side:
    """A note in a contradiction: its version, and from when on it holds (ISO 8601 in UTC)."""

    id: str
    etag: str
    since: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements about one thing that differ: how, and what each says."""

    kind: str
    here: str
    there: str


def conflicts(title: str, text: str, other_title: str, other_text: str) -> tuple[Conflict, ...]:
    """Return where a text and another one contradict each other, the first of each kind."""
    one, other = claims(title, text), claims(other_title, other_text)
    if _are_of_two_things(subject_of(title, text), one, subject_of(other_title, other_text), other):
        return ()
    titled = _is_one_title((title, text), (other_title, other_text))
    found: dict[str, Conflict] = {}
    for here in one:
        for there in other:
            kind = clash(here, there, titled=titled)
            if kind:
                found.setdefault(kind, Conflict(kind, here.text, there.text))
    return tuple(found.values())


def _are_of_two_things(
    subject: frozenset[str],
    stated: Sequence[Claim],
    other_subject: frozenset[str],
    other_stated: Sequence[Claim],
) -> bool:
    """Say whether two notes say alike of what is spoken of, but each with a name in it of which
    the other one knows nothing: `restart the importer` and `restart the mailer`."""
    shared = _weight(subject & other_subject)
    here, there = subject - other_subject, other_subject - subject
    if not here or not there or not shared or shared < max(_weight(here), _weight(there)):
        return False
    chosen = {word for claim in (*stated, *other_stated) for word in claim.chosen}
    said, told = _words_in(stated), _words_in(other_stated)
    here = here & said - told - chosen - WEAK_STEMS
    there = there & told - said - chosen - WEAK_STEMS
    return bool(here and there)


def _words_in(stated: Sequence[Claim]) -> frozenset[str]:
    words = (c.frame | c.weak | c.qualifiers | c.told | c.thing for c in stated)
    return frozenset().union(*words)


def told(found: Sequence[Conflict]) -> str:
    """Say where two notes contradict each other: the first of `conflicts`, shortly."""
    one = found[0]
    return f"here: {cut_short(one.here, _SHOWN)}; there: {cut_short(one.there, _SHOWN)}"


def differing(title: str, text: str, other_title: str, other_text: str) -> str:
    """Say which values, or else which words, one of two texts has and the other has not."""
    here, there = f"{title}. {text}"[:_READ], f"{other_title}. {other_text}"[:_READ]
    one, other = _values_of(here), _values_of(there)
    new = [said for said, value in one if not any(agree(value, known) for _, known in other)]
    old = [said for said, value in other if not any(agree(value, known) for _, known in one)]
    new += _words_only_in(here, there)
    old += _words_only_in(there, here)
    parts = [("here", new[:_TOLD]), ("there", old[:_TOLD])]
    return "; ".join(f"{side}: {', '.join(words)}" for side, words in parts if words)


def _values_of(text: str) -> list[tuple[str, Value]]:
    return [(text[value.start : value.end].strip(), value) for value in find_values(text)]


def _words_only_in(text: str, other: str) -> list[str]:
    known = {stem(word) for word in telling_words(other)}
    words = (word for word in telling_words(text) if stem(word) not in known)
    return [word for word in words if not word.replace("_", "").isdigit() and word[0] < "\u3400"]


def ways_to_settle(new: Side, old: Side) -> tuple[str, ...]:
    """Return the calls that settle a contradiction, each with what it would mean."""
    if new.since < old.since:
        replaced, by = new, old
        meaning = "the new note tells of an earlier time"
    else:
        replaced, by = old, new
        meaning = "it has changed"
    return (
        f'{meaning}: revise(id="{replaced.id}", etag="{replaced.etag}", supersede="{by.id}")',
        f'both are claimed: revise(id="{old.id}", etag="{old.etag}", contest=["{new.id}"])',
        f'the new note is wrong: forget(id="{new.id}")',
        "both hold: nothing to do",
    )


def _is_one_title(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Say whether two notes were given titles of their own that name one thing."""
    here, there = words_of(one[0]), words_of(other[0])
    return here == there and _weight(here) >= 1 and all(map(_is_own, (one, other)))


def _is_own(titled: tuple[str, str]) -> bool:
    title, text = titled
    return bool(title) and not normalised(text).startswith(title[:_OWN])


def clash(one: Claim, other: Claim, *, titled: bool = False) -> str:
    """Return in what two statements exclude each other; empty where they do not.

    `titled` says that both are of notes with one title.
    """
    if one.past or other.past or one.qualifiers != other.qualifiers:
        return ""
    if _of_either(_replaces, one, other):
        return "change"
    classes = _shared_classes(one, other)
    if not _is_one_subject(one, other, classes):
        return ""
    values = _values_agree(one, other)
    differing = [name for name, agrees in classes.items() if not agrees]
    if (values is False or differing) and one.thing != other.thing:
        return ""
    part = _of_either(_is_of_a_part, one, other)
    if (values is False and _members_differ(one, other)) or (classes and part):
        return ""  # of Redis and of Postgres
    named = differing[0] if differing else "choice" * _choose_otherwise(one, other, titled)
    way = "value" if values is False else named
    if _are_opposed(one, other):
        return "yes or no" if not way and _say_the_same(one, other) else ""
    if not one.holds:
        return ""  # two denials
    return "" if way == "choice" and part else way


def _of_either(test: Callable[[Claim, Claim], bool], one: Claim, other: Claim) -> bool:
    return test(one, other) or test(other, one)


def _is_of_a_part(one: Claim, other: Claim) -> bool:
    """Say whether one side speaks of the tests of the gateway where the other speaks of it."""
    apart = (one.heads & one.frame) - other.heads - _FUNCTIONAL - other.around
    if bool(other.heads & one.frame) and any(h.isalpha() for h in apart):
        return True
    here, there = "".join(one.heads), "".join(other.heads)
    return (
        here[:1] >= "\u3400"
        and bool(there)
        and here.startswith(there)
        and len(here) > len(there) + 1
    )


def _members_differ(one: Claim, other: Claim) -> bool:
    here, there = (
        {pair for pair in claim.classes if pair[0] not in CLOSED} for claim in (one, other)
    )
    return bool(here and there) and not here & there


def is_local(text: str) -> bool:
    """Say whether a text speaks of this project alone, so that it may differ from a general one."""
    return _HERE.search(text) is not None


def _are_opposed(one: Claim, other: Claim) -> bool:
    stances = {(one.stance, other.stance), (other.stance, one.stance)}
    return one.holds != other.holds or bool(stances & _OPPOSED)


def _replaces(one: Claim, other: Claim) -> bool:
    """Say whether one side tells that what the other one states held before."""
    if not one.former or not other.holds or other.stance == MUST_NOT or one.stated & other.stated:
        return False
    if any(word.startswith("=") for word in one.former):
        return one.former <= other.stated and _is_one_subject(one, other, {})
    scope = one.frame - one.former
    if not scope:
        used = one.relation == "use" and other.relation in OPEN
        return used and one.former <= other.stated
    known = other.around - one.former
    named = one.former <= other.stated | other.frame | other.thing and not one.former & other.heads
    apart = _occasions(one) ^ _occasions(other) or _of_either(_is_other_name, one, other)
    return named and not apart and _weight(scope - known) < 1 <= _weight(scope & known)


def _shared_classes(one: Claim, other: Claim) -> dict[str, bool]:
    """Return the closed classes of which both name a member, and whether it is the same one."""
    if not one.classes or not other.classes:
        return {}
    names = {name for name, _ in one.classes} & {name for name, _ in other.classes}
    if "many" in (one.relation, other.relation):
        names &= CLOSED
    return {
        name: bool({c for c in one.classes if c[0] == name} & other.classes)
        for name in sorted(names)
    }


def _is_one_subject(one: Claim, other: Claim, classes: Mapping[str, bool]) -> bool:
    """Say whether two statements speak of one thing and one property of it.

    Where each names something that the other nowhere does, they do not.
    """
    here, there = one.frame - other.around, other.frame - one.around
    if here and there:
        return False
    single = bool(SINGLE & classes.keys())
    weak_here, weak_there = one.weak - other.around, other.weak - one.around
    if not single and ((here and weak_there) or (there and weak_here)):
        return False
    occasions = _occasions(one) - other.around, _occasions(other) - one.around
    if all(occasions) and not {v.kind for v, _ in one.values} & {"date"}:
        return False
    if _of_either(_is_other_name, one, other) or _of_either(_is_other_number, one, other):
        return False
    shared = {word for word in one.around & other.around if word[:1] not in "?§"}
    extra = _weight(here | there)
    telling = _weight(shared) + len(one.qualifiers) + sum(classes.values())
    told = (one.frame | one.thing) & (other.frame | other.thing)
    specific = _weight(told) + len(one.qualifiers) + sum(classes.values()) >= 2
    leans = one.leans or other.leans
    if (leans or not (specific or single)) and _titles_differ(one, other):
        return False
    if not here and not there:
        return telling >= 1 or single or bool(one.frame & other.frame)
    return (extra <= 1 and telling >= 1) or (extra <= 2 and (telling >= 2 or single))


def _is_other_name(one: Claim, other: Claim) -> bool:
    """Say whether one side names `events-dlq` where the other names `events`, or `events-eu`."""
    for name in one.names - other.names:
        first, *_, last = (stem(part) for part in name.split("-"))
        known = other.around
        if first in known and last not in known:
            return True
    return False


def _is_other_number(one: Claim, other: Claim) -> bool:
    """Say whether one side speaks of release 2.9 where the other speaks of release 3.0."""
    known = {occasion_of(value) for value, _ in other.values if value.kind in _NUMBERS}
    named = {word for word in one.frame if word.startswith(("=number", "=version"))}
    return bool(known and named) and not known & named


def _occasions(claim: Claim) -> frozenset[str]:
    return frozenset(word for word in claim.context if word.startswith("="))


def _titles_differ(one: Claim, other: Claim) -> bool:
    """Say whether each title names something that the other note's title and statement do not."""
    here = one.context - other.around - one.told - other.told - WEAK_STEMS
    there = other.context - one.around - one.told - other.told - WEAK_STEMS
    return bool(here and there)


def _weight(words: Iterable[str]) -> float:
    """Count words; a Chinese one is about two characters."""
    return sum(1.0 if word[:1] < "\u3400" else 0.5 for word in words)


def _values_agree(one: Claim, other: Claim) -> bool | None:
    """Say whether the values of two statements can both be meant; None without comparable ones."""
    kinds: dict[str, bool] = {}
    for value, label in one.values:
        for known, known_label in other.values:
            agrees = agree(value, known)
            if agrees is not None and not (label and known_label and label != known_label):
                kind = "number" if value.kind == "version" else value.kind
                kinds[kind] = kinds.get(kind, False) or agrees
    dated = any(c.values[:1] and c.values[0][0].kind == "date" for c in (one, other))
    if len(kinds) > 1 and kinds.get("date") is False and (dated or not any(kinds.values())):
        return None  # of two occasions
    if len(kinds) > 1 and kinds.get("path") is False:
        return None  # of what lies in two places
    differing = [kind for kind, agrees in kinds.items() if not agrees]
    firsts = {c.values[0][0].kind for c in (one, other) if c.values and not c.relation}
    if len(differing) > 1 and firsts & _NAMING & set(differing):
        return None  # `Page /login loads in 1.2 s`: the first one says of what
    return all(kinds.values()) if kinds else None


def _choose_otherwise(one: Claim, other: Claim, titled: bool) -> bool:
    """Say whether two statements name different things where there is but one."""
    relations = {_relation(one), _relation(other)}
    here, there = set(one.object), set(other.object)
    functional = bool(one.heads & other.heads & _FUNCTIONAL)
    if not here or not there:
        named = bool(here or one.classes) and bool(there or other.classes)
        return (
            named and functional and bool(here) != bool(there) and relations <= {"be", "use", "key"}
        )
    if here & there and not _differ_in_one_word(one.object, other.object):
        return False
    if max(len(one.object), len(other.object)) > MOST_WORDS or not _frames_fit(one, other):
        return False
    if "key" in relations and not _are_settings(one, other):
        return False
    if len(relations) == 1 and relations <= {"owner", "place", "means", "key"}:
        return True
    if titled and relations <= OPEN:
        return True
    if not relations <= {"be", "use", "key"}:
        return False
    same = one.frame == other.frame and bool(one.frame)
    single = same and len(here) == len(there) == 1
    return (
        functional
        or (same and one.asks and other.asks)
        or (single and (_are_names(one, other) or _are_kinds(one, other)))
    )


def _differ_in_one_word(one: Sequence[str], other: Sequence[str]) -> bool:
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and sum(a != b for a, b in pairs) == 1


def _are_kinds(one: Claim, other: Claim) -> bool:
    """Say whether both say of several what they are: `ids are integers`."""
    words = (one.object[0], other.object[0])
    pairs = zip(words, (one, other), strict=True)
    are = all(f"are {word}" in claim.text.lower() for word, claim in pairs)
    return are and all(word.endswith("s") and len(word) > 3 for word in words)


def _frames_fit(one: Claim, other: Claim) -> bool:
    """Say whether the frames are the same, or one says a little more than much that they share."""
    shared = one.frame & other.frame
    return one.frame == other.frame or _weight(shared) >= 2 or bool(shared & _FUNCTIONAL)


def _are_settings(one: Claim, other: Claim) -> bool:
    """Say whether both give one key a value, and not the same word an explanation each."""
    return one.frame == other.frame and not _titles_differ(one, other)


def _relation(claim: Claim) -> str:
    return "owner" if "§owner" in claim.frame else claim.relation


def _are_names(one: Claim, other: Claim) -> bool:
    """Say whether the objects of two statements are proper names, or identifiers."""
    pairs = ((one.object[0], one.text), (other.object[0], other.text))
    return all(not word.isalpha() or word not in text or not text.isascii() for word, text in pairs)


def _are_statements(one: Claim, other: Claim) -> bool:
    """Say whether neither is a mere phrase: English that neither has a predicate, nor denies or
    asks for anything, nor begins as the other one does."""
    plain = (c for c in (one, other) if c.holds and not c.stance and not c.relation)
    return all(not claim.text.isascii() or one.first == other.first != "" for claim in plain)


def _say_the_same(one: Claim, other: Claim) -> bool:
    """Say whether two opposed statements are about the very same."""
    if not _are_statements(one, other):
        return False
    said, told = one.frame | one.thing, other.frame | other.thing
    here, there = said - told - other.around, told - said - one.around
    if here and there:
        return False
    shared = (said & told) | (one.weak & other.weak)
    extra = _weight(here | there)
    if not said & told and not one.classes & other.classes:
        return False
    return extra == 0 or (extra <= 1 and _weight(shared) + len(one.qualifiers) >= 2)
