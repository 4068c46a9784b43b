"""The classes of fault that each have to have a test, and the tests that name them."""

from tests.marks import named_by

REQUIRED = [
    22, *range(27, 31), *range(33, 44), *range(48, 58), 60, 81, 82,
]  # fmt: skip
# Of watchers, processes, crashes and disks.


def test_each_class_of_fault_that_has_to_have_a_test_has_one() -> None:
    assert sorted({f"A-{number:02}" for number in REQUIRED} - named_by("fault")) == []
