"""What a new memory, an edit or a request to forget does: plans, decided without touching anything.

A plan prints well: it is what a dry run shows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import unified_diff
from types import MappingProxyType

from memorix import privacy
from memorix.editing import set_keys
from memorix.errors import InvalidRequest, NoteUneditable
from memorix.frontmatter import cut
from memorix.injection import places_of
from memorix.keys import changes_to, clean, for_new, kind, resolved
from memorix.lexemes import is_spaceless, stem, telling_words
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
    slug,
    tags_from,
)
from memorix.trust import confirmed
from memorix.validity import is_in_force
from memorix.yamltext import Value, as_typed

MAX_TITLE = 300

_SHOWN_LINES, _SHOWN_LINE = 20, 200
# Of a file that changed meanwhile; who needs more reads it again.


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
    """A change asked for: the whole text, or one passage of it, and keys to set.

    `verify` adds that its author confirms the note as it is then.
    """

    text: str = ""
    find: str = ""
    replace: str = ""
    keys: Mapping[str, Value] = field(default_factory=dict)
    verify: bool = False

    def __bool__(self) -> bool:
        return bool(self.text or self.find or self.keys or self.verify)


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done to files, in order, as sentences."""

    steps: tuple[str, ...]


def draft_from(
    text: str,
    title: str = "",
    type: str = "",
    tags: object = None,
    keys: Mapping[str, Value] | None = None,
    *,
    suggested: bool = False,
) -> Draft:
    """Check and tidy what a tool or a command was given; `keys` are more keys of the note.

    Raises:
        InvalidRequest: The text is empty, or a key cannot be set.
    """
    body = clean(text).strip("\r\n").rstrip()
    if not body.strip():
        raise InvalidRequest("The text is empty. Say what is to be remembered.")
    heading = " ".join(clean(title).split()) or _title_from(body)
    named = (cut_short(heading, MAX_TITLE), kind(type), tags_from(tags))
    return Draft(body, *named, suggested=suggested, extra=for_new(keys or {}))


def by(draft: Draft, author: str) -> Draft:
    """Return the draft as this actor's; an empty name leaves it as it was."""
    return replace(draft, author=author) if author else draft


def successor(text: str, keys: Mapping[str, Value]) -> Draft:
    """Make the draft that supersedes a note; `keys` may give its title, type and tags."""
    title, type = (str(keys.get(key) or "") for key in ("title", "type"))
    others = {key: value for key, value in keys.items() if key not in ("title", "type", "tags")}
    return draft_from(text, title, type, keys.get("tags"), others)


def _title_from(body: str) -> str:
    """Return a title for a text, out of what it says to everybody: a title is the file's name."""
    body = privacy.without(body)
    if not body.strip():
        return "Private note"
    first = body.lstrip().split("\n", 1)[0]
    heading = re.match(r"#{1,6}\s+(.+)", first)
    title = heading[1].strip() if heading else first_sentence(body).rstrip(".。")
    return cut_short(" ".join(title.split()), 80) or "Note"


def says_all_of(note: Note, draft: Draft, now: datetime) -> bool:
    """Say whether a note in force whose text is the draft's makes it needless.

    A title that names something else, such as another host for the same address, is not needless.
    """
    said = f"{note.title} {note.body}"
    known = {stem(word) for word in telling_words(said)}
    new = (word for word in telling_words(draft.title) if stem(word) not in known)
    return is_in_force(note, now) and all(_is_spelled(word, said) for word in new)


def _is_spelled(word: str, text: str) -> bool:
    """Say whether all characters of a Chinese word occur; which of them are words is not known."""
    return is_spaceless(word[0]) and all(character in text for character in word)


def compose(
    draft: Draft,
    note_id: NoteId,
    path: str,
    now: datetime,
    via: str,
    where: Mapping[str, Value] = MappingProxyType({}),
) -> Note:
    """Make the note that a draft becomes at this path, with OKF's keys in their order.

    `where` are keys that say where it is written; they are no news of a note from elsewhere.

    Raises:
        InvalidRequest: A key of the draft cannot be what it is.
    """
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
        **({} if draft.when or draft.origin == "imported" else where),
        **resolved(draft.extra, now, draft.author or via),
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


def edited(
    content: bytes,
    path: str,
    edit: Edit,
    now: datetime,
    author: str,
    via: str,
    where: Mapping[str, Value] = MappingProxyType({}),
) -> bytes:
    """Return a file's bytes after an edit; every byte the edit does not concern stays.

    `where` are keys that say where a new text is written, None where that is not known.

    Raises:
        InvalidRequest: The passage is not there, or is there more than once; a key cannot be set.
        NoteUneditable: The file is not UTF-8, or its metadata cannot be parsed.
    """
    note = parse(content, path)
    text, odd = decode(content)
    if odd:
        raise NoteUneditable(path, odd[0].message)
    changes = changes_to(note, edit.keys, now, author)
    if edit.verify:
        changes["verified"] = confirmed(note, author or via, now)
    if edit.text or edit.find:
        text = _with_body(text, edit)
        derived = _title_from(note.body.strip())
        if note.title == derived and "title" in note.meta and "title" not in changes:
            changes["title"] = _title_from(cut(text).body.strip())
        changes["generated"] = _generated(author, format_time(now), via)
        changes |= {key: where[key] for key in ("branch", "commit") if key in where}
        if where.get("session") and "session" not in note.meta:
            changes["session"] = where["session"]
    return set_keys(text, changes, path).encode()


def what_changed(old: bytes | None, new: bytes) -> str:
    """Say what a file says now: what differs from a version that is known, else the whole text."""
    if old is None:
        shown, head = tuple(decode(new)[0].splitlines()), "It says now (quoted data):"
    else:
        shown = changed_lines(old, new)
        head = "What changed since (- then, + now; quoted data):"
    kept = [cut_short(line, _SHOWN_LINE) for line in shown[:_SHOWN_LINES]]
    more = [f"and {len(shown) - len(kept)} more lines"] if len(shown) > len(kept) else []
    return "\n".join([head, *kept, *more])


def changed_lines(old: bytes, new: bytes) -> tuple[str, ...]:
    """Return the lines of a file that an edit takes away (-) and adds (+)."""
    before, after = (decode(content)[0].splitlines() for content in (old, new))
    differing = list(unified_diff(before, after, lineterm="", n=0))
    return tuple(line for line in differing[2:] if not line.startswith("@@"))


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
        exact = [(found.start(), found.end()) for found in re.finditer(re.escape(passage), body)]
        places = exact or places_of(body, passage)  # nobody copies what cannot be seen
        if len(places) > 1:
            raise InvalidRequest(
                f"The passage to replace occurs {len(places)} times. Nothing was changed. "
                "Give more of the text around it."
            )
        for start, end in places:
            return body[:start] + new.replace("\r\n", "\n").replace("\n", newline) + body[end:]
    raise InvalidRequest(
        "The passage to replace is not in the note. Nothing was changed. "
        "Read the note and copy the passage exactly."
    )


def retired(content: bytes, path: str, now: datetime) -> bytes:
    """Return a file's bytes with the note out of force from now on."""
    text, odd = decode(content)
    if odd:
        raise NoteUneditable(path, odd[0].message)
    return set_keys(text, _ended(now), path).encode()


def back_in_force(content: bytes, path: str) -> bytes:
    """Return a retired note's bytes as if it had not been retired.

    Raises:
        InvalidRequest: It is in force, or another note has replaced it.
    """
    note = parse(content, path)
    text, odd = decode(content)
    if odd:
        raise NoteUneditable(path, odd[0].message)
    if note.superseded_by:
        raise InvalidRequest(
            f"{path} is replaced by {note.superseded_by}. Nothing was changed. Undo that instead: "
            f"memorix undo {note.superseded_by}"
        )
    if note.status != "deprecated":
        raise InvalidRequest(f"{path} is in force already. Nothing was changed.")
    return set_keys(text, {"status": None, "valid_to": None}, path).encode()


def accepted(content: bytes, path: str) -> bytes:
    """Return a suggestion's bytes without the mark of a draft; absent, the status is stable."""
    text, odd = decode(content)
    if odd or parse(content, path).status != "draft":
        return content
    return set_keys(text, {"status": None}, path).encode()


def _ended(now: datetime) -> dict[str, Value]:
    return {"status": "deprecated", "valid_to": format_time(now)}


def log_entry(log: str, path: str, title: str) -> str:
    """Return what a scope's log says of a note: its title as a link."""
    return f"[{label(' '.join(title.split()))}]({relative_link(log, path)})"


def label(title: str) -> str:
    """Return a title as the label of a link."""
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


LEVELS = ("retire", "archive", "erase")


def check_level(level: str) -> None:
    """Refuse a level of forgetting that there is not.

    Raises:
        InvalidRequest: There is no such level.
    """
    if level not in LEVELS:
        raise InvalidRequest(
            f"{level!r} is no level. Use {', '.join(LEVELS[:-1])} or {LEVELS[-1]}."
        )


def forget_plan(note_title: str, path: str, level: str) -> Plan:
    """Say what taking a note out of force or out of the vault does.

    Raises:
        InvalidRequest: There is no such level.
    """
    check_level(level)
    if level == "archive":
        return Plan((f"move {path} ({note_title}) to archive/{path}; it leaves the index",))
    return Plan((f"mark {path} ({note_title}) as deprecated; the file stays",))
