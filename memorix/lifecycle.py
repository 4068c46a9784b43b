"""What a new memory, an edit or a request to forget does: plans, decided without touching anything.

A plan prints well: it is what a dry run shows.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from memorix.editing import set_keys
from memorix.errors import InvalidRequest, NoteUneditable
from memorix.frontmatter import cut
from memorix.links import rebased, relative_link
from memorix.note import (
    Note,
    NoteId,
    cut_short,
    decode,
    first_sentence,
    format_time,
    from_meta,
    parse,
    parse_time,
    slug,
    tags_from,
)
from memorix.yamltext import Value, as_typed

MAX_TEXT = 1_000_000
# Characters; a note beyond it is a document to link to, not a memory.

MAX_TITLE = 300

FIXED_KEYS = frozenset({"id", "created", "generated"})
# What a note keeps for life, or what only the program may say.

_TIME_KEYS = frozenset({"valid_from", "valid_to", "expires_at", "stale_after"})
_LIST_KEYS = frozenset({"tags", "aliases", "supersedes", "code_refs", "applies_when"})
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory as somebody hands it in, before it has a place or an id.

    `suggested` is one that waits in the inbox until a person accepts it.
    """

    text: str
    title: str = ""
    type: str = "Fact"
    tags: tuple[str, ...] = ()
    author: str = ""
    origin: str = "stated"
    when: datetime | None = None
    extra: Mapping[str, Value] = field(default_factory=dict)
    suggested: bool = False


@dataclass(frozen=True, slots=True)
class Edit:
    """A change asked for: the whole text, or one passage of it, and keys to set."""

    text: str = ""
    find: str = ""
    replace: str = ""
    keys: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done to files, in order, as sentences."""

    steps: tuple[str, ...]


def draft_from(
    text: str, title: str = "", type: str = "", tags: object = None, *, suggested: bool = False
) -> Draft:
    """Check and tidy what a tool or a command was given.

    Raises:
        InvalidRequest: The text is empty or beyond `MAX_TEXT`.
    """
    body = clean(text).strip("\r\n").rstrip()
    if not body.strip():
        raise InvalidRequest("The text is empty. Say what is to be remembered.")
    if len(body) > MAX_TEXT:
        raise InvalidRequest(
            f"The text has {len(body):,} characters, more than {MAX_TEXT:,}. "
            "Keep the document elsewhere and remember what matters of it."
        )
    heading = " ".join(clean(title).split()) or _title_from(body)
    named = cut_short(heading, MAX_TITLE)
    return Draft(body, named, kind(type), tags_from(tags), suggested=suggested)


def by(draft: Draft, author: str) -> Draft:
    """Return the draft as this actor's; an empty name leaves it as it was."""
    return replace(draft, author=author) if author else draft


def successor(text: str, keys: Mapping[str, Value]) -> Draft:
    """Make the draft that supersedes a note; `keys` may give its title, type and tags."""
    named = {key: str(keys.get(key) or "") for key in ("title", "type")}
    draft = draft_from(text, named["title"], named["type"], keys.get("tags"))
    extra = {k: _normal(k, v) for k, v in keys.items() if k not in ("title", "type", "tags")}
    return replace(draft, type=kind(named["type"]), extra=extra)


def clean(text: str) -> str:
    """Take out what no file or database should hold: NUL, control characters, lone surrogates."""
    return _CONTROL.sub(" ", _SURROGATE.sub("\ufffd", text.replace("\0", " ")))


def kind(type: str) -> str:
    """Return a type as we write it: `decision` and `DECISION` are `Decision`."""
    name = " ".join(clean(type).split())
    return name[:1].upper() + (name[1:].lower() if name.isupper() or name.islower() else name[1:])


def _title_from(body: str) -> str:
    first = body.lstrip().split("\n", 1)[0]
    heading = re.match(r"#{1,6}\s+(.+)", first)
    title = heading[1].strip() if heading else first_sentence(body).rstrip(".。")
    return cut_short(" ".join(title.split()), 80) or "Note"


def compose(draft: Draft, note_id: NoteId, path: str, now: datetime, via: str) -> Note:
    """Make the note that a draft becomes at this path, with OKF's keys in their order."""
    moment = format_time(draft.when or now)
    meta: dict[str, Value] = {
        "type": draft.type or "Fact",
        "title": draft.title,
        "id": str(note_id),
        "tags": list(draft.tags),
        "created": moment,
        "generated": _generated(draft.author, moment, via),
        "origin": draft.origin,
        "status": "draft" if draft.suggested else "",
        **draft.extra,
    }
    stated = {key: value for key, value in meta.items() if value not in (None, "", (), [])}
    read_back = from_meta(as_typed(stated), draft.text.rstrip() + "\n", path)
    return replace(read_back, meta=stated)


def _generated(author: str, moment: str, via: str) -> Mapping[str, Value]:
    """Say who wrote and when (OKF section 5.2), and through what where that is another."""
    by = author or via
    return {"by": by, "at": moment, "via": via} if by != via else {"by": by, "at": moment}


def stem_for(draft: Draft) -> str:
    return slug(draft.title)


def edited(content: bytes, path: str, edit: Edit, now: datetime, author: str, via: str) -> bytes:
    """Return a file's bytes after an edit; every byte the edit does not concern stays.

    Raises:
        InvalidRequest: The passage is not there, or is there more than once; a key is fixed.
        NoteUneditable: The file is not UTF-8, or its metadata cannot be parsed.
    """
    note = parse(content, path)
    text, odd = decode(content)
    if odd:
        raise NoteUneditable(path, odd[0].message)
    changes = dict(_checked(edit.keys, note))
    if "human:" in str(edit.keys.get("verified")) and not author.startswith("human:"):
        raise InvalidRequest(
            "Only a person can confirm as a person. Nothing was changed. "
            "Ask the user to edit the note, or confirm it under your own name."
        )
    if edit.text or edit.find:
        text = _with_body(text, edit)
        derived = _title_from(note.body.strip())
        if note.title == derived and "title" in note.meta and "title" not in changes:
            changes["title"] = _title_from(cut(text).body.strip())
        changes["generated"] = _generated(author, format_time(now), via)
    return set_keys(text, changes, path).encode()


def _with_body(text: str, edit: Edit) -> str:
    parts = cut(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    if edit.text:
        lead = parts.body[: len(parts.body) - len(parts.body.lstrip("\r\n"))]
        body = clean(edit.text).strip("\r\n").rstrip() + "\n"
        new = (lead or newline) + body.replace("\r\n", "\n").replace("\n", newline)
    else:
        new = _replaced(parts.body, edit.find, clean(edit.replace), newline)
    return replace(parts, body=new).joined()


def _replaced(body: str, find: str, new: str, newline: str) -> str:
    for passage in dict.fromkeys([find, find.replace("\r\n", "\n").replace("\n", newline)]):
        count = body.count(passage)
        if count == 1:
            return body.replace(passage, new.replace("\r\n", "\n").replace("\n", newline))
        if count > 1:
            raise InvalidRequest(
                f"The passage to replace occurs {count} times. Nothing was changed. "
                "Give more of the text around it."
            )
    raise InvalidRequest(
        "The passage to replace is not in the note. Nothing was changed. "
        "Read the note and copy the passage exactly."
    )


def keys_from(raw: object) -> dict[str, Value]:
    """Take keys to set in any form: a mapping, JSON text, or lines `key: value`.

    Raises:
        InvalidRequest: It is none of these.
    """
    if not raw:
        return {}
    if isinstance(raw, str):
        raw = _parsed_keys(raw)
    if not isinstance(raw, Mapping):
        raise InvalidRequest('`set` takes keys and values, such as {"importance": 4}.')
    return {str(key): _as_value(value) for key, value in raw.items()}


def _parsed_keys(text: str) -> object:
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


def _checked(keys: Mapping[str, Value], note: Note) -> Mapping[str, Value]:
    fixed = sorted(FIXED_KEYS & keys.keys())
    if fixed:
        raise InvalidRequest(f"The key {fixed[0]} cannot be set. Nothing was changed.")
    changes: dict[str, Value] = {}
    for key, value in keys.items():
        changes[key] = _normal(key, value)
    if isinstance(changes.get("tags"), list):
        changes["tags"] = _as_they_were(changes["tags"], note)
    if changes.get("title") and changes["title"] != note.title:
        kept = [alias for alias in note.aliases if alias != changes["title"]]
        changes.setdefault("aliases", [*kept, note.title])
    return changes


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
    if key in _LIST_KEYS and isinstance(value, str):
        return [item.strip() for item in value.strip("[]").split(",") if item.strip()]
    if key in _TIME_KEYS:
        moment = parse_time(str(value))
        if moment is None:
            raise InvalidRequest(f"{key} takes a date or time such as 2026-10-02T08:00:00Z.")
        return format_time(moment)
    return value


def superseding(draft: Draft, old: Note, new_path: str) -> Draft:
    """Return the draft that takes the place of an old note: it names it, by id and by link."""
    link = f"- supersedes [{_label(old.title)}]({relative_link(new_path, old.path)})"
    return replace(
        draft,
        text=_with_relation(draft.text, link),
        extra={**draft.extra, "supersedes": [str(old.id)]},
    )


def superseded(content: bytes, old: Note, new: Note, now: datetime) -> bytes:
    """Return the old file's bytes, marked as replaced: by id, by link and by its end in time."""
    text, odd = decode(content)
    if odd:
        raise NoteUneditable(old.path, odd[0].message)
    link = f"- superseded_by [{_label(new.title)}]({relative_link(old.path, new.path)})"
    newline = "\r\n" if "\r\n" in text else "\n"
    marked = _with_relation(text.rstrip("\r\n"), link, newline) + newline
    return set_keys(marked, _ended(now) | {"superseded_by": str(new.id)}, old.path).encode()


def retired(content: bytes, path: str, now: datetime) -> bytes:
    """Return a file's bytes with the note out of force from now on."""
    text, odd = decode(content)
    if odd:
        raise NoteUneditable(path, odd[0].message)
    return set_keys(text, _ended(now), path).encode()


def accepted(content: bytes, path: str) -> bytes:
    """Return a suggestion's bytes without the mark of a draft; absent, the status is stable."""
    text, odd = decode(content)
    if odd or parse(content, path).status != "draft":
        return content
    return set_keys(text, {"status": None}, path).encode()


def _ended(now: datetime) -> dict[str, Value]:
    return {"status": "deprecated", "valid_to": format_time(now)}


def _with_relation(text: str, link: str, newline: str = "\n") -> str:
    head = "" if re.search(r"^# Relations[ \t]*\r?$", text, re.MULTILINE) else "# Relations"
    between = f"{newline}{newline}{head}{newline}{newline}" if head else newline
    return text + between + link


def log_entry(log: str, path: str, title: str) -> str:
    """Return what a scope's log says of a note: its title as a link."""
    return f"[{_label(' '.join(title.split()))}]({relative_link(log, path)})"


def _label(title: str) -> str:
    return re.sub(r"([\\\[\]])", r"\\\1", title)


def rebased_note(content: bytes, old: str, new: str, along: str = "") -> bytes:
    """Return a moved note's bytes with its relative links leading where they led before.

    Those into the folder `along` stay as they are.
    """
    text, odd = decode(content)
    if odd:
        return content
    parts = cut(text)
    return replace(parts, body=rebased(parts.body, old, new, "", along)).joined().encode()


TIERS = ("unverified", "machine-confirmed", "human-reviewed")


def trust_tier(note: Note) -> str:
    """Return how far a note was checked, from its `verified` events alone (OKF section 5.3)."""
    actors = [str(event["by"]) for event in _confirmations(note)]
    if not actors:
        return TIERS[0]
    return TIERS[2] if any(actor.startswith("human:") for actor in actors) else TIERS[1]


def flags(note: Note, now: datetime) -> tuple[str, ...]:
    """Return what a reader should know before relying on a note: `stale`, `changed since`."""
    stale = ("stale",) if is_stale(note, now) else ()
    return (*stale, "changed since") if is_outdated_check(note) else stale


def is_outdated_check(note: Note) -> bool:
    """Say whether the text was changed after the last time somebody confirmed it."""
    moments = [parse_time(str(event.get("at") or "")) for event in _confirmations(note)]
    known = [moment for moment in moments if moment]
    return bool(known and note.changed and max(known) < note.changed)


def _confirmations(note: Note) -> list[Mapping[str, Value]]:
    events = note.meta.get("verified")
    listed = events if isinstance(events, list) else [events]
    return [event for event in listed if isinstance(event, Mapping) and event.get("by")]


def is_stale(note: Note, now: datetime) -> bool:
    """Say whether the day has come at which a note is to be looked at again (OKF section 5.5)."""
    due = note.meta.get("stale_after")
    moment = parse_time(due) if isinstance(due, str) else None
    return moment is not None and moment <= now


def forget_plan(note_title: str, path: str, level: str) -> Plan:
    """Say what forgetting a note at a level does.

    Raises:
        InvalidRequest: There is no such level.
    """
    match level:
        case "retire":
            steps = [f"mark {path} ({note_title}) as deprecated; the file stays"]
        case "archive":
            steps = [f"move {path} ({note_title}) to archive/{path}; it leaves the index"]
        case "erase":
            steps = [
                f"remove the file {path} ({note_title}) for good",
                "remove its words, vectors and counters from the index, free pages included",
            ]
        case _:
            raise InvalidRequest(f"{level!r} is no level. Use retire, archive or erase.")
    return Plan(tuple(steps))
