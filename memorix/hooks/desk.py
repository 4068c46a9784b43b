"""What hooks write down for one another: sessions, places, what fired, and what was captured.

All of it lies in one private folder of the user, outside every vault, and may be deleted.
"""

import os
import sys
import time

from memorix.hooks import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

APP = "memorix-notes"

KEPT_SESSIONS, KEPT_ERRORS = 200, 20
# More are of no use; the oldest go.


def folder(name: str = "") -> str:
    """Return the private folder of hooks, or one in it."""
    env = os.environ
    if sys.platform == "win32":
        data = env.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    elif sys.platform == "darwin":
        data = os.path.expanduser("~/Library/Application Support")
    else:
        data = env.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return os.path.join(data, APP, "hooks", name).rstrip("/\\")


def load(name: str) -> "dict[str, Any]":
    """Return what a file of the desk holds; nothing where there is none, or none we can read."""
    try:
        with open(folder(name), "rb") as file:
            found = fastjson.loads(file.read().decode())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def save(name: str, data: "dict[str, Any]") -> None:
    """Replace a file of the desk whole; readable by its user alone."""
    path = folder(name)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    temporary = f"{path}.{os.getpid()}"
    with open(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(fastjson.dumps(data).encode())
    os.replace(temporary, path)


# -- sessions


class Session:
    """What one session was told already; it has a name only if the host gives it one."""

    def __init__(self, host_id: str) -> None:
        self.id = "".join(c if c.isalnum() or c in "-_" else "_" for c in host_id)[:80]
        self._data = load(f"sessions/{self.id}.json") if self.id else {}

    def is_repeated(self, source: str, now: float, within_s: float) -> bool:
        """Say whether a brief for this start was given moments ago, as by another host's hook.

        A new start of the same session, such as after it was compacted, is told again.
        """
        told = self._data.get("briefs")
        at = told.get(source) if isinstance(told, dict) else None
        return isinstance(at, (int, float)) and (source == "startup" or now - at < within_s)

    def briefed(self, source: str, now: float, shown: "list[str]") -> None:
        briefs = dict(self._data.get("briefs") or {})
        self._data.update(briefs={**briefs, source: now}, shown=shown)
        self._save()

    def shown(self) -> "set[str]":
        """Return the ids of the notes that this session has seen."""
        return set(map(str, self._data.get("shown") or []))

    def recalled(self, ids: "list[str]") -> None:
        self._data["shown"] = [*(self._data.get("shown") or []), *ids]
        self._save()

    def note(self, key: str, value: "Any") -> None:
        self._data[key] = value
        self._save()

    def get(self, key: str) -> "Any":
        return self._data.get(key)

    def forget_words(self) -> None:
        """Let go what was said; what the session was told stays."""
        self._data = _without_words(self._data)
        self._save()

    def _save(self) -> None:
        if self.id:
            save(f"sessions/{self.id}.json", self._data)


def forget_old_sessions() -> None:
    """Remove the oldest sessions beyond those kept."""
    place = folder("sessions")
    names = os.listdir(place) if os.path.isdir(place) else []
    if len(names) <= KEPT_SESSIONS + KEPT_SESSIONS // 4:
        return
    paths = sorted((os.path.join(place, name) for name in names), key=os.path.getmtime)
    for path in paths[:-KEPT_SESSIONS]:
        os.unlink(path)


# -- what fired, and what failed


def fired(host: str, event: str, error: str = "") -> None:
    """Write down that a hook ran, and how it failed if it did."""
    data = load("fired.json")
    now = int(time.time())
    data.setdefault("ran", {})[f"{host} {event}"] = now
    if error:
        data["errors"] = [*data.get("errors", []), [now, f"{host} {event}", error]][-KEPT_ERRORS:]
    save("fired.json", data)


def last_runs() -> "dict[str, int]":
    """Return when each hook ran last, as seconds since 1970, by host and event."""
    return dict(load("fired.json").get("ran") or {})


def errors() -> "list[tuple[int, str, str]]":
    """Return the last failures, oldest first: when, which hook, and what it said."""
    return [(at, which, said) for at, which, said in load("fired.json").get("errors") or []]


def errors_told() -> None:
    """Write down that a person was told of the failures so far."""
    data = load("fired.json")
    data["told"] = int(time.time())
    save("fired.json", data)


def news_of_errors() -> "list[tuple[int, str, str]]":
    """Return the failures that nobody was told of."""
    told = load("fired.json").get("told") or 0
    return [error for error in errors() if error[0] > told]


# -- what was shown, to be counted

_USES, MOST_USES = "uses.jsonl", 1_000_000
# Bytes that wait to be counted; a machine on which nothing ever counts them must not fill up.


def used(use: "dict[str, Any]") -> None:
    """Write down what a session was shown; counted by whatever of Memorix runs next."""
    path = folder(_USES)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        if os.fstat(file).st_size < MOST_USES:
            os.write(file, f"{fastjson.dumps(use)}\n".encode())  # whole: hooks run side by side
    finally:
        os.close(file)


def take_uses() -> "list[dict[str, Any]]":
    """Return what waits to be counted, oldest first, and let it go."""
    path, own = folder(_USES), folder(f"{_USES}.{os.getpid()}")
    try:
        os.replace(path, own)
        with open(own, "rb") as file:
            lines = file.read().decode("utf-8", "replace").splitlines()
        os.unlink(own)
    except OSError:  # nothing waits, another process was first, or it cannot be had now
        return []
    found = []
    for line in lines:
        try:
            use = fastjson.loads(line)
        except ValueError:
            continue
        found += [use] if isinstance(use, dict) else []
    return found


# -- what is to be taken in


def spool(entry: "dict[str, Any]") -> None:
    """Leave something for the inbox; taken in by whatever of Memorix runs next."""
    name = f"{time.time_ns()}-{os.getpid()}.json"
    save(f"spool/{name}", entry)


def spooled() -> "list[tuple[str, dict[str, Any]]]":
    """Return what waits, oldest first, each with the name to drop it by."""
    place = folder("spool")
    names = sorted(os.listdir(place)) if os.path.isdir(place) else []
    return [(name, load(f"spool/{name}")) for name in names if name.endswith(".json")]


def forget(words: "Collection[str]") -> None:
    """Let go what was written down of sessions, and is not taken in yet, that says such words."""
    lowered = [word.lower() for word in words]

    def says_one(data: "dict[str, Any]") -> bool:
        told = [*(data.get("prompts") or []), data.get("said") or "", data.get("text") or ""]
        return any(word in str(text).lower() for text in told for word in lowered)

    for name, data in spooled():
        if says_one(data):
            drop(name)
    place = folder("sessions")
    for name in os.listdir(place) if os.path.isdir(place) else []:
        data = load(f"sessions/{name}")
        if says_one(data):
            save(f"sessions/{name}", _without_words(data))


def _without_words(session: "dict[str, Any]") -> "dict[str, Any]":
    return {key: value for key, value in session.items() if key not in ("prompts", "said")}


def drop(name: str) -> None:
    try:
        os.unlink(folder(f"spool/{name}"))
    except FileNotFoundError:
        return
