"""Read a Git repository without starting git, and ask git what only it can tell."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 2.0
# A recall waits for it; a repository on a dead network drive must not stop the answer.

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH = "refs/heads/"
_DEFAULTS = ("main", "master", "trunk")
# Names of the branch that all others lead to, where no remote names it.


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as one of its working folders sees it.

    `own` holds what is of that folder alone, such as HEAD; `folder` the configuration and the
    branches; `main` is the place it is known by.
    """

    own: Path
    folder: Path
    main: Path

    @classmethod
    def at(cls, root: Path) -> "Repository | None":
        """Read where the repository of a working folder lies; None if that cannot be read."""
        dot = root / ".git"
        if dot.is_dir():
            return cls(dot, dot, root)
        head, _, named = text_of(dot).strip().partition("gitdir:")
        if head or not named:
            return None
        own = (root / named.strip()).resolve()
        common = text_of(own / "commondir").strip()
        if not common:  # a submodule, or a repository that is kept elsewhere
            return cls(own, own, root)
        shared = (own / common).resolve()
        return cls(own, shared, shared.parent if shared.name.startswith(".") else shared)

    def head(self) -> tuple[str, str]:
        """Return branch and commit that are checked out, each empty where there is none."""
        text = text_of(self.own / "HEAD").strip()
        if _COMMIT.fullmatch(text):
            return "", text
        ref = text.partition("ref:")[2].strip()
        branch = ref.removeprefix(_BRANCH) if ref.startswith(_BRANCH) else ""
        return branch, self._resolved(ref) if branch else ""

    def tip(self, branch: str) -> str:
        """Return the commit a branch stands at; empty where there is no such branch any more."""
        return self._resolved(_BRANCH + branch)

    def default_branch(self) -> str:
        """Return the branch that the others lead to, as the remote says, else by its usual name."""
        origin = text_of(self.folder / "refs" / "remotes" / "origin" / "HEAD")
        named = origin.strip().partition("refs/remotes/origin/")[2]
        return named or next((name for name in _DEFAULTS if self.tip(name)), "")

    def _resolved(self, ref: str) -> str:
        if ".." in ref.split("/"):
            return ""
        text = text_of(self.folder / ref).strip()
        if _COMMIT.fullmatch(text):
            return text
        packed = text_of(self.folder / "packed-refs")
        found = re.search(rf"^([0-9a-f]{{40,64}}) {re.escape(ref)}\r?$", packed, re.MULTILINE)
        return found[1] if found else ""


def root_commit(root: Path) -> str:
    """Ask git for the first commit; empty without git, without commits, or in a shallow clone."""
    shallow = _asked(root, "rev-parse", "--is-shallow-repository")
    commits = _asked(root, "rev-list", "--max-parents=0", "HEAD")
    return commits[-1] if shallow == ["false"] and commits else ""


def is_ancestor(root: Path, commit: str, of: str) -> bool | None:
    """Ask git whether a commit is part of another's history; None where it cannot tell."""
    done = _run(root, "merge-base", "--is-ancestor", commit, of)
    return done.returncode == 0 if done and done.returncode in (0, 1) else None


def text_of(path: Path) -> str:
    """Return the text of a file, as far as it is UTF-8; empty where it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
    except (OSError, ValueError):
        return ""


def _asked(root: Path, *words: str) -> list[str]:
    done = _run(root, *words)
    return done.stdout.decode("ascii", "replace").split() if done and not done.returncode else []


def _run(root: Path, *words: str) -> "subprocess.CompletedProcess[bytes] | None":
    """Run git on a repository, asking nobody and fetching nothing; None where it does not run."""
    program = shutil.which("git")
    if not program or not Path(program).is_absolute():  # Windows would run one lying in the folder
        return None
    command = [program, "--no-replace-objects", "-C", str(root)]
    command += ["-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"]
    # The environment is passed on, without what would point git at another repository.
    env = {k: v for k, v in os.environ.items() if not k.upper().startswith("GIT_")}
    env |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
    try:
        return subprocess.run(
            [*command, *words],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, subprocess.SubprocessError):
        return None
