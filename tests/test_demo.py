import os
import subprocess
import sys

from memorix.demo.material import CHINESE, drafts, questions


def test_the_material_is_whole() -> None:
    notes = list(drafts())
    titles = {draft.title for draft, _ in notes}

    assert len(notes) == len(titles) >= 350
    assert sum(scope == CHINESE for _, scope in notes) >= 100
    assert all(asked.title in titles for asked in questions())
    assert {asked.kind for asked in questions()} >= {"exact", "paraphrase", "copied", "english"}


def test_everything_the_demonstration_claims_holds(settings: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memorix", "demo"],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
        timeout=110,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout
    assert "Everything held." in done.stdout
