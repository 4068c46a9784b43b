"""What people write for coding assistants: CLAUDE.md, AGENTS.md, rules and memory folders.

A file becomes a note for each of its sections, so that a question finds the one that answers it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from memorix import blocks
from memorix.files import walk
from memorix.imported import Record, Unreadable
from memorix.importers.base import LIKELY, NO, SURE
from memorix.importers.files import Page, page, sample
from memorix.prose import without_code
from memorix.sources import MEMORY, NAMES, SINGLE, instructions

_HEADING = re.compile(r"^#{1,2}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_KINDS = {"user": "Profile", "feedback": "Preference", "project": "Fact", "reference": "Reference"}


class Instructions:
    """A file of instructions, or all that a project has."""

    name = "instructions"

    def detect(self, source: Path) -> float:
        if source.is_file():
            rule = source.suffix == ".mdc" or source.name.endswith(".instructions.md")
            named = (*NAMES, *(name.rpartition("/")[2] for name in SINGLE))
            return SURE if rule or source.name in named else NO
        if any(page.said("type") for page in sample(source)):
            return NO  # a bundle of notes may have such a file, too
        return LIKELY if any(True for _ in instructions(source)) else NO

    def read(self, source: Path) -> Iterator[Record | Unreadable]:
        files = [(source, source.name)] if source.is_file() else instructions(source)
        for file, path in files:
            read = page(file, path)
            yield from [read] if isinstance(read, Unreadable) else _sections(read)


class MemoryFolder:
    """A folder with MEMORY.md, as Claude Code keeps one for each project, and Codex one for all."""

    name = "memory-folder"

    def detect(self, source: Path) -> float:
        return SURE if (source / MEMORY).is_file() or source.name == MEMORY else NO

    def read(self, source: Path) -> Iterator[Record | Unreadable]:
        files = [source] if source.is_file() else list(walk(source))
        for file in files:
            path = file.name if source.is_file() else file.relative_to(source).as_posix()
            read = page(file, path)
            if isinstance(read, Unreadable):
                yield read
            elif path == MEMORY and len(files) > 1:
                yield replace(_whole(read), type="Reference")
            elif path == MEMORY:
                yield from _sections(read, "Fact")
            else:
                yield _topic(read)


def _topic(page: Page) -> Record:
    record = _whole(page)
    kind = page.said("type") or page.said("kind")
    title = page.said("name", "title") or record.title
    return replace(record, title=title, type=_KINDS.get(kind.lower(), kind or "Fact"))


def _whole(page: Page) -> Record:
    return Record(
        key=page.path,
        title=_title(page),
        body=page.body,
        type="Procedure",
        description=page.said("description"),
        tags=page.tags,
        changed=page.changed,
        created=page.created,
        extra=page.rest("name", "title", "type", "description"),
        place=PurePosixPath(page.path).with_suffix("").as_posix().lstrip("."),
    )


def _title(page: Page) -> str:
    heading = _HEADING.search(page.body)
    return heading[1] if heading else page.stem


def _sections(page: Page, kind: str = "Procedure") -> Iterable[Record]:
    """Yield a record for each part of a file under a heading of the first two levels."""
    body = blocks.take(blocks.take(page.body, blocks.RULES), blocks.FACTS)  # came from here
    whole = replace(_whole(page), body=body, type=kind, place="")
    parts = [part for part in _parts(body) if part.said]
    if len(parts) < 2:
        return [whole] if body.strip() else []
    return [
        replace(
            whole,
            key=f"{page.path}#{part.heading or number}",
            title=part.heading or page.path,
            body=part.said,
        )
        for number, part in enumerate(_told_apart(parts), 1)
    ]


@dataclass(frozen=True, slots=True)
class _Part:
    heading: str
    said: str


def _parts(body: str) -> list[_Part]:
    heads = list(_HEADING.finditer(without_code(body)))
    starts = [0, *(head.start() for head in heads)]
    ends = [*(head.start() for head in heads), len(body)]
    titles = ["", *(body[head.start(1) : head.end(1)] for head in heads)]
    found = []
    for title, start, end in zip(titles, starts, ends, strict=True):
        said = body[start:end].strip()
        rest = said.partition("\n")[2].strip() if title else said
        found.append(_Part(title, said if rest else ""))
    return found


def _told_apart(parts: list[_Part]) -> list[_Part]:
    """Return the parts with the number of its repeat in a heading that was there before."""
    seen: dict[str, int] = {}
    apart = []
    for part in parts:
        count = seen[part.heading] = seen.get(part.heading, 0) + 1
        again = f"{part.heading} ({count})" if count > 1 and part.heading else part.heading
        apart.append(replace(part, heading=again))
    return apart


ALL = (MemoryFolder(), Instructions())
