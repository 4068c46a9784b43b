"""Notes as a vault for Obsidian: a file under each title, properties, wikilinks that resolve.

Obsidian takes a time with an offset for plain text, so times have none, and a property says that
they are in UTC.
"""

import json
import re
import unicodedata
from collections.abc import Mapping

from memorix.exporters.base import Chosen, Files, Form
from memorix.exporters.graph import Graph, inside, relinked, unique
from memorix.intake import TIMES_IN, UTC_TIMES
from memorix.links import Link, relative_link
from memorix.note import Note, cut_short, parse_time, slug
from memorix.yamltext import Value, flow, key_of

name = "obsidian"
about = "a vault for Obsidian"
form: Form = "folder"
everything = False

TYPES = ".obsidian/types.json"
# Where a vault keeps what its properties are; it also makes the folder one.

_DATES = ("created", "modified", "valid_from", "valid_to", "expires_at", "stale_after")
_NOTES = ("supersedes", "superseded_by", "contested_by")
_OWN = frozenset({"title", "type", "tags", "aliases", "generated", *_DATES, *_NOTES})
# Keys of ours that become properties in another form.

_ILLEGAL = re.compile(r"[\\/:*?\"<>|#^\[\]\x00-\x1f\x7f]+")
# In the name of a file on some system, or in a wikilink.

_NOT_A_TAG = re.compile(r"[^\w/-]+")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_LONGEST = 120
# Characters of a file's name; at four bytes each they are more than most systems take.

_LONGEST_BYTES = 200


def files(chosen: Chosen) -> Files:
    graph = Graph(chosen)
    names = unique(graph.notes, _file_name, " ")
    places = {
        path: f"{inner.rpartition('/')[0]}/{names[path]}.md".lstrip("/")
        for path, inner in inside(graph.notes).items()
    }
    yield TYPES, _types()
    for note in graph.whole():
        text = _properties(graph, note, names) + "\n" + _body(graph, note, names, places)
        yield places[note.path], text.encode("utf-8", "replace")


def _file_name(note: Note) -> str:
    """Return a title as the name of a file, without `.md`, legal on every system."""
    plain = " ".join(_ILLEGAL.sub(" ", unicodedata.normalize("NFC", note.title)).split())
    text = cut_short(plain, _LONGEST).strip(". ")
    while len(text.encode("utf-8", "replace")) > _LONGEST_BYTES:
        text = text[:-1].strip(". ")
    return text if text and slug(text) != f"{text.lower()}-note" else slug(note.title)


def _types() -> bytes:
    kinds = {"tags": "tags", "aliases": "aliases"} | dict.fromkeys(_DATES, "datetime")
    kinds |= dict.fromkeys(_NOTES, "multitext")
    return (json.dumps({"types": kinds}, indent=2) + "\n").encode()


def _properties(graph: Graph, note: Note, names: Mapping[str, str]) -> str:
    own = note.title if names[note.path] != note.title else ""
    moments = {key: note.meta.get(key) for key in _DATES}
    moments |= {"created": note.meta.get("created"), "modified": _changed(note)}
    stated: dict[str, Value] = {
        "title": own,
        "type": note.type,
        "aliases": list(dict.fromkeys([*([own] if own else []), *note.aliases])),
        "tags": _tags(note),
        **{key: _moment(value) for key, value in moments.items()},
        TIMES_IN: UTC_TIMES if any(map(_has_time, moments.values())) else "",
        "author": note.author,
        **{key: _related(graph, note, key, names) for key in _NOTES},
        **{key: _flat(value) for key, value in note.meta.items() if key.lower() not in _OWN},
    }
    lines = [_property(k, v) for k, v in stated.items() if v not in (None, "", [], (), {})]
    return "---\n" + "".join(lines) + "---\n"


def _changed(note: Note) -> Value:
    generated = note.meta.get("generated")
    at = generated.get("at") if isinstance(generated, Mapping) else None
    return at or note.meta.get("timestamp")


def _moment(value: Value) -> str:
    """Return a day as it is, and a time in UTC as Obsidian writes one."""
    text = value.strip() if isinstance(value, str) else ""
    moment = parse_time(text)
    if moment is None or _DAY.fullmatch(text):
        return text
    return moment.strftime("%Y-%m-%dT%H:%M:%S")


def _has_time(value: Value) -> bool:
    return len(_moment(value)) > len("2026-12-03")


def _tags(note: Note) -> list[Value]:
    """Return tags as Obsidian takes them: without spaces and marks, and no mere number."""
    plain = (_NOT_A_TAG.sub("-", tag).strip("-/") for tag in note.tags)
    return list(dict.fromkeys(f"_{tag}" if tag.isdigit() else tag for tag in plain if tag))


def _related(graph: Graph, note: Note, key: str, names: Mapping[str, str]) -> list[Value]:
    edges = (edge for edge in graph.outgoing(note) if edge.relation == key)
    return [f"[[{names[edge.target.path]}]]" for edge in edges]


def _flat(value: Value) -> Value:
    """Return a value as a property may be: text, or a list of texts; the rest as JSON."""
    if isinstance(value, (list, tuple)):
        return [one if isinstance(one, str) else _json(one) for one in value if one is not None]
    return _json(value) if isinstance(value, Mapping) else value


def _json(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False, default=list)


def _property(key: str, value: Value) -> str:
    if isinstance(value, list):
        return f"{key_of(key)}:\n" + "".join(f"  - {flow(item)}\n" for item in value)
    is_moment = key in _DATES and isinstance(value, str) and parse_time(value)
    return f"{key_of(key)}: {value if is_moment else flow(value)}\n"


def _body(graph: Graph, note: Note, names: Mapping[str, str], places: Mapping[str, str]) -> str:
    def written(link: Link, other: Note) -> str | None:
        wiki = link.kind == "wiki"
        label = link.label if link.label != names[other.path] else ""
        if any(mark in label for mark in "[]|\\"):
            return None  # the link stays one of Markdown
        anchor = f"#{link.anchor}" if wiki and link.anchor else ""
        bar = "\\|" if _in_table(note.body, link) else "|"
        mark = "!" if wiki and note.body[link.whole[0]] == "!" else ""
        shown = label or (link.target if wiki and not mark else "")
        shown = "" if shown == names[other.path] else shown
        return f"{mark}[[{names[other.path]}{anchor}{bar + shown if shown else ''}]]"

    own = places[note.path]
    body = relinked(
        note.body,
        lambda link: graph.target(note, link),
        written,
        lambda other: relative_link(own, places[other.path]),
    )
    return body.strip("\n") + "\n"


def _in_table(body: str, link: Link) -> bool:
    start = body.rfind("\n", 0, link.start) + 1
    return body[start : link.start].lstrip().startswith("|")
