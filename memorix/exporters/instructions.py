"""The best of the notes as a block of lines for CLAUDE.md or AGENTS.md, within a budget of tokens.

They are chosen as for the brief.  What contradicts another note, waits for a review, or reads like
an instruction is left out: what stands here is read in every session.
"""

from dataclasses import dataclass

from memorix import blocks, brief, held, screening
from memorix.exporters.base import Chosen, Files, Form, Outgoing
from memorix.layout import folder_of
from memorix.note import Note, format_time

ABOUT = "`memorix export --to instructions` writes this block"

HEAD = """\
## Known facts (memorix-notes)

Kept from earlier sessions, each with its date. Where one differs from the code, the code is right.
"""


@dataclass(frozen=True, slots=True)
class Instructions:
    """The exporter; `max_tokens` is about how many the block may take, marks and all."""

    max_tokens: int = brief.BUDGET
    name: str = "instructions"
    about: str = "a block in CLAUDE.md or AGENTS.md: the best facts within --max-tokens"
    form: Form = "block"
    everything: bool = False

    def files(self, chosen: Chosen) -> Files:
        entries = [_entry(one) for one in chosen.notes if _fit_for_all(one)]
        contested = {entry.id for entry in entries if entry.contested_by}
        contested |= {other for entry in entries for other in entry.contested_by}
        frame = blocks.framed(blocks.FACTS, ABOUT, HEAD)
        left = self.max_tokens - sum(map(brief.estimate_tokens, frame.splitlines()))
        plain = [entry for entry in entries if entry.id not in contested]
        told = brief.fitting(plain, left, _line)
        lines = "\n".join([HEAD, *map(_line, sorted(told, key=brief.rank))])
        yield "AGENTS.md", blocks.framed(blocks.FACTS, ABOUT, lines).encode()


def _fit_for_all(one: Outgoing) -> bool:
    """Say whether a note may stand where nobody asked for it, whatever else was exported."""
    note = one.note
    waits = held.in_inbox(note.path, folder_of(one.scope)) or note.status == "draft"
    replaced = note.superseded_by or note.status == "deprecated"
    return not (waits or replaced or screening.instructions(f"{note.title}\n{note.body}"))


def _entry(one: Outgoing) -> brief.Entry:
    note = one.note
    type, title, gist = _plain(note.type), _plain(note.title), _plain(note.gist)
    return brief.Entry(str(note.id), type, title, gist, _date(note), one.scope, note.contested_by)


def _date(note: Note) -> str:
    at = note.changed or note.created
    return format_time(at)[:10] if at else ""


def _plain(text: str) -> str:
    """Return a text on one line in which nothing begins or ends a comment."""
    return " ".join(text.split()).replace("<!--", "&lt;!--").replace("-->", "--&gt;")


def _line(entry: brief.Entry) -> str:
    said = "" if entry.gist == entry.title else f": {brief.cut(entry.gist)}"
    date = f" ({entry.date})" if entry.date else ""
    return f"- {entry.type}{date} {entry.title}{said}"
