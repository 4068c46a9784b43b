"""Notes as JSON Lines, an object a note: with all that its file says, so that it can come back.

`front` and `body` joined are the text of the file; the other fields are what it means, for programs
that do not read Markdown.  A file that is not UTF-8 is there as `base64`.  It is described in
spec/jsonl-format.md.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

from memorix.exporters.base import Chosen, Files, Form, Outgoing
from memorix.frontmatter import cut
from memorix.intake import LINES
from memorix.note import format_time

name = "jsonl"
about = "a JSON object a line and note; comes back as it was"
form: Form = "file"
everything = True


def files(chosen: Chosen) -> Files:
    for note in chosen.notes:
        yield "notes.jsonl", _line(note)


def _line(one: Outgoing) -> bytes:
    return (json.dumps(entry(one), ensure_ascii=False) + "\n").encode("utf-8", "replace")


def entry(one: Outgoing) -> Mapping[str, Any]:
    """Return the object of a note."""
    note = one.note
    times = {"created": note.created, "changed": note.changed}
    return {
        "format": LINES,
        "id": note.id,
        "path": note.path,
        "scope": one.scope,
        "type": note.type,
        "title": note.title,
        "description": note.description,
        "tags": note.tags,
        "aliases": note.aliases,
        "status": note.status,
        **{key: format_time(moment) if moment else None for key, moment in times.items()},
        "meta": note.meta,
        "links": [
            {"target": link.target, "label": link.label, "relation": link.relation}
            | ({"path": link.path} if link.path else {})
            for link in one.links
        ],
        **_text(one),
    }


def _text(one: Outgoing) -> Mapping[str, str]:
    try:
        text = one.content.decode("utf-8")
    except UnicodeDecodeError:
        return {"body": one.note.body, "base64": base64.b64encode(one.content).decode()}
    parts = cut(text)
    return {"front": text.removesuffix(parts.body), "body": parts.body}
