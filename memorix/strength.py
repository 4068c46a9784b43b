"""Tell values that somebody chose or a machine drew as a secret from placeholders and words."""

import math
import re
from collections import Counter
from itertools import pairwise


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TEMPLATE = re.compile(
    r"""\$\{ | \$\( | \{\{ | <% | %\( | \{\w+[^{}]*\}  # to be filled in
    | … | \.\.\. | \*{3} | [xX]{4}                     # left out
    | \\(?:[wdsSWD]|x[0-9a-f]{2}|u[0-9a-f]{4}) | \[\^ | [aA0]-[zZ9](?![A-Za-z0-9])  # a pattern
    | \A(?:\$[A-Za-z_]\w* | %\w+%? | <[^>]*>? | \{[^}]*\}? | \[[^\]]*\]? | \W+ | _+)\Z
    | \A\(masked[ ]""",
    re.VERBOSE,
)
_SAYS_SO = re.compile(
    r"""example | sample | placeholder | change.?me | replace.?(?:me|this|with) | \byour?[-_.]?
    | dummy | redacted | masked | \bfake | \bfoo(?:bar)?\b | to.?do\b | fixme | \binsert
    | 示例 | 请填 | 你的 | 您的 | 占位""",
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST_PLACEHOLDER = 100
# Characters; in longer values such words turn up by chance.

_WORDS = words_of(
    "none null nil true false undefined unset empty default required optional string str bytes int"
    " integer number bool boolean object text hidden value values secret secrets password passwd"
    " pass token key auth bearer basic user username admin root guest test testing postgres mysql"
    " redis login letmein welcome yes no on off any all unknown invalid missing disabled enabled"
    " wrong correct new old same"
)
_RUNS = tuple(
    run + run[::-1]
    for run in ("01234567890", "abcdefghijklmnopqrstuvwxyz", "qwertyuiop", "asdfghjkl")
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX = re.compile(r"(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F]{16,}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LEAST_LETTERS = 14
# In fewer, words such as `abstractions` look as if nobody could speak them.

_CLUSTER = re.compile(r"[bcdfghjklmnpqrstvwxz]{4,}")


def is_placeholder(value: str) -> bool:
    """Say whether a value stands for a secret without being one: `xxxx`, `<token>`, `${VAR}`."""
    if len(value) <= _LONGEST_PLACEHOLDER and (_TEMPLATE.search(value) or _SAYS_SO.search(value)):
        return True
    return value.lower() in _WORDS or _is_monotonous(value.lower())


def _is_monotonous(value: str) -> bool:
    """Say whether a value repeats few characters or counts along: `aaaa1111`, `1234567890`."""
    solid = "".join(c for c in value if c.isalnum())
    if len(set(solid)) <= max(2, min(len(solid), 96) // 12):
        return True
    steps = sum(a == b or any(a + b in run for run in _RUNS) for a, b in pairwise(solid))
    return len(solid) >= 8 and steps >= 0.7 * (len(solid) - 1)


def is_uuid(value: str) -> bool:
    return bool(_UUID.fullmatch(value))


def entropy(value: str) -> float:
    """Return Shannon's entropy of a value's characters, in bits a character."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def classes(value: str) -> int:
    """Return how many of lower case, upper case, digits and signs a value has."""
    tests = (str.islower, str.isupper, str.isdigit, lambda c: not c.isalnum())
    return sum(any(map(test, value)) for test in tests)


def is_random(value: str) -> bool:
    """Say whether a value looks drawn by chance: nobody would have made it of words."""
    if len(value) < 12 or entropy(value) < 2.8:
        return False
    if _HEX.fullmatch(value):
        return True
    return (any(map(str.isdigit, value)) and _mixing(value) >= 0.2) or _is_unspeakable(value)


def _mixing(value: str) -> float:
    """Return the share of neighbours that differ in kind; in words and `CamelCase` few do."""
    kinds = "".join(
        "d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "-" for c in value
    )
    return sum(kinds.count(change) for change in ("lu", "ld", "dl", "ud", "du")) / len(value)


def _is_unspeakable(value: str) -> bool:
    """Say whether the letters of a value change case or lack vowels as those of no words do."""
    words = _WORD.findall(value)
    letters = "".join(words)
    if len(letters) < _LEAST_LETTERS:
        return False
    clusters = sum(len(run) for word in words for run in _CLUSTER.findall(word.lower()))
    vowels = sum(c in "aeiouy" for c in letters.lower())
    shreds = len(letters) < 2.6 * len(words)
    return shreds or clusters >= 0.4 * len(letters) or vowels < 0.18 * len(letters)


def is_chosen(value: str) -> bool:
    """Say whether a value looks like a password of a person: letters with digits or signs."""
    if not 6 <= len(value) <= 100 or not value.isprintable() or value.isalpha():
        return False
    digits = sum(map(str.isdigit, value))
    signs = sum(not c.isalnum() and c not in "-_./" for c in value)
    return digits == len(value) or (any(map(str.isalpha, value)) and (digits + signs > 0))
