"""The command that takes notes out."""

from pathlib import Path
from typing import Annotated

import typer

from memorix.cli.frame import AsJson, ScopeOption, opened, shown

app = typer.Typer()


@app.command()
def export(
    target: Annotated[
        Path, typer.Argument(help="The file or folder to make; .zip and .tar.gz pack a folder.")
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to", help="The format, such as okf, obsidian or html; else by the target's name."
        ),
    ] = "",
    scope: ScopeOption = "all",
    type: Annotated[str, typer.Option("--type", help="Only notes of these, comma-separated.")] = "",
    tags: Annotated[str, typer.Option("--tags", help="Only notes with all of these.")] = "",
    since: Annotated[str, typer.Option(help="Only notes dated from this date on.")] = "",
    until: Annotated[str, typer.Option(help="Only notes dated up to this date.")] = "",
    where: Annotated[
        list[str] | None,
        typer.Option(help="key=value: author, path, file, status or any key; repeat for more."),
    ] = None,
    everything: Annotated[
        bool | None,
        typer.Option(
            "--all/--current",
            help="With or without what is out of force or in the inbox; else as the format has it.",
        ),
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="All as it is, what is private or secret too.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Also where the target exists already.")
    ] = False,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="About how many a block of instructions may take; else 800."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Take notes out: as a bundle, as JSON Lines, or as others read them.

    What is private or secret is left out, and told.
    """
    from memorix import answers, exporting
    from memorix.arguments import query_from
    from memorix.exporters import formats

    exporter = formats.choose(to, target.name, max_tokens or 0)
    having = "\n".join(part.replace("=", ":", 1) for part in where or ())
    asked = query_from("", 1, scope, type, tags, since, until, where=having).filter
    how = {"private": private, "overwrite": overwrite}
    with opened() as memory:
        done = exporting.export(memory, exporter, target, asked, everything=everything, **how)
    shown(answers.exported(done), answers.exported_text(done), as_json)
