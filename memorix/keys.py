"""Keys of a note as a person or a tool sets them: read in any form, checked, written one way."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from memorix.errors import InvalidRequest
from memorix.note import Note, cut_short, format_time, parse_time, tags_from, texts_of
from memorix.validity import moment_from, parse_span
from memorix.yamltext import Value

FIXED = frozenset({"id", "created", "generated"})
# What a note keeps for life, or what only the program may say.

_TIMES = frozenset({"valid_from", "valid_to", "expires_at", "stale_after"})
_DUE = frozenset({"expires_at", "stale_after"})
# These may be given as a length of time from now on.

_LISTS = frozenset(
    {"tags", "aliases", "supersedes", "contested_by", "code_refs", "applies_when", "sources"}
)
_LIST_EDIT = re.compile(r"(.*[^+-])([+-])", re.DOTALL)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def clean(text: str) -> str:
    """Take out what no file or database should hold: NUL, control characters, lone surrogates."""
    return _CONTROL.sub(" ", _SURROGATE.sub("\ufffd", text.replace("\0", " ")))


def kind(type: str) -> str:
    """Return a type as we write it: `decision` and `DECISION` are `Decision`."""
    name = " ".join(clean(type).split())
    return name[:1].upper() + (name[1:].lower() if name.isupper() or name.islower() else name[1:])


def keys_from(raw: object) -> dict[str, Value]:
    """Take keys to set in any form: a mapping, JSON text, or lines `key: value`.

    Raises:
        InvalidRequest: It is none of these.
    """
    if not raw:
        return {}
    if isinstance(raw, str):
        raw = _parsed(raw)
    if not isinstance(raw, Mapping):
        raise InvalidRequest('`set` takes keys and values, such as {"importance": 4}.')
    return {str(key): _as_value(value) for key, value in raw.items()}


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        pairs = [line.partition(":") for line in text.splitlines() if line.strip()]
        return {k.strip(): v.strip() for k, _, v in pairs} if all(p[1] for p in pairs) else None


def _as_value(value: object) -> Value:
    if isinstance(value, Mapping):
        return {str(key): _as_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_value(item) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else clean(str(value))


def for_new(keys: Mapping[str, Value]) -> dict[str, Value]:
    """Return the keys of a note to be written, checked; lengths of time are resolved later.

    Raises:
        InvalidRequest: A key cannot be set, or does not take this value.
    """
    plain = {_LIST_EDIT.sub(r"\1", key): value for key, value in keys.items()}
    return {key: value for key, value in _checked(plain).items() if value is not None}


def resolved(keys: Mapping[str, Value], now: datetime, author: str) -> dict[str, Value]:
    """Return checked keys with lengths of time as moments from now on.

    Raises:
        InvalidRequest: An agent confirms as a person, or a note would end before it begins.
    """
    if "human:" in str(keys.get("verified")) and not author.startswith("human:"):
        raise InvalidRequest(
            "Only a person can confirm as a person. Nothing was changed. "
            "Ask the user to run `memorix verify`, or confirm it under your own name."
        )
    changes = dict(keys)
    for key in _DUE & keys.keys():
        moment = moment_from(str(keys[key]), now) if keys[key] else None
        changes[key] = format_time(moment) if moment else None
    _refuse_backwards(changes.get("valid_from"), changes.get("valid_to"))
    return changes


def changes_to(
    note: Note, keys: Mapping[str, Value], now: datetime, author: str
) -> dict[str, Value]:
    """Return what setting these keys changes in a note; None takes a key away.

    `tags+` adds to the list `tags`, `tags-` takes from it.  A new title keeps the old one among
    the aliases, so that links by it still lead here.

    Raises:
        InvalidRequest: A key cannot be set, or does not take this value.
    """
    whole = {key: value for key, value in keys.items() if not _LIST_EDIT.fullmatch(key)}
    changes = resolved(_checked(whole), now, author)
    if isinstance(changes.get("tags"), list):
        changes["tags"] = _as_they_were(changes["tags"], note)
    for key, value in keys.items():
        edit = _LIST_EDIT.fullmatch(key)
        if edit:
            name, before = edit[1], changes.get(edit[1], note.meta.get(edit[1]))
            changes |= resolved({name: _edited(name, before, edit[2], value)}, now, author)
    title = changes.get("title")
    if title and title != note.title:
        kept = [alias for alias in note.aliases if alias != title]
        changes.setdefault("aliases", [*kept, note.title])
    _refuse_backwards(
        changes.get("valid_from", note.meta.get("valid_from")),
        changes.get("valid_to", note.meta.get("valid_to")),
    )
    return changes


def _edited(key: str, before: Value, sign: str, value: Value) -> Value:
    """Return a list with items added to it, or taken from it; those that stay are as typed."""
    _refuse_fixed([key])
    old = list(before) if isinstance(before, list) else list(_items(before))
    given = _normal(key, value)
    wanted = list(given) if isinstance(given, list) else list(_items(given))
    marks = {mark_of(key, item) for item in wanted}
    if sign == "-":
        return [item for item in old if not marks & {mark_of(key, item), _name(item)}] or None
    known = {mark_of(key, item) for item in old}
    return [*old, *(item for item in wanted if mark_of(key, item) not in known)] or None


def _items(value: Value) -> Sequence[Value]:
    return [value] if isinstance(value, Mapping) else texts_of(value)


def mark_of(key: str, item: Value) -> str:
    """Return what is the same for two spellings of one item of the list under a key."""
    if key == "tags" and isinstance(item, str):
        return next(iter(tags_from([item])), "")
    return item if isinstance(item, str) else json.dumps(item, sort_keys=True)


def _name(item: Value) -> str:
    """Return what a source is called by."""
    return str(item.get("id") or item.get("resource") or "") if isinstance(item, Mapping) else ""


def _checked(keys: Mapping[str, Value]) -> dict[str, Value]:
    _refuse_fixed(keys)
    known = {key: _normal(key, value) for key, value in keys.items() if key != "ttl"}
    if "ttl" in keys:
        known["expires_at"] = _span("ttl", keys["ttl"])
    return known


def _refuse_fixed(keys: Mapping[str, Value] | Sequence[str]) -> None:
    fixed = sorted(FIXED.intersection(keys))
    if fixed:
        raise InvalidRequest(f"The key {fixed[0]} cannot be set. Nothing was changed.")


def _refuse_backwards(start: Value, end: Value) -> None:
    begins, ends = (parse_time(str(moment or "")) for moment in (start, end))
    if begins and ends and ends < begins:
        raise InvalidRequest(
            f"valid_to ({end}) lies before valid_from ({start}). Nothing was changed. "
            "Give both in their order."
        )


def _as_they_were(tags: Value, note: Note) -> list[str]:
    """Return tags with those that the note has already as its writer typed them."""
    listed = note.meta.get("tags")
    typed = [tag for tag in listed if isinstance(tag, str)] if isinstance(listed, list) else []
    by_form = {form: tag for tag in typed for form in tags_from([tag])}
    return [by_form.get(tag, tag) for tag in tags_from(tags)]


def _normal(key: str, value: Value) -> Value:
    if not key or key != key.strip() or "\n" in key:
        raise InvalidRequest(f"{key!r} cannot be a key.")
    if value in (None, "", []):
        return None
    if key == "type":
        return kind(str(value))
    if key == "tags":
        return list(tags_from(value))
    if key in _LISTS and isinstance(value, str):
        return list(texts_of(value))
    return _time(key, str(value)) if key in _TIMES else value


def _time(key: str, text: str) -> str:
    moment = parse_time(text)
    if moment is not None:
        return format_time(moment)
    if key in _DUE:
        return _span(key, text) or ""
    raise InvalidRequest(f"{key} takes a date or time such as 2026-10-02T08:00:00Z.")


def _span(key: str, value: Value) -> str | None:
    """Return a length of time as it was given, to be resolved when the note is written."""
    text = str(value or "").strip()
    if text and parse_span(text) is None:
        raise InvalidRequest(
            f"{key} takes a length of time such as 30d, 12h, 2 weeks, P1M or 30天"
            f"{' or a date' if key in _DUE else ''}, not {cut_short(text, 40)!r}."
        )
    return text or None
