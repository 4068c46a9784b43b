"""Look at the program, the vault, the index and what serves it."""

import os
import shlex
from collections.abc import Iterator

from memorix import __version__, diverged, syncgit
from memorix.config import Config
from memorix.doctor.base import FAILED, OK, WARNING, Check
from memorix.errors import InvalidRequest, VaultUnavailable
from memorix.installing import this_program
from memorix.kinds import SECRET
from memorix.lexemes import query_terms
from memorix.memory import Memory
from memorix.query import Filter
from memorix.status import waiting
from memorix.watching import Watcher
from memorix.wiring import load_model

TITLES = 100
# Of the newest notes are looked through for one with words.

ALL = 1_000_000
# Matches: more than a vault has.

SHOWN = 20
# Files named for one reason; `memorix status` names all.


def _program(memory: Memory, config: Config) -> Iterator[Check]:
    program = this_program(config)
    yield Check("program", OK, f"{program.path}, version {__version__}")


def _vault(memory: Memory, config: Config) -> Iterator[Check]:
    vault = config.vault
    if not vault.is_dir():
        yield Check("vault", FAILED, f"{vault} is missing", "run `memorix init`, or mount the disk")
    elif not os.access(vault, os.R_OK | os.W_OK | os.X_OK):
        yield Check("vault", FAILED, f"{vault} cannot be written", f"chmod u+rwx {vault}")
    else:
        yield Check("vault", OK, f"{vault}, {len(memory.store.scan())} notes")
    for prefix in memory.store.absent():
        said = f"{prefix} lies in a repository that is not there"
        yield Check("vault", WARNING, said, "put the repository back, or run `memorix init` in it")


def _in_step(memory: Memory, config: Config) -> Iterator[Check]:
    done = memory.catch_up()
    said = f"{done.changed} read, {done.moved} moved, {done.gone} gone" if done else "nothing to do"
    yield Check("in step", OK, said)


def _index(memory: Memory, config: Config) -> Iterator[Check]:
    problems = memory.index.problems()
    path = memory.index_path
    if problems:
        yield Check("index", FAILED, "; ".join(problems), "memorix reindex --full")
    else:
        yield Check("index", OK, f"{path}, {path.stat().st_size / 1e6:.1f} MB")
    if memory.index.journal != "wal":
        said = f"the disk of {path} allows no write-ahead log; servers wait for each other"
        yield Check("index", WARNING, said, "set MEMORIX_STATE_DIR to a folder on a local disk")
    for left in path.parent.glob("*.damaged"):
        yield Check("index", WARNING, f"{left} was set aside", "delete it")


def _words(memory: Memory, config: Config) -> Iterator[Check]:
    """Look for the newest note by its title: in the table of words, for recall may leave a note
    out that many others are like."""
    wanted, now = Filter(everything=True), memory.clock()
    newest = memory.index.latest(wanted, now, TITLES)
    asked = ((row, query_terms(row.title)) for row in newest)
    row, terms = next(((row, terms) for row, terms in asked if terms), (None, ()))
    if row is None:
        yield Check("words", OK, "there is no title with words in it yet")
        return
    found = memory.index.match_words(terms, wanted, now, ALL)
    there = any(match.note == row.key for match in found)
    said = f"{row.path} is {'' if there else 'not '}found by its title"
    yield Check("words", *((OK, said) if there else (FAILED, said, "memorix reindex --full")))


def _vectors(memory: Memory, config: Config) -> Iterator[Check]:
    load_model(memory, config)
    if memory.embedder is None:
        wanted = config.model != "none"
        mend = "memorix model list" if wanted else ""
        yield Check("vectors", FAILED if wanted else OK, memory.meaning, mend)
        return
    card, how = memory.embedder.card, memory.index.vector_search
    vector = memory.embedder.embed_query("where is the memory kept?").tobytes()
    wanted_of = Filter(everything=True, held=())
    near = memory.index.match_vector(vector, card.fingerprint, wanted_of, memory.clock(), 5)
    counts = memory.status().counts
    said = f"{card.name}, {counts.vectors} vectors, searched by {how}"
    if counts.vectors and not near:
        yield Check("vectors", FAILED, f"{said}: nothing is near", "memorix reindex --full")
    elif counts.pending:
        yield Check("vectors", WARNING, f"{said}, {counts.pending} pending", "memorix reindex")
    else:
        yield Check("vectors", OK, said)


def _reranker(memory: Memory, config: Config) -> Iterator[Check]:
    if not config.reranker:  # it was loaded with the model
        return
    memory.reranking.try_out()
    state = memory.reranking.state
    broken = state.startswith("off")
    mend = "memorix model pull, or memorix model use none --reranker"
    yield Check("reranker", *((FAILED, state, mend) if broken else (OK, state)))


def _watching(memory: Memory, config: Config) -> Iterator[Check]:
    if not memory.store.roots():
        return
    watcher = Watcher(memory.store, config.watch, lambda paths: None)
    mode, _ = watcher.tend()
    watcher.stop()
    if mode == "events" or mode == config.watch.replace("poll", "polling"):
        yield Check("watching", OK, mode)
    else:
        mend = "raise fs.inotify.max_user_watches and max_user_instances with sysctl"
        yield Check("watching", WARNING, f"{mode}: the system has no watches left", mend)


def _lock(memory: Memory, config: Config) -> Iterator[Check]:
    try:
        with memory.store.locked(timeout_s=2):
            yield Check("lock", OK, "free")
    except VaultUnavailable:
        said = f"{memory.store.lock_path} is held for long"
        yield Check("lock", WARNING, said, "look for a Memorix process that hangs, and end it")


def _notes(memory: Memory, config: Config) -> Iterator[Check]:
    odd = memory.index.warnings()
    for path, _, line, said in [one for one in odd if one[1] == SECRET][:SHOWN]:
        mend = "take it out of the file, and change it where it is used"
        yield Check("secrets", WARNING, f"{path}:{line}: {said}", mend)
    if odd:
        codes = ", ".join(sorted({code for _, code, _, _ in odd}))
        said = f"{len({path for path, *_ in odd})} files are odd: {codes}"
        yield Check("notes", WARNING, said, "memorix status, memorix check")
    else:
        yield Check("notes", OK, "none is odd")


def _copies(memory: Memory, config: Config) -> Iterator[Check]:
    listed = diverged.found(memory)
    for one in listed[:SHOWN]:
        who = "git's marks" if not one.copy else f"a copy by {one.by}"
        mend = f"memorix conflicts merge {shlex.quote(one.path)}"
        yield Check("conflicts", WARNING, f"{one.path}: {who}", mend)
    if len(listed) > SHOWN:
        said = f"{len(listed) - SHOWN} more notes have two versions"
        yield Check("conflicts", WARNING, said, "memorix conflicts")


def _git(memory: Memory, config: Config) -> Iterator[Check]:
    """Tell of a clone that has the line of attributes, and not the driver it names."""
    program = this_program(config)
    try:
        folders = syncgit.look(memory.store, [program.path, *program.before])
    except InvalidRequest:
        return
    for folder in folders:
        if folder.attributes and folder.missing:
            said = f"{folder.place}: {'; '.join(folder.missing)}"
            yield Check("git", WARNING, said, "memorix sync-git")
        elif folder.attributes:
            yield Check("git", OK, f"{folder.place}: notes are merged key by key")


def _commits(memory: Memory, config: Config) -> Iterator[Check]:
    """Commit what waits for it, and tell of what still does."""
    if memory.commits is None:
        return
    if not memory.commits.in_repositories():
        said = f"git_commits is on, but {config.vault} lies in no git repository"
        yield Check("commits", WARNING, said, f"git init {config.vault}")
        return
    with memory.store.locked():
        state = memory.commits.commit()
    if state.waiting:
        yield Check("commits", WARNING, waiting(state), "end that; the next write goes on")
    else:
        yield Check("commits", OK, "all is committed")


def _sources(memory: Memory, config: Config) -> Iterator[Check]:
    if trouble := memory.store.sources.trouble():
        mend = "mend it, or add a source: then it is kept beside, and a new one begun"
        yield Check("sources", FAILED, trouble, mend)
    for source in memory.store.sources.all():
        if count := len(list(source.files())):
            said = f"{source.place}, {count} files read in scope {source.scope}"
            yield Check("sources", OK, said)
        else:
            mend = f"put it back, or run `memorix source remove {source.place}`"
            yield Check("sources", WARNING, f"{source.place} is not there", mend)


LOOKS = (
    _program,
    _vault,
    _in_step,
    _index,
    _words,
    _vectors,
    _reranker,
    _watching,
    _lock,
    _notes,
    _copies,
    _git,
    _commits,
    _sources,
)
