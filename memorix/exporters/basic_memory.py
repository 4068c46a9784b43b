"""Notes as a project folder of basic-memory: permalinks, observations, relations by wikilink.

A note keeps its place and its text.  A text of one line becomes the observation it is, links become
wikilinks, and every relation is a line `- type [[Title]]`.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from memorix.exporters.base import Chosen, Files, Form
from memorix.exporters.graph import LINKS, Graph, inside, relinked, unique
from memorix.links import Link, observations
from memorix.note import Note, format_time, render, slug, without_relations
from memorix.yamltext import Value

name = "basic-memory"
about = "a project folder for basic-memory"
form: Form = "folder"
everything = False

_SAID = frozenset({"title", "type", "permalink", "tags", "created", "modified", "generated"})
# Keys with a place of their own.

_STRUCTURE = re.compile(r"[-*+>|#]|\d{1,9}[.)] |`{3}|~{3}")
_CATEGORY = re.compile(r"[^\W_][\w -]{0,39}")
_WORD = re.compile(r"[^\s#.,;:!?()\[\]{}\"'`]+")
_RELATIONS = re.compile(r"^# Relations[ \t]*$", re.MULTILINE)


def files(chosen: Chosen) -> Files:
    graph = Graph(chosen)
    places = inside(graph.notes)
    permalinks = unique(graph.notes, lambda note: _permalink(places[note.path]))
    names = _names(graph, permalinks)
    for note in graph.whole():
        body = _body(graph, note, names)
        meta = _meta(note, permalinks[note.path])
        yield places[note.path], render(replace(note, meta=meta, body=body))


def _permalink(path: str) -> str:
    return "/".join(slug(part) for part in path.removesuffix(".md").split("/"))


def _names(graph: Graph, permalinks: Mapping[str, str]) -> Mapping[str, str]:
    """Return what wikilinks call each note: its title where it is its own and fits, else its
    permalink."""
    shared = Counter(note.title.casefold() for note in graph.notes)
    return {
        note.path: note.title
        if shared[note.title.casefold()] == 1 and not set("[]|#\\") & set(note.title)
        else permalinks[note.path]
        for note in graph.notes
    }


def _meta(note: Note, permalink: str) -> dict[str, Value]:
    stated: dict[str, Value] = {
        "title": note.title,
        "type": note.type,
        "permalink": permalink,
        "tags": list(note.tags),
        "created": format_time(note.created) if note.created else "",
        "modified": format_time(note.changed) if note.changed else "",
        "author": note.author,
    }
    rest = {key: value for key, value in note.meta.items() if key.lower() not in _SAID}
    return {k: v for k, v in (stated | rest).items() if v not in (None, "", [], (), {})}


def _body(graph: Graph, note: Note, names: Mapping[str, str]) -> str:
    def written(link: Link, other: Note) -> str:
        target = f"[[{names[other.path]}]]"
        plain = link.relation or link.label in ("", other.title)
        return target if plain else f"{link.label} ({target})"

    body = note.body.strip("\n")
    said = without_relations(body).rstrip()
    if _is_line(said):
        body = _observation(note, said) + body[len(said) :]
    body = relinked(
        body, lambda link: graph.target(note, link), written, lambda other: names[other.path]
    )
    relations = (
        f"- {edge.relation} [[{names[edge.target.path]}]]"
        for edge in graph.outgoing(note)
        if edge.relation != LINKS
    )
    missing = [line for line in relations if line not in body]
    return _with(body, missing) + "\n"


def _is_line(said: str) -> bool:
    plain = "\n" not in said and bool(said) and not _STRUCTURE.match(said)
    return plain and not observations(f"- {said}")


def _observation(note: Note, said: str) -> str:
    category = note.type.lower() if _CATEGORY.fullmatch(note.type) else "note"
    tags = "".join(f" #{tag}" for tag in note.tags if _WORD.fullmatch(tag))
    return f"- [{category}] {said}{tags}"


def _with(body: str, relations: list[str]) -> str:
    if not relations:
        return body
    head = "\n" if _RELATIONS.search(body) else "\n\n# Relations\n\n"
    return body + head + "\n".join(relations)
