"""Run git on a repository so that it asks nobody, fetches nothing and runs no hook."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

TIMEOUT_S = 20.0
# A large history takes seconds to search; a dead network disk must not hold anybody longer.

_LAST_WORDS_S = 1.0
# What a git that took too long has to end by itself.

_QUIET = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "commit.gpgSign=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false"),
    "--literal-pathspecs",
)
_NOTHING: Mapping[str, str] = MappingProxyType({})


class GitFailed(Exception):
    """Git could not do it; the text is what it said."""


def git(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] = _NOTHING,
    timeout_s: float = TIMEOUT_S,
) -> bytes:
    """Return what git prints.

    Raises:
        GitFailed: It is not installed, it failed, or it took too long.
    """
    done = run(folder, *arguments, stdin=stdin, env=env, timeout_s=timeout_s)
    if done.returncode:
        raise failed(done)
    return done.stdout


def run(
    folder: Path,
    *arguments: str,
    stdin: bytes = b"",
    env: Mapping[str, str] = _NOTHING,
    timeout_s: float = TIMEOUT_S,
) -> "subprocess.CompletedProcess[bytes]":
    """Run git, whatever it ends with.

    Raises:
        GitFailed: It is not installed, or it took too long.
    """
    program = shutil.which("git")
    if not program or not Path(program).is_absolute():  # Windows would run one lying in the folder
        raise GitFailed("git is not installed")
    # The environment is passed on, without what would point git at another repository.
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith("GIT_")}
    kept |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C"}
    command = [program, *_QUIET, "-C", str(folder), *arguments]
    try:
        with subprocess.Popen(
            command,
            env={**kept, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        ) as process:
            out, err = _waited_for(process, stdin, timeout_s)
            return subprocess.CompletedProcess(command, process.returncode, out, err)
    except subprocess.TimeoutExpired as error:
        raise GitFailed(f"git {arguments[0]} took longer than {timeout_s:.0f} s") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise GitFailed(str(error)) from error


def _waited_for(
    process: "subprocess.Popen[bytes]", stdin: bytes, timeout_s: float
) -> tuple[bytes, bytes]:
    try:
        return process.communicate(stdin, timeout_s)
    except subprocess.TimeoutExpired:
        process.terminate()  # git takes its lock files away, which it cannot where it is killed
        try:
            process.communicate(timeout=_LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            process.kill()
        raise


def root_above(folder: Path) -> Path | None:
    """Return the nearest folder above, or this one, that is a repository's; git is not asked."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def failed(done: "subprocess.CompletedProcess[bytes]") -> GitFailed:
    """Return the error that tells what git said."""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return GitFailed(said[-1] if said else f"git ended with {done.returncode}")
