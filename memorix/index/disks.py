"""Tell the disks on which processes cannot share memory, which a write-ahead log needs."""

import re
from functools import lru_cache
from pathlib import Path

MOUNTS = Path("/proc/mounts")

NETWORK = frozenset(
    """
    9p afs beegfs ceph cifs coda drvfs fuse.ceph fuse.davfs fuse.glusterfs fuse.grpcfuse fuse.mount
    fuse.osxfs fuse.rclone fuse.s3fs fuse.smbnetfs fuse.sshfs gfs2 glusterfs gpfs lustre ncpfs nfs
    nfs4 ocfs2 smb3 smbfs vboxsf virtiofs vmhgfs fuse.vmhgfs-fuse prl_fs
    """.split()  # noqa: SIM905 - a list of 30 strings is not easier to read
)
# File systems that other machines, or the host of a virtual one, may have open too.  Several of
# them take a write-ahead log without complaint and lose or damage it later.

_ESCAPED = re.compile(r"\\([0-7]{3})")


@lru_cache
def network_disk(path: Path) -> str:
    """Return the type of the network file system that a path lies on; empty for a local disk."""
    if path.drive.startswith("\\\\"):
        return "smb"
    try:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:  # another system than Linux; what it refuses is noticed when it does
        return ""
    kind = disk_of(str(path.resolve()), mounts)
    return kind if kind in NETWORK else ""


def disk_of(path: str, mounts: str) -> str:
    """Return the type of the file system that a real path lies on, by a table like /proc/mounts."""
    longest, found = -1, ""
    for line in mounts.splitlines():
        _, place, kind, *_ = [*line.split(" "), "", "", ""]
        place = _ESCAPED.sub(lambda code: chr(int(code[1], 8)), place)
        inside = path == place or path.startswith(f"{place.rstrip('/')}/")
        if inside and len(place) >= longest:  # of two at one place, the later hides the earlier
            longest, found = len(place), kind
    return found
