"""What stands beside every figure of ours: grep over a folder of notes, and plain FTS5."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from memorix.bench.baselines import any_word, count_held, words_of
from memorix.bench.operations.adapter import Adapter, Done, Found, NotOffered, Seen
from memorix.bench.operations.distractors import Filler

PROJECT, SHARED = "atlas", "user"


class Grep(Adapter):
    """A folder of text files; a question is a search for each of its words."""

    def __init__(self, scratch: Path) -> None:
        super().__init__()
        self.name, self._root, self._count = "grep", scratch, 0
        self._now = 0.0

    async def begin(self, fill: Sequence[Filler]) -> None:
        for note in fill:
            await self.remember(f"{note.title}\n\n{note.text}")

    async def at(self, now: datetime) -> None:
        self._now = now.timestamp()

    async def remember(
        self,
        text: str,
        title: str = "",
        type: str = "",
        tags: Sequence[str] = (),
        scope: str = "",
        project: str = "",
        user: str = "",
    ) -> Done:
        self._count += 1
        place = scope if scope not in ("", "project") else project or PROJECT
        file = self._root / (user or "me") / place / f"{self._count:06}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{title}\n\n{text}" if title else text, encoding="utf-8")
        return Done(str(file.relative_to(self._root)), "created")

    async def revise(
        self,
        of: str,
        text: str = "",
        find: str = "",
        replace: str = "",
        project: str = "",
        user: str = "",
    ) -> Done:
        file = self._root / of
        old = file.read_text(encoding="utf-8")
        file.write_text(text or old.replace(find, replace), encoding="utf-8")
        return Done(of)

    async def edit_file(
        self, of: str, find: str, replace: str, project: str = "", user: str = ""
    ) -> Done:
        return await self.revise(of, find=find, replace=replace)

    async def forget(
        self, of: str, level: str = "retire", project: str = "", user: str = ""
    ) -> Done:
        (self._root / of).unlink()
        return Done(of)

    async def delete_file(self, of: str, project: str = "", user: str = "") -> Done:
        return await self.forget(of)

    async def take_in(self, path: str, content: str, project: str = "", user: str = "") -> Done:
        return await self.remember(content, project=project, user=user)

    async def restart(self, model: str = "", project: str = "", user: str = "") -> Done:
        return Done()

    async def kill(self, project: str = "", user: str = "") -> Done:
        return Done()

    async def reindex(self, project: str = "", user: str = "") -> Done:
        return Done()

    async def rebuild(self, project: str = "", user: str = "") -> Done:
        return Done()

    async def recall(
        self, query: str, k: int, filters: Mapping[str, Any], project: str = "", user: str = ""
    ) -> Seen:
        words = words_of(query)
        scored = []
        for file in self._files(_only_scope(filters), project, user):
            text = file.read_text(encoding="utf-8")
            held = count_held(words, text)
            if held or not words:
                scored.append((held, file.name, file, text))
        best = sorted(scored, key=lambda one: one[:2], reverse=True)[:k]
        hits = [
            Found(str(f.relative_to(self._root)), t, score=float(held)) for held, _, f, t in best
        ]
        return Seen(hits, "\n".join(hit.text for hit in hits), unsure=not hits)

    async def see_list(self, project: str = "", user: str = "") -> Seen:
        return await self.recall("", 10_000, {}, project, user)

    async def see_read(self, of: str, project: str = "", user: str = "") -> Seen:
        file = self._root / of
        if not file.is_file():
            return Seen(text=f"{of}: No such file")
        return Seen([Found(of, file.read_text(encoding="utf-8"))], file.read_text(encoding="utf-8"))

    async def see_files(self, project: str = "", user: str = "") -> Seen:
        files = sorted((self._root / (user or "me")).rglob("*.md"))
        return Seen(text="\n".join(file.read_text(encoding="utf-8") for file in files))

    see_bytes = see_export = see_files

    def _files(self, scope: str, project: str, user: str) -> list[Path]:
        own = [project or PROJECT, SHARED] if scope in ("", "project") else [scope]
        folders = [self._root / (user or "me") / name for name in own]
        return [file for folder in folders for file in sorted(folder.glob("*.md"))]


class PlainFts5(Adapter):
    """One FTS5 table with its default tokenizer; a question is an OR of its words, by BM25."""

    def __init__(self, scratch: Path) -> None:
        super().__init__()
        self.name = "fts5"
        self._file = scratch / "notes.db"
        self._db = apsw.Connection(str(self._file))
        self._db.execute("CREATE VIRTUAL TABLE notes USING fts5(text, place UNINDEXED)")

    async def begin(self, fill: Sequence[Filler]) -> None:
        for note in fill:
            await self.remember(note.text, note.title)

    async def end(self) -> None:
        self._db.close()

    async def remember(
        self,
        text: str,
        title: str = "",
        type: str = "",
        tags: Sequence[str] = (),
        scope: str = "",
        project: str = "",
        user: str = "",
    ) -> Done:
        place = f"{user}/{scope if scope not in ('', 'project') else project or PROJECT}"
        row = (f"{title}\n\n{text}" if title else text, place)
        self._db.execute("INSERT INTO notes (text, place) VALUES (?, ?)", row)
        return Done(str(self._db.last_insert_rowid()), "created")

    async def revise(
        self,
        of: str,
        text: str = "",
        find: str = "",
        replace: str = "",
        project: str = "",
        user: str = "",
    ) -> Done:
        (old,) = self._db.execute("SELECT text FROM notes WHERE rowid = ?", (of,)).fetchall()
        new = text or str(old[0]).replace(find, replace)
        self._db.execute("UPDATE notes SET text = ? WHERE rowid = ?", (new, of))
        return Done(of)

    async def forget(
        self, of: str, level: str = "retire", project: str = "", user: str = ""
    ) -> Done:
        self._db.execute("DELETE FROM notes WHERE rowid = ?", (of,))
        return Done(of)

    async def restart(self, model: str = "", project: str = "", user: str = "") -> Done:
        self._db.close()
        self._db = apsw.Connection(str(self._file))
        return Done()

    async def kill(self, project: str = "", user: str = "") -> Done:
        return await self.restart()

    async def recall(
        self, query: str, k: int, filters: Mapping[str, Any], project: str = "", user: str = ""
    ) -> Seen:
        scope = _only_scope(filters)
        own = [project or PROJECT, SHARED] if scope in ("", "project") else [scope]
        places = [f"{user}/{name}" for name in own]
        marks = ", ".join("?" * len(places))
        words = any_word(query)
        if words:
            sql = f"notes MATCH ? AND place IN ({marks}) ORDER BY rank LIMIT ?"
            found = self._db.execute(
                f"SELECT rowid, text, -rank FROM notes WHERE {sql}", (words, *places, k)
            )
        else:
            sql = f"place IN ({marks}) ORDER BY rowid DESC LIMIT ?"
            found = self._db.execute(f"SELECT rowid, text, 0 FROM notes WHERE {sql}", (*places, k))
        hits = [Found(str(key), str(text), score=float(score)) for key, text, score in found]
        return Seen(hits, "\n".join(hit.text for hit in hits), unsure=not hits)

    async def see_list(self, project: str = "", user: str = "") -> Seen:
        return await self.recall("", 10_000, {}, project, user)

    async def see_bytes(self, project: str = "", user: str = "") -> Seen:
        return Seen(text=self._file.read_bytes().decode("utf-8", "replace"))


def _only_scope(filters: Mapping[str, Any]) -> str:
    """Return the scope asked for; these know no other filter.

    Raises:
        NotOffered: Another filter is asked for.
    """
    for name in filters:
        if name != "scope":
            raise NotOffered(f"recall by {name}")
    return str(filters.get("scope", ""))
