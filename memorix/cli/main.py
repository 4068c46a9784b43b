"""The `memorix` program: all its commands, and how an error leaves it."""

import os
import sys
from typing import Annotated

import typer

from memorix import __version__
from memorix.cli import (
    benches,
    bundles,
    conflicts,
    exporting,
    forgetting,
    history,
    hosts,
    inbox,
    models,
    notes,
    serving,
    settling,
    sources,
    upkeep,
    vault,
)
from memorix.cli.frame import flags
from memorix.errors import MemorixError

app = typer.Typer(
    name="memorix",
    help="Local-first memory for coding assistants: Markdown notes you own.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_PARTS = (notes, forgetting, upkeep, settling, history, vault, serving, bundles, exporting, hosts)
for part in _PARTS:
    app.add_typer(part.app)
app.add_typer(inbox.app, name="inbox")
app.add_typer(conflicts.app, name="conflicts")
app.add_typer(sources.app, name="source")
app.add_typer(serving.tokens, name="token")
app.add_typer(models.models, name="model")
app.add_typer(models.bench, name="bench")
benches.add_to(models.bench)


def main() -> None:
    """Run the command line and leave with its exit code; a user's error is one sentence."""
    try:
        app()
    except MemorixError as error:
        sys.stderr.write(f"memorix: {error}\n")
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)


@app.callback(invoke_without_command=True)
def options(
    vault: Annotated[str, typer.Option(help="The folder of notes (default ~/Memorix).")] = "",
    project: Annotated[str, typer.Option(help="The project, instead of the one found here.")] = "",
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"memorix {__version__}")
        raise typer.Exit
    flags.update(vault=vault or None, project=project or None)
