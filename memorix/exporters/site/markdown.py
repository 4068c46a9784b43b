"""A note's Markdown as HTML in which nothing runs and nothing is fetched."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from memorix.exporters.graph import Graph, relinked
from memorix.links import Link
from memorix.note import Note

_OUTSIDE = ("http://", "https://", "mailto:")
# What a link may lead to besides notes; others become text.

_MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\[]`*_<>&!|~#"})


def renderer() -> MarkdownIt:
    """Return a renderer of CommonMark with tables, in which HTML is text."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _image)
    return parser


def html(parser: MarkdownIt, graph: Graph, note: Note, pages: Mapping[str, str]) -> tuple[str, str]:
    """Return a note's body as HTML, and as its reader sees it, without markup.

    `pages` are the names of pages by the paths of their notes.
    """

    def written(link: Link, other: Note) -> str | None:
        if link.kind != "wiki":
            return None
        return f"[{(link.label or link.target).translate(_MARKUP)}]({pages[other.path]})"

    body = relinked(
        note.body,
        lambda link: graph.target(note, link),
        written,
        lambda other: pages[other.path],
    )
    tokens = parser.parse(body)
    _made_safe(tokens, frozenset(pages.values()))
    shown = " ".join(_text(tokens).split())
    return str(parser.renderer.render(tokens, parser.options, {})), shown


def _text(tokens: Sequence[Token]) -> str:
    found: list[str] = []
    for token in tokens:
        if token.children:
            found.append(_text(token.children))
        elif token.type in ("text", "code_inline", "code_block", "fence", "text_special"):
            found.append(token.content)
        if token.type in ("softbreak", "hardbreak", "inline", "fence", "code_block"):
            found.append(" ")
    return "".join(found)


def _made_safe(tokens: Sequence[Token], pages: frozenset[str]) -> None:
    """Turn links that lead nowhere into text, and put headings below the page's own."""
    dead: list[bool] = []
    for token in tokens:
        _made_safe(token.children or (), pages)
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        elif token.type == "link_open":
            dead.append(_is_dead(token, pages))
        elif token.type == "image":
            token.meta["linked"] = bool(dead) and not dead[-1]
        if token.type in ("link_open", "link_close") and dead[-1]:
            token.tag, token.attrs = "span", {}
        if token.type == "link_close":
            dead.pop()


def _is_dead(token: Token, pages: frozenset[str]) -> bool:
    target = str(token.attrGet("href") or "")
    if unquote(target) in pages:
        return False
    if target.lower().startswith(_OUTSIDE):
        token.attrSet("rel", "noopener noreferrer")
        return False
    return True


def _image(_: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    """Show an image as a link to where it is: pages load nothing from elsewhere."""
    source = str(tokens[at].attrGet("src") or "")
    shown = escape(tokens[at].content or source)
    if source.lower().startswith(_OUTSIDE) and not tokens[at].meta.get("linked"):
        return f'<a href="{escape(source)}" rel="noopener noreferrer">{shown}</a>'
    return f"<span>{shown}</span>"
