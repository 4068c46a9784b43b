"""Look through texts for what must not be kept or passed on as it is, and say where.

A finding is a `secret`, which is a key or password, or `instruction-like`, which is text that
addresses the model that will read it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memorix import assignments, injection, keyforms
from memorix.kinds import INSTRUCTION, SECRET
from memorix.note import Note, Warning
from memorix.yamltext import Value

_SAYS = {
    SECRET: "this looks like a {}; the note is kept out of recall",
    INSTRUCTION: "this reads like {}",
}
_MARKUP = re.compile(r"[*_`]")
_LAST_WORD = re.compile(r"[!-~]{4,}\Z")
_LONGEST_CUT = 300
# Characters of a title, of which a secret cut short is the end.


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A part of a text, from `start` up to `end`, and what it seems to be."""

    start: int
    end: int
    kind: str
    label: str


def findings(text: str) -> list[Finding]:
    """Return all there is to say about a text."""
    lower = _lower(text)
    return [*_secrets(text, lower), *_instructions(text, lower)]


def secrets(text: str) -> list[Finding]:
    """Return the keys and passwords in a text, in order, none within another."""
    return _secrets(text, _lower(text))


def instructions(text: str) -> list[Finding]:
    """Return what addresses the reader as a model to be steered, in order."""
    return _instructions(text, _lower(text))


def _secrets(text: str, lower: str) -> list[Finding]:
    found = (*keyforms.find(text, lower), *assignments.find(text, lower))
    return _apart(Finding(start, end, SECRET, label) for start, end, label in found)


def _instructions(text: str, lower: str) -> list[Finding]:
    found = injection.find(text, lower)
    return _apart(Finding(start, end, INSTRUCTION, label) for start, end, label in found)


def values(text: str, findings: Sequence[Finding]) -> dict[str, str]:
    """Return the secrets found in a text, and what each is."""
    return {text[one.start : one.end]: one.label for one in findings if one.kind == SECRET}


def hide(text: str, found: Mapping[str, str]) -> str:
    """Return a text with each value of `found` replaced by what it is: `(masked GitHub token)`.

    The mark is plain in Markdown, YAML and JSON, and is itself no secret.  Hidden as well is what
    a title makes of a value: without the signs of markup, or cut short to an ellipsis.
    """
    if not found:
        return text
    spelled = {_MARKUP.sub("", value): label for value, label in found.items()} | dict(found)
    for value, label in sorted(spelled.items(), key=lambda one: -len(one[0])):
        text = _replaced(text, value, f"(masked {label})")
    for cut in _cut_short(text):
        label = next((label for value, label in spelled.items() if value.startswith(cut)), "")
        text = text.replace(f"{cut}…", f"(masked {label})…") if label else text
    return text


def _cut_short(text: str) -> list[str]:
    """Return what stands right before each ellipsis, without the words before that."""
    heads = (text[max(0, m.start() - _LONGEST_CUT) : m.start()] for m in re.finditer("…", text))
    return [found[0] for head in heads if (found := _LAST_WORD.search(head))]


def _replaced(text: str, value: str, mark: str) -> str:
    """Replace a value where it stands alone; where it nowhere does, wherever it stands."""
    if value not in text:
        return text
    alone = rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])"
    spared = re.sub(alone, lambda _: mark, text)
    return spared if spared != text else text.replace(value, mark)


def hide_within(value: Value, found: Mapping[str, str]) -> Value:
    """Return a value of a note's block with each value of `found` hidden in its texts."""
    if isinstance(value, Mapping):
        return {key: hide_within(item, found) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [hide_within(item, found) for item in value]
    return hide(value, found) if isinstance(value, str) else value


def hidden_in(note: Note, found: Mapping[str, str]) -> Note:
    """Return a note with each value of `found` hidden in what is searched and shown of it."""
    if not found:
        return note
    return replace(
        note,
        title=hide(note.title, found),
        description=hide(note.description, found),
        body=hide(note.body, found),
        meta={key: hide_within(value, found) for key, value in note.meta.items()},
        tags=tuple(hide(tag, found) for tag in note.tags),
        aliases=tuple(hide(alias, found) for alias in note.aliases),
    )


def warnings(text: str, findings: Sequence[Finding]) -> tuple[Warning, ...]:
    """Return what there is to tell about the text of a file, each with its line."""
    return tuple(
        Warning(one.kind, text.count("\n", 0, one.start) + 1, _SAYS[one.kind].format(one.label))
        for one in findings
    )


def _lower(text: str) -> str:
    return text.replace("\u0130", "I").lower()  # the one letter that grows in lower case


def _apart(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings in order; of those that overlap, the widest, which says most."""
    kept: list[Finding] = []
    for finding in sorted(findings, key=lambda f: (f.start, -f.end)):
        if kept and finding.start < kept[-1].end:
            if finding.end - finding.start > kept[-1].end - kept[-1].start:
                kept[-1] = finding
        else:
            kept.append(finding)
    return kept
