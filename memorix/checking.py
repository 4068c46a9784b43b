"""Judge a bundle of notes: is it conformant OKF, is it clean, and how could it be mended.

All findings name a rule of `spec/okf-format.md`.  Two verdicts: *conformant* is what OKF itself
asks for (section 11, rules 1 to 3); *clean* means that nothing else was found either.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memorix import reserved, screening
from memorix.editing import mended, replace_scalars, set_keys
from memorix.frontmatter import Block, cut, read_block
from memorix.kinds import INSTRUCTION, SECRET
from memorix.links import Link, is_outside, links, name_key, note_path
from memorix.note import RESERVED, Note, decode, line_of, parse, parse_time, tags_from
from memorix.prose import without_code
from memorix.yamltext import Value

ERROR, WARNING = "error", "warning"

STATUSES = frozenset({"draft", "stable", "deprecated"})
TIME_KEYS = ("stale_after", "timestamp", "created", "valid_from", "valid_to", "expires_at")
_TIMED = frozenset(
    {
        ("generated", "at"),
        ("verified", "at"),
        ("sources", "last_modified"),
        ("usage_window", "from"),
        ("usage_window", "to"),
    }
)
PATH_KEYS = ("resource", "computation")

_RULE_OF = {
    "encoding-not-utf8": ("OKF-4", ERROR),
    "binary-content": ("OKF-4", ERROR),
    "control-characters": ("OKF-4", WARNING),
    "empty-note": ("OKF-5", ERROR),
    "frontmatter-unclosed": ("OKF-5", ERROR),
    "frontmatter-invalid": ("OKF-6", ERROR),
    "frontmatter-not-mapping": ("OKF-6", ERROR),
    "frontmatter-too-complex": ("OKF-6", ERROR),
    "frontmatter-duplicate-key": ("OKF-6", WARNING),
    "tag-dropped": ("OKF-13", WARNING),
    "conflict-copy": ("MEM-24", WARNING),
    "conflict-markers": ("MEM-44", ERROR),
    SECRET: ("MEM-38", WARNING),
    INSTRUCTION: ("MEM-40", WARNING),
}  # what the reader warns of, as rules; the rest of its codes is no fault of the format

_ACTOR = re.compile(r"human:\S+|[a-z][\w.-]*:\S+|[^\s:/]+/\S+")
_ALMOST_HUMAN = re.compile(r"(?i:human|user|person):")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_OFFSET = re.compile(r"(?:Z|[+-]\d{2}:?\d{2})\Z", re.IGNORECASE)
_CITED = re.compile(r"\[\^([^\]\s]+)\](?!:)")
_DEFINED = re.compile(r"^\[\^([^\]\s]+)\]:", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something a rule says about one line of a file; `line` counts from 1 in the file."""

    path: str
    line: int
    rule: str
    severity: str
    message: str


@dataclass(frozen=True)
class Report:
    """What a check of a bundle found; `notes` is how many concepts it holds."""

    notes: int
    findings: tuple[Finding, ...]

    @cached_property
    def conformant(self) -> bool:
        return not any(finding.severity == ERROR for finding in self.findings)

    @property
    def clean(self) -> bool:
        return not self.findings


def check(files: Mapping[str, bytes], others: Iterable[str] = ()) -> Report:
    """Check a bundle: its Markdown files by path, and the paths of its other files and folders."""
    found: list[Finding] = []
    notes = {path: parse(files[path], path) for path in sorted(files) if is_concept(path)}
    known = frozenset(files) | frozenset(others)
    names = _Names(notes.values())
    for path, content in sorted(files.items()):
        if path in notes:
            found += _about_note(notes[path], content, known, names)
        else:
            found += _about_reserved(path, content)
    found += _about_doubles(notes.values())
    return Report(len(notes), tuple(sorted(found)))


def is_concept(path: str) -> bool:
    return path.endswith(".md") and path.rpartition("/")[2] not in RESERVED


def repairs(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Propose the fewest bytes that make single notes conformant and clean; nothing is written.

    Values that break the YAML are quoted, a missing block or type is added, tags become a list,
    dates get a time and an offset.
    """
    proposed: dict[str, bytes] = {}
    for path, content in files.items():
        new = repaired(path, content) if is_concept(path) else content
        if new != content:
            proposed[path] = new
    return proposed


def with_sound_block(content: bytes) -> bytes:
    """Return a file with quotes around the values that break its YAML, if that mends it."""
    text, odd = decode(content)
    parts = cut(text)
    if odd or not parts.has_block or read_block(parts.block).sound:
        return content
    block = mended(parts.block)
    return content if block is None else replace(parts, block=block).joined().encode()


# -- one note


def _about_note(
    note: Note, content: bytes, known: frozenset[str], names: "_Names"
) -> Iterator[Finding]:
    text = decode(content)[0]
    parts = cut(text)
    block = read_block(parts.block)
    page = _Page(note, parts.block, text.count("\n", 0, len(text) - len(parts.body)))
    for warning in (*note.warnings, *screening.warnings(text, screening.findings(text))):
        if warning.code in _RULE_OF:
            rule, severity = _RULE_OF[warning.code]
            yield Finding(note.path, warning.line, rule, severity, warning.message)
    if not parts.has_block:
        if not {w.code for w in note.warnings} & {"empty-note", "frontmatter-unclosed"}:
            yield page.finding("OKF-5", "there is no metadata block on the first line", ERROR)
        return
    if block.sound or block.problems[0][0] == "frontmatter-duplicate-key":
        yield from _about_keys(page, block)
        yield from _about_paths(page, block.values, known)
    yield from _about_links(page, note.body, known, names)
    yield from _about_footnotes(page, block.values.get("sources"))


@dataclass(frozen=True, slots=True)
class _Page:
    """A note while it is checked: where its keys and its body lie in the file."""

    note: Note
    block: str
    lines_above_body: int

    def finding(
        self, rule: str, message: str, severity: str = WARNING, *, key: str = "", line: int = 0
    ) -> Finding:
        at = line_of(self.block, key) if key else self.lines_above_body + line if line else 1
        return Finding(self.note.path, at, rule, severity, message)


def _about_keys(page: _Page, block: Block) -> Iterator[Finding]:
    meta = block.values
    yield from _about_type(page, meta.get("type"))
    tags = meta.get("tags")
    if tags and not isinstance(tags, list):
        yield page.finding("OKF-13", "tags is not a list", key="tags")
    status = meta.get("status")
    if status and status not in STATUSES:
        yield page.finding("OKF-24", f"the status {status!r} is not one of OKF's", key="status")
    for key, moment in _times(meta):
        if reason := _trouble_with(moment):
            yield page.finding("OKF-15", f"{key}: {reason}", key=key.partition(".")[0])
    if "timestamp" in meta and "generated" not in meta:
        yield page.finding("OKF-36", "timestamp is of OKF 0.1; now generated.at", key="timestamp")
    yield from _about_trust(page, meta)


def _about_type(page: _Page, value: Value) -> Iterator[Finding]:
    if value is None or (isinstance(value, str) and not value.strip()):
        yield page.finding("OKF-7", "there is no type", ERROR, key="type")
    elif not isinstance(value, str):
        yield page.finding("OKF-7", "the type is not a word", ERROR, key="type")
    elif not any(character.isalpha() for character in value):
        yield page.finding("OKF-7", f"the type {value!r} is a number", key="type")


def _times(meta: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    """Yield each time a note states, with the key it stands under."""
    yield from ((key, meta[key]) for key in TIME_KEYS if meta.get(key))
    for key in ("generated", "verified"):
        yield from ((f"{key}.at", event["at"]) for event in _events(meta.get(key)) if "at" in event)
    for source in _events(meta.get("sources")):
        if source.get("last_modified"):
            yield "sources.last_modified", source["last_modified"]
    window = meta.get("usage_window")
    if isinstance(window, Mapping):
        yield from ((f"usage_window.{key}", window[key]) for key in ("from", "to") if key in window)


def _trouble_with(moment: Value) -> str:
    if not isinstance(moment, str) or parse_time(moment) is None:
        return f"{str(moment)[:40]!r} is not a time"
    if _DATE.fullmatch(moment.strip()):
        return f"{moment} is a date without a time; it counts from 12:00 UTC"
    return "" if _OFFSET.search(moment.strip()) else f"{moment} has no offset from UTC"


def _about_trust(page: _Page, meta: Mapping[str, Value]) -> Iterator[Finding]:
    generated = meta.get("generated")
    if generated is not None and not (isinstance(generated, Mapping) and generated.get("by")):
        yield page.finding("OKF-20", "generated does not say by whom", key="generated")
    yield from _about_entries(page, meta, "verified", "by", "OKF-21", (list, Mapping))
    yield from _about_entries(page, meta, "sources", "resource", "OKF-16", (list,))
    for key in ("generated", "verified"):
        for actor in (event.get("by") for event in _events(meta.get(key))):
            if actor and not _is_actor(actor):
                yield page.finding("OKF-20", f"{actor!r} is not the form of an actor", key=key)


def _about_entries(
    page: _Page,
    meta: Mapping[str, Value],
    key: str,
    needed: str,
    rule: str,
    forms: tuple[type, ...],
) -> Iterator[Finding]:
    value = meta.get(key)
    if value is None:
        return
    if not isinstance(value, forms):
        yield page.finding(rule, f"{key} is not a list of entries", key=key)
    elif any(not entry.get(needed) for entry in _events(value)):
        yield page.finding(rule, f"an entry of {key} has no {needed}", key=key)


def _is_actor(actor: Value) -> bool:
    if not isinstance(actor, str) or not _ACTOR.fullmatch(actor):
        return False
    return actor.startswith("human:") or not _ALMOST_HUMAN.match(actor)


def _events(value: Value) -> Sequence[Mapping[str, Value]]:
    """Return a list of mappings as it is, a bare mapping as one (OKF section 5.2)."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, Mapping)]


def _about_paths(
    page: _Page, meta: Mapping[str, Value], known: frozenset[str]
) -> Iterator[Finding]:
    for key, path in _stated_paths(meta):
        if not path.startswith(("/", "./", "../")) or is_outside(path):
            continue  # ruling A5: anything else may be a description of a scope
        target = note_path(page.note.path, path, "")
        if not _is_there(target, known):
            yield page.finding("OKF-18", f"{key}: there is no {path}", key=key.partition(".")[0])


def _stated_paths(meta: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    for key in PATH_KEYS:
        value = meta.get(key)
        yield from ((key, value),) if isinstance(value, str) else ()
    for key in ("executor", "attester", "sources"):
        for entry in _events(meta.get(key)):
            value = entry.get("resource")
            yield from ((f"{key}.resource", value),) if isinstance(value, str) else ()


# -- links


class _Names:
    """What wikilinks may call the notes of a bundle: file name, path, title, alias."""

    def __init__(self, notes: Iterable[Note]) -> None:
        self._by_name: dict[str, set[str]] = defaultdict(set)
        for note in notes:
            for name in (*_suffixes(note.path), note.title, *note.aliases):
                self._by_name[name_key(name)].add(note.path)

    def paths(self, name: str) -> frozenset[str]:
        return frozenset(self._by_name.get(name_key(name.strip("/")), ()))


def _suffixes(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[start:]) for start in range(len(parts)))


def _about_links(page: _Page, body: str, known: frozenset[str], names: _Names) -> Iterator[Finding]:
    for link in links(body):
        if not link.target or is_outside(link.target):
            continue
        message = _trouble_with_link(page.note.path, link, known, names)
        if message:
            rule = "MEM-17" if link.kind == "wiki" else "OKF-27"
            yield page.finding(rule, message, line=link.line)


def _trouble_with_link(path: str, link: Link, known: frozenset[str], names: _Names) -> str:
    if link.kind == "markdown":
        target = note_path(path, link.target, "")
        return "" if _is_there(target, known) else f"there is no {link.target} yet"
    found = names.paths(link.target)
    if len(found) > 1:
        return f"[[{link.target}]] may mean {', '.join(sorted(found)[:4])}"
    there = found or any(_named(other, link.target) for other in known)
    return "" if there else f"there is no [[{link.target}]] yet"


def _named(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")


def _is_there(target: str, known: frozenset[str]) -> bool:
    folder = target.removesuffix("index.md").rstrip("/").removesuffix(".md")
    return bool(target) and (target in known or folder in known)


def _about_footnotes(page: _Page, sources: Value) -> Iterator[Finding]:
    defined = set(_DEFINED.findall(page.note.body))
    defined |= {str(entry["id"]) for entry in _events(sources) if entry.get("id")}
    for match in _CITED.finditer(without_code(page.note.body)):
        if match[1] not in defined:
            line = page.note.body.count("\n", 0, match.start()) + 1
            yield page.finding("OKF-17", f"nothing says what [^{match[1]}] is", line=line)


# -- reserved files and the bundle as a whole


def _about_reserved(path: str, content: bytes) -> Iterator[Finding]:
    text, odd = decode(content)
    for warning in odd:
        yield Finding(path, warning.line, "OKF-4", ERROR, warning.message)
    if path.rpartition("/")[2] == "log.md":
        for problem in reserved.log_problems(text):
            yield Finding(path, problem.line, "OKF-31", ERROR, problem.message)
        return
    for problem in reserved.index_problems(text, root="/" not in path):
        yield Finding(path, problem.line, "OKF-29", ERROR, problem.message)
    version = read_block(cut(text).block).values.get("okf_version")
    if version not in (None, reserved.OKF_VERSION, "0.1"):
        message = f"OKF {version} is not known here; it is read as {reserved.OKF_VERSION}"
        yield Finding(path, 2, "OKF-35", WARNING, message)


def _about_doubles(notes: Iterable[Note]) -> Iterator[Finding]:
    listed = list(notes)
    paths = Counter(_folded(note.path) for note in listed)
    ids = Counter(str(note.meta["id"]) for note in listed if note.meta.get("id"))
    for note in listed:
        if paths[_folded(note.path)] > 1:
            message = "another note's path differs in case or Unicode form only"
            yield Finding(note.path, 1, "OKF-8", WARNING, message)
        if ids[str(note.meta.get("id"))] > 1:
            message = f"another note has the id {note.meta['id']} too"
            yield Finding(note.path, 1, "MEM-2", WARNING, message)


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


# -- repairs


def repaired(path: str, content: bytes) -> bytes:
    """Return a note with the repairs that `repairs` proposes."""
    content = with_sound_block(content)
    text, odd = decode(content)
    opened = text.lstrip("\ufeff").startswith("---")
    parts = cut(text)
    if odd or not text.strip() or (opened and not read_block(parts.block).sound):
        return content
    if opened and not parts.has_block:
        return content  # an unclosed block: only its writer knows where it ends
    text = replace_scalars(text, _with_time, path)
    return set_keys(text, _wanting(parse(content, path)), path).encode()


def _with_time(keys: tuple[str, ...], value: str) -> str | None:
    """Give a date without a time the time from which it counts, where OKF asks for one."""
    timed = keys[-1] in TIME_KEYS if len(keys) == 1 else keys in _TIMED
    return f"{value}T12:00:00Z" if timed and _DATE.fullmatch(value) and parse_time(value) else None


def _wanting(note: Note) -> dict[str, Value]:
    """Return the keys that are missing or in an older form, as they should be."""
    changes: dict[str, Value] = {}
    if not note.meta.get("type"):
        changes["type"] = "Note"
    tags = note.meta.get("tags")
    if isinstance(tags, str) and tags_from(tags):
        changes["tags"] = list(tags_from(tags))
    return changes
