"""What ChatGPT and Claude keep of conversations comes in for review, however large it is."""

import json
import tracemalloc
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from memorix import inbox
from memorix.importers import formats
from memorix.importers.conversations import PART
from memorix.memory import Memory
from tests.test_importing import take, titled


def node(parent: str | None, role: str, said: str, at: float) -> dict[str, object]:
    content = {"content_type": "text", "parts": [said]}
    message = {"author": {"role": role}, "content": content, "create_time": at}
    return {"message": message, "parent": parent}


def chatgpt(title: str = "Ports", key: str = "c-1", size: int = 10) -> dict[str, object]:
    return {
        "title": title,
        "conversation_id": key,
        "create_time": 1_700_000_000.5,
        "current_node": "d",
        "default_model_slug": "gpt-x",
        "mapping": {
            "a": {"message": None, "parent": None},
            "s": node("a", "system", "You are helpful", 1_700_000_000),
            "b": node("s", "user", "Which port does staging use?", 1_700_000_001),
            "x": node("b", "assistant", "A reply that was given up", 1_700_000_002),
            "d": node("b", "assistant", "5433. " * size, 1_700_000_003),
        },
    }


CLAUDE = {
    "uuid": "u-1",
    "name": "发布流程",
    "created_at": "2026-01-05T09:00:00.000000Z",
    "chat_messages": [
        {
            "sender": "human",
            "text": "什么时候发布？",
            "content": [{"type": "text", "text": "什么时候发布？"}],
            "attachments": [{"file_name": "a.txt", "extracted_content": "每周三"}],
            "created_at": "2026-01-05T09:00:01Z",
        },
        {"sender": "assistant", "text": "每周三。", "content": [{"type": "tool_use"}]},
    ],
}


def wrote(file: Path, data: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return file


def test_a_chatgpt_conversation_waits_as_an_episode_with_its_date_and_the_branch_that_counts(
    memory: Memory, tmp_path: Path
) -> None:
    source = wrote(tmp_path / "conversations.json", [chatgpt()])

    assert take(memory, source) == {"new": 1}

    note = titled(memory, "Ports")
    assert (note.type, note.status, note.meta["imported_id"]) == ("Episode", "draft", "c-1")
    assert note.created == datetime(2023, 11, 14, 22, 13, 21, tzinfo=UTC)
    assert note.body.startswith("\n**User:** Which port does staging use?\n\n**Assistant:** 5433.")
    assert "given up" not in note.body
    assert "helpful" not in note.body
    assert [one.title for one in inbox.suggestions(memory)] == ["Ports"]
    assert take(memory, source) == {"known": 1}


def test_a_claude_export_is_read_from_its_zip_with_what_it_remembers(
    memory: Memory, tmp_path: Path
) -> None:
    source = tmp_path / "export.zip"
    remembered = [{"conversations_memory": "Prefers short answers.", "account_uuid": "me"}]
    with zipfile.ZipFile(source, "w") as packed:
        packed.writestr("data/conversations.json", json.dumps([CLAUDE]))
        packed.writestr("data/memories.json", json.dumps(remembered))

    assert take(memory, source) == {"new": 2}

    talk = titled(memory, "发布流程")
    assert "**User:** 什么时候发布？\n\nAttached a.txt:\n\n每周三" in talk.body
    assert talk.body.strip().endswith("**Assistant:** 每周三。")
    known = titled(memory, "What Claude remembers")
    assert (known.type, known.body.strip()) == ("Profile", "Prefers short answers.")


def test_a_long_conversation_becomes_several_notes(memory: Memory, tmp_path: Path) -> None:
    source = wrote(tmp_path / "conversations.json", [chatgpt(size=PART // 4)])

    assert take(memory, source) == {"new": 2}
    assert titled(memory, "Ports (2/2)").meta["imported_id"] == "c-1#2"


def test_a_file_cut_short_gives_what_stands_before_the_cut(memory: Memory, tmp_path: Path) -> None:
    source = wrote(tmp_path / "conversations.json", [chatgpt(), chatgpt("Late", "c-2")])
    source.write_bytes(source.read_bytes()[:-300])

    assert take(memory, source) == {"new": 1, "unreadable": 1}


def test_elements_of_other_kinds_are_named(memory: Memory, tmp_path: Path) -> None:
    odd = [7, None, "x", {"mapping": 3, "title": []}, {"mapping": {"a": 1}, "current_node": "a"}]
    source = wrote(tmp_path / "conversations.json", [chatgpt(), *odd])

    assert take(memory, source) == {"new": 1, "unreadable": 5}


def test_a_large_export_is_read_one_conversation_at_a_time(tmp_path: Path) -> None:
    source = tmp_path / "conversations.json"
    with source.open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(400):
            file.write(("," if number else "") + json.dumps(chatgpt(key=str(number), size=8000)))
        file.write("]")
    importer = formats.choose(source)
    assert importer is not None
    assert source.stat().st_size > 19_000_000

    tracemalloc.start()
    count = sum(1 for _ in importer.read(source))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count == 400
    assert peak < 3_000_000
