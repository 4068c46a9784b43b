"""JSON Lines and CSV of anybody, by the usual names of their fields or by a mapping."""

import csv
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from memorix.errors import InvalidRequest
from memorix.imported import Record, Unreadable
from memorix.importers.base import LONGEST_LINE, MAYBE, NO, first_object, json_lines, unreadable
from memorix.importers.fields import Fields, record
from memorix.intake import LINES

USUAL = Fields(
    key=("id", "uuid", "key", "_id"),
    title=("title", "name", "subject", "标题", "名称"),
    body=("body", "text", "content", "memory", "note", "value", "内容", "正文"),
    type=("type", "kind", "类型"),
    description=("description", "summary"),
    tags=("tags", "labels", "keywords", "categories", "标签"),
    created=("created", "created_at", "createdAt", "date", "timestamp", "time", "创建时间", "日期"),
    changed=("updated", "updated_at", "updatedAt", "modified", "修改时间"),
    author=("author", "by", "作者"),
    extra=None,
)
NAMED = ("key", "title", "body", "type", "description", "tags", "created", "changed", "author")
# What a mapping may give the field of.


_TOO_LONG = "\0"
# Stands for a line that is not read; no other has such a character.


def mapped(pairs: Mapping[str, str]) -> Fields:
    """Return the usual fields with those of a mapping in their place.

    Raises:
        InvalidRequest: A record has no such part.
    """
    for part in pairs:
        if part not in NAMED:
            raise InvalidRequest(f"--map knows no {part!r}. It takes {', '.join(NAMED)}.")
    named: dict[str, Any] = {part: (name,) for part, name in pairs.items()}
    return replace(USUAL, **named)


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A file with a JSON object on each line."""

    names: Fields = field(default=USUAL)
    name: str = "jsonl"

    def detect(self, source: Path) -> float:
        lines = source.is_file() and source.suffix in (".jsonl", ".ndjson")
        first = first_object(source) if lines else {}
        return MAYBE if first and first.get("format") != LINES else NO  # an export of our own

    def read(self, source: Path) -> Iterator[Record | Unreadable]:
        for line in json_lines(source):
            yield line if isinstance(line, Unreadable) else record(line[1], self.names, line[0])


@dataclass(frozen=True, slots=True)
class Csv:
    """A table with the names of its fields in the first line, parted by commas or tabs."""

    names: Fields = field(default=USUAL)
    name: str = "csv"

    def detect(self, source: Path) -> float:
        return MAYBE if source.is_file() and source.suffix in (".csv", ".tsv") else NO

    def read(self, source: Path) -> Iterator[Record | Unreadable]:
        csv.field_size_limit(min(LONGEST_LINE, sys.maxsize))
        delimiter = "\t" if source.suffix == ".tsv" else ","
        try:
            with source.open(encoding="utf-8-sig", errors="replace", newline="") as file:
                rows = csv.DictReader(_lines(file), delimiter=delimiter)
                yield from self._rows(rows, source.name)
        except OSError as error:
            raise unreadable(source, error) from error

    def _rows(self, rows: "csv.DictReader[str]", name: str) -> Iterator[Record | Unreadable]:
        number = 1
        while True:
            number += 1
            try:
                found = list(islice(rows, 1))
            except csv.Error as error:
                yield Unreadable(f"{name}:{number}", str(error))
                continue
            if not found:
                return
            named = {key: value for key, value in found[0].items() if isinstance(key, str)}
            where = f"{name}:{number}"
            if _TOO_LONG in named.values():
                yield Unreadable(where, "the line is too long")
            else:
                yield record(named, self.names, where)


def _lines(file: TextIO) -> Iterator[str]:
    """Yield lines without NUL; of one that is too long there is only a mark that is no row."""
    while line := file.readline(LONGEST_LINE):
        if len(line) < LONGEST_LINE or line.endswith("\n"):
            yield line.replace("\0", " ")
            continue
        while line and not line.endswith("\n"):
            line = file.readline(LONGEST_LINE)
        yield f"{_TOO_LONG}\n"


def importers(pairs: Mapping[str, str]) -> tuple[JsonLines, Csv]:
    names = mapped(pairs)
    return JsonLines(names), Csv(names)
