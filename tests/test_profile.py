"""The memory profile on disk: which keys a note gets, when they move, and how others read them."""

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from ruamel.yaml import YAML

from memorix import settling
from memorix.arguments import query_from
from memorix.errors import InvalidRequest
from memorix.frontmatter import cut
from memorix.lifecycle import Edit, by, draft_from, successor
from memorix.memory import Memory

NOW = datetime(2026, 10, 2, 8, tzinfo=UTC)


@pytest.fixture
def clocked(memory: Memory) -> Memory:
    memory.clock = lambda: NOW
    return memory


def later(memory: Memory, **delta: int) -> None:
    memory.clock = lambda: NOW + timedelta(**delta)


def block_of(memory: Memory, path: str) -> str:
    return cut(memory.store.locate(path).read_bytes().decode()).block


def keys_of(memory: Memory, path: str) -> Any:
    return yaml.safe_load(block_of(memory, path))


@pytest.mark.rule("MEM-5", "MEM-2")
def test_created_stays_and_the_last_change_moves_with_the_text_only(clocked: Memory) -> None:
    done = clocked.remember(draft_from("The port is 1.", "Port"))
    later(clocked, days=1)
    tagged = clocked.revise(done.id, done.etag, Edit(keys={"tags": ["net"]}))
    between = keys_of(clocked, done.path)
    later(clocked, days=2)
    clocked.revise(done.id, tagged.etag, Edit(find="1", replace="2"))

    keys = keys_of(clocked, done.path)
    assert between["generated"]["at"] == "2026-10-02T08:00:00Z"
    assert keys["created"] == "2026-10-02T08:00:00Z"
    assert keys["generated"]["at"] == "2026-10-04T08:00:00Z"
    assert keys["id"] == done.id


@pytest.mark.rule("MEM-6", "OKF-28")
def test_a_note_says_who_wrote_it_and_through_what(clocked: Memory) -> None:
    agent = clocked.remember(by(draft_from("a"), "claude-code/2.1"))
    person = clocked.remember(by(draft_from("b"), "human:dana"))

    assert keys_of(clocked, agent.path)["generated"]["by"] == "claude-code/2.1"
    assert keys_of(clocked, agent.path)["generated"]["via"].startswith("memorix/")
    assert keys_of(clocked, person.path)["generated"]["by"] == "human:dana"


@pytest.mark.rule("OKF-28")
def test_an_agent_cannot_confirm_as_a_person(clocked: Memory) -> None:
    done = clocked.remember(draft_from("a"))
    edit = Edit(keys={"verified": [{"by": "human:dana", "at": "2026-10-02T00:00:00Z"}]})

    with pytest.raises(InvalidRequest, match="Only a person"):
        clocked.revise(done.id, done.etag, edit, "claude-code/2.1")
    clocked.revise(done.id, done.etag, edit, "human:dana")

    assert clocked.read(done.id).trust == "human-reviewed"


@pytest.mark.rule("MEM-10")
def test_from_its_end_on_an_expired_note_is_out_of_recall(clocked: Memory) -> None:
    draft = successor("The freeze lasts until Friday.", {"expires_at": "2026-10-03T08:00:00Z"})
    clocked.remember(draft)

    later(clocked, hours=23)
    before = clocked.recall(query_from("freeze friday")).hits
    later(clocked, hours=24)

    assert len(before) == 1
    assert clocked.recall(query_from("freeze friday")).hits == []


@pytest.mark.rule("MEM-13")
@pytest.mark.parametrize("key", ["aliases", "applies_when"])
def test_other_names_and_occasions_are_found_like_the_title(key: str, clocked: Memory) -> None:
    clocked.remember(draft_from("A note that names the larkspur once, among many words.", "One"))
    named = clocked.remember(successor("Something else.", {"title": "Two", key: ["larkspur"]}))

    assert clocked.recall(query_from("larkspur")).hits[0].id == named.id


@pytest.mark.rule("MEM-15")
def test_an_observation_is_found_by_its_words_and_tags(clocked: Memory) -> None:
    done = clocked.remember(draft_from("# Proxy\n\n- [limit] 64 connections #quota (measured)"))

    for question in ("limit connections", "quota", "measured"):
        assert [hit.id for hit in clocked.recall(query_from(question)).hits] == [done.id]


@pytest.mark.rule("MEM-12")
def test_the_keys_of_the_profile_are_flat_as_obsidian_needs_them(clocked: Memory) -> None:
    old = clocked.remember(draft_from("Backups run at 02:15.", "Backup", "Fact", ["ops"]))
    new = settling.supersede(clocked, old.id, old.etag, successor("Backups run at 04:40.", {}))

    for path in (old.path, new.path):
        for key, value in keys_of(clocked, path).items():
            flat = isinstance(value, str) or all(isinstance(item, str) for item in value)
            assert flat or key in ("generated", "verified", "sources")


@pytest.mark.rule("MEM-25")
@pytest.mark.parametrize(
    "title", ["no", "1.10", "2026-01-05", "a: b", "#x", "- y", "'q'", '"', "端口", "~", "12:30:45"]
)
def test_what_is_written_reads_the_same_in_yaml_1_1_and_1_2(title: str, clocked: Memory) -> None:
    done = clocked.remember(draft_from("x", title, tags=["007", "yes", "1e3"]))
    block = block_of(clocked, done.path)

    newer = YAML(typ="safe", pure=True)
    newer.version = (1, 2)

    for keys in (yaml.safe_load(block), newer.load(io.StringIO(block))):
        assert (keys["title"], keys["tags"]) == (title, ["007", "yes", "1e3"])
        assert keys["created"] == "2026-10-02T08:00:00Z"


@pytest.mark.rule("OKF-12")
def test_a_description_is_the_line_shown_and_the_line_of_the_index(
    clocked: Memory, vault: Path
) -> None:
    (vault / "user").mkdir(parents=True)
    text = (
        "---\ntype: Fact\ndescription: >\n  Two lines\n  in one.\n---\nSomething about larkspur.\n"
    )
    (vault / "user/a.md").write_text(text, encoding="utf-8")
    clocked.catch_up()

    assert clocked.list(query_from("", scope="user").filter)[0].gist == "Two lines in one."


@pytest.mark.rule("OKF-33", "OKF-16")
def test_an_attested_computation_is_returned_as_it_is_and_stays_so(
    clocked: Memory, vault: Path
) -> None:
    (vault / "user").mkdir(parents=True)
    text = (
        "---\ntype: Attested Computation\nruntime: sql\nparameters:\n  - { name: month }\n"
        "executor: { resource: /run.md }\nsources: []\n---\n\n"
        "# Computation\n\n```sql\nSELECT 1\n```\n"
    )
    (vault / "user/sum.md").write_text(text, encoding="utf-8")
    clocked.catch_up()

    found = clocked.read("user/sum.md")
    clocked.revise(found.note.path, found.etag, Edit(keys={"tags": ["money"]}))

    assert found.note.meta["parameters"] == [{"name": "month"}]
    assert found.note.meta["sources"] == []
    changed = (vault / "user/sum.md").read_text(encoding="utf-8")
    assert changed == text.replace("sources: []\n", "sources: []\ntags: [money]\n")
