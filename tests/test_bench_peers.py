import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest

from memorix.bench.peers import judges, weights
from memorix.bench.peers.base import Said, Tools
from memorix.bench.peers.harness import compare, markdown, peers
from memorix.bench.peers.ours import ours
from memorix.bench.peers.plain import PlainFiles
from memorix.bench.peers.serving import McpPeer, supported
from memorix.bench.results import Measured, Results, read, write
from memorix.embedders.fastembed import load_minilm
from memorix.errors import InvalidRequest

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


@pytest.mark.timeout(500)  # it starts our server a dozen times
def test_ours_and_plain_files_are_measured_side_by_side() -> None:
    results = compare([ours("none"), PlainFiles()], 20, lambda what: None, starts=1)

    measures = results.as_data()["measures"]
    assert measures["memorix, words only.identifier.recall_at_5"] == 1
    assert measures["grep.identifier.recall_at_5"] == 1
    for loss in ("callers.lost", "servers.lost", "killed.lost", "deleted.files_left"):
        assert measures[f"memorix, words only.{loss}"] == 0
    assert measures["memorix, words only.write.refused"] == 0
    assert measures["memorix, words only.edited.recallable_ms"] > 0
    assert measures["memorix, words only.start.cpu_ratio"] > 0
    assert "grep.resident_mb" not in measures
    assert "n/a: grep.resident_mb, because there is no server." in markdown(results)


def test_a_peer_that_holds_writes_in_memory_is_caught(tmp_path: Path) -> None:
    stores = [tmp_path / name for name in ("callers", "servers", "killed")]
    for store in stores:
        store.mkdir()

    assert judges.lost_by_callers(broken(), stores[0]) == {
        "refused": 0,
        "lost": judges.CALLERS * judges.EACH,
    }
    assert judges.lost_by_servers(broken(), stores[1]) == {"refused": 0, "lost": 2 * judges.EACH}
    assert judges.lost_by_kill(broken(), stores[2])["lost"] >= judges.EACH


def test_a_peer_that_leaves_what_it_deleted_is_caught(tmp_path: Path) -> None:
    assert judges.left(broken(), tmp_path) == {"files_left": 1}


def test_a_peer_that_does_not_start_is_told_of_and_the_others_are_measured() -> None:
    absent = McpPeer("absent", TOOLS, [sys.executable, "-c", "raise SystemExit(3)"])

    results = compare([absent, PlainFiles()], 20, lambda what: None)

    assert results.skipped["absent"]
    assert not [name for name in results.measures if name.startswith("absent.")]
    assert "grep.disk_mb" in results.measures


def test_a_peer_whose_server_ends_while_it_is_measured_has_no_figures() -> None:
    fragile = BROKEN.replace("    kept.append(title)", "    import os; os._exit(1)")
    dying = McpPeer("dying", TOOLS, [sys.executable, "-c", fragile])

    results = compare([dying], 20, lambda what: None)

    assert not results.measures
    assert "ended in the midst" in results.skipped["dying"]


def test_an_answer_that_says_no_is_a_refusal(tmp_path: Path) -> None:
    refusing = McpPeer("refusing", replace(TOOLS, refusal="^kept"), [sys.executable, "-c", BROKEN])

    with refusing.opened(tmp_path) as session:
        said = session.write("note-a", "anything")

    assert (said.text, said.kept) == ("kept", False)


def test_a_note_of_plain_files_that_is_edited_is_found_by_its_new_word(tmp_path: Path) -> None:
    assert judges.edited(PlainFiles(), tmp_path)["recallable_ms"] > 0


def test_a_peer_that_is_not_installed_is_told_of(tmp_path: Path) -> None:
    found = peers(tmp_path, install=False, only=["qmd"])

    results = compare(found, 20, lambda what: None)

    assert results.skipped == {"qmd": "it is not installed; run with --install"}


def test_an_unknown_peer_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"called nobody.*basic-memory"):
        peers(tmp_path, install=False, only=["nobody"])


def test_one_peer_measured_again_leaves_what_is_known_of_the_others(tmp_path: Path) -> None:
    known = {"grep.gone": Measured.once(1), "grep 2.left": Measured.once(2)}
    write(tmp_path / "peers.json", Results("peers", known, {"grep.old": "it was"}).as_data())

    results = compare([PlainFiles()], 20, lambda what: None, so_far=read(tmp_path / "peers.json"))

    assert "grep.gone" not in results.measures
    assert "grep.old" not in results.skipped
    assert results.measures["grep 2.left"].value == 2
    assert results.measures["grep.bare_identifier.recall_at_5"].value == 1


def test_peers_are_served_vectors_of_our_own_model() -> None:
    body = json.dumps({"input": ["the invoice renderer"], "model": weights.MODEL}).encode()

    with (
        weights.endpoint(os.environ) as address,
        urlopen(f"{address}/embeddings", data=body, timeout=60) as answer,
    ):
        row = json.load(answer)["data"][0]["embedding"]

    assert row == pytest.approx(load_minilm().embed(["the invoice renderer"])[0], abs=1e-5)


def test_an_answer_ranks_titles_by_where_it_first_names_them() -> None:
    said = Said("note-b x\nnote-a\nnote-b, a note", True)

    assert judges.ranking(said.text) == ["note-b", "note-a"]
