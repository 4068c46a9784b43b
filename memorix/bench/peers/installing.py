"""Install peers from their registries, each into a folder of its own below a cache."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path

from memorix.bench.peers.base import Absent, Peer

WITHIN_S = 900
NODE_OF_OTHERS = "22"
# What npm brings along where a peer asks for a newer Node than there may be.
PROBE = (
    "import sqlite3, sys;"
    "print(*sys.version_info[:2], hasattr(sqlite3.Connection, 'enable_load_extension'))"
)
VERSIONS = ("3.12", "3.13", "3.11", "3.14", "3")
# Of Python, the one first that most packages have wheels for.


@dataclass(frozen=True)
class Npm:
    """Packages of npm, the peer first."""

    packages: Sequence[str]
    own_node: bool = False

    @property
    def name(self) -> str:
        return self.packages[0].removesuffix("@latest")

    def install(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        about = folder / "package.json"
        about.write_text('{"private": true}\n', encoding="utf-8")  # so that it is taken for a root
        command = ["npm", "install", "--no-fund", "--no-audit", "--prefix", "."]
        if self.own_node:
            _run([*command, f"node@{NODE_OF_OTHERS}"], folder)
        _run([*command, *self.packages], folder)

    def version(self, folder: Path) -> str:
        about = self.module(folder) / "package.json"
        found = json.loads(about.read_text(encoding="utf-8")) if about.is_file() else {}
        return str(found.get("version", ""))

    def module(self, folder: Path) -> Path:
        return folder / "node_modules" / self.name

    def path(self, folder: Path) -> str:
        """Return the search path on which its programs come first."""
        return os.pathsep.join([str(folder / "node_modules" / ".bin"), os.environ["PATH"]])


@dataclass(frozen=True)
class Pypi:
    """Packages of PyPI, the peer first; some need a Python whose SQLite loads extensions."""

    packages: Sequence[str]
    oldest: tuple[int, int] = (3, 11)
    extensions: bool = False

    @property
    def name(self) -> str:
        return self.packages[0].partition("[")[0]

    def install(self, folder: Path) -> None:
        """Install into a virtual environment.

        Raises:
            OSError: No Python that it needs is on the search path.
        """
        needed = f"Python {'.'.join(map(str, self.oldest))} or newer"
        needed += ", with SQLite that loads extensions" if self.extensions else ""
        python = next(self._pythons(), None)
        if not python:
            raise OSError(f"it needs {needed}, and none is on PATH")
        _run([python, "-m", "venv", "--clear", str(folder)], folder.parent)
        pip = [str(self.python(folder)), "-m", "pip", "install", "--quiet", "--upgrade"]
        _run([*pip, *self.packages], folder)

    def version(self, folder: Path) -> str:
        wanted = f"{self.name.replace('-', '_')}-*.dist-info"
        found = next(folder.glob(f"lib/python3*/site-packages/{wanted}"), None)
        return found.name.removesuffix(".dist-info").rpartition("-")[2] if found else ""

    def python(self, folder: Path) -> Path:
        return folder / "bin" / "python"

    def _pythons(self) -> Iterator[str]:
        places = os.get_exec_path()
        named = [f"{place}/python{version}" for version in VERSIONS for place in places]
        for python in (*named, sys.executable):
            version, extensions = _probed(python)
            if version >= self.oldest and (extensions or not self.extensions):
                yield python


Need = Npm | Pypi


@dataclass(frozen=True)
class Adapter:
    """What a peer is installed from, and the settings in which it is run from that folder, given
    its name and version."""

    name: str
    need: Need
    peers: Callable[[Path, str], Sequence[Peer]]

    def found(self, cache: Path, install: bool) -> Sequence[Peer]:
        """Return its peers, or one that says why there are none; with `install` the newest is
        installed first."""
        folder = cache / self.need.name.rpartition("/")[2]
        why = _lacking(self.need, folder, install)
        if why:
            return [Absent(self.name, why)]
        return self.peers(folder, f"{self.name} {self.need.version(folder)}")


def _lacking(need: Need, folder: Path, install: bool) -> str:
    """Return why it cannot be run, or nothing."""
    if install:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            need.install(folder)
        except OSError as error:
            return f"it could not be installed: {error}"
    return "" if need.version(folder) else "it is not installed; run with --install"


@once
def _probed(python: str) -> tuple[tuple[int, int], bool]:
    """Return the version of a Python, and whether it loads extensions of SQLite."""
    if not shutil.which(python):
        return (0, 0), False
    said = subprocess.run([python, "-c", PROBE], capture_output=True, encoding="utf-8", check=False)
    words = said.stdout.split()
    if said.returncode or len(words) != 3:  # a shim of a version manager may have none behind it
        return (0, 0), False
    return (int(words[0]), int(words[1])), words[2] == "True"


def _run(command: Sequence[str], folder: Path) -> None:
    """Run an installer.

    Raises:
        OSError: It failed, is not there, or took longer than `WITHIN_S`.
    """
    try:
        subprocess.run(
            command, cwd=folder, check=True, capture_output=True, encoding="utf-8", timeout=WITHIN_S
        )
    except subprocess.CalledProcessError as error:
        lines = [line for line in str(error.stderr).splitlines() if line.strip()]
        raise OSError(lines[-1] if lines else str(error)) from error
    except subprocess.TimeoutExpired as error:
        raise OSError(f"{command[0]} took longer than {WITHIN_S} s") from error
