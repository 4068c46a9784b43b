"""From when until when a note holds: spans of time as people write them, expiry, who is newer."""

import re
from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from memorix.note import Note, parse_time

LONGEST_YEARS = 100
# A longer span is a slip; and a year beyond 9999 is no date.

_ISO = re.compile(
    r"P(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?",
    re.IGNORECASE,
)
_PART = re.compile(
    r"\s*(\d+|[半一两二三四五六七八九十]+)\s*(个?[a-z\u4e00-\u9fff]+?)\s*(?=[\d半一两二三四五六七八九十]|$)"
)
_UNITS: Mapping[str, str] = {
    name: unit
    for unit, names in {
        "seconds": "s sec secs second seconds 秒 秒钟",
        "minutes": "min mins minute minutes 分 分钟",
        "hours": "h hr hrs hour hours 小时 个小时 钟头 个钟头",
        "days": "d day days 天 日",
        "weeks": "w wk wks week weeks 周 星期 个星期 礼拜 个礼拜",
        "months": "mo mos month months 月 个月",
        "years": "y yr yrs year years 年",
    }.items()
    for name in names.split()
}
_DIGITS = {character: number for number, character in enumerate("零一二三四五六七八九十")} | {
    "两": 2
}
_HALVES = {
    "hours": ("minutes", 30),
    "days": ("hours", 12),
    "months": ("days", 15),
    "years": ("months", 6),
}


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time; months are kept apart, since they differ in length."""

    months: int = 0
    seconds: int = 0

    def after(self, moment: datetime) -> datetime:
        """Return the moment this long after another; a month from the 31st ends on the last day."""
        count = moment.year * 12 + moment.month - 1 + self.months
        year, month = count // 12, count % 12 + 1
        day = min(moment.day, monthrange(year, month)[1])
        return moment.replace(year=year, month=month, day=day) + timedelta(seconds=self.seconds)


def parse_span(text: str) -> Span | None:
    """Read a length of time: `30d`, `2 weeks`, `P1M`, `30天`, `半年`; None if it is none.

    `m` alone is refused: it means minutes to some and months to others.
    """
    plain = text.strip()
    iso = _ISO.fullmatch(plain)
    if iso:
        parts = [(int(count), unit) for unit, count in iso.groupdict().items() if count]
    else:
        parts = _parts(plain.lower().removesuffix("内").removesuffix("后"))
    months = sum(
        n * (12 if unit == "years" else 1) for n, unit in parts if unit in ("months", "years")
    )
    rest = timedelta()
    for number, unit in parts:
        if unit not in ("months", "years"):
            if number > LONGEST_YEARS * 366 * 86_400:
                return None
            rest += timedelta(**{unit: number})
    seconds = int(rest.total_seconds())
    if months + seconds <= 0 or months > 12 * LONGEST_YEARS or rest.days > 366 * LONGEST_YEARS:
        return None
    return Span(months, seconds)


def _parts(text: str) -> list[tuple[int, str]]:
    found, end = [], 0
    while end < len(text):
        match = _PART.match(text, end)
        unit = _UNITS.get(match[2]) if match else None
        if match is None or unit is None:
            return []
        found.append(_counted(match[1], unit))
        end = match.end()
    return [part for part in found if part[0]]


def _counted(number: str, unit: str) -> tuple[int, str]:
    if number == "半":
        smaller, count = _HALVES.get(unit, (unit, 0))
        return count, smaller
    return (int(number) if number.isdigit() else _from_chinese(number)), unit


def _from_chinese(text: str) -> int:
    tens, ten, ones = text.rpartition("十")
    if not ten:
        return _DIGITS.get(text, 0)
    return (_DIGITS.get(tens, 0) if tens else 1) * 10 + (_DIGITS.get(ones, 0) if ones else 0)


def moment_from(text: str, now: datetime) -> datetime | None:
    """Read a time, or a length of time from now on; None if it is neither."""
    moment = parse_time(text)
    if moment is not None:
        return moment
    span = parse_span(text)
    return span.after(now) if span else None


def is_in_force(note: Note, at: datetime) -> bool:
    """Say whether a note holds at a moment: not retired, and within its half-open validity."""
    return (
        note.status != "deprecated"
        and (note.valid_from is None or note.valid_from <= at)
        and (note.valid_to is None or at < note.valid_to)
        and not is_expired(note, at)
    )


def is_expired(note: Note, at: datetime) -> bool:
    """Say whether a note's time to live is over: it is out of recall, and may be archived."""
    return note.expires_at is not None and note.expires_at <= at


def is_stale(note: Note, at: datetime) -> bool:
    """Say whether the day has come at which a note is to be looked at again (OKF section 5.5)."""
    return note.stale_after is not None and note.stale_after <= at


def holds_since(note: Note) -> datetime | None:
    """Return from when on a note holds: what it says itself, else when it was first written."""
    return note.valid_from or note.created or note.changed


def is_older(candidate: Note, current: Note) -> bool:
    """Say whether a note tells of a time before another began to hold, so that it must not take
    its place; only a note that states its time can."""
    since = holds_since(current)
    return candidate.valid_from is not None and since is not None and candidate.valid_from < since
