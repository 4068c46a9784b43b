"""Walk the text files of a folder, and read one of them as Markdown with metadata."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from memorix.files import walk
from memorix.imported import Unreadable
from memorix.note import decode, parse, parse_time, tags_from, texts_of
from memorix.yamltext import Value

LARGEST = 16 * 1024 * 1024
# Bytes; a larger file is a data set, and is named instead of read.

SAMPLE = 20
# Files of a folder, enough to tell what keeps it.

CREATED = ("created", "created_at", "date created", "date")
CHANGED = ("modified", "updated", "updated_at", "date modified", "last_modified", "timestamp")
# Keys under which people and programs keep the times of a file, the first that there is.


@dataclass(frozen=True, slots=True)
class Page:
    """A file of Markdown: `path` in its folder, its metadata as typed, its text, and its time."""

    path: str
    meta: Mapping[str, Value]
    body: str
    written: datetime

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2].rpartition(".")[0] or self.path

    def said(self, *keys: str) -> str:
        """Return the first of these keys that holds text."""
        found = (self.meta.get(key) for key in keys)
        return next((text.strip() for text in found if isinstance(text, str) and text.strip()), "")

    def listed(self, *keys: str) -> tuple[str, ...]:
        """Return the texts of all these keys, as lists or as people write lists."""
        return tuple(dict.fromkeys(text for key in keys for text in texts_of(self.meta.get(key))))

    @property
    def tags(self) -> tuple[str, ...]:
        return tags_from([tag for key in ("tags", "tag") for tag in texts_of(self.meta.get(key))])

    @property
    def created(self) -> datetime | None:
        return parse_time(self.said(*CREATED))

    @property
    def changed(self) -> datetime:
        return parse_time(self.said(*CHANGED)) or self.written

    def rest(self, *known: str) -> Mapping[str, Value]:
        """Return the metadata that has no other place in a note."""
        placed = {"tag", "tags", "alias", "aliases", *CREATED, *CHANGED, *known}
        return {key: value for key, value in self.meta.items() if key.lower() not in placed}


def page(file: Path, path: str) -> Page | Unreadable:
    """Read a file; what is no text, is too large or cannot be read is named instead."""
    try:
        stat = file.stat()
        if stat.st_size > LARGEST:
            return Unreadable(path, f"it has {stat.st_size:,} bytes, more than {LARGEST:,}")
        content = file.read_bytes()
    except OSError as error:
        return Unreadable(path, f"it cannot be read: {error.strerror or error}")
    if any(warning.code == "binary-content" for warning in decode(content)[1]):
        return Unreadable(path, "it is not text")
    note = parse(content, path)
    written = datetime.fromtimestamp(int(stat.st_mtime), UTC)
    return Page(path, note.meta, note.body, written)


def pages(root: Path, suffixes: tuple[str, ...] = (".md",)) -> Iterator[Page | Unreadable]:
    for file in walk(root, suffixes):
        yield page(file, file.relative_to(root).as_posix())


def sample(root: Path) -> list[Page]:
    """Return the first pages of a folder; none of a file."""
    read = islice(pages(root), SAMPLE) if root.is_dir() else ()
    return [one for one in read if isinstance(one, Page)]
