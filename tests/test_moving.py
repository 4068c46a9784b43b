"""Links between notes as a reader sees them, and what becomes of them when a note moves."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memorix import moving
from memorix.arguments import query_from
from memorix.errors import InvalidRequest, NoteChanged, UnsafePath
from memorix.lifecycle import draft_from
from memorix.memory import Memory
from memorix.results import Linked, Written

NOW = datetime(2026, 10, 2, tzinfo=UTC)


def keep(memory: Memory, text: str, title: str) -> Written:
    return memory.remember(draft_from(text, title))


def by_hand(memory: Memory, vault: Path, path: str, text: str) -> None:
    file = vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
    memory.catch_up()


@pytest.mark.rule("MEM-18", "OKF-27")
def test_a_link_to_a_note_that_does_not_exist_is_pending_until_it_does(memory: Memory) -> None:
    first = keep(memory, "See [the proxy](the-proxy.md) and [[The gateway]].", "Ports")
    before = memory.read(first.id).links

    proxy, gateway = keep(memory, "8080.", "The proxy"), keep(memory, "8443.", "The gateway")

    assert [(link.title, link.state) for link in before] == [
        ("the-proxy.md", "pending"),
        ("The gateway", "pending"),
    ]
    assert [link.id for link in memory.read(first.id).links] == [proxy.id, gateway.id]
    assert memory.read(proxy.id).backlinks == (Linked("Ports", first.id),)
    assert memory.read(gateway.id).backlinks == (Linked("Ports", first.id),)


@pytest.mark.rule("MEM-14")
def test_a_relation_is_shown_on_both_sides(memory: Memory) -> None:
    cache = keep(memory, "The cache lies in /var.", "Build cache")
    build = keep(memory, "- depends-on [Build cache](build-cache.md) (only on CI)", "Build")

    assert memory.read(build.id).links == (Linked("Build cache", cache.id, "depends_on"),)
    assert memory.read(cache.id).backlinks == (Linked("Build", build.id, "depends_on"),)


@pytest.mark.rule("MEM-17")
@pytest.mark.parametrize("name", ["Build Cache", "build-cache", "app/build-cache", "the cache"])
def test_a_wikilink_means_a_note_by_path_end_title_or_alias(
    name: str, memory: Memory, vault: Path
) -> None:
    by_hand(
        memory,
        vault,
        "projects/app/build-cache.md",
        "---\ntitle: Build cache\naliases: [The cache]\n---\nx\n",
    )
    done = keep(memory, f"See [[{name}#Layout|there]].", "Build")

    assert [link.title for link in memory.read(done.id).links] == ["Build cache"]


@pytest.mark.rule("MEM-17")
def test_a_wikilink_that_fits_two_notes_leads_to_neither(memory: Memory, vault: Path) -> None:
    for folder in ("a", "b"):
        by_hand(memory, vault, f"projects/app/{folder}/plan.md", "x\n")
    done = keep(memory, "See [[plan]].", "Start")

    assert memory.read(done.id).links == (Linked("plan", "", "", "ambiguous"),)
    assert memory.read("projects/app/a/plan.md").backlinks == ()


@pytest.mark.rule("MEM-16")
def test_code_contributes_no_links(memory: Memory) -> None:
    done = keep(memory, "`[[a]]` and\n\n```md\n[b](b.md)\n```\n", "Code")

    assert memory.read(done.id).links == ()


@pytest.mark.rule("MEM-27", "MEM-2")
def test_a_note_that_moves_keeps_its_id_and_its_own_links(memory: Memory, vault: Path) -> None:
    keep(memory, "x", "Target")
    done = keep(memory, "[t](target.md) [abs](/target.md)", "Mover")
    memory.recall(query_from("mover"))

    moved = moving.move(memory, done.id, "projects/app/deep/er/")

    found = memory.read(done.id)
    assert moved.path == found.note.path == "projects/app/deep/er/mover.md"
    assert "[t](../../target.md) [abs](/target.md)" in found.note.body
    assert [link.title for link in found.links] == ["Target"]
    assert not (vault / done.path).exists()
    assert memory.index.listing().keys() == {"projects/app/target.md", moved.path}


@pytest.mark.rule("MEM-27")
def test_links_of_memorix_notes_follow_on_request_and_those_of_people_are_named(
    memory: Memory, vault: Path
) -> None:
    done = keep(memory, "x", "Target")
    ours = keep(memory, "[t](target.md#part) and [[target|it]]\n\n`[t](target.md)`", "Ours")
    by_hand(memory, vault, "projects/app/theirs.md", "[t](target.md)\r\n")

    unasked = moving.move(memory, done.id, "projects/app/one/target.md")
    moving.move(memory, done.id, "projects/app/target.md")
    asked = moving.move(memory, done.id, "projects/app/two/goal.md", links=True)

    assert unasked.left == ("projects/app/ours.md", "projects/app/theirs.md")
    assert (asked.repaired, asked.left) == (("projects/app/ours.md",), ("projects/app/theirs.md",))
    body = memory.read(ours.id).note.body
    assert "[t](two/goal.md#part) and [[goal|it]]\n\n`[t](target.md)`" in body
    assert (vault / "projects/app/theirs.md").read_bytes() == b"[t](target.md)\r\n"
    assert [link.id for link in memory.read(ours.id).links] == [done.id]


def test_a_note_moved_by_hand_keeps_its_id_and_where_it_links(memory: Memory, vault: Path) -> None:
    keep(memory, "x", "Target")
    done = keep(memory, "[t](/target.md)", "Mover")
    (vault / "projects/app/sub").mkdir()

    (vault / done.path).rename(vault / "projects/app/sub/moved.md")
    memory.catch_up()

    found = memory.read(done.id)
    assert found.note.path == "projects/app/sub/moved.md"
    assert [link.title for link in found.links] == ["Target"]


def test_a_taken_or_impossible_path_is_refused_and_nothing_moves(
    memory: Memory, vault: Path
) -> None:
    done, other = keep(memory, "x", "One"), keep(memory, "y", "Two")

    for target, error in (
        (other.path, InvalidRequest),
        (other.path.replace("two", "TWO"), InvalidRequest),
        ("projects/app/index.md", InvalidRequest),
        (done.path, InvalidRequest),
        ("../out.md", UnsafePath),
        ("/etc/x.md", UnsafePath),
    ):
        with pytest.raises(error):
            moving.move(memory, done.id, target)

    assert (vault / done.path).exists()


def test_a_file_that_is_there_and_not_indexed_is_not_overwritten(
    memory: Memory, vault: Path
) -> None:
    done = keep(memory, "x", "One")
    (vault / "projects/app/new.md").write_text("mine", encoding="utf-8")

    with pytest.raises(NoteChanged):
        moving.move(memory, done.id, "projects/app/new.md")

    assert (vault / "projects/app/new.md").read_text(encoding="utf-8") == "mine"


@pytest.mark.rule("MEM-30", "OKF-32")
def test_the_log_is_kept_only_when_it_is_on_and_an_erased_note_leaves_its_id(
    memory: Memory, vault: Path
) -> None:
    keep(memory, "quiet", "Before")
    log = vault / "projects/app/log.md"
    assert not log.exists()

    memory.log, memory.clock = True, lambda: NOW
    done = keep(memory, "x", "Secret plan")
    log.write_bytes(log.read_bytes().replace(b"\n", b"\r\n"))
    memory.forget(done.id)
    written = log.read_bytes()
    memory.forget(done.id, "erase")

    assert written.count(b"## 2026-10-02") == 1
    assert b"* **Creation** [Secret plan](secret-plan.md)\r\n" in written
    assert b"* **Deprecation** [Secret plan](secret-plan.md)\r\n" in written
    assert b"ecret" not in log.read_bytes()
    assert done.id.encode() in log.read_bytes()
    assert memory.recall(query_from("Creation")).hits == []


@pytest.mark.rule("OKF-19", "OKF-21", "OKF-22", "OKF-25", "MEM-11")
@pytest.mark.parametrize(
    ("keys", "trust", "flags"),
    [
        ("", "unverified", ()),
        ("verified: []", "unverified", ()),
        ("verified: { by: 'process:ci' }", "machine-confirmed", ()),
        ("verified: [{ by: 'Human:dana' }]", "machine-confirmed", ()),
        ("verified: [{ by: a/1 }, { by: 'human:dana' }]", "human-reviewed", ()),
        ("verified: [{ at: '2026-01-01T00:00:00Z' }]", "unverified", ()),
        (
            "generated: { by: a/1, at: '2026-02-01T00:00:00Z' }\n"
            "verified: [{ by: 'human:dana', at: '2026-01-01T00:00:00Z' }]",
            "human-reviewed",
            ("changed since",),
        ),
        ("stale_after: '2026-10-02T00:00:00Z'", "unverified", ("stale",)),
        ("stale_after: '2026-10-02T00:00:01Z'", "unverified", ()),
    ],
)
def test_trust_and_staleness_are_computed_when_a_note_is_read(
    keys: str, trust: str, flags: tuple[str, ...], memory: Memory, vault: Path
) -> None:
    memory.clock = lambda: NOW
    by_hand(memory, vault, "user/a.md", f"---\ntype: Fact\n{keys}\n---\nx\n")
    before = (vault / "user/a.md").read_bytes()

    found = memory.read("user/a.md")

    assert (found.trust, found.flags) == (trust, flags)
    assert (vault / "user/a.md").read_bytes() == before
