"""The architecture as data: who may import whom."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from memorix.index.base import Index
from memorix.views import CLOSED, PASSED, ScopedIndex

PACKAGE = Path(__file__).parents[1] / "memorix"

LEVELS = [
    ["errors"],
    # words, in reading order
    [
        "kinds", "reconcile", "files", "ignoring", "yamltext", "frontmatter", "editing", "copies",
        "note", "layout", "blocks", "prose", "links", "lexemes", "glossary", "typos", "seams",
        "chunks", "dates", "feedback", "query",
        "settings", "config",
    ],
    # decisions: data in, plan out
    [
        "validity", "keys", "trust", "values", "lexicon", "changes", "grammar", "claims", "anchors",
        "injection",
        "conflict", "privacy", "lifecycle", "relations", "retention", "priors", "ranking", "floors",
        "spreading", "quoting", "brief", "reserved",
        "strength", "keyforms", "assignments", "screening",
        "admission", "leaving",
        "bounds",
        "checking", "indexes", "intake", "imported",
        "held", "access", "versions", "attribution", "erasure",
        "resemblance", "topics", "tidying", "usage", "merging", "ancestry",
    ],
    # what adapters share
    ["onnxmodels", "listing", "sources", "gitprogram"],
    # adapters: each knows one outside thing
    [
        "journal", "gitlog", "gitcommit", "store", "index", "embedders", "rerankers", "exchange",
        "importers", "exporters", "hosts", "tokens", "served",
    ],
    # engine
    [
        "gitchange", "committing",
        "git", "committed", "mergedriver", "syncgit", "branches", "scopes", "places", "sync",
        "embedding", "results", "marking", "comparing",
        "paging", "recalling", "reranking", "learning", "linking", "logbook", "watching", "mending",
        "unfinished", "counterparts", "tombstones", "arrivals", "erasing", "notes", "memory",
        "moving", "inbox", "settling", "batches", "transfer", "importing", "exporting", "history",
        "diverged", "upkeep", "forgetting", "proving", "views", "installing",
    ],
    ["wiring"],
    # faces
    [
        "hooks", "capturing",
        "arguments", "answers", "worklist", "told", "status", "doctor", "vault", "server",
        "bench", "demo",
    ],
    ["cli"],
    ["__main__"],
]  # fmt: skip
LEVEL = {name: number for number, names in enumerate(LEVELS) for name in names}
ORDER = {name: place for names in LEVELS for place, name in enumerate(names)}

PURE = {
    "errors", "kinds", "reconcile", "yamltext", "frontmatter", "editing", "copies", "note",
    "layout", "blocks", "prose", "links", "lexemes", "glossary", "typos", "seams", "chunks",
        "dates", "feedback", "query", "settings",
    "validity", "keys", "trust", "values", "lexicon", "changes", "grammar", "claims",
    "conflict", "lifecycle", "relations", "retention", "priors", "ranking", "floors",
    "spreading", "quoting", "brief", "reserved",
    "strength", "anchors", "keyforms", "assignments", "injection", "screening", "privacy",
    "admission", "leaving",
    "checking", "indexes", "intake", "imported", "held", "access", "versions", "attribution",
    "erasure", "resemblance", "topics", "tidying", "usage", "merging", "ancestry",
}  # fmt: skip
NO_IO = {"os", "pathlib", "time", "random", "sqlite3", "apsw", "subprocess", "shutil", "tempfile"}
ORDERED_LEVELS = {1, 2, 5, 7}
# Levels whose modules may import those listed before them; adapters may not know each other.

CONTRACTS = {"memorix.index.base", "memorix.embedders.base"}
LATE = {"cli", "server", "demo", "hooks", "__main__"}
# These import inside functions, so that `--help` and `initialize` are quick.


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield (module, is inside a function) of everything a file imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "memorix":
                yield from ((f"memorix.{a.name}", id(node) in inside) for a in node.names)
            else:
                yield node.module, id(node) in inside


def own(path: Path) -> Iterator[tuple[str, str, bool]]:
    for module, inside in imports(path):
        root, _, rest = module.partition(".")
        if root == "memorix" and rest and rest != "__version__":
            yield rest.split(".")[0], module, inside


def test_every_module_has_its_level() -> None:
    assert {part_of(path) for path in modules()} - {"__init__"} <= LEVEL.keys()


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        return
    for target, module, _ in own(path):
        level = LEVEL[part]
        same = target == part or (
            LEVEL[target] == level and level in ORDERED_LEVELS and ORDER[target] < ORDER[part]
        )
        assert LEVEL[target] < level or same, f"{path.name} must not import {module}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_own_modules_are_imported_at_the_top(path: Path) -> None:
    if part_of(path) in LATE:
        return
    assert not [module for _, module, inside in own(path) if inside]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_the_engine_sees_only_the_contracts_of_index_and_embedders(path: Path) -> None:
    if LEVEL.get(part_of(path)) != LEVEL["memory"]:
        return
    seen = {module for target, module, _ in own(path) if target in ("index", "embedders")}
    assert seen <= CONTRACTS


def test_of_each_method_of_the_index_it_is_decided_what_it_tells_callers_with_limits() -> None:
    """Answer it in `ScopedIndex`, or name it in PASSED or CLOSED there."""
    methods = {name for name in dir(Index) if not name.startswith("_")}
    answered = {name for name in vars(ScopedIndex) if not name.startswith("_")}

    assert methods == answered | PASSED | CLOSED


@pytest.mark.parametrize("name", sorted(PURE))
def test_pure_modules_touch_nothing_outside(name: str) -> None:
    path = PACKAGE / f"{name}.py"
    assert not {module.split(".")[0] for module, _ in imports(path)} & NO_IO
    for target, module, _ in own(path):
        assert target in PURE, f"{name} must not import {module}"
