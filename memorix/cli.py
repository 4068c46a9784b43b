"""The command line: arguments in, one call to the memory, lines out.

Nothing heavy is imported before the command that needs it.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorix import __version__
from memorix.errors import InvalidRequest, MemorixError

if TYPE_CHECKING:
    from memorix.config import Config
    from memorix.memory import Memory

EMBED_AT_ONCE = 200
# Vectors a question makes before it is answered; the rest is left to a server or to `reindex`.

app = typer.Typer(
    name="memorix",
    help="Local-first memory for coding assistants: Markdown notes you own.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
models = typer.Typer(help="The embedding models: which there are, and which one is used.")
app.add_typer(models, name="model")
bench = typer.Typer(help="Measure Memorix on this machine.")
app.add_typer(bench, name="bench")

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, as the tools return it.")]
ScopeOption = Annotated[
    str, typer.Option("--scope", "-s", help="project, user, a project's name, or all.")
]
NoteIdArgument = Annotated[str, typer.Argument(help="A note's id or path.")]

_flags: dict[str, str | None] = {}


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
    _flags.update(vault=vault or None, project=project or None)


@app.command()
def init(
    in_repo: Annotated[
        bool, typer.Option("--in-repo", help="Keep this project's notes in its repository.")
    ] = False,
) -> None:
    """Make the vault, and this folder's place in it."""
    from memorix.vault import prepare

    for line in prepare(_config(), in_repo=in_repo):
        print(line)


@app.command()
def serve() -> None:
    """Serve the MCP tools over stdin and stdout; this is what a host runs."""
    from memorix.server.app import serve_stdio

    serve_stdio(_config())


@app.command()
def remember(
    text: Annotated[str, typer.Argument(help="What to remember; - or nothing reads stdin.")] = "-",
    title: Annotated[str, typer.Option("--title", "-t")] = "",
    type: Annotated[str, typer.Option("--type", help="Decision, Gotcha, Fact, ...")] = "Fact",
    tags: Annotated[str, typer.Option("--tags", help="Comma-separated.")] = "",
    scope: ScopeOption = "",
    as_json: AsJson = False,
) -> None:
    """Keep a memory as a new note."""
    from memorix import answers, lifecycle

    body = sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text
    draft = lifecycle.draft_from(body, title, type, tags)
    with _memory() as memory:
        done = memory.remember(lifecycle.by(draft, _person()), scope)
    _print(answers.written(done), answers.written_text(done), as_json)


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
    explain: Annotated[bool, typer.Option("--explain", help="Show every signal.")] = False,
    words: Annotated[bool, typer.Option("--words", help="By words only; loads no model.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find notes by words and by meaning."""
    from memorix import answers
    from memorix.arguments import query_from

    asked = query_from(query, limit, scope, type, tags, since, until, as_of, max_tokens, cursor)
    with _memory(model=not words and bool(query)) as memory:
        memory.embed_pending(limit=EMBED_AT_ONCE)
        answer = memory.recall(asked)
    _print(answers.recalled(answer), answers.recalled_text(answer, explain=explain), as_json)


@app.command()
def read(note_id: NoteIdArgument, as_json: AsJson = False) -> None:
    """Show a whole note."""
    from memorix import answers

    with _memory() as memory:
        found = memory.read(note_id)
    _print(answers.reading(found), answers.reading_text(found), as_json)


@app.command()
def edit(note_id: NoteIdArgument) -> None:
    """Open a note in $EDITOR."""
    with _memory() as memory:
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
def forget(
    note_id: NoteIdArgument,
    level: Annotated[str, typer.Option("--level", help="retire, archive or erase.")] = "retire",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take a note out of force (retire), out of the vault (archive), or delete it (erase)."""
    from memorix import answers

    with _memory() as memory:
        done = memory.forget(note_id, level, dry_run=dry_run)
    _print(answers.forgotten(done), answers.forgotten_text(done), as_json)


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
    with _memory() as memory:
        rows = memory.list(replace(asked.filter, everything=everything), limit)
    _print(answers.listed(rows), answers.listed_text(rows), as_json)


@app.command()
def reindex(
    full: Annotated[bool, typer.Option("--full", help="Read every file again.")] = False,
    vectors: Annotated[bool, typer.Option(help="Make the missing vectors too.")] = True,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="The missing notes were deleted on purpose.")
    ] = False,
) -> None:
    """Bring the index up to the folder of notes."""
    with _memory(model=vectors, catch_up=False) as memory, _progress() as bar:
        if full:
            memory.index.clear()
        done = memory.catch_up(accept_loss=accept_loss, progress=bar("notes"))
        made = memory.embed_pending(progress=_counting(bar("vectors")))
        state = memory.status()
    print(
        f"{done.changed} notes read, {done.moved} moved, {done.gone} gone, {made} vectors made; "
        f"{state.counts.notes} notes in the index."
    )


@app.command()
def export(
    target: Annotated[Path, typer.Argument(help="A folder, or a .zip, .tar.gz or .jsonl file.")],
    scope: ScopeOption = "all",
) -> None:
    """Copy notes out: as a bundle of Markdown, packed or not, or as JSON Lines."""
    from memorix.exchange.formats import write

    with _memory() as memory:
        count = write(memory.files((scope,)), target)
    print(f"{count} notes written to {target}")


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show the vault, its index, the model, and what is odd about single files."""
    from memorix import status as state

    with _memory(model=True) as memory:
        found = memory.status()
    _print(state.as_data(found), state.as_text(found), as_json)


@app.command()
def config(as_json: AsJson = False) -> None:
    """Show every setting and where it comes from."""
    from memorix.config import describe

    rows = describe(_config())
    data = {key: {"value": value, "source": source} for key, value, source in rows}
    _print(data, "\n".join(f"{key:12} {value}  ({source})" for key, value, source in rows), as_json)


@app.command()
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the scratch vault on disk.")] = False,
) -> None:
    """Show the main job on some 360 notes, through a real server and a real client."""
    from memorix.demo.run import run

    if not run(keep=keep):
        raise typer.Exit(1)


@models.command("list")
def model_list(as_json: AsJson = False) -> None:
    """List the models that are here, and those that can be pulled."""
    from memorix import embedders

    rows = embedders.available(_config().models_dir)
    _print([vars_of(row) for row in rows], "\n".join(str(row) for row in rows), as_json)


@models.command("pull")
def model_pull(name: str) -> None:
    """Download a model; the only command that uses the network."""
    from memorix.embedders.fastembed import pull

    print(f"{pull(name, _config().models_dir)} is here. Use it: memorix model use {name}")


@models.command("use")
def model_use(name: str) -> None:
    """Search with this model from now on; 'none' for words only, 'auto' for the default."""
    from memorix.config import config_path, write_setting

    path = config_path()
    write_setting(path, "model", "" if name == "auto" else name)
    print(f"model = {name} in {path}. Servers take it up when they start.")


@bench.command("recall")
def bench_recall(
    data: Annotated[Path, typer.Option(help="A folder with retrieval sets.")],
    sets: Annotated[list[str] | None, typer.Option("--set", help="Only these; repeatable.")] = None,
    model: Annotated[str, typer.Option(help="The model; the default one if empty.")] = "",
    out: Annotated[Path | None, typer.Option("--json", help="Write the measures here.")] = None,
) -> None:
    """Index each set in a scratch vault and measure what recall finds."""
    from memorix.bench.run import run

    found = run(data, sets or [], model, print)
    if out:
        out.write_text(json.dumps({"measures": found}, indent=1), encoding="utf-8")


def vars_of(row: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {k: sorted(v) if isinstance(v, frozenset) else v for k, v in asdict(row).items()}


def _config() -> "Config":
    from memorix.config import load

    return load(_flags)


@contextmanager
def _memory(*, model: bool = False, catch_up: bool = True) -> "Iterator[Memory]":
    from memorix import wiring

    settings = _config()
    memory = wiring.open_memory(settings, author=_person())
    try:
        if catch_up:
            memory.catch_up()
        if model:
            wiring.load_model(memory, settings)
        yield memory
    finally:
        memory.close()


def _person() -> str:
    """Return the actor of what is typed by hand (OKF section 7)."""
    import getpass

    try:
        return f"human:{getpass.getuser()}"
    except (OSError, KeyError):
        return "human:user"


def _print(data: Any, text: str, as_json: bool) -> None:
    print(json.dumps(data, ensure_ascii=False, indent=1) if as_json else text)


@contextmanager
def _progress() -> Iterator[Callable[[str], Callable[[int, int], None]]]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:

        def bar(name: str) -> Callable[[int, int], None]:
            task = shown.add_task(name, total=None, start=True)
            return lambda done, total: shown.update(task, completed=done, total=total or None)

        yield bar


def _counting(bar: Callable[[int, int], None]) -> Callable[[int], None]:
    return lambda done: bar(done, 0)
