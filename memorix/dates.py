"""Dates as people say them in a question, read as periods of whole days.

`last week`, `in March`, `two days ago`, `before 2024-05-02`, `上周五`, `三月五号之前`.  Weeks begin
on Monday.  A month or a day without a year is the latest one that has begun.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta

RECENT_DAYS = 14
# What "recently" reaches back.


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of days, from `first` up to but without `end`; an open side is None.

    `said` is the text it was read from; `yearly` says that no year was named.
    """

    first: date | None
    end: date | None
    said: str = ""
    yearly: bool = False

    def holds(self, day: date) -> bool:
        return (self.first is None or self.first <= day) and (self.end is None or day < self.end)

    def years_before(self, years: int) -> "Period":
        """Return the same stretch of an earlier year."""
        first, end = (side and _years_back(side, years) for side in (self.first, self.end))
        return replace(self, first=first, end=end)

    def __str__(self) -> str:
        last = self.end - timedelta(days=1) if self.end else None
        if self.first and last:
            return f"{self.first}" if self.first == last else f"{self.first} to {last}"
        return f"from {self.first}" if self.first else f"to {last}"


def periods(text: str, today: date) -> tuple[Period, ...]:
    """Return the periods that a question names, in its order, open ones where it says so."""
    joined: list[tuple[Period, int, int]] = []
    for period, start, end in _found(text, today):
        before = joined[-1] if joined else None
        if before and _TO.fullmatch(text[before[2] : start].lower()):
            joined[-1] = (_from_to(before[0], period), before[1], end)
        else:
            joined.append((period, start, end))
    return tuple(_opened(text, *one) for one in joined)


def order_asked(text: str) -> str:
    """Return `newest` or `oldest` where a question asks for the one or the other, else nothing."""
    newest, oldest = _NEWEST.search(text), _OLDEST.search(text)
    return "" if bool(newest) == bool(oldest) else "newest" if newest else "oldest"


def order_said(text: str) -> str:
    """Return the words by which a question asks for the newest or the oldest."""
    match = _NEWEST.search(text) or _OLDEST.search(text)
    return match[0] if match else ""


@dataclass(frozen=True, slots=True)
class Event:
    """What a question dates itself by: in "before the migration" the `name` is `migration`."""

    said: str
    name: str
    before: bool


def event_named(text: str) -> Event | None:
    """Return the event before or after which something is asked for, if there is one."""
    for pattern in (_EVENT, _ZH_EVENT):
        if match := pattern.search(text):
            return Event(match[0], match["event"].strip(), match["side"].lower() in _BEFORE)
    return None


# -- finding and opening


def _found(text: str, today: date) -> Iterator[tuple[Period, int, int]]:
    """Yield the periods that the forms read, the leftmost and longest where several overlap."""
    matches = [
        (m.start(), -m.end(), number, m)
        for number, (pattern, _) in enumerate(_FORMS)
        for m in pattern.finditer(text)
    ]
    done = 0
    for start, _, number, match in sorted(matches, key=lambda found: found[:3]):
        period = _period(_FORMS[number][1], match, today) if start >= done else None
        if period:
            done = match.end()
            yield period, start, done


def _period(read: "_Form", match: re.Match[str], today: date) -> Period | None:
    try:
        return read(match, today)
    except (OverflowError, ValueError):
        return None  # beyond the years that a calendar has


def _from_to(begin: Period, end: Period) -> Period:
    """Join two periods to one; "June to August 2025" begins in the year in which it ends."""
    first = begin.first
    if first and end.first and begin.yearly and not end.yearly:
        first = _years_back(first, first.year - end.first.year)
        first = first if first <= end.first else _years_back(first, 1)
    return Period(first, end.end, yearly=begin.yearly and end.yearly)


def _opened(text: str, period: Period, start: int, end: int) -> Period:
    """Open a period to the side that the words beside it say: `before` it, or `after`."""
    lead, tail = _LEAD.search(text[:start]), _TAIL.match(text[end:])
    word = lead[1].lower() if lead else tail[0] if tail else ""
    if word == "from" and _TO.search(text[start:end]):
        word = ""
    first, last = period.first, period.end
    if word in _BEFORE:
        first, last = None, period.first
    elif word in _SINCE:
        first, last = period.first, None
    elif word in _AFTER:
        first, last = period.end, None
    begin = lead.start(1) if lead and word in _BEFORE | _SINCE | _AFTER else start
    stop = end + (len(tail[0]) if tail and not lead else 0)
    return Period(first, last, text[begin:stop], period.yearly)


_BEFORE = frozenset(["before", "until", "till", "prior to", "之前", "以前", "前"])
_SINCE = frozenset(["since", "from", "以来", "起"])
_AFTER = frozenset(["after", "之后", "以后", "后"])
_LEAD = re.compile(r"\b(before|until|till|prior to|since|after|from) (?:the )?$", re.IGNORECASE)
_TAIL = re.compile("之前|以前|前|以来|起|之后|以后|后")
_TO = re.compile(r"\s*(?:-|–|to|and|until|till|through|到|至|和|与)\s*")
_EVENT = re.compile(
    r"\b(?P<side>before|until|after|since) (?:the |we |our |my |i )?(?P<event>[^,.?!;]{3,60})",
    re.IGNORECASE,
)
_ZH_EVENT = re.compile(r"(?P<event>[^，。？！；、\s]{2,20}?)(?P<side>之前|以前|之后|以后|以来)")
_NEWEST = re.compile(
    r"\b(?:latest|newest|most recent(?:ly)?|last time)\b|最新|最近一次", re.IGNORECASE
)
_OLDEST = re.compile(r"\b(?:oldest|earliest|originally|at first)\b|最早|最初|最开始", re.IGNORECASE)


# -- the forms

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
_WEEKDAYS = "mon tue wed thu fri sat sun".split()  # noqa: SIM905
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "couple of": 2, "three": 3, "a few": 3,
    "few": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "ten": 10,
}  # fmt: skip
_ZH_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_ZH_WEEKDAYS = {c: n for n, c in enumerate("一二三四五六日")} | {"天": 6}
_ZH_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week",
             "月": "month", "年": "year"}  # fmt: skip
_ZH_DAYS = {"今天": 0, "今日": 0, "昨天": 1, "昨日": 1, "昨晚": 1, "前天": 2, "大前天": 3}
_EN_DAYS = {"today": 0, "yesterday": 1, "last night": 1, "the day before yesterday": 2}
_SEASONED = re.compile(r"\b(?:in|on|of|last|since|during|until|by|before|after|from|this|early|mid"
                       r"|late|for) $", re.IGNORECASE)  # fmt: skip

_YEAR = r"(?:19[7-9]\d|20\d\d)"
_MONTH = (
    r"(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
)
_NTH = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_COUNT = r"(?P<n>\d{1,3}|(?:a )?(?:couple of|few)|an?|one|two|three|four|five|six|seven|eight|ten)"
_ZH_N = r"\d{1,3}|[一二两三四五六七八九十]{1,3}"
_UNIT = r"(?P<u>day|week|month|year)s?"
_ZH_UNIT = r"(?:个)?(?P<u>天|日|周|星期|礼拜|月|年)"
_ZH_AGO = r"(?:个)?(?P<u>天|日|周|星期|礼拜|年|(?<=[个两])月)"  # but 三月前 is before March

_Form = Callable[[re.Match[str], date], Period | None]


def _iso(match: re.Match[str], today: date) -> Period | None:
    return _day_or_month(int(match["y"]), int(match["m"]), match["d"])


def _named(match: re.Match[str], today: date) -> Period | None:
    """`5 March 2024`, `March 5`, `in March`; a bare `may` or `march` is a word of its own."""
    groups = match.groupdict()
    month, day, year = _MONTHS.index(match["m"][:3].lower()) + 1, groups.get("d"), groups.get("y")
    if not (day or year) and not _SEASONED.search(match.string[: match.start()]):
        return None
    if year:
        return _day_or_month(int(year), month, day)
    return _latest(today, month, day)


def _ago(match: re.Match[str], today: date) -> Period:
    return _unit_back(match["u"].lower(), _count(match["n"]), today)


def _past(match: re.Match[str], today: date) -> Period:
    return _past_units(match["u"].lower(), _count(match["n"]), today)


def _calendar(match: re.Match[str], today: date) -> Period:
    """`last week`, `this month`."""
    return _unit_back(match["u"].lower(), int(match["w"].lower() != "this"), today)


def _quarter(match: re.Match[str], today: date) -> Period:
    year, number = match["y"], int(match["n"])
    first = date(int(year or today.year), 3 * number - 2, 1)
    if not year and first > today:
        first = _years_back(first, 1)
    return Period(first, _months_on(first, 3), yearly=not year)


def _weekday(match: re.Match[str], today: date) -> Period | None:
    if not _SEASONED.search(match.string[: match.start()]):
        return None
    back = (today.weekday() - _WEEKDAYS.index(match["d"][:3].lower())) % 7
    return _one(today - timedelta(days=back or 7))


def _year(match: re.Match[str], today: date) -> Period | None:
    if not _SEASONED.search(match.string[: match.start()]):
        return None  # it may be a port
    return Period(date(int(match[0]), 1, 1), date(int(match[0]) + 1, 1, 1))


def _relative(match: re.Match[str], today: date) -> Period:
    said = match[0].lower()
    back = (_EN_DAYS | _ZH_DAYS).get(said)
    if back is None:
        return Period(today - timedelta(days=RECENT_DAYS), today + timedelta(days=1))
    return _one(today - timedelta(days=back))


def _zh_date(match: re.Match[str], today: date) -> Period | None:
    year, month = match["y"], _zh_number(match["m"])
    day = str(_zh_number(match["d"])) if match["d"] else None
    if year:
        back = {"今": 0, "去": 1, "前": 2}.get(year)
        return _day_or_month(int(year) if back is None else today.year - back, month, day)
    return _latest(today, month, day)


def _zh_year(match: re.Match[str], today: date) -> Period:
    back = {"今": 0, "去": 1, "前": 2}.get(match["y"])
    year = int(match["y"]) if back is None else today.year - back
    return Period(date(year, 1, 1), date(year + 1, 1, 1))


def _zh_calendar(match: re.Match[str], today: date) -> Period:
    back = len(match["w"]) if match["w"][0] == "上" else 0
    unit = {"月": "month", "季度": "quarter"}.get(match["u"], "week")
    whole = _unit_back(unit, back, today)
    weekday = _ZH_WEEKDAYS.get(match["d"] or "")
    if weekday is None or whole.first is None or unit != "week":
        return whole
    return _one(whole.first + timedelta(days=weekday))


def _zh_ago(match: re.Match[str], today: date) -> Period:
    return _unit_back(_ZH_UNITS[match["u"]], _zh_number(match["n"]), today)


def _zh_past(match: re.Match[str], today: date) -> Period:
    return _past_units(_ZH_UNITS[match["u"]], _zh_number(match["n"]), today)


def _form(pattern: str, read: _Form) -> tuple[re.Pattern[str], _Form]:
    return re.compile(pattern, re.IGNORECASE), read


_FORMS: tuple[tuple[re.Pattern[str], _Form], ...] = (
    _form(rf"(?<![\w.-])(?P<y>{_YEAR})([-/.])(?P<m>\d{{1,2}})(?:\2(?P<d>\d{{1,2}}))?(?![\w-]|\.\d)",
          _iso),
    _form(rf"\b{_MONTH}\.? {_NTH}(?!\d|:)(?:,? ?(?P<y>{_YEAR}))?\b", _named),
    _form(rf"\b{_NTH} (?:of )?{_MONTH}(?:,? ?(?P<y>{_YEAR}))?", _named),
    _form(rf"\b{_MONTH}(?:,? (?:of )?(?P<y>{_YEAR}))?", _named),
    _form(rf"\b{_COUNT} {_UNIT} (?:ago|back)\b", _ago),
    _form(rf"\b(?:last|past|previous) {_COUNT} {_UNIT}\b", _past),
    _form(r"\b(?P<w>last|this|previous|past) (?P<u>week(?:end)?|month|quarter|year)\b", _calendar),
    _form(rf"\bq(?P<n>[1-4])(?: (?:of )?(?P<y>{_YEAR}))?\b", _quarter),
    _form(r"\b(?P<d>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b", _weekday),
    _form(rf"(?<![\w.:-]){_YEAR}(?![\w:-]|\.\d)", _year),
    _form(r"\b(?:the day before yesterday|yesterday|last night|today|recently|lately)\b",
          _relative),
    _form(rf"(?:(?P<y>{_YEAR}|今|去|前)年)?(?P<m>{_ZH_N})月(?:份|(?P<d>{_ZH_N})[日号])?",
          _zh_date),
    _form(rf"(?P<y>{_YEAR}|今|去|前)年", _zh_year),
    _form(r"(?P<w>上+|这|本)个?(?P<u>周|星期|礼拜|月|季度)(?P<d>[一二三四五六日天])?",
          _zh_calendar),
    _form(rf"(?P<n>{_ZH_N}){_ZH_AGO}(?:之前|以前|前)", _zh_ago),
    _form(rf"(?:最近|过去|近)(?:的)?(?P<n>{_ZH_N}){_ZH_UNIT}", _zh_past),
    _form(r"大前天|前天|昨天|昨日|昨晚|今天|今日|最近|近来", _relative),
)  # fmt: skip


# -- days


def _one(day: date) -> Period:
    return Period(day, day + timedelta(days=1))


def _day_or_month(year: int, month: int, day: str | None) -> Period | None:
    try:
        first = date(year, month, int(day or 1))
    except ValueError:
        return None
    return _one(first) if day else Period(first, _months_on(first, 1))


def _latest(today: date, month: int, day: str | None) -> Period | None:
    """Return a day or a month of the latest year in which it has begun."""
    for year in range(today.year, today.year - 8, -1):  # 29 February comes every four or eight
        period = _day_or_month(year, month, day)
        if period and period.first and period.first <= today:
            return replace(period, yearly=True)
    return None


def _unit_back(unit: str, count: int, today: date) -> Period:
    """Return the whole day, week, month, quarter or year that many before today's."""
    match unit:
        case "day":
            return _one(today - timedelta(days=count))
        case "week":
            monday = today - timedelta(days=today.weekday() + 7 * count)
            return Period(monday, monday + timedelta(days=7))
        case "weekend":
            saturday = today - timedelta(days=today.weekday() - 5 + 7 * count)
            return Period(saturday, saturday + timedelta(days=2))
        case "month":
            first = _months_on(today.replace(day=1), -count)
            return Period(first, _months_on(first, 1))
        case "quarter":
            quarter = today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1)
            first = _months_on(quarter, -3 * count)
            return Period(first, _months_on(first, 3))
    year = max(today.year - count, 1)
    return Period(date(year, 1, 1), date(year + 1, 1, 1))


def _past_units(unit: str, count: int, today: date) -> Period:
    """Return the days up to today that reach that many units back."""
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[unit] * count
    return Period(today - timedelta(days=days), today + timedelta(days=1))


def _months_on(first: date, months: int) -> date:
    year, month = divmod(first.year * 12 + first.month - 1 + months, 12)
    return date(max(year, 1), month + 1, 1)


def _years_back(day: date, years: int) -> date:
    leap = day.month == 2 and day.day == 29
    return day.replace(year=day.year - years, day=28 if leap else day.day)


def _count(text: str) -> int:
    return int(text) if text.isdigit() else _COUNTS[" ".join(text.lower().split())]


def _zh_number(text: str) -> int:
    """Read a Chinese number below one hundred, or digits."""
    if text.isdigit() and text.isascii():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    high = (_ZH_DIGITS.get(tens, 1) if ten else 0) * 10
    return high + (_ZH_DIGITS.get(ones[-1:], 0) if ones else 0)
