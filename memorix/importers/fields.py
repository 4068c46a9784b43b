"""Read a row of JSON, CSV or SQLite as a record, by the names of its fields."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any

from memorix.imported import Record, Relation, Unreadable
from memorix.importers.base import fields, items, text, time
from memorix.note import format_time, texts_of
from memorix.yamltext import Value

_NO_KEY = re.compile(r"[^\w.-]+")
_NAMED = (
    *("key", "title", "body", "type", "description", "tags", "created", "changed", "author"),
    *("lists", "sections"),
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BARE_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)")
_LIST = re.compile(r"\s*\[.*\]\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fields:
    """Where the parts of a record stand in a row: for each, the names it may have.

    `lists` are fields whose entries follow the text as a list, `sections` those that follow it
    under a heading of their name; `tags` are joined.  `extra` are kept as keys, each with the name
    it has in a note; None keeps every field that is left.  `times` among them are times,
    and `last_days` the last days on which a record holds, whose end is kept.
    `utc` says that times without an offset are in UTC, as programs keep them; else they are local.
    `relations` hold the key of another record; the word for the relation stands first.
    """

    key: Sequence[str] = ("id",)
    title: Sequence[str] = ("title",)
    body: Sequence[str] = ()
    lists: Sequence[str] = ()
    sections: Sequence[str] = ()
    type: Sequence[str] = ("type",)
    kind: str = "Fact"
    description: Sequence[str] = ()
    tags: Sequence[str] = ("tags",)
    created: Sequence[str] = ("created_at",)
    changed: Sequence[str] = ("updated_at",)
    author: Sequence[str] = ()
    extra: Mapping[str, str] | None = field(default_factory=dict)
    times: Sequence[str] = ()
    last_days: Sequence[str] = ()
    utc: bool = False
    relations: Sequence[tuple[str, str]] = ()
    review: str = ""
    prefix: str = ""


def parts(names: Fields) -> frozenset[str]:
    """Return the names of the fields of a row that any part of a record is read from."""
    named = (name for part in _NAMED for name in getattr(names, part))
    related = (name for _, name in names.relations)
    return frozenset(name.partition(".")[0] for name in (*named, *(names.extra or ()), *related))


def record(row: Mapping[str, Any], names: Fields, where: str) -> Record | Unreadable:
    """Return the record of a row, or what keeps it from being one."""
    body = "\n\n".join(part for part in _parts(row, names) if part)
    title = _first(row, names.title)
    if not body and not title.strip():
        return Unreadable(where, "it has no text")
    said = f"{title}\0{body}".encode("utf-8", "replace")
    key = _first(row, names.key) or blake2b(said, digest_size=16).hexdigest()
    return Record(
        key=f"{names.prefix}{key}",
        title=title,
        body=body,
        type=_first(row, names.type) or names.kind,
        description=_first(row, names.description),
        tags=tuple(tag for name in names.tags for tag in _texts(_at(row, name))),
        created=_time(row, names.created, names),
        changed=_time(row, names.changed, names),
        author=_actor(_first(row, names.author)),
        relations=tuple(_relations(row, names)),
        extra=_extra(row, names),
        review=names.review,
    )


def _parts(row: Mapping[str, Any], names: Fields) -> Iterator[str]:
    yield _first(row, names.body).strip()
    for name in names.lists:
        yield "\n".join(f"- {entry}" for entry in _texts(_at(row, name)))
    for name in names.sections:
        said = text(_at(row, name)).strip()
        yield f"## {name.replace('_', ' ').capitalize()}\n\n{said}" if said else ""


def _relations(row: Mapping[str, Any], names: Fields) -> Iterator[Relation]:
    for kind, name in names.relations:
        if to := text(_at(row, name)):
            yield Relation(kind, f"{names.prefix}{to}", to)


def _extra(row: Mapping[str, Any], names: Fields) -> dict[str, Value]:
    if names.extra is None:
        known = {name for part in _NAMED for name in getattr(names, part)}
        kept = {_key(str(name)): _kept(row[name]) for name in row if name not in known}
    else:
        kept = {note: _said(_at(row, name), name, names) for name, note in names.extra.items()}
    return {key: value for key, value in kept.items() if key and value not in (None, "", [], {})}


def _key(name: str) -> str:
    return _NO_KEY.sub("_", name).strip("_")


def _said(value: Any, name: str, names: Fields) -> Value:
    if name in names.last_days and isinstance(value, str) and _DAY.fullmatch(value):
        return _end_of(value)
    if name in names.times or name in names.last_days:
        moment = time(_zoned(value, names))
        return format_time(moment) if moment else None
    return _kept(value)


def _end_of(day: str) -> Value:
    try:
        return format_time(datetime.fromisoformat(f"{day}T00:00:00Z") + timedelta(days=1))
    except (ValueError, OverflowError):
        return None


def _time(row: Mapping[str, Any], keys: Sequence[str], names: Fields) -> datetime | None:
    """Return the first of these fields that holds a time."""
    values = (_at(row, key) for key in keys)
    return next((at for value in values if (at := time(_zoned(value, names)))), None)


def _zoned(value: Any, names: Fields) -> Any:
    bare = _BARE_TIME.fullmatch(value.strip()) if names.utc and isinstance(value, str) else None
    return f"{bare[1]}T{bare[2]}Z" if bare else value


def _kept(value: Any) -> Value:
    """Return a value of any kind as a note's block holds it, also what is kept as JSON text."""
    if isinstance(value, str) and _LIST.fullmatch(value):
        return list(_texts(value))
    if isinstance(value, str) and value.startswith("{"):
        value = _loaded(value) or ("" if value.strip() == "{}" else value)
    return value if isinstance(value, (str, dict, list)) else text(value) or None


def _first(row: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((said for name in names if (said := text(_at(row, name))).strip()), "")


def _at(row: Mapping[str, Any], name: str) -> Any:
    """Return the value at a name; a dot leads into an object, also one kept as JSON text."""
    if name in row:
        return row[name]
    head, dot, rest = name.partition(".")
    inner = row.get(head) if dot else None
    if isinstance(inner, str):
        inner = _loaded(inner)
    return _at(fields(inner), rest) if inner else None


def _texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a list, also one kept as JSON text or with commas."""
    if isinstance(value, str) and _LIST.fullmatch(value):
        value = _loaded(value) or value
    if isinstance(value, str):
        return texts_of(value)
    return tuple(said for entry in items(value) if (said := " ".join(text(entry).split())))


def _loaded(written: str) -> Any:
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return None


def _actor(name: str) -> str:
    return name if not name or ":" in name or "/" in name else f"process:{'-'.join(name.split())}"
