import errno
import os
import stat
from pathlib import Path

import pytest

from memorix.errors import UnsafePath
from memorix.files import below, move_file, safe_relative, write_atomic


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_bytes(b"old")
    file.chmod(0o640)

    write_atomic(file, b"new")

    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_failed_write_leaves_the_old_file_and_no_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "note.md"
    file.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomic(file, b"new")

    assert file.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["note.md"]


def test_a_file_moves_to_another_disk_by_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, destination = tmp_path / "note.md", tmp_path / "moved.md"
    file.write_bytes(b"text")

    def across(path: Path, target: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(Path, "rename", across)
    move_file(file, destination)

    assert destination.read_bytes() == b"text"
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_file()] == ["moved.md"]


@pytest.mark.parametrize(
    "path",
    [
        "../x.md",
        "a/../../x.md",
        "/etc/passwd",
        "~/x.md",
        "C:\\x.md",
        "a\\..\\x.md",
        "%2e%2e/x.md",
        "..%2fx.md",
        "%2e%2e%2fx.md",
        "a//b.md",
        "./x.md",
        ".hidden/x.md",
        "a\0b.md",
        "",
    ],
)
def test_a_path_that_is_not_plain_is_refused(path: str) -> None:
    with pytest.raises(UnsafePath):
        safe_relative(path)


@pytest.mark.parametrize("path", ["user/a.md", "projects/app/端口.md", "user/100%.md", "a b.md"])
def test_plain_paths_pass(path: str) -> None:
    assert safe_relative(path).as_posix() == path


def test_a_symbolic_link_out_of_the_root_is_refused(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "way").symlink_to(outside)

    with pytest.raises(UnsafePath):
        below(root, "way/x.md")
