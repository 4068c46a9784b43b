"""The commands of sources: files that hosts keep, read beside the notes and never written."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorix.cli.frame import AsJson, ScopeOption, opened, shown
from memorix.errors import VaultUnavailable

if TYPE_CHECKING:
    from memorix.sources import Source

app = typer.Typer(help="Files of hosts, such as CLAUDE.md, that recall reads beside the notes.")

Places = Annotated[
    list[Path] | None,
    typer.Argument(help="Files, or folders of rules or memories; this project if none is named."),
]


@app.command()
def add(places: Places = None, scope: ScopeOption = "", as_json: AsJson = False) -> None:
    """Let recall find what such files say; they stay what they are, and their host reads them."""
    with opened() as memory:
        if not memory.store.exists():
            raise VaultUnavailable(
                f"There is no vault at {memory.store.vault} yet. Run `memorix init` first."
            )
        project = memory.places.project
        chosen = places or [project.root if project else Path.cwd()]
        place_of = memory.places.to_write
        added = [memory.store.sources.add(one, place_of(scope)) for one in chosen]
        memory.catch_up(memory.store.host_files())
    data = [_told(source) for source in added]
    lines = [f"{one['place']}: {len(one['files'])} files, scope {one['scope']}" for one in data]
    shown({"added": data}, "\n".join(lines), as_json)


@app.command("list")
def list_sources(as_json: AsJson = False) -> None:
    """Show the sources, and the files of each that are there."""
    with opened(catch_up=False) as memory:
        data = [_told(source) for source in memory.store.sources.all()]
    lines = [
        line
        for one in data
        for line in (f"{one['place']} (scope {one['scope']})", *(f"  {f}" for f in one["files"]))
    ]
    shown({"sources": data}, "\n".join(lines or ["There are no sources."]), as_json)


@app.command()
def remove(
    places: Annotated[list[Path], typer.Argument(help="As `list` shows them.")],
    as_json: AsJson = False,
) -> None:
    """Read a source no more; its files stay as they are."""
    from memorix.index.base import Drop

    with opened() as memory:
        before = memory.store.host_files()
        removed = [memory.store.sources.remove(place) for place in places]
        left = memory.store.host_files()
        memory.put([Drop(path) for path in before if path not in left])
    data = [str(source.place) for source in removed]
    shown({"removed": data}, "\n".join(f"{place}: no source any more" for place in data), as_json)


def _told(source: "Source") -> dict[str, Any]:
    files = sorted(str(file) for file in source.files())
    return {"place": str(source.place), "scope": source.scope, "files": files}
