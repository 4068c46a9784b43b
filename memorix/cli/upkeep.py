"""The commands that keep a vault true: look it through, change notes, settle how they stand."""

import sys
from typing import Annotated

import typer

from memorix.cli.frame import (
    EMBED_AT_ONCE,
    AsJson,
    NoteIdArgument,
    ScopeOption,
    SetOption,
    keys_given,
    opened,
    person,
    shown,
)
from memorix.errors import InvalidRequest

app = typer.Typer()


@app.command()
def tidy(
    plan: Annotated[bool, typer.Option("--plan", help="Only show; this is the default.")] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Do what needs no judgement: archive what has expired.")
    ] = False,
    scope: ScopeOption = "",
    words: Annotated[bool, typer.Option("--words", help="By words only; loads no model.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find what wants to be settled: repeats, contradictions, what is stale, long or forgotten."""
    from memorix import answers, upkeep, worklist

    if plan and apply:
        raise InvalidRequest("Say --plan or --apply, not both.")
    with opened(model=not words) as memory:
        memory.embed_pending(limit=EMBED_AT_ONCE)
        found = upkeep.survey(memory, scope)
        done, failed = upkeep.settle(memory, found) if apply else ([], [])
    if not apply:
        shown(worklist.as_data(found), worklist.as_text(found), as_json)
        return
    refused = [{"id": note_id, "message": reason} for note_id, reason in failed]
    data = {"archived": [answers.forgotten(one) for one in done], "failed": refused}
    lines = [f"archived: {one.path} [{one.id}]" for one in done]
    shown(data, "\n".join(lines or ["Nothing has expired."]), as_json)
    for note_id, reason in failed:
        print(f"{note_id}: {reason}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


@app.command()
def revise(
    note_id: NoteIdArgument,
    text: Annotated[str, typer.Option("--text", help="The new text; - reads stdin.")] = "",
    find: Annotated[str, typer.Option("--find", help="One passage, exactly.")] = "",
    replace: Annotated[str, typer.Option("--replace", help="What takes its place.")] = "",
    set_keys: SetOption = None,
    supersede: Annotated[
        str, typer.Option("--supersede", help="The note that replaces it; true: the text does.")
    ] = "",
    contest: Annotated[
        list[str] | None, typer.Option("--contest", help="A note that it disagrees with.")
    ] = None,
    merge: Annotated[
        list[str] | None, typer.Option("--merge", help="A note that the text sums up with it.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="You checked that it holds.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Change a note, or say how it stands to others."""
    from memorix import answers, settling
    from memorix.arguments import revision_from

    body = sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text
    with opened() as memory:
        versions = [f"{other}@{memory.read(other).etag}" for other in merge or ()]
        revision = revision_from(
            body,
            find,
            replace,
            keys_given(set_keys),
            supersede,
            contest or (),
            versions,
            verify,
            person(),
        )
        etag = memory.read(note_id).etag
        done = settling.revise(memory, note_id, etag, revision, person(), dry_run=dry_run)
    shown(answers.written(done), answers.written_text(done), as_json)
