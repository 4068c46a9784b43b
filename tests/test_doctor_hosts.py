"""What the doctor tells of the hosts that start us and of the hooks they run."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memorix.access import Access, Right
from memorix.config import config_path
from memorix.tokens import TokenFile

Typed = Callable[..., list[dict[str, str]]]


@pytest.fixture
def doctor(settings: dict[str, str], tmp_path: Path) -> Typed:
    def run(*before: list[str]) -> list[dict[str, str]]:
        for command in [*before, ["doctor", "--json"]]:
            done = subprocess.run(
                [sys.executable, "-m", "memorix", *command],
                input=b"{" if command[0] == "hook" else b"",
                capture_output=True,
                env={**os.environ, **settings},
                cwd=tmp_path / "app",
                check=False,
                timeout=60,
            )
            assert b"Traceback" not in done.stderr
        checks: list[dict[str, str]] = json.loads(done.stdout)["checks"]
        return checks

    return run


def about(checks: list[dict[str, str]], name: str) -> dict[str, str]:
    return next(check for check in checks if check["name"] == name)


def test_the_doctor_names_each_host_and_the_program_it_starts(
    doctor: Typed, tmp_path: Path
) -> None:
    gone = tmp_path / "home" / ".cursor" / "mcp.json"
    gone.parent.mkdir(parents=True)
    gone.write_text('{"mcpServers": {"memorix-notes": {"command": "/gone/memorix"}}}', "utf-8")

    checks = doctor(["init"], ["install", "codex", "opencode", "--yes"])

    assert sys.executable in about(checks, "program")["said"]
    for host in ("codex", "opencode"):
        assert about(checks, host)["verdict"] == "ok"
        assert f"starts {sys.executable}" in about(checks, host)["said"]
    assert about(checks, "cursor")["verdict"] == "failed"
    assert about(checks, "cursor")["mend"] == "memorix install cursor --scope user"


def test_the_doctor_tells_when_hooks_ran_and_how_the_last_one_failed(doctor: Typed) -> None:
    checks = doctor(["init"], ["hook", "SessionStart", "--host", "claude-code"])

    ran, failed = [check for check in checks if check["name"] == "hooks"]
    assert ran["said"].endswith(": claude-code SessionStart")
    assert failed["verdict"] == "warning"
    assert "JSONDecodeError" in failed["said"]


def test_the_doctor_tells_of_tokens_that_have_expired_and_of_a_file_others_may_read(
    doctor: Typed,
) -> None:
    now = datetime.now(UTC)
    file = TokenFile(config_path().parent / "tokens.json")
    file.add(Access("laptop", Right.WRITE), now)
    file.add(Access("old", Right.READ), now - timedelta(days=9), now - timedelta(days=2))

    good, old = [check for check in doctor(["init"]) if check["name"] == "tokens"]
    assert (good["verdict"], good["said"][:10]) == ("ok", "1 in force")
    assert (old["verdict"], old["mend"]) == ("warning", "memorix token revoke old")
    if os.name != "nt":
        file.path.chmod(0o644)
        refused = about(doctor(), "tokens")
        assert refused["verdict"] == "failed"
        assert "chmod 600" in refused["said"]
