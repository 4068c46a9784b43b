"""What assistants write is bounded, by settings that the refusal names."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memorix.bounds import Pace
from memorix.config import load
from memorix.errors import ConfigInvalid, LimitReached
from memorix.lifecycle import Edit, draft_from
from memorix.memory import Memory
from memorix.settling import Revision, revise
from memorix.wiring import open_memory
from tests.test_server import call, connected, refusal

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


@pytest.fixture
def bounded(settings: dict[str, str]) -> Iterator[Callable[..., Memory]]:
    opened: list[Memory] = []

    def memory(**bounds: int) -> Memory:
        more = {f"MEMORIX_{name.upper()}": str(value) for name, value in bounds.items()}
        opened.append(open_memory(load({}, settings | more)))
        return opened[-1]

    yield memory
    for one in opened:
        one.close()


def test_a_text_larger_than_the_setting_is_refused_and_one_as_large_is_kept(
    bounded: Callable[..., Memory], vault: Path
) -> None:
    memory = bounded(max_note_kb=2)

    kept = memory.remember(draft_from("x" * 2000, "Just right"))
    with pytest.raises(LimitReached, match=r"2,001 bytes; it may have 2,000\. Nothing was written"):
        memory.remember(draft_from("x" * 2001, "Too large"))
    with pytest.raises(LimitReached, match="or raise the setting max_note_kb"):
        memory.revise(kept.id, kept.etag, Edit(text="y" * 2100))
    with pytest.raises(LimitReached):
        revise(memory, kept.id, kept.etag, Revision(draft=draft_from("z" * 2001)))

    assert [file.name for file in vault.rglob("*.md")] == ["just-right.md"]
    assert memory.read(kept.id).etag == kept.etag


def test_keys_count_as_the_text_does_when_a_note_is_made_and_when_they_are_set(
    bounded: Callable[..., Memory],
) -> None:
    memory = bounded(max_note_kb=1)
    long = {"owner": "o" * 1100}
    with pytest.raises(LimitReached, match="max_note_kb"):
        memory.remember(draft_from("The lamp is green.", keys=long))
    kept = memory.remember(draft_from("The lamp is green."))

    with pytest.raises(LimitReached, match="max_note_kb"):
        memory.revise(kept.id, kept.etag, Edit(keys=long))

    assert memory.read(kept.id).etag == kept.etag


def test_bytes_count_and_not_characters(bounded: Callable[..., Memory]) -> None:
    memory = bounded(max_note_kb=1)

    with pytest.raises(LimitReached, match="1,200 bytes"):
        memory.remember(draft_from("网" * 400))


def test_a_large_note_of_a_person_can_be_shortened_and_retired(
    bounded: Callable[..., Memory], vault: Path
) -> None:
    memory = bounded(max_note_kb=1)
    (vault / "user").mkdir(parents=True)
    (vault / "user" / "log.txt.md").write_text("line\n" * 400 + "end\n", encoding="utf-8")
    memory.catch_up()
    reading = memory.read("user/log.txt.md")

    shorter = memory.revise("user/log.txt.md", reading.etag, Edit(find="end\n", replace=""))
    memory.forget("user/log.txt.md")

    assert shorter.status == "revised"
    assert memory.read("user/log.txt.md").note.status == "deprecated"


def test_tags_are_few_and_short(bounded: Callable[..., Memory]) -> None:
    memory = bounded(max_tags=3)

    memory.remember(draft_from("One.", tags=["a", "b", "c"]))
    with pytest.raises(LimitReached, match=r"4 tags is refused; it may have 3.*max_tags"):
        memory.remember(draft_from("Two.", tags=["a", "b", "c", "d"]))
    with pytest.raises(LimitReached, match="A tag may have 100 characters"):
        memory.remember(draft_from("Three.", tags=["t" * 101]))


def test_a_full_vault_says_so(bounded: Callable[..., Memory]) -> None:
    memory = bounded(max_notes=2)

    memory.remember(draft_from("One."))
    memory.remember(draft_from("Two."))
    with pytest.raises(LimitReached, match=r"has 2 notes, as many as it may.*memorix tidy"):
        memory.remember(draft_from("Three."))

    assert memory.remember(draft_from("Two.")).status == "already known"


def test_no_bound_is_zero(bounded: Callable[..., Memory]) -> None:
    memory = bounded(max_note_kb=0, max_tags=0, max_notes=0, max_writes_a_minute=0)

    done = memory.remember(draft_from("x " * 600_000, "Large", tags=[f"t{n}" for n in range(99)]))

    assert done.status == "created"


def test_an_assistant_that_writes_too_fast_is_told_to_wait_and_may_go_on_reading(
    settings: dict[str, str],
) -> None:
    async def session() -> None:
        async with connected(settings | {"MEMORIX_MAX_WRITES_A_MINUTE": "2"}) as client:
            first = await call(client, "remember", text="One.")
            await call(client, "remember", text="Two.")
            said = await refusal(client, "remember", text="Three.")
            assert "There were 2 writes within a minute" in said
            assert "Go on in" in said
            assert "max_writes_a_minute" in said
            assert "max_writes_a_minute" in await refusal(client, "forget", id=first["id"])
            assert (await call(client, "read", id=first["id"]))["body"].strip() == "One."
            assert len((await call(client, "recall"))["hits"]) == 2

    asyncio.run(asyncio.wait_for(session(), 60))


def test_after_a_minute_there_is_room_again() -> None:
    pace = Pace(2)

    pace.admit(NOW)
    pace.admit(NOW + timedelta(seconds=20))
    with pytest.raises(LimitReached, match="Go on in 30 seconds"):
        pace.admit(NOW + timedelta(seconds=30))
    pace.admit(NOW + timedelta(seconds=60))
    with pytest.raises(LimitReached, match="Go on in 15 seconds"):
        pace.admit(NOW + timedelta(seconds=65))


@pytest.mark.parametrize("value", ["-1", "many", "1000000"])
def test_an_impossible_bound_is_refused_with_its_range(
    settings: dict[str, str], value: str
) -> None:
    with pytest.raises(
        ConfigInvalid, match="MEMORIX_MAX_TAGS: must be whole tags from 0 to 999999"
    ):
        load({}, settings | {"MEMORIX_MAX_TAGS": value})
