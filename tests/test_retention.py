"""How notes fade and last."""

from datetime import UTC, datetime, timedelta

import pytest

from memorix.retention import LONGEST_STABILITY_DAYS, Recalls, recalled_again, retention

WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)


def after(days: float) -> datetime:
    return WRITTEN + timedelta(days=days)


def recalled_on(*days: float) -> Recalls | None:
    known: Recalls | None = None
    for day in days:
        known = recalled_again(known, WRITTEN, after(day))
    return known


def test_a_note_nobody_recalls_fades_to_a_third_in_a_month() -> None:
    assert retention(None, WRITTEN, WRITTEN) == 1
    assert retention(None, WRITTEN, after(30)) == pytest.approx(0.368, abs=0.001)
    assert retention(None, WRITTEN, after(90)) < 0.05


def test_a_note_from_the_future_is_remembered_whole() -> None:
    assert retention(None, after(5), WRITTEN) == 1


def test_a_recall_brings_a_note_back_and_makes_it_last_longer() -> None:
    known = recalled_on(60)
    assert known

    assert retention(known, WRITTEN, after(60)) == 1
    assert retention(known, WRITTEN, after(120)) > retention(None, WRITTEN, after(60))


def test_spaced_recalls_count_for_more_than_as_many_at_once() -> None:
    spaced, crammed = recalled_on(10, 20, 40), recalled_on(40, 40, 40)
    assert spaced
    assert crammed

    assert spaced.count == crammed.count == 3
    assert recalled_on(40) == Recalls(1, after(40), crammed.stability_days)
    assert spaced.stability_days > 1.2 * crammed.stability_days


def test_an_edit_after_the_last_recall_is_what_counts() -> None:
    known = recalled_on(1)

    assert retention(known, after(100), after(100)) == 1


def test_no_recall_makes_a_note_last_for_ever() -> None:
    known = recalled_on(*range(0, 40_000, 1000))
    assert known

    assert known.stability_days == LONGEST_STABILITY_DAYS


def test_counters_without_a_stability_are_read_as_new_notes() -> None:
    old = Recalls(7, WRITTEN, 0.0)

    assert retention(old, WRITTEN, after(30)) == retention(None, WRITTEN, after(30))
    assert recalled_again(old, WRITTEN, after(30)).count == 8
