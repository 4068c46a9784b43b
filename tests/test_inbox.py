"""Suggested memories wait in the inbox of their scope until a person accepts them."""

from pathlib import Path

import pytest

from memorix.held import INBOX, in_inbox
from memorix.memory import Memory
from memorix.query import Filter, Query

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
