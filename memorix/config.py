"""Settle every setting once: flags, environment and a TOML file become one frozen Config."""

import hashlib
import json
import os
import re
import sys
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

import platformdirs

from memorix.errors import ConfigInvalid
from memorix.files import write_atomic
from memorix.settings import DEFAULTS, SETTINGS, Review, Secrets, Watch, Wrong, checked

APP = "memorix-notes"
# The plain name belongs to another tool, whose folders must not be ours.

_FLAGS_ONLY = ("config", "cwd")

_SESSIONS = ("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID", "CODEX_THREAD_ID")
_PLAIN_ID = re.compile(r"[A-Za-z0-9._:-]{4,100}")
# Variables in which hosts name the session they are in; a hint, so nothing is said if it is odd.

_TABLE = re.compile(r"\s*\[")
_VALUE = r"""("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'\[{#][^\s#]*)"""


@dataclass(frozen=True, slots=True)
class Config:
    """All settings; every path is absolute, and the vault's is its real one.

    `state_dir` holds the index, locks and logs of this vault and lies outside it.  `model`,
    `reranker` and `project` are empty where nothing was asked for.  `session` is the host's own
    name of what it is in.  `cwd` is where the host works.  `log`
    says whether each scope keeps a `log.md`, `git_commits` whether each write becomes a commit
    where the notes lie in a git repository, `review` which notes of assistants wait in the inbox
    before they count, `secrets` what becomes of keys and passwords in what is to be kept.
    `priors` are the shares by which a note is lifted whatever is asked.
    `learn` says whether recall learns from what is read.
    `journal_days` and `journal_mb` bound what is kept for undo; no days are no undo.
    `max_*` bound what assistants write, 0 is no bound.  `sources` tells of each setting who set it.
    """

    vault: Path
    state_dir: Path
    models_dir: Path
    model: str
    reranker: str
    priors: str
    learn: Literal["on", "off"]
    project: str
    session: str
    cwd: Path
    watch: Watch
    log: Literal["on", "off"]
    git_commits: Literal["on", "off"]
    review: Review
    secrets: Secrets
    log_level: str
    rescan_s: int
    journal_days: int
    journal_mb: int
    max_note_kb: int
    max_tags: int
    max_notes: int
    max_writes_a_minute: int
    sources: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class _Given:
    """A value as somebody gave it; `base` is the folder its relative path starts from."""

    value: Any
    source: str
    base: Path


def load(
    flags: Mapping[str, str | None] | None = None, env: Mapping[str, str] | None = None
) -> Config:
    """Settle all settings: flags before environment before the TOML file before defaults.

    `flags` are named like the settings, besides `config` (the TOML file) and `cwd`; None and ""
    count as not given.

    Raises:
        ConfigInvalid: Lists everything that is wrong, each with where it was set.
    """
    env = os.environ if env is None else env
    flags = {name: value for name, value in (flags or {}).items() if value}
    problems = [f"--{n}: no such setting" for n in flags if n not in (*SETTINGS, *_FLAGS_ONLY)]
    given = _from_file(flags, env, problems) | _from_environment(env) | _from_flags(flags)
    given = _hints(env) | given
    values = {name: _settle(name, given, problems) for name in SETTINGS}
    values["cwd"], sources = _cwd(flags, env, problems), {n: g.source for n, g in given.items()}
    if values["vault"]:
        _place_state(values)
        problems += _misplaced(values, sources)
    if values["git_commits"] == "on" and values["journal_days"] == 0:
        problems.append(f"{sources.get('git_commits')}: needs a journal; set journal_days above 0")
    if problems:
        raise ConfigInvalid(problems)
    names = [f.name for f in fields(Config) if f.name != "sources"]
    sources = {n: sources.get(n, "default") for n in names} | {"cwd": _cwd_source(flags, env)}
    return Config(**cast(Any, values), sources=MappingProxyType(sources))


def describe(config: Config) -> list[tuple[str, str, str]]:
    """List the settings as (name, value, who set it)."""
    return [(name, str(getattr(config, name)), source) for name, source in config.sources.items()]


def config_path(env: Mapping[str, str] | None = None) -> Path:
    """Return where the TOML file is, or would be."""
    named = (os.environ if env is None else env).get("MEMORIX_CONFIG")
    if named:
        return Path(os.path.abspath(Path(named).expanduser()))  # noqa: PTH100 -- keeps symlinks
    return platformdirs.user_config_path(APP, appauthor=False) / "config.toml"


def write_setting(path: Path, key: str, value: str | int) -> None:
    """Set one key of the TOML file, which is created if need be; all other bytes stay.

    Raises:
        ConfigInvalid: The setting is unknown or its value impossible, the file is not TOML or
            cannot be written, or the key is written in a way that we cannot replace.
    """
    problems: list[str] = []
    if key not in SETTINGS or _checked(key, value, key, problems) is None:
        raise ConfigInvalid(problems or [f"{key}: no such setting"])
    path = path.resolve()  # a link to a file kept elsewhere stays a link
    text = _text(path, problems) if path.exists() else ""
    old = _parsed(text, path, problems)
    if problems:
        raise ConfigInvalid(problems)
    new = _with_key(text, key, json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f"))
    if _parsed(new, path, problems) != old | {key: value}:
        raise ConfigInvalid([f"{path}, key {key}: cannot be replaced safely. Change it by hand"])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, new.encode())
    except OSError as error:
        raise ConfigInvalid([f"{path}: cannot be written ({error})"]) from error


# -- where values come from


def _from_file(
    flags: Mapping[str, str | None], env: Mapping[str, str], problems: list[str]
) -> dict[str, _Given]:
    named = flags.get("config") or env.get("MEMORIX_CONFIG")
    try:
        path = config_path({"MEMORIX_CONFIG": named} if named else {})
        missing = not path.exists()
    except (OSError, RuntimeError, ValueError) as error:
        problems.append(f"{named}: no path of a configuration file ({error})")
        return {}
    if missing:
        if named:
            problems.append(f"{path}: there is no such configuration file")
        return {}
    table = _parsed(_text(path, problems), path, problems)
    problems += [_unknown(path, key) for key in table if key not in SETTINGS]
    given = {
        key: _Given(value, f"{path}, key {key}", path.parent)
        for key, value in table.items()
        if key in SETTINGS
    }
    return {key: g for key, g in given.items() if _has_its_type(key, g, problems)}


def _text(path: Path, problems: list[str]) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.append(f"{path}: cannot be read ({error})")
        return ""


def _parsed(text: str, path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        hint = ". Write paths with backslashes in 'single quotes'" if "\\" in text else ""
        problems.append(f"{path}: is not TOML ({error}){hint}")
        return {}


def _unknown(path: Path, key: str) -> str:
    near = get_close_matches(key, SETTINGS, 1)
    return f"{path}, key {key}: no such setting" + (f". Do you mean {near[0]}?" if near else "")


def _has_its_type(key: str, given: _Given, problems: list[str]) -> bool:
    wanted = SETTINGS[key]
    if type(given.value) is wanted:
        return _checked(key, given.value, given.source, problems) is not None
    what = "a text in quotes" if wanted is str else "a whole number"
    problems.append(f"{given.source}: must be {what}, not {given.value!r}")
    return False


def _from_environment(env: Mapping[str, str]) -> dict[str, _Given]:
    here = _here()
    variables = {name: f"MEMORIX_{name.upper()}" for name in SETTINGS}
    return {n: _Given(env[v], v, here) for n, v in variables.items() if env.get(v, "").strip()}


def _hints(env: Mapping[str, str]) -> dict[str, _Given]:
    """Return what hosts say of themselves in variables of their own."""
    named = next((name for name in _SESSIONS if _PLAIN_ID.fullmatch(env.get(name, ""))), "")
    return {"session": _Given(env[named], named, _here())} if named else {}


def _from_flags(flags: Mapping[str, str | None]) -> dict[str, _Given]:
    here = _here()
    return {
        name: _Given(value, "--" + name.replace("_", "-"), here)
        for name, value in flags.items()
        if name in SETTINGS
    }


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # deleted under us; home is no project, so nothing is mixed up
        return Path.home()


# -- what they mean


def _settle(name: str, given: Mapping[str, _Given], problems: list[str]) -> Any:
    """Return the value of a setting; None where it is wrong, or is a folder we have to choose."""
    found = given.get(name)
    if found is None and name not in DEFAULTS:
        return None
    found = found or _Given(DEFAULTS[name], "default", _here())
    value = _checked(name, found.value, found.source, problems)
    if value is None or name not in ("vault", "state_dir", "models_dir"):
        return value
    return _folder(str(value), found, problems)


def _checked(name: str, value: object, source: str, problems: list[str]) -> str | int | None:
    """Return the value in its one spelling, or None after noting what is wrong with it."""
    result = checked(name, value)
    if isinstance(result, Wrong):
        problems.append(f"{source}: {result.why}, not {value!r}")
        return None
    return result


# -- folders


def _folder(text: str, given: _Given, problems: list[str]) -> Path | None:
    """Return the real path: it decides which index belongs to a vault, however it is spelled."""
    try:
        path = (given.base / Path(text).expanduser()).resolve()
        if path.exists() and not path.is_dir():
            problems.append(f"{given.source}: {path} is not a folder")
            return None
        return path
    except (OSError, RuntimeError, ValueError) as error:
        problems.append(f"{given.source}: {text!r} is no usable path ({error})")
        return None


def _cwd(flags: Mapping[str, str | None], env: Mapping[str, str], problems: list[str]) -> Path:
    source = _cwd_source(flags, env)
    text = flags.get("cwd") if source == "--cwd" else env.get(source)
    if not text:
        return _here()
    found = _folder(text, _Given(text, source, _here()), problems)
    if found and not found.is_dir():
        problems.append(f"{source}: there is no folder {found}")
    return found or _here()


def _cwd_source(flags: Mapping[str, str | None], env: Mapping[str, str]) -> str:
    if flags.get("cwd"):
        return "--cwd"
    if env.get("MEMORIX_PROJECT_DIR"):
        return "MEMORIX_PROJECT_DIR"
    # Another tool's variable is a hint: what it names may lie on another machine.
    hint = env.get("CLAUDE_PROJECT_DIR", "")
    return "CLAUDE_PROJECT_DIR" if hint and os.path.isdir(hint) else "default"  # noqa: PTH112 -- bears NUL


def _place_state(values: dict[str, Any]) -> None:
    data = platformdirs.user_data_path(APP, appauthor=False)
    values["state_dir"] = values["state_dir"] or data / "vaults" / _state_name(values["vault"])
    values["models_dir"] = values["models_dir"] or data / "models"


def _state_name(vault: Path) -> str:
    """Name the state of a vault readably; different vaults never share it."""
    identity = os.path.normcase(vault)
    if sys.platform == "darwin":  # both spellings open the same folder there
        identity = unicodedata.normalize("NFC", identity).casefold()
    mark = hashlib.blake2b(os.fsencode(identity), digest_size=5).hexdigest()
    readable = re.sub(r"[^A-Za-z0-9]+", "-", vault.name)[:40].strip("-").lower()
    return f"{readable or 'vault'}-{mark}"


def _misplaced(values: Mapping[str, Any], sources: Mapping[str, str]) -> list[str]:
    """Say which folders lie where they would be synced or indexed as if they were notes."""
    vault: Path = values["vault"]
    found = [
        f"{sources.get(name, name)}: {values[name]} must lie outside the vault {vault}"
        for name in ("state_dir", "models_dir")
        if values[name].resolve().is_relative_to(vault)
    ]
    if vault == Path.home().resolve() or vault.parent == vault:
        return [
            f"{sources.get('vault', 'vault')}: {vault} cannot be the vault. Name a folder in it"
        ]
    return found


# -- changing the file


def _with_key(text: str, key: str, value: str) -> str:
    """Return the text with the key's value replaced, or with a line for it above all tables."""
    end = "\r\n" if "\r\n" in text else "\n"
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    top = next((n for n, line in enumerate(lines) if _TABLE.match(line)), len(lines))
    spelled = re.compile(rf"""(\ufeff?\s*(?:{key}|"{key}"|'{key}')\s*=\s*){_VALUE}(?=\s*(?:#|$))""")
    for number, line in enumerate(lines[:top]):
        if found := spelled.match(line):
            lines[number] = found[1] + value + line[found.end() :]
            return "".join(lines)
    if top < len(lines):
        while top and lines[top - 1].lstrip().startswith("#"):
            top -= 1  # a comment right above a table is the table's
    if top and not lines[top - 1].endswith("\n"):
        lines[top - 1] += end
    return "".join([*lines[:top], f"{key} = {value}{end}", *lines[top:]])
