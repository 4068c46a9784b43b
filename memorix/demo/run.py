"""Show the main job, step by step, in a scratch vault: a real server, a real client, real files."""

import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from memorix.config import load
from memorix.demo.material import CHINESE, ENGLISH, Asked, drafts, questions
from memorix.wiring import load_model, open_memory

PATIENCE_S = 60.0
# How long the show waits for the vectors of its notes on a slow machine.

NEEDS_CHINESE = ("paraphrase, Chinese notes", "english for Chinese, Chinese notes")
# The default model reads English; what shares no word with a Chinese note is beyond it.

OFF_TOPIC = (
    "How do I season a cast-iron frying pan?",
    "Which vaccines does a puppy need?",
    "如何给吉他换弦？",
)


@dataclass
class Show:
    """What was shown so far: prints each step with its time, and remembers what failed."""

    started: float = field(default_factory=time.perf_counter)
    failed: list[str] = field(default_factory=list)

    def step(self, text: str) -> None:
        self._print(f"\n{text}")
        self.started = time.perf_counter()

    def proves(self, claim: str, holds: bool, detail: str = "") -> None:
        took = (time.perf_counter() - self.started) * 1000
        mark = "ok    " if holds else "FAILED"
        self._print(
            f"  {mark} {claim}  [{took:.0f} ms]" + (f"\n         {detail}" if detail else "")
        )
        if not holds:
            self.failed.append(claim)
        self.started = time.perf_counter()

    def tell(self, text: str) -> None:
        self._print("\n".join(f"         {line}" for line in text.splitlines()))

    @staticmethod
    def _print(text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def run(*, keep: bool = False) -> bool:
    """Run the demonstration; return whether everything it claims held.

    `keep` leaves the scratch folder on disk.
    """
    scratch = Path(tempfile.mkdtemp(prefix="memorix-demo-"))
    show = Show()
    try:
        environment = _environment(scratch)
        _fill(show, scratch, environment)
        asyncio.run(_serve(show, scratch, environment))
    finally:
        if keep:
            show.step(f"The vault is in {scratch / 'vault'}; its index in {scratch / 'state'}.")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    failed = len(show.failed)
    show.step("Everything held." if not failed else f"{failed} claims did not hold.")
    return not failed


def _environment(scratch: Path) -> dict[str, str]:
    project = scratch / ENGLISH
    project.mkdir()
    return {
        "MEMORIX_VAULT": str(scratch / "vault"),
        "MEMORIX_STATE_DIR": str(scratch / "state"),
        "MEMORIX_PROJECT": ENGLISH,
        "MEMORIX_PROJECT_DIR": str(project),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }


def _fill(show: Show, scratch: Path, environment: dict[str, str]) -> None:
    show.step("1. Take in the notes of two invented teams, one writing English, one Chinese")
    for name in (ENGLISH, CHINESE):
        (scratch / "vault" / "projects" / name).mkdir(parents=True)
    config = load({}, environment)
    memory = open_memory(config)
    try:
        written = memory.remember_all(drafts())
        show.proves(
            f"{len(written)} notes are files, fsynced, and findable by words",
            memory.status().counts.notes == len(written),
        )
        load_model(memory, config)
        show.proves(f"the model is loaded: {memory.status().model}", memory.embedder is not None)
        made = memory.embed_pending()
        show.proves(f"{made} vectors made, without a network", made > 0)
    finally:
        memory.close()


async def _serve(show: Show, scratch: Path, environment: dict[str, str]) -> None:
    show.step("2. Start a server as an assistant would, and speak MCP with it over its pipes")
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "memorix", "serve"], env=environment
    )
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        show.proves(
            f"it answers (protocol {client.protocol_version})",
            len(tools) == 6,
            ", ".join(tool.name for tool in tools),
        )
        await _meaning_is_ready(show, client)
        await _ask_all(show, client)
        await _silence(show, client)
        await _edit_by_hand(show, client, scratch)
        await _supersede(show, client)
        await _forget(show, client, scratch)
    _on_disk(show, scratch)


async def _meaning_is_ready(show: Show, client: Client) -> None:
    deadline = time.monotonic() + PATIENCE_S
    message = "?"
    while message and time.monotonic() < deadline:
        message = (await _call(client, "recall", query="deployment window"))["message"]
        await asyncio.sleep(0.1)
    show.proves("words answered at once, meaning joined when the model was loaded", not message)


async def _ask_all(show: Show, client: Client) -> None:
    by_kind: dict[str, list[Asked]] = defaultdict(list)
    for asked in questions():
        label = "english for Chinese" if asked.kind == "english" else asked.kind
        by_kind[f"{label}, {'Chinese' if asked.project == CHINESE else 'English'} notes"].append(
            asked
        )
    show.step("3. Ask: by exact term, by paraphrase, in Chinese")
    for kind, group in by_kind.items():
        places = [await _place(client, asked) for asked in group]
        found = sum(1 for place in places if place and place <= 5)
        first = sum(1 for place in places if place == 1)
        figures = f"{kind}: {first} of {len(group)} first, {found} in the first five"
        if kind in NEEDS_CHINESE:
            show.tell(f"{figures}; these need the model of the extra [multilingual]")
            continue
        sure = kind.startswith(("exact", "copied"))
        holds = found == len(group) if sure else found >= len(group) / 3
        show.proves(figures, holds, f"e.g. {group[0].text}")


async def _place(client: Client, asked: Asked) -> int:
    answer = await _call(client, "recall", query=asked.text, limit=5, scope=asked.project)
    titles = [hit["title"] for hit in answer["hits"]]
    return titles.index(asked.title) + 1 if asked.title in titles else 0


async def _silence(show: Show, client: Client) -> None:
    show.step("4. Ask what no note can know")
    for question in OFF_TOPIC:
        answer = await _call(client, "recall", query=question, scope="all")
        show.proves(f"silent on: {question}", not answer["hits"], answer["message"])


async def _edit_by_hand(show: Show, client: Client, scratch: Path) -> None:
    show.step("5. Edit a note's file by hand, as in any editor")
    text = "The staging gateway listens on port 8443; the pilot lamp config is in ops/pilot.toml."
    note = await _call(client, "remember", text=text, title="Staging gateway port", type="Fact")
    show.proves(f"remembered: {note['path']}", note["status"] == "created")
    file = scratch / "vault" / note["path"]
    file.write_text(
        file.read_text(encoding="utf-8").replace("8443", "9553, moved by the quokka change"),
        encoding="utf-8",
    )
    answer = await _call(client, "recall", query="quokka")
    hit = answer["hits"][0] if answer["hits"] else {"gist": ""}
    show.proves("the new text is in the next recall", "9553" in hit["gist"], hit["gist"])
    again = await _call(
        client, "remember", text=file.read_text(encoding="utf-8").split("---\n")[-1]
    )
    show.proves("saying the same again writes nothing", again["status"] == "already known")


async def _supersede(show: Show, client: Client) -> None:
    show.step("6. A fact changes: supersede it")
    old = await _call(
        client, "remember", text="Nightly backups of the harbour ledger run at 02:15 UTC.",
        title="Harbour ledger backup time", type="Fact",
    )  # fmt: skip
    new = await _call(
        client, "revise", id=old["id"], etag=old["etag"], supersede=True,
        text="Nightly backups of the harbour ledger run at 04:40 UTC since the move.",
    )  # fmt: skip
    answer = await _call(client, "recall", query="when do the harbour ledger backups run")
    ids = [hit["id"] for hit in answer["hits"]]
    show.proves("the new note is first", ids[:1] == [new["id"]])
    show.proves("the old one is out of recall", old["id"] not in ids)
    reading = await _call(client, "read", id=old["id"])
    show.proves(
        "and still readable, marked",
        reading["status"] == "deprecated",
        ", ".join(f"{key} {reading['meta'].get(key)}" for key in ("superseded_by", "valid_to")),
    )


async def _forget(show: Show, client: Client, scratch: Path) -> None:
    show.step("7. Forget a note for good")
    note = await _call(
        client, "remember", text="The door code is blue heron 7719.", title="Door code"
    )
    plan = await _call(client, "forget", id=note["id"], level="erase", dry_run=True)
    show.proves("a dry run only tells", not plan["done"], "; ".join(plan["steps"]))
    await _call(client, "forget", id=note["id"], level="erase")
    answer = await _call(client, "recall", query="blue heron 7719")
    gone = note["id"] not in [hit["id"] for hit in answer["hits"]]
    show.proves("it is in no answer", gone)
    files = [path for path in scratch.rglob("*") if path.is_file()]
    left = [path.name for path in files if b"blue heron" in path.read_bytes()]
    show.proves(f"none of the {len(files)} files of vault and index holds its text", not left)


def _on_disk(show: Show, scratch: Path) -> None:
    show.step("8. What lies on disk: Markdown you can open, edit and delete")
    vault = scratch / "vault"
    notes = sorted(vault.rglob("*.md"))
    size = sum(path.stat().st_size for path in notes)
    index = sum(path.stat().st_size for path in (scratch / "state").iterdir())
    show.proves(
        f"{len(notes)} notes, {size / 1024:.0f} KiB; index {index / 1024 / 1024:.1f} MiB",
        bool(notes),
    )
    sample = next(path for path in notes if "harbour-ledger-backup-time" in path.name)
    show.tell(f"{sample.relative_to(vault)}\n{sample.read_text(encoding='utf-8')}")


async def _call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    if result.is_error or result.structured_content is None:
        raise RuntimeError(f"{tool}: {result.content}")
    return dict(result.structured_content)
