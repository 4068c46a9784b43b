"""Tell which project a folder belongs to: by committed id, remote, root commit or path."""

import json
import os
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from memorix.errors import InvalidRequest, UnsafePath
from memorix.files import below, safe_relative, write_atomic
from memorix.git import Repository, root_commit, text_of
from memorix.note import MAX_SLUG_BYTES

ID_FILE = ".memorix.toml"
# In a repository it says which project this is; in the vault, whose notes a folder holds.

KINDS = ("id", "git", "root", "path")
# Strongest first.  The first two name a project, the others only a place or a beginning.

_MOST_HOPS = 5
# Clones of clones of local folders are followed so far; more is a circle.

_RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "user", "all", "project"}
    | {f"{port}{n}" for port in ("com", "lpt") for n in range(10)}
)
# What Windows keeps for devices, and the words that name other scopes.

_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")
_IDENTITY = re.compile(r'"((?:id|git|root|path):[^"\n]+)"')
_SECTION = re.compile(r'\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]', re.IGNORECASE)
_URL = re.compile(r'url\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^#;\n]*))', re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.IGNORECASE)
_SCP = re.compile(r"([^/\\:\[]{2,}|[^/\\]*\[[^\]]*\]):(.+)")
_PUBLIC = re.compile(
    r"(?:www\.|ssh\.|altssh\.)?(github\.com|gitlab\.com|bitbucket\.org)(?:-[^.]*)?"
)
# Also under the names for SSH over port 443, and as in `git@github.com-work:` from ~/.ssh/config.

_FOLDS_CASE = frozenset({"github", "gitlab", "bitbucket"})
_HEAD = "# Whose notes this folder holds. Add a line to let another copy of the project in.\n"


@dataclass(frozen=True, slots=True)
class Project:
    """What notes can be about.  `bundle` is the folder in the repository that holds its notes.

    `identities` are the names it can be recognised by, strongest first: `id:`, `git:` with
    host/owner/repo, `root:` with the first commit, `path:`.  `how` says in words which leads.
    """

    slug: str
    identities: tuple[str, ...]
    root: Path
    bundle: Path | None
    how: str


def find_project(cwd: Path) -> Project | None:
    """Return the project a folder lies in; None at home or above it, where there is none.

    Clones, worktrees and subfolders give the same identities.  Never fails: what cannot be read
    is passed over for the next means.  Writes nothing.
    """
    with suppress(OSError, RuntimeError, ValueError):
        cwd = cwd.expanduser().resolve()
        root = _root_of(cwd)
        return _describe(root) if root else None
    return None


def scope_folder(project: Project, projects_dir: Path) -> str:
    """Return the folder below `projects_dir` that holds the project's notes, or will.

    One that names any of its identities, else its slug, else the slug with the first free number.
    Creates nothing.
    """
    owners = _owners(projects_dir)
    for identity in _identities(project, owners):
        for name, known in sorted(owners.items()):
            if identity in known and not _contradicts(project, identity, known):
                return name
    names = {_folded(name): name for name in sorted(owners, reverse=True)}
    plain = project.slug if project.slug in owners else names.get(_folded(project.slug))
    if plain is None or not owners[plain]:
        return plain or project.slug
    number = 2
    while _folded(f"{project.slug}-{number}") in names:
        number += 1
    return f"{project.slug}-{number}"


def claim(project: Project, folder: Path) -> bool:
    """Write down that the notes in `folder` are the project's; False if they are another's.

    Only adds, and only what is new.  A path, which means nothing on another machine, is written
    where there is nothing better.

    Raises:
        OSError: The file cannot be written.
    """
    path = folder / ID_FILE
    known = _known_identities(path)
    names = _identities(project, {"": known})
    if known and all(i not in known or _contradicts(project, i, known) for i in names):
        return False
    lasting = [i for i in project.identities if not i.startswith("path:")]
    new = [i for i in lasting or project.identities if i not in known]
    text = _extended(text_of(path), new)
    if new and text:
        write_atomic(path, text.encode())
    return True


def init_in_repo(root: Path, slug: str, identity: str, bundle: str = "memory") -> Path:
    """Write the file that makes a folder a project; return its path.

    Commit it, and every clone is that project.  With an empty `bundle` the notes stay in the vault.

    Raises:
        InvalidRequest: The file is there and says something else, or one of the values is not
            possible; nothing was changed.
    """
    wanted = {"id": identity.removeprefix("id:"), "project": slug, "bundle": bundle}
    if not _ID.fullmatch(wanted["id"]) or project_slug(slug) != slug:
        raise InvalidRequest(f"{identity!r} and {slug!r} cannot name a project. Try a plain name.")
    if bundle:
        below(root, str(safe_relative(bundle)))
    wanted = {key: value for key, value in wanted.items() if value}
    path = root / ID_FILE
    lines = "".join(f"{key} = {_quoted(value)}\n" for key, value in wanted.items())
    if os.path.lexists(path):
        found = _table(path)
        if {k: found[k] for k in ("id", "project", "bundle") if k in found} == wanted:
            return path
        raise InvalidRequest(f"{path} is there already and was not changed. It would say:\n{lines}")
    try:
        write_atomic(path, ("# Which project this is, for Memorix. Commit it.\n" + lines).encode())
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be written: {error}.") from error
    return path


def project_slug(name: str) -> str:
    """Make a portable folder name: lowercase, accents dropped, letters of other scripts kept."""
    text = unicodedata.normalize("NFKC", name).lower()
    kept = "".join(_plain_letter(c) for c in text)
    slug = re.sub(r"-+", "-", kept).encode()[:MAX_SLUG_BYTES].decode(errors="ignore").strip("-")
    if slug in _RESERVED:
        return f"{slug}-project"
    return slug or "unnamed"


def _plain_letter(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0]
    if base.isascii():
        return base if base.isalnum() else "-"
    return character if unicodedata.category(character)[0] in "LMN" else "-"


# -- where a project begins


def _root_of(cwd: Path) -> Path | None:
    home = Path.home().resolve()
    for folder in (cwd, *cwd.parents):
        if folder == home and folder != cwd:
            break  # dotfiles kept in git do not make one project of everything at home
        if (folder / ".git").exists() or _table(folder / ID_FILE):
            return folder
    nowhere = cwd in (home, *home.parents) or cwd.parent == cwd
    return None if nowhere else cwd


def _describe(root: Path) -> Project:
    git = Repository.at(root)
    main = git.main if git else root
    place = next((folder for folder in (root, main) if _table(folder / ID_FILE)), root)
    keys = _table(place / ID_FILE)
    remote = _remote(git, _MOST_HOPS) if git else ""
    named = [*_committed(keys), *([f"git:{remote}"] if remote else [])]
    first = root_commit(root) if git and not named else ""
    every = [*named, *([f"root:{first}"] if first else []), f"path:{_spelled(main)}"]
    identities = sorted(dict.fromkeys(every), key=lambda i: KINDS.index(_kind(i)))
    slug = keys.get("project")
    if not isinstance(slug, str) or not slug.strip():
        slug = remote.rpartition("/")[2] or main.name.removesuffix(".git")
    bundle = _bundle(place, keys)
    how = _how(identities[0])
    return Project(project_slug(slug), tuple(identities), root, bundle, how)


def _committed(keys: Mapping[str, Any]) -> list[str]:
    """Return what an id file says; in the vault's own folders it is the claim that is read."""
    own = keys.get("id")
    first = [f"id:{own}"] if isinstance(own, str) and _ID.fullmatch(own) else []
    return first + _strings(keys.get("identities"))


def _bundle(root: Path, keys: Mapping[str, Any]) -> Path | None:
    named = keys.get("bundle")
    if not isinstance(named, str):
        return None
    try:
        return below(root, str(safe_relative(named.removesuffix("/"))))
    except UnsafePath:
        return None


def _how(identity: str) -> str:
    words = {"id": "id file", "git": "git remote", "root": "root commit", "path": "path"}
    return words[_kind(identity)]


def _kind(identity: str) -> str:
    return identity.partition(":")[0]


def _spelled(path: Path) -> str:
    text = os.fsencode(os.path.normcase(path)).decode("utf-8", "backslashreplace")
    return text.replace("\\", "/") if os.name == "nt" else text


# -- its remote


def _remote(git: Repository, hops: int) -> str:
    """Return `host/owner/repo` of the remote that says most; empty if there is none."""
    urls = _remotes(text_of(git.folder / "config"))
    names = sorted(urls, key=lambda name: (name != "origin", name != "upstream", name))
    found = (_normal_remote(urls[n]) or _followed(git.main, urls[n], hops) for n in names)
    return next((remote for remote in found if remote), "")


def _remotes(text: str) -> dict[str, str]:
    urls: dict[str, str] = {}
    name = ""
    for line in map(str.strip, text.removeprefix("\ufeff").splitlines()):
        if line.startswith("["):
            section = _SECTION.match(line)
            name = _unescaped(section[1]) if section else ""
        elif name and (found := _URL.match(line)):
            urls.setdefault(name, _unescaped(found[1] or found[2] or "").strip())
    return urls


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _normal_remote(url: str) -> str:
    """Return a remote as `host/owner/repo`, alike for all its spellings; empty for a local path."""
    scheme, scp = _SCHEME.fullmatch(url), _SCP.fullmatch(url)
    if scheme and scheme[1].lower() != "file":
        host, _, path = scheme[2].partition("/")
    elif scp and not scheme:
        host, path = scp.groups()
    else:
        return ""
    host = re.sub(r":\d*$", "", host.rpartition("@")[2]).lower()
    if public := _PUBLIC.fullmatch(host):
        host = public[1]
    path = re.sub(r"/{2,}", "/", unquote(path)).strip("/ ")
    path = re.sub(r"\.git$", "", path, flags=re.IGNORECASE).rstrip("/")
    if not host or not path:
        return ""
    return f"{host}/{path.lower() if _FOLDS_CASE & set(host.split('.')) else path}"


def _followed(root: Path, url: str, hops: int) -> str:
    """Return the remote of the local repository that `url` names, as far as there is one."""
    scheme = _SCHEME.fullmatch(url)
    text = unquote(scheme[2]) if scheme else url
    if not hops or not text or text.startswith(("//", "\\\\")):  # no server is asked
        return ""
    if re.match(r"/[A-Za-z]:", text) and os.name == "nt":
        text = text[1:]
    for target in (root / text, root / f"{text}.git"):
        git = Repository.at(target)
        if git is None and (target / "HEAD").is_file():
            git = Repository(target, target, target)
        if git:
            return _remote(git, hops - 1)
    return ""


# -- whose notes a folder of the vault holds


def _owners(projects_dir: Path) -> dict[str, frozenset[str]]:
    try:
        folders = [f for f in projects_dir.iterdir() if f.is_dir() and not f.name.startswith(".")]
    except OSError:
        return {}
    return {folder.name: _known_identities(folder / ID_FILE) for folder in folders}


def _known_identities(path: Path) -> frozenset[str]:
    """Return the identities a claim names, also where a merge has left its marks in the file."""
    table = _table(path)
    listed = _strings(table.get("identities")) if table else _IDENTITY.findall(text_of(path))
    return frozenset(listed)


def _identities(project: Project, owners: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Yield the names of a project, last the first commit if that could still decide.

    So a repository that got its remote after its first note is known again.
    """
    yield from project.identities
    asked = any(i.startswith("root:") for known in owners.values() for i in known)
    told = any(i.startswith("root:") for i in project.identities)
    if asked and not told and (project.root / ".git").exists():
        yield f"root:{root_commit(project.root)}"


def _contradicts(project: Project, identity: str, known: frozenset[str]) -> bool:
    """Tell whether a match by first commit or path is overruled: both have a better, other name."""
    if _kind(identity) in ("id", "git"):
        return False
    stronger = KINDS[: KINDS.index(_kind(identity))]
    return any(
        bool(ours := {i for i in project.identities if _kind(i) == kind})
        and bool(theirs := {i for i in known if _kind(i) == kind})
        and not ours & theirs
        for kind in stronger
    )


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _extended(text: str, new: list[str]) -> str:
    """Return a claim with identities added; empty where it cannot be done safely."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = end + "".join(f"  {_quoted(identity)},{end}" for identity in new)
    opening = re.search(r"^identities\s*=\s*\[", text, re.MULTILINE)
    if "\ufffd" in text:  # what we could not decode, we could not write back
        return ""
    if opening:
        changed = text[: opening.end()] + lines + text[opening.end() :].lstrip("\r\n")
    else:
        changed = f"{'' if text else _HEAD}identities = [{lines}]{end}{text}"
    try:
        return changed if set(new) <= set(tomllib.loads(changed)["identities"]) else ""
    except (tomllib.TOMLDecodeError, TypeError):
        return ""


# -- files


def _table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(path).removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return {}


def _strings(value: object) -> list[str]:
    items = value if isinstance(value, list) else []
    return [i for i in items if isinstance(i, str) and _kind(i) in KINDS]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
