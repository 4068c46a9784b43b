"""The commands of the notes: keep, find, read, edit, move and forget them."""

import os
import shlex
import subprocess
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
def remember(
    text: Annotated[str, typer.Argument(help="What to remember; - or nothing reads stdin.")] = "-",
    title: Annotated[str, typer.Option("--title", "-t")] = "",
    type: Annotated[str, typer.Option("--type", help="Decision, Gotcha, Fact, ...")] = "Fact",
    tags: Annotated[str, typer.Option("--tags", help="Comma-separated.")] = "",
    scope: ScopeOption = "",
    suggest: Annotated[bool, typer.Option("--suggest", help="Put it into the inbox.")] = False,
    set_keys: SetOption = None,
    as_json: AsJson = False,
) -> None:
    """Keep a memory as a new note."""
    from memorix import answers, lifecycle

    body = sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text
    draft = lifecycle.draft_from(body, title, type, tags, keys_given(set_keys), suggested=suggest)
    with opened() as memory:
        done = memory.remember(lifecycle.by(draft, person()), scope, again=True)
    shown(answers.written(done), answers.written_text(done), as_json)


@app.command()
def recall(
    query: Annotated[str, typer.Argument(help="A question; nothing gives the latest notes.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=50)] = 8,
    scope: ScopeOption = "",
    type: Annotated[str, typer.Option("--type")] = "",
    tags: Annotated[str, typer.Option("--tags")] = "",
    since: Annotated[str, typer.Option(help="A date.")] = "",
    until: Annotated[str, typer.Option(help="A date.")] = "",
    as_of: Annotated[str, typer.Option("--as-of", help="What was in force on this date.")] = "",
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1)] = 4000,
    cursor: Annotated[str, typer.Option(help="Where the last page ended.")] = "",
    where: Annotated[
        list[str] | None,
        typer.Option(help="key=value: author, path, file, status or any key; repeat for more."),
    ] = None,
    detail: Annotated[str, typer.Option(help="brief, passage or full.")] = "brief",
    explain: Annotated[bool, typer.Option("--explain", help="Show every signal.")] = False,
    words: Annotated[bool, typer.Option("--words", help="By words only; loads no model.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find notes by words and by meaning."""
    from memorix import answers
    from memorix.arguments import query_from

    having = "\n".join(part.replace("=", ":", 1) for part in where or ())
    asked = query_from(
        query, limit, scope, type, tags, since, until, as_of, max_tokens, cursor, having, detail
    )
    with opened(model=not words and bool(query)) as memory:
        memory.embed_pending(limit=EMBED_AT_ONCE)
        answer = memory.recall(asked)
    shown(answers.recalled(answer), answers.recalled_text(answer, explain=explain), as_json)


@app.command()
def read(note_id: NoteIdArgument, as_json: AsJson = False) -> None:
    """Show a whole note."""
    from memorix import answers

    with opened() as memory:
        found = memory.read(note_id)
    shown(answers.reading(found), answers.reading_text(found), as_json)


@app.command()
def edit(note_id: NoteIdArgument) -> None:
    """Open a note in $EDITOR."""
    with opened() as memory:
        path = memory.read(note_id).note.path
        command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
        try:
            code = subprocess.run(
                [*command, str(memory.store.locate(path))], check=False
            ).returncode
        except OSError as error:
            raise InvalidRequest(f"The editor cannot be started: {error}. Set EDITOR.") from error
        memory.catch_up([path])
        warnings = [w for w in memory.index.warnings() if w[0] == path]
    for name, warning, line, text in warnings:
        print(f"{name}:{line} {warning}: {text}", file=sys.stderr)
    if code:
        raise typer.Exit(code)


@app.command()
def mv(
    note_id: NoteIdArgument,
    target: Annotated[str, typer.Argument(help="Its new path in the vault, or a folder/.")],
    links: Annotated[
        bool, typer.Option("--links", help="Let the links of notes Memorix wrote follow it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Give a note another path; its id stays."""
    from memorix import answers, moving

    with opened() as memory:
        done = moving.move(memory, note_id, target, links=links)
    shown(answers.moved(done), answers.moved_text(done), as_json)


@app.command("list")
def list_notes(
    scope: ScopeOption = "",
    type: Annotated[str, typer.Option("--type")] = "",
    tags: Annotated[str, typer.Option("--tags")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Retired notes too.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1)] = 100,
    as_json: AsJson = False,
) -> None:
    """List notes, newest first."""
    from dataclasses import replace

    from memorix import answers
    from memorix.arguments import query_from

    asked = query_from("", limit, scope, type, tags)
    with opened() as memory:
        rows = memory.list(replace(asked.filter, everything=everything), limit)
    shown(answers.listed(rows), answers.listed_text(rows), as_json)
