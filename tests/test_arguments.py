import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from memorix.arguments import query_from
from memorix.errors import InvalidRequest


@pytest.fixture(params=["Asia/Tokyo", "America/Los_Angeles", "UTC"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield str(request.param)
    monkeypatch.undo()
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be set here")
def test_a_day_is_the_users_own_whole_day(zone: str) -> None:
    late = datetime(2026, 10, 2, 23, 30).astimezone(UTC)
    early = datetime(2026, 10, 2, 0, 30).astimezone(UTC)
    wanted = query_from("x", since="2026-10-02", until="2026-10-02", as_of="2026-10-02").filter

    assert wanted.since is not None
    assert wanted.until is not None
    assert wanted.as_of is not None
    assert wanted.since <= early < late < wanted.until
    assert wanted.until - wanted.as_of == timedelta(seconds=1)  # the last moment, since validity


def test_a_time_with_its_offset_is_taken_as_it_is() -> None:
    wanted = query_from("x", since="2026-10-02T10:00:00+02:00").filter

    assert wanted.since == datetime(2026, 10, 2, 8, tzinfo=UTC)


@pytest.mark.parametrize("argument", ["since", "until", "as_of"])
def test_what_is_no_date_is_refused_by_name(argument: str) -> None:
    with pytest.raises(InvalidRequest, match=f"{argument} takes a date"):
        query_from("x", **{argument: "soon"})  # type: ignore[arg-type]


@pytest.mark.parametrize("cursor", ["x", "-1", "1e3", "99999999", "１"])
def test_a_cursor_that_recall_did_not_give_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest, match="cursor"):
        query_from("x", cursor=cursor)


def test_numbers_out_of_range_are_brought_into_it() -> None:
    asked = query_from("x", limit=0, max_tokens=-5)

    assert (asked.limit, asked.max_tokens) == (1, 1)
    assert query_from("x", limit=5000).limit == 50
