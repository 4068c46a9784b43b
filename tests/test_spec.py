"""The rules of the format and the tests that bind them, side by side."""

import re
from pathlib import Path

from tests.marks import named_by

HERE = Path(__file__).parent
SPEC = HERE.parent / "spec" / "okf-format.md"


def stated() -> list[str]:
    return re.findall(
        r"^- \*\*((?:OKF|MEM)-\d+)\*\*", SPEC.read_text(encoding="utf-8"), re.MULTILINE
    )


def test_every_rule_of_the_format_is_bound_by_a_test() -> None:
    assert sorted(set(stated()) - named_by("rule")) == []


def test_every_rule_that_a_test_names_is_stated() -> None:
    assert sorted(named_by("rule") - set(stated())) == []


def test_each_rule_is_stated_once_and_the_numbers_have_no_gap() -> None:
    rules = stated()

    assert len(rules) == len(set(rules))
    for family in ("OKF", "MEM"):
        numbers = sorted(int(rule[4:]) for rule in rules if rule.startswith(family))
        assert numbers == list(range(1, len(numbers) + 1))
