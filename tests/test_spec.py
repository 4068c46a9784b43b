"""The rules of the format and the tests that bind them, side by side."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
SPEC = HERE.parent / "spec" / "okf-format.md"


def stated() -> list[str]:
    return re.findall(
        r"^- \*\*((?:OKF|MEM)-\d+)\*\*", SPEC.read_text(encoding="utf-8"), re.MULTILINE
    )


def bound() -> set[str]:
    """The rules named by the `rule` marks of all tests."""
    found: set[str] = set()
    for path in HERE.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found.update(rule for mark in node.decorator_list for rule in rules_of(mark))
    return found


def rules_of(mark: ast.expr) -> list[str]:
    if not isinstance(mark, ast.Call) or ast.unparse(mark.func) != "pytest.mark.rule":
        return []
    return [str(ast.literal_eval(argument)) for argument in mark.args]


def test_every_rule_of_the_format_is_bound_by_a_test() -> None:
    assert sorted(set(stated()) - bound()) == []


def test_every_rule_that_a_test_names_is_stated() -> None:
    assert sorted(bound() - set(stated())) == []


def test_each_rule_is_stated_once_and_the_numbers_have_no_gap() -> None:
    rules = stated()

    assert len(rules) == len(set(rules))
    for family in ("OKF", "MEM"):
        numbers = sorted(int(rule[4:]) for rule in rules if rule.startswith(family))
        assert numbers == list(range(1, len(numbers) + 1))
