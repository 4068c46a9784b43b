"""The memory: every use of Memorix is one method of `Memory`."""

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace

from memorix import (
    admission,
    brief,
    comparing,
    counterparts,
    embedding,
    erasing,
    held,
    lifecycle,
    linking,
    marking,
    paging,
    privacy,
    recalling,
    sync,
    tombstones,
    trust,
)
from memorix.dates import order_asked
from memorix.embedders.base import Embedder
from memorix.erasure import marks_of_text
from memorix.errors import (
    IndexUnavailable,
    InvalidRequest,
    VaultUnavailable,
)
from memorix.index.base import Drop, Put, Row
from memorix.kinds import HELD, HOST_FILE, SECRET
from memorix.layout import USER, folder_of
from memorix.learning import Learning
from memorix.lifecycle import Draft, Edit
from memorix.mending import on_a_sound_index
from memorix.note import Note, parse, render
from memorix.notes import VIA, Notes, with_id
from memorix.query import Answer, Branch, Filter, Hit, Query
from memorix.ranking import Mix
from memorix.reranking import Reranking
from memorix.results import Forgotten, Near, Reading, Status, Written, forgotten_on

LOOK_AT_MOST = 500
# Notes whose files are looked at before each answer, in about two milliseconds; in a larger vault
# a change counts when the system tells of it, about a millisecond later.


@dataclass
class Memory(Notes):
    """What can be done with the notes of one vault, as seen from one project."""

    mix: Mix = field(default_factory=Mix)
    learning: Learning = field(default_factory=Learning)
    reranking: Reranking = field(default_factory=Reranking)
    _lists: paging.Lists = field(default_factory=paging.Lists, init=False, repr=False)

    # -- the six uses

    @on_a_sound_index
    def remember(self, draft: Draft, scope: str = "", *, again: bool = False) -> Written:
        """Keep a memory as a new note, unless a note of the scope says exactly the same.

        Nothing is dropped because it resembles what is there: the nearest notes are told, and where
        one of the scope or of the user contradicts the new one, the ways to settle it.

        The file is written first and is what counts; if we die before the index is written, the
        next catch-up finds the file.  What was forgotten for good is only learnt `again` if asked.

        Raises:
            InvalidRequest: There is no such scope.
            VaultUnavailable: The vault cannot be written.
        """
        place = self.places.to_write(scope)
        draft, masked = admission.of_draft(draft, self.secrets)
        near = comparing.nearest(self.index, draft, (place, USER), self.clock())
        (done,) = self._keep([(held.for_review(draft, self.review), masked, place)], again=again)
        done = replace(done, masked=masked)
        if done.status in ("already known", "forgotten"):
            return done
        settle = comparing.ways_to_settle(done, draft, near, self.clock())
        status = "possible conflict" if settle and done.status == "created" else done.status
        return replace(done, status=status, near=near, settle=settle)

    @on_a_sound_index
    def recall(self, query: Query) -> Answer:
        """Find the notes that answer a question; empty where nothing comes close.

        No text is served that its file no longer holds: each hit's file is looked at, and the
        question is asked again where one has changed.

        Raises:
            InvalidRequest: There is no such scope.
        """
        whole = self.look()
        scopes = self.places.to_read(query.filter.scopes)
        wanted = self._shown(replace(query.filter, scopes=scopes))
        if "" in wanted.held:
            wanted = replace(wanted, held=(*wanted.held, HOST_FILE))
        query = replace(query, filter=wanted)
        found = self._ask(query)
        stale = [h.path for h in found.hits if not self.store.is_still(h.path, h.seen.signature)]
        if stale:
            self.catch_up(stale)
        if stale or (self.follower and self.follower.flush_noticed()):
            found = self._ask(query)
        if any(hit.disputes for hit in found.hits) and not order_asked(query.text):
            found = replace(found, hits=comparing.by_standing(found.hits, self._note_of_hit))
        if found.hits:
            with suppress(IndexUnavailable):  # a full disk must not keep an answer back
                self.index.recalled([hit.id for hit in found.hits], self.clock())
                if not query.strict:
                    self.learning.show(self.index, self.session, found, self.clock())
        return replace(found, scopes=wanted.scopes, whole=whole)

    @on_a_sound_index
    def read(self, note_id: str) -> Reading:
        """Return a note by its id or path, as its file is now.

        Raises:
            NoteNotFound: No note has exactly this id or path.
        """
        row = self.find(note_id)
        content, seen = self.content(row)
        if seen.etag != row.seen.etag:
            self.catch_up([row.path])
            row = self.find(row.path)
        links, backlinks = linking.neighbours(self.index, row)
        note = with_id(parse(content, row.path), row)
        now = self.clock()
        flags = (*trust.flags(note, now), *marking.contested(self.index, note.contested_by, now))
        flags = (*flags, marking.SUSPECT) if row.suspect else flags
        if row.held:
            flags = (
                *flags,
                marking.ONLY_READ if row.held == HOST_FILE else f"held back: {row.held}",
            )
        self._lately.append((seen.etag, content))
        with suppress(IndexUnavailable):
            self.learning.read(self.index, self.session, row.id, now)
        return Reading(note, seen.etag, row.scope, trust.trust_tier(note), flags, links, backlinks)

    @on_a_sound_index
    def revise(
        self, note_id: str, etag: str, edit: Edit, author: str = "", *, dry_run: bool = False
    ) -> Written:
        """Change a note that is still the version with this etag; a dry run only shows how.

        Raises:
            NoteNotFound, NoteChanged, NoteUneditable, InvalidRequest: Nothing was written.
        """
        if not edit:
            raise InvalidRequest("Say what to change: text, find and replace, or set.")
        row, by = self.find(note_id), author or self.author
        with self.writing("revise", by):
            content, seen = self.expected(row, etag)
            where = self.whereabouts(row.scope)
            new = lifecycle.edited(content, row.path, edit, self.clock(), by, VIA, where)
            new, masked = admission.of_change(content, new, row.path, self.secrets)
            if edit.text or len(edit.replace) > len(edit.find):
                self.bounds.check_size(len(new))
            self.bounds.check_size(len(new) - len(content))
            if dry_run:
                steps = lifecycle.changed_lines(content, new)
                planned = self.written(row.id, row.path, seen.etag, "planned", row.scope)
                return replace(planned, steps=steps, masked=masked)
            written = self.rewrite(row.path, new, seen.etag)
            self.enter_log("Update", row.scope, row.path, row.title)
        self.announce([row.path])
        done = self.written(row.id, row.path, written.etag, "revised", row.scope)
        return replace(done, masked=masked)

    @on_a_sound_index
    def forget(
        self, note_id: str, level: str = "retire", *, dry_run: bool = False, author: str = ""
    ) -> Forgotten:
        """Take a note out of force, out of the vault's notes, or out of existence.

        Raises:
            NoteNotFound: No note has exactly this id or path; nothing was changed.
            InvalidRequest: There is no such level.
        """
        if level == "erase":
            target = erasing.found(self, note_id, self.find, self.places.reaches)
            return self.erase([target], dry_run=dry_run, author=author)[0]
        row = self.find(note_id)
        plan = lifecycle.forget_plan(row.title, row.path, level)
        if not dry_run:
            with self.writing(level, author):
                self._forget(row, level)
            self.announce([row.path])
        return Forgotten(row.id, row.path, level, plan.steps, not dry_run)

    def erase(
        self, targets: Sequence[erasing.Target], *, dry_run: bool = False, author: str = ""
    ) -> Sequence[Forgotten]:
        """Erase notes at once; the first one's steps tell of other files, too."""
        others = erasing.steps_for_others(self, targets)
        if not dry_run:
            others += erasing.erase(self, targets, author).said
            self._lately.clear()
            self.learning.start_over()
            self.announce([target.path for target in targets])
        steps = [erasing.steps(target) for target in targets]
        steps = [(*steps[0], *others), *steps[1:]]
        return [
            Forgotten(target.note.id, target.path, "erase", said, not dry_run)
            for target, said in zip(targets, steps, strict=True)
        ]

    @on_a_sound_index
    def brief(self, scope: str = "", max_tokens: int = brief.BUDGET) -> brief.Brief:
        """Return what an assistant should know at the start of a session.

        What reads like an instruction to a model is left out.
        """
        self.look()
        wanted = self._shown(Filter(scopes=self.places.to_read((scope,) if scope else ())))
        rows = self.index.latest(wanted, self.clock(), brief.REACH)
        entries = [
            brief.Entry(r.id, r.type, r.title, r.gist, r.date, r.scope, r.contested_by)
            for r in rows
            if not r.suspect
        ]
        entries = brief.besides(entries, self._texts_of_hosts(wanted.scopes))
        total = len(rows) if len(rows) < brief.REACH else self.index.count(wanted, self.clock())
        waiting = len(self.waiting(wanted.scopes))
        return brief.compose(entries, total, wanted.scopes or ("all scopes",), max_tokens, waiting)

    # -- upkeep

    def remember_all(
        self, drafts: Iterable[tuple[Draft, str]], *, again: bool = False
    ) -> list[Written]:
        """Keep many memories, (draft, scope) each, with one index transaction for all."""
        admitted = [(*admission.of_draft(draft, self.secrets), scope) for draft, scope in drafts]
        return self._keep(admitted, again=again)

    def _keep(self, admitted: Sequence[admission.Admitted], *, again: bool) -> list[Written]:
        kept: list[Written] = []
        puts: list[Put] = []
        with self.writing("remember", admitted[0][0].author if admitted else ""):
            for draft, masked, scope in admitted:
                place = self.places.to_write(scope)
                known = self.known(draft, place)
                day = "" if known else self._forgotten(draft, place, again=again)
                if day:
                    kept.append(forgotten_on(day, place))
                    continue
                if known:
                    there = (known.id, known.path, known.seen.etag, "already known", place)
                    kept.append(Written(*there, "pending", masked=masked))
                    continue
                put = self._write_new(draft, place)
                puts.append(put)
                note, status = put.note, "suggested" if draft.suggested else "created"
                new = (note.id, note.path, put.seen.etag, status, place)
                kept.append(Written(*new, "pending", masked=masked))
                self.enter_log("Creation", place, note.path, note.title)
            self.put(puts)
        self.announce([put.note.path for put in puts])
        return [replace(w, vector=self.vector_state(w.id)) if w.id else w for w in kept]

    @on_a_sound_index
    def list(self, wanted: Filter, limit: int = 100, offset: int = 0) -> Sequence[Row]:
        """Return notes by date, newest first."""
        wanted = self._shown(replace(wanted, scopes=self.places.to_read(wanted.scopes)))
        return self.index.latest(wanted, self.clock(), limit, offset)

    def waiting(self, scopes: tuple[str, ...]) -> Sequence[Row]:
        """Return the suggestions of these scopes that wait for review, newest first; empty: all."""
        wanted = Filter(scopes=scopes, everything=True, held=HELD)
        rows = self.index.latest(wanted, self.clock(), 1_000_000)
        return [row for row in rows if held.in_inbox(row.path, folder_of(row.scope))]

    @on_a_sound_index
    def embed_pending(
        self,
        stop: Callable[[], bool] = bool,
        *,
        limit: int | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Make the vectors that are missing, if a model is loaded; return how many."""
        if self.embedder is None:
            return 0
        lock = self.index_path.with_name("embed.lock")
        return embedding.embed_pending(
            self.index, self.embedder, lock, stop=stop, limit=limit, progress=progress
        )

    def use_model(self, embedder: Embedder | None, meaning: str = "yes") -> None:
        """Search by meaning with this model from now on; None with the reason why not."""
        self.embedder, self.meaning = embedder, meaning
        if self.follower and embedder:
            self.follower.wake()

    @on_a_sound_index
    def status(self, *, look: bool = False) -> Status:
        """Return the state of all parts; `look` takes the folder in first, if it can be."""
        trouble = self.follower.state.trouble if self.follower else ""
        try:
            if look:
                self.catch_up()
        except VaultUnavailable as error:
            trouble = str(error)
        card = self.embedder.card if self.embedder else None
        project = self.places.project
        return Status(
            vault=self.store.vault,
            index=self.index_path,
            scopes=self.places.to_read(()),
            project=self.places.slug,
            project_by=project.how if project else "",
            counts=self.index.counts(
                card.fingerprint if card else "", card.languages if card else frozenset()
            ),
            model=card.name if card else self.meaning,
            vector_search=self.index.vector_search,
            following=self.follower.state if self.follower else None,
            trouble=trouble,
            warnings=tuple(self.index.warnings()),
            waiting=len(self.waiting(())),
            reranker=self.reranking.state,
            commits=self.commits.state() if self.commits else None,
        )

    def look(self) -> bool:
        """Take in what changed in the folder; return whether the index has seen all of it."""
        if self.follower is None:  # a command has caught up before
            return True
        whole = self.follower.flush()
        if whole and self.index.size() <= LOOK_AT_MOST:
            self.catch_up()
        elif whole and (changed := self._changed_host_files()):  # no event tells of these few
            self.catch_up(changed)
        return whole

    def close(self) -> None:
        if self.follower:
            self.follower.stop()
        self.index.close()

    # -- parts of the uses

    def _changed_host_files(self) -> Sequence[str]:
        """Return those files of hosts that are not the version that the index has seen."""
        marks = self.store.host_files()
        rows = {path: self.index.find(path) for path in marks}
        return [
            path for path, row in rows.items() if row is None or row.seen.signature != marks[path]
        ]

    def _texts_of_hosts(self, scopes: tuple[str, ...]) -> Sequence[str]:
        """Return what hosts show their models by themselves, as far as it is a source here."""
        files = self.index.latest(
            Filter(scopes=scopes, held=(HOST_FILE,)), self.clock(), brief.REACH
        )
        return self.index.texts_of(row.key for row in files) if files else ()

    def _note_of_hit(self, hit: Hit) -> Note | None:
        found = self.store.read(hit.path)
        return parse(found[0], hit.path) if found else None

    def _shown(self, wanted: Filter) -> Filter:
        """Return the filter that lets notes with secrets through where nobody minds them."""
        if self.secrets != admission.OFF or "" not in wanted.held:
            return wanted
        return replace(wanted, held=(*wanted.held, SECRET))

    def unmerged(self, branches: Set[Branch]) -> frozenset[Branch]:
        """Return those of the project's branches that are not part of what is checked out."""
        scope = self.places.slug
        names = self.branches.unmerged(name for place, name in branches if place == scope)
        return frozenset((scope, name) for name in names)

    def _ask(self, query: Query) -> Answer:
        now = self.clock()
        if not recalling.asked_for(query.text):
            return paging.latest(self.index, query, now, self._body)
        found = self._lists.get(query.page)
        if found is None:
            found = recalling.search(
                self.index,
                self.embedder,
                query,
                now,
                meaning=self.meaning,
                mix=self.learning.mixed(self.index, self.mix),
                unmerged=self.unmerged,
            )
            found = self.reranking.read_again(self.index, query.text, found)
        return paging.page(
            self.index, query, now, found, self._lists, self._body, comparing.disputed
        )

    def _body(self, row: Row) -> str:
        found = self.store.read(row.path)
        return privacy.public(parse(found[0], row.path)).body.strip() if found else ""

    def _forgotten(self, draft: Draft, scope: str, *, again: bool) -> str:
        """Return the day on which a text was forgotten for good, unless it is learnt again."""
        marks, scopes = marks_of_text(draft.text), (scope, *self.places.to_read(()))
        if again:
            tombstones.lift(self.store, scopes, marks)
            return ""
        return tombstones.day_of(self.store, scopes, marks)

    def _write_new(self, draft: Draft, scope: str) -> Put:
        root = folder_of(scope)
        folder = held.inbox_of(root) if draft.suggested else root
        stem = f"{folder}/{lifecycle.stem_for(draft)}"
        path = self.store.free_path(stem, self.index.has_path)
        draft = counterparts.with_sources(draft, path, self.note_of)
        note = self.composed(draft, path, scope)
        content = render(note)
        self.places.claim(scope)
        seen = self.store.write(path, content, None)
        return sync.put_of(note, content, seen)

    def _forget(self, row: Row, level: str) -> None:
        content, seen = self.content(row)
        if level == "retire":
            self.rewrite(row.path, lifecycle.retired(content, row.path, self.clock()), seen.etag)
            self.enter_log("Deprecation", row.scope, row.path, row.title)
            return
        moved = self.store.archive(row.path, seen.etag)
        self.enter_log("Archive", row.scope, moved, row.title)
        self.put([Drop(row.path)])

    def written(
        self,
        note_id: str,
        path: str,
        etag: str,
        status: str,
        scope: str,
        near: tuple[Near, ...] = (),
    ) -> Written:
        return Written(note_id, path, etag, status, scope, self.vector_state(note_id), near)

    def vector_state(self, note_id: str) -> str:
        """Say whether a note is found by meaning: `yes`, `pending`, or `off` without a model."""
        if self.embedder is None:
            return "pending" if self.meaning == "loading" else "off"
        card = self.embedder.card  # a text that was there before has its vector already
        made = self.index.embedded(note_id, card.fingerprint, card.languages)
        return "yes" if made else "pending"
