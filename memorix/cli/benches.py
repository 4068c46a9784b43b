"""The benchmarks of speed and size, which stand beside those of `memorix.cli.models`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from memorix.bench.results import Results

Out = Annotated[Path | None, typer.Option("--json", help="Write the measures here.")]
MarkdownOut = Annotated[Path | None, typer.Option("--markdown", help="Write the tables here.")]


def add_to(bench: typer.Typer) -> None:
    bench.command("core")(bench_core)
    bench.command("scale")(bench_scale)
    bench.command("counts")(bench_counts)
    bench.command("peers")(bench_peers)


def bench_core(
    notes: Annotated[int, typer.Option(help="Notes in the store.")] = 1_000,
    out: Out = None,
    markdown: MarkdownOut = None,
) -> None:
    """Measure start, write, recall, edit to recallable, reindex, memory and disk."""
    from memorix.bench.speed.suites import core

    _shown(core(notes, _tell), out, markdown)


def bench_scale(
    size: Annotated[
        list[int] | None,
        typer.Option(help="Notes in the store; repeatable. 1000, 10000 and 100000 if not given."),
    ] = None,
    chunks: Annotated[
        int, typer.Option(help="Chunks of the index that is measured alone; 0: it is left out.")
    ] = 1_000_000,
    index_only: Annotated[
        bool, typer.Option("--index-only", help="Measure the index alone, and no store.")
    ] = False,
    out: Out = None,
    markdown: MarkdownOut = None,
    plots: Annotated[Path | None, typer.Option(help="Draw the plots (SVG) in this folder.")] = None,
) -> None:
    """Measure write, recall, memory and disk of stores of several sizes."""
    from memorix.bench.speed.report import plots as drawn
    from memorix.bench.speed.suites import SIZES, scale

    results = scale([] if index_only else size or SIZES, chunks, _tell)
    _shown(results, out, markdown)
    if plots:
        plots.mkdir(parents=True, exist_ok=True)
        for name, svg in drawn(results).items():
            (plots / f"{name}.svg").write_text(svg, encoding="utf-8")


def bench_counts(out: Out = None, markdown: MarkdownOut = None) -> None:
    """Count imports, calls, statements and fsyncs, which are the same however busy a machine is."""
    from memorix.bench.speed.suites import counts

    _shown(counts(_tell), out, markdown)


def bench_peers(
    cache: Annotated[
        Path, typer.Option(help="Where other memories are installed, each in a folder of its own.")
    ],
    notes: Annotated[int, typer.Option(min=20, help="Notes in the store of each.")] = 1_000,
    install: Annotated[
        bool, typer.Option("--install", help="Install the newest of the others first.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Measure this one alone, into what the files hold; may be repeated."),
    ] = None,
    out: Out = None,
    markdown: MarkdownOut = None,
) -> None:
    """Put other memories, and grep over plain files, beside ours."""
    from memorix.bench.peers import harness
    from memorix.bench.results import read, write

    def keep(results: "Results") -> None:
        if out:
            write(out, results.as_data())
        if markdown:
            markdown.write_text(harness.markdown(results), encoding="utf-8")

    so_far = read(out) if only and out and out.exists() else None
    peers = harness.peers(cache.absolute(), install, only or [])
    results = harness.compare(peers, notes, _tell, keep, so_far)
    print(harness.markdown(results), end="")


def _shown(results: "Results", out: Path | None, markdown: Path | None) -> None:
    from memorix.bench.results import write
    from memorix.bench.speed.report import markdown as written

    text = written(results)
    print(text, end="")
    if out:
        write(out, results.as_data())
    if markdown:
        markdown.write_text(text, encoding="utf-8")


def _tell(what: str) -> None:
    """Say on stderr what is being measured, since some of it takes minutes."""
    print(f"measuring: {what}", file=sys.stderr, flush=True)
