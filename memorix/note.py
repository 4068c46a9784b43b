"""A note: what it means, how it is read from a file's bytes and rendered for a new file."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NewType

import frontmatter as library

from memorix.copies import is_copy
from memorix.frontmatter import NoteHandler, cut, marked_line, read_block
from memorix.yamltext import Value

NoteId = NewType("NoteId", str)

RESERVED = frozenset({"index.md", "log.md"})
# OKF section 3.1: never notes, at any level.

MAX_SLUG_BYTES = 80
# File systems allow 255 bytes; a synced or encrypted one far less, and a suffix has to fit.

_WINDOWS_NAMES = frozenset(
    {"con", "prn", "aux", "nul"} | {p + n for p in ("com", "lpt") for n in "0123456789¹²³"}
)
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_GIST_LENGTH, _LOOKED_AT = 200, 1000
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_FENCE = re.compile(
    r"^ {0,3}(?:(`{3,})[^`\n]*$.*?(?:^ {0,3}\1`*[ \t\r]*$|\Z)"
    r"|(~{3,})[^\n]*$.*?(?:^ {0,3}\2~*[ \t\r]*$|\Z))",
    re.MULTILINE | re.DOTALL,
)
_RELATIONS = re.compile(
    r"(?:\A|(?<=\n))# Relations[ \t]*\r?\n(?:[ \t]*\r?\n|- \w+ \[[^\r\n]*\r?(?:\n|\Z))*\Z"
)
_PLAIN_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
_FULL_WIDTH = re.compile("[\u3000\uff01-\uff5e]+")
_WIDE_LEADS = (b"\xe3\x80\x80", b"\xef\xbc", b"\xef\xbd")
# What each of them begins with in UTF-8: bytes are looked through in a tenth of the time.

_SENTENCE = re.compile(r"(?<=[.!?])(?<!\b[ei]\.[ge]\.)(?<!\b(?:cf|vs)\.)\s|(?<=[。！？])")
_LEAD = re.compile(r"^(?:[#>+\s]+|[-*]\s+)+")
_EMPHASIS = re.compile(
    r"(?<![/\w])\*(?=[^\s*])([^*\n]+?)(?<=[^\s/])\*(?![/\w])"
    r"|(?<!/)(\*{2,3})(?=[^\s*])([^*\n]+?)(?<=\S)\2(?!/)"
    r"|(`+)([^`\n]+?)\4"
)
# Pairs only, and no underscores: `register_plugin`, `__init__.py` and `rules/*.yaml` are names.


@dataclass(frozen=True, slots=True)
class Warning:
    """Something odd about a file: a stable code, the line it is on, and a sentence."""

    code: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Note:
    """One memory.

    `path` is relative to the vault, with forward slashes; the concept id of OKF is the path
    without `.md`.  `body` is everything after the metadata block.  `meta` holds every key of the
    block as typed; what few readers ask for is read from it when they do.  A note somebody made by
    hand may have no `id` of its own; its concept id stands in.
    """

    id: NoteId
    path: str
    type: str
    title: str
    body: str
    description: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    status: str = "stable"
    meta: Mapping[str, Value] = field(default_factory=dict)
    warnings: tuple[Warning, ...] = ()

    @property
    def created(self) -> datetime | None:
        return self._moment("created")

    @property
    def changed(self) -> datetime | None:
        """When the text last changed: `generated.at`, or what older notes call it."""
        return parse_time(self._generated("at")) or next(
            (moment for key in ("timestamp", "date") if (moment := self._moment(key))), None
        )

    @property
    def valid_from(self) -> datetime | None:
        return self._moment("valid_from")

    @property
    def valid_to(self) -> datetime | None:
        return self._moment("valid_to")

    @property
    def expires_at(self) -> datetime | None:
        return self._moment("expires_at")

    @property
    def stale_after(self) -> datetime | None:
        return self._moment("stale_after")

    @property
    def superseded_by(self) -> str:
        return _text(self.meta.get("superseded_by"))

    @property
    def supersedes(self) -> tuple[str, ...]:
        return texts_of(self.meta.get("supersedes"))

    @property
    def contested_by(self) -> tuple[str, ...]:
        return texts_of(self.meta.get("contested_by"))

    @property
    def author(self) -> str:
        return self._generated("by")

    @property
    def origin(self) -> str:
        return _text(self.meta.get("origin"))

    @property
    def session(self) -> str:
        """The conversation in which the note was written, where that is known."""
        return _text(self.meta.get("session"))

    @property
    def branch(self) -> str:
        """The branch that was checked out when the text was written, where that is known."""
        return _text(self.meta.get("branch"))

    def _moment(self, key: str) -> datetime | None:
        return parse_time(_text(self.meta.get(key)))

    def _generated(self, key: str) -> str:
        generated = self.meta.get("generated")
        return _text(generated.get(key)) if isinstance(generated, Mapping) else ""

    @property
    def gist(self) -> str:
        """One line that says what the note says: its description, else its first sentence."""
        return self.description or first_sentence(self.body)


def parse(content: bytes, path: str) -> Note:
    """Read a note from a file's bytes; never raises, whatever the bytes are."""
    text, warnings = decode(content)
    parts = cut(text)
    block = read_block(parts.block)
    warnings += [Warning(*problem) for problem in block.problems]
    if not parts.has_block and text.lstrip("\ufeff").startswith("---"):
        warnings.append(Warning("frontmatter-unclosed", 1, "the metadata block is never closed"))
    body = parts.body if block.sound or block.values else parts.block + parts.body
    if "<<<<<<< " in body and (line := marked_line(_FENCE.sub(_lines_of, body))):
        above = text.count("\n", 0, len(text) - len(parts.body))
        said = "git left two versions of these lines; take one out, or see memorix conflicts"
        warnings.append(Warning("conflict-markers", above + line, said))
    if content.strip():
        warnings += _about_content(path, block.values, parts.block, body)
    else:
        warnings.append(Warning("empty-note", 1, "the file is empty"))
    return from_meta(block.values, body, path, tuple(warnings))


def from_meta(
    meta: Mapping[str, Value], body: str, path: str, warnings: tuple[Warning, ...] = ()
) -> Note:
    """Make the note that these keys and this body say; `meta` holds text, as it is typed."""
    get = meta.get
    return Note(
        id=NoteId(_text(get("id")) or concept_id(path)),
        path=path,
        type=" ".join(_text(get("type")).split()) or "Note",
        title=" ".join(_text(get("title")).split()) or _first_heading(body) or title_of(path),
        body=body,
        description=" ".join(_text(get("description")).split()),
        tags=_tags(get("tags")),
        aliases=texts_of(get("aliases")),
        status=_text(get("status")) or "stable",
        meta=meta,
        warnings=warnings,
    )


def _about_content(path: str, meta: Mapping[str, Value], block: str, body: str) -> list[Warning]:
    found = []
    if meta and (not body or body.isspace()):
        found.append(Warning("empty-body", 1, "the note has metadata and no text"))
    entries = meta.get("tags")
    if isinstance(entries, list) and any(not _text(entry) for entry in entries):
        found.append(
            Warning(
                "tag-dropped", line_of(block, "tags"), "an empty entry of the tags was left out"
            )
        )
    if is_copy(path):
        said = "a sync service left this copy of a note: memorix conflicts"
        found.append(Warning("conflict-copy", 1, said))
    return found


def reads_alike(old: str, new: str) -> bool:
    """Say whether one file makes the same note at either path, but for an id made of the path."""
    same_name = old.rpartition("/")[2] == new.rpartition("/")[2]
    return same_name and is_copy(old) == is_copy(new)


def line_of(block: str, key: str) -> int:
    """Return the line of a file on which a key of its block stands; 1 where it stands on none."""
    typed = re.compile(rf"^[\"']?{re.escape(key)}[\"']?[ \t]*:", re.MULTILINE)
    match = typed.search(block)
    return block.count("\n", 0, match.start()) + 2 if match else 1


def render(note: Note) -> bytes:
    """Write a new note's file: metadata first, in a fixed order, then the body."""
    post = library.Post(note.body.rstrip() + "\n")
    post.metadata = dict(note.meta)
    return library.dumps(post, handler=NoteHandler()).encode()


def etag_of(content: bytes) -> str:
    """Return the version mark of a file with this content.

    The prefix names the algorithm, so that another one later is seen as a change of
    algorithm and not of content.
    """
    return "b2-" + hashlib.blake2b(content, digest_size=16).hexdigest()


def decode(content: bytes) -> tuple[str, list[Warning]]:
    """Return a file's text, whatever its encoding, and warnings where it is not plain UTF-8."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in content[:8000] and content[:2] not in _UTF16_MARKS:
            return "", [Warning("binary-content", 1, "the file is not text")]
        if content[:2] in _UTF16_MARKS:
            text = content.decode("utf-16", errors="replace")
        else:
            text = content.decode("cp1252", errors="replace")
        line = content[: error.start].count(b"\n") + 1
        return text.replace("\0", " "), [
            Warning("encoding-not-utf8", line, "the file is not UTF-8 text")
        ]
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        return text.replace("\0", " "), [
            Warning("control-characters", line, "the text holds a NUL character")
        ]
    return text, []


def is_ours(note: Note) -> bool:
    """Say whether Memorix wrote a note: it says so itself, by `generated`."""
    generated = note.meta.get("generated")
    said = generated.values() if isinstance(generated, Mapping) else ()
    return any(isinstance(value, str) and value.startswith("memorix/") for value in said)


def concept_id(path: str) -> str:
    return path.removesuffix(".md")


def title_of(path: str) -> str:
    """Derive a readable title from a file's name (OKF section 4.1)."""
    stem = path.rpartition("/")[2].removesuffix(".md")
    words = stem.replace("-", " ").replace("_", " ").strip()
    return (words[:1].upper() + words[1:]) or stem


def first_sentence(body: str) -> str:
    """Return the first sentence of a body without its markup, at most 200 characters."""
    for line in _without_fences(body).splitlines():
        plain = _unmarked(line[:_LOOKED_AT])
        if plain and not line.lstrip().startswith("#"):
            sentence = _SENTENCE.split(plain, maxsplit=1)[0].strip()
            return cut_short(sentence, _GIST_LENGTH)
    return cut_short(" ".join(body.split()), _GIST_LENGTH)


def _unmarked(line: str) -> str:
    text = _LEAD.sub("", line).strip()
    if "*" not in text and "`" not in text:
        return text
    return _EMPHASIS.sub(lambda found: found[1] or found[3] or found[5], text)


def cut_short(text: str, length: int) -> str:
    """Cut a text at a word to at most `length` characters, with an ellipsis where it was cut."""
    if len(text) <= length:
        return text
    head = text[: length - 1]
    space = head.rfind(" ")
    return (head[:space] if space > length // 2 else head).rstrip() + "…"


def slug(title: str) -> str:
    """Make a portable file name (without `.md`) of a title; never empty, reserved or too long."""
    text = unicodedata.normalize("NFC", title).lower()
    kept = "".join(c if unicodedata.category(c)[0] in "LN" else _joiner(c) for c in text)
    name = re.sub(r"-+", "-", kept).strip("-")
    name = name.encode()[:MAX_SLUG_BYTES].decode(errors="ignore").strip("-")
    if not name or name in _WINDOWS_NAMES or f"{name}.md" in RESERVED:
        name = f"{name}-note".lstrip("-")
    return name


def _joiner(character: str) -> str:
    # A combining mark belongs to the letter before it, everything else parts words.
    return character if unicodedata.category(character)[0] == "M" else "-"


def new_id(now: datetime, entropy: bytes, last: str = "") -> NoteId:
    """Make a ULID (github.com/ulid/spec): 48 bits of milliseconds, 80 bits of chance.

    It sorts after `last`, the id made before it, also where both are of one millisecond.
    """
    number = (int(now.timestamp() * 1000) << 80) | int.from_bytes(entropy[:10])
    before = sum(_CROCKFORD.index(c) << (5 * place) for place, c in enumerate(reversed(last)))
    if before >> 80 == number >> 80:
        number = before + 1
    return NoteId("".join(_CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5)))


def format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> datetime | None:
    """Read an ISO 8601 time; None if it is none.

    A date alone counts from 12:00 UTC, when it has begun everywhere on Earth; a time without an
    offset is the reader's local time (Obsidian writes such).
    """
    if not text:
        return None
    text = text.strip()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) <= len("2026-01-05"):
        return moment.replace(hour=12, tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def tags_from(raw: object) -> tuple[str, ...]:
    """Take tags in any form a model or a person gives them: list, JSON text, `a, b`, one word."""
    if raw is None:
        return ()
    items = raw if isinstance(raw, (list, tuple)) else re.split(r"[,，、\n]", _unlisted(str(raw)))
    cleaned = (_tag(str(item)) for item in items if item is not None)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))


def _unlisted(text: str) -> str:
    stripped = text.strip()
    return stripped[1:-1] if stripped[:1] == "[" and stripped[-1:] == "]" else stripped


def _tag(text: str) -> str:
    bare = text.strip().strip("\"'").lstrip("#").strip()
    return "-".join(bare.lower().split())


def _text(value: Value) -> str:
    return value.strip() if isinstance(value, str) else ""


def texts_of(value: Value) -> tuple[str, ...]:
    """Read a list of texts as people write them: a list, or `a, b` with or without brackets."""
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(item.strip() for item in _unlisted(value).split(",") if item.strip())
    if isinstance(value, (list, tuple)):
        return tuple(text for item in value if (text := _text(item)))
    return ()


def _tags(value: Value) -> tuple[str, ...]:
    """Read tags as typed, without a leading # and without repeats."""
    if value is None:
        return ()
    bare = dict.fromkeys([text.strip("\"' ").lstrip("#").strip() for text in texts_of(value)])
    bare.pop("", None)
    return tuple(bare)


def _first_heading(body: str) -> str:
    match = _HEADING.search(body)
    if match and ("```" in body[: match.start()] or "~~~" in body[: match.start()]):
        match = _HEADING.search(_without_fences(body))
    return match[1].strip() if match else ""


def _lines_of(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _without_fences(body: str) -> str:
    return _FENCE.sub("", body) if "```" in body or "~~~" in body else body


def normalised(text: str) -> str:
    """Return a text without what makes no difference to what it says.

    White space counts only inside fenced code, where indentation may; characters are compared in
    Unicode's composed form, full-width ones as their plain twins, so `８４４３` is `8443` but `10²`
    is not `102`.
    """
    text = unicodedata.normalize("NFC", text)
    if not text.isascii() and any(lead in text.encode("utf-8", "replace") for lead in _WIDE_LEADS):
        text = _FULL_WIDTH.sub(lambda wide: wide[0].translate(_PLAIN_WIDTH), text)
    pieces, start = [], 0
    for fence in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        lines = (line.rstrip() for line in fence[0].strip().splitlines())
        pieces += [" ".join(text[start : fence.start()].split()), "\n".join(lines)]
        start = fence.end()
    return "\n".join(filter(None, [*pieces, " ".join(text[start:].split())]))


def without_relations(body: str) -> str:
    """Return a body without a last section `Relations` that holds nothing but relations: it says
    how a note stands to others, not what it says."""
    match = _RELATIONS.search(body) if "Relations" in body else None
    return body[: match.start()] if match else body


def digest(body: str) -> str:
    """Return the mark by which an exact repeat of a text is known."""
    return etag_of(normalised(without_relations(body)).encode("utf-8", "replace"))
