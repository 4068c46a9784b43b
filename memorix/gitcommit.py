"""Make a commit of given versions of files, beside whatever is staged.

The commit is put together in an index of its own and becomes the branch's tip only if that has not
moved.  No hook is run and nothing is signed: nobody is there to answer what they ask.  The filters
that `.gitattributes` names are applied, for what a repository encrypts must not lie in it plainly.
"""

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memorix.attribution import FALLBACK, Author
from memorix.gitprogram import GitFailed, git, run

_UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick",
}
_LOCK_WAIT_S, _POLL_S = 1.0, 0.02
# Another git holds what is staged for some milliseconds; one that waits for an editor, or has died,
# for longer than anybody should wait for it.

_LONGEST_MESSAGE_S = 600.0
# A message that was begun longer ago was given up: git leaves it lying.

_AT_ONCE = 100
# Paths on one command line, which is short on Windows.

_PACKED_AT = "00"
# One commit in 256, by its name, lets git look whether it should pack, as `git commit` does.

_HASH = ("hash-object", "-w")
_FILE, _LINK = "100644", "120000"


@dataclass(frozen=True, slots=True)
class Repository:
    """The root of a working tree, and where git keeps what is of that tree alone."""

    root: Path
    own: Path


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as a commit holds it: git's mode and the name of its content."""

    mode: str
    blob: str


class Deadline:
    """So many seconds for all that git is asked from now on."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left_s(self) -> float:
        """Raises GitFailed where nothing is left."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise GitFailed("git takes too long")
        return left


def repository_at(root: Path, deadline: Deadline) -> Repository:
    """Raises GitFailed where git takes the folder for none, or for none that is to be trusted."""
    said = _text(root, deadline, "rev-parse", "--show-toplevel", "--absolute-git-dir")
    top, own = said.splitlines()
    return Repository(Path(top), Path(own))


def obstacle(repository: Repository, deadline: Deadline) -> str:
    """Say what forbids a commit just now; empty where nothing does."""
    for name, what in _UNDER_WAY.items():
        if (repository.own / name).exists():
            return f"{what} is under way in {repository.root}"
    if _is_being_written(repository.own):
        return f"the message of a commit is being written in {repository.root}"
    if not (repository.own / "HEAD").read_bytes().startswith(b"ref:"):
        return f"no branch is checked out in {repository.root}"
    if _text(repository.root, deadline, "ls-files", "--unmerged"):
        return f"{repository.root} has conflicts that are not resolved"
    return ""


def tip(repository: Repository, deadline: Deadline) -> str:
    """Return the commit that is checked out; empty before the first one."""
    asked = ("rev-parse", "-q", "--verify", "HEAD^{commit}")
    done = run(repository.root, *asked, timeout_s=deadline.left_s)
    return done.stdout.decode().strip()


def ignored(repository: Repository, paths: Sequence[str], deadline: Deadline) -> set[str]:
    """Return those of the paths that git is told to leave alone, and has not taken in yet."""
    asked = ("--no-literal-pathspecs", "check-ignore", "-z", "--stdin")  # it takes no others
    listed = _joined(paths)
    done = run(repository.root, *asked, stdin=listed, timeout_s=deadline.left_s)
    return set(_split(done.stdout))


def entries(
    repository: Repository, commit: str, paths: Sequence[str], deadline: Deadline
) -> dict[str, Entry]:
    """Return what a commit holds at these paths."""
    if not commit:
        return {}
    found = dict[str, Entry]()
    for start in range(0, len(paths), _AT_ONCE):
        asked = ("ls-tree", "-z", "--full-tree", commit, "--", *paths[start : start + _AT_ONCE])
        lines = (line.partition("\t") for line in _split(git_in(repository, deadline, *asked)))
        found |= {path: Entry(head.split()[0], head.split()[2]) for head, _, path in lines}
    return found


def kept(
    repository: Repository, contents: Mapping[str, bytes], deadline: Deadline
) -> dict[str, str]:
    """Let git keep the contents that files have, by their paths; return the names it gives."""
    as_on_disk = [path for path, content in contents.items() if _holds(repository, path, content)]
    listed = "\n".join(as_on_disk).encode("utf-8", "surrogateescape")
    said = (
        git_in(repository, deadline, *_HASH, "--stdin-paths", stdin=listed).decode()
        if as_on_disk
        else ""
    )
    names = dict(zip(as_on_disk, said.split(), strict=True))
    for path in contents.keys() - names.keys():
        said = git_in(
            repository, deadline, *_HASH, "--stdin", "--path", path, stdin=contents[path]
        ).decode()
        names[path] = said.strip()
    return names


def commit(
    repository: Repository,
    parent: str,
    before: Mapping[str, Entry],
    blobs: Mapping[str, str | None],
    author: Author,
    at: str,
    message: str,
    deadline: Deadline,
) -> None:
    """Make a commit after `parent` that holds these at their paths, None for no file.

    `before` is what the parent holds there, `at` when it was written (ISO 8601).

    Raises:
        GitFailed: The parent is the tip no longer, or git refuses; nothing is changed, or only what
            is staged has not followed.
    """
    _wait_for_index(repository)
    lines = [
        f"{_mode(before.get(path))} {blob}\t{path}" if blob else f"0 {'0' * len(parent)}\t{path}"
        for path, blob in blobs.items()
    ]
    tree = _tree(repository, parent, lines, deadline)
    env = _identities(repository, author, at, deadline)
    asked = ("commit-tree", tree, *(("-p", parent) if parent else ()))
    made = git_in(repository, deadline, *asked, stdin=message.encode(), env=env).decode().strip()
    reason = f"memorix: {message.partition(chr(10))[0]}"
    git_in(repository, deadline, "update-ref", "-m", reason, "HEAD", made, parent, env=env)
    _wait_for_index(repository)
    git_in(repository, deadline, "update-index", "-z", "--index-info", stdin=_joined(lines))
    if made.endswith(_PACKED_AT):
        run(repository.root, "gc", "--auto", "--quiet", timeout_s=deadline.left_s)


def git_in(
    repository: Repository,
    deadline: Deadline,
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> bytes:
    return git(repository.root, *arguments, stdin=stdin, env=env or {}, timeout_s=deadline.left_s)


def _tree(repository: Repository, parent: str, lines: Sequence[str], deadline: Deadline) -> str:
    with tempfile.TemporaryDirectory(prefix="memorix-") as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git_in(repository, deadline, "read-tree", parent or "--empty", env=env)
        asked = ("update-index", "-z", "--index-info")
        git_in(repository, deadline, *asked, stdin=_joined(lines), env=env)
        return git_in(repository, deadline, "write-tree", env=env).decode().strip()


def _identities(
    repository: Repository, author: Author, at: str, deadline: Deadline
) -> dict[str, str]:
    asked = ("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
    known = not run(repository.root, *asked, timeout_s=deadline.left_s).returncode
    env = {"GIT_AUTHOR_DATE": at}
    if not known:
        env |= {"GIT_COMMITTER_NAME": FALLBACK[0], "GIT_COMMITTER_EMAIL": FALLBACK[1]}
    if not (known and author.is_user):
        env |= {"GIT_AUTHOR_NAME": author.name, "GIT_AUTHOR_EMAIL": author.email}
    return env


def _is_being_written(own: Path) -> bool:
    """Say whether a commit's message is in an editor: ours, made before, would make it fail."""
    begun = own / "COMMIT_EDITMSG"
    if not begun.exists() or _age_s(begun) > _LONGEST_MESSAGE_S:
        return False
    moved = own / "logs" / "HEAD"
    return not moved.exists() or begun.stat().st_mtime_ns > moved.stat().st_mtime_ns


def _wait_for_index(repository: Repository) -> None:
    """Wait until nobody else changes what is staged."""
    lock, waited_s = repository.own / "index.lock", 0.0
    while lock.exists():
        if waited_s >= _LOCK_WAIT_S or _age_s(lock) > _LOCK_WAIT_S:
            raise GitFailed(f"another git holds {lock}")
        time.sleep(_POLL_S)
        waited_s += _POLL_S


def _age_s(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _holds(repository: Repository, path: str, content: bytes) -> bool:
    try:
        return "\n" not in path and (repository.root / path).read_bytes() == content
    except OSError:
        return False


def _mode(entry: Entry | None) -> str:
    return entry.mode if entry and entry.mode != _LINK else _FILE


def _text(folder: Path, deadline: Deadline, *arguments: str) -> str:
    said = git(folder, *arguments, timeout_s=deadline.left_s)
    return os.fsdecode(said).strip()


def _joined(words: Sequence[str]) -> bytes:
    return b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in words)


def _split(said: bytes) -> list[str]:
    return [word.decode("utf-8", "surrogateescape") for word in said.split(b"\0") if word]
