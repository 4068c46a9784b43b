"""Notes as the knowledge graph of the MCP reference memory server: JSON Lines.

A note becomes an entity of its title and type.  Its list items and paragraphs are the observations,
followed by what the format has no place for, such as `tags: a, b`.  Links become relations.
"""

import json
import re
from collections.abc import Iterator
from functools import partial

from memorix.exporters.base import Chosen, Files, Form
from memorix.exporters.graph import Edge, Graph, relinked, unique
from memorix.links import Link, links
from memorix.note import Note, format_time, without_relations
from memorix.prose import fence_after

name = "mcp-memory"
about = "a JSON Lines file for the MCP reference memory server"
form: Form = "file"
everything = False

FILE = "memory.jsonl"

_ITEM = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_HEADING = re.compile(r"#{1,6}[ \t]")


def files(chosen: Chosen) -> Files:
    graph = Graph(chosen)
    names = unique(graph.notes, lambda note: note.title, " ")
    for note in graph.whole():
        yield FILE, _entity(graph, note, names[note.path])
    for note in graph.notes:
        for edge in graph.outgoing(note):
            yield FILE, _relation(edge, names[edge.source.path], names[edge.target.path])


def _entity(graph: Graph, note: Note, called: str) -> bytes:
    said = [*_observations(graph, note), *_keys(note)]
    entity = {"type": "entity", "name": called, "entityType": note.type}
    return _line({**entity, "observations": list(dict.fromkeys(said))})


def _relation(edge: Edge, start: str, end: str) -> bytes:
    return _line({"type": "relation", "from": start, "to": end, "relationType": edge.relation})


def _line(value: object) -> bytes:
    said = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return f"{said}\n".encode("utf-8", "replace")


def _observations(graph: Graph, note: Note) -> Iterator[str]:
    if note.description:
        yield note.description
    target = partial(graph.target, note)
    text = relinked(without_relations(note.body), target, _label, lambda other: other.title)
    yield from blocks(text)
    for link in links(note.body):
        if link.relation and target(link) is None:
            yield f"{link.relation}: {link.label or link.target}"


def _label(link: Link, note: Note) -> str:
    return link.label or note.title


def _keys(note: Note) -> Iterator[str]:
    moments = {"created": note.created, "changed": note.changed}
    moments |= {"valid_from": note.valid_from, "valid_to": note.valid_to}
    stated = {
        "tags": ", ".join(note.tags),
        "aliases": ", ".join(note.aliases),
        "author": note.author,
        "status": "" if note.status == "stable" else note.status,
        **{key: format_time(moment) for key, moment in moments.items() if moment},
    }
    yield from (f"{key}: {value}" for key, value in stated.items() if value)


def blocks(text: str) -> list[str]:
    """Part a body into its list items and paragraphs; code stays whole, and so does a heading with
    what follows it."""
    found: list[list[str]] = []
    fence, open_item, fresh = "", False, True
    for line in text.splitlines():
        within, fence = fence, fence_after(line, fence)
        if within:
            found[-1].append(line)
        elif not line.strip():
            fresh = True
        elif _ITEM.match(line) or (fresh and not (open_item and line[:1].isspace())):
            item = _ITEM.match(line)
            _begin(found, line[item.end() :] if item else line)
            open_item, fresh = bool(item), False
        else:
            found[-1].append(line.removeprefix("  ") if open_item else line)
            fresh = False
    return ["\n".join(lines).strip() for lines in found]


def _begin(found: list[list[str]], line: str) -> None:
    """Begin a block with a line, or go on after a heading."""
    if found and all(_HEADING.match(before) for before in found[-1]):
        found[-1].append(line)
    else:
        found.append([line])
