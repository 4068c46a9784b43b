"""What an index must offer; `memorix.index.sqlite` is the one in use."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol, TypeAlias

from memorix.chunks import Chunk
from memorix.feedback import Impression
from memorix.lexemes import QueryTerm
from memorix.note import Note
from memorix.query import Filter, Match, Traits
from memorix.reconcile import Seen
from memorix.retention import Recalls
from memorix.usage import Shown, Total, Use


@dataclass(frozen=True, slots=True)
class Put:
    """Index this version of a note in place of what its path held.

    `root` is the folder of its scope in the vault, from which links with a leading slash count.
    `held` is why the note stays out of what is not asked for by name; see `memorix.held`.
    `digest` is that of its whole text, where `note` has only what may be shown of it.
    """

    note: Note
    scope: str
    seen: Seen
    chunks: tuple[Chunk, ...]
    root: str = ""
    held: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Rename:
    """A note moved with its content unchanged."""

    old: str
    new: str
    scope: str
    seen: Seen


@dataclass(frozen=True, slots=True)
class Touch:
    """A file was written again with the same content; an `undated` note takes its date."""

    path: str
    seen: Seen
    undated: bool = False


@dataclass(frozen=True, slots=True)
class Drop:
    path: str


Change: TypeAlias = Put | Rename | Touch | Drop


@dataclass(frozen=True, slots=True)
class Row:
    """A note as the index knows it; times are ISO 8601 in UTC, empty where unknown.

    `suspect` is one whose text reads like an instruction to a model.
    """

    key: int
    id: str
    path: str
    scope: str
    type: str
    title: str
    gist: str
    created: str
    date: str
    status: str
    valid_from: str
    valid_to: str
    expires_at: str
    stale_after: str
    superseded_by: str
    held: str
    branch: str
    author: str
    origin: str
    tier: str
    suspect: bool
    contested_by: tuple[str, ...]
    tags: tuple[str, ...]
    seen: Seen


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link of a note: `means` are the keys of the notes it leads to.

    There is none where the target does not exist yet, and several where a wikilink is ambiguous.
    """

    note: int
    target: str
    relation: str
    label: str
    means: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pending:
    """A chunk's text that has no vector of the model asked for, and its sentences, if several."""

    hash: bytes
    text: str
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vector of a chunk's text, float32, and those of its sentences, one after another."""

    hash: bytes
    vector: bytes
    sentences: bytes = b""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the index holds; `vectors` and `pending` are those of one model."""

    notes: int
    chunks: int
    vectors: int
    pending: int
    by_scope: Mapping[str, int]
    by_type: Mapping[str, int]


class Index(Protocol):
    """Words and vectors of all notes.  Every call is safe from any thread and any process."""

    def size(self) -> int:
        """Return how many notes are indexed."""
        ...

    def listing(self) -> dict[str, Seen]:
        """Return every indexed path with what its file was when it was indexed."""
        ...

    def apply(self, changes: Iterable[Change]) -> None:
        """Apply all changes in one transaction, or none."""
        ...

    def match_words(
        self, terms: Sequence[QueryTerm], wanted: Filter, now: datetime, limit: int
    ) -> list[Match]:
        """Return the chunks that hold any of the terms, best BM25 first."""
        ...

    def frequencies(
        self, tokens: Iterable[str], scopes: Sequence[str] = ()
    ) -> tuple[dict[str, int], int]:
        """Return in how many chunks each token occurs (absent: in none), and how many there are.

        Of some `scopes` alone it takes longer, and leaves out notes that are held back.
        """
        ...

    def holding(self, words: Sequence[str], at_most: int) -> list[list[int]]:
        """Return the chunks in which each word occurs as written, the newest `at_most` of each.

        Several words with a space between them occur all.
        """
        ...

    def owners(self, scores: Mapping[int, float], wanted: Filter, now: datetime) -> Sequence[Match]:
        """Return these chunks with their notes, without those the filter excludes, best first."""
        ...

    def match_vector(
        self, vector: bytes, fingerprint: str, wanted: Filter, now: datetime, limit: int
    ) -> list[Match]:
        """Return the chunks nearest to a vector (float32, length 1), the best first by its cosine
        with them and with what is nearest in them."""
        ...

    def keys(self, ids: Iterable[str], wanted: Filter, now: datetime) -> dict[str, int]:
        """Return the keys of the notes of these ids that pass a filter."""
        ...

    def rows(self, keys: Iterable[int]) -> dict[int, Row]: ...

    def traits(self, keys: Iterable[int]) -> dict[int, Traits]:
        """Return what the notes are besides their text."""
        ...

    def texts(self, chunks: Iterable[int]) -> dict[int, str]:
        """Return the text of chunks, as quoted from their notes."""
        ...

    def texts_of(self, notes: Iterable[int]) -> list[str]:
        """Return the text of all chunks of some notes."""
        ...

    def find(self, note_id: str) -> Row | None:
        """Return the note of exactly this id or path."""
        ...

    def has_path(self, path: str) -> bool:
        """Say whether a note has this path, in any case and Unicode form."""
        ...

    def near_ids(self, wanted: str, limit: int) -> list[Row]:
        """Return notes whose id, path or title resembles what was asked for; private ones never."""
        ...

    def same_text(self, digest: str, scope: str) -> Sequence[Row]:
        """Return all notes of this scope with exactly this text: those in its inbox last, else the
        oldest first."""
        ...

    def outgoing(self, key: int) -> list[LinkRow]:
        """Return the links of a note, in their order."""
        ...

    def incoming(self, key: int) -> list[LinkRow]:
        """Return the links of other notes that mean this one and no other."""
        ...

    def edges(self, keys: Iterable[int]) -> list[tuple[int, int]]:
        """Return the pairs of notes that a link joins of which one is among these."""
        ...

    def openings(self, keys: Iterable[int], wanted: Filter, now: datetime) -> list[Match]:
        """Return the first chunk of those of these notes that pass a filter, newest first."""
        ...

    def latest(self, wanted: Filter, now: datetime, limit: int, offset: int = 0) -> list[Row]:
        """Return notes by date, newest first."""
        ...

    def count(self, wanted: Filter, now: datetime) -> int:
        """Return how many notes pass a filter."""
        ...

    def warnings(self) -> list[tuple[str, str, int, str]]:
        """Return (path, code, line, message) of everything odd about the files."""
        ...

    def pending(self, fingerprint: str, languages: frozenset[str], limit: int) -> list[Pending]:
        """Return texts without a vector of this model, in languages it knows (empty: any)."""
        ...

    def keep_vectors(self, fingerprint: str, made: Sequence[Embedded]) -> None:
        """Store vectors; they survive a rebuild."""
        ...

    def note_vectors(self, keys: Iterable[int], fingerprint: str) -> list[tuple[int, bytes]]:
        """Return (note key, float32 vector) of every piece of these notes that has its vector."""
        ...

    def sentence_vectors(self, keys: Iterable[int], fingerprint: str) -> list[bytes]:
        """Return the vectors of the sentences of these notes as they are kept, a chunk each."""
        ...

    def embedded(self, note_id: str, fingerprint: str, languages: frozenset[str]) -> bool:
        """Say whether every text of a note has its vector, of those the model can embed."""
        ...

    def counts(self, fingerprint: str, languages: frozenset[str]) -> Counts: ...

    def recalled(self, note_ids: Sequence[str], now: datetime) -> None:
        """Count that these notes were returned, and how much longer they will be remembered."""
        ...

    def recalls(self, note_ids: Iterable[str]) -> dict[str, Recalls]:
        """Return how each of these notes is remembered that was ever recalled."""
        ...

    def count_uses(self, uses: Sequence[Use]) -> None:
        """Count what hosts did, oldest first."""
        ...

    def uses(self, since: date) -> list[Total]:
        """Return what each host did in each way since a day."""
        ...

    def most_shown(self, since: date, limit: int) -> list[Shown]:
        """Return the notes that were shown most since a day."""
        ...

    def show(self, session: str, shown: Sequence[Impression], now: datetime) -> None:
        """Keep what a session was shown for a question."""
        ...

    def used(self, session: str, note_id: str, now: datetime) -> bool:
        """Mark what a session was shown of a note as read; say whether it was shown."""
        ...

    def impressions(self) -> list[Impression]:
        """Return what was shown lately, oldest first."""
        ...

    def forget_impressions(self) -> None: ...

    def purge(self) -> None:
        """Leave no trace of dropped notes in the file: vectors, free pages, write-ahead log."""
        ...

    def clear(self) -> None:
        """Drop every derived table's rows; vectors and counters stay."""
        ...

    def reset(self) -> None:
        """Set a damaged file aside and begin with an empty one; vectors are made again."""
        ...

    def problems(self) -> list[str]:
        """Look through the whole file; return what is wrong with it.

        Raises:
            IndexDamaged: It is so wrong that it cannot be looked through.
        """
        ...

    @property
    def journal(self) -> str:
        """How transactions are kept: `wal` where the disk allows it."""
        ...

    @property
    def vector_search(self) -> str:
        """How vectors are searched: `sqlite-vec` or `numpy`."""
        ...

    def close(self) -> None: ...
