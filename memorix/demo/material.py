"""The notes and questions of the demonstration, as they are shipped."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.resources import files

from memorix.lifecycle import Draft, by, draft_from
from memorix.note import parse_time

ENGLISH, CHINESE = "tidewater", "tingchao"
# The two invented projects the notes belong to.


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the title of the note that answers it."""

    kind: str
    text: str
    title: str
    project: str


def drafts() -> Iterator[tuple[Draft, str]]:
    """Yield every note as a draft, with the scope it belongs to."""
    for project in (ENGLISH, CHINESE):
        for line in _read(f"{project}.jsonl").splitlines():
            row = json.loads(line)
            draft = draft_from(row["text"], row["title"], row["type"], row["tags"])
            draft = replace(draft, when=parse_time(row["date"]))
            yield by(draft, "memorix-demo/1"), "user" if row["scope"] == "user" else project


def questions() -> list[Asked]:
    return [
        Asked(row["kind"], row["question"], row["title"], project)
        for project in (ENGLISH, CHINESE)
        for row in json.loads(_read(f"{project}-questions.json"))
    ]


def _read(name: str) -> str:
    return files("memorix.demo").joinpath(name).read_text(encoding="utf-8")
