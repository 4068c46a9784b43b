"""Make a vault, and a project's place in it."""

import secrets
from datetime import UTC, datetime
from pathlib import Path

from memorix.config import Config
from memorix.errors import InvalidRequest, VaultUnavailable
from memorix.layout import PROJECTS, USER
from memorix.note import new_id
from memorix.scopes import Project, claim, find_project, init_in_repo, scope_folder


def prepare(config: Config, *, in_repo: bool) -> list[str]:
    """Make what is missing and say what there is now, a line each.

    Raises:
        InvalidRequest: `in_repo` outside any project.
        VaultUnavailable: A folder cannot be made.
    """
    project = find_project(config.cwd)
    try:
        (config.vault / USER).mkdir(parents=True, exist_ok=True)
        (config.vault / PROJECTS).mkdir(exist_ok=True)
        lines = [f"vault    {config.vault}"]
        if in_repo:
            lines.append(_in_repository(project))
        elif project:
            lines.append(_in_vault(config, project))
    except OSError as error:
        raise VaultUnavailable(f"The vault cannot be made: {error}.") from error
    return lines


def _in_vault(config: Config, project: Project) -> str:
    slug = scope_folder(project, config.vault / PROJECTS)
    folder = config.vault / PROJECTS / slug
    folder.mkdir(exist_ok=True)
    claim(project, folder)
    return f"project  {slug}, known by {project.how}: {folder}"


def _in_repository(project: Project | None) -> str:
    if project is None:
        raise InvalidRequest("This folder is in no project. Go to a repository, then try again.")
    identity = str(new_id(datetime.now(UTC), secrets.token_bytes(10)))
    written: Path = init_in_repo(project.root, project.slug, identity)
    bundle = project.root / "memory"
    bundle.mkdir(exist_ok=True)
    return f"project  {project.slug}: {bundle}, named in {written}; commit both"
