"""The exports of ChatGPT and Claude accounts: conversations, and what Claude remembers.

The files may have hundreds of megabytes; they are read one conversation at a time.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memorix.imported import Record, Unreadable
from memorix.importers.base import NO, SURE, fields, items, text, time
from memorix.importers.conversations import Turn, records
from memorix.importers.jsonfile import head_of, listed, members

CONVERSATIONS, MEMORIES = "conversations.json", "memories.json"


class ChatGPT:
    """`conversations.json` of a ChatGPT export, alone, in its folder or in its .zip."""

    name = "chatgpt"

    def detect(self, source: Path) -> float:
        found = head_of(source, CONVERSATIONS)
        return SURE if b'"mapping"' in found and b'"conversation_id"' in found else NO

    def read(self, source: Path) -> Iterator[Record | Unreadable]:
        for member in members(source, (CONVERSATIONS,), prefix="conversations-"):
            for where, found in listed(member, "item"):
                if isinstance(found, Unreadable):
                    yield found
                    continue
                yield from _named(where, _of_chatgpt(found))


class Claude:
    """`conversations.json` and `memories.json` of a Claude export."""

    name = "claude"

    def detect(self, source: Path) -> float:
        if b'"chat_messages"' in head_of(source, CONVERSATIONS):
            return SURE
        return SURE if b'"conversations_memory"' in head_of(source, MEMORIES) else NO

    def read(self, source: Path) -> Iterator[Record | Unreadable]:
        for member in members(source, (CONVERSATIONS, MEMORIES)):
            for where, found in listed(member, "item"):
                if isinstance(found, Unreadable):
                    yield found
                elif "chat_messages" in found:
                    yield from _named(where, _of_claude(found))
                else:
                    yield from _named(where, _remembered(found))


def _named(where: str, found: Iterator[Record]) -> Iterator[Record | Unreadable]:
    """Pass records on; a conversation in which nothing is said is named."""
    empty = True
    for record in found:
        empty = False
        yield record
    if empty:
        yield Unreadable(where, "nothing is said in it")


def _of_chatgpt(found: Mapping[str, Any]) -> Iterator[Record]:
    key = text(found.get("conversation_id")) or text(found.get("id"))
    turns = [turn for node in _thread(found) for turn in _turn(fields(node.get("message")))]
    extra = {"model": text(found.get("default_model_slug"))}
    title = text(found.get("title"))
    made = time(found.get("create_time"))
    turns = [Turn(turn.role, turn.text, turn.at or made) for turn in turns]
    yield from records(key or title, title, turns, "", extra)


def _thread(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the nodes from the first to the current one; replies given up are left out."""
    mapping = fields(found.get("mapping"))
    here = text(found.get("current_node")) or next(reversed(list(mapping)), "")
    nodes: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while here in mapping and here not in seen:
        seen.add(here)
        nodes.append(fields(mapping[here]))
        here = text(nodes[-1].get("parent"))
    return nodes[::-1]


def _turn(message: Mapping[str, Any]) -> Iterator[Turn]:
    role = text(fields(message.get("author")).get("role"))
    hidden = fields(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if role not in ("user", "assistant") or hidden:
        return
    content = fields(message.get("content"))
    parts = [part for part in items(content.get("parts")) if isinstance(part, str)]
    said = "\n\n".join(parts) or text(content.get("text"))
    if content.get("content_type") == "code" and said:
        said = f"```\n{said}\n```"
    yield Turn(role, said, time(message.get("create_time")))


def _of_claude(found: Mapping[str, Any]) -> Iterator[Record]:
    turns = [_message(fields(message)) for message in items(found.get("chat_messages"))]
    made = time(found.get("created_at"))
    turns = [Turn(turn.role, turn.text, turn.at or made) for turn in turns]
    title = text(found.get("name"))
    extra = {"project": text(fields(found.get("project")).get("name"))}
    yield from records(text(found.get("uuid")) or title, title, turns, "", extra)


def _message(message: Mapping[str, Any]) -> Turn:
    blocks = [fields(block) for block in items(message.get("content"))]
    parts = [text(block.get("text")) for block in blocks if block.get("type", "text") == "text"]
    attached = [fields(one) for one in items(message.get("attachments"))]
    parts += [
        f"Attached {text(one.get('file_name'))}:\n\n{text(one.get('extracted_content'))}"
        for one in attached
        if text(one.get("extracted_content"))
    ]
    said = "\n\n".join(part for part in parts if part.strip()) or text(message.get("text"))
    return Turn(text(message.get("sender")), said, time(message.get("created_at")))


def _remembered(found: Mapping[str, Any]) -> Iterator[Record]:
    """Yield what Claude keeps about its user, and about each project."""
    account = text(found.get("account_uuid"))
    whole = text(found.get("conversations_memory"))
    if whole.strip():
        yield Record(f"memory {account}", "What Claude remembers", whole, "Profile")
    projects = fields(found.get("project_memories"))
    for project, said in projects.items():
        if text(said).strip():
            title = f"What Claude remembers of project {project}"
            yield Record(f"memory {account} {project}", title, text(said), "Fact")
