"""What wants to be settled, as data, as text for a person, and as calls for an assistant."""

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from memorix.note import cut_short
from memorix.tidying import KINDS, Finding, Mention, Plan, Step

SHOWN, NAMED = 10, 5
# Findings of a kind, and notes of a finding, that a text tells of; the data hold all.

_GIST = 110


def as_data(plan: Plan) -> dict[str, Any]:
    findings = [
        asdict(finding) | {"steps": [_step(step) for step in finding.steps]}
        for finding in plan.findings
    ]
    counts = {kind: len(plan.of(kind)) for kind in KINDS if plan.of(kind)}
    scopes = list(plan.scopes) or ["all"]
    return {"scopes": scopes, "looked_at": plan.looked_at, "counts": counts, "findings": findings}


def _step(step: Step) -> dict[str, str]:
    return {"command": command(step), "call": call(step), "when": step.why}


def as_text(plan: Plan) -> str:
    """Print the plan for a person: by kind, each with the commands that would settle it."""
    scopes = " + ".join(plan.scopes) or "all scopes"
    head = f"{plan.looked_at:,} notes looked at in {scopes}: "
    if not plan.findings:
        return f"{head}nothing to settle."
    parts = [f"{head}{len(plan.findings):,} to settle."]
    parts += [_section(kind, plan.of(kind)) for kind in KINDS if plan.of(kind)]
    return "\n\n".join(parts)


def _section(kind: str, found: Sequence[Finding]) -> str:
    """Print the findings of one kind; commands that are the same for all but the id stand once."""
    lines = [f"{KINDS[kind]} ({len(found):,})"]
    if found[0].safe:
        lines.append("  memorix tidy --apply")
    common = {tuple(_told(replace(step, id="ID")) for step in finding.steps) for finding in found}
    once = len(common) == 1 and len(found[0].notes) == 1
    if once:
        lines += [f"  {told}" for told in next(iter(common))]
    for finding in found[:SHOWN]:
        lines += _alone(finding) if len(finding.notes) == 1 else _together(finding)
        lines += [] if once else [f"    {_told(step)}" for step in finding.steps[:NAMED]]
    if len(found) > SHOWN:
        lines.append(f"... and {len(found) - SHOWN:,} more; --json tells of all")
    return "\n".join(lines)


def _alone(finding: Finding) -> list[str]:
    return [f"- {finding.says}: {_named(finding.notes[0])}"]


def _together(finding: Finding) -> list[str]:
    named = [f"  {_named(note)}" for note in finding.notes[:NAMED]]
    more = len(finding.notes) - NAMED
    return [f"- {finding.says}", *named, *([f"  ... and {more} more"] if more > 0 else [])]


def _named(note: Mention) -> str:
    """Name a note by its id, its day and its title; by how it begins where that holds the title."""
    title, gist = note.title.rstrip("…"), cut_short(note.gist, _GIST)
    told = gist if title in gist else f"{note.title}: {gist}" if gist else note.title
    return f"[{note.id}] {note.date} {told}"


def _told(step: Step) -> str:
    return f"{command(step)}   # {step.why}" if step.why else command(step)


def command(step: Step) -> str:
    """Return a step as a person types it."""
    words = ["memorix", step.verb, *([step.id] if step.id else [])]
    for name, value in step.options.items():
        if name == "sources":
            words += ["--set", f"sources={','.join(value)}"]
        elif value == "true":
            words.append(f"--{name}")
        else:
            values = [value] if isinstance(value, str) else value
            words += [word for one in values for word in (f"--{name}", one)]
    return shlex.join(words)


def call(step: Step) -> str:
    """Return a step as an assistant calls it."""
    if step.verb == "edit":
        return f"read(id={_quoted(step.id)}), then revise it"
    texts = [f"id={_quoted(step.id)}"] if step.id else []
    texts += ["etag=<from read>"] if step.verb == "revise" else []
    for name, value in step.options.items():
        if name == "sources":
            texts.append(f'set={{"sources": {_quoted(value)}}}')
        elif name == "set" or value == "true":
            texts.append(f"{name}={value}")
        else:
            texts.append(f"{name}={_quoted(value)}")
    return f"{step.verb}({', '.join(texts)})"


def _quoted(value: str | Sequence[str]) -> str:
    return json.dumps(value, ensure_ascii=False)
