"""Find the versions of notes that git knows, where the notes lie in a repository."""

from collections.abc import Sequence
from pathlib import Path

from memorix import gitlog
from memorix.note import etag_of, format_time
from memorix.store import Store
from memorix.versions import Version, in_time

MOST = 100
# Commits of one note that are looked at, the latest; each costs git a few milliseconds.


def with_committed(store: Store, told: Sequence[Version], path: str) -> tuple[Version, ...]:
    """Return the versions of a note, oldest first, and those that git alone knows among them.

    `path` is where the note is, or was last.
    """
    return in_time(told, versions(store, path)) if path else tuple(told)


def versions(store: Store, path: str) -> list[Version]:
    """Return the versions of a note in the commits of the branch that is checked out, oldest
    first."""
    root = _root(store, path)
    if root is None:
        return []
    found = list[Version]()
    for commit in reversed(gitlog.commits_of(root, store.locate(path), MOST)):
        bytes_then = gitlog.content(root, commit.blob)
        etag = "" if bytes_then is None else etag_of(bytes_then)
        what = f"commit {commit.hash[:10]}: {commit.subject}"
        found.append(
            Version(etag, path, format_time(commit.at), commit.who, what, blob=commit.blob)
        )
    return found


def text(store: Store, path: str, etag: str) -> bytes | None:
    """Return the bytes a note had in the version with this etag, if git has them."""
    fitting = (version for version in reversed(versions(store, path)) if version.etag == etag)
    version = next(fitting, None)
    return content(store, version) if version else None


def content(store: Store, version: Version) -> bytes | None:
    """Return the bytes of a version that git knows; None for any other."""
    root = _root(store, version.path) if version.blob else None
    return gitlog.content(root, version.blob) if root else None


def before_the_merge(store: Store, path: str) -> bytes | None:
    """Return the version of a note that both sides of a merge began from, while git has not been
    told how that ended; None for any other note."""
    root = _root(store, path)
    if root is None:
        return None
    file = store.locate(path).resolve()
    if not file.is_relative_to(root.resolve()):
        return None
    return gitlog.content(root, f":1:{file.relative_to(root.resolve()).as_posix()}")


def _root(store: Store, path: str) -> Path | None:
    folder = Path(store.place_of(path) or store.vault)
    return gitlog.root_of(folder) if folder.is_dir() else None
