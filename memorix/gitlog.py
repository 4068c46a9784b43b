"""Ask git what its history holds of files; git's own settings run no program."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

TIMEOUT_S = 20.0
# A large history takes seconds to search; a dead network disk must not hold anybody longer.

_QUIET = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "commit.gpgSign=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),
)


class GitFailed(Exception):
    """Git could not do it; the text is what it said."""


def root_of(folder: Path) -> Path | None:
    """Return the root of the repository that a folder lies in; None where there is none, or git."""
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel").decode().strip())
    except (GitFailed, UnicodeDecodeError):
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


def _git(folder: Path, *arguments: str) -> bytes:
    program = shutil.which("git")
    if not program or not Path(program).is_absolute():  # Windows would run one lying in the folder
        raise GitFailed("git is not installed")
    # The environment is passed on, without what would point git at another repository.
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith("GIT_")}
    kept |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "none"}
    try:
        done = subprocess.run(
            [program, *_QUIET, "-C", str(folder), *arguments],
            env=kept | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(said[-1] if said else f"git ended with {error.returncode}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise GitFailed(str(error)) from error
    return done.stdout
