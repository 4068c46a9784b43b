"""Answers about what was written, as data and as text for a reader."""

from collections.abc import Sequence
from typing import Any

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
