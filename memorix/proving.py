"""Prove that an erased note is gone: look for it in every byte that Memorix keeps.

What it said is gathered before it goes.  Words that other notes say as well are theirs, and are
told of instead.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memorix import erasing, gitlog, tombstones
from memorix.erasure import Erased, Trace, traces
from memorix.gitprogram import GitFailed
from memorix.lexemes import index_words
from memorix.memory import Memory
from memorix.note import parse
from memorix.results import Forgotten

BLOCK_BYTES = 8_000_000
# Read at once; an index can be larger than memory.

_WORDS = "its words"

_PACKED = frozenset({".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z", ".zst"})
# Files that would have to be opened to be searched.


@dataclass(frozen=True, slots=True)
class Evidence:
    """What to look for: traces of the text, its vectors, and how often its words were indexed."""

    note: Erased
    traces: tuple[Trace, ...]
    vectors: tuple[bytes, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Searched:
    """A folder that was looked through."""

    folder: Path
    files: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Proof:
    """What was looked through, and what was found.

    `left` are traces of the note, of which there should be none; `others` are notes that say some
    of its words themselves; `beyond` is what cannot be reached, with what to do about it.
    """

    searched: tuple[Searched, ...]
    sought: int
    left: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


def erase(memory: Memory, note_id: str, author: str = "") -> tuple[Forgotten, Proof]:
    """Erase a note and look for what is left of it.

    Raises:
        NoteNotFound: No note has exactly this id or path; nothing was changed.
    """
    target = erasing.found(memory, note_id, memory.find, memory.places.reaches)
    evidence = gather(memory, target)
    (done,) = memory.erase([target], author=author)
    return done, search(memory, evidence)


def gather(memory: Memory, target: erasing.Target) -> Evidence:
    """Note what a note says and is called, before it is erased."""
    read = [(path, memory.store.read(path)) for path, _ in target.files]
    texts = [parse(found[0], path).body for path, found in read if found]
    words = dict.fromkeys(word for text in texts for word in index_words(text).split())
    row = memory.index.find(target.path)
    vectors: list[bytes] = []
    if row and memory.embedder:
        fingerprint = memory.embedder.card.fingerprint
        vectors = [vector for _, vector in memory.index.note_vectors([row.key], fingerprint)]
        vectors += memory.index.sentence_vectors([row.key], fingerprint)
    return Evidence(
        target.note,
        traces(texts, [target.note]),
        tuple(vectors),
        memory.index.frequencies(words)[0] if row else {},
    )


def search(memory: Memory, evidence: Evidence) -> Proof:
    """Look through the vault and everything that Memorix keeps beside it."""
    others, shared = _said_by_others(memory, evidence)
    sought = [trace for trace in evidence.traces if trace not in shared]
    needles = {trace.sought: f"its {trace.kind}" for trace in sought}
    # Hooks write JSON in ASCII.
    needles |= {json.dumps(t.text)[1:-1].lower().encode(): f"its {t.kind}" for t in sought}
    left, searched = list(_in_index(memory, evidence)), list[Searched]()
    packed = list[Path]()
    for folder, files in _places(memory):
        size = 0
        beside = folder == memory.beside.folder
        for file in files:
            size += file.stat().st_size
            packed += [file] if file.suffix in _PACKED else []
            # A twin with the same words has the same vectors.
            hits = set(_hits(file, needles, () if shared else evidence.vectors))
            hits &= {_WORDS} if beside else hits  # who speaks of a note says its name
            left += [f"{hit} in {file}" for hit in sorted(hits) if not _is_meant(file, hit)]
        searched.append(Searched(folder, len(files), size))
    beyond = (*_in_git(memory, evidence), *_not_opened(packed), *_ELSEWHERE)
    return Proof(tuple(searched), len(evidence.traces), tuple(left), others, beyond)


_ELSEWHERE = (
    "backups, synced copies and other machines: delete the note there too",
    "what an assistant has read of it already",
)


def _said_by_others(memory: Memory, evidence: Evidence) -> tuple[tuple[str, ...], set[Trace]]:
    """Return who else says some of the words, and which these are."""
    found, shared = dict[str, None](), set[Trace]()
    for name, path, content in _other_texts(memory):
        said = content.lower() + b"\n" + path.encode("utf-8", "replace").lower()
        hits = {trace for trace in evidence.traces if trace.sought in said}
        if hits:
            found[name] = None
            shared |= hits
    return tuple(found), shared


def _other_texts(memory: Memory) -> Iterator[tuple[str, str, bytes]]:
    for path in (*memory.store.scan(), *(n.path for n, _ in erasing.archived(memory.store))):
        found = memory.store.read(path)
        if found:
            yield path, path, found[0]
    for change in memory.journal.changes():
        for step in change.steps:
            for etag in filter(None, (step.before, step.after)):
                text = memory.journal.text(etag)
                if text is not None:
                    yield f"an earlier version of {step.path}", step.path, text


def _in_index(memory: Memory, evidence: Evidence) -> Iterator[str]:
    for path in (evidence.note.id, *evidence.note.paths):
        row = memory.index.find(path)
        if row and row.id == evidence.note.id:
            yield f"its row in {memory.index_path}"
    after = memory.index.frequencies(evidence.counts)[0]
    words = [word for word, count in evidence.counts.items() if after.get(word, 0) >= count]
    if words:
        yield f"{len(words)} of its words in {memory.index_path}"


def _places(memory: Memory) -> Iterator[tuple[Path, list[Path]]]:
    """Yield each folder to look through with its files; git's own are asked of git."""
    yield memory.store.vault, [file for _, file in memory.store.walk()]
    kept = dict.fromkeys((memory.journal.path.parent, memory.index_path.parent))
    for folder in kept:
        inside = any(folder != other and folder.is_relative_to(other) for other in kept)
        if not inside:
            yield folder, _files_in(folder)
    if memory.beside.folder and memory.beside.folder.is_dir():
        yield memory.beside.folder, _files_in(memory.beside.folder)


def _files_in(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


def _hits(file: Path, needles: Mapping[bytes, str], vectors: Sequence[bytes]) -> Iterator[str]:
    """Yield what is found in a file: of texts in any case, of vectors as they are."""
    longest = max(map(len, (*needles, *vectors, b"x")))
    with file.open("rb") as stream:
        tail = b""
        while block := stream.read(BLOCK_BYTES):
            block = tail + block
            folded = block.lower()
            yield from (said for needle, said in needles.items() if needle in folded)
            yield from ("its vector" for vector in vectors if vector in block)
            tail = block[-longest:]


def _is_meant(file: Path, hit: str) -> bool:
    """Say whether a trace stays on purpose: the id, which tells nothing, where erasing is told."""
    told = file.name in ("log.md", "journal") or file.as_posix().endswith(tombstones.FILE)
    return hit == "its id" and told


def _in_git(memory: Memory, evidence: Evidence) -> Iterator[str]:
    words = max((t.text for t in evidence.traces if t.kind == "words"), key=len, default="")
    for root, files in _in_repositories(memory, evidence.note.paths):
        try:
            commits = gitlog.holding(root, files, words)
        except GitFailed as error:
            yield f"the git history of {root}, which cannot be searched: {error}"
            continue
        if commits:
            paths = " ".join(f"--path '{file.relative_to(root).as_posix()}'" for file in files)
            pushed = "".join(f", and force it to {name}" for name in gitlog.remotes(root))
            yield (
                f"the git history of {root} holds it, in {len(commits)} commits. To purge it: "
                f"git filter-repo --invert-paths {paths}{pushed}; every clone keeps its own"
            )


def _in_repositories(memory: Memory, paths: Iterable[str]) -> Iterator[tuple[Path, list[Path]]]:
    found: dict[Path, list[Path]] = {}
    for root in memory.store.roots():
        top = gitlog.root_of(root)
        if top:
            inside = [memory.store.locate(path) for path in paths]
            found[top] = [file for file in inside if file.is_relative_to(top)]
    yield from ((top, files) for top, files in found.items() if files)


def _not_opened(packed: Sequence[Path]) -> tuple[str, ...]:
    return tuple(f"{file}, which was not opened" for file in packed)
