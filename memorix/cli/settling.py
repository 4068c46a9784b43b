"""The commands by which a person says how notes stand: replaced, disputed, summed up, confirmed."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memorix.cli.frame import (
    AsJson,
    NoteIdArgument,
    SetOption,
    keys_given,
    opened,
    person,
    shown,
)

if TYPE_CHECKING:
    from memorix.memory import Memory
    from memorix.settling import Revision

app = typer.Typer()

DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")]
OthersArgument = Annotated[list[str], typer.Argument(help="Other notes, by id or path.")]
TextOption = Annotated[str, typer.Option("--text", help="The new text; - reads stdin.")]


@app.command()
def supersede(
    note_id: NoteIdArgument,
    text: TextOption = "",
    by: Annotated[str, typer.Option("--by", help="The note that takes its place.")] = "",
    set_keys: SetOption = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Put a text, or a note that is there, in the place of a note, which stays readable."""
    from memorix.arguments import revision_from

    revision = revision_from(
        _text(text), set=keys_given(set_keys), supersede=by or "true", author=person()
    )
    with opened() as memory:
        _settle(memory, note_id, revision, dry_run=dry_run, as_json=as_json)


@app.command()
def contest(
    note_id: NoteIdArgument,
    others: OthersArgument,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Mark notes that disagree, on both sides; recall shows all of them with the mark."""
    from memorix.arguments import revision_from

    with opened() as memory:
        revision = revision_from(contest=others)
        _settle(memory, note_id, revision, dry_run=dry_run, as_json=as_json)


@app.command()
def merge(
    note_id: NoteIdArgument,
    others: OthersArgument,
    text: TextOption = "-",
    set_keys: SetOption = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Put one document in the place of several notes; it keeps their sources."""
    from memorix.arguments import revision_from

    body = _text(text)
    with opened() as memory:
        versions = [f"{other}@{memory.read(other).etag}" for other in others]
        revision = revision_from(body, set=keys_given(set_keys), merge=versions, author=person())
        _settle(memory, note_id, revision, dry_run=dry_run, as_json=as_json)


@app.command()
def verify(
    note_id: NoteIdArgument,
    set_keys: SetOption = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Confirm, in your own name, that a note holds; --set stale_after=90d says for how long."""
    from memorix.arguments import revision_from

    with opened() as memory:
        revision = revision_from(set=keys_given(set_keys), verify=True)
        _settle(memory, note_id, revision, dry_run=dry_run, as_json=as_json)


def _text(text: str) -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text


def _settle(
    memory: "Memory", note_id: str, revision: "Revision", *, dry_run: bool, as_json: bool
) -> None:
    """Do it to the note as it is now: a person who types this has it before their eyes."""
    from memorix import answers, settling

    etag = memory.read(note_id).etag
    done = settling.revise(memory, note_id, etag, revision, person(), dry_run=dry_run)
    shown(answers.written(done), answers.written_text(done), as_json)
