import sys
from pathlib import Path

import pytest

from memorix.bench.peers import judges
from memorix.bench.peers.base import Said, Tools
from memorix.bench.peers.harness import compare, markdown
from memorix.bench.peers.ours import ours
from memorix.bench.peers.plain import PlainFiles
from memorix.bench.peers.serving import McpPeer, supported

pytestmark = pytest.mark.skipif(not supported(), reason="the harness reads /proc")

BROKEN = """
from pathlib import Path
from mcp.server import MCPServer
server, kept = MCPServer("broken"), []

@server.tool()
def write(title: str, text: str) -> str:
    with Path("log").open("a") as log:
        log.write(text)
    kept.append(title)
    return "kept"

@server.tool()
def recall(question: str) -> str:
    return " ".join(kept)

@server.tool()
def delete(title: str) -> str:
    return "deleted"

server.run("stdio")
"""
TOOLS = Tools(
    lambda title, text: ("write", {"title": title, "text": text}),
    lambda question, limit: ("recall", {"question": question}),
    lambda title, written: ("delete", {"title": title}),
)


def broken() -> McpPeer:
    """A peer that acknowledges what it holds in memory only, and deletes nothing."""
    return McpPeer("broken", TOOLS, [sys.executable, "-c", BROKEN])


def test_ours_and_plain_files_are_measured_side_by_side() -> None:
    peers = [ours("none"), PlainFiles()]

    results = compare(peers, 20, lambda what: None)

    measures = results.as_data()["measures"]
    assert measures["memorix, words only.identifier.recall_at_5"] == 1
    assert measures["grep.identifier.recall_at_5"] == 1
    for loss in ("callers.lost", "servers.lost", "killed.lost", "deleted.files_left"):
        assert measures[f"memorix, words only.{loss}"] == 0
    assert "grep.resident_mb" not in measures
    assert "n/a: grep.resident_mb, because there is no server." in markdown(results, peers)


def test_a_peer_that_holds_writes_in_memory_is_caught(tmp_path: Path) -> None:
    stores = [tmp_path / name for name in ("callers", "servers", "killed")]
    for store in stores:
        store.mkdir()

    assert judges.lost_by_callers(broken(), stores[0]) == judges.CALLERS * judges.EACH
    assert judges.lost_by_servers(broken(), stores[1]) == 2 * judges.EACH
    assert judges.lost_by_kill(broken(), stores[2]) >= judges.EACH


def test_a_peer_that_leaves_what_it_deleted_is_caught(tmp_path: Path) -> None:
    assert judges.left(broken(), tmp_path) == 1


def test_a_peer_that_does_not_start_is_told_of_and_the_others_are_measured() -> None:
    absent = McpPeer("absent", TOOLS, [sys.executable, "-c", "raise SystemExit(3)"])

    results = compare([absent, PlainFiles()], 20, lambda what: None)

    assert results.skipped["absent"]
    assert "grep.disk_mb" in results.measures


def test_an_answer_ranks_titles_by_where_it_first_names_them() -> None:
    said = Said("note-b x\nnote-a\nnote-b, a note", True)

    assert judges.ranking(said.text) == ["note-b", "note-a"]
