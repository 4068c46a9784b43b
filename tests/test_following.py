"""Faults that users of such tools met while notes changed, processes died and indexes aged."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
import watchdog.observers
from watchdog.observers.api import BaseObserver, EventEmitter

from memorix import doctor
from memorix.arguments import query_from
from memorix.config import Config
from memorix.embedders.base import ModelCard
from memorix.errors import InvalidRequest
from memorix.index import disks
from memorix.index.schema import SCHEMA_VERSION, fetch
from memorix.index.vectors import load_extension, table_name
from memorix.lifecycle import Edit, draft_from
from memorix.memory import Memory
from memorix.query import Filter, Query
from memorix.wiring import follow, open_memory
from tests.following import Followed, until
from tests.hashing import HashingEmbedder
from tests.test_server import hello, say
from tests.test_server import start as start_server

if TYPE_CHECKING:
    from memorix.embedders.base import Vectors

pytestmark = pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")
# Watchdog warns where it meets a new folder twice; as an error that would end its thread.

MANY = 4_200
# More chunks than sqlite-vec returns neighbours.

EMBEDDED = 400
# Notes that take a model longer than a test.

LEAVES_WITHIN_S = 5
# A host's user notices a server that stays longer.


def keep(memory: Memory, text: str, title: str = "") -> str:
    return memory.remember(draft_from(text, title)).id


def found(memory: Memory, question: str, **more: Any) -> list[str]:
    asked = query_from(question, 50, max_tokens=100_000, scope="all", **more)
    return sorted(hit.path for hit in memory.recall(asked).hits)


# -- edits by hand


@pytest.mark.fault("A-35")
def test_a_file_edited_by_hand_is_never_written_to(start: Callable[..., Followed]) -> None:
    notes = start()
    done = notes.memory.remember(draft_from("The heron is back.", "Birds"))
    file = notes.vault / done.path
    birds = ["heron", "egret", "bittern", "avocet", "godwit", "dunlin"]

    for before, bird in pairwise(birds):
        text = file.read_text(encoding="utf-8").replace(before, bird)
        file.write_text(text, encoding="utf-8")
        left = (file.read_bytes(), file.stat().st_mtime_ns)
        until(lambda bird=bird: notes.found(bird) == [done.path])  # type: ignore[misc]
        notes.memory.read(done.id)

        assert (file.read_bytes(), file.stat().st_mtime_ns) == left
    assert [path.name for path in notes.vault.rglob("*.md")] == [file.name]


@pytest.mark.fault("A-36")
@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("tags: [old]", "tags: [old, fresh]", {"tags": "fresh"}),
        ("type: Fact", "type: Gotcha", {"type": "gotcha"}),
    ],
)
def test_a_change_of_metadata_alone_counts(
    old: str, new: str, wanted: dict[str, str], start: Callable[..., Followed]
) -> None:
    notes = start()
    text = "---\ntype: Fact\ntags: [old]\n---\n\nThe heron is back.\n"
    file = notes.known("user/bird.md", text)
    before = notes.found("heron", **wanted)

    file.write_text(text.replace(old, new), encoding="utf-8")
    until(lambda: notes.found("heron", **wanted) == ["user/bird.md"])

    assert before == []


# -- events that do not come


class Deaf(EventEmitter):
    """Stands for a disk that tells of nothing, such as a Windows drive under WSL."""

    def queue_events(self, timeout: float) -> None:
        self.stopped_event.wait(timeout)


class DeafObserver(BaseObserver):
    def __init__(self) -> None:
        super().__init__(Deaf)


@pytest.mark.fault("A-37")
@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no way to set a limit")
@pytest.mark.parametrize(
    "limit",
    [
        "0 > /proc/sys/user/max_inotify_instances",
        "0 > /proc/sys/user/max_inotify_watches",
        "3 > /proc/sys/user/max_inotify_watches",
    ],
)
def test_the_folder_is_polled_where_inotify_has_no_watch_for_all_of_it(
    limit: str, settings: dict[str, str], vault: Path
) -> None:
    for number in range(5):
        (vault / f"user/{number}").mkdir(parents=True)
    program = (
        "from memorix.config import load\n"
        "from memorix.wiring import follow, open_memory\n"
        "memory = open_memory(load())\n"
        "follow(memory, load())\n"
        "assert memory.follower.flush()\n"
        "print(memory.status().following.mode)\n"
    )
    limited = f"echo {limit} || exit 77; exec '{sys.executable}' -c '{program}'"

    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", limited],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode in (1, 77) and "memorix" not in done.stderr:
        pytest.skip("the system lets nobody set a limit")

    assert (done.stdout, done.returncode) == ("polling\n", 0), done.stderr


@pytest.mark.fault("A-38")
def test_what_no_event_told_of_is_in_the_answer_of_a_vault_of_usual_size(
    start: Callable[..., Followed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog.observers, "Observer", DeafObserver)
    notes = start()

    notes.write("user/bird.md", "The heron is back.\n")

    assert notes.found("heron") == ["user/bird.md"]


@pytest.mark.fault("A-38")
@pytest.mark.parametrize("what", ["edited", "deleted"])
def test_nothing_that_a_file_no_longer_says_is_served_although_no_event_told_of_it(
    what: str, start: Callable[..., Followed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog.observers, "Observer", DeafObserver)
    monkeypatch.setattr("memorix.memory.LOOK_AT_MOST", -1)  # as in a large vault
    notes = start()
    file = notes.write("user/bird.md", "The heron stands at the weir.\n")
    notes.memory.catch_up()

    if what == "edited":
        file.write_text("The egret stands at the weir.\n", encoding="utf-8")
    else:
        file.unlink()

    answer = notes.memory.recall(query_from("heron at the weir"))
    assert not any("heron" in hit.gist for hit in answer.hits)


@pytest.mark.fault("A-39")
def test_a_later_look_closes_the_gap_that_lost_events_left(
    start: Callable[..., Followed], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchdog.observers, "Observer", DeafObserver)
    monkeypatch.setattr("memorix.memory.LOOK_AT_MOST", -1)  # as in a large vault
    notes = start(MEMORIX_RESCAN_S="1")

    for number in range(600):
        notes.write(f"user/{number % 5}/{number}.md", f"The heron number {number}.\n")
    until(notes.equals_folder)

    assert len(notes.listed()) == 600


@pytest.mark.fault("A-41")
def test_what_changed_while_nothing_ran_is_in_the_first_answer(
    config: Config, vault: Path, open_another: Callable[[], Memory]
) -> None:
    before = open_another()
    paths = {name: before.remember(draft_from(f"About {name}.", name)).path for name in "abcd"}
    before.close()
    edited, renamed = vault / paths["a"], vault / paths["c"]
    stat = edited.stat()
    edited.write_bytes(edited.read_bytes().replace(b"About a.", b"A heron."))
    os.utime(edited, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    (vault / paths["b"]).unlink()
    renamed.rename(renamed.with_name("renamed.md"))
    (vault / "user").mkdir()
    (vault / "user/new.md").write_text("An egret.\n", encoding="utf-8")

    memory = open_another()
    stop = follow(memory, config)
    first = memory.recall(query_from("heron"))
    stop()

    assert first.whole
    assert [hit.path for hit in first.hits] == [paths["a"]]
    assert {row.path for row in memory.list(Filter(scopes=("all",)))} == {
        paths["a"], "projects/app/renamed.md", paths["d"], "user/new.md",
    }  # fmt: skip


# -- many processes, and those that die


HOLDER = """
import sys
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""

OPENER = """
import sys
from memorix.config import load
from memorix.wiring import open_memory
print("ready", flush=True)
sys.stdin.readline()
memory = open_memory(load())
memory.catch_up()
print(memory.index.size(), memory.status().counts.vectors)
"""


@pytest.fixture
def run(settings: dict[str, str]) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a program, and wait until it says its first line."""
    with ExitStack() as stack:

        def started(program: str, *arguments: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-c", program, *arguments],
                env={**os.environ, **settings},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            assert process.stdout is not None
            process.stdout.readline()
            return process

        yield started


@pytest.mark.fault("A-49")
@pytest.mark.parametrize("name", ["write.lock", "embed.lock"])
def test_the_lock_of_a_killed_process_holds_nobody_up(
    name: str, run: Callable[..., subprocess.Popen[str]], memory: Memory
) -> None:
    memory.use_model(HashingEmbedder())
    lock = memory.index_path.with_name(name)
    holder = run(HOLDER, str(lock))
    made_while_held = memory.embed_pending()

    holder.kill()
    holder.wait()
    done = keep(memory, "The heron is back.")

    assert lock.exists()
    assert made_while_held == 0
    assert memory.embed_pending() == 1
    assert found(memory, "heron") == [memory.read(done).note.path]


@pytest.mark.fault("A-50")
@pytest.mark.parametrize("index", ["none", "an older one"])
def test_an_index_opened_by_twelve_processes_at_once_is_made_once(
    index: str, run: Callable[..., subprocess.Popen[str]], memory: Memory
) -> None:
    for number in range(20):
        keep(memory, f"The heron number {number}.")
    memory.use_model(HashingEmbedder())
    memory.embed_pending()
    memory.close()
    for _ in range(2):
        if index == "none":
            for part in memory.index_path.parent.glob("index.db*"):
                part.unlink()
        else:
            in_database(memory.index_path, f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
        openers = [run(OPENER) for _ in range(12)]

        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.write("go\n")
            opener.stdin.flush()
        said = [opener.communicate(timeout=60)[0] for opener in openers]

        assert {line.split()[0] for line in said} == {"20"}
        [(version,)] = in_database(memory.index_path, "PRAGMA user_version")
        [(vectors,)] = in_database(memory.index_path, "SELECT count(*) FROM kept_vectors")
        assert (version, vectors) == (SCHEMA_VERSION, 0 if index == "none" else 20)


def in_database(file: Path, sql: str) -> list[Any]:
    db = apsw.Connection(str(file))
    load_extension(db)
    rows = fetch(db, sql)
    db.close()
    return rows


@pytest.mark.fault("A-60")
def test_the_server_ends_with_its_host_while_it_embeds(
    settings: dict[str, str], vault: Path
) -> None:
    (vault / "user").mkdir(parents=True)
    for number in range(EMBEDDED):
        text = f"The heron number {number} stands at the weir. " * 5
        (vault / f"user/{number}.md").write_text(text, encoding="utf-8")
    server = start_server(settings | {"MEMORIX_MODEL": ""})
    hello(server)
    until_embedding(server)

    assert leaves(server)


@pytest.mark.fault("A-60")
def test_the_server_ends_with_its_host_while_a_tool_waits(
    settings: dict[str, str], run: Callable[..., subprocess.Popen[str]], config: Config
) -> None:
    config.state_dir.mkdir()
    run(HOLDER, str(config.state_dir / "write.lock"))
    server = start_server(settings)
    hello(server)
    say(server, "tools/call", 2, name="remember", arguments={"text": "The heron is back."})
    say(server, "ping", 3)
    assert server.stdout is not None
    assert json.loads(server.stdout.readline())["id"] == 3

    assert leaves(server)


def leaves(server: subprocess.Popen[bytes]) -> bool:
    """Close the server's stdin, as a host does that ends; return whether it ends in time."""
    try:
        server.communicate(timeout=LEAVES_WITHIN_S)
    except subprocess.TimeoutExpired:
        server.kill()
        server.communicate()
        return False
    return server.returncode == 0


def until_embedding(server: subprocess.Popen[bytes]) -> None:
    assert server.stdout is not None
    number, state = 1, {"vectors": 0, "vectors_pending": 0}
    while not (state["vectors"] and state["vectors_pending"]):
        number += 1
        say(server, "resources/read", number, uri="memorix://status")
        answer = json.loads(server.stdout.readline())
        state = json.loads(answer["result"]["contents"][0]["text"])


# -- the database


@pytest.fixture
def no_shared_memory() -> Iterator[None]:
    """Make SQLite use files as on a network disk: without the memory that a write-ahead log needs.

    Such a lock is a file, so this serves one process at a time.
    """
    disk = apsw.VFS("network", "unix-dotfile", makedefault=True)
    yield
    disk.unregister()


@pytest.mark.fault("A-51")
@pytest.mark.skipif(os.name == "nt", reason="there is no such disk to stand for it")
def test_a_disk_that_allows_no_write_ahead_log_is_used_without_it_and_named(
    no_shared_memory: None, config: Config
) -> None:
    memory = open_memory(config)
    note = keep(memory, "The heron is back.")
    again = open_memory(config)

    told = [check.said for check in doctor.examine(again, config) if check.name == "index"]

    assert found(again, "heron") == [again.read(note).note.path]
    assert again.index.journal != "wal"
    assert any("write-ahead log" in said for said in told)
    assert not list(config.state_dir.glob("*-wal"))
    memory.close()
    again.close()


@pytest.mark.fault("A-51")
@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p"])
@pytest.mark.parametrize("before", ["no index", "an index in WAL mode"])
def test_a_write_ahead_log_is_not_used_on_a_network_disk_that_would_take_one(
    kind: str,
    before: str,
    config: Config,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    open_another: Callable[[], Memory],
) -> None:
    if before != "no index":
        local = open_another()
        keep(local, "The egret is back.")
        local.close()
    table = config.state_dir.parent / "mounts"
    table.write_text(f"/dev/a / ext4 rw 0 0\nhost:/x {config.state_dir} {kind} rw 0 0\n")
    monkeypatch.setattr(disks, "MOUNTS", table)
    disks.network_disk.cache_clear()

    one, two = open_another(), open_another()
    written = [keep(memory, f"The heron number {n}.") for n, memory in enumerate((one, two))]

    assert [memory.index.journal for memory in (one, two)] == ["truncate"] * 2
    assert not list(config.state_dir.glob("*-wal"))
    assert (
        found(one, "heron")
        == found(two, "heron")
        == sorted(one.read(note).note.path for note in written)
    )
    assert f"lies on {kind}, which allows no write-ahead log" in caplog.text
    assert "Set MEMORIX_STATE_DIR to a folder on a local disk" in caplog.text
    disks.network_disk.cache_clear()


MOUNTS = """\
/dev/vda1 / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
C:\\134 /mnt/c 9p rw,dirsync,aname=drvfs 0 0
box:/export /srv/shared nfs4 rw,vers=4.2 0 0
/dev/vdb1 /srv/shared/local xfs rw 0 0
//box/own\\040files /home/me/own\\040files cifs rw 0 0
me@box: /home/me/far fuse.sshfs rw 0 0
/dev/vdc1 /srv/twice ext4 rw 0 0
box:/b /srv/twice nfs rw 0 0
odd line
"""


@pytest.mark.fault("A-51")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/me/.local/share/memorix/index.db", "ext4"),
        ("/mnt/c/Users/me/index.db", "9p"),
        ("/mnt/cd/index.db", "ext4"),
        ("/srv/shared/index.db", "nfs4"),
        ("/srv/shared/local/index.db", "xfs"),
        ("/home/me/own files/index.db", "cifs"),
        ("/home/me/far/deep/index.db", "fuse.sshfs"),
        ("/srv/twice/index.db", "nfs"),
    ],
)
def test_the_disk_of_a_path_is_told_by_its_longest_mount(path: str, kind: str) -> None:
    assert disks.disk_of(path, MOUNTS) == kind
    assert (kind in disks.NETWORK) == (kind not in ("ext4", "xfs"))


def test_where_no_table_of_mounts_is_every_disk_is_a_local_one() -> None:
    assert disks.disk_of("/srv/index.db", "") == ""


@pytest.mark.fault("A-52")
@pytest.mark.parametrize("broken", ["missing", "damaged"])
def test_where_the_vector_extension_cannot_be_loaded_meaning_is_searched_without_it(
    broken: str, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken == "missing":
        monkeypatch.setitem(sys.modules, "sqlite_vec", None)
    else:
        package = tmp_path / "broken/sqlite_vec"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("", encoding="utf-8")
        for suffix in ("so", "dylib", "dll"):
            (package / f"vec0.{suffix}").write_bytes(b"no library")
        monkeypatch.delitem(sys.modules, "sqlite_vec", raising=False)
        monkeypatch.syspath_prepend(package.parent)

    memory = open_memory(config)
    keep(memory, "lantern lantern lantern", "Lantern")
    memory.use_model(HashingEmbedder())
    memory.embed_pending()

    [hit] = memory.recall(query_from("lantern")).hits
    assert hit.why.meaning == pytest.approx(1.0, abs=0.01)
    assert memory.status().vector_search == "numpy"
    memory.close()


class Narrow(HashingEmbedder):
    """A model whose vectors are half as long."""

    def __init__(self) -> None:
        super().__init__("narrow")
        self._card = ModelCard("narrow", "narrow-1", 32, 512, frozenset(), 0.1, "none", "tests")

    def embed(self, texts: Any) -> "Vectors":
        import numpy as np

        rows = super().embed(texts)[:, :32] + np.float32(1e-3)
        unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


@pytest.mark.fault("A-53")
def test_a_model_with_other_dimensions_finds_old_and_new_notes_after_a_restart(
    open_another: Callable[[], Memory],
) -> None:
    before = open_another()
    before.use_model(HashingEmbedder())
    keep(before, "lantern lantern lantern", "Old")
    before.embed_pending()
    before.close()

    memory = open_another()
    memory.use_model(Narrow())
    keep(memory, "lantern lantern lantern lantern and 2 more", "New")
    pending = memory.status().counts.pending
    words_only = memory.recall(query_from("lantern"))
    memory.embed_pending()
    answer = memory.recall(query_from("lantern"))

    assert pending == 2
    assert {hit.title: hit.why.meaning for hit in words_only.hits} == {"Old": None, "New": None}
    assert {hit.title for hit in answer.hits if hit.why.meaning} == {"Old", "New"}
    assert memory.status().counts.pending == 0


@pytest.mark.fault("A-54")
def test_nothing_of_an_erased_note_is_left_in_any_table(memory: Memory) -> None:
    memory.use_model(HashingEmbedder())
    note = keep(memory, "The door code is blue heron.", "Door")
    memory.embed_pending()
    memory.recall(query_from("door code"))

    memory.forget(note, "erase")

    left = rows_of_every_table(memory.index_path)
    assert found(memory, "blue heron") == []
    assert {name: count for name, count in left.items() if count} == {"models": 1}
    assert all(b"heron" not in file.read_bytes() for file in memory.index_path.parent.iterdir())


def rows_of_every_table(file: Path) -> dict[str, int]:
    """Count the rows of each table but those in which SQLite's extensions keep their settings."""
    names = [row[0] for row in in_database(file, "SELECT name FROM sqlite_schema")]
    own = ("notes", "tags", "warnings", "chunks", "links", "names", "words_docsize")
    kept = ("kept_vectors", "models", "recalls")
    vectors = [n for n in names if n.startswith("vec_") and n.count("_") == 1]
    counted = [*own, *kept, *vectors]
    return {name: in_database(file, f"SELECT count(*) FROM {name}")[0][0] for name in counted}


@pytest.mark.fault("A-56")
def test_a_note_edited_and_indexed_again_and_again_has_one_set_of_vectors(memory: Memory) -> None:
    model = HashingEmbedder()
    memory.use_model(model)
    note = keep(memory, "The heron is back.", "Bird")

    for old, new in (("heron", "egret"), ("egret", "heron"), ("heron", "bittern")):
        memory.embed_pending()
        memory.revise(note, memory.read(note).etag, Edit(find=old, replace=new))
    for _ in range(2):
        memory.index.clear()
        memory.catch_up()
        memory.embed_pending()

    counts = memory.status().counts
    table = table_name(model.card.fingerprint)
    assert (counts.chunks, counts.vectors, counts.pending) == (1, 1, 0)
    assert in_database(memory.index_path, f"SELECT count(*) FROM {table}") == [(1,)]
    assert memory.recall(query_from("bittern")).hits[0].why.meaning is not None


@pytest.mark.fault("A-57")
def test_more_chunks_than_the_extension_returns_are_asked_with_any_limit(
    memory: Memory, vault: Path
) -> None:
    (vault / "user").mkdir(parents=True)
    wide = "abcdefghijklmnopqrstuvwxyz" * 9  # fills a chunk and costs little to index
    parts = [f"# Bay {n}\n\n{wide} {n} heron.\n" for n in range(MANY)]
    for number in range(50):
        text = "\n".join(parts[number::50])
        (vault / f"user/{number}.md").write_text(text, encoding="utf-8")
    memory.catch_up()
    memory.use_model(HashingEmbedder())
    memory.embed_pending()

    answers = {n: memory.recall(Query("heron bay", limit=n)).hits for n in (5, MANY)}

    assert memory.status().counts.vectors > 4096
    assert len(answers[5]) == 5
    assert len(answers[MANY]) > 5


@pytest.mark.fault("A-57")
@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({"limit": 0}, "limit is 0; it is at least 1"),
        ({"limit": -1}, "limit is -1; it is at least 1"),
        ({"offset": -1}, "offset is -1; it is at least 0"),
        ({"max_tokens": 0}, "max_tokens is 0; it is at least 1"),
    ],
)
def test_a_number_that_no_answer_can_have_is_refused(numbers: dict[str, int], told: str) -> None:
    with pytest.raises(InvalidRequest, match=told):
        Query("heron", **numbers)
