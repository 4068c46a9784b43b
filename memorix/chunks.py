"""A note cut into pieces an embedder can take whole, at its headings first."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

MAX_TOKENS = 200
# An estimate; with title and headings a piece stays below the 256 tokens small models see.

MAX_EMBEDDED = 250

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*\r?$")
_FENCE = re.compile(r"^[ \t]{0,3}(```+|~~~+)")
_TOKENS = re.compile(r"[A-Za-z]{1,4}|[^\sA-Za-z]")
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")
_SENTENCE = re.compile(r"(?<=[.!?])[ \t\r\n]+|(?<=[。！？；])|\n")
_WORD = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a note's body: `text` is `body[start:end]`, on and after `line` (from 1).

    `heading` is the path of headings it stands under, joined by ` > `.
    """

    ordinal: int
    heading: str
    text: str
    start: int
    end: int
    line: int


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text, rather too many than too few.

    WordPiece needs one token a common word, one for each three or four letters of an unknown one,
    and one for each digit, sign or CJK character.
    """
    return len(_TOKENS.findall(text))


def split(title: str, body: str, *, max_tokens: int = MAX_TOKENS) -> tuple[Chunk, ...]:
    """Cut a body into chunks of at most `max_tokens` (estimated), in order and without overlap.

    Cuts fall before headings, else between paragraphs, sentences, words, and only then inside one.
    A body without text gives one empty chunk, so that the title is found.
    """
    chunks: list[Chunk] = []
    line, seen = 1, 0
    for start, end, heading in _merged(body, list(_sections(body)), max_tokens):
        for at, until in _pieces(body, start, end, max_tokens):
            line += body.count("\n", seen, at)
            seen = at
            chunks.append(Chunk(len(chunks), heading, body[at:until], at, until, line))
    return tuple(chunks) or (Chunk(0, "", "", 0, 0, 1),)


def embedding_text(title: str, chunk: Chunk) -> str:
    """Return what the embedder sees of a chunk: title, headings and text, within its limit."""
    room = MAX_EMBEDDED - estimate_tokens(chunk.text)
    head = title if chunk.heading in ("", title) else f"{title} > {chunk.heading}"
    while head and estimate_tokens(head) > room:
        head = head[: len(head) * 3 // 4].rstrip()
    return f"{head}\n{chunk.text}" if head else chunk.text


def _fits(text: str, max_tokens: int) -> bool:
    return len(text) <= max_tokens or estimate_tokens(text) <= max_tokens


def _sections(body: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, heading path) of what stands under each heading, the heading included."""
    path: list[tuple[int, str]] = []
    start, at, fence = 0, 0, ""
    for line in body.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        heading = None if fence or mark else _HEADING.match(line.rstrip("\n"))
        if heading:
            if body[start:at].strip():
                yield start, at, " > ".join(name for _, name in path)
            start = at
            level = len(heading[1])
            path = [(depth, name) for depth, name in path if depth < level]
            path.append((level, heading[2]))
        at += len(line)
    if body[start:].strip():
        yield start, len(body), " > ".join(name for _, name in path)


def _merged(
    body: str, sections: list[tuple[int, int, str]], max_tokens: int
) -> list[tuple[int, int, str]]:
    """Put neighbouring sections together while they fit, under what their headings share."""
    merged: list[tuple[int, int, str]] = []
    size = 0
    for start, end, heading in sections:
        cost = estimate_tokens(body[start:end])
        if merged and size + cost <= max_tokens:
            first, _, before = merged[-1]
            merged[-1] = (first, end, _shared(before, heading))
            size += cost
        else:
            merged.append((start, end, heading))
            size = cost
    return merged


def _shared(one: str, other: str) -> str:
    common = []
    for left, right in zip(one.split(" > "), other.split(" > "), strict=False):
        if left != right:
            break
        common.append(left)
    return " > ".join(common)


def _pieces(body: str, start: int, end: int, max_tokens: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of a section that fit the limit, without white space around them."""
    spans = [(start, end)]
    for cut in (_PARAGRAPH, _SENTENCE, _WORD):
        spans = [part for span in spans for part in _refined(body, span, cut, max_tokens)]
    for at, until in _packed(body, spans, max_tokens):
        for first, last in _by_length(body, at, until, max_tokens):
            text = body[first:last]
            if text.strip():
                lead = len(text) - len(text.lstrip())
                yield first + lead, first + len(text.rstrip())


def _refined(
    body: str, span: tuple[int, int], cut: re.Pattern[str], max_tokens: int
) -> list[tuple[int, int]]:
    start, end = span
    if _fits(body[start:end], max_tokens):
        return [span]
    edges = [start, *(match.end() for match in cut.finditer(body, start, end)), end]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def _packed(body: str, spans: list[tuple[int, int]], max_tokens: int) -> Iterator[tuple[int, int]]:
    """Put neighbouring spans together while they fit."""
    at, until, size = spans[0][0], spans[0][0], 0
    for start, end in spans:
        cost = estimate_tokens(body[start:end])
        if size and size + cost > max_tokens:
            yield at, until
            at, size = start, 0
        until, size = end, size + cost
    yield at, until


def _by_length(body: str, start: int, end: int, max_tokens: int) -> Iterator[tuple[int, int]]:
    """Cut what has no white space at all, such as base64, after so many characters."""
    if _fits(body[start:end], max_tokens):
        yield start, end
        return
    for at in range(start, end, max_tokens):
        yield at, min(at + max_tokens, end)
