"""The notes of a vault as files and as rows of the index, and the one way to write them.

`Notes` keeps both in step; what they are used for is `memorix.memory`.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from memorix import (
    __version__,
    admission,
    comparing,
    counterparts,
    erasing,
    lifecycle,
    logbook,
    privacy,
    sync,
    unfinished,
)
from memorix.bounds import Bounds, Pace
from memorix.branches import Branches
from memorix.committing import Commits
from memorix.embedders.base import Embedder
from memorix.errors import (
    IndexDamaged,
    InvalidRequest,
    NoteChanged,
    NoteNotFound,
    UnsafePath,
    VaultUnavailable,
)
from memorix.files import safe_relative
from memorix.index.base import Change, Index, Row
from memorix.journal import Journal
from memorix.kinds import INBOX
from memorix.layout import USER, folder_of
from memorix.lexemes import query_terms
from memorix.lifecycle import Draft
from memorix.mending import on_a_sound_index
from memorix.note import Note, NoteId, digest, new_id, parse
from memorix.places import Places
from memorix.query import Filter
from memorix.reconcile import Seen
from memorix.store import Store
from memorix.yamltext import Value

VIA = f"memorix/{__version__}"

LONGEST_NAME = 300
# Characters of what a note was called by mistake that are looked up; no id or path is so long.

LATELY = 32
# Versions of notes, as they were last read or written, that a refused write is compared with.


@dataclass
class Notes:
    """Files and index of one vault, as seen from one project.

    Safe to use from several threads.  Writes wait for each other, also across processes.
    """

    store: Store
    places: Places
    index: Index
    index_path: Path
    journal: Journal
    author: str = VIA
    branches: Branches = field(default_factory=Branches)
    session: str = ""
    bounds: Bounds = field(default_factory=Bounds)
    pace: Pace = field(default_factory=Pace, repr=False)
    log: bool = False
    commits: Commits | None = None
    review: str = "off"
    secrets: str = admission.MASK
    embedder: Embedder | None = None
    meaning: str = "off: no model"
    follower: sync.Follower | None = None
    changed: Callable[[Sequence[str]], None] = lambda paths: None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    siblings: Callable[[], Iterable[Index]] = tuple
    beside: erasing.Beside = field(default_factory=erasing.Beside)
    _lately: deque[tuple[str, bytes]] = field(
        default_factory=lambda: deque(maxlen=LATELY), repr=False
    )
    _last_id: NoteId = field(default=NoteId(""), init=False)

    @on_a_sound_index
    def catch_up(
        self,
        paths: Iterable[str] | None = None,
        *,
        accept_loss: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> sync.Synced:
        """Bring the index up to the folder; see `sync.catch_up`."""
        done = sync.catch_up(
            self.store, self.index, paths, accept_loss=accept_loss, progress=progress
        )
        if unfinished.are_left(self.unfinished):
            with self.store.locked():
                unfinished.finish(self.unfinished, self._finish)
        if erasing.is_unfinished(self):
            erasing.finish(self)
        if done:
            self.changed(done.paths)
        return done

    def _finish(self, path: str, change: str) -> None:
        with self.writing("finish", change=change):
            self.mirror(path)

    def put(self, changes: Sequence[Change]) -> None:
        """Index changes; a damaged index is made anew from the notes, these among them."""
        try:
            self.index.apply(changes)
        except IndexDamaged:
            self.make_index_anew()

    def make_index_anew(self) -> None:
        self.index.reset()
        sync.catch_up(self.store, self.index)

    # -- finding

    def find(self, note_id: str) -> Row:
        """Return the note with exactly this id or path.

        Raises:
            NoteNotFound: There is none; it names the nearest.
            UnsafePath: It is a path that leads out of the vault.
        """
        wanted = note_id.strip()
        row = self.index.find(wanted) if wanted else None
        if row is None and self.follower:
            self.follower.flush()
            row = self.index.find(wanted)
        if row is None and not self.index.size():  # somebody deleted the index while we run
            self.catch_up()
            row = self.index.find(wanted)
        if row is None and ("/" in wanted or "\\" in wanted or ".." in wanted or wanted[:1] == "~"):
            row = self._just_written(str(safe_relative(wanted)))
        if row is None:
            near = self._near(wanted[:LONGEST_NAME]) if wanted else []
            raise NoteNotFound(wanted, [(found.id, found.title) for found in near])
        return row

    def _near(self, wanted: str) -> Sequence[Row]:
        """Return the notes that a name may be a part of, else those here that share words."""
        if near := self.index.near_ids(wanted, comparing.SHOWN):
            return near
        here = Filter(scopes=self.places.to_read(()), everything=True)
        terms = [term for term in query_terms(wanted) if term.counts]
        found = self.index.match_words(terms, here, self.clock(), comparing.SHOWN)
        rows = self.index.rows(dict.fromkeys(match.note for match in found))
        return list(rows.values())

    def _just_written(self, path: str) -> Row | None:
        """Take in the note that a person saved, of which no event has told yet."""
        path = path if path.endswith(".md") else f"{path}.md"
        try:
            if not (self.store.signature(path) and self.store.is_note(path)):
                return None
        except UnsafePath:  # it is plain, but a link on its way leads out of the vault
            return None
        self.catch_up([path])
        return self.index.find(path)

    def note_of(self, note_id: str) -> Note:
        """Return the note with exactly this id or path, as its file is now."""
        row = self.find(note_id)
        return with_id(parse(self.content(row)[0], row.path), row)

    def content(self, row: Row) -> tuple[bytes, Seen]:
        """Return the bytes of a note's file as they are now.

        Raises:
            NoteChanged: The file is gone.
        """
        found = self.store.read(row.path)
        if found is None:
            self.catch_up([row.path])
            raise NoteChanged(row.path, row.seen.etag, None)
        return found

    def expected(self, row: Row, etag: str) -> tuple[bytes, Seen]:
        """Return the bytes of a note's file, if they are the version with this etag.

        Raises:
            NoteChanged: They are not; it tells what they say now.
        """
        wanted = etag.strip()
        if not wanted:
            raise InvalidRequest("The etag is missing. Read the note and pass the etag it has.")
        content, seen = self.content(row)
        if wanted != seen.etag:
            known = next((old for mark, old in list(self._lately) if mark == wanted), None)
            since = lifecycle.what_changed(known, content)
            raise NoteChanged(row.path, wanted, seen.etag, since)
        return content, seen

    def known(self, draft: Draft, scope: str) -> Row | None:
        """Return the note that makes a draft needless, if its file still does.

        That is one in force that says the same; for what is only suggested, also one that is out
        of force, or waits in the inbox itself.
        """
        path = f"{folder_of(scope)}/{lifecycle.stem_for(draft)}.md"
        if self.store.signature(path) and not self.index.has_path(path):
            self.catch_up([path])  # its writer may have died, and tries again
        for row in self.index.same_text(digest(draft.text), scope):
            found = self.store.read(row.path)
            if found is None or found[1].etag != row.seen.etag:
                self.catch_up([row.path])
            elif draft.suggested or (
                row.held != INBOX
                and lifecycle.says_all_of(parse(found[0], row.path), draft, self.clock())
            ):
                return row
        return None

    # -- writing

    @contextmanager
    def writing(
        self, what: str = "write", by: str = "", *, change: str = "", undoes: str = ""
    ) -> Iterator[str]:
        """Hold the vault's write lock; what is written within is one change, whose id is given.

        `by` is who writes.  With the id of an earlier `change` it goes on with that one.

        Raises:
            VaultUnavailable: The vault is missing, or another process holds the lock too long.
        """
        if not self.store.exists() and self.index.listing():
            raise VaultUnavailable(
                f"The vault {self.store.vault} is missing but its index is not empty. Nothing was "
                "written. Mount the disk, or set MEMORIX_VAULT to where the notes are."
            )
        by = by or self.author
        with self.store.locked():
            outermost = not self.journal.current
            with self.journal.change(what, by, self.clock(), id=change, undoes=undoes) as own:
                commits = self.commits if outermost else None
                with commits.following(own, self.session) if commits else nullcontext():
                    yield own

    def rewrite(self, path: str, content: bytes, expect: str | None) -> Seen:
        """Write a version of a note in place of the expected one, None for a new note; call it
        within `writing`."""
        seen = self.store.write(path, content, expect)
        self.put([sync.put_for(path, content, seen)])
        self._lately.append((seen.etag, content))
        return seen

    def mirror(self, path: str, expect: Mapping[str, str] = MappingProxyType({})) -> Sequence[str]:
        """Make the notes that one names say the same of it; call it within `writing`."""
        return counterparts.mirror(self.store, self.index, path, self.rewrite, expect)

    def composed(self, draft: Draft, path: str, scope: str) -> Note:
        """Make the note that a draft becomes at a path, now and here.

        Raises:
            LimitReached: It would be too large, or one too many.
        """
        self.bounds.check(draft)
        if self.bounds.max_notes:
            self.bounds.check_number(self.index.size())
        where = self.whereabouts(scope)
        return lifecycle.compose(draft, self.new_id(), path, self.clock(), VIA, where)

    def whereabouts(self, scope: str) -> dict[str, Value]:
        """Return the keys that say where a note of a scope is written, None for what is unknown."""
        branch, commit = self.branches.standing()
        about = [self.places.slug] if scope == USER and self.places.slug else None
        return {
            "project": about,
            "branch": branch or None,
            "commit": commit or None,
            "session": self.session or None,
        }

    def new_id(self) -> NoteId:
        self._last_id = new_id(self.clock(), os.urandom(10), self._last_id)
        return self._last_id

    @property
    def unfinished(self) -> Path:
        """The folder that notes which changes of several files are under way."""
        return self.index_path.with_name("unfinished")

    def enter_log(self, verb: str, scope: str, path: str, title: str) -> None:
        if self.log:
            found = self.store.read(path)
            if found and privacy.is_private(parse(found[0], path)):
                title = "A private note"
            logbook.enter(self.store, scope, verb, path, title, self.clock())

    def announce(self, paths: Sequence[str]) -> None:
        """Tell those who watch that these notes changed."""
        self.changed(paths)
        if self.follower:
            self.follower.wake()


def with_id(note: Note, row: Row) -> Note:
    return note if note.id == row.id else replace(note, id=type(note.id)(row.id))
