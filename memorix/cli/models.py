"""The commands of the embedding models and of the benchmarks."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from memorix.cli.frame import AsJson, settings, shown

models = typer.Typer(help="The embedding models: which there are, and which one is used.")
bench = typer.Typer(help="Measure Memorix on this machine.")


@models.command("list")
def model_list(as_json: AsJson = False) -> None:
    """List the models that are here, and those that can be pulled."""
    from memorix import embedders

    rows = embedders.available(settings().models_dir)
    shown([vars_of(row) for row in rows], "\n".join(str(row) for row in rows), as_json)


@models.command("pull")
def model_pull(name: str) -> None:
    """Download a model or a reranker; the only command that uses the network."""
    from memorix import wiring

    pulled, kind = wiring.pull(name, settings())
    print(f"{pulled} is here. Use it: memorix model use {name}{' --reranker' * (kind != 'model')}")


@models.command("use")
def model_use(
    name: str,
    reranker: Annotated[
        bool, typer.Option("--reranker", help="Let it read the best hits again; none: no more.")
    ] = False,
) -> None:
    """Search with this model from now on; 'none' for words only, 'auto' for the default."""
    from memorix.config import config_path, write_setting

    path, key = config_path(), "reranker" if reranker else "model"
    write_setting(path, key, "" if name == ("none" if reranker else "auto") else name)
    print(f"{key} = {name} in {path}. Servers take it up when they start.")


@bench.command("recall")
def bench_recall(
    data: Annotated[Path, typer.Option(help="A folder with retrieval sets.")],
    sets: Annotated[list[str] | None, typer.Option("--set", help="Only these; repeatable.")] = None,
    model: Annotated[str, typer.Option(help="The model; the default one if empty.")] = "",
    large: Annotated[bool, typer.Option("--large", help="Latency at 100,000 notes, too.")] = False,
    out: Annotated[Path | None, typer.Option("--json", help="Write the measures here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables here.")] = None,
) -> None:
    """Index each set in a scratch vault and measure what recall and the baselines find."""
    from memorix.bench.run import Wanted, run

    found = run(Wanted(data, sets or (), model, large), print)
    if out:
        out.write_text(json.dumps(found.as_data(), indent=1), encoding="utf-8")
    if markdown:
        markdown.write_text(found.as_markdown(), encoding="utf-8")


@bench.command("operations")
def bench_operations(
    family: Annotated[
        list[str] | None, typer.Option("--family", help="Only these, A to K; repeatable.")
    ] = None,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Play the half that nothing was tuned on.")
    ] = False,
    baseline: Annotated[str, typer.Option(help="Play grep or fts5 instead of Memorix.")] = "",
    model: Annotated[str, typer.Option(help="The model; the default one if empty.")] = "",
    fill: Annotated[int, typer.Option(help="At least so many other notes in each vault.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Scenarios played at a time.")] = 2,
    out: Annotated[Path | None, typer.Option("--json", help="Write the measures here.")] = None,
) -> None:
    """Play scenarios of a memory in use against a real server, and judge what it answers."""
    from memorix.bench.operations.run import Settings, run

    half = "held-out" if held_out else "given"
    found = run(Settings(half, family or (), baseline, model, fill, jobs), print)
    if out:
        out.write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")


def vars_of(row: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {k: sorted(v) if isinstance(v, frozenset) else v for k, v in asdict(row).items()}
