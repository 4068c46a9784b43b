"""Days and times of notes, as people in every zone mean them, from a file to an answer."""

import json
import os
from collections.abc import Callable
from datetime import datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memorix.lifecycle import draft_from
from memorix.memory import Memory
from memorix.query import Filter, Query
from memorix.results import Written
from memorix.settling import supersede

Typed = Callable[..., str]

ZONES = ("Asia/Tokyo", "America/Los_Angeles", "UTC")


def keep(vault: Path, at: datetime) -> None:
    """Write a note by hand whose time has its offset."""
    vault.mkdir(exist_ok=True)
    text = f"---\ntype: Fact\ncreated: {at.isoformat()}\n---\n\nThe quay gauge shows 3.1 m.\n"
    (vault / "gauge.md").write_text(text, encoding="utf-8")


@pytest.mark.fault("A-78")
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("clock", [time(23, 30), time(0, 30)])
def test_a_note_is_of_the_day_on_which_its_reader_was_living(
    memorix: Typed, vault: Path, zone: str, clock: time
) -> None:
    keep(vault, datetime(2026, 3, 5, clock.hour, clock.minute, tzinfo=ZoneInfo(zone)))

    def found(*options: str) -> int:
        asked = ("recall", "quay gauge", "--scope", "all", "--json", *options)
        return len(json.loads(memorix(*asked, TZ=zone))["hits"])

    assert found("--since", "2026-03-05", "--until", "2026-03-05") == 1
    assert found("--since", "2026-03-06") == 0
    assert found("--until", "2026-03-04") == 0


@pytest.mark.fault("A-78")
@pytest.mark.parametrize("zone", ZONES)
def test_yesterday_is_the_day_before_the_readers_own(
    memorix: Typed, vault: Path, zone: str
) -> None:
    today = datetime.now(ZoneInfo(zone)).date()
    late = datetime.combine(today - timedelta(days=1), time(23, 30), ZoneInfo(zone))
    keep(vault, late)

    told = memorix("recall", "quay gauge yesterday", "--scope", "all", "--explain", TZ=zone)

    if datetime.now(ZoneInfo(zone)).date() == today:  # else midnight came between
        assert f"yesterday: {today - timedelta(days=1)}" in told
        assert "from that time" in told


def remembered_two_years_ago(memory: Memory) -> Written:
    day = datetime(2024, 10, 2, 8, tzinfo=ZoneInfo("UTC"))
    memory.clock = lambda: day
    old = memory.remember(draft_from("The ssh port of the harbour host is 22.", "ssh port"))
    memory.clock = lambda: day + timedelta(days=730)
    return old


@pytest.mark.fault("A-75")
def test_what_replaced_a_note_comes_first_and_the_old_one_is_dated_and_marked(
    memory: Memory,
) -> None:
    old = remembered_two_years_ago(memory)
    new = supersede(
        memory, old.id, old.etag, draft_from("The ssh port of the harbour host is 49222.")
    )

    plain = memory.recall(Query("which ssh port has the harbour host")).hits
    every = memory.recall(
        Query("which ssh port has the harbour host", Filter(everything=True))
    ).hits

    assert [hit.id for hit in plain] == [new.id]
    assert [(hit.id, hit.date[:10]) for hit in every] == [
        (new.id, "2026-10-02"),
        (old.id, "2024-10-02"),
    ]
    assert "superseded" in every[1].why.notes


@pytest.mark.fault("A-75")
def test_of_two_notes_that_contradict_each_other_the_one_that_holds_since_later_comes_first(
    memory: Memory,
) -> None:
    old = remembered_two_years_ago(memory)
    new = memory.remember(draft_from("The ssh port of the harbour host is 49222.", "ssh port"))

    hits = memory.recall(Query("which ssh port has the harbour host")).hits

    assert new.status == "possible conflict"
    assert [hit.id for hit in hits] == [new.id, old.id]
    assert [hit.disputes for hit in hits] == [(old.id,), (new.id,)]


def test_a_note_that_states_no_date_is_of_the_day_of_its_file_also_when_only_that_changes(
    memory: Memory, vault: Path
) -> None:
    folder = vault / "user"
    folder.mkdir(parents=True)
    plain, dated = folder / "plain.md", folder / "dated.md"
    plain.write_bytes(b"The lamp is green.\n")
    dated.write_bytes(b"---\ncreated: 2024-05-06T00:00:00Z\n---\nThe door is blue.\n")
    for seconds in (1_700_000_000, 1_750_000_000):
        for file in (plain, dated):
            os.utime(file, (seconds, seconds))
        memory.catch_up()

    def days() -> dict[str, str]:
        return {row.path: row.date[:10] for row in memory.list(Filter(scopes=("all",)))}

    followed = days()
    memory.make_index_anew()

    assert followed == {"user/plain.md": "2025-06-15", "user/dated.md": "2024-05-06"}
    assert days() == followed
