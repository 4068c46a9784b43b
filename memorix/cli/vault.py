"""The commands of the vault: make it, serve it, index it, show its state."""

from typing import Annotated

import typer

from memorix.cli.frame import AsJson, counting, opened, progress, settings, shown

app = typer.Typer()


@app.command()
def init(
    in_repo: Annotated[
        bool, typer.Option("--in-repo", help="Keep this project's notes in its repository.")
    ] = False,
) -> None:
    """Make the vault, and this folder's place in it."""
    from memorix.vault import prepare

    for line in prepare(settings(), in_repo=in_repo):
        print(line)


@app.command()
def reindex(
    full: Annotated[bool, typer.Option("--full", help="Read every file again.")] = False,
    vectors: Annotated[bool, typer.Option(help="Make the missing vectors too.")] = True,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="The missing notes were deleted on purpose.")
    ] = False,
) -> None:
    """Bring the index up to the folder of notes."""
    with opened(model=vectors, catch_up=False) as memory, progress() as bar:
        if full:
            memory.index.clear()
        done = memory.catch_up(accept_loss=accept_loss, progress=bar("notes"))
        made = memory.embed_pending(progress=counting(bar("vectors")))
        state = memory.status()
    print(
        f"{done.changed} notes read, {done.moved} moved, {done.gone} gone, {made} vectors made; "
        f"{state.counts.notes} notes in the index."
    )


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Look at everything Memorix stands on; say what is wrong, and what mends it."""
    from dataclasses import asdict

    from memorix import doctor as examiner

    with opened(catch_up=False) as memory:
        checks = list(examiner.examine(memory, settings()))
    mends = [f" -> {check.mend}" if check.mend else "" for check in checks]
    lines = [
        f"{c.verdict:8} {c.name:9} {c.said}{mend}" for c, mend in zip(checks, mends, strict=True)
    ]
    sound = not any(check.verdict == examiner.FAILED for check in checks)
    shown({"sound": sound, "checks": [asdict(c) for c in checks]}, "\n".join(lines), as_json)
    if not sound:
        raise typer.Exit(1)


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show the vault, its index, the model, and what is odd about single files."""
    from memorix import status as state

    with opened(model=True, catch_up=False) as memory:
        found = memory.status(look=True)
    shown(state.as_data(found), state.as_text(found), as_json)


@app.command("sync-git")
def sync_git(
    check: Annotated[bool, typer.Option("--check", help="Only look; 1 if it is missing.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take it out again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let git merge notes key by key, in this clone of the repository that they lie in."""
    from dataclasses import asdict

    from memorix import syncgit
    from memorix.installing import this_program

    program = this_program(settings())
    command = [program.path, *program.before]
    with opened(catch_up=False) as memory:
        for folder in () if check else syncgit.look(memory.store, command):
            syncgit.take(folder) if remove else syncgit.put(folder, command)
        found = syncgit.look(memory.store, command)
    data = [asdict(one) | {"place": str(one.place), "root": str(one.root)} for one in found]
    said = [
        f"{one.place}: {'; '.join(one.missing) or 'git merges notes by memorix'}" for one in found
    ]
    shown({"folders": data}, "\n".join(said), as_json)
    if not remove and any(one.missing for one in found):
        raise typer.Exit(1)


@app.command()
def config(as_json: AsJson = False) -> None:
    """Show every setting and where it comes from."""
    from memorix.config import describe

    rows = describe(settings())
    data = {key: {"value": value, "source": source} for key, value, source in rows}
    shown(data, "\n".join(f"{key:12} {value}  ({source})" for key, value, source in rows), as_json)


@app.command()
def feedback(
    reset: Annotated[bool, typer.Option("--reset", help="Forget all that was learnt.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what recall has learnt from what was read, or forget it."""
    from dataclasses import asdict

    from memorix.feedback import MARGIN, learn

    with opened(catch_up=False) as memory:
        if reset:
            memory.index.forget_impressions()
        seen = memory.index.impressions()
    learnt = learn(seen)
    data = {"on": settings().learn == "on", "shown": len(seen), "margin": MARGIN}
    text = (
        f"Learning is {settings().learn}. {len(seen)} hits shown, {learnt.reads} of them read: the"
        f" share of words moves by {learnt.offset:+.3f} (at most {MARGIN})."
    )
    shown(data | asdict(learnt), text, as_json)


@app.command()
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the scratch vault on disk.")] = False,
) -> None:
    """Show the main job on some 360 notes, through a real server and a real client."""
    from memorix.demo.run import run

    if not run(keep=keep):
        raise typer.Exit(1)
