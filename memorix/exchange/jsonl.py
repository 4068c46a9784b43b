"""Notes as JSON Lines: one object a note with its path, its metadata as typed, and its body."""

import json
from pathlib import Path

from memorix.exchange.base import Files, refuse_existing
from memorix.files import write_atomic
from memorix.note import parse


def write_lines(files: Files, target: Path) -> int:
    refuse_existing(target)
    lines = [_line(path, content) for path, content in files]
    write_atomic(target, "".join(lines).encode("utf-8", "replace"))
    return len(lines)


def _line(path: str, content: bytes) -> str:
    note = parse(content, path)
    entry = {
        "id": note.id,
        "path": path,
        "type": note.type,
        "title": note.title,
        "meta": note.meta,
        "body": note.body,
    }
    return json.dumps(entry, ensure_ascii=False) + "\n"
