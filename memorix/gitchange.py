"""Bring one change into one repository: as the commit of its author, after one of what a person had
edited before, so that nobody's words go under another's name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memorix import attribution, gitcommit
from memorix.attribution import Author
from memorix.gitcommit import Deadline, Entry, Repository
from memorix.gitprogram import GitFailed
from memorix.journal import Journal
from memorix.note import RESERVED, Note, etag_of, parse
from memorix.versions import ERASED, Change, Step

_TRIES = 5
# A person may commit between our look at the branch and our commit.

_SOMEBODY = "human:user"
# Who edited a file by hand, where git knows no user either.

Blobs = Mapping[str, str | None]
# Git's names of what files hold, by their paths in the repository; None where there is no file.


@dataclass(frozen=True, slots=True)
class Texts:
    """Where the versions of files are kept: on their paths, and in the journal."""

    vault: Path
    journal: Journal

    def file_of(self, step: Step) -> Path:
        """Return where the file of a step really lies, links on its way followed."""
        if step.place:  # projects/NAME is mounted from there
            return (Path(step.place) / step.path.split("/", 2)[2]).resolve()
        return (self.vault / step.path).resolve()

    def etag_now(self, step: Step) -> str | None:
        content = self._on_disk(step)
        return None if content is None else etag_of(content)

    def version(self, step: Step, etag: str) -> bytes | None:
        """Return the bytes of a version; None where they are not kept."""
        there = self._on_disk(step)
        if there is not None and etag_of(there) == etag:
            return there
        return self.journal.text(etag)

    def _on_disk(self, step: Step) -> bytes | None:
        try:
            return self.file_of(step).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None


@dataclass(frozen=True, slots=True)
class InRepository:
    """A change as one repository sees it, on its way to become a commit.

    `is_new` says that it was made just now; else others may have committed in between.
    """

    texts: Texts
    repository: Repository
    change: Change
    session: str
    deadline: Deadline
    is_new: bool

    def commit(self, told: Sequence[Step], besides: Sequence[Step]) -> None:
        """Commit what these steps left, unless the branch holds it.

        Of files `besides` it is not known what they were before.

        Raises:
            GitFailed: Not now, or not by us.
        """
        if why := gitcommit.obstacle(self.repository, self.deadline):
            raise GitFailed(why)
        root = self.repository.root.resolve()
        steps = [*told, *besides]
        paths = {self.texts.file_of(s).relative_to(root).as_posix(): s for s in steps}
        ignored = gitcommit.ignored(self.repository, list(paths), self.deadline)
        paths = {path: step for path, step in paths.items() if path not in ignored}
        new = self._kept(paths, "after")
        old = self._kept({path: s for path, s in paths.items() if s not in besides}, "before")
        for attempt in range(_TRIES):
            tip = gitcommit.tip(self.repository, self.deadline)
            try:
                self._put(tip, paths, new, old)
            except GitFailed:
                if attempt == _TRIES - 1 or tip == gitcommit.tip(self.repository, self.deadline):
                    raise
            else:
                return

    def _put(self, tip: str, paths: Mapping[str, Step], new: Blobs, old: Blobs) -> None:
        there = gitcommit.entries(self.repository, tip, list(paths), self.deadline)
        held = {path: entry.blob if (entry := there.get(path)) else None for path in paths}
        wanted = {path: blob for path, blob in new.items() if blob != held[path]}
        edited = {
            p: old[p] for p in wanted if p in old and self._is_other(paths[p], held[p], old[p])
        }
        if edited and not self.is_new:  # a merge has come between; a person sees to it
            wanted = {path: blob for path, blob in wanted.items() if path not in edited}
        elif edited:
            notes = self._notes([paths[path] for path in edited], "before")
            author = attribution.author_of(_SOMEBODY)
            self._make(tip, there, edited, author, attribution.by_hand(notes))
            tip = gitcommit.tip(self.repository, self.deadline)
        if wanted:
            notes = self._notes([paths[path] for path in wanted], "after", "before")
            text = attribution.message(self.change, notes, self.session)
            self._make(tip, there, wanted, attribution.author_of(self.change.who), text)

    def _make(
        self, tip: str, there: Mapping[str, Entry], blobs: Blobs, author: Author, text: str
    ) -> None:
        at = self.change.at
        gitcommit.commit(self.repository, tip, there, blobs, author, at, text, self.deadline)

    def _is_other(self, step: Step, held: str | None, before: str | None) -> bool:
        """Say whether a branch holds another file than any this change has seen.

        A change that goes on after a part of it was committed has seen that.
        """
        if held == before:
            return False
        own = [one for one in self.change.steps if one.path == step.path]
        seen = dict.fromkeys(etag for one in own for etag in (one.before, one.after))
        texts = {etag: self.texts.version(step, etag) for etag in seen if etag}
        path = self.texts.file_of(step).relative_to(self.repository.root.resolve()).as_posix()
        blobs = [
            gitcommit.kept(self.repository, {path: text}, self.deadline)[path]
            for text in texts.values()
            if text is not None
        ]
        return held not in (blobs if None not in seen else [*blobs, None])

    def _kept(self, paths: Mapping[str, Step], side: str) -> dict[str, str | None]:
        """Return git's names of what files were on this side of the change, where that is known."""
        etags = {path: getattr(step, side) for path, step in paths.items()}
        texts = {path: self.texts.version(paths[path], e) for path, e in etags.items() if e}
        known = {path: text for path, text in texts.items() if text is not None}
        blobs = gitcommit.kept(self.repository, known, self.deadline)
        return {path: blobs.get(path) for path in paths if not etags[path] or path in blobs}

    def _notes(self, steps: Sequence[Step], *sides: str) -> list[Note]:
        """Return the notes of these steps, each once, as they are on the first side they are on."""
        found: dict[str, Note] = {}
        for step in steps if self.change.what != ERASED else ():
            etag = next(filter(None, (getattr(step, side) for side in sides)), "")
            text = self.texts.version(step, etag) if etag else None
            if text is not None and _is_note(step.path):
                note = parse(text, step.path)
                found.setdefault(note.id, note)
        return list(found.values())


def _is_note(path: str) -> bool:
    return path.endswith(".md") and path.rpartition("/")[2] not in RESERVED
