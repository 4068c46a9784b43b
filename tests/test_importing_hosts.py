"""What coding assistants keep comes in: instructions, rules, memory folders and sessions."""

import json
from pathlib import Path

from memorix import inbox
from memorix.importers import formats
from memorix.memory import Memory
from tests.test_importing import take, titled
from tests.test_importing_vaults import recognised, write


def lines(file: Path, *entries: object) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    said = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    file.write_text(said, encoding="utf-8")
    return file


def test_the_instructions_of_a_project_become_a_note_for_each_section(
    memory: Memory, tmp_path: Path
) -> None:
    source = write(
        tmp_path / "repo",
        {
            "CLAUDE.md": "# Shop\n\nA web shop in Go.\n\n## Build\n\n"
            "```sh\n# Not a heading\nmake\n```"
            "\n\n## Ports\n\nStaging listens on 8443.\n\n"
            "<!-- memorix-notes: begin; x -->\nours\n<!-- memorix-notes: end -->\n",
            "AGENTS.md": "Tests run with `go test ./...`.\n",
            ".cursor/rules/api.mdc": "---\ndescription: How handlers look\nglobs: api/**\n"
            "alwaysApply: false\n---\nHandlers return problem documents.\n",
            ".github/copilot-instructions.md": "Comments are in English.\n",
            "README.md": "Not an instruction.\n",
        },
    )

    assert recognised(source) == "instructions"
    assert take(memory, source) == {"new": 6}

    build = titled(memory, "Build")
    assert build.meta["imported_id"] == "CLAUDE.md#Build"
    assert "# Not a heading" in build.body
    assert "ours" not in titled(memory, "Ports").body
    rule = titled(memory, "api")
    assert (rule.type, rule.description) == ("Procedure", "How handlers look")
    assert rule.meta["globs"] == "api/**"
    assert take(memory, source) == {"known": 6}


def test_a_bundle_that_has_instructions_too_stays_a_bundle(tmp_path: Path) -> None:
    source = write(tmp_path / "b", {"CLAUDE.md": "x", "a.md": "---\ntype: Fact\n---\ntext\n"})

    assert recognised(source) == formats.OKF


def test_a_memory_folder_keeps_topics_with_their_kind_and_links(
    memory: Memory, tmp_path: Path
) -> None:
    source = write(
        tmp_path / "memory",
        {
            "MEMORY.md": "- [Review style](feedback_review.md): short reviews\n",
            "feedback_review.md": "---\nname: Review style\ndescription: short reviews\n"
            "type: feedback\n---\n\nReviews are at most ten lines.\n",
        },
    )

    assert recognised(source) == "memory-folder"
    assert take(memory, source) == {"new": 2}

    style = memory.read(titled(memory, "Review style").id)
    assert (style.note.type, style.note.description) == ("Preference", "short reviews")
    assert [link.title for link in style.backlinks] == ["MEMORY"]


def test_a_claude_code_session_waits_as_an_episode_without_its_tools(
    memory: Memory, tmp_path: Path
) -> None:
    base = {"sessionId": "s1", "cwd": "/w/app", "gitBranch": "main", "isSidechain": False}
    use = {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}
    source = lines(
        tmp_path / "projects" / "0b1c.jsonl",
        {"type": "summary", "summary": "Fix the port", "leafUuid": "x"},
        {
            **base,
            "type": "user",
            "timestamp": "2026-05-06T07:08:09Z",
            "message": {"role": "user", "content": "为什么 8443 被占用？"},
        },
        {
            **base,
            "type": "assistant",
            "timestamp": "2026-05-06T07:09:09Z",
            "message": {"content": [{"type": "text", "text": "The proxy has it."}, use]},
        },
        {**base, "type": "user", "message": {"content": [{"type": "tool_result", "content": "a"}]}},
        {**base, "type": "user", "isMeta": True, "message": {"content": "caveat"}},
        {**base, "type": "user", "isSidechain": True, "message": {"content": "to a subagent"}},
        {"type": "file-history-snapshot", "snapshot": {}},
    )

    assert recognised(source) == recognised(source.parent) == "claude-code-sessions"
    assert take(memory, source) == {"new": 1}

    note = titled(memory, "Fix the port")
    assert note.body == "\n**User:** 为什么 8443 被占用？\n\n**Assistant:** The proxy has it.\n"
    assert (note.type, note.author, note.branch) == ("Episode", "process:claude-code", "main")
    assert str(note.created) == "2026-05-06 07:08:09+00:00"
    assert [one.title for one in inbox.suggestions(memory)] == ["Fix the port"]


def test_a_codex_session_leaves_out_what_the_program_put_in(memory: Memory, tmp_path: Path) -> None:
    def message(role: str, kind: str, said: str) -> dict[str, object]:
        content = [{"type": kind, "text": said}]
        payload = {"type": "message", "role": role, "content": content}
        return {"timestamp": "2026-05-06T07:08:09Z", "type": "response_item", "payload": payload}

    source = lines(
        tmp_path / "rollout-2026.jsonl",
        {"type": "session_meta", "payload": {"id": "c9", "cwd": "/w", "git": {"branch": "dev"}}},
        message("user", "input_text", "<environment_context>\n  <cwd>/w</cwd>"),
        message("user", "input_text", "Rename the flag"),
        message("assistant", "output_text", "Renamed."),
        {"type": "response_item", "payload": {"type": "function_call", "name": "shell"}},
    )

    assert recognised(source) == "codex-sessions"
    take(memory, source)

    note = titled(memory, "Rename the flag")
    assert note.body == "\n**User:** Rename the flag\n\n**Assistant:** Renamed.\n"
    assert (note.session, note.branch) == ("c9", "dev")
