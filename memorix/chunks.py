"""Cut a note's body into pieces that an embedding model can take whole.

Cuts are made at headings first, then between paragraphs, sentences, lines and words.  All work is
linear in the length of the body.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import islice, pairwise
from typing import NamedTuple, TypeAlias

MAX_EMBEDDED_TOKENS = 250
# MiniLM reads 256 tokens, two of which frame the text.

_MAX_TITLE_TOKENS = 24
# A title names the subject; a longer one would crowd out the text.

_SEPARATOR = " > "

_CONSONANT = "[bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ]"
_PIECE = re.compile(
    r"[A-Za-z](?=[A-Za-z]{0,3}\d)|(?<=\d)[A-Za-z]|(?<=\d[A-Za-z])[A-Za-z]"  # hex and codes
    rf"|{_CONSONANT}(?={_CONSONANT}{{2}})"  # abbreviations, random letters
    r"|(?<![A-Za-z])[A-Z]?[a-z]{1,5}|[A-Z]?[a-z]{1,2}|[A-Z]"
    r"|\d(?=\d{4})|\d{1,2}"
    r"|[^\s\w]|\w"
)
_HANGUL = re.compile("[\uac00-\ud7a3]")
_HANGUL_EXTRA = 2
# The tokenizer takes a Hangul syllable apart into up to three letters.

_MARGIN = 16
# One token more for every 16 pieces: names and code hold more tokens than common words do.

_SPARE = 2
# In a text of a few words, one odd word is not evened out.

_MOST_KNOWN, _LONGEST_KNOWN = 40_000, 100
# Words whose pieces are kept, some 5 MB; longer ones are data or lines of Chinese, new each time.

_STRUCTURE = re.compile(r"^[ \t]*(`{3,}|~{3,}|#{1,6}(?=[ \t\r\n]|\Z))", re.MULTILINE)
_CUTS = (
    re.compile(r"\n(?:[ \t\r]*\n)+"),
    re.compile(
        r"[.!?。！？；\n]"  # what any of them begins with is found in a third of the time
        r"(?:(?<=[.!?])[\"')\]]?\s+|(?<=[。！？；])[”」』）]?|(?<=\n)(?=[ \t]*[-*+|>]))"
    ),
    re.compile(r"\n"),
)
# From the best place for a cut to the worst; words and characters come after these.

MAX_SENTENCES = 12
# Of one chunk; more are joined two by two.

_FEW_PIECES = 5
# "See below." says nothing without the sentence beside it.


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a body: `text` is exactly `body[start:end]`, `line` its first line from 1.

    `heading` is the path of the headings that all of it stands under, as "A > B".  `pieces` is the
    length of the text as `estimate_tokens` counts it, -1 where it was not counted.
    """

    ordinal: int
    heading: str
    text: str
    start: int
    end: int
    line: int
    pieces: int = field(default=-1, compare=False)

    @property
    def tokens(self) -> int:
        """The estimate of `estimate_tokens`, from the count that the cutting has made already."""
        return _estimated(self.pieces) if self.pieces >= 0 else estimate_tokens(self.text)


_Part: TypeAlias = tuple[int, int, int]
# Where a stretch of the body begins and ends, and its number of pieces.


class _Span(NamedTuple):
    """A stretch of the body under one path of headings, with its number of pieces."""

    path: tuple[str, ...]
    start: int
    end: int
    pieces: int


def split(title: str, body: str, *, max_tokens: int = 200) -> tuple[Chunk, ...]:
    """Cut a body into chunks of at most `max_tokens` estimated tokens, in order.

    All that is not white space is in exactly one chunk.  A body that fits is one chunk; a heading
    that only repeats the title is left out of the paths.
    """
    limit = max(_most_pieces(max_tokens), 1 + _HANGUL_EXTRA)
    sections = list(_sections(title, body))
    if sum(span.pieces for span in sections) <= limit:
        spans = _whole(sections)
    else:
        spans = _packed((part for span in sections for part in _fitting(body, span, limit)), limit)
    return tuple(_chunks(body, spans))


def estimate_tokens(text: str) -> int:
    """Return a quick estimate of the WordPiece tokens of a text, meant never to be too low.

    About a third above the real number in English prose, a fifth in code; below it only for
    random lower-case letters.
    """
    return _estimated(_pieces(text))


def _estimated(pieces: int) -> int:
    return pieces + pieces // _MARGIN + _SPARE if pieces else 0


def embedding_text(title: str, chunk: Chunk) -> str:
    """Return what an embedder sees of a chunk: title, headings, text.

    Title and headings give way where all would be more than `MAX_EMBEDDED_TOKENS`.
    """
    room = MAX_EMBEDDED_TOKENS - chunk.tokens
    first_line = chunk.text.partition("\n")[0].lstrip("# \t").rstrip("# \t\r")
    title = _shortened(title, min(room // 2, _MAX_TITLE_TOKENS))
    names = chunk.heading.split(_SEPARATOR)
    path = _SEPARATOR.join(name for name in names if name not in (title, first_line))
    heading = _shortened(path, room - estimate_tokens(title) - 2) if path else ""
    head = [part for part in (title, heading) if part and part != first_line]
    return "\n".join([*head, chunk.text])


def sentences(text: str) -> tuple[str, ...]:
    """Return what a text says one by one: its sentences, list items and paragraphs, at most
    `MAX_SENTENCES`; nothing where it says one thing only."""
    ends = {match.end() for cuts in _CUTS[:2] for match in cuts.finditer(text)}
    said: list[str] = []
    for start, end in pairwise(sorted({0, *ends, len(text)})):
        if not (part := text[start:end].strip()):
            continue
        if said and min(map(_pieces, (part, said[-1]))) < _FEW_PIECES:
            said[-1] = f"{said[-1]} {part}"
        else:
            said.append(part)
    while len(said) > MAX_SENTENCES:
        said = [" ".join(said[place : place + 2]) for place in range(0, len(said), 2)]
    return tuple(said) if len(said) > 1 else ()


def _pieces(text: str) -> int:
    """Return the number of pieces of a text; no piece reaches over white space."""
    return sum(map(_COUNTED.__getitem__, text.split()))


class _Counted(dict[str, int]):
    """The pieces of the words counted lately: a text is counted several times as it is cut."""

    def __missing__(self, word: str) -> int:
        count = len(_PIECE.findall(word))
        if not word.isascii():
            count += _HANGUL_EXTRA * len(_HANGUL.findall(word))
        if len(word) <= _LONGEST_KNOWN:
            if len(self) >= _MOST_KNOWN:
                self.clear()
            self[word] = count
        return count


_COUNTED = _Counted()


def _most_pieces(max_tokens: int) -> int:
    """Return how many pieces are estimated at `max_tokens` at most."""
    return ((max_tokens - _SPARE + 1) * _MARGIN - 1) // (_MARGIN + 1)


def _shortened(text: str, max_tokens: int) -> str:
    """Return the beginning of a text, of at most so many estimated tokens."""
    wanted = max(_most_pieces(max_tokens), 0)
    if len(text) <= wanted or _pieces(text) <= wanted:
        return text
    end = 0
    for match in islice(_PIECE.finditer(text), wanted):
        wanted -= 1 + (_HANGUL_EXTRA if _HANGUL.match(match[0]) else 0)
        if wanted < 0:
            break
        end = match.end()
    return text[:end].rstrip()


def _sections(title: str, body: str) -> Iterator[_Span]:
    """Yield the stretch before the first heading, then each heading with what is below it."""
    path: list[tuple[int, str]] = []
    start = 0
    for place, level, name in _headings(body):
        if start < place:
            yield _section(title, path, body, start, place)
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, name))
        start = place
    if start < len(body):
        yield _section(title, path, body, start, len(body))


def _section(title: str, path: list[tuple[int, str]], body: str, start: int, end: int) -> _Span:
    names = tuple(name for _, name in path if name)
    return _Span(names[names[:1] == (title,) :], start, end, _pieces(body[start:end]))


def _headings(body: str) -> Iterator[tuple[int, int, str]]:
    """Yield place, level and text of each ATX heading outside code fences."""
    fence = ""
    for match in _STRUCTURE.finditer(body) if "#" in body else ():
        mark = match[1]
        rest = _rest_of_line(body, match.end())
        if fence:
            if mark.startswith(fence) and not rest:
                fence = ""
        elif mark[0] != "#":
            fence = "" if mark[0] == "`" and "`" in rest else mark
        elif match.end() - match.start() - len(mark) <= 3 and "\t" not in match[0]:
            yield match.start(), len(mark), _without_closing(rest)


def _rest_of_line(body: str, start: int) -> str:
    end = body.find("\n", start)
    return body[start : end if end >= 0 else len(body)].strip()


def _without_closing(name: str) -> str:
    bare = name.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else name


def _whole(spans: list[_Span]) -> Iterator[_Span]:
    if spans:
        yield reduce(_joined, spans)


def _joined(first: _Span, second: _Span) -> _Span:
    if first.path == second.path:
        return _Span(first.path, first.start, second.end, first.pieces + second.pieces)
    shared = 0
    for one, other in zip(first.path, second.path, strict=False):
        if one != other:
            break
        shared += 1
    return _Span(first.path[:shared], first.start, second.end, first.pieces + second.pieces)


def _fitting(body: str, span: _Span, limit: int) -> Iterator[_Span]:
    """Yield a span in parts of at most `limit` pieces, cut at the best places that allow it."""
    if span.pieces <= limit:
        yield span
    else:
        for part in _parts(body, span[1:], limit, 0):
            yield _Span(span.path, *part)


def _parts(body: str, whole: _Part, limit: int, level: int) -> Iterator[_Part]:
    """Yield a stretch in parts of at most `limit` pieces, as few as that allows."""
    if level == len(_CUTS):
        yield from _cut_anywhere(body, whole, limit)
        return
    start, held = whole[0], 0
    end = start
    for part in _cut(body, whole, _CUTS[level]):
        fits = part[2] <= limit
        for _, part_end, pieces in (part,) if fits else _parts(body, part, limit, level + 1):
            if held + pieces > limit:
                yield start, end, held
                start, held = end, 0
            end, held = part_end, held + pieces
    yield start, end, held


def _cut(body: str, whole: _Part, cuts: re.Pattern[str]) -> Iterator[_Part]:
    start, end, rest = whole
    for match in cuts.finditer(body, start, end):
        place = match.end()
        if start < place < end:
            pieces = _pieces(body[start:place])
            yield start, place, pieces
            start, rest = place, rest - pieces
    yield start, end, rest


def _cut_anywhere(body: str, whole: _Part, limit: int) -> Iterator[_Part]:
    """Yield parts cut behind a word, or within one that is too long by itself."""
    start, end, _ = whole
    used, word_end, used_at_word = 0, start, 0
    last = start
    for match in _PIECE.finditer(body, start, end):
        cost = 1 + (_HANGUL_EXTRA if _HANGUL.match(match[0]) else 0)
        if match.start() > last:
            word_end, used_at_word = match.start(), used
        while used and used + cost > limit:
            at_word = word_end > start and used_at_word
            cut, done = (word_end, used_at_word) if at_word else (match.start(), used)
            yield start, cut, done
            start, used, used_at_word = cut, used - done, 0
        used += cost
        last = match.end()
    yield start, end, used


def _packed(spans: Iterable[_Span], limit: int) -> Iterator[_Span]:
    """Yield the spans, neighbours under one heading joined as far as `limit` allows."""
    held: _Span | None = None
    for span in spans:
        if held is None:
            held = span
        elif held.pieces + span.pieces <= limit and _belong_together(held, span):
            held = _joined(held, span)
        else:
            yield held
            held = span
    if held is not None:
        yield held


def _belong_together(first: _Span, second: _Span) -> bool:
    """Say whether the second stands beside or below the first, not under another heading."""
    parent = first.path[:-1]
    return second.path[: len(parent)] == parent


def _chunks(body: str, spans: Iterable[_Span]) -> Iterator[Chunk]:
    """Turn spans into chunks without the empty lines around them; blank ones are dropped."""
    ordinal, line, counted = 0, 1, 0
    for span in spans:
        text = body[span.start : span.end]
        kept = text.rstrip()
        if not kept:
            continue
        start = span.start + _blank_lines(kept)
        line += body.count("\n", counted, start)
        counted = start
        end = span.start + len(kept)
        path = _SEPARATOR.join(span.path)
        alone = (start == 0 or body[start - 1].isspace()) and body[end : end + 1].strip() == ""
        pieces = span.pieces if alone else -1  # a word cut in two has other pieces than the whole
        yield Chunk(ordinal, path, body[start:end], start, end, line, pieces)
        ordinal += 1


def _blank_lines(text: str) -> int:
    """Return the length of the empty lines a text begins with; the indent of the next one stays."""
    ink = len(text) - len(text.lstrip())
    return text.rfind("\n", 0, ink) + 1
