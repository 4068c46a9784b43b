"""How editors save a note: each in the steps that its users' files go through."""

import os
import time
from pathlib import Path


def in_place(file: Path, text: str) -> None:
    """Nano, Notepad and most others."""
    file.write_text(text, encoding="utf-8")


def by_rename(file: Path, text: str) -> None:
    """Gedit, Kate, JetBrains, coding assistants."""
    temporary = file.with_name(f"{file.name}.tmp.12")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)


def by_a_hidden_rename(file: Path, text: str) -> None:
    """Those who hide the temporary file, and end its name as the note's."""
    temporary = file.with_name(f".tmp-{file.name}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)


def from_another_folder(file: Path, text: str) -> None:
    """Those who write to a folder for temporary files, which nobody watches."""
    temporary = file.parents[2] / file.name
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(file)


def vim(file: Path, text: str) -> None:
    """Vim with a backup: try whether the folder can be written, move away, write anew."""
    probe, backup = file.with_name("4913"), file.with_name(f"{file.name}~")
    os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    probe.unlink()
    file.rename(backup)
    written(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), text)
    file.chmod(0o644)
    backup.unlink()


def emacs(file: Path, text: str) -> None:
    """Emacs: a link as a lock, an automatic save, a backup by rename."""
    lock, automatic = file.with_name(f".#{file.name}"), file.with_name(f"#{file.name}#")
    lock.symlink_to("somebody@host.4711:1760000000")
    automatic.write_text(text[:-1], encoding="utf-8")
    file.rename(file.with_name(f"{file.name}~"))
    written(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL), text)
    automatic.unlink()
    lock.unlink()


def vs_code(file: Path, text: str) -> None:
    """VS Code: open for reading and writing, cut to nothing, write."""
    handle = os.open(file, os.O_RDWR)
    os.ftruncate(handle, 0)
    written(handle, text)


def obsidian(file: Path, text: str) -> None:
    """Obsidian: in place, and again while the user types on."""
    file.write_text(text[: len(text) // 2], encoding="utf-8")
    time.sleep(0.7)
    file.write_text(text, encoding="utf-8")


def empty_for_a_moment(file: Path, text: str) -> None:
    """Those that cut the file first and take their time: what is seen between is empty."""
    os.truncate(file, 0)
    time.sleep(0.4)
    written(os.open(file, os.O_WRONLY | os.O_APPEND), text)


def written(handle: int, text: str) -> None:
    os.write(handle, text.encode())
    os.fsync(handle)
    os.close(handle)


EDITORS = [
    *(in_place, by_rename, by_a_hidden_rename, from_another_folder),
    *(vim, emacs, vs_code, obsidian, empty_for_a_moment),
]
