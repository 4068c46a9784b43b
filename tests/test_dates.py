"""Dates as people say them: what a question asks for, on a Wednesday, 2 December 2026."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorix.dates import Event, event_named, order_asked, periods

TODAY = date(2026, 12, 2)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("What did we decide yesterday?", "2026-12-01"),
        ("the day before yesterday", "2026-11-30"),
        ("what changed last week", "2026-11-23 to 2026-11-29"),
        ("notes of this week", "2026-11-30 to 2026-12-06"),
        ("last month's incidents", "2026-11-01 to 2026-11-30"),
        ("in the last 3 months", "2026-09-03 to 2026-12-02"),
        ("three days ago", "2026-11-29"),
        ("a couple of weeks ago", "2026-11-16 to 2026-11-22"),
        ("2 years ago", "2024-01-01 to 2024-12-31"),
        ("decided last Friday", "2026-11-27"),
        ("in March", "2026-03-01 to 2026-03-31"),
        ("in December", "2026-12-01 to 2026-12-31"),
        ("on October 13, 2023", "2023-10-13"),
        ("8th December, 2023", "2023-12-08"),
        ("in June 2022", "2022-06-01 to 2022-06-30"),
        ("the Q3 plan", "2026-07-01 to 2026-09-30"),
        ("what happened in 2023", "2023-01-01 to 2023-12-31"),
        ("the note of 2024-05-02", "2024-05-02"),
        ("before 2024-05-02", "to 2024-05-01"),
        ("after March 2024", "from 2024-04-01"),
        ("since Monday", "from 2026-11-30"),
        ("between August 11 and August 15 2023", "2023-08-11 to 2023-08-15"),
        ("from November to January 2025", "2024-11-01 to 2025-01-31"),
        ("昨天改了什么", "2026-12-01"),
        ("上周五的决定", "2026-11-27"),
        ("上上周", "2026-11-16 to 2026-11-22"),
        ("上个月的故障", "2026-11-01 to 2026-11-30"),
        ("两个月前", "2026-10-01 to 2026-10-31"),
        ("三月之前", "to 2026-02-28"),
        ("三个月之前", "2026-09-01 to 2026-09-30"),
        ("最近三天", "2026-11-29 to 2026-12-02"),
        ("去年十二月", "2025-12-01 to 2025-12-31"),
        ("十月二十三号", "2026-10-23"),
        ("三月五号之前", "to 2026-03-04"),
        ("2024年3月5日之后", "from 2024-03-06"),
        ("2月29日", "2024-02-29"),
    ],
)
def test_a_date_is_read_as_the_days_it_means(text: str, read: str) -> None:
    assert [str(period) for period in periods(text, TODAY)] == [read]


@pytest.mark.parametrize(
    "text",
    [
        "may I use port 2023?",
        "march on with the second step",
        "error 2024 in version 3.2024.1",
        "at 192.168.2024.1:2026",
        "the week has seven days",
        "一个月饼",
        "id 2026-13-45",
        "",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert periods(text, TODAY) == ()


def test_the_words_of_a_date_are_told_as_they_were_said() -> None:
    (period,) = periods("What broke after March 2024 in the gateway?", TODAY)

    assert period.said == "after March 2024"


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("What did we use before the migration?", Event("before the migration", "migration", True)),
        (
            "ports since our move to Frankfurt",
            Event("since our move to Frankfurt", "move to Frankfurt", False),
        ),
        ("迁移之前用什么数据库", Event("迁移之前", "迁移", True)),
        ("which port", None),
    ],
)
def test_an_event_that_dates_a_question_is_found(text: str, event: Event | None) -> None:
    assert event_named(text) == event


def test_newest_and_oldest_are_understood_in_both_languages() -> None:
    asked = ["the latest port", "最新的端口", "which was the earliest", "最早的决定", "the port"]

    assert [order_asked(text) for text in asked] == ["newest", "newest", "oldest", "oldest", ""]


@given(st.text(max_size=80), st.dates(date(1, 1, 1), date(9990, 1, 1)))
def test_no_text_and_no_day_break_the_reading(text: str, today: date) -> None:
    for period in periods(text, today):
        assert period.said in text


@given(
    st.lists(
        st.sampled_from(
            [*"二三月日前上年2", "29", "Q4", "last", "this", "week", "ago", "before", "Feb"]
        )
    ),
    st.dates(date(1, 1, 1), date(9990, 1, 1)),
)
def test_no_mixture_of_date_words_breaks_the_reading(words: list[str], today: date) -> None:
    periods(" ".join(words), today)
    periods("".join(words), today)
