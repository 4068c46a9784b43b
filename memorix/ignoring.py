"""Tell which places of a vault its `.gitignore` and `.memorixignore` files leave out."""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMES = frozenset({".gitignore", ".memorixignore"})
# Both have git's syntax; the second is for what git should keep and Memorix should not index.


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of one folder; `prefix` is its path with a slash behind it, or empty."""

    prefix: str
    spec: Any

    def verdict(self, path: str) -> bool | None:
        """Return whether a path below the folder is left out; None where no pattern fits."""
        fits: bool | None = self.spec.check_file(path.removeprefix(self.prefix)).include
        return fits


def rules_in(folder: str, prefix: str) -> Rules | None:
    """Read the patterns that lie in a folder; None where there are none."""
    lines: list[str] = []
    for name in sorted(NAMES):
        file = os.path.join(folder, name)  # noqa: PTH118 - asked for each event of a burst
        if os.path.lexists(file):
            with suppress(OSError):
                lines += Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    if not lines:
        return None
    from pathspec import GitIgnoreSpec

    return Rules(prefix, GitIgnoreSpec.from_lines(lines))


def leaves_out(rules: Iterable[Rules], path: str) -> bool:
    """Say whether a path is left out by the rules of the folders above it, outermost first."""
    out = False
    for rule in rules:
        verdict = rule.verdict(path)
        out = out if verdict is None else verdict
    return out


def rules_above(root: str, path: str) -> list[Rules]:
    """Read the rules of every folder from `root` down to the one that a path lies in."""
    parts = path.split("/")[:-1]
    prefixes = ["", *("/".join(parts[: end + 1]) + "/" for end in range(len(parts)))]
    found = (rules_in(f"{root}{os.sep}{prefix}", prefix) for prefix in prefixes)
    return [rules for rules in found if rules]
