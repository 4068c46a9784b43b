"""The command that forgets: one note by its id, or several by what they are."""

from typing import Annotated

import typer

from memorix.cli.frame import AsJson, ScopeOption, opened, shown
from memorix.errors import InvalidRequest

app = typer.Typer()


@app.command()
def forget(
    note_id: Annotated[str, typer.Argument(metavar="[ID]", help="A note's id or path.")] = "",
    level: Annotated[str, typer.Option("--level", help="retire, archive or erase.")] = "retire",
    tags: Annotated[str, typer.Option("--tags", help="All notes with these tags.")] = "",
    type: Annotated[str, typer.Option("--type")] = "",
    scope: ScopeOption = "",
    since: Annotated[str, typer.Option(help="A date.")] = "",
    until: Annotated[str, typer.Option(help="A date.")] = "",
    author: Annotated[str, typer.Option(help="Who wrote them, as in human:dana.")] = "",
    path: Annotated[str, typer.Option(help="A path, or a folder with / at its end.")] = "",
    token: Annotated[str, typer.Option(help="What the listing of these notes gave.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    prove: Annotated[
        bool, typer.Option("--prove", help="With erase: look for what is left, in every byte.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take notes out of force (retire), out of the vault (archive), or delete them (erase).

    Several are chosen by tags, type, scope, dates, author and path; they are listed first, and the
    same command with the token of that list does it.
    """
    from memorix import answers, arguments, forgetting

    if prove:
        _prove(note_id, level, dry_run=dry_run, as_json=as_json)
        return
    which = arguments.selection_from(tags, type, scope, since, until, author, path, held=True)
    with opened() as memory:
        done = forgetting.forget(memory, note_id, level, which, token=token, dry_run=dry_run)
    shown(answers.forgotten(done), answers.forgotten_text(done), as_json)


def _prove(note_id: str, level: str, *, dry_run: bool, as_json: bool) -> None:
    from memorix import answers, proving, told

    if level != "erase" or not note_id or dry_run:
        raise InvalidRequest("Proved is that one note was erased: give its id and --level erase.")
    with opened(model=True) as memory:
        done, proof = proving.erase(memory, note_id)
    data = answers.forgotten(done) | {"proof": told.proved(proof)}
    shown(data, f"{answers.forgotten_text(done)}\n{told.proved_text(proof)}", as_json)
    if proof.left:
        raise typer.Exit(1)
