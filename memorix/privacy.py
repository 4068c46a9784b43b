"""Keep back what its writer marked as private: notes with `private: true`, and `<private>` spans.

It stays in the file, and is read by who asks for the note by its id; it is not searched, listed,
briefed or exported.
"""

import re
from dataclasses import replace

from memorix.note import Note
from memorix.prose import without_code

_MARK = re.compile(r"<(?P<closing>/?)private\b[^>\n]*>", re.IGNORECASE)
_YES = frozenset({"true", "yes", "on", "1"})


def is_private(note: Note) -> bool:
    """Say whether a whole note is private."""
    value = note.meta.get("private")
    return isinstance(value, str) and value.strip().lower() in _YES


def spans(text: str) -> list[tuple[int, int]]:
    """Return the places from each `<private>` to its `</private>`, both included.

    One that is never closed reaches to the end.  In code the marks are only spoken of.
    """
    if not _MARK.search(text):
        return []
    found, depth, start = [], 0, 0
    for mark in _MARK.finditer(without_code(text)):
        if not mark["closing"]:
            start = start if depth else mark.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                found.append((start, mark.end()))
    return [*found, (start, len(text))] if depth else found


def without(text: str) -> str:
    """Return a text without its private spans."""
    parts, end = [], 0
    for start, stop in spans(text):
        parts.append(text[end:start])
        end = stop
    return "".join([*parts, text[end:]]) if end else text


def public(note: Note) -> Note:
    """Return what a note says to everybody; the note itself where nothing of it is private."""
    title, said, body = without(note.title).strip(), without(note.description), without(note.body)
    if (title, said, body) == (note.title, note.description, note.body):
        return note
    return replace(note, title=title, description=said, body=body)
