"""The state of a vault, as data and as text."""

import json
from datetime import UTC, datetime
from typing import Any

from memorix.committing import State
from memorix.note import format_time
from memorix.results import Status


def as_data(state: Status) -> dict[str, Any]:
    following = state.following
    synced = following.last_sync if following else 0.0
    return {
        "vault": str(state.vault),
        "index": str(state.index),
        "scopes": list(state.scopes),
        "project": state.project,
        "project_by": state.project_by,
        "notes": state.counts.notes,
        "chunks": state.counts.chunks,
        "by_scope": dict(state.counts.by_scope),
        "by_type": dict(state.counts.by_type),
        "waiting": state.waiting,
        "model": state.model,
        "reranker": state.reranker,
        "uncommitted": state.commits.waiting if state.commits else 0,
        "vectors": state.counts.vectors,
        "vectors_pending": state.counts.pending,
        "vector_search": state.vector_search,
        "watching": following.mode if following else "off",
        "last_sync": format_time(datetime.fromtimestamp(synced, UTC)) if synced else "",
        "trouble": state.trouble,
        "warnings": [
            {"path": path, "code": code, "line": line, "message": message}
            for path, code, line, message in state.warnings
        ],
    }


def as_json(state: Status) -> str:
    return json.dumps(as_data(state), ensure_ascii=False, indent=1)


def as_text(state: Status) -> str:
    data = as_data(state)
    synced = data["last_sync"]
    scopes = ", ".join(f"{name} {count}" for name, count in data["by_scope"].items()) or "none"
    project = f"{data['project']} (known by {data['project_by']})" if data["project"] else "none"
    lines = [
        f"vault     {data['vault']}",
        f"index     {data['index']}",
        f"project   {project}",
        f"notes     {data['notes']} ({scopes})",
        *([f"inbox     {_suggestions(state.waiting)}"] if state.waiting else []),
        f"model     {data['model']}",
        *([f"reranker  {data['reranker']}"] if state.reranker != "off" else []),
        *([f"commits   {waiting(state.commits)}"] if data["uncommitted"] else []),
        f"vectors   {data['vectors']} made, {data['vectors_pending']} pending, "
        f"searched by {data['vector_search']}",
        f"watching  {data['watching']}" + (f", seen at {synced}" if synced else ""),
    ]
    if data["trouble"]:
        lines.append(f"trouble   {data['trouble']}")
    lines += [
        f"warning   {w['path']}:{w['line']} {w['code']}: {w['message']}" for w in data["warnings"]
    ]
    return "\n".join(lines)


def waiting(commits: State | None) -> str:
    """Say how many changes are not committed, and why."""
    count = commits.waiting if commits else 0
    why = commits.trouble if commits else ""
    return f"{count} change{'s wait' if count > 1 else ' waits'}: {why or 'the next write goes on'}"


def _suggestions(count: int) -> str:
    return f"{count} suggestion{'s wait' if count > 1 else ' waits'} for review: memorix inbox"
