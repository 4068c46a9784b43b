"""The commands of what was written: look at it, take it back, bring a version back."""

from typing import Annotated

import typer

from memorix.cli.frame import AsJson, opened, shown

app = typer.Typer()


@app.command()
def undo(
    wanted: Annotated[
        str, typer.Argument(metavar="[ID]", help="A change or a note; else the latest change.")
    ] = "",
    last: Annotated[int, typer.Option("--last", min=1, help="So many of the latest changes.")] = 1,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take back what a tool or a command wrote; to undo an undo is to redo."""
    from memorix import history, told

    with opened() as memory:
        done = history.undo(memory, wanted, last=last, dry_run=dry_run)
    shown(told.undone(done), told.undone_text(done), as_json)


@app.command("history")
def show_history(
    note_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="A note's id or path; else the latest changes.")
    ] = "",
    diff: Annotated[bool, typer.Option("--diff", help="Show what each version changed.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1)] = 20,
    as_json: AsJson = False,
) -> None:
    """List the versions of a note, or the latest changes of all: when, who, what."""
    from memorix import history, told

    with opened() as memory:
        if not note_id:
            listed = history.changes(memory, limit)
            shown(told.changes(listed), told.changes_text(listed), as_json)
            return
        found = history.versions_of(memory, note_id)
        diffs = list(history.differences(memory, found)) if diff else []
    found, diffs = found[-limit:], diffs[-limit:]
    shown(told.versions(found, diffs), told.versions_text(found, diffs), as_json)


@app.command()
def restore(
    note_id: Annotated[
        str, typer.Argument(metavar="[ID]", help="A note's id or path; else lists the archive.")
    ] = "",
    version: Annotated[
        str, typer.Option("--version", "-v", help="The beginning of a version's etag.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Bring a note back: from the archive, into force, or an earlier version of it."""
    from memorix import answers, forgetting, history, told

    with opened() as memory:
        if not note_id:
            listed = forgetting.archived(memory)
            shown(told.archived(listed), told.archived_text(listed), as_json)
        elif version:
            back = history.bring_back(memory, note_id, version)
            shown(told.restored(back), told.restored_text(back), as_json)
        else:
            done = forgetting.restore(memory, note_id)
            shown(answers.written(done), answers.written_text(done), as_json)
