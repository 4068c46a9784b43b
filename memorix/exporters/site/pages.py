"""The pages of the site: one for each note, lists of them, a search, and a drawing of them all."""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from html import escape
from importlib.resources import files as packaged
from urllib.parse import quote

from markdown_it import MarkdownIt

from memorix.exporters.base import Chosen
from memorix.exporters.graph import LINKS, Edge, Graph, unique
from memorix.exporters.site import markdown
from memorix.exporters.site.drawing import MOST_AROUND, Line, Place, drawn
from memorix.exporters.site.words import EN, ZH
from memorix.layout import scope_of
from memorix.lexemes import language_hint
from memorix.note import Note, format_time, slug

FOLDER = "notes"

MOST_DRAWN = 500
# Notes in the drawing of all; more are a cloud.

_NEWEST = 30
_HERE = "\0"
# In place of what is searched, until it is written; pages have no such character.
_LISTS = ("scopes", "types", "tags", "relations")


class Site:
    """The pages of some notes; the same notes make the same pages."""

    def __init__(self, chosen: Chosen) -> None:
        self._graph = Graph(chosen)
        self._names = {
            path: f"{name}.html"
            for path, name in unique(self._graph.notes, lambda note: slug(note.title)).items()
        }
        self._words = _words(self._graph)
        self._style = _asset("style.css")
        self._script = _asset("search.js")

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the path and the HTML of every page; that with the search comes in pieces."""
        parser = markdown.renderer()
        for note in self._graph.whole():
            body, _ = markdown.html(parser, self._graph, note, self._names)
            yield f"{FOLDER}/{self._names[note.path]}", self._note(note, body)
        for piece in self._index(parser):
            yield "index.html", piece
        yield "scopes.html", self._list("scopes", lambda note: (scope_of(note.path),))
        yield "types.html", self._list("types", lambda note: (note.type,))
        yield "tags.html", self._list("tags", lambda note: note.tags)
        yield "relations.html", self._relations()

    # -- a note

    def _note(self, note: Note, body: str) -> str:
        words, graph = self._words, self._graph
        old = f'<p class="old">{words["old"]}</p>\n' if note.status == "deprecated" else ""
        said = f"<p>{escape(note.description)}</p>\n" if note.description else ""
        lang = escape(language_hint(f"{note.title}\n{note.body}"))
        parts = [
            f"<h1>{escape(note.title)}</h1>\n{old}{said}{self._facts(note)}",
            f'<article lang="{lang}">\n{body}</article>\n',
            self._edges("leads", graph.outgoing(note), lambda edge: edge.target),
            self._edges("led", graph.incoming(note), lambda edge: edge.source),
            self._around(note),
            self._keys(note),
        ]
        return self._page(note.title, "".join(parts), "../")

    def _facts(self, note: Note) -> str:
        facts = {
            "type": escape(note.type),
            "scope": escape(scope_of(note.path)),
            "tags": ", ".join(escape(tag) for tag in note.tags),
            "aliases": ", ".join(escape(alias) for alias in note.aliases),
            "created": _day(note.created),
            "changed": _day(note.changed),
            "valid_from": _day(note.valid_from),
            "valid_to": _day(note.valid_to),
            "author": escape(note.author),
            "status": "" if note.status == "stable" else escape(note.status),
        }
        rows = (f"<dt>{self._words[k]}</dt><dd>{v}</dd>\n" for k, v in facts.items() if v)
        return f"<dl>\n{''.join(rows)}</dl>\n"

    def _edges(self, key: str, edges: Sequence[Edge], other: Callable[[Edge], Note]) -> str:
        if not edges:
            return ""
        lines = (f"<li>{_word(edge)}{self._link(other(edge), '')}</li>\n" for edge in edges)
        return f"<h2>{self._words[key]}</h2>\n<ul>\n{''.join(lines)}</ul>\n"

    def _around(self, note: Note) -> str:
        edges = [*self._graph.outgoing(note), *self._graph.incoming(note)]
        near = list(dict.fromkeys(p for e in edges for p in (e.source.path, e.target.path)))
        shown = {note.path, *[path for path in near if path != note.path][:MOST_AROUND]}
        if len(shown) < 2:
            return ""
        title = self._words["around"]
        return f"<h2>{title}</h2>\n" + self._drawing(edges, shown, title, "", note.path)

    def _keys(self, note: Note) -> str:
        rows = (
            f"<dt>{escape(key)}</dt><dd>{escape(_said(value))}</dd>\n"
            for key, value in note.meta.items()
        )
        inner = "".join(rows)
        title = self._words["keys"]
        return f"<details>\n<summary>{title}</summary>\n<dl>\n{inner}</dl>\n</details>\n"

    # -- lists

    def _index(self, parser: MarkdownIt) -> Iterator[str]:
        words = self._words
        newest = sorted(self._graph.notes, key=_last, reverse=True)[:_NEWEST]
        body = (
            f"<h1>{words['notes']}</h1>\n"
            f'<section id="search" hidden>\n<label for="question">{words["search"]}</label>\n'
            '<input type="search" id="question" autocomplete="off">\n'
            f'<p id="told" role="status" data-told="{words["told"]}"></p>\n'
            '<ol id="hits"></ol>\n</section>\n'
            f"<p>{words['count'].format(len(self._graph.notes))}</p>\n"
            f"<h2>{words['newest']}</h2>\n{self._items(newest)}"
            f'<script type="application/json" id="notes">{_HERE}</script>\n'
            f"<script>{self._script}</script>\n"
        )
        above, _, below = self._page(words["notes"], body, "").partition(_HERE)
        yield f"{above}["
        for place, note in enumerate(self._graph.whole()):
            _, text = markdown.html(parser, self._graph, note, self._names)
            said = json.dumps(self._found(note, text), ensure_ascii=False, separators=(",", ":"))
            yield ("," if place else "") + said.replace("<", "\\u003c")
        yield f"]{below}"

    def _list(self, key: str, of: Callable[[Note], Sequence[str]]) -> str:
        groups: dict[str, list[Note]] = {}
        for note in self._graph.notes:
            for name in dict.fromkeys(of(note)):
                groups.setdefault(name, []).append(note)
        ordered = sorted(groups.items(), key=lambda group: (group[0].casefold(), group[0]))
        heads = (
            f'<li><a href="#g{at}">{escape(name)}</a> ({len(notes)})</li>\n'
            for at, (name, notes) in enumerate(ordered)
        )
        groups_html = (
            f'<h2 id="g{at}">{escape(name)}</h2>\n{self._items(sorted(notes, key=_by_title))}'
            for at, (name, notes) in enumerate(ordered)
        )
        title = self._words[key]
        body = f"<h1>{title}</h1>\n<ul>\n{''.join(heads)}</ul>\n{''.join(groups_html)}"
        return self._page(title, body, "")

    def _items(self, notes: Iterable[Note]) -> str:
        lines = (
            f"<li>{self._link(note, f'{FOLDER}/')} "
            f'<span class="about">{" · ".join(filter(None, [escape(note.type), _day(_at(note))]))}'
            "</span></li>\n"
            for note in notes
        )
        return f"<ul>\n{''.join(lines)}</ul>\n"

    def _relations(self) -> str:
        title, words = self._words["relations"], self._words
        edges = [edge for note in self._graph.notes for edge in self._graph.outgoing(note)]
        counts: dict[str, int] = {}
        for edge in edges:
            for path in (edge.source.path, edge.target.path):
                counts[path] = counts.get(path, 0) + 1
        most = sorted(counts, key=lambda path: (-counts[path], path))[:MOST_DRAWN]
        told = words["drawn"].format(len(most), len(counts)) if len(most) < len(counts) else ""
        body = f"<h1>{title}</h1>\n<p>{told if counts else words['none']}</p>\n"
        if counts:
            body += self._drawing(edges, set(most), title, f"{FOLDER}/")
        return self._page(title, body, "", "wide")

    # -- parts of pages

    def _drawing(
        self, edges: Iterable[Edge], shown: set[str], title: str, folder: str, here: str = ""
    ) -> str:
        notes = {n.path: n for e in edges for n in (e.source, e.target)}
        lines = {
            (e.source.path, e.target.path): Line(
                e.source.path, e.target.path, "" if e.relation == LINKS else e.relation
            )
            for e in edges
            if e.source.path in shown and e.target.path in shown
        }
        places = {
            path: Place(path, notes[path].title, folder + quote(self._names[path]))
            for line in lines
            for path in line
        }
        return drawn(places, list(lines.values()), title, here)

    def _link(self, note: Note, folder: str) -> str:
        return f'<a href="{folder}{quote(self._names[note.path])}">{escape(note.title)}</a>'

    def _found(self, note: Note, text: str) -> dict[str, object]:
        said = f"{note.description} {text}" if note.description else text
        return {
            "href": f"{FOLDER}/{quote(self._names[note.path])}",
            "title": note.title,
            "type": note.type,
            "date": _day(_at(note)),
            "tags": [*note.tags, *note.aliases],
            "text": said,
        }

    def _page(self, title: str, body: str, up: str, width: str = "text") -> str:
        words = self._words
        links = "".join(
            f'<li><a href="{up}{page}.html">{words[name]}</a></li>\n'
            for page, name in (("index", "notes"), *((one, one) for one in _LISTS))
        )
        policy = (
            f"default-src 'none'; style-src '{_digest(self._style)}'; "
            f"script-src '{_digest(self._script)}'; base-uri 'none'; form-action 'none'"
        )
        return (
            f'<!DOCTYPE html>\n<html lang="{words["lang"]}">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n'
            f"<title>{escape(title)}</title>\n<style>{self._style}</style>\n</head>\n<body>\n"
            f'<a class="skip" href="#main">{words["skip"]}</a>\n'
            f"<header><nav><ul>\n{links}</ul></nav></header>\n"
            f'<main id="main" class="{width}">\n{body}</main>\n'
            f"<footer>{words['footer']}</footer>\n</body>\n</html>\n"
        )


def _words(graph: Graph) -> Mapping[str, str]:
    """Return the words of the language in which more of the notes are written."""
    chinese = sum(language_hint(f"{note.title}\n{note.body}") == "zh" for note in graph.whole())
    return ZH if chinese * 2 > len(graph.notes) else EN


def _asset(name: str) -> str:
    return (packaged("memorix.exporters.site") / name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"


def _word(edge: Edge) -> str:
    return "" if edge.relation == LINKS else f'<span class="about">{escape(edge.relation)}</span> '


def _at(note: Note) -> datetime | None:
    return note.changed or note.created


def _day(moment: datetime | None) -> str:
    return format_time(moment)[:10] if moment else ""


def _last(note: Note) -> tuple[str, str]:
    at = _at(note)
    return format_time(at) if at else "", note.path


def _by_title(note: Note) -> tuple[str, str]:
    return note.title.casefold(), note.path


def _said(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=list)
