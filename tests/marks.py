"""The marks of all tests that name what a test is for: a rule of the format, a class of fault."""

import ast
from pathlib import Path

HERE = Path(__file__).parent


def named_by(mark: str) -> set[str]:
    """Return what the marks `pytest.mark.<mark>(...)` of all tests name."""
    found: set[str] = set()
    for path in HERE.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                found.update(name for call in node.decorator_list for name in _names_in(call, mark))
    return found


def _names_in(call: ast.expr, mark: str) -> list[str]:
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != f"pytest.mark.{mark}":
        return []
    return [str(ast.literal_eval(argument)) for argument in call.args]
