"""Put the parts together: the only module that picks adapters."""

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memorix import embedders, priors, rerankers
from memorix.admission import OFF
from memorix.bounds import Bounds, Pace
from memorix.branches import Branches
from memorix.committing import Commits
from memorix.config import Config
from memorix.errors import IndexUnavailable, ModelUnavailable
from memorix.index.sqlite import SqliteIndex
from memorix.journal import Journal, Limits
from memorix.kinds import SECRET
from memorix.layout import PROJECTS
from memorix.learning import Learning
from memorix.memory import Memory
from memorix.notes import VIA
from memorix.places import Places
from memorix.ranking import Mix
from memorix.reranking import Reranking
from memorix.scopes import Project, find_project, scope_folder
from memorix.sources import Sources
from memorix.store import Store
from memorix.sync import Follower
from memorix.versions import Effect
from memorix.watching import Watcher

_log = logging.getLogger(__name__)


def clock() -> datetime:
    """Tell every memory opened here the time; a benchmark that plays old days sets another."""
    return datetime.now(UTC)


def open_memory(config: Config, *, author: str = "") -> Memory:
    """Open the vault's index and return its memory; loads no model, scans nothing.

    Raises:
        IndexUnavailable: The index cannot be opened.
    """
    project = find_project(config.cwd)
    own = project is not None and config.project in ("", project.slug)
    mounts, index_path = _mount(config, project)
    limits = Limits(config.journal_days, config.journal_mb * 1_000_000)
    journal = Journal(config.state_dir / "journal", limits)
    folders = (config.vault, *mounts.values())
    commits = Commits(config.vault, folders, journal, config.state_dir / "uncommitted")
    lock, sources = config.state_dir / "write.lock", Sources(config.state_dir / "sources.json")
    store = Store(config.vault, lock, mounts, _recording(journal, commits), sources)
    bounds = Bounds(
        config.max_note_kb, config.max_tags, config.max_notes, config.max_writes_a_minute
    )
    return Memory(
        store=store,
        journal=journal,
        index=SqliteIndex(index_path),
        index_path=index_path,
        places=Places(store, project, config.project),
        branches=Branches(project.root if project and own else None),
        session=config.session,
        bounds=bounds,
        pace=Pace(bounds.max_writes_a_minute),
        author=author or VIA,
        log=config.log == "on",
        commits=commits if config.git_commits == "on" else None,
        review=config.review,
        secrets=config.secrets,
        meaning="off" if config.model == "none" else "loading",
        clock=clock,
        learning=Learning(on=config.learn == "on"),
        mix=Mix(priors=priors.read(config.priors)),
        siblings=lambda: _siblings(config, index_path),
    )


def _recording(journal: Journal, commits: Commits) -> Callable[[Sequence[Effect]], None]:
    def record(effects: Sequence[Effect]) -> None:
        commits.noticed(effects)
        journal.record(effects)

    return record


@dataclass(frozen=True, slots=True)
class Where:
    """Where the notes about a folder are, for who reads the index without the engine.

    `root` is where the project begins, `held` are the reasons of `memorix.held` that are shown.
    """

    index: Path
    root: Path
    mounts: Mapping[str, Path]
    scopes: tuple[str, ...]
    held: tuple[str, ...]


def where(config: Config) -> Where:
    """Find what belongs to the folder that the settings name; opens nothing."""
    project = find_project(config.cwd)
    mounts, index_path = _mount(config, project)
    store = Store(config.vault, config.state_dir / "write.lock", mounts)
    scopes = Places(store, project, config.project).to_read(())
    shown = ("", SECRET) if config.secrets == OFF else ("",)
    return Where(index_path, project.root if project else config.cwd, mounts, scopes, shown)


def load_model(memory: Memory, config: Config) -> None:
    """Load the models that are configured, or say in the memory why there are none."""
    _load_embedder(memory, config)
    if config.reranker:
        try:
            memory.reranking = Reranking(rerankers.load(config.reranker, config.models_dir))
        except ModelUnavailable as error:
            _log.warning("%s", error)
            memory.reranking = Reranking(state=f"off: {error}")


def pull(name: str, config: Config) -> tuple[str, str]:
    """Download a model; return its name and what it is, `model` or `reranker`.

    Raises:
        InvalidRequest: There is no such model.
        ModelUnavailable: The download failed.
    """
    if rerankers.fastembed.is_known(name):
        return rerankers.fastembed.pull(name, config.models_dir), "reranker"
    return embedders.fastembed.pull(name, config.models_dir), "model"


def _load_embedder(memory: Memory, config: Config) -> None:
    if config.model == "none":
        memory.use_model(None, "off")
        return
    try:
        embedder, warning = embedders.load(config.model, config.models_dir)
    except ModelUnavailable as error:
        _log.warning("%s", error)
        memory.use_model(None, f"off: {error}")
        return
    if warning:
        _log.warning("%s", warning)
    memory.use_model(embedder)


def follow(memory: Memory, config: Config) -> Callable[[], None]:
    """Start following the folder in the background; return what stops it."""
    watcher = Watcher(memory.store, config.watch, lambda paths: follower.noticed(paths))
    follower = Follower(
        lambda paths: void(memory.catch_up(paths)),
        lambda stop: void(memory.embed_pending(stop)),
        watcher.tend,
        config.rescan_s,
    )
    memory.follower = follower
    follower.start()

    def stop() -> None:
        follower.stop()  # first: it would start the watcher again
        watcher.stop()

    return stop


def void(_: object) -> None:
    """Take a result that nobody needs."""


def _siblings(config: Config, own: Path) -> Iterator[SqliteIndex]:
    """Open the other indexes that the vault has, which are those of projects kept in repositories.

    One that cannot be opened is named.
    """
    for path in (config.state_dir / "index.db", *config.state_dir.glob("bundles/*/index.db")):
        if path != own and path.exists():
            try:
                yield SqliteIndex(path)
            except IndexUnavailable as error:
                _log.warning("%s", error)


def _mount(config: Config, project: Project | None) -> tuple[dict[str, Path], Path]:
    """Return where this project's bundle lies if it is in the repository, and the index to use.

    Such a bundle has an index of its own, with the vault in it: two clones of one repository hold
    different versions of the same notes, and neither may take the other's for changed or gone.
    """
    if project is None or project.bundle is None:
        return {}, config.state_dir / "index.db"
    prefix = f"{PROJECTS}/{scope_folder(project, config.vault / PROJECTS)}"
    mark = hashlib.blake2b(str(project.bundle).encode(), digest_size=6).hexdigest()
    return {prefix: project.bundle}, config.state_dir / "bundles" / mark / "index.db"
