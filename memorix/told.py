"""Answers about what was written, as data and as text for a reader."""

import shlex
from collections.abc import Sequence
from typing import Any

from memorix.diverged import Diverged, Merge
from memorix.history import Told, Undone
from memorix.note import Note
from memorix.proving import Proof
from memorix.versions import Version

_PATHS = 3
# Shown of a change that touched many; the rest is counted.


def undone(done: Sequence[Undone]) -> dict[str, Any]:
    return {
        "undone": [
            {"change": u.change.id, "what": u.change.what, "by": u.id, "steps": list(u.steps)}
            for u in done
        ]
    }


def undone_text(done: Sequence[Undone]) -> str:
    lines = []
    for one in done:
        change = one.change
        head = f"undone: {change.what} by {change.who}, {change.at} [{change.id}]"
        lines.append(head if one.id else f"would be {head}")
        lines += [f"- {step}" for step in one.steps]
        lines += [f"redo: memorix undo {one.id}"] if one.id else []
    return "\n".join(lines)


def changes(listed: Sequence[Told]) -> dict[str, Any]:
    return {
        "changes": [
            {
                "id": t.change.id,
                "at": t.change.at,
                "who": t.change.who,
                "what": t.change.what,
                "paths": list(t.paths),
                "undoes": t.change.undoes,
                "undone": t.undone,
            }
            for t in listed
        ]
    }


def changes_text(listed: Sequence[Told]) -> str:
    return "\n".join(_change_line(told) for told in listed) or "Nothing was written of late."


def _change_line(told: Told) -> str:
    change, shown = told.change, ", ".join(told.paths[:_PATHS])
    more = f" and {len(told.paths) - _PATHS} more" if len(told.paths) > _PATHS else ""
    undoes = f" of {change.undoes}" if change.undoes else ""
    mark = "  (undone)" if told.undone else ""
    return f"{change.at}  {change.id}  {change.who}  {change.what}{undoes}  {shown}{more}{mark}"


def versions(found: Sequence[Version], diffs: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
    listed = [
        {"etag": v.etag, "path": v.path, "at": v.at, "who": v.who, "what": v.what, "id": v.change}
        for v in found
    ]
    for version, diff in zip(listed, diffs, strict=False):
        version["diff"] = "".join(diff)
    return {"versions": listed}


def versions_text(found: Sequence[Version], diffs: Sequence[Sequence[str]] = ()) -> str:
    lines = []
    for number, version in enumerate(found):
        lines.append(_version_line(version))
        lines += [_ended(line) for line in diffs[number]] if diffs else []
    return "\n".join(lines)


def _version_line(version: Version) -> str:
    when, who = version.at or "time unknown        ", version.who or "by hand"
    change = f"  [{version.change}]" if version.change else ""
    return f"{when}  {version.etag[:15] or 'gone'}  {who}  {version.what}  {version.path}{change}"


def _ended(line: str) -> str:
    return line.rstrip("\r\n")


def restored(version: Version) -> dict[str, Any]:
    return {"path": version.path, "etag": version.etag}


def restored_text(version: Version) -> str:
    return f"restored: {version.path} as of {version.etag[:15]}"


def archived(notes: Sequence[Note]) -> dict[str, Any]:
    return {"archived": [{"id": n.id, "title": n.title, "path": n.path} for n in notes]}


def archived_text(notes: Sequence[Note]) -> str:
    return "\n".join(f"{n.id}  {n.title}  ({n.path})" for n in notes) or "The archive is empty."


def proved(proof: Proof) -> dict[str, Any]:
    return {
        "searched": [
            {"folder": str(s.folder), "files": s.files, "bytes": s.size_bytes}
            for s in proof.searched
        ],
        "sought": proof.sought,
        "left": list(proof.left),
        "others": list(proof.others),
        "beyond": list(proof.beyond),
    }


def proved_text(proof: Proof) -> str:
    lines = [
        f"searched for {proof.sought} pieces of it, in any case, also within compressed texts:"
    ]
    lines += [f"- {s.folder}: {s.files} files, {s.size_bytes:,} bytes" for s in proof.searched]
    lines += [f"LEFT: {left}" for left in proof.left] or ["nothing of it is left there"]
    lines += [f"says some of the same words itself: {other}" for other in proof.others]
    return "\n".join([*lines, *(f"beyond reach: {beyond}" for beyond in proof.beyond)])


# -- notes of which there are two versions


def diverged(
    listed: Sequence[Diverged], diffs: Sequence[Sequence[str]], known_from: Sequence[str] = ()
) -> dict[str, Any]:
    """`diffs` are how the second version differs, `known_from` what is known of their beginning."""
    found = []
    for place, (one, diff) in enumerate(zip(listed, diffs, strict=True)):
        added, removed = _counted(diff)
        entry = {"note": one.note, "copy": one.copy, "by": one.by, "alone": one.alone}
        entry |= {"added": added, "removed": removed}
        more = {"diff": "".join(diff), "base": known_from[place]} if known_from else {}
        found.append(entry | more)
    return {"conflicts": found}


def diverged_text(listed: Sequence[Diverged], diffs: Sequence[Sequence[str]]) -> str:
    lines = []
    for one, diff in zip(listed, diffs, strict=True):
        lines += [_two_versions(one, diff)]
    if not lines:
        return "No note has a conflict copy, or marks of git."
    ways = "memorix conflicts show PATH, memorix conflicts merge PATH [--write]"
    return "\n".join([*lines, "", ways])


def _two_versions(one: Diverged, diff: Sequence[str]) -> str:
    added, removed = _counted(diff)
    more = f"{added} line{'' if added == 1 else 's'} more"
    apart = f"{more}, {removed} less" if added or removed else "the same text"
    if one.alone:
        return f"{one.copy}\n  a copy by {one.by}; its note {one.note} is gone"
    if not one.copy:
        return f"{one.note}\n  two versions between git's marks: the second has {apart}"
    return f"{one.note}\n  {one.copy}\n  a copy by {one.by}: it has {apart}"


def _counted(diff: Sequence[str]) -> tuple[int, int]:
    lines = [line for line in diff if not line.startswith(("+++ ", "--- "))]
    added, removed = (sum(line.startswith(mark) for line in lines) for mark in "+-")
    return added, removed


def differences_text(
    listed: Sequence[Diverged], diffs: Sequence[Sequence[str]], known_from: Sequence[str]
) -> str:
    parts = []
    for one, diff, known in zip(listed, diffs, known_from, strict=True):
        began = known or "not known; what both have in common has to do"
        parts += [_two_versions(one, diff), f"  both began from: {began}", _joined(diff)]
    return "\n".join(parts)


def merged(done: Sequence[Merge]) -> dict[str, Any]:
    return {
        "merged": [
            {
                "note": plan.one.note,
                "copy": plan.one.copy,
                "status": _status(plan),
                "conflicts": list(plan.conflicts),
                "base": plan.known_from,
                "diff": "".join(plan.lines),
                "archived": plan.archived,
            }
            for plan in done
        ]
    }


def _status(plan: Merge) -> str:
    if plan.conflicts:
        return "undecided"
    return "merged" if plan.written else "planned"


def merged_text(done: Sequence[Merge]) -> str:
    lines = []
    for plan in done:
        lines += [f"{_status(plan)}: {plan.one.note}{_said_of_copy(plan)}"]
        if plan.conflicts:
            lines += [f"  both changed {', '.join(plan.conflicts)}; nothing is written"]
            lines += [f"  memorix conflicts merge {shlex.quote(plan.one.path)} --take ours|theirs"]
        lines += [_joined(plan.lines) or "  the note stays as it is"]
    if any(_status(plan) == "planned" for plan in done):
        lines += ["Nothing is written yet: --write does it, `memorix undo` takes it back."]
    return "\n".join(lines) or "No note has a conflict copy, or marks of git."


def _said_of_copy(plan: Merge) -> str:
    if plan.conflicts or not plan.one.copy:
        return ""
    if plan.one.alone:
        return f" (that was {plan.one.copy})"
    return f", {plan.one.copy} -> {plan.archived or 'the archive'}"


def _joined(diff: Sequence[str]) -> str:
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in diff).rstrip("\n")
