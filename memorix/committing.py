"""Let each change that the journal tells of become one commit, where notes lie in a repository.

A change is written down as waiting before it begins.  One whose writer died, or that came while a
merge was under way, is committed by whoever writes next.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from memorix import gitcommit
from memorix.errors import VaultUnavailable
from memorix.gitchange import InRepository, Texts
from memorix.gitcommit import Deadline, Repository
from memorix.gitprogram import GitFailed, root_above
from memorix.journal import Journal
from memorix.versions import Change, Effect, Step, net

_log = logging.getLogger(__name__)

LONGEST_S = 5.0
# All commits after one write together; the note is safe by then, but others wait to write.


@dataclass(frozen=True, slots=True)
class State:
    """How many changes are not committed, and why."""

    waiting: int = 0
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A change that is not committed yet, and the host's session that made it."""

    change: str
    session: str = ""


@dataclass
class Commits:
    """The commits of one vault; what writes is called with its write lock held.

    `folders` are where notes lie, in `file` the changes that wait are written down.
    """

    vault: Path
    folders: Sequence[Path]
    journal: Journal
    file: Path
    _repositories: dict[Path, Repository] = field(default_factory=dict, init=False, repr=False)
    _touched: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def noticed(self, effects: Sequence[Effect]) -> None:
        """Take note of which files are about to change, or have, also those the journal leaves out:
        what is erased, and what belongs to Memorix."""
        self._touched |= {effect.path: effect.place for effect in effects}

    @contextmanager
    def following(self, change: str, session: str) -> Iterator[None]:
        """Commit what is written within, as the change with this id, and what has waited."""
        self._touched = {}
        if not self.in_repositories():
            yield
            return
        self._note_down(_Waiting(change, session))
        try:
            yield
        finally:
            self.commit(change)

    def commit(self, own: str = "") -> State:
        """Commit all that waits, in order; `own` is the change that is being made.  Never fails."""
        waiting, deadline, blocked = self._waiting(), Deadline(LONGEST_S), dict[Path, str]()
        try:
            told = {c.id: c for c in self.journal.named([one.change for one in waiting])}
        except OSError as error:
            return State(len(waiting), str(error))
        left = []
        for one in waiting:
            change = told.get(one.change)  # what is kept no longer cannot be committed
            if change and not self._commit(change, one.session, deadline, blocked, own):
                left.append(one)
        trouble = "; ".join(dict.fromkeys(blocked.values())) if left else ""
        self._write(left, trouble)
        return State(len(left), trouble)

    def state(self) -> State:
        trouble = next((line["trouble"] for line in self._lines() if "trouble" in line), "")
        return State(len(self._waiting()), trouble)

    def in_repositories(self) -> list[Path]:
        """Return the folders of notes that lie in a git repository; git itself is not asked."""
        return [folder for folder in self.folders if root_above(folder)]

    def _commit(
        self, change: Change, session: str, deadline: Deadline, blocked: dict[Path, str], own: str
    ) -> bool:
        """Commit a change where its files lie, but not in repositories that are `blocked`; say
        whether nothing of it is left to do."""
        is_new, texts = change.id == own, Texts(self.vault, self.journal)
        # A project that is gone since must not be committed to a repository further up.
        there = (step for step in net(change) if Path(step.place or self.vault).is_dir())
        told = [step for step in there if step.path]
        besides = self._besides(change, texts) if is_new else []
        steps = [*told, *besides]
        roots = {step: root_above(texts.file_of(step).parent) for step in steps}
        involved = list(dict.fromkeys(root for root in roots.values() if root))
        for root in (root for root in involved if root not in blocked):
            try:
                repository = self._repositories.get(root) or gitcommit.repository_at(root, deadline)
                self._repositories[root] = repository
                seen = InRepository(texts, repository, change, session, deadline, is_new)
                seen.commit(*([s for s in some if roots[s] == root] for some in (told, besides)))
            except (GitFailed, OSError, VaultUnavailable, ValueError) as error:
                _log.warning("%s is not committed: %s", change.id, error)
                blocked[root] = str(error)
        return not any(root in blocked for root in involved)

    def _besides(self, change: Change, texts: Texts) -> list[Step]:
        """Return steps to what files are now of which the journal does not tell."""
        told = {step.path for step in change.steps}
        touched = (Step(p, None, None, "", at) for p, at in self._touched.items() if p not in told)
        return [replace(step, after=texts.etag_now(step)) for step in touched]

    # -- what waits

    def _note_down(self, waiting: _Waiting) -> None:
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(_line(waiting))
        except OSError as error:
            _log.warning("%s cannot be written: %s", self.file, error)

    def _waiting(self) -> list[_Waiting]:
        listed = (line for line in self._lines() if "change" in line)
        return list(dict.fromkeys(_Waiting(line["change"], line["session"]) for line in listed))

    def _lines(self) -> list[Mapping[str, str]]:
        try:
            lines = self.file.read_text(encoding="utf-8").splitlines()
            return [json.loads(line) for line in lines if line.endswith("}")]
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            _log.warning("%s cannot be read: %s", self.file, error)
            return []

    def _write(self, waiting: Sequence[_Waiting], trouble: str) -> None:
        lines = [*map(_line, waiting), f"{json.dumps({'trouble': trouble})}\n"]
        try:
            if waiting:
                self.file.write_text("".join(lines), encoding="utf-8")
            else:
                self.file.unlink(missing_ok=True)
        except OSError as error:
            _log.warning("%s cannot be written: %s", self.file, error)


def _line(waiting: _Waiting) -> str:
    return json.dumps({"change": waiting.change, "session": waiting.session}) + "\n"
