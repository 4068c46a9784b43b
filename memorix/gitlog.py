"""Ask git what it knows of files, and set how it merges them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memorix.gitprogram import GitFailed, failed, git, run

_MOST_COLLISIONS = 128
# More are counted as 127; what is above is a signal or an error.

_RECORD, _FIELD = "\x1e", "\x1f"


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that touched a file; `blob` names the file's content in it, as git does."""

    hash: str
    at: datetime
    who: str
    subject: str
    blob: str


def root_of(folder: Path) -> Path | None:
    """Return the root of the repository that a folder lies in; None where there is none, or git."""
    try:
        return Path(git(folder, "rev-parse", "--show-toplevel").decode().strip())
    except (GitFailed, UnicodeDecodeError):
        return None


def commits_of(root: Path, file: Path, limit: int) -> list[Commit]:
    """Return the latest commits of this branch that touched a file, under its earlier names too.

    Newest first; none where git cannot tell.
    """
    fields = _FIELD.join(("%H", "%ct", "%an", "%s"))
    asked = ("log", "--follow", f"-n{limit}", f"--format={_RECORD}{fields}{_FIELD}", "--name-only")
    try:
        said = git(root, *asked, "-z", "--", str(file)).decode("utf-8", "replace")
    except GitFailed:
        return []
    records = (record.split(_FIELD) for record in said.split(_RECORD)[1:])
    return [
        Commit(hash, datetime.fromtimestamp(int(at), UTC), who, subject, f"{hash}:{name}")
        for hash, at, who, subject, names in records
        if (name := names.strip("\0\n"))
    ]


def content(root: Path, blob: str) -> bytes | None:
    """Return the bytes that git names so (`commit:path`); None where the file was not there."""
    try:
        return git(root, "cat-file", "blob", blob)
    except GitFailed:
        return None


def holding(root: Path, paths: Sequence[Path], words: str) -> list[str]:
    """Return the commits of any branch or stash that touched one of the files or hold the words."""
    found: dict[str, None] = {}
    asked = [["--", *map(str, paths)], [f"-S{words}"]] if words else [["--", *map(str, paths)]]
    for how in asked:
        said = git(root, "log", "--all", "--format=%h", *how).decode("ascii", "replace")
        found |= dict.fromkeys(said.split())
    return list(found)


def remotes(root: Path) -> list[str]:
    try:
        return git(root, "remote").decode("utf-8", "replace").split()
    except GitFailed:
        return []


def setting(root: Path, name: str) -> str:
    """Return what the repository's own configuration says; empty where it says nothing."""
    try:
        return git(root, "config", "--local", "--get", name).decode("utf-8", "replace").rstrip("\n")
    except GitFailed:
        return ""


def configure(root: Path, name: str, value: str) -> None:
    """Set what the repository's own configuration says.

    Raises:
        GitFailed: It cannot be written.
    """
    git(root, "config", "--local", "--replace-all", name, value)


def forget_section(root: Path, name: str) -> None:
    """Take a section out of the repository's own configuration, if it is there.

    Raises:
        GitFailed: It cannot be written.
    """
    if setting(root, f"{name}.driver") or setting(root, f"{name}.name"):
        git(root, "config", "--local", "--remove-section", name)


def attribute(root: Path, name: str, file: Path) -> str:
    """Return what holds of a file, there or not, by all `.gitattributes`; empty if git fails."""
    try:
        said = git(root, "check-attr", "-z", name, "--", str(file))
    except GitFailed:
        return ""
    return said.decode("utf-8", "replace").split("\0")[2]


def merge_file(
    base: Path, ours: Path, theirs: Path, marker_size: int, *, union: bool = False
) -> tuple[bytes, bool]:
    """Merge three files line by line; return the text, and whether nothing collided.

    What did stands between marks of that size; with `union` the lines of both, one below the other.

    Raises:
        GitFailed: Git does not run, or takes a file for binary.
    """
    names = [word for name in ("ours", "base", "theirs") for word in ("-L", name)]
    how = ("--union",) if union else ()
    asked = ("merge-file", "-p", f"--marker-size={marker_size}", *how, *names)
    done = run(ours.parent, *asked, *map(str, (ours, base, theirs)))
    if not 0 <= done.returncode < _MOST_COLLISIONS:
        raise failed(done)
    return done.stdout, not done.returncode
