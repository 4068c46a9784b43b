"""Folders of Markdown that other programs keep: basic-memory, Obsidian, Logseq, Foam, ADRs, text.

A file becomes a note of the same name, so that its links and wikilinks lead where they led.
Metadata that has no place in a note is kept as keys of its own.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from memorix.files import walk
from memorix.imported import Record, Unreadable
from memorix.importers.base import LIKELY, NO, SURE
from memorix.importers.files import SAMPLE, Page, page, pages, sample
from memorix.intake import TIMES_IN, UTC_TIMES
from memorix.note import parse_time, tags_from
from memorix.prose import without_code

_TAG = re.compile(r"(?<![\w/#&;])#(?:\[\[([^\[\]\n]+)\]\]|([^\s#.,;:!?()\[\]{}\"'`<>|]+))")
_DAY = re.compile(r"(\d{4})[-_](\d{2})[-_](\d{2})")
_BARE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}")
_PROPERTY = re.compile(r"(?:- )?([A-Za-z][\w.-]*):: ?(.*)")
_RELATION = re.compile(r"^([-*] )([^\W\d_]\w*(?: \w+){1,5})(?= \[\[)", re.MULTILINE)
_DECISION = re.compile(r"\d{1,5}[-_ ].+\.md")
_NUMBER = re.compile(r"^(?:ADR[- ]?)?\d+[.:)]?\s+(?=\S)", re.IGNORECASE)
_SECTION = re.compile(r"^#{2,3} +(.+?)\s*\n+(.*)", re.MULTILINE)
_SETTLED = {"superseded": "deprecated", "deprecated": "deprecated", "rejected": "deprecated"}


@dataclass(frozen=True, slots=True)
class Vault:
    """A kind of folder: how it is known, and the record that a page of it is."""

    name: str
    known: Callable[[Path], float]
    record: Callable[[Page], Record]
    suffixes: tuple[str, ...] = (".md",)

    def detect(self, source: Path) -> float:
        return self.known(source)

    def read(self, source: Path) -> Iterator[Record | Unreadable]:
        alone = source.is_file()
        found = [page(source, source.name)] if alone else pages(source, self.suffixes)
        for one in found:
            yield one if isinstance(one, Unreadable) else self.record(one)


def _plain(page: Page) -> Record:
    path = page.path.rpartition(".")[0]
    return Record(
        key=page.said("id", "uid") or path,
        title=page.said("title") or page.stem,
        body=page.body,
        type=page.said("type") or "Note",
        description=page.said("description", "summary"),
        tags=page.tags,
        aliases=page.listed("aliases", "alias"),
        created=page.created,
        changed=page.changed,
        author=_human(page.said("author")),
        extra=page.rest("title", "type", "id", "uid", "description", "summary", "author"),
        place=path,
    )


def _human(name: str) -> str:
    """Return an actor as OKF writes one; a plain name is a person's."""
    return name if ":" in name or "/" in name or not name else f"human:{'-'.join(name.split())}"


def _of_basic_memory(page: Page) -> Record:
    """Keep the permalink as an alias, so that links by it are followed; a relation is one word."""
    record, permalink = _plain(page), page.said("permalink")
    body = _RELATION.sub(lambda found: found[1] + found[2].replace(" ", "_"), record.body)
    aliases = (*record.aliases, permalink) if permalink else record.aliases
    return replace(record, key=permalink or record.key, body=body, aliases=aliases)


def _of_obsidian(page: Page) -> Record:
    record = _with_tags_of_text(_plain(_with_zone(page)))
    return _daily(record, page.stem)


def _with_zone(page: Page) -> Page:
    """Give the times of a page the offset that it says they are without."""
    if page.said(TIMES_IN) != UTC_TIMES:
        return page
    meta = {
        key: f"{value}Z" if isinstance(value, str) and _BARE_TIME.fullmatch(value) else value
        for key, value in page.meta.items()
        if key != TIMES_IN
    }
    return replace(page, meta=meta)


def _of_logseq(page: Page) -> Record:
    """Read page properties (`key:: value`) and names with `___` for `/`; blocks stay."""
    properties, body = _properties(page.body)
    page = replace(page, meta={**page.meta, **properties}, body=body)
    stem = page.stem.replace("___", "/").replace("%2F", "/")
    record = _with_tags_of_text(_plain(page))
    record = replace(record, title=page.said("title") or stem)
    return _daily(record, page.stem)


def _properties(body: str) -> tuple[dict[str, str], str]:
    found: dict[str, str] = {}
    lines = body.lstrip("\n").split("\n")
    for line in lines:
        match = _PROPERTY.fullmatch(line.strip())
        if match is None:
            break
        found[match[1].lower()] = match[2].strip().replace("[[", "").replace("]]", "")
    return found, "\n".join(lines[len(found) :]) if found else body


def _with_tags_of_text(record: Record) -> Record:
    words = [found[1] or found[2] for found in _TAG.finditer(without_code(record.body))]
    tags = tags_from([word for word in words if not word.replace("-", "").isdigit()])
    return replace(record, tags=tuple(dict.fromkeys([*record.tags, *tags])))


def _daily(record: Record, stem: str) -> Record:
    """Date a daily note by its name."""
    day = _day(stem)
    if day is None:
        return record
    kind = "Episode" if record.type == "Note" else record.type
    return replace(record, type=kind, created=record.created or day)


def _day(stem: str) -> datetime | None:
    found = _DAY.fullmatch(stem)
    return parse_time("-".join(found.groups())) if found else None


def _of_decision(page: Page) -> Record:
    """Read an architecture decision record: its title, date and status, also from its sections."""
    record = _plain(page)
    sections = {found[1].lower(): found[2].strip() for found in _SECTION.finditer(page.body)}
    heading = re.search(r"^# +(.+)$", page.body, re.MULTILINE)
    title = page.said("title") or (heading[1] if heading else page.stem)
    said = page.said("status") or sections.get("status", "")
    stated = re.search(r"^[-*]? ?Date: *(\S+)", page.body, re.MULTILINE | re.IGNORECASE)
    created = page.created or parse_time(stated[1] if stated else sections.get("date", ""))
    word = said.split()[0].lower().strip("*_.,:") if said.split() else ""
    extra = {key: value for key, value in record.extra.items() if key != "status"}
    extra |= {"decision_status": said.strip("*_")} if said else {}
    extra |= {"status": _SETTLED[word]} if word in _SETTLED else {}
    title = _NUMBER.sub("", title)
    return replace(record, title=title, type="Decision", created=created, extra=extra)


def _is_basic_memory(source: Path) -> float:
    found = sample(source)
    marked = [one for one in found if one.said("permalink")]
    return SURE if marked and len(marked) * 2 >= len(found) else NO


def _is_obsidian(source: Path) -> float:
    return LIKELY if (source / ".obsidian").is_dir() else NO


def _is_logseq(source: Path) -> float:
    if (source / "logseq" / "config.edn").is_file():
        return SURE
    return LIKELY if (source / "journals").is_dir() and (source / "pages").is_dir() else NO


def _is_foam(source: Path) -> float:
    return LIKELY if (source / ".foam").is_dir() or (source / ".vscode/foam.json").is_file() else NO


def _is_decisions(source: Path) -> float:
    if not source.is_dir():
        return NO
    names = [file.name for file in islice(walk(source), 2 * SAMPLE)]
    numbered = [name for name in names if _DECISION.fullmatch(name)]
    if len(numbered) < 2 or len(numbered) * 2 < len(names):
        return NO
    said = [one.body.lower() for one in sample(source) if _DECISION.fullmatch(one.path)]
    return LIKELY if any("# status" in text or "# decision" in text for text in said) else NO


def _is_text(source: Path) -> float:
    if source.is_file():
        return LIKELY if source.suffix in (".txt", ".text") else NO
    texts = source.is_dir() and any(True for _ in walk(source, (".txt", ".text")))
    return LIKELY if texts and not any(True for _ in walk(source)) else NO


ALL = (
    Vault("basic-memory", _is_basic_memory, _of_basic_memory),
    Vault("logseq", _is_logseq, _of_logseq),
    Vault("obsidian", _is_obsidian, _of_obsidian),
    Vault("foam", _is_foam, _of_obsidian),
    Vault("adr", _is_decisions, _of_decision),
    Vault("text", _is_text, _plain, (".txt", ".text", ".md")),
)
