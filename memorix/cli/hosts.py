"""The commands that put Memorix into other programs, and take it out again."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorix.cli.frame import AsJson, settings, shown
from memorix.errors import HostFileRefused, InvalidRequest

if TYPE_CHECKING:
    from memorix.hosts.machine import Scope
    from memorix.installing import Installer, Plan, Seen

app = typer.Typer()

HostArguments = Annotated[
    list[str] | None, typer.Argument(metavar="HOST...", help="Their names; see install --list.")
]
EveryHost = Annotated[bool, typer.Option("--all", help="All hosts found on this machine.")]
Where = Annotated[
    str, typer.Option("--scope", help="user (everywhere), project (shared), local (yours only).")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be written.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]


@app.command()
def install(
    hosts: HostArguments = None,
    every: EveryHost = False,
    list_them: Annotated[bool, typer.Option("--list", help="List hosts, change nothing.")] = False,
    scope: Where = "user",
    rules: Annotated[
        bool, typer.Option("--rules", help="Also tell when to recall, in CLAUDE.md and the like.")
    ] = False,
    hooks: Annotated[
        bool, typer.Option("--hooks/--no-hooks", help="Brief at each start, recall at prompts.")
    ] = True,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Register the server with hosts: shows what changes in which file, then writes it."""
    from memorix import installing

    installer = _installer()
    if list_them:
        rows = list(installer.survey())
        shown([_row(row) for row in rows], "\n".join(map(_line, rows)), as_json)
        return
    chosen = installer.here() if every else installing.hosts_named(hosts or [])
    if not chosen:
        raise InvalidRequest("Name the hosts, or say --all. See memorix install --list.")
    program = installing.this_program(settings())
    plan = installer.plan_install(chosen, _scope(scope), program, rules=rules, hooks=hooks)
    _carry_out(installer, plan, dry_run=dry_run, yes=yes, as_json=as_json)
    if plan.needed and not dry_run and not as_json:
        print("\n".join(f"{host.title}: {host.next}" for host in chosen if host.next))


@app.command()
def uninstall(
    hosts: HostArguments = None,
    every: Annotated[bool, typer.Option("--all", help="All hosts.")] = False,
    scope: Annotated[str, typer.Option("--scope", help="Only this scope; else all.")] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take Memorix out of hosts; their files are as they were, notes and index stay."""
    from memorix import installing
    from memorix.hosts.catalogue import HOSTS

    chosen = list(HOSTS) if every else installing.hosts_named(hosts or [])
    if not chosen:
        raise InvalidRequest("Name the hosts, or say --all. See memorix install --list.")
    installer = _installer()
    plan = installer.plan_uninstall(chosen, _scope(scope) if scope else None)
    _carry_out(installer, plan, dry_run=dry_run, yes=yes, as_json=as_json)


def _carry_out(
    installer: "Installer", plan: "Plan", *, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Show a plan, ask, and do it; leave with the code of what was refused."""
    from memorix.hosts.planning import diff

    needed = plan.needed
    for remark in [*plan.remarks, *map(str, plan.refused)]:
        print(f"memorix: {remark}", file=sys.stderr)
    if not as_json:
        print("\n".join(diff(change, str(change.path)) for change in needed))
    written: list[Path] = []
    if not dry_run and (not needed or yes or _agreed(len(needed))):
        written = list(installer.carry_out(plan))
    lines = [f"written: {path}" for path in written]
    if not needed and not plan.refused and not plan.remarks:
        lines = ["Nothing to do."]
    shown(_report(plan, written), "\n".join(lines), as_json)
    if plan.refused or (plan.remarks and not plan.changes):
        raise typer.Exit(HostFileRefused.exit_code if plan.refused else 2)


def _agreed(files: int) -> bool:
    if not sys.stdin.isatty():
        raise InvalidRequest("Nothing was written: nobody can be asked here. Say --yes.")
    return typer.confirm(f"Write {'this file' if files == 1 else f'these {files} files'}?")


def _report(plan: "Plan", written: Iterable[Path]) -> dict[str, Any]:
    from memorix.hosts.planning import diff

    return {
        "changes": [{"path": str(c.path), "diff": diff(c, str(c.path))} for c in plan.needed],
        "written": [str(path) for path in written],
        "refused": [str(error) for error in plan.refused],
        "remarks": plan.remarks,
    }


def _installer() -> "Installer":
    from memorix import installing
    from memorix.scopes import find_project

    project = find_project(settings().cwd)
    machine = installing.this_machine(project.root if project else None)
    return installing.Installer(machine, installing.records())


def _scope(text: str) -> "Scope":
    from memorix.hosts.machine import SCOPES

    found = next((scope for scope in SCOPES if scope == text), None)
    if found is None:
        raise InvalidRequest(f"There is no scope {text!r}. Known: {', '.join(SCOPES)}.")
    return found


def _row(seen: "Seen") -> dict[str, Any]:
    return {
        "name": seen.host.name,
        "title": seen.host.title,
        "found": seen.here,
        "installed": {scope: str(path) for scope, path in seen.installed},
    }


def _line(seen: "Seen") -> str:
    state = "found" if seen.here else "-"
    places = ", ".join(f"{scope} {path}" for scope, path in seen.installed)
    return f"{seen.host.name:15} {state:6} {places}".rstrip()
