"""Put Memorix into the hosts of this machine, and take it out again without a trace."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import platformdirs

from memorix.config import APP, Config
from memorix.errors import HostFileRefused, InvalidRequest
from memorix.files import write_atomic
from memorix.hosts import planning, plugins
from memorix.hosts.base import Host
from memorix.hosts.catalogue import BY_NAME, HOSTS
from memorix.hosts.ledger import Ledger, Owner, Record
from memorix.hosts.machine import SCOPES, Machine, Program, Scope, System, Target
from memorix.hosts.planning import Change
from memorix.hosts.rules import RULES

_COMMANDS = {"memorix", "memorix-notes"}
_RUNNERS, _FLEETING = {"uv", "pipx"}, {"archive-v0", "environments-v2", ".cache"}
# Folders in which `uvx` and `pipx run` keep programs until they clean up.

_PLUGIN_DOES_IT = (
    "{host.title} has our plugin, which starts the server and the hooks by itself: nothing was "
    "written for it. To install instead, take the plugin out of {host.title} first."
)


@dataclass
class Plan:
    """What is to be written, by file; which files cannot be; and what else is to be told."""

    changes: dict[Path, Change] = field(default_factory=dict)
    refused: list[HostFileRefused] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def needed(self) -> list[Change]:
        return [change for change in self.changes.values() if change.needed]

    def now(self, path: Path) -> bytes | None:
        """Return what a file will hold once all that is planned for it so far is done."""
        planned = self.changes.get(path)
        return planned.after if planned else _read(path)


@dataclass(frozen=True, slots=True)
class Seen:
    """A host as it is now: whether it is here, and the scopes in which we are, with the files."""

    host: Host
    here: bool
    installed: tuple[tuple[Scope, Path], ...]


@dataclass(frozen=True, slots=True)
class Installer:
    """What gets us into hosts and out of them; it plans first and writes what was planned."""

    machine: Machine
    ledger: Ledger

    def here(self) -> list[Host]:
        """Return the hosts that leave signs on this machine."""
        return [host for host in HOSTS if self._is_here(host)]

    def survey(self) -> Iterator[Seen]:
        """Look at every host."""
        for host in HOSTS:
            yield Seen(host, self._is_here(host), tuple(self._installed(host)))

    def entry(self, host: Host, scope: Scope, path: Path) -> Mapping[str, Any]:
        """Return what a host's settings say of our server; empty where that cannot be read."""
        with suppress(HostFileRefused):
            _, text = planning.decoded(path, _read(path))
            with planning.refusing(path):
                entry = host.server(self.machine, scope, text, Program("")).read(text)
            return entry if isinstance(entry, dict) else {}
        return {}

    def hooks(self, host: Host, program: Program) -> Iterator[tuple[Scope, Path, bool]]:
        """Yield where a host has hooks of ours, and whether an install would leave them so."""
        for scope in self._scopes(host):
            found = host.hooks and host.hooks.target(self.machine, scope, program, host.name)
            if not found:
                continue
            with suppress(HostFileRefused), planning.refusing(found.path):
                _, text = planning.decoded(found.path, _read(found.path))
                if any(edit.held(text) for edit in found.edits):
                    yield scope, found.path, all(edit.put(text) == text for edit in found.edits)

    def has_plugin(self, host: Host) -> bool:
        """Say whether a host has our plugin, switched on."""
        known = [t for t in host.plugins if self.machine.project or "{project}" not in t]
        for path in self.machine.places(known):
            with suppress(HostFileRefused):
                if plugins.is_enabled(path.name, (_read(path) or b"").decode("utf-8", "replace")):
                    return True
        return False

    def plan_install(
        self,
        hosts: Iterable[Host],
        scope: Scope,
        program: Program,
        *,
        rules: bool = False,
        hooks: bool = True,
    ) -> Plan:
        """Plan to put our server and our hooks into hosts, and our rules where they are wanted.

        Raises:
            InvalidRequest: The scope needs a project, and this is none.
        """
        if scope != "user" and self.machine.project is None:
            raise InvalidRequest("This folder is no project. Go to one, or use --scope user.")
        plan = Plan()
        for host in hosts:
            if scope not in host.files:
                plan.remarks.append(f"{host.title} has no settings for the scope {scope}.")
                continue
            if self.has_plugin(host):
                plan.remarks.append(_PLUGIN_DOES_IT.format(host=host))
                continue
            self._plan_host(plan, host, scope, program)
            if hooks and host.hooks:
                found = host.hooks.target(self.machine, scope, program, host.name)
                self._plan_target(plan, found, self._owner(host, scope))
            if rules:
                self._plan_rules(plan, host, scope)
        return plan

    def plan_uninstall(self, hosts: Iterable[Host], scope: Scope | None = None) -> Plan:
        """Plan to take all that is ours out of hosts, in one scope or in all.

        What we wrote is found by our records, in whatever project; an entry that a person made is
        found in the hosts' own files.
        """
        plan, hosts = Plan(), list(hosts)
        names = {host.name for host in hosts}
        for record in self.ledger.records():
            owners = [o for o, _ in record.held if o.host in names and scope in (None, o.scope)]
            if owners:
                self._plan_recorded(plan, record, owners)
        for host in hosts:
            for place in self._scopes(host):
                if scope in (None, place):
                    self._plan_unrecorded(plan, host, place)
        return plan

    def carry_out(self, plan: Plan) -> Iterator[Path]:
        """Write what is planned, file by file; yield those written.  What was refused stays.

        Raises:
            HostFileRefused: A file changed since the plan, or cannot be written; what comes after
                it is not written either.
        """
        made: set[str] = set()
        for change in plan.changes.values():
            try:
                made.update(self._write(change))
            except OSError as error:
                reason = f"it cannot be written ({error.strerror})"
                raise HostFileRefused(change.path, 0, reason) from error
            if change.needed:
                yield change.path
        _remove_empty(made)

    # -- looking

    def _is_here(self, host: Host) -> bool:
        path = self.machine.env.get("PATH")
        return any(sign.exists() for sign in self.machine.places(host.signs)) or any(
            shutil.which(program, path=path) for program in host.programs
        )

    def _installed(self, host: Host) -> Iterator[tuple[Scope, Path]]:
        for scope in self._scopes(host):
            target = host.settings(self.machine, scope)
            with suppress(HostFileRefused):
                content = _read(target) if target else None
                if target and content is not None and self._holds(host, scope, target, content):
                    yield scope, target

    def _holds(self, host: Host, scope: Scope, path: Path, content: bytes) -> bool:
        _, text = planning.decoded(path, content)
        with planning.refusing(path):
            return host.server(self.machine, scope, text, Program("")).held(text)

    def _scopes(self, host: Host) -> list[Scope]:
        return [s for s in SCOPES if s in host.files and (s == "user" or self.machine.project)]

    # -- planning

    def _plan_host(self, plan: Plan, host: Host, scope: Scope, program: Program) -> None:
        path = host.settings(self.machine, scope)
        assert path is not None, "the scope is among the host's files"
        try:
            _, text = planning.decoded(path, plan.now(path))
            with planning.refusing(path):
                entry = host.server(self.machine, scope, text, program)
            self._add(plan, Target(path, (entry,)), self._owner(host, scope))
        except HostFileRefused as error:
            plan.refused.append(error)

    def _plan_rules(self, plan: Plan, host: Host, scope: Scope) -> None:
        target = host.instructions(self.machine, scope, RULES)
        if target is None:
            where = f"for the scope {scope}"
            plan.remarks.append(f"{host.title} has no file of instructions {where}.")
        self._plan_target(plan, target, self._owner(host, scope))

    def _plan_target(self, plan: Plan, target: Target | None, owner: Owner) -> None:
        try:
            if target:
                self._add(plan, target, owner)
        except HostFileRefused as error:
            plan.refused.append(error)

    def _add(self, plan: Plan, target: Target, owner: Owner) -> None:
        planned = plan.changes.get(target.path)
        known = planned.record if planned else self.ledger.get(target.path)
        now = plan.now(target.path)
        change = planning.to_install(target.path, now, target.edits, owner, known)
        plan.changes[target.path] = replace(change, before=planned.before) if planned else change

    def _owner(self, host: Host, scope: Scope) -> Owner:
        return Owner(host.name, scope, "" if scope == "user" else str(self.machine.project))

    def _plan_recorded(self, plan: Plan, record: Record, owners: Sequence[Owner]) -> None:
        try:
            now = _read(record.path)
            plan.changes[record.path] = planning.to_uninstall(record.path, now, owners, record)
        except HostFileRefused as error:
            plan.refused.append(error)

    def _plan_unrecorded(self, plan: Plan, host: Host, scope: Scope) -> None:
        path = host.settings(self.machine, scope)
        if path is None or path in plan.changes or self.ledger.get(path):
            return
        try:
            now = _read(path)
            if now is not None and self._holds(host, scope, path, now):
                _, text = planning.decoded(path, now)
                entry = host.server(self.machine, scope, text, Program(""))
                plan.changes[path] = planning.to_take_out(path, now, [entry])
        except HostFileRefused as error:
            plan.refused.append(error)

    # -- doing

    def _write(self, change: Change) -> tuple[str, ...]:
        """Write a file and its record; return the folders that were made for one taken away."""
        path = change.path.resolve()  # a link to a file kept elsewhere stays a link
        if _read(path) != change.before:
            raise HostFileRefused(change.path, 0, "it was changed meanwhile by another program")
        made = tuple(str(f) for f in reversed(path.parents) if not f.exists())
        old = self.ledger.get(change.path)
        if change.record:  # first: were we to die now, what is in the file is known to be ours
            self.ledger.keep(replace(change.record, made=change.record.made or made))
        if change.needed and change.after is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, change.after)
        elif change.needed:
            path.unlink()
        if change.record:
            return ()
        self.ledger.drop(change.path)
        return old.made if old else ()


# -- what this machine is


def records() -> Ledger:
    """Return the records of this user, which belong to no vault."""
    return Ledger(platformdirs.user_data_path(APP, appauthor=False) / "hosts")


def this_machine(project: Path | None) -> Machine:
    """Return this computer; `project` is the root of the project worked on."""
    systems: dict[str, System] = {"win32": "windows", "darwin": "darwin"}
    return Machine(systems.get(sys.platform, "linux"), Path.home(), project, os.environ)


def this_program(config: Config) -> Program:
    """Return how a host starts us, which hears nothing of this shell.

    Raises:
        InvalidRequest: We run from a cache, which will be emptied.
    """
    parts = set(Path(sys.prefix).parts)
    if parts & _RUNNERS and parts & _FLEETING:
        raise InvalidRequest(
            "This memorix runs from a cache that is emptied now and then. Install it, as with "
            "`uv tool install memorix-notes`, then try again."
        )
    said_here = config.sources["vault"] in ("--vault", "MEMORIX_VAULT")
    options = ("--vault", str(config.vault)) if said_here else ()
    script = Path(sys.argv[0]).absolute()
    if script.stem in _COMMANDS and (found := shutil.which(script)):
        return Program(found, options)
    return Program(sys.executable, ("-m", "memorix", *options))


def hosts_named(names: Iterable[str]) -> list[Host]:
    """Return the hosts with these names.

    Raises:
        InvalidRequest: There is none of that name.
    """
    names = list(names)
    unknown = [name for name in names if name not in BY_NAME]
    if unknown:
        raise InvalidRequest(
            f"There is no host {unknown[0]!r}. Nothing was changed. Known: {', '.join(BY_NAME)}."
        )
    return [BY_NAME[name] for name in names]


def _remove_empty(made: Iterable[str]) -> None:
    for folder in sorted(made, key=len, reverse=True):
        with suppress(OSError):
            Path(folder).rmdir()


def _read(path: Path) -> bytes | None:
    """Return a file's bytes; None where there is none.

    Raises:
        HostFileRefused: It is there and cannot be read.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise HostFileRefused(path, 0, f"it cannot be read ({error.strerror})") from error
