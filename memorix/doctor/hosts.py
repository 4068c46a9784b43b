"""Look at the hosts of this machine: what they start as us, and whether their hooks run."""

import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from memorix import served
from memorix.config import Config
from memorix.doctor.base import FAILED, OK, WARNING, Check
from memorix.hooks import desk
from memorix.hosts.base import Host
from memorix.hosts.machine import Program
from memorix.hosts.plugins import PROGRAM
from memorix.installing import Installer, Seen, records, this_machine, this_program
from memorix.memory import Memory

_URLS = ("url", "serverUrl", "httpUrl")
# How hosts call the address of a server that they do not start themselves.


def _hosts(memory: Memory, config: Config) -> Iterator[Check]:
    installer, ours = _installer(memory), this_program(config).path
    for seen in installer.survey():
        for scope, path in seen.installed:
            entry = installer.entry(seen.host, scope, path)
            mend = f"memorix install {seen.host.name} --scope {scope}"
            url = next((str(entry[key]) for key in _URLS if key in entry), "")
            verdict, said, mend = _reached(url) if url else (*_started(entry, ours), mend)
            yield Check(seen.host.name, verdict, f"{path} {said}", "" if verdict == OK else mend)


def _started(entry: Mapping[str, Any], ours: str) -> tuple[str, str]:
    named = entry.get("command")
    command = str((named[0] if named else "") if isinstance(named, list) else named or "")
    said = f"starts {command or 'nothing'}"
    if shutil.which(command) is None:
        return FAILED, f"{said}, which is not there"
    return (OK, said) if command == ours else (WARNING, f"{said}, another one than this")


def _reached(url: str) -> tuple[str, str, str]:
    if served.health(url) == "ok":
        return OK, f"uses {url}, which answers", ""
    return FAILED, f"uses {url}, where no sound server of ours answers", "memorix serve --http"


def _plugins(memory: Memory, config: Config) -> Iterator[Check]:
    """Tell of plugins, and of hosts that have what `install` writes besides."""
    installer, program = _installer(memory), this_program(config)
    for seen in installer.survey():
        if not installer.has_plugin(seen.host):
            continue
        path = shutil.which(PROGRAM.path)
        said = f"has our plugin, which starts {path or PROGRAM.path}"
        verdict = OK if path else FAILED
        mend = "" if path else "uv tool install memorix-notes, where your PATH leads"
        yield Check(seen.host.name, verdict, said if path else f"{said}, which is not there", mend)
        yield from _twice(installer, seen, program)


def _twice(installer: Installer, seen: Seen, program: Program) -> Iterator[Check]:
    """Tell in which scopes a host with our plugin has what an install writes besides."""
    servers = [(scope, f"the server in {path}") for scope, path in seen.installed]
    hooks = [(s, f"hooks in {path}") for s, path, _ in installer.hooks(seen.host, program)]
    for scope in dict.fromkeys(scope for scope, _ in (*servers, *hooks)):
        found = " and ".join(what for place, what in (*servers, *hooks) if place == scope)
        said = f"has our plugin, and besides {found}: it runs us twice"
        mend = f"memorix uninstall {seen.host.name} --scope {scope}"
        yield Check(seen.host.name, WARNING, said, mend)


def _hooks(memory: Memory, config: Config) -> Iterator[Check]:
    """Tell of hooks that are not as an install leaves them, and of each host when one ran last."""
    installer, program = _installer(memory), this_program(config)
    runs, expected = _last_runs(), dict[str, Host]()
    for seen in installer.survey():
        found = list(installer.hooks(seen.host, program))
        for scope, path, in_step in found:
            if not in_step:
                said = f"{path} has hooks of another program, version or vault"
                mend = f"memorix install {seen.host.name} --scope {scope}"
                yield Check("hooks", WARNING, said, mend)
        if seen.host.hooks and (found or installer.has_plugin(seen.host)):
            expected.setdefault(seen.host.hooks.told or seen.host.name, seen.host)
    for at, which in sorted(runs.values()):
        yield Check("hooks", OK, f"last run {_moment(at)}: {which}")
    for name, host in expected.items():
        if name not in runs:
            mend = "start a session in it; if it asks, trust the hooks"
            yield Check("hooks", WARNING, f"{host.title} has hooks, and none has run yet", mend)


def _last_runs() -> dict[str, tuple[int, str]]:
    """Return when a hook of each host ran last, and which."""
    newest: dict[str, tuple[int, str]] = {}
    for which, at in desk.last_runs().items():
        name = which.partition(" ")[0]
        newest[name] = max(newest.get(name, (0, "")), (at, which))
    return newest


def _failures(memory: Memory, config: Config) -> Iterator[Check]:
    """Tell of each hook whose last run failed."""
    runs = desk.last_runs()
    newest = {which: (at, said) for at, which, said in desk.errors()}
    for which, (at, said) in newest.items():
        if at >= runs.get(which, 0):
            mend = "tell it as an issue if it comes again; the session was not held up"
            yield Check("hooks", WARNING, f"failed {_moment(at)}: {which}: {said}", mend)


def _installer(memory: Memory) -> Installer:
    project = memory.places.project
    return Installer(this_machine(project.root if project else None), records())


def _moment(at: int) -> str:
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M")


LOOKS = (_hosts, _plugins, _hooks, _failures)
