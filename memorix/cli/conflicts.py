"""The commands of notes that two machines changed at once: list them, show them, merge them."""

from typing import Annotated

import typer

from memorix.cli.frame import AsJson, opened, shown
from memorix.errors import InvalidRequest

app = typer.Typer(help="Merge conflict copies that sync services left, and what git has marked.")

UNDECIDED = 1
# Exit code where both sides changed the same passage and nobody said which counts.

Path = Annotated[str, typer.Argument(help="The note or its copy, by path; or the note's id.")]
Paths = Annotated[list[str] | None, typer.Argument(help="Notes or copies; else all there are.")]


@app.callback(invoke_without_command=True)
def conflicts(ctx: typer.Context, as_json: AsJson = False) -> None:
    if ctx.invoked_subcommand is None:
        list_conflicts(as_json)


@app.command("list")
def list_conflicts(as_json: AsJson = False) -> None:
    """List the notes of which there are two versions."""
    from memorix import diverged, told

    with opened() as memory:
        listed = diverged.found(memory)
        counts = [diverged.differences(one, diverged.versions(memory, one)) for one in listed]
    shown(told.diverged(listed, counts), told.diverged_text(listed, counts), as_json)


@app.command()
def show(path: Path, as_json: AsJson = False) -> None:
    """Show how the second version differs from the first, and what is known of their beginning."""
    from memorix import diverged, told

    with opened() as memory:
        listed = diverged.found(memory, path)
        sides = [diverged.versions(memory, one) for one in listed]
        diffs = [diverged.differences(*pair) for pair in zip(listed, sides, strict=True)]
    known = [one.known_from for one in sides]
    data = told.diverged(listed, diffs, known)
    shown(data, told.differences_text(listed, diffs, known), as_json)


@app.command()
def merge(
    paths: Paths = None,
    write: Annotated[bool, typer.Option("--write", help="Do it; else it is only shown.")] = False,
    take: Annotated[
        str,
        typer.Option("--take", help="Where both changed a passage: ours (the note), or theirs."),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Make one note of two versions, by keys and lines; the copy is archived, undo brings it back.

    Ends with 1 where both changed the same passage; that note and its copy stay as they are.
    """
    from memorix import diverged, told

    if take and take not in diverged.SIDES:
        raise InvalidRequest(f"--take is ours, the note, or theirs, its copy; not {take!r}.")
    with opened() as memory:
        # All are found before one is written, and a note named together with its copy but once.
        named = (one for path in paths or [""] for one in diverged.found(memory, path))
        listed = list(dict.fromkeys(named))
        done = [diverged.merge(memory, one, take, write=write) for one in listed]
    shown(told.merged(done), told.merged_text(done), as_json)
    if any(one.conflicts for one in done):
        raise typer.Exit(UNDECIDED)
