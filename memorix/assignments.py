"""Find values that the words beside them call a secret: assignments, headers, URLs and sentences.

`password = ...`, `"apiKey": "..."`, `the token for staging is ...`, `密码是 ...`.  A word proves
nothing, so the value has to look like one that somebody chose or a machine drew.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from string import ascii_letters, digits

from memorix.anchors import Words
from memorix.strength import classes, is_chosen, is_placeholder, is_random, is_uuid, words_of

_HINTS = Words([
    "pass", "pwd", "pw", "secret", "token", "cred", "auth", "key", "kennwort", "contrase",
    "密码", "口令", "パスワード", "密钥", "秘钥", "令牌", "凭证", "凭据", "私钥",
])  # fmt: skip

_CHOSEN = words_of(
    "password passwords passwd passphrase passcode pass pwd pw kennwort contraseña"
    " 密码 口令 パスワード"
)
# What people choose themselves; all else is drawn by machines, and looks like it.

_SHORT = frozenset({"pass", "pw", "pwd"})
# Mean a password at the end of a name only: `db_pass`, not `pass_fds`.

_DRAWN = words_of(
    "secret secrets token credential credentials cred creds auth authorization bearer apikey"
    " 密钥 秘钥 令牌 凭证 凭据 私钥"
)
_KEYS = words_of(
    "api access secret private signing encryption master account auth service client app license"
    " deploy shared webhook session storage ssh db jwt admin security subscription"
)
# Of these kinds of key; a `sort key` or a `cache key` is none to hide.

_CHOSEN_ENDINGS = ("password", "passwd", "passphrase")
_DRAWN_ENDINGS = ("secret", "token", "apikey", "secretkey", "accesskey", "privatekey")
_ABOUT = words_of(
    "length len min max size sizes count counts limit limits usage budget file files path paths dir"
    " url uri endpoint name names id ids type types kind field fields column policy policies rule"
    " rules expiry expires expired expiration ttl timeout age regex pattern format hint prompt"
    " error errors header headers prefix suffix env var variable variables reset manager managers"
    " helper provider label labels required enabled disabled status version rotation rotate"
    " algorithm alg scheme method methods mode encoding encoder encoders hash hashes hasher hashers"
    " hashed hashing salt strength validator validators validation store index class cls func"
    " function callback handler middleware backend module package test tests input placeholder"
    " message text title description docs link arn ref reference public csrf xsrf page next cursor"
    " sync continuation pagination eos bos pad unk sep mask stop special image vocab cancellation"
    " lexer parser primary foreign sort partition cache digest checksum fingerprint sha sha1 sha256"
    " md5 crc etag integrity commit revision nonce info data list set map dict tokens"
)
# Beside such a word a value is about the secret, or about another thing of that name.

_IN_NAMES = f"{ascii_letters}{digits}_$.-ñ"
_LONGEST_NAME = 60
# Characters of a name before the word that tells it.

_NAME_AFTER = re.compile(rf"[{re.escape(_IN_NAMES)}]*")
_MOST_NAMES = 4096
# A vault speaks of the same settings again and again.

_PARTS = re.compile(r"[A-Z]+(?![a-zñ])|[A-Z]?[a-zñ]+|[\u3040-\u9fff]+")
_WORD_BEFORE = re.compile(r"(?<![A-Za-z])([A-Za-z]+)[ ]\Z")

_CLOSED = r"""["'`\])*]{0,4}[ \t]*"""
_SIGN = re.compile(
    rf"""{_CLOSED}(?: :?={{1,3}}>? | -> | :[ ]?[A-Za-z_][\w\[\], |.]{{0,40}}[ ]=(?=[ ]) | [:：＝]
        | ,(?=[ ]*["']) | \((?=["']) | >(?=[^\s<>]+</)  # an argument, a call, an element of XML
        | \|(?=[ ]*[^\s|-])  # the next cell of a table
        )[ \t]*""",
    re.VERBOSE,
)
_SAID = re.compile(
    r"""["'`*]{0,3}[ \t]+
    (?:(?:for|of|to|on|in|at|from)[ ](?:[\w./@-]+[ ]){0,4}?(?:[\w./@-]+[ ]?))?
    (?:(?:is|was|are|has[ ]been|will[ ]be)(?:[ ](?:now|still|set[ ]to|changed[ ]to))?[ ]?:?
      |(?:changed|set|reset|rotated|switched)[ ]to|[:=])[ \t]*
    | ["'`*]{0,3}[ \t]*[\u4e00-\u9fff、（）()A-Za-z0-9 ]{0,12}?
    (?:是|为|改成|改为|设为|设成|设置为|换成|等于|[:：＝=])了?[ \t]*[:：]?[ \t]*""",
    re.VERBOSE,
)
_BESIDE = re.compile(r"""["'`*]{0,3}[ \t]+""")
_QUOTED = re.compile(
    r"""[rbuf@$]{0,2}(?:(?P<q>\"{3}|'{3}|\*\*`?|["'`])(?P<value>[^\n]+?)(?P=q)
    |[“‘「『](?P<curly>[^\n”’」』]+)[”’」』])""",
    re.VERBOSE,
)
_SHELL = frozenset({"export", "set", "ENV", "ARG"})
# What may stand before a name in a shell or a Dockerfile.

_LONGEST_LINE = 2000
_LINE = re.compile(r"[^\s#\"'][^\n]*?(?=[ \t]+\#|[ \t]*\\?\r?(?:\n|\Z))")
_BARE = re.compile(r"""[^\s"'`<>，。；、！？（）《》「」“”\u3000-\u9fff\uff00-\uffef]+""")
_QUOTES = "\"'`“‘「『"
_TRAIL = ".,;:)]}*"
_SHORTEST, _LONGEST = 6, 5000
_CODE = re.compile(
    r"[([{!]*[A-Za-z_][\w.]*[(\[].*|[([{!]*[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+[();,]*|.*\(\).*|[|&*+=-]+"
)
# A call, an attribute: code that says where the value comes from.

_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]*:)?//\S*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[a-z][a-z0-9+.-]*:[a-z/]\S*",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"""v?\d+(?:\.\d+)+\S* | \d{4}-\d\d(?:-\d\d)?\S* | \d[\d.,:]*[a-z%]{1,3}
    | \d{1,3}-[a-z]{4,} | -{1,2}[a-z][\w-]*
    | ~?/[\w./@{}-]* | \.{1,2}/\S* | [a-z_-]+(?:/[\w.@-]+)+/? | [\w-]+(?:\.[\w-]+)*\.[a-z]{2,4}
    | (?:utf|sha|md|base|oauth|hs|rs|es|ps|ipv|aes|http|jwt|web|x|rfc|py|python)-?\d{1,4}\w{0,4}
    | [A-Z]{2,6}-\d{1,6} | [A-Z]{2,6}-[A-Z]{2,6}-?\d{1,4} | [\w.-]+:\d{2,5}""",
    re.VERBOSE | re.IGNORECASE,
)
# Versions, dates, amounts, paths, file names, standards, tickets.


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that calls its value a secret, and where it stands; `chosen` by a person, or drawn."""

    start: int
    end: int
    words: tuple[str, ...]

    @property
    def chosen(self) -> bool:
        return any(word in _CHOSEN or word.endswith(_CHOSEN_ENDINGS) for word in self.words)


@dataclass(frozen=True, slots=True)
class _Value:
    """What stands after a name; `firmly` tells an assignment from words that merely follow."""

    start: int
    end: int
    firmly: bool
    quoted: bool


def find(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, label) of each value whose name says that it is a secret, in order.

    `lower` is the text in lower case, of the same length.
    """
    done = 0
    for name in _names(text, lower):
        values = _values(text, name) if name.start >= done else ()
        for value in values:
            if value.end - value.start > _LONGEST:
                done = value.end  # one word of the size of a page: nothing that was assigned
                break
            if _is_secret(text[value.start : value.end], name, value):
                done = value.end
                yield value.start, value.end, "password" if name.chosen else "secret value"
                break


def _names(text: str, lower: str) -> Iterator[_Name]:
    end = 0
    for start, stop in _HINTS.within(lower):
        if start >= end:
            name = _name_at(text, start, stop)
            end = name.end
            if _is_secret_name(name.words):
                yield name


def _name_at(text: str, start: int, end: int) -> _Name:
    """Return the whole name that the hint from `start` to `end` is part of; `API key` is one."""
    if not text[start].isascii():
        return _Name(start, end, (text[start:end],))
    before = text[max(0, start - _LONGEST_NAME) : start]
    start -= len(before) - len(before.rstrip(_IN_NAMES))
    after = _NAME_AFTER.match(text, end)
    end += len(after[0].rstrip(".-")) if after else 0
    words = _words_in(text[start:end])
    if words[:1] == ("key",) and (word := _WORD_BEFORE.search(text, max(0, start - 20), start)):
        start, words = word.start(1), (word[1].lower(), *words)
    return _Name(start, end, words)


@lru_cache(_MOST_NAMES)
def _words_in(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PARTS.findall(name))


@lru_cache(_MOST_NAMES)
def _is_secret_name(words: tuple[str, ...]) -> bool:
    if not words or _ABOUT.intersection(words) or _SHORT.intersection(words[:-1]):
        return False
    if _CHOSEN.intersection(words) or _DRAWN.intersection(words):
        return True
    if any(word.endswith(_CHOSEN_ENDINGS + _DRAWN_ENDINGS) for word in words):
        return True
    return any(kind in _KEYS and word in ("key", "keys") for kind, word in pairwise(words))


def _values(text: str, name: _Name) -> Iterator[_Value]:
    """Yield what may be the value of a name, the likeliest first."""
    if sign := _SIGN.match(text, name.end):
        mark = sign[0].strip("\"'`])* \t")
        if mark == "|" and not _line_before(text, name).lstrip().startswith("|"):
            return
        if mark[:1] in _assigned_by(text, name):
            shell = sign[0] == "=" and _is_in_shell(text, name)
            yield from _value_at(text, sign.end(), firmly=mark != ",", shell=shell)
    elif name.words[-1] != "pass":
        if said := _SAID.match(text, name.end):
            yield from _value_at(text, said.end(), firmly=True)
        if beside := _BESIDE.match(text, name.end):
            firmly = (
                text[beside.end() : beside.end() + 1] in _QUOTES
                or text.startswith("--", name.start)
                or _is_in_shell(text, name)
            )
            yield from _value_at(text, beside.end(), firmly=firmly)


def _assigned_by(text: str, name: _Name) -> str:
    """Return the marks that give a name its value: `$PWD:/src` and `pass(x)` are no assignments."""
    if text.startswith("$", name.start):
        return "="
    return "=:：＝" if name.words[-1] == "pass" else "=:：＝-,(>|"


def _is_in_shell(text: str, name: _Name) -> bool:
    before = _line_before(text, name).strip()
    return before in _SHELL or (not before and text[name.start : name.end].isupper())


def _line_before(text: str, name: _Name) -> str:
    """Return what stands before a name on its line, of a very long one only the end."""
    start = text.rfind("\n", max(0, name.start - _LONGEST_LINE), name.start) + 1
    return text[start or max(0, name.start - _LONGEST_LINE) : name.start]


def _value_at(text: str, place: int, *, firmly: bool, shell: bool = False) -> Iterator[_Value]:
    if quoted := _QUOTED.match(text, place):
        group = "value" if quoted["value"] is not None else "curly"
        yield _Value(*quoted.span(group), firmly, True)
    elif shell and (line := _LINE.match(text, place)):
        yield _Value(*line.span(), firmly, False)
    elif bare := _BARE.match(text, place):
        end = place + len(bare[0].rstrip(_TRAIL))
        start = end - len(text[place:end].lstrip("*"))
        yield _Value(start, end, firmly, False)


def _is_secret(value: str, name: _Name, found: _Value) -> bool:
    if len(value) < _SHORTEST or " " in value or "\t" in value or is_placeholder(value):
        return False
    if _ADDRESS.fullmatch(value) or (not found.quoted and _CODE.fullmatch(value)):
        return False
    if is_random(value):
        return True
    if _PLAIN.fullmatch(value):
        return False
    if name.chosen:
        return is_chosen(value) and (found.firmly or classes(value) >= 3)
    if is_uuid(value):
        return found.firmly and name.words[-1].endswith(("key", "密钥", "秘钥"))
    signs = any(not c.isalnum() and c not in "-_." for c in value)
    return found.firmly and len(value) >= 8 and classes(value) >= 3 and signs and is_chosen(value)
