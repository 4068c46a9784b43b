"""Notes as an OKF bundle: a folder of Markdown, or the same packed as .zip or .tar.gz.

Files are copied byte for byte, sorted, and without a clock, so that the same notes give the same
archive.
"""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

from memorix.exchange.base import Files, refuse_existing
from memorix.files import below, write_atomic

_EPOCH = (1980, 1, 1, 0, 0, 0)
# The earliest date a zip file can hold.


def write_folder(files: Files, target: Path) -> int:
    refuse_existing(target)
    target.mkdir(parents=True, exist_ok=True)
    count = 0
    for path, content in files:
        file = below(target, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, content)
        count += 1
    return count


def write_zip(files: Files, target: Path) -> int:
    refuse_existing(target)
    count = 0
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files:
            archive.writestr(zipfile.ZipInfo(path, _EPOCH), content, zipfile.ZIP_DEFLATED)
            count += 1
    write_atomic(target, packed.getvalue())
    return count


def write_tar(files: Files, target: Path) -> int:
    refuse_existing(target)
    count = 0
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, content in files:
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(content))
            count += 1
    write_atomic(target, packed.getvalue())
    return count
