"""Find the values that a text states (numbers, units, versions, times, places) and compare them."""

import re
from collections.abc import Callable
from dataclasses import dataclass

Amount = tuple[str | int | float | None, ...]

_ZH = "零一二两三四五六七八九十"
_BEFORE = r"(?<![A-Za-z0-9_.])"
_AFTER = r"(?![A-Za-z0-9_])"
_MONTHS = "january february march april may june july august september october november december"
_MONTH = {name[:3]: number for number, name in enumerate(_MONTHS.split(), 1)}
_DAY = {
    name: number for number, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))
}
_ZH_DAY = {name: number for number, name in enumerate("一二三四五六日")} | {"天": 6, "末": 5}
_WORD_NUMBER = {
    name: number
    for number, names in {
        1: "one single", 2: "two twice", 3: "three", 4: "four", 5: "five", 6: "six",
        7: "seven", 8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve", 15: "fifteen",
        20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 90: "ninety",
        100: "hundred",
    }.items()
    for name in names.split()
}  # fmt: skip

_UNITS: dict[str, tuple[str, float]] = {
    name: (kind, factor)
    for kind, factor, names in [
        ("duration", 0.001, "ms msec millisecond milliseconds 毫秒"),
        ("duration", 1, "s sec secs second seconds 秒 秒钟"),
        ("duration", 60, "min mins minute minutes 分 分钟"),
        ("duration", 3600, "h hr hrs hour hours 小时 个小时 钟头"),
        ("duration", 86_400, "d day days 天 日"),
        ("duration", 604_800, "week weeks 周 星期 个星期"),
        ("duration", 2_592_000, "month months 个月"),
        ("duration", 31_536_000, "year years 年"),
        ("size", 1, "b byte bytes 字节"),
        ("size", 1e3, "kb kilobytes"),
        ("size", 1e6, "mb megabytes 兆"),
        ("size", 1e9, "gb gigabytes"),
        ("size", 1e12, "tb terabytes"),
        ("size", 1024, "kib"),
        ("size", 1024.0**2, "mib"),
        ("size", 1024.0**3, "gib"),
        ("share", 1, "% percent"),
        ("money", 1, "usd eur cny rmb dollars euros yuan 元 块 美元 欧元"),
        ("rate", 1, "rps qps tps hz fps"),
    ]
    for name in names.split()
}
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_COUNTED = "次个台份副本人条倍位名层轮遍页项种款套间张行列"
_EXTENSIONS = (
    "py|md|json|ya?ml|toml|ini|cfg|conf|env|lock|txt|sh|tsx?|jsx?|mjs|go|rs|java|rb|sql|html?|css"
    "|xml|csv|log|sock|db|pem|crt|key|service|tar|gz|zip|whl|jar|dockerfile|proto|ipynb"
)
_TOP = "com|net|org|io|dev|internal|local|localhost|cn|app|cloud|svc|lan|corp|example|test|ai|co|eu"
_DIGITS = r"\d+(?:[,_]\d{3})*"
_WORDS = "|".join(_WORD_NUMBER)
_PART = r"[A-Za-z0-9_.@%+*{}<>$-]"

_WEEKDAY = "mon|tues|wednes|thurs|fri|satur|sun"
_MONTH_NAME = (
    "January|February|March|April|June|July|August|September|October|November|December"
    "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
    "|(?<=[ ])May(?=[ ]\\d)|(?<=in[ ])May|(?<=\\d[ ])May"
)
_ZH_UNIT = "毫秒|秒|分钟|小时|个小时|天|周|星期|个星期|个月|年|元|块"

_PATTERN = re.compile(
    rf"""
    (?P<url>{_BEFORE}[A-Za-z][A-Za-z0-9+.-]*://
        [A-Za-z0-9\-._~:/?\#\[\]@!$&'()*+,;=%{{}}]*[A-Za-z0-9/\-_~=\#%}}])
  | (?P<mail>{_BEFORE}[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]*[A-Za-z0-9])
  | (?P<phone>\+\d[\d ()/-]{{6,}}\d)
  | (?P<cron>(?<!\S)(?:[0-9*/,-]+[ ]){{4}}[0-9*/,-]+(?!\S))
  | (?P<date>{_BEFORE}(?:
        (?P<y1>\d{{4}})[-/.](?P<m1>\d{{1,2}})[-/.](?P<d1>\d{{1,2}})
        (?:[T ]\d{{2}}:\d{{2}}(?::\d{{2}})?(?:Z|[+-]\d{{2}}:?\d{{2}})?)?
      | (?:(?P<y2>\d{{4}})[ ]*年[ ]*)?(?P<m2>\d{{1,2}}|[{_ZH}]{{1,2}})[ ]*月[ ]*
        (?:(?P<d2>\d{{1,2}}|[{_ZH}]{{1,3}})[ ]*[日号])?
      | (?P<y3>\d{{4}})[ ]*年(?!度)
      | (?:(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?[ ])?(?P<m4>{_MONTH_NAME})\b\.?
        (?:[ ](?P<d5>\d{{1,2}})(?:st|nd|rd|th)?{_AFTER})?(?:,?[ ](?P<y5>\d{{4}}))?
      | (?P<q>Q[1-4])(?:[ ](?P<y6>\d{{4}}))?{_AFTER}
    ))
  | (?P<weekday>{_BEFORE}(?i:(?:{_WEEKDAY})days?)
      | {_BEFORE}(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun){_AFTER}
      | 每?(?:周|星期|礼拜)(?P<zd>[一二三四五六日天]))
  | (?P<time>{_BEFORE}(?P<h1>\d{{1,2}}):(?P<n1>\d{{2}})(?::\d{{2}})?
        (?:[ ]?(?P<p1>[ap]\.?m\b\.?))?{_AFTER}
      | {_BEFORE}(?P<h2>\d{{1,2}})[ ]?(?P<p2>[ap]\.?m\b\.?)
      | (?P<zp>凌晨|早上|上午|中午|下午|晚上|夜里|半夜)?[ ]*(?P<h3>\d{{1,2}}|[{_ZH}]{{1,3}})[ ]*点
        (?:(?P<half>半)|[ ]*(?P<n3>\d{{1,2}})[ ]*分?)?
      | {_BEFORE}(?P<named>midnight|noon){_AFTER})
  | (?P<address>{_BEFORE}\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?:/\d+)?(?=:\d|[^\d]|$))
  | (?P<path>{_BEFORE}(?:
        (?:~|\.{{1,2}})?/(?:{_PART}+/?)+
      | [A-Za-z]:\\[^\s"'，。；]+
      | [A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.@%+*-]+)*/(?=[\s.,;，。；]|$)
      | [A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.@%+*-]+)*\.(?:{_EXTENSIONS}){_AFTER}
      | [A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.@%+*-]+){{2,}}
      | (?:(?<=[ ]in[ ])|(?<=[ ]at[ ])|(?<=[ ]under[ ])|(?<=[在到于])|(?<=[在到于][ ]))
        [a-z0-9_.-]+/[a-z0-9_.-]+
    ))
  | (?P<host>{_BEFORE}(?:localhost|(?:[A-Za-z0-9-]+\.)+(?:{_TOP})){_AFTER})
  | (?P<money>[$€¥£][ ]?(?P<mn>{_DIGITS}(?:\.\d+)?)(?P<mk>[kKmM]\b)?)
  | (?P<version>{_BEFORE}(?<![A-Za-z]-)
        (?:v\d+(?:\.\d+)*|\d+(?:\.\d+){{2,}})(?:-[a-z]+[.\d]*)?{_AFTER})
  | (?P<name>{_BEFORE}(?=[A-Za-z_.-]*[0-9_])[A-Za-z][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*)
  | (?P<halfhour>{_BEFORE}(?i:half[ ](?:an?[ ])?hour){_AFTER}|半个?小时)
  | (?P<measure>{_BEFORE}[~≈]?
        (?P<n>{_DIGITS}(?:\.\d+)?|(?:{_WORDS})(?=[ ])|[{_ZH}]+(?=[ ]*(?:{_ZH_UNIT})))
        [ ]?-?(?P<u>(?i:{_UNIT}))(?![A-Za-z0-9_]))
  | (?P<ordinal>{_BEFORE}(?P<on>\d+)(?:st|nd|rd|th){_AFTER})
  | (?P<number>{_BEFORE}[~≈]?(?P<nn>{_DIGITS}(?:\.\d+)*){_AFTER})
  | (?P<zhnumber>(?P<zn>[{_ZH}]+)(?=[ ]*[{_COUNTED}]))
  | (?P<wordnumber>{_BEFORE}(?i:{_WORDS}){_AFTER})
    """,
    re.VERBOSE,
)

_START = re.compile(
    r"[0-9~≈$€¥£/*+]|(?<![A-Za-z0-9_.])(?:\.|[A-Za-z][A-Za-z0-9-]*(?=[0-9_.:/@\\+])"
    r"|(?=[A-Z])(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Q[1-4])"
    rf"|(?i:(?:mon|tue|wed|thu|fri|sat|sun|midnight|noon|localhost|half)|(?:{_WORDS})\b))"
    rf"|[{_ZH}周星礼每凌早上中下晚夜半]"
)
# Where a value can begin; most of a text is passed over by it, at a fraction of the cost.


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a text: what kind it is, how much in the kind's own unit, and where it stands.

    Durations are seconds, sizes bytes, times minutes of the day; versions and plain numbers their
    parts, dates (year, month, day) with None for what is not said.
    """

    kind: str
    amount: Amount
    start: int
    end: int


def find_values(text: str) -> list[Value]:
    """Return the values of a text in their order; full-width digits are expected to be plain."""
    found, place = [], 0
    while start := _START.search(text, place):
        match = _PATTERN.match(text, start.start())
        read = _READERS[str(match.lastgroup)](match) if match else None
        if match and read:
            found.append(Value(*read, match.start(), match.end()))
        place = match.end() if match else start.start() + 1
    return found


def agree(one: Value, other: Value) -> bool | None:
    """Say whether two values of one kind can both be meant; None where they cannot be compared."""
    kinds = {one.kind, other.kind}
    if kinds == {"number", "version"}:
        return _is_prefix(one.amount, other.amount)
    if len(kinds) > 1:
        return None
    return _COMPARED.get(one.kind, _is_same)(one.amount, other.amount)


def _is_same(one: Amount, other: Amount) -> bool:
    return one == other


def _is_prefix(one: Amount, other: Amount) -> bool:
    return all(a == b for a, b in zip(one, other, strict=False))


def _is_close(one: Amount, other: Amount) -> bool:
    a, b = float(one[0] or 0), float(other[0] or 0)
    return abs(a - b) <= 0.01 * max(abs(a), abs(b))


def _is_same_day(one: Amount, other: Amount) -> bool:
    return all(a == b for a, b in zip(one, other, strict=True) if a is not None and b is not None)


def _is_same_place(one: Amount, other: Amount) -> bool:
    long, short = sorted((str(one[0]), str(other[0])), key=len, reverse=True)
    return long == short or (short[0] not in "/~" and long.endswith(f"/{short.lstrip('./')}"))


_COMPARED: dict[str, Callable[[Amount, Amount], bool]] = {
    "number": _is_prefix,
    "version": _is_prefix,
    "duration": _is_close,
    "size": _is_close,
    "date": _is_same_day,
    "path": _is_same_place,
}

_Read = tuple[str, Amount] | None


def _whole(kind: str, form: Callable[[str], str] = str) -> Callable[[re.Match[str]], _Read]:
    return lambda match: (kind, (form(match[0]),))


def _url(match: re.Match[str]) -> _Read:
    scheme, _, rest = match[0].partition("://")
    host, slash, path = rest.partition("/")
    return "url", (f"{scheme.lower()}://{host.lower()}{slash}{path}".rstrip("/"),)


def _date(match: re.Match[str]) -> _Read:
    def first(*names: str) -> int | None:
        return next((int_of(match[name]) for name in names if match[name]), None)

    month = first("m1", "m2") or (_MONTH[match["m4"][:3].lower()] if match["m4"] else None)
    year = first("y1", "y2", "y3", "y5", "y6")
    if match["q"]:
        return "date", (year, -int(match["q"][1]), None)
    return "date", (year, month, first("d1", "d2", "d4", "d5"))


def _weekday(match: re.Match[str]) -> _Read:
    day = _ZH_DAY[match["zd"]] if match["zd"] else _DAY[match[0][:3].lower()]
    return "weekday", (day,)


def _time(match: re.Match[str]) -> _Read:
    if match["named"]:
        return "time", (0 if match["named"] == "midnight" else 720,)
    hour = int_of(match["h1"] or match["h2"] or match["h3"])
    minute = 30 if match["half"] else int(match["n1"] or match["n3"] or 0)
    if hour > 24 or minute > 59:
        return None
    part = (match["p1"] or match["p2"] or match["zp"] or "").lower()
    if part[:1] in ("p", "下", "晚") and hour < 12:
        hour += 12
    if part[:1] in ("a", "凌") and hour == 12:
        hour = 0
    return "time", (hour % 24 * 60 + minute,)


def _measure(match: re.Match[str]) -> _Read:
    kind, factor = _UNITS[match["u"].lower()]
    number = match["n"].replace(",", "").replace("_", "")
    word = _WORD_NUMBER.get(number.lower())
    amount = float(number) if number[0].isdigit() else float(word or int_of(number))
    return kind, (amount * factor,)


def _money(match: re.Match[str]) -> _Read:
    factor = {"k": 1e3, "m": 1e6}.get((match["mk"] or "").lower(), 1)
    return "money", (float(match["mn"].replace(",", "")) * factor,)


def _number(match: re.Match[str]) -> _Read:
    return "number", tuple(int(n) for n in match["nn"].replace(",", "").replace("_", "").split("."))


def _version(match: re.Match[str]) -> _Read:
    plain, dash, rest = match[0].lower().lstrip("v").partition("-")
    parts: list[str | int] = [int(part) for part in plain.split(".")]
    return "version", tuple([*parts, rest] if dash else parts)


def int_of(text: str) -> int:
    """Read a number in digits, or in Chinese below a hundred."""
    if text.isascii():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    digits = {character: number for number, character in enumerate("零一二三四五六七八九")} | {
        "两": 2
    }
    if not ten:
        return digits.get(text, 0)
    return digits.get(tens, 1) * 10 + digits.get(ones, 0)


_READERS: dict[str, Callable[[re.Match[str]], _Read]] = {
    "url": _url,
    "mail": _whole("mail", str.lower),
    "cron": _whole("cron"),
    "phone": _whole("phone", lambda text: re.sub(r"\D", "", text)),
    "date": _date,
    "weekday": _weekday,
    "time": _time,
    "address": _whole("host"),
    "path": _whole("path", lambda text: text.rstrip("/") or "/"),
    "host": _whole("host", str.lower),
    "money": _money,
    "name": _whole("name", str.lower),
    "version": _version,
    "halfhour": lambda match: ("duration", (1800.0,)),
    "measure": _measure,
    "ordinal": lambda match: ("ordinal", (int(match["on"]),)),
    "number": _number,
    "zhnumber": lambda match: ("number", (int_of(match["zn"]),)),
    "wordnumber": lambda match: ("number", (_WORD_NUMBER[match[0].lower()],)),
}
