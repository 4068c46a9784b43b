"""Each kind of write as the command that a person types, and the shelf of notes it is tried on."""

import json
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memorix import arrivals
from tests.serving import command, environment

WRITES: Mapping[str, str] = {
    "remember": "remember 'A second lamp is blue.' --scope user",
    "suggest": "remember 'A third lamp is grey.' --scope user --suggest",
    "revise a passage": "revise {lamp} --find green --replace red",
    "revise the text": "revise {lamp} --text 'The lamp is gone.'",
    "revise keys": "revise {lamp} --set tags=light,hall --set owner=Ann",
    "retitle": "revise {lamp} --set 'title=Ceiling lamp'",
    "supersede by a text": "supersede {lamp} --text 'The lamp is off.'",
    "supersede by a note": "supersede {lamp} --by {door}",
    "contest": "contest {lamp} {door}",
    "verify": "verify {lamp}",
    "merge": "merge {lamp} {door} --text 'The lamp is green, the door is blue.'",
    "retire": "forget {lamp}",
    "archive": "forget {lamp} --level archive",
    "forget several": "forget --tags loose --level archive --token {token}",
    "accept": "inbox accept {hint}",
    "reject": "inbox reject {hint}",
    "move": "mv {lamp} user/rooms/hall/ --links",
    "import": "import {bundle} --into user --replace",
    "import for review": "import {bundle} --into user --review",
    "restore from the archive": "restore {old}",
    "restore into force": "restore {out}",
    "restore a version": "restore {lamp} --version {etag}",
    "tidy": "tidy --apply --scope user",
    "index": "index --scope user",
}
# Words in braces are the ids of the shelf's notes, and its other things, by their names.

_NOTES: Mapping[str, str] = {
    "lamp": "remember 'The lamp is yellow.' --title Lamp",
    "door": "remember 'The [lamp](lamp.md) hangs by the blue door.' --title Door",
    "roof": "remember 'The roof is flat.' --title Roof --tags loose",
    "yard": "remember 'The yard is paved.' --title Yard --tags loose",
    "hint": "remember 'The cellar may be dry.' --title Cellar --suggest",
    "out": "remember 'The gate is open.' --title Gate",
    "old": "remember 'The well is deep.' --title Well",
    "due": "remember 'The paint is wet.' --title Paint",
}
_THEN = (
    "revise {lamp} --find yellow --replace green",
    "forget {out}",
    "forget {old} --level archive",
)


@dataclass(frozen=True)
class Shelf:
    """A vault with notes of every standing; `names` are what stands for the words in braces."""

    folder: Path
    names: dict[str, str] = field(default_factory=dict)

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    def typed(self, line: str) -> str:
        """Type a command; return what it prints, and fail where it does."""
        env = environment(self.folder, MEMORIX_PROJECT_DIR=str(self.folder))
        done = command(env, *self.words(line))
        if done.returncode:
            raise AssertionError(f"{line}: {done.stderr}")
        return done.stdout

    def words(self, line: str) -> list[str]:
        return [word.format(**self.names) for word in shlex.split(line)]

    def contents(self) -> dict[str, tuple[bytes, int]]:
        """Return the bytes and the permissions of all files of the vault, but for what is known of
        imports: undoing one does not make it unknown."""
        files = sorted(path for path in self.vault.rglob("*") if path.is_file())
        named = {path.relative_to(self.vault).as_posix(): path for path in files}
        named = {name: path for name, path in named.items() if not name.endswith(arrivals.FILE)}
        return {name: (path.read_bytes(), path.stat().st_mode) for name, path in named.items()}


def shelf(folder: Path) -> Shelf:
    """Put the notes on a shelf in an empty folder."""
    made = Shelf(folder)
    for name, line in _NOTES.items():
        made.names[name] = json.loads(made.typed(f"{line} --scope user --json"))["id"]
    made.names["etag"] = json.loads(made.typed("read {lamp} --json"))["etag"]
    for line in _THEN:
        made.typed(line)
    due = made.vault / "user/paint.md"
    head, _, body = due.read_text(encoding="utf-8").partition("origin:")
    due.write_text(f'{head}expires_at: "2026-01-02"\norigin:{body}', encoding="utf-8", newline="")
    listed = made.typed("forget --tags loose --level archive --json")
    made.names["token"] = json.loads(listed)["token"]
    bundle = folder / "bundle"
    bundle.mkdir()
    (bundle / "crate.md").write_text("# Crate\n\nIt is full.\n", encoding="utf-8", newline="")
    (bundle / "roof.md").write_text("# Roof\n\nIt leaks.\n", encoding="utf-8", newline="")
    made.names["bundle"] = str(bundle)
    return made


def copied(made: Shelf, folder: Path) -> Shelf:
    """Return a shelf like this one in another folder, to be changed."""
    shutil.copytree(made.folder, folder, dirs_exist_ok=True)
    return Shelf(folder, {**made.names, "bundle": str(folder / "bundle")})
