"""Tell where a project's checkout stands, and which branches it does not hold."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from memorix import git
from memorix.git import Repository

SHORT = 12
# Digits of a commit that are written down; git takes them, and people can read them.

MOST_REMEMBERED = 1000
# Answers of git, which never change for two commits; a server runs for weeks.


@dataclass
class Branches:
    """The branches of the repository at `root`; of none where that is no repository."""

    root: Path | None = None
    _held: dict[tuple[str, str], bool] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def standing(self) -> tuple[str, str]:
        """Return branch and commit that are checked out, each empty where there is none."""
        repository = self._repository()
        branch, commit = repository.head() if repository else ("", "")
        return branch, commit[:SHORT]

    def unmerged(self, names: Iterable[str]) -> frozenset[str]:
        """Return those of these branches whose commits are not all part of what is checked out.

        The default branch speaks for all others, and one that is gone was merged or given up, which
        nobody can tell after a squash; neither is among them.  Nor is any where git cannot tell.
        """
        wanted = {name for name in names if name}
        repository = self._repository() if wanted else None
        if repository is None:
            return frozenset()
        current, head = repository.head()
        tips = {name: repository.tip(name) for name in wanted - {current}}
        left = {name for name, tip in tips.items() if tip and not self._holds(tip, head)}
        return frozenset(left - {repository.default_branch()})

    def _repository(self) -> Repository | None:
        return Repository.at(self.root) if self.root else None

    def _holds(self, tip: str, head: str) -> bool:
        if not head or tip == head:
            return True
        with self._lock:
            if (tip, head) not in self._held and self.root:
                if len(self._held) >= MOST_REMEMBERED:
                    self._held.clear()
                # A git that cannot tell, or hangs, is not asked again.
                self._held[tip, head] = git.is_ancestor(self.root, tip, head) is not False
            return self._held.get((tip, head), True)
