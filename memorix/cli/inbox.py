"""The commands of the inbox: look through what was suggested, accept it or turn it down."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorix.cli import notes
from memorix.cli.frame import AsJson, NoteIdArgument, ScopeOption, flags, opened, shown
from memorix.errors import InvalidRequest, MemorixError

if TYPE_CHECKING:
    from memorix.memory import Memory

app = typer.Typer(help="Review the suggested memories that wait in the inbox.")

Ids = Annotated[list[str] | None, typer.Argument(help="Ids or paths of suggestions.")]
All = Annotated[bool, typer.Option("--all", help="Every suggestion of the scope.")]


@app.callback(invoke_without_command=True)
def inbox(ctx: typer.Context, scope: ScopeOption = "", as_json: AsJson = False) -> None:
    if ctx.invoked_subcommand is None:
        list_suggestions(scope, as_json)


@app.command("list")
def list_suggestions(scope: ScopeOption = "", as_json: AsJson = False) -> None:
    """List what waits for review, newest first."""
    from memorix import answers, capturing, inbox

    capturing.take_in(flags)
    with opened() as memory:
        waiting = inbox.suggestions(memory, scope)
    shown(answers.suggestions(waiting), answers.suggestions_text(waiting), as_json)


@app.command()
def show(note_id: NoteIdArgument, as_json: AsJson = False) -> None:
    """Show a suggestion whole, and the notes it resembles."""
    from memorix import answers, inbox

    with opened() as memory:
        found = memory.read(note_id)
        near = inbox.resembling(memory, found.note, found.scope)
    data = answers.reading(found) | {"near": answers.nearest(near)}
    text = "\n".join([answers.reading_text(found).rstrip("\n"), "", *answers.near_text(near)])
    shown(data, text.rstrip("\n"), as_json)


@app.command()
def accept(
    ids: Ids = None, every: All = False, scope: ScopeOption = "", as_json: AsJson = False
) -> None:
    """Make suggestions notes that count; each keeps its id."""
    from memorix import answers, inbox

    def one(memory: "Memory", note_id: str) -> tuple[dict[str, Any], str]:
        done = inbox.accept(memory, note_id)
        return answers.written(done), answers.written_text(done)

    _settle("accepted", one, ids, every, scope, as_json)


@app.command()
def reject(
    ids: Ids = None, every: All = False, scope: ScopeOption = "", as_json: AsJson = False
) -> None:
    """Turn suggestions down; they are removed."""
    from memorix import answers, inbox

    def one(memory: "Memory", note_id: str) -> tuple[dict[str, Any], str]:
        done = inbox.reject(memory, note_id)
        return answers.forgotten(done), answers.forgotten_text(done)

    _settle("rejected", one, ids, every, scope, as_json)


app.command("edit")(notes.edit)


def _settle(
    verb: str,
    one: "Callable[[Memory, str], tuple[dict[str, Any], str]]",
    ids: list[str] | None,
    every: bool,
    scope: str,
    as_json: bool,
) -> None:
    """Do to each suggestion what `one` does; what cannot be done is said, and the rest goes on."""
    from memorix import inbox

    if bool(ids) == every:
        raise InvalidRequest("Name the suggestions by their ids, or say --all.")
    data: list[dict[str, Any]] = []
    texts: list[str] = []
    failed: list[tuple[str, MemorixError]] = []
    with opened() as memory:
        for note_id in ids or [found.id for found in inbox.suggestions(memory, scope)]:
            try:
                done, text = one(memory, note_id)
            except MemorixError as error:
                failed.append((note_id, error))
                continue
            data.append(done)
            texts.append(text)
    refused = [{"id": note_id, "message": str(error)} for note_id, error in failed]
    shown({verb: data, "failed": refused}, "\n".join(texts or [f"Nothing was {verb}."]), as_json)
    for note_id, refusal in failed:
        print(f"{note_id}: {refusal}", file=sys.stderr)
    if failed:
        raise typer.Exit(failed[0][1].exit_code)
