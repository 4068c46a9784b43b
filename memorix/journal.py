"""Keep what every write replaced, in one file outside the vault, so that it can be undone.

The file only grows, by lines: what was done to a file (JSON), and the texts it had (etag, then zlib
in base64), each once.  A line that a crash cut off is passed over.  What is older or more than the
limits allow is dropped as a whole.  Everything that writes holds the vault's write lock.
"""

import json
import logging
import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memorix.errors import VaultUnavailable
from memorix.files import replacing
from memorix.note import etag_of, format_time, new_id, parse
from memorix.versions import ERASED, Change, Effect, Step

_log = logging.getLogger(__name__)

_KEPT_SHARE = 0.75
# Of the size allowed is kept when it is exceeded, so that the file is rewritten rarely.

_SLACK_DAYS = 1
# Beyond the age allowed before what is too old is dropped: one rewriting a day is enough.

_NEW_TEXT_SHARE = 1 / 16
# Of the size allowed may one change fill with the texts of new files, which are in the vault
# anyway: a large import must not push out what cannot be had from anywhere else.


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much is kept; no days at all switch the journal off."""

    days: int = 90
    size_bytes: int = 32_000_000


@dataclass(slots=True)
class _Open:
    """The change that is being made."""

    change: Change
    now: datetime
    new_bytes: int = 0


class Journal:
    """The journal of one vault."""

    def __init__(self, path: Path, limits: Limits) -> None:
        self.path, self.limits = path, limits
        self._open: _Open | None = None
        self._paused = False
        self._filled = ("", 0)
        self._seen = (b"", 0)
        self._lines: list[bytes] = []
        self._texts: dict[str, tuple[int, int]] = {}

    @contextmanager
    def change(
        self, what: str, who: str, now: datetime, *, id: str = "", undoes: str = ""
    ) -> Iterator[str]:
        """Take all that is recorded within as one change, and return its id.

        Within another change it is part of that.  With the `id` of an earlier one it goes on.
        """
        if self._open is not None:
            yield self._open.change.id
            return
        own = id or new_id(now, os.urandom(10))
        last, filled = self._filled
        change = Change(own, format_time(now), who, what, undoes=undoes)
        self._open = _Open(change, now, filled if own == last else 0)
        try:
            yield own
            with _warned(self.path):
                self._prune(now)
        finally:
            self._filled = (own, self._open.new_bytes)
            self._open = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Record nothing of what is done within."""
        held, self._paused = self._paused, True
        try:
            yield
        finally:
            self._paused = held

    @property
    def current(self) -> str:
        """The id of the change that is being made; empty where there is none."""
        return self._open.change.id if self._open else ""

    def record(self, effects: Sequence[Effect]) -> None:
        """Keep what is about to happen to files, before it does.

        It is on the disk when this returns, if there is a text to be lost.

        Raises:
            VaultUnavailable: The journal cannot be written.
        """
        effects = [effect for effect in effects if effect.before != effect.after]
        if self._open is None or self._paused or not self.limits.days or not effects:
            return
        replaces = any(effect.before is not None for effect in effects)
        try:
            if replaces:  # else what is known already is not worth a look through the file
                self._scan()
            known = set(self._texts) if replaces else set()
            lines = [line for e in effects for line in self._lines_of(e, self._open, known)]
            self._append(b"".join(lines), lasting=replaces)
        except OSError as error:
            raise VaultUnavailable(
                f"The journal {self.path} cannot be written: {error}. Nothing was changed. Free "
                "the disk, or set journal_days = 0 to do without undo."
            ) from error

    def changes(self) -> list[Change]:
        """Return the changes that are kept, oldest first."""
        self._scan()
        return _told(self._lines)

    def named(self, ids: Collection[str]) -> list[Change]:
        """Return those of the changes that are kept that have one of these ids, oldest first."""
        self._scan()
        marks = [json.dumps(id).encode() for id in ids]
        told = _told([line for line in self._lines if any(mark in line for mark in marks)])
        return [change for change in told if change.id in ids]

    def text(self, etag: str) -> bytes | None:
        """Return the bytes a file had in the version with this etag; None if they are not kept."""
        self._scan()
        return _unpacked(self._text_line(etag), etag)

    def erase(
        self,
        known: Collection[str],
        erased: Iterable[str],
        edit: Callable[[str, bytes], bytes],
        edited: Mapping[str, str],
    ) -> None:
        """Drop all that is kept of notes, known by these ids, but that the `erased` were erased.

        `edit` takes what names them out of the text that a path had; `edited` tells of files that
        were edited so: the etag before and after.

        Raises:
            VaultUnavailable: The journal cannot be written.
        """
        if self._open is None or not (self.limits.days or self.path.exists()):
            return
        stub = replace(
            self._open.change,
            what=ERASED,
            steps=tuple(Step("", None, None, note) for note in erased),
        )
        try:
            rest = [replace(c, steps=_without(c.steps, known)) for c in self.changes()]
            kept = [change for change in rest if change.steps]
            texts = _Edited(self.text, edit, dict(edited))
            kept = [replace(c, steps=tuple(map(texts.step, c.steps))) for c in kept]
            self._write([*kept, stub], texts.lines)
        except OSError as error:
            raise VaultUnavailable(
                f"The journal {self.path} cannot be written: {error}. It may still hold the "
                "erased text. Free the disk; the next command finishes the work."
            ) from error

    # -- the file

    def _lines_of(self, effect: Effect, open: _Open, known: set[str]) -> Iterator[bytes]:
        sides = {
            name: (etag_of(content), content)
            for name, content in (("before", effect.before), ("after", effect.after))
            if content is not None
        }
        etags = {name: etag for name, (etag, _) in sides.items()}
        content = effect.before if effect.after is None else effect.after
        note = parse(content or b"", effect.path).id
        step = Step(effect.path, etags.get("before"), etags.get("after"), note, effect.place)
        yield _line(open.change, step)
        for etag, content in sides.values():
            if etag in known or not self._has_room(effect, content, open):
                continue
            packed = _packed(etag, content)
            open.new_bytes += len(packed) if effect.before is None else 0
            known.add(etag)
            yield packed

    def _has_room(self, effect: Effect, content: bytes, open: _Open) -> bool:
        most = self.limits.size_bytes * _NEW_TEXT_SHARE
        return effect.before is not None or open.new_bytes + len(content) <= most

    def _append(self, lines: bytes, *, lasting: bool) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab+", opener=_for_us_alone) as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                lines = lines if file.read(1) == b"\n" else b"\n" + lines
            else:
                lines = _head() + lines
            file.write(lines)
            file.flush()
            if lasting:
                os.fsync(file.fileno())

    def _scan(self) -> None:
        """Take in what was appended since the last look, by us or by another process."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            self._forget_scan(b"")
            return
        with file:
            head = file.readline()
            if head != self._seen[0]:  # the file was made anew
                self._forget_scan(head)
            at = file.seek(self._seen[1])
            for line in file:
                if not line.endswith(b"\n"):
                    break  # it is being written, or a crash cut it off
                if line.startswith(b"{"):
                    self._lines.append(line)
                elif line.startswith(b"b2-"):
                    etag = line.partition(b" ")[0].decode("ascii", "replace")
                    self._texts[etag] = (at, len(line))
                at += len(line)
            self._seen = (head, at)

    def _forget_scan(self, head: bytes) -> None:
        self._seen, self._lines, self._texts = (head, 0), [], {}

    # -- what is not kept

    def _prune(self, now: datetime) -> None:
        """Drop what is too old, and the oldest of what is too much."""
        try:
            size = self.path.stat().st_size
            with self.path.open("rb") as file:
                first = [_read_line(file.readline()) for _ in ("head", "oldest")][1]
        except FileNotFoundError:
            return
        since, due = (
            format_time(now - timedelta(days=self.limits.days + more)) for more in (0, _SLACK_DAYS)
        )
        if size > self.limits.size_bytes or (first and first[0].at < due):
            changes = self.changes()
            kept = self._within_limits(changes, since)
            if len(kept) < len(changes):  # the newest change is kept, be it too much by itself
                self._write(kept)

    def _within_limits(self, changes: Sequence[Change], since: str) -> list[Change]:
        room, kept, counted = self.limits.size_bytes * _KEPT_SHARE, list[Change](), set[str]()
        for change in reversed(changes):
            etags = {etag for step in change.steps for etag in (step.before, step.after) if etag}
            room -= sum(len(_line(change, step)) for step in change.steps)
            room -= sum(self._texts[etag][1] for etag in etags - counted if etag in self._texts)
            counted |= etags
            if kept and (room < 0 or change.at < since):
                break
            kept.append(change)
        return [change for change in reversed(kept) if change.at >= since]

    def _write(
        self, changes: Sequence[Change], texts: Mapping[str, bytes] = MappingProxyType({})
    ) -> None:
        """Put a journal of these changes, and of texts that are new, in the place of the file."""
        written = set[str]()
        with replacing(self.path) as file:
            file.write(_head())
            for change in changes:
                file.writelines(_line(change, step) for step in change.steps)
                etags = [etag for s in change.steps for etag in (s.before, s.after) if etag]
                new = [etag for etag in dict.fromkeys(etags) if etag not in written]
                file.writelines(texts.get(etag) or self._text_line(etag) for etag in new)
                written.update(etags)

    def _text_line(self, etag: str) -> bytes:
        """Return the line that holds a text; empty where it is not kept."""
        if etag not in self._texts:
            return b""
        start, size = self._texts[etag]
        with self.path.open("rb") as file:
            file.seek(start)
            return file.read(size)


class _Edited:
    """Texts of the journal as they are once something is taken out of them."""

    def __init__(
        self,
        text: Callable[[str], bytes | None],
        edit: Callable[[str, bytes], bytes],
        edited: dict[str, str],
    ) -> None:
        self._text, self._edit, self._edited = text, edit, edited
        self.lines: dict[str, bytes] = {}

    def step(self, step: Step) -> Step:
        return replace(
            step, before=self._side(step.path, step.before), after=self._side(step.path, step.after)
        )

    def _side(self, path: str, etag: str | None) -> str | None:
        content = self._text(etag) if etag else None
        if etag is None or content is None:
            return self._edited.get(etag, etag) if etag else None
        new = self._edit(path, content)
        if new == content:
            return etag
        mark = etag_of(new)
        self.lines[mark] = _packed(mark, new)
        return mark


def _told(lines: Iterable[bytes]) -> list[Change]:
    changes, steps = dict[str, Change](), dict[str, list[Step]]()
    for read in map(_read_line, lines):
        if read:
            change, step = read
            changes.setdefault(change.id, change)
            steps.setdefault(change.id, []).append(step)
    return [replace(change, steps=tuple(steps[id])) for id, change in changes.items()]


def _without(steps: Sequence[Step], known: Collection[str]) -> tuple[Step, ...]:
    return tuple(step for step in steps if step.note not in known)


def _head() -> bytes:
    """Return a first line that no other file has; while it is there, places in the file hold."""
    return json.dumps({"memorix": "journal", "made": os.urandom(8).hex()}).encode() + b"\n"


def _line(change: Change, step: Step) -> bytes:
    data = {
        "change": change.id,
        "at": change.at,
        "who": change.who,
        "what": change.what,
        "undoes": change.undoes,
        "path": step.path,
        "before": step.before,
        "after": step.after,
        "note": step.note,
        "place": step.place,
    }
    told = {key: value for key, value in data.items() if value}
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def _read_line(line: bytes) -> tuple[Change, Step] | None:
    """Return what a line tells; None where a crash or a fault of the disk left no such line."""
    try:
        data: Mapping[str, Any] = json.loads(line)
        get: Callable[..., Any] = data.get
        change = Change(
            data["change"], data["at"], data["who"], data["what"], (), get("undoes", "")
        )
    except (ValueError, KeyError, TypeError):
        return None
    places = (get("path", ""), get("before"), get("after"), get("note", ""), get("place", ""))
    return change, Step(*places)


def _packed(etag: str, content: bytes) -> bytes:
    return etag.encode() + b" " + b64encode(zlib.compress(content)) + b"\n"


def _unpacked(line: bytes, etag: str) -> bytes | None:
    try:
        content = zlib.decompress(b64decode(line.partition(b" ")[2]))
    except (ValueError, zlib.error):
        return None
    return content if etag_of(content) == etag else None


@contextmanager
def _warned(path: Path) -> Iterator[None]:
    # What was written is written; that too much is kept must not make it look otherwise.
    try:
        yield
    except OSError as error:
        _log.warning("%s was not cut down to its limits: %s", path, error)


def _for_us_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
