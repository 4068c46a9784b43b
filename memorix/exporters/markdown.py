"""All notes in one Markdown file, to read, to print, or to hand to somebody as it is."""

import re
from collections.abc import Iterator, Mapping

from memorix.exporters.base import Chosen, Files, Form
from memorix.exporters.graph import Graph, relinked
from memorix.layout import scope_of
from memorix.links import Link
from memorix.note import Note, format_time
from memorix.prose import fence_after, without_code

name = "markdown"
about = "one Markdown file with all notes"
form: Form = "file"
everything = False

_HEADING = re.compile(r"^ {0,3}(?P<marks>#{1,6})(?=[ \t]|$)", re.MULTILINE)
_DEEPEST, _BELOW = 6, 3
# Levels of headings there are, and those that the file's own take up.

_MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\[]`*_<>&"})


def files(chosen: Chosen) -> Files:
    graph = Graph(chosen)
    anchors = {note.path: f"note-{number}" for number, note in enumerate(graph.notes, 1)}
    yield "notes.md", f"# {_escaped(chosen.title)}\n".encode("utf-8", "replace")
    for part in _parts(graph, anchors):
        yield "notes.md", f"\n{part}".encode("utf-8", "replace")


def _parts(graph: Graph, anchors: Mapping[str, str]) -> Iterator[str]:
    scope = ""
    for note in graph.whole():
        if scope_of(note.path) != scope:
            scope = scope_of(note.path)
            yield f"## {_escaped(scope)}\n"
        body = _body(graph, note, anchors)
        head = (
            f'<a id="{anchors[note.path]}"></a>\n\n### {_escaped(note.title)}\n\n{_about(note)}\n'
        )
        yield f"{head}\n{body}\n" if body else head


def _about(note: Note) -> str:
    at = note.changed or note.created
    said = [
        _escaped(note.type),
        format_time(at)[:10] if at else "",
        _escaped(note.author),
        ", ".join(_escaped(tag) for tag in note.tags),
        "" if note.status == "stable" else _escaped(note.status),
    ]
    return f"*{' · '.join(filter(None, said))}*" + (
        f"\n\n{_escaped(note.description)}" if note.description else ""
    )


def _body(graph: Graph, note: Note, anchors: Mapping[str, str]) -> str:
    def written(link: Link, other: Note) -> str | None:
        if link.kind != "wiki":
            return None
        return f"[{_escaped(link.label or link.target)}](#{anchors[other.path]})"

    body = relinked(
        note.body,
        lambda link: graph.target(note, link),
        written,
        lambda other: f"#{anchors[other.path]}",
    )
    return _closed(_lowered(body).strip("\n"))


def _lowered(body: str) -> str:
    """Put the headings of a body below that of its note."""
    pieces, done = [], 0
    for found in _HEADING.finditer(without_code(body)):
        start, end = found.span("marks")
        level = min(_DEEPEST, end - start + _BELOW)
        pieces += [body[done:start], "#" * level]
        done = end
    return "".join([*pieces, body[done:]])


def _closed(body: str) -> str:
    """End the code or the comment that a body leaves open, so that it holds no other note."""
    fence = ""
    for line in body.splitlines():
        fence = fence_after(line, fence)
    if fence:
        return f"{body}\n{fence}"
    return f"{body}\n-->" if body.rfind("<!--") > body.rfind("-->") else body


def _escaped(text: str) -> str:
    return " ".join(text.split()).translate(_MARKUP)
