"""The classes of fault that each have to have a test, and the tests that name them."""

import ast
from pathlib import Path

HERE = Path(__file__).parent

REQUIRED = [
    22, *range(27, 31), *range(33, 44), *range(48, 58), 60, 81, 82,
]  # fmt: skip
# Of watchers, processes, crashes and disks.


def named() -> set[str]:
    """The classes named by the `fault` marks of all tests."""
    found: set[str] = set()
    for path in HERE.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found.update(name for mark in node.decorator_list for name in names_in(mark))
    return found


def names_in(mark: ast.expr) -> list[str]:
    if not isinstance(mark, ast.Call) or ast.unparse(mark.func) != "pytest.mark.fault":
        return []
    return [str(ast.literal_eval(argument)) for argument in mark.args]


def test_each_class_of_fault_that_has_to_have_a_test_has_one() -> None:
    assert sorted({f"A-{number:02}" for number in REQUIRED} - named()) == []
