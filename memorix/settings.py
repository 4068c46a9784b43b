"""What settings there are: of each its type, its default and what it may be."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Watch = Literal["auto", "poll", "off"]
Review = Literal["off", "inferred", "all"]
REVIEW = ("off", "inferred", "all")
WATCH = ("auto", "poll", "off")
Secrets = Literal["mask", "refuse", "off"]
SECRETS = ("mask", "refuse", "off")
PRIORS = ("strength", "importance", "origin", "trust", "status")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LONGEST_RESCAN_S = 86_400
# A day; what is meant to be rarer than that is a mistaken unit.

LONGEST_JOURNAL_DAYS, LARGEST_JOURNAL_MB = 3650, 4000

MOST = 999_999
# Of what is counted; 0 is no bound at all.

SETTINGS: Mapping[str, type] = MappingProxyType(
    {
        "vault": str,
        "state_dir": str,
        "models_dir": str,
        "model": str,
        "reranker": str,
        "priors": str,
        "learn": str,
        "project": str,
        "session": str,
        "watch": str,
        "log": str,
        "git_commits": str,
        "review": str,
        "secrets": str,
        "log_level": str,
        "rescan_s": int,
        "journal_days": int,
        "journal_mb": int,
        "max_note_kb": int,
        "max_tags": int,
        "max_notes": int,
        "max_writes_a_minute": int,
    }
)
DEFAULTS: Mapping[str, str | int] = MappingProxyType(
    {
        "vault": "~/Memorix",
        "model": "",
        "reranker": "",
        "priors": "",
        "learn": "off",
        "project": "",
        "session": "",
        "watch": "auto",
        "log": "off",
        "git_commits": "off",
        "review": "off",
        "secrets": "mask",
        "log_level": "WARNING",
        "rescan_s": 60,
        "journal_days": 90,
        "journal_mb": 32,
        "max_note_kb": 1_000,
        "max_tags": 64,
        "max_notes": 100_000,
        "max_writes_a_minute": 3_000,
    }
)
_UNFILLED = re.compile(r"\$\{|^\$\w|^%\w+%")
# Placeholders that some hosts pass on as they are; taken literally they would name a new folder.


@dataclass(frozen=True, slots=True)
class Wrong:
    """Why a value is none that a setting may have, as the rest of a sentence."""

    why: str


def checked(name: str, value: object) -> str | int | Wrong:
    """Return the value of a setting in its one spelling, or why it cannot be that."""
    return _CHECKS.get(name, _plain)(str(value).strip())


def _plain(text: str) -> str | Wrong:
    return text if text.isprintable() else Wrong("must be one line of plain text")


def _path_text(text: str) -> str | Wrong:
    if not text or not text.isprintable():
        return Wrong("must be the path of a folder")
    if _UNFILLED.search(text):
        return Wrong("must be a path written out, without variables (~ is understood)")
    return text


def _one_of(*known: str) -> Callable[[str], str | Wrong]:
    """Make the check that a text is one of these, in any case; it becomes what is written here."""
    spelled = {one.lower(): one for one in known}
    said = (
        f"must be one of {', '.join(known)}" if len(known) > 2 else f"must be {' or '.join(known)}"
    )

    def check(text: str) -> str | Wrong:
        return spelled.get(text.lower()) or Wrong(said)

    return check


def _priors(text: str) -> str | Wrong:
    one = rf"(?:{'|'.join(PRIORS)})\s*=\s*(?:0(?:\.[0-9]+)?|1(?:\.0+)?)"
    pairs = [pair.strip() for pair in text.split(",") if pair.strip()]
    names = [pair.partition("=")[0].strip() for pair in pairs]
    if len(set(names)) == len(names) and all(re.fullmatch(one, pair) for pair in pairs):
        return ", ".join(pairs)
    return Wrong(f"must be shares from 0 to 1 of {', '.join(PRIORS)}, such as strength=0.1")


def _whole(unit: str, least: int, most: int) -> Callable[[str], int | Wrong]:
    def check(text: str) -> int | Wrong:
        number = int(text) if re.fullmatch(r"[0-9]{1,6}", text) else -1
        return number if least <= number <= most else Wrong(wrong)

    wrong = f"must be whole {unit} from {least} to {most}"
    return check


_CHECKS: Mapping[str, Callable[[str], str | int | Wrong]] = {
    "vault": _path_text,
    "state_dir": _path_text,
    "models_dir": _path_text,
    "watch": _one_of(*WATCH),
    "log": _one_of("on", "off"),
    "review": _one_of(*REVIEW),
    "secrets": _one_of(*SECRETS),
    "priors": _priors,
    "learn": _one_of("on", "off"),
    "git_commits": _one_of("on", "off"),
    "log_level": _one_of(*LOG_LEVELS),
    "rescan_s": _whole("seconds", 1, LONGEST_RESCAN_S),
    "journal_days": _whole("days", 0, LONGEST_JOURNAL_DAYS),
    "journal_mb": _whole("megabytes", 1, LARGEST_JOURNAL_MB),
    "max_note_kb": _whole("kilobytes", 0, MOST),
    "max_tags": _whole("tags", 0, MOST),
    "max_notes": _whole("notes", 0, MOST),
    "max_writes_a_minute": _whole("writes", 0, MOST),
}
