"""Ask git what it knows of files and set how it merges them; its own settings run no program."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

TIMEOUT_S = 20.0
# A large history takes seconds to search; a dead network disk must not hold anybody longer.

_MOST_COLLISIONS = 128
# More are counted as 127; what is above is a signal or an error.

_QUIET = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "commit.gpgSign=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),
    "--literal-pathspecs",
)
_RECORD, _FIELD = "\x1e", "\x1f"


class GitFailed(Exception):
    """Git could not do it; the text is what it said."""


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
        return Path(_git(folder, "rev-parse", "--show-toplevel").decode().strip())
    except (GitFailed, UnicodeDecodeError):
        return None


def commits_of(root: Path, file: Path, limit: int) -> list[Commit]:
    """Return the latest commits of this branch that touched a file, under its earlier names too.

    Newest first; none where git cannot tell.
    """
    fields = _FIELD.join(("%H", "%ct", "%an", "%s"))
    asked = ("log", "--follow", f"-n{limit}", f"--format={_RECORD}{fields}{_FIELD}", "--name-only")
    try:
        said = _git(root, *asked, "-z", "--", str(file)).decode("utf-8", "replace")
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
        return _git(root, "cat-file", "blob", blob)
    except GitFailed:
        return None


def holding(root: Path, paths: Sequence[Path], words: str) -> list[str]:
    """Return the commits of any branch or stash that touched one of the files or hold the words."""
    found: dict[str, None] = {}
    asked = [["--", *map(str, paths)], [f"-S{words}"]] if words else [["--", *map(str, paths)]]
    for how in asked:
        said = _git(root, "log", "--all", "--format=%h", *how).decode("ascii", "replace")
        found |= dict.fromkeys(said.split())
    return list(found)


def remotes(root: Path) -> list[str]:
    try:
        return _git(root, "remote").decode("utf-8", "replace").split()
    except GitFailed:
        return []


def setting(root: Path, name: str) -> str:
    """Return what the repository's own configuration says; empty where it says nothing."""
    try:
        return (
            _git(root, "config", "--local", "--get", name).decode("utf-8", "replace").rstrip("\n")
        )
    except GitFailed:
        return ""


def configure(root: Path, name: str, value: str) -> None:
    """Set what the repository's own configuration says.

    Raises:
        GitFailed: It cannot be written.
    """
    _git(root, "config", "--local", "--replace-all", name, value)


def forget_section(root: Path, name: str) -> None:
    """Take a section out of the repository's own configuration, if it is there.

    Raises:
        GitFailed: It cannot be written.
    """
    if setting(root, f"{name}.driver") or setting(root, f"{name}.name"):
        _git(root, "config", "--local", "--remove-section", name)


def attribute(root: Path, name: str, file: Path) -> str:
    """Return what holds of a file, there or not, by all `.gitattributes`; empty if git fails."""
    try:
        said = _git(root, "check-attr", "-z", name, "--", str(file))
    except GitFailed:
        return ""
    return said.decode("utf-8", "replace").split("\0")[2]


def merge_file(base: Path, ours: Path, theirs: Path, marker_size: int) -> tuple[bytes, bool]:
    """Merge three files line by line; return the text, and whether nothing collided.

    What did stands between marks of that size.

    Raises:
        GitFailed: Git does not run, or takes a file for binary.
    """
    names = [word for name in ("ours", "base", "theirs") for word in ("-L", name)]
    asked = ("merge-file", "-p", f"--marker-size={marker_size}", *names)
    done = _run(ours.parent, *asked, *map(str, (ours, base, theirs)))
    if not 0 <= done.returncode < _MOST_COLLISIONS:
        raise _failed(done)
    return done.stdout, not done.returncode


def _git(folder: Path, *arguments: str) -> bytes:
    done = _run(folder, *arguments)
    if done.returncode:
        raise _failed(done)
    return done.stdout


def _failed(done: "subprocess.CompletedProcess[bytes]") -> GitFailed:
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return GitFailed(said[-1] if said else f"git ended with {done.returncode}")


def _run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    program = shutil.which("git")
    if not program or not Path(program).is_absolute():  # Windows would run one lying in the folder
        raise GitFailed("git is not installed")
    # The environment is passed on, without what would point git at another repository.
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith("GIT_")}
    kept |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "none"}
    try:
        return subprocess.run(
            [program, *_QUIET, "-C", str(folder), *arguments],
            env=kept | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise GitFailed(str(error)) from error
