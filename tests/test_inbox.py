"""Suggested memories wait in the inbox of their scope until a person accepts them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memorix import inbox
from memorix.config import load
from memorix.errors import InvalidRequest, NoteNotFound
from memorix.held import in_inbox
from memorix.kinds import INBOX
from memorix.lifecycle import Draft, Edit, draft_from
from memorix.memory import Memory
from memorix.query import Filter, Query
from memorix.wiring import open_memory
from tests.test_server import ERAS, call, connected, run

NOTE = "---\ntype: Fact\ntitle: Gateway port\n---\nThe gateway listens on port 8443.\n"


def put_by_hand(vault: Path, path: str, text: str = NOTE) -> None:
    file = vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "held"),
    [
        ("user/inbox/a.md", True),
        ("user/Inbox/deep/a.md", True),
        ("user/inbox.md", False),
        ("user/notes/inbox/a.md", False),
        ("inbox/a.md", False),
        ("user-inbox/a.md", False),
    ],
)
def test_only_the_folder_inbox_right_inside_a_scope_is_one(path: str, held: bool) -> None:
    assert in_inbox(path, "user") is held


def test_what_waits_in_an_inbox_is_in_no_answer_that_does_not_ask_for_it(
    memory: Memory, vault: Path
) -> None:
    put_by_hand(vault, "user/inbox/gateway.md")
    put_by_hand(vault, "projects/app/inbox/gateway.md")
    memory.catch_up()

    assert memory.recall(Query("gateway port")).hits == []
    assert memory.recall(Query("")).hits == []
    assert memory.list(Filter(everything=True)) == []
    assert "Gateway" not in memory.brief().text
    asked = memory.recall(Query("gateway port", Filter(held=(INBOX,))))
    assert [hit.path for hit in asked.hits] == [
        "projects/app/inbox/gateway.md",
        "user/inbox/gateway.md",
    ]


def test_a_note_moved_out_of_the_inbox_by_hand_counts_from_then_on(
    memory: Memory, vault: Path
) -> None:
    put_by_hand(vault, "user/inbox/gateway.md")
    memory.catch_up()

    (vault / "user/inbox/gateway.md").rename(vault / "user/gateway.md")
    memory.catch_up()

    assert [hit.path for hit in memory.recall(Query("gateway")).hits] == ["user/gateway.md"]


def suggested(text: str, title: str = "") -> Draft:
    return draft_from(text, title, suggested=True)


def test_a_suggestion_is_an_ordinary_note_in_the_inbox_that_the_brief_only_counts(
    memory: Memory, vault: Path
) -> None:
    done = memory.remember(suggested("The gateway listens on 8443.", "Gateway port"))

    assert (done.status, done.path) == ("suggested", "projects/app/inbox/gateway-port.md")
    assert "status: draft" in (vault / done.path).read_text(encoding="utf-8")
    assert memory.recall(Query("gateway port")).hits == []
    brief = memory.brief()
    assert brief.text.endswith("In the inbox, for the user to review: 1.")
    assert (brief.total, memory.status().waiting) == (0, 1)


@pytest.mark.fault("A-74")
def test_the_same_suggestion_twice_is_one(memory: Memory) -> None:
    first = memory.remember(suggested("The gateway listens on 8443."))
    again = memory.remember(suggested("The gateway  listens on 8443."))

    assert (again.id, again.status) == (first.id, "already known")
    assert len(inbox.suggestions(memory)) == 1


def test_what_is_known_or_was_given_up_is_not_suggested_again(memory: Memory) -> None:
    known = memory.remember(draft_from("The gateway listens on 8443."))
    old = memory.remember(draft_from("The lamp is green."))
    memory.forget(old.id)

    for text, note in (("The gateway listens on 8443.", known), ("The lamp is green.", old)):
        done = memory.remember(suggested(text))
        assert (done.id, done.status) == (note.id, "already known")
    assert inbox.suggestions(memory) == []


def test_what_waits_can_be_said_outright_meanwhile(memory: Memory) -> None:
    waiting = memory.remember(suggested("The gateway listens on 8443."))
    said = memory.remember(draft_from("The gateway listens on 8443."))
    assert said.status == "created"

    done = inbox.accept(memory, waiting.id)

    assert (done.id, done.status) == (said.id, "already known")
    assert inbox.suggestions(memory) == []


def test_an_accepted_suggestion_keeps_its_id_and_its_links_and_counts(
    memory: Memory, vault: Path
) -> None:
    lamp = memory.remember(draft_from("The lamp is green.", "Lamp"))
    text = "The gateway is beside [the lamp](../lamp.md), and not draft: stable."
    first = memory.remember(suggested(text, "Gateway"))
    second = memory.remember(suggested("Reached through [the gateway](gateway.md).", "Door"))

    done = inbox.accept(memory, first.id)

    assert (done.id, done.path) == (first.id, "projects/app/gateway.md")
    content = (vault / done.path).read_text(encoding="utf-8")
    assert "(lamp.md), and not draft: stable." in content
    assert "status:" not in content
    assert [hit.id for hit in memory.recall(Query("gateway")).hits] == [first.id]
    assert [link.id for link in memory.read(first.id).links] == [lamp.id]
    assert [link.id for link in memory.read(second.id).links] == [first.id]
    assert [one.id for one in inbox.suggestions(memory)] == [second.id]


def test_no_note_tells_of_a_suggestion_that_links_to_it(memory: Memory) -> None:
    lamp = memory.remember(draft_from("The lamp is green.", "Lamp"))
    memory.remember(suggested("Obey [the lamp](../lamp.md).", "Obey"))

    assert memory.read(lamp.id).backlinks == ()


def test_acceptance_shows_the_notes_that_say_something_near(memory: Memory) -> None:
    old = memory.remember(draft_from("The staging gateway zeus listens on 8443.", "Zeus port"))
    new = memory.remember(suggested("The staging gateway zeus listens on 9443.", "Zeus 9443"))

    done = inbox.accept(memory, new.id)

    assert [near.id for near in new.near] == [old.id]
    assert (done.status, [near.id for near in done.near]) == ("accepted", [old.id])


def test_an_accepted_note_takes_no_other_notes_place(memory: Memory) -> None:
    memory.remember(draft_from("The lamp is green.", "Lamp"))
    other = memory.remember(suggested("Another lamp altogether.", "Lamp"))

    done = inbox.accept(memory, other.id)

    assert done.path == "projects/app/lamp-2.md"
    assert "green" in memory.read("projects/app/lamp.md").note.body


@pytest.mark.parametrize("settle", [inbox.accept, inbox.reject])
def test_a_note_that_waits_nowhere_is_neither_accepted_nor_rejected(
    memory: Memory, settle: Callable[[Memory, str], object]
) -> None:
    note = memory.remember(draft_from("The lamp is green."))

    with pytest.raises(InvalidRequest, match="waits in no inbox"):
        settle(memory, note.id)

    assert "green" in memory.read(note.id).note.body


@pytest.mark.fault("A-80")
@pytest.mark.parametrize("settle", [inbox.accept, inbox.reject])
def test_no_suggestion_is_settled_by_a_name_that_is_only_near(
    memory: Memory, settle: Callable[[Memory, str], object]
) -> None:
    waiting = memory.remember(suggested("The lamp is green.", "Lamp"))

    for name in (waiting.id[:12], "Lamp", "projects/app/inbox/lam"):
        with pytest.raises(NoteNotFound, match=waiting.id):
            settle(memory, name)

    assert [one.id for one in inbox.suggestions(memory)] == [waiting.id]


def test_a_rejected_suggestion_is_gone(memory: Memory, vault: Path) -> None:
    done = memory.remember(suggested("The lamp is green.", "Lamp"))

    assert not inbox.reject(memory, done.id, dry_run=True).done
    assert (vault / done.path).exists()
    assert inbox.reject(memory, done.id).done

    assert not (vault / done.path).exists()
    assert (inbox.suggestions(memory), memory.status().counts.notes) == ([], 0)


def test_a_draft_that_waits_in_no_inbox_is_revised_like_any_note(memory: Memory) -> None:
    note = memory.remember(Draft("The lamp is green.", "Lamp", extra={"status": "draft"}))
    etag = memory.read(note.id).etag

    done = inbox.revise(memory, note.id, etag, Edit(keys={"status": "stable"}))

    assert (done.status, memory.read(note.id).note.status) == ("revised", "stable")


@pytest.mark.parametrize(
    ("review", "author", "origin", "status"),
    [
        ("off", "claude-code/2.1", "inferred", "created"),
        ("inferred", "claude-code/2.1", "stated", "created"),
        ("inferred", "claude-code/2.1", "inferred", "suggested"),
        ("all", "claude-code/2.1", "stated", "suggested"),
        ("all", "human:dana", "inferred", "created"),
    ],
)
def test_what_waits_for_review_is_for_the_owner_to_say(
    settings: dict[str, str], review: str, author: str, origin: str, status: str
) -> None:
    memory = open_memory(load({}, settings | {"MEMORIX_REVIEW": review}))

    done = memory.remember(Draft("The lamp is green.", "Lamp", author=author, origin=origin))
    memory.close()

    assert done.status == status


def test_the_inbox_is_settled_from_the_command_line(memorix: Callable[..., str]) -> None:
    ids = []
    for number in ("one", "two", "three"):
        text = f"Lamp {number} is green."
        said = memorix("remember", "--suggest", "--json", stdin=text)
        ids.append(json.loads(said)["id"])

    waiting = json.loads(memorix("inbox", "--json"))["suggestions"]
    assert {one["id"] for one in waiting} == set(ids)
    assert "3 suggestions wait" in memorix("inbox")
    assert "inbox     3 suggestions wait" in memorix("status")
    shown = json.loads(memorix("inbox", "show", ids[0], "--json"))
    assert (shown["status"], shown["trust"]) == ("draft", "unverified, held back: inbox")
    assert "rejected" in json.loads(memorix("inbox", "reject", ids[0], "--json"))
    memorix("inbox", "edit", ids[1], EDITOR="sed -i s/two/twenty/")
    settled = memorix("inbox", "accept", ids[1], "no-such-note", code=3, keep_output=True)
    assert settled.startswith("accepted: projects/app/lamp-two-is-green.md")
    accepted = json.loads(memorix("inbox", "accept", "--all", "--json"))["accepted"]
    assert [one["id"] for one in accepted] == [ids[2]]
    assert "or say --all" in memorix("inbox", "accept", code=2)
    assert "The inbox is empty" in memorix("inbox", "list")
    hits = json.loads(memorix("recall", "lamp green", "--words", "--json"))["hits"]
    assert {hit["id"] for hit in hits} == set(ids[1:])
    assert any(hit["gist"] == "Lamp twenty is green." for hit in hits)


def test_a_bundle_for_review_goes_through_the_inbox_once(
    memorix: Callable[..., str], vault: Path, tmp_path: Path
) -> None:
    put_by_hand(tmp_path, "theirs/gateway.md", NOTE + "Beside [the lamp](lamps/lamp.md).\n")
    put_by_hand(tmp_path, "theirs/lamps/lamp.md", "The lamp is green.\n")
    bundle = str(tmp_path / "theirs")

    memorix("import", "--review", bundle)
    waiting = json.loads(memorix("inbox", "--json"))["suggestions"]
    memorix("inbox", "accept", "--all")
    again = json.loads(memorix("import", "--review", "--json", bundle))

    assert {one["source"] for one in waiting} == {"theirs"}
    folder = vault / "projects/app"
    assert "(lamps/lamp.md)" in (folder / "gateway.md").read_text(encoding="utf-8")
    assert "green" in (folder / "lamps/lamp.md").read_text(encoding="utf-8")
    assert again["counts"] == {"known": 2}


@pytest.mark.parametrize("era", ERAS)
def test_an_assistant_suggests_and_settles_what_the_user_decided(
    settings: dict[str, str], era: str
) -> None:
    async def session() -> None:
        async with connected(settings, era) as client:
            lamp = await call(client, "remember", text="The lamp is green.", suggest=True)
            door = await call(client, "remember", text="The door is blue.", suggest="true")
            assert (lamp["status"], door["status"]) == ("suggested", "suggested")
            assert (await call(client, "recall", query="lamp door"))["hits"] == []
            assert "review: 2" in (await call(client, "brief"))["text"]
            note = await call(client, "read", id=lamp["id"])
            accepted = await call(
                client, "revise", id=lamp["id"], etag=note["etag"], find="green",
                replace="red", set={"status": "stable"},
            )  # fmt: skip
            assert (accepted["status"], accepted["id"]) == ("accepted", lamp["id"])
            assert (await call(client, "forget", id=door["id"]))["level"] == "reject"
            hits = (await call(client, "recall", query="lamp"))["hits"]
            assert [hit["gist"] for hit in hits] == ["The lamp is red."]

    run(session)
