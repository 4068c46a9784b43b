"""Memorix as a memory under test: the real server, the official client, real files."""

import asyncio
import json
import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from mcp.client.stdio import StdioServerParameters

from memorix import lifecycle
from memorix.bench.operations.adapter import ALL_NOTES, Adapter, Done, Found, Refused, Seen
from memorix.bench.operations.answered import done_by, found, marks_in
from memorix.bench.operations.clocked import set_clock
from memorix.bench.operations.distractors import Filler
from memorix.bench.operations.scenarios import Probe
from memorix.bench.operations.session import Session, program
from memorix.config import load
from memorix.wiring import open_memory

PROJECT, ME, DEFAULT_MODEL = "atlas", "me", ""
TOKENS_A_HIT = 200
# Asked for, so that the budget of an answer never decides what is measured.

PAGE = 50
SETTLED_WITHIN_S = 120.0
SHORTEST_PAUSE_S = 0.02


class OverMcp(Adapter):
    """A server for each project and user that looks at the vault, started when one first does."""

    def __init__(self, scratch: Path, model: str = DEFAULT_MODEL) -> None:
        super().__init__()
        self.name = "memorix"
        self._scratch, self._model = scratch, model
        self._sessions: dict[tuple[str, str, str], Session] = {}
        self._started = 0
        self._clock = scratch / "clock"

    # -- the frame of a scenario

    async def begin(self, fill: Sequence[Filler]) -> None:
        await self.at(datetime.now(UTC))
        self._take_in(fill)
        await self._session("", "").resource("memorix://status")

    def _take_in(self, fill: Sequence[Filler]) -> None:
        memory = open_memory(load({}, self._environment("", "")))
        try:
            drafts = (lifecycle.draft_from(f.text, f.title, f.type, f.tags) for f in fill)
            dated = (replace(d, when=f.when) for d, f in zip(drafts, fill, strict=True))
            memory.remember_all((draft, "") for draft in dated)
        finally:
            memory.close()

    async def at(self, now: datetime) -> None:
        set_clock(self._clock, now)

    async def settle(self, probe: Probe) -> None:
        """Wait until the model is loaded and every note has its vector."""
        if probe.via not in ("recall", "brief"):
            return
        session = self._session(probe.project, probe.user)
        deadline = time.monotonic() + SETTLED_WITHIN_S
        while time.monotonic() < deadline:
            state = json.loads(await session.resource("memorix://status"))
            if state["model"].startswith("off") or (
                state["model"] != "loading" and not state["vectors_pending"]
            ):
                return
            await asyncio.sleep(SHORTEST_PAUSE_S)

    async def end(self) -> None:
        await asyncio.gather(*(session.close() for session in self._sessions.values()))
        self._sessions.clear()

    # -- what an assistant does

    async def remember(
        self,
        text: str,
        title: str = "",
        type: str = "",
        tags: Sequence[str] = (),
        scope: str = "",
        valid_from: str = "",
        valid_to: str = "",
        ttl: str = "",
        project: str = "",
        user: str = "",
    ) -> Done:
        keys = _given({"valid_from": valid_from, "valid_to": valid_to, "ttl": ttl})
        given = {"text": text, "title": title, "type": type, "tags": list(tags), "scope": scope}
        self._make_place_for(scope, user)
        given = _given({**given, "set": keys})
        done = await self._write("remember", project, user, **given)
        if done.text.startswith("forgotten"):  # it was said on purpose
            done = await self._write("remember", project, user, again=True, **given)
        return done

    async def suggest(self, text: str, title: str = "", project: str = "", user: str = "") -> Done:
        given = _given({"text": text, "title": title})
        return await self._write("remember", project, user, suggest=True, **given)

    async def revise(
        self,
        of: str,
        text: str = "",
        find: str = "",
        replace: str = "",
        project: str = "",
        user: str = "",
    ) -> Done:
        change = _given({"text": text, "find": find, "replace": replace})
        return await self._revise(of, project, user, **change)

    async def set(
        self, of: str, keys: Mapping[str, Any], project: str = "", user: str = ""
    ) -> Done:
        return await self._revise(of, project, user, set=dict(keys))

    async def supersede(
        self, of: str, text: str, title: str = "", project: str = "", user: str = ""
    ) -> Done:
        named = {"set": {"title": title}} if title else {}
        return await self._revise(of, project, user, text=text, supersede="true", **named)

    async def contest(self, of: str, other: str, project: str = "", user: str = "") -> Done:
        return await self._revise(of, project, user, contest=[other])

    async def verify(self, of: str, project: str = "", user: str = "") -> Done:
        return await self._revise(of, project, user, verify=True)

    async def link(
        self, of: str, to: str, relation: str, project: str = "", user: str = ""
    ) -> Done:
        note, other = await self._read(of, project, user), await self._read(to, project, user)
        line = f"- {relation} [[{other['title']}]]"
        return await self._revise(of, project, user, text=f"{note['body'].rstrip()}\n\n{line}")

    async def forget(
        self, of: str, level: str = "retire", project: str = "", user: str = ""
    ) -> Done:
        return await self._write("forget", project, user, id=of, level=level)

    async def forget_where(
        self,
        level: str = "retire",
        tag: str = "",
        type: str = "",
        scope: str = "",
        before: str = "",
        project: str = "",
        user: str = "",
    ) -> Done:
        """List what fits, and repeat the request with the token of that list."""
        until = f"{before}T00:00:00Z" if before else ""
        which = _given({"tags": tag, "type": type, "scope": scope, "until": until})
        listed = await self._call("forget", project, user, {"level": level, **which})
        token = {"token": listed["token"]}
        return await self._write("forget", project, user, level=level, **which, **token)

    async def forget_named(
        self, name: str, level: str = "retire", project: str = "", user: str = ""
    ) -> Done:
        return await self._write("forget", project, user, id=name, level=level)

    # -- what a person does

    async def take_in(self, path: str, content: str, project: str = "", user: str = "") -> Done:
        folder = self._home(user) / "incoming"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(content.encode())
        await self._command("import", str(folder), project=project, user=user)
        return Done()

    async def accept(self, of: str, project: str = "", user: str = "") -> Done:
        await self._command("inbox", "accept", of, project=project, user=user)
        return Done(of)

    async def reject(self, of: str, project: str = "", user: str = "") -> Done:
        await self._command("inbox", "reject", of, project=project, user=user)
        return Done(of)

    async def restore(self, of: str, project: str = "", user: str = "") -> Done:
        return await self.forget(of, "restore", project, user)

    async def undo(self, project: str = "", user: str = "") -> Done:
        await self._command("undo", project=project, user=user)
        return Done()

    async def tidy(self, project: str = "", user: str = "") -> Done:
        await self._command("tidy", "--apply", "--words", project=project, user=user)
        return Done()

    async def write_file(self, path: str, content: str, project: str = "", user: str = "") -> Done:
        file = self._vault(user) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode())
        note = await self._read(path, project, user)
        return Done(note["id"])

    async def edit_file(
        self, of: str, find: str, replace: str, project: str = "", user: str = ""
    ) -> Done:
        file = await self._file(of, project, user)
        content = file.read_bytes()
        if find.encode() not in content:
            raise Refused(f"{find!r} is not in {file.name}")
        file.write_bytes(content.replace(find.encode(), replace.encode()))
        return Done(of)

    async def rename_file(self, of: str, path: str, project: str = "", user: str = "") -> Done:
        target = self._vault(user) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        (await self._file(of, project, user)).rename(target)
        return Done(of)

    async def delete_file(self, of: str, project: str = "", user: str = "") -> Done:
        (await self._file(of, project, user)).unlink()
        return Done(of)

    # -- what happens to a machine

    async def restart(self, model: str = "", project: str = "", user: str = "") -> Done:
        self._model = model or self._model
        await self.end()
        return Done()

    async def kill(self, project: str = "", user: str = "") -> Done:
        for session in self._sessions.values():
            await session.kill()
        self._sessions.clear()
        return Done()

    async def crash(
        self, text: str, title: str = "", after_ms: int = 0, project: str = "", user: str = ""
    ) -> Done:
        """Kill the server while it is at a write; the answer, if any, counts for nothing."""
        session = self._session(project, user)
        await session.resource("memorix://status")
        writing = asyncio.create_task(session.call("remember", {"text": text, "title": title}))
        await asyncio.sleep(after_ms / 1000)
        await self.kill(project, user)
        await asyncio.gather(writing, return_exceptions=True)
        return Done()

    async def reindex(self, project: str = "", user: str = "") -> Done:
        await self._command("reindex", "--full", project=project, user=user)
        return Done()

    async def rebuild(self, project: str = "", user: str = "") -> Done:
        """Delete the index while no server runs; the next one makes it anew."""
        await self.end()
        shutil.rmtree(self._home(user) / "state", ignore_errors=True)
        return Done()

    async def parallel(
        self, texts: Sequence[str], names: Sequence[str], project: str = "", user: str = ""
    ) -> Done:
        """Two clients, each with its own server, write at the same time."""
        pair = [self._session(project, user), self._session(project, user, "second")]
        calls = [pair[n % 2].call("remember", {"text": text}) for n, text in enumerate(texts)]
        answers = await asyncio.gather(*calls)
        return Done(ids=[answer["id"] for answer in answers])

    async def checkout(self, branch: str, project: str = "", user: str = "") -> Done:
        folder = self._home(user) / "work" / (project or PROJECT)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / ".git").exists():
            _git(folder, "init", "--quiet", "--initial-branch=main")
            _git(folder, "commit", "--quiet", "--allow-empty", "-m", "begin")
            await self.end()  # a server is started in the repository, not before there is one
        if (folder / ".git/refs/heads" / branch).exists():
            _git(folder, "checkout", "--quiet", branch)
        else:  # without a commit of its own, a branch has nothing that is not merged
            _git(folder, "checkout", "--quiet", "-b", branch)
            _git(folder, "commit", "--quiet", "--allow-empty", "-m", f"begin {branch}")
        return Done()

    # -- where a probe looks

    async def recall(
        self, query: str, k: int, filters: Mapping[str, Any], project: str = "", user: str = ""
    ) -> Seen:
        asked = {"query": query, "limit": k, "max_tokens": k * TOKENS_A_HIT, **filters}
        self._make_place_for(str(filters.get("scope", "")), user)
        answer = await self._call("recall", project, user, asked)
        hits = [found(hit) for hit in answer["hits"]]
        return Seen(hits, answer["shown"], unsure=not hits)

    async def see_read(self, of: str, project: str = "", user: str = "") -> Seen:
        try:
            note = await self._read(of, project, user)
        except Refused as refusal:
            return Seen(text=str(refusal))
        marks = f"{note['status']} {note['trust']} {note['meta']}"
        return Seen([Found(note["id"], note["shown"], marks_in(marks))], note["shown"])

    async def see_list(self, project: str = "", user: str = "") -> Seen:
        hits: list[Found] = []
        cursor = ""
        while len(hits) < ALL_NOTES:
            page = {"limit": PAGE, "max_tokens": PAGE * TOKENS_A_HIT, "cursor": cursor}
            answer = await self._call("recall", project, user, page)
            hits += [found(hit) for hit in answer["hits"]]
            cursor = answer["cursor"]
            if not cursor:
                break
        return Seen(hits, "\n".join(hit.text for hit in hits))

    async def see_brief(self, project: str = "", user: str = "") -> Seen:
        answer = await self._call("brief", project, user, {})
        return Seen([Found(id, "") for id in answer["ids"]], answer["shown"])

    async def see_inbox(self, project: str = "", user: str = "") -> Seen:
        printed = await self._command("inbox", "list", "--json", project=project, user=user)
        waiting = json.loads(printed)["suggestions"]
        hits = [Found(one["id"], f"{one['title']}\n{one['gist']}") for one in waiting]
        return Seen(hits, printed, unsure=not hits)

    async def see_export(self, project: str = "", user: str = "") -> Seen:
        target = self._home(user) / "export"
        shutil.rmtree(target, ignore_errors=True)
        await self._command("export", str(target), project=project, user=user)
        return Seen(text=_bytes_of(target))

    async def see_files(self, project: str = "", user: str = "") -> Seen:
        return Seen(text=_bytes_of(self._vault(user), "*.md"))

    async def see_bytes(self, project: str = "", user: str = "") -> Seen:
        home = self._home(user)
        return Seen(text=_bytes_of(self._vault(user)) + _bytes_of(home / "state"))

    # -- parts

    async def _revise(self, of: str, project: str, user: str, **change: Any) -> Done:
        try:
            note = await self._read(of, project, user)
        except Refused as refusal:
            return Done(status="refused", text=str(refusal))
        return await self._write("revise", project, user, id=of, etag=note["etag"], **change)

    async def _write(self, tool: str, project: str, user: str, **arguments: Any) -> Done:
        try:
            answer = await self._call(tool, project, user, arguments)
        except Refused as refusal:
            return Done(status="refused", text=str(refusal))
        return done_by(answer)

    async def _read(self, of: str, project: str, user: str) -> dict[str, Any]:
        return await self._call("read", project, user, {"id": of})

    async def _file(self, of: str, project: str, user: str) -> Path:
        note = await self._read(of, project, user)
        return self._vault(user) / cast(str, note["path"])

    async def _call(
        self, tool: str, project: str, user: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        return await self._session(project, user).call(tool, arguments)

    def _session(self, project: str, user: str, client: str = "") -> Session:
        key = (user or ME, project or PROJECT, client)
        if key not in self._sessions:
            self._started += 1
            pid = self._scratch / f"{self._started}.pid"
            command, *arguments = program(self._clock, pid, ["serve"])
            environment = self._environment(project, user)
            server = StdioServerParameters(command=command, args=arguments, env=environment)
            self._sessions[key] = Session(server, pid)
        return self._sessions[key]

    async def _command(self, *arguments: str, project: str, user: str) -> str:
        """Run a command of the program, as its user does; return what it prints."""
        process = await asyncio.create_subprocess_exec(
            *program(self._clock, self._scratch / "command.pid", arguments),
            env={**os.environ, **self._environment(project, user)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        if process.returncode:
            raise Refused(err.decode(errors="replace"))
        return out.decode(errors="replace")

    def _environment(self, project: str, user: str) -> dict[str, str]:
        home = self._home(user)
        work = home / "work" / (project or PROJECT)
        for folder in (work, self._vault(user)):
            folder.mkdir(parents=True, exist_ok=True)
        return {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / "config"),
            "MEMORIX_VAULT": str(self._vault(user)),
            "MEMORIX_STATE_DIR": str(home / "state"),
            "MEMORIX_PROJECT": project or PROJECT,
            "MEMORIX_PROJECT_DIR": str(work),
            "MEMORIX_MODEL": self._model,
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
            "TZ": "UTC",
        }

    def _make_place_for(self, scope: str, user: str) -> None:
        """A scope is there once its project has been seen on this machine."""
        if scope and scope not in ("user", "project", "all"):
            (self._vault(user) / "projects" / scope).mkdir(parents=True, exist_ok=True)

    def _home(self, user: str) -> Path:
        return self._scratch / (user or ME)

    def _vault(self, user: str) -> Path:
        return self._home(user) / "vault"


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value}


def _bytes_of(folder: Path, pattern: str = "*") -> str:
    parts = [file.read_bytes() for file in sorted(folder.rglob(pattern)) if file.is_file()]
    return "\n".join(part.decode("utf-8", "replace") for part in parts)


def _git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)
