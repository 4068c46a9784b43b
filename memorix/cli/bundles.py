"""The commands of whole bundles: check them, take them in."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memorix.cli.frame import AsJson, ScopeOption, keys_given, opened, progress, shown
from memorix.errors import InvalidRequest

if TYPE_CHECKING:
    from memorix.exchange.reading import Source
    from memorix.importers.base import Importer
    from memorix.results import Taken

app = typer.Typer()

CLEAN, ODD, NOT_CONFORMANT = 0, 1, 2
# Exit codes of `check`: the last two tell a script how much is wrong.


@app.command()
def check(
    path: Annotated[
        Path | None, typer.Argument(help="A bundle: a folder, .zip or .tar.gz; else the vault's.")
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Show the repairs there are, as a diff.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="With --fix: make them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check bundles against the Open Knowledge Format; writes nothing unless told.

    Ends with 0 where all are clean, 1 where there are findings, 2 where one is not conformant.
    """
    from memorix import answers, checking

    reports: dict[str, checking.Report] = {}
    change = ""
    for name, root, source in _bundles(path):
        files: Mapping[str, bytes] = source.files
        if fix:
            proposed = checking.repairs(files)
            _show_repairs(proposed, files, to_stderr=as_json)
            if write and path is None:
                change = _mended(name, proposed, files, change)
            elif write:
                _write_repairs(root, proposed, files)
            files = {**files, **proposed} if write else files
        reports[name] = checking.check(files, source.others)
        for skipped, reason in source.skipped:
            print(f"{skipped}: not read, {reason}", file=sys.stderr)
    data = {"bundles": [answers.checked(report, name) for name, report in reports.items()]}
    lines = [answers.checked_text(report, name) for name, report in reports.items()]
    shown(data, "\n".join(lines), as_json)
    raise typer.Exit(max((_exit_code(r.conformant, r.clean) for r in reports.values()), default=0))


@app.command("import")
def take_in(
    source: Annotated[
        Path, typer.Argument(help="A folder, archive or file; its format is recognised.")
    ],
    scope: Annotated[
        str, typer.Option("--scope", "-s", "--into", help="project, user, or a project's name.")
    ] = "",
    named: Annotated[
        str, typer.Option("--format", help="Its format, where it is not recognised.")
    ] = "",
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", help="PART=FIELD of JSON Lines or CSV, such as body=memo."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace notes that differ; else they stay.")
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Take all as it is, also who verified it.")
    ] = False,
    review: Annotated[
        bool, typer.Option("--review", help="Into the inbox; `memorix inbox` settles it.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Also what was forgotten for good.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take in the notes of a bundle, or the memory of another program; twice changes nothing."""
    from memorix import answers
    from memorix.importers import formats

    importer = formats.choose(source, named, keys_given(mapping))
    how = {"review": review, "replace": replace, "again": again, "dry_run": dry_run}
    if importer is None:
        done = _taken_bundle(source, scope, trust=trust, **how)
    elif trust:
        raise InvalidRequest(
            f"--trust takes a bundle as it is; this is {importer.name}. Leave it out, or say "
            "--format okf. Nothing was taken in."
        )
    else:
        done = _taken_records(importer, source, scope, how)
    data = answers.taken_in(done, dry_run=dry_run)
    data["format"] = importer.name if importer else formats.OKF
    shown(data, answers.taken_in_text(done, dry_run=dry_run), as_json)
    if any(taken.status in ("refused", "unreadable") for taken in done):
        raise typer.Exit(ODD)


def _taken_bundle(
    source: Path,
    scope: str,
    *,
    trust: bool,
    review: bool,
    replace: bool,
    again: bool,
    dry_run: bool,
) -> "list[Taken]":
    """Take in Markdown as it is."""
    from memorix import held, intake, transfer
    from memorix.layout import folder_of
    from memorix.results import Taken

    found, done = _read(source), list[Taken]()
    with opened() as memory, progress() as bars:
        bar = bars("import")
        whole = intake.is_vault(found.files) and not scope and not review
        root = "" if whole else folder_of(memory.places.to_write(scope))
        root = held.inbox_of(root) if review else root
        files = intake.incoming(found.each(), root, found.name, trusted=trust)
        how = {"replace": replace, "again": again, "dry_run": dry_run}
        for taken in transfer.take_in(memory, files, **how):
            done.append(taken)
            bar(len(done), len(found.files))
    return [*done, *(Taken(path, "unreadable", reason) for path, reason in found.skipped)]


def _taken_records(
    importer: "Importer", source: Path, scope: str, how: Mapping[str, bool]
) -> "list[Taken]":
    """Take in what another program keeps, a note for each of its records."""
    from memorix import importing

    with opened() as memory, progress() as bars:
        place = memory.places.to_write(scope)
        job = importing.Import(importer.name, source.resolve().name, place, **how)
        bar = bars(f"import {importer.name}")
        return list(importing.take_in(memory, lambda: importer.read(source), job, bar))


@app.command("index")
def write_indexes(scope: ScopeOption = "") -> None:
    """Write the index.md files of a scope, for people and other tools; hand-made ones stay."""
    from memorix import transfer

    with opened() as memory:
        place = memory.places.to_write(scope)
        written = transfer.write_indexes(memory, place)
    print("\n".join(f"written: {path}" for path in written) or "Nothing to write.")


def _bundles(path: Path | None) -> "Iterator[tuple[str, Path | None, Source]]":
    """Yield name, root and content of the bundle at a path, or of each scope of the vault."""
    from memorix.layout import folder_of

    if path is not None:
        yield str(path), path if path.is_dir() else None, _read(path)
        return
    with opened(catch_up=False) as memory:
        roots = [(scope, memory.store.folder(folder_of(scope))) for scope in memory.places.known()]
    for scope, root in roots:
        if root.is_dir():
            yield scope, root, _read(root)


def _show_repairs(new: Mapping[str, bytes], old: Mapping[str, bytes], *, to_stderr: bool) -> None:
    from difflib import unified_diff

    out = sys.stderr if to_stderr else sys.stdout
    for path, content in new.items():
        before, after = (text.decode("utf-8").splitlines(True) for text in (old[path], content))
        out.writelines(unified_diff(before, after, path, path))


def _mended(scope: str, new: Mapping[str, bytes], old: Mapping[str, bytes], change: str) -> str:
    from memorix import transfer

    with opened(catch_up=False) as memory:
        return transfer.mend(memory, scope, new, old, change)


def _write_repairs(root: Path | None, new: Mapping[str, bytes], old: Mapping[str, bytes]) -> None:
    """Make the repairs outside the vault, each only where the file is still as it was read."""
    from memorix.files import write_atomic

    if root is None:
        raise InvalidRequest("An archive is not written. Unpack it and check the folder.")
    for path, content in new.items():
        if (root / path).read_bytes() != old[path]:
            raise InvalidRequest(f"{path} changed meanwhile; it stays. Check again.")
        write_atomic(root / path, content)


def _read(path: Path) -> "Source":
    from memorix.exchange.reading import read

    return read(path)


def _exit_code(conformant: bool, clean: bool) -> int:
    if not conformant:
        return NOT_CONFORMANT
    return CLEAN if clean else ODD
