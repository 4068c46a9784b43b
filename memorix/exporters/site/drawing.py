"""The relations of notes as SVG: those around one note, and those of all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from memorix.exporters.site.layout import Dot, laid_out
from memorix.note import cut_short

MOST_AROUND = 24
# Notes drawn around one; a hub has hundreds, and the page lists them all.

_LABEL = 22
# Characters of a label in a drawing; the whole title is shown by pointing at the dot.

_BESIDE = 10
# Pixels from the middle of a dot to its label.


@dataclass(frozen=True, slots=True)
class Place:
    """A note in a drawing: its key, its title, and the address of its page."""

    key: str
    title: str
    href: str


@dataclass(frozen=True, slots=True)
class Line:
    start: str
    end: str
    word: str = ""


def drawn(places: Mapping[str, Place], lines: Sequence[Line], title: str, here: str = "") -> str:
    """Draw the notes that lines connect; `here` is the note whose page it is.

    Words stand at the lines of the one note, where they can be told apart.
    """
    found = laid_out((line.start, line.end) for line in lines)
    strokes = (_stroke(found.dots, line, words=bool(here)) for line in lines)
    spots = (_spot(places[key], found.dots[key], here) for key in sorted(found.dots))
    return (
        f'<div class="drawing" tabindex="0" role="region" aria-label="{escape(title)}">'
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{found.width}" height="{found.height}" '
        f'viewBox="0 0 {found.width} {found.height}">'
        f"<title>{escape(title)}</title>\n{''.join(strokes)}{''.join(spots)}</svg></div>\n"
    )


def _stroke(dots: Mapping[str, Dot], line: Line, *, words: bool) -> str:
    start, end = dots[line.start], dots[line.end]
    drawn = f'<line x1="{start.x}" y1="{start.y}" x2="{end.x}" y2="{end.y}"/>'
    if words and line.word:
        x, y = round((start.x + end.x) / 2, 1), round((start.y + end.y) / 2, 1)
        drawn += f'<text class="word" x="{x}" y="{y}" text-anchor="middle">{escape(line.word)}'
        drawn += "</text>"
    return drawn + "\n"


def _spot(place: Place, dot: Dot, here: str) -> str:
    title = escape(place.title)
    label = escape(cut_short(place.title, _LABEL))
    if place.key == here:
        circle = f'<circle class="here" cx="{dot.x}" cy="{dot.y}" r="8"/>'
        return f"<g><title>{title}</title>{circle}{_text(dot, label, upright=True)}</g>\n"
    circle = f'<circle cx="{dot.x}" cy="{dot.y}" r="6"/>'
    shown = f"<title>{title}</title>{circle}{_text(dot, label, upright=False)}"
    return f'<a href="{escape(place.href)}">{shown}</a>\n'


def _text(dot: Dot, label: str, *, upright: bool) -> str:
    """Write a label along the ray from the centre, the right way up; that of the centre below."""
    if upright or not dot.degrees:
        y = round(dot.y + 2 * _BESIDE, 1)
        return f'<text x="{dot.x}" y="{y}" text-anchor="middle">{label}</text>'
    left = 90 < dot.degrees < 270
    turn = round(dot.degrees - 180 if left else dot.degrees, 1)
    x = round(dot.x - _BESIDE if left else dot.x + _BESIDE, 1)
    anchor = ' text-anchor="end"' if left else ""
    return (
        f'<text x="{x}" y="{dot.y}" dy=".35em" transform="rotate({turn} {dot.x} {dot.y})"'
        f"{anchor}>{label}</text>"
    )
