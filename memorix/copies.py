"""Tell from its name of which note a file is a copy that a sync service left behind.

A service that finds a file changed on two machines keeps one version under its name and the other
beside it.  Some names say so themselves; others, such as `note 2.md`, may be any note's, and count
only where the two files are seen to have been one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    """What a name may say: the path of the note, and who names copies so.

    `sure` says that no other file is named so.
    """

    of: str
    by: str
    sure: bool


_WORDS = "|".join(
    (
        *("conflicted copy", "conflicting copy", "in konflikt stehende kopie", "copie en conflit"),
        *("copia en conflicto", "copia in conflitto", "cópia em conflito", "競合コピー"),
        *("冲突副本", "冲突的副本", "衝突複本", "衝突副本", "충돌된 복사본"),
    )
)
# How services call such a copy, in the languages they speak.

_SURE = {
    "Syncthing": r"\.sync-conflict-\d{8}-\d{6}(?:-\w+)?",
    "a sync service": rf" ?[(（][^()（）]*(?:{_WORDS})[^()（）]*(?:\(\d+\))?[)）]",
    "Seafile": r" \(SFConflict [^()]*\)",
    "ownCloud": r"_conflict-\d{8}-\d{6}",
    "Synology Drive": r"_[^_]+_[a-z]{3}-\d\d-\d{4,6}-\d{4}_[a-z]*conflict(?:_\d+)?",
}
_MAYBE = {
    "Resilio Sync": r"\.conflict\d*",
    "a sync service": r" ?\([^()]*\bconflict[^()]*(?:\([^()]*\)[^()]*)?\)",
    "iCloud": r" \d{1,2}",
    "Google Drive": r" \(\d{1,2}\)",
}
# By who gives such names, what they put between the name and its `.md`.

_HOST = re.compile(r"-(?=[A-Za-z0-9][\w-]{0,62}\Z)")
# OneDrive puts the name of the machine behind a hyphen; both may hold hyphens themselves.

_HINT = re.compile("conflict|konflikt|conflit|競合|冲突|衝突|충돌", re.IGNORECASE)
# In every name that is surely a copy's.


def _compiled(tails: Mapping[str, str]) -> list[tuple[str, re.Pattern[str]]]:
    return [(by, re.compile(rf"(.+?){tail}", re.IGNORECASE)) for by, tail in tails.items()]


_SURELY, _MAYBE_SO = _compiled(_SURE), _compiled(_MAYBE)


def named(path: str) -> Iterator[Name]:
    """Yield what a path may be a copy of, the likeliest first; the copy of a copy leads to both."""
    folder, slash, name = path.rpartition("/")
    above, stem = folder + slash, name.removesuffix(".md")
    rest = stem if stem != name and _HINT.search(stem) else ""
    while rest:
        found = next(((by, m[1]) for by, tail in _SURELY if (m := tail.fullmatch(rest))), None)
        by, rest = found or ("", "")
        if rest:
            yield Name(f"{above}{rest}.md", by, sure=True)
    for by, tail in _MAYBE_SO if stem != name else ():
        if match := tail.fullmatch(stem):
            yield Name(f"{above}{match[1]}.md", by, sure=False)
    for hyphen in _HOST.finditer(stem, 1) if stem != name else ():
        yield Name(f"{above}{stem[: hyphen.start()]}.md", "OneDrive", sure=False)


def is_copy(path: str) -> bool:
    """Say whether a path is that of a copy, whatever lies beside it."""
    return bool(_HINT.search(path)) and any(name.sure for name in named(path))
