"""What a host says at an event, in any of its spellings, and how it wants to be answered."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

START, PROMPT, COMPACTED, STOP, END, OTHER = "start", "prompt", "compacted", "stop", "end", ""

_KINDS = {
    "sessionstart": START,
    "userpromptsubmit": PROMPT,
    "userpromptsubmitted": PROMPT,
    "beforesubmitprompt": PROMPT,
    "beforeagent": PROMPT,
    "preuserprompt": PROMPT,
    "precompact": OTHER,  # nothing can be told there, and nothing is lost yet
    "precompress": OTHER,
    "postcompact": COMPACTED,
    "stop": STOP,
    "agentstop": STOP,
    "afteragent": STOP,
    "afteragentresponse": STOP,
    "postcascaderesponse": STOP,
    "sessionend": END,
}
_SESSION = ("session_id", "sessionId", "conversation_id", "conversationId", "trajectory_id")
_SAID = (
    "last_assistant_message", "lastAssistantMessage", "prompt_response", "response", "text",
)  # fmt: skip
_FILES = ("file_path", "filePath", "path", "uri")

MOST_CHARACTERS = 9_500
# Hosts move longer answers into a file of which the model sees the beginning.


def kind_of(event: str) -> str:
    """Return what an event means, however it is spelled; empty where it means nothing to us."""
    return _KINDS.get("".join(c for c in event if c.isalpha()).lower(), OTHER)


class Payload:
    """What a host told us; texts are empty where it told nothing, or something else than a text."""

    __slots__ = ("_data", "host")

    def __init__(self, data: "Any", host: str) -> None:
        self._data: Mapping[str, Any] = data if isinstance(data, dict) else {}
        self.host = self._runner(host)

    def _runner(self, host: str) -> str:
        """Return the host that really runs us: some run the hooks of others."""
        if "cursor_version" in self._data or "workspace_roots" in self._data:
            return "cursor"
        if "hookEventName" in self._data and host == "claude-code":
            return "vscode"
        return host

    def text(self, *names: str) -> str:
        for name in names:
            found = self._data.get(name)
            if isinstance(found, str) and found:
                return found
        return ""

    @property
    def event(self) -> str:
        return self.text("hook_event_name", "hookEventName", "event")

    @property
    def session(self) -> str:
        return self.text(*_SESSION)

    @property
    def cwd(self) -> str:
        roots = self._data.get("workspace_roots")
        first = roots[0] if isinstance(roots, list) and roots else ""
        return self.text("cwd", "workspace_root") or (first if isinstance(first, str) else "")

    @property
    def source(self) -> str:
        """Why the session starts: startup, resume, compact and so on; `startup` if not told."""
        told = self.text("source")
        return "startup" if told in ("", "new") else told

    @property
    def prompt(self) -> str:
        return self.text("prompt", "user_prompt", "userPrompt", "initialPrompt")

    @property
    def is_command(self) -> bool:
        """Say whether the prompt is a command of the host, as `/compact` is; `/srv/a.py` is not."""
        first = self.prompt.split(maxsplit=1)[0] if self.prompt.startswith("/") else ""
        return bool(first) and not any(mark in first[1:] for mark in "/.")

    @property
    def summary(self) -> str:
        return self.text("compact_summary", "compactSummary", "summary")

    @property
    def said(self) -> str:
        return self.text(*_SAID)

    @property
    def again(self) -> bool:
        """Say whether the host goes on only because a hook made it."""
        return bool(self._data.get("stop_hook_active") or self._data.get("stopHookActive"))

    def files(self) -> "list[str]":
        """Return the names of the files that come with a prompt."""
        attached = self._data.get("attachments")
        names = []
        for one in attached if isinstance(attached, list) else []:
            paths = [one.get(key) for key in _FILES] if isinstance(one, dict) else [one]
            names += [path for path in paths if isinstance(path, str) and path][:1]
        return names


def answer(text: str, kind: str, event: str, host: str) -> "dict[str, Any]":
    """Return what the host reads as more context; empty where it takes none at this event."""
    if len(text) > MOST_CHARACTERS:
        text = text[:MOST_CHARACTERS].rpartition("\n")[0]
    if host == "cursor":
        told: dict[str, Any] = {"additional_context": text}
        return {"continue": True, **told} if kind == PROMPT else told
    if host == "antigravity":
        return {"injectSteps": [{"ephemeralMessage": text}]}
    if host == "vscode" and kind == PROMPT:
        return {}
    more = {"additionalContext": text} if host == "copilot-cli" else {}  # VS Code reads the other
    name = event if host in ("gemini", "devin") else _CLAUDE_NAMES[kind]
    return {**more, "hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


_CLAUDE_NAMES = {START: "SessionStart", PROMPT: "UserPromptSubmit"}
