import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memorix.config import Config, load
from memorix.memory import Memory
from memorix.wiring import open_memory
from tests.following import Followed, followed

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees, or writes, the settings, the vault or the models of whoever runs it."""
    for name in [n for n in os.environ if n.startswith(("MEMORIX_", "CLAUDE_", "GIT_"))]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))


@pytest.fixture
def hard_notes() -> Path:
    return HERE / "data" / "hard-notes"


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    """The environment of a project `app` on a vault of its own, without a model."""
    (tmp_path / "app").mkdir()
    return {
        "MEMORIX_VAULT": str(tmp_path / "vault"),
        "MEMORIX_STATE_DIR": str(tmp_path / "state"),
        "MEMORIX_PROJECT_DIR": str(tmp_path / "app"),
        "MEMORIX_MODEL": "none",
    }


@pytest.fixture
def config(settings: dict[str, str]) -> Config:
    return load({}, settings)


@pytest.fixture
def open_another(config: Config) -> Iterator[Callable[[], Memory]]:
    """Open the same vault again, as another process would."""
    opened: list[Memory] = []

    def another() -> Memory:
        opened.append(open_memory(config))
        return opened[-1]

    yield another
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_another: Callable[[], Memory]) -> Memory:
    return open_another()


@pytest.fixture
def vault(config: Config) -> Path:
    return config.vault


@pytest.fixture
def start(settings: dict[str, str], vault: Path) -> Iterator[Callable[..., Followed]]:
    """Start following the vault, with more settings if need be."""
    with ExitStack() as stack:

        def started(**more: str) -> Followed:
            vault.mkdir(exist_ok=True)
            config = load({}, settings | more)
            memory = open_memory(config)
            stack.callback(memory.close)
            return stack.enter_context(followed(memory, config))

        yield started


@pytest.fixture
def memorix(settings: dict[str, str], tmp_path: Path) -> Callable[..., str]:
    """Type a command as a user does, in a process of its own."""

    def typed(
        *arguments: str, stdin: str = "", code: int = 0, keep_output: bool = False, **env: str
    ) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "memorix", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **settings, "PYTHONUTF8": "1", **env},
            cwd=tmp_path / "app",
            check=False,
            timeout=90,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if code == 0 or keep_output else done.stderr

    return typed
