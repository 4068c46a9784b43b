"""Where the notes of a scope lie in a vault."""

ARCHIVE = "archive"
# The folder at the vault's top that holds archived notes; it is not indexed.

HOST_FILES = ".host"
# The folder of a scope below which the files of hosts have their paths; it is on no disk.

USER = "user"
PROJECTS = "projects"


def scope_of(path: str) -> str:
    """Return the scope a note's path lies in: a project's slug, or `user` for all the rest."""
    head, _, rest = path.partition("/")
    slug, slash, _ = rest.partition("/")
    return slug if head == PROJECTS and slash else USER


def folder_of(scope: str) -> str:
    """Return the folder of a scope, which is the root of its bundle."""
    return USER if scope == USER else f"{PROJECTS}/{scope}"


def is_host_file(path: str) -> bool:
    """Say whether a path among the notes is that of a host's file, which is only read."""
    return f"/{HOST_FILES}/" in path
