"""The session transcripts of coding assistants: JSON Lines of Claude Code and of Codex.

A session becomes an episode in the inbox with what was said; tool calls and their results do not
come along.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from memorix.files import walk
from memorix.imported import Record, Unreadable
from memorix.importers.base import LIKELY, NO, SURE, fields, items, json_lines, text, time
from memorix.importers.conversations import Turn, records

_LOOKED_AT = 20
# Lines of a file and files of a folder, enough to tell what wrote them.

_CONTEXT = ("<environment_context", "<user_instructions", "# AGENTS.md instructions", "<command-")
# What begins so was put in by the program, and nobody said it.


@dataclass
class _Session:
    """What is known of a session while its lines are read."""

    key: str
    title: str = ""
    folder: str = ""
    branch: str = ""


@dataclass(frozen=True, slots=True)
class Transcripts:
    """The sessions of one program: how a line is known to be its, and what a line says."""

    name: str
    known: Callable[[Mapping[str, Any]], bool]
    turn: Callable[[Mapping[str, Any], _Session], Turn | None]
    author: str

    def detect(self, source: Path) -> float:
        if source.is_dir():
            found = islice(walk(source, (".jsonl",)), _LOOKED_AT)
            return LIKELY if any(self._wrote(file) for file in found) else NO
        return SURE if source.suffix == ".jsonl" and self._wrote(source) else NO

    def read(self, source: Path) -> Iterator[Record | Unreadable]:
        for file in walk(source, (".jsonl",)) if source.is_dir() else (source,):
            yield from self._session(file)

    def _wrote(self, file: Path) -> bool:
        lines = islice(json_lines(file), _LOOKED_AT)
        return any(not isinstance(line, Unreadable) and self.known(line[1]) for line in lines)

    def _session(self, file: Path) -> Iterator[Record | Unreadable]:
        session, turns = _Session(file.stem), list[Turn]()
        for line in json_lines(file):
            if isinstance(line, Unreadable):
                yield line
            elif (turn := self.turn(line[1], session)) and not turn.text.startswith(_CONTEXT):
                turns.append(turn)
        extra = {"session": session.key, "folder": session.folder, "branch": session.branch}
        yield from records(session.key, session.title, turns, self.author, extra)


def _is_claude_code(line: Mapping[str, Any]) -> bool:
    spoken = line.get("type") in ("user", "assistant") and "sessionId" in line
    return (spoken and "message" in line) or (line.get("type") == "summary" and "leafUuid" in line)


def _claude_code(line: Mapping[str, Any], session: _Session) -> Turn | None:
    if line.get("type") == "summary":
        session.title = session.title or text(line.get("summary"))
        return None
    if line.get("type") not in ("user", "assistant") or line.get("isMeta"):
        return None
    if line.get("isSidechain"):  # a subagent talks to the program, not to the user
        return None
    session.folder = session.folder or text(line.get("cwd"))
    session.branch = session.branch or text(line.get("gitBranch"))
    message = fields(line.get("message"))
    said = message.get("content")
    parts = [said] if isinstance(said, str) else _texts(said, ("text",))
    return Turn(text(line.get("type")), "\n\n".join(parts), time(line.get("timestamp")))


def _is_codex(line: Mapping[str, Any]) -> bool:
    return line.get("type") in ("session_meta", "response_item") and "payload" in line


def _codex(line: Mapping[str, Any], session: _Session) -> Turn | None:
    payload = fields(line.get("payload"))
    if line.get("type") == "session_meta":
        session.key = text(payload.get("id")) or session.key
        session.folder = text(payload.get("cwd"))
        session.branch = text(fields(payload.get("git")).get("branch"))
        return None
    role = text(payload.get("role"))
    if payload.get("type") != "message" or role not in ("user", "assistant"):
        return None
    parts = _texts(payload.get("content"), ("input_text", "output_text", "text"))
    return Turn(role, "\n\n".join(parts), time(line.get("timestamp")))


def _texts(content: object, kinds: tuple[str, ...]) -> list[str]:
    blocks = [fields(block) for block in items(content)]
    return [text(block.get("text")) for block in blocks if block.get("type") in kinds]


ALL = (
    Transcripts("claude-code-sessions", _is_claude_code, _claude_code, "process:claude-code"),
    Transcripts("codex-sessions", _is_codex, _codex, "process:codex"),
)
