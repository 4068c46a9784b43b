"""Put a block of lines into a file that somebody else writes, in the place of the last one."""


def placed(there: bytes, block: bytes) -> bytes:
    """Return a file with a block in it: where the last one is, else at the end.

    The first and the last line of a block are its marks, by which it is found again.  Where only
    one of them is there, a person cut it: the new block comes at the end.
    """
    newline = b"\r\n" if b"\r\n" in there else b"\n"
    lines = block.strip().splitlines()
    new = newline.join(lines) + newline
    old = there.splitlines(keepends=True)
    bare = [line.strip() for line in old]
    if lines[0] in bare and lines[-1] in bare[(start := bare.index(lines[0])) :]:
        end = bare.index(lines[-1], start) + 1
        return b"".join(old[:start]) + new + b"".join(old[end:])
    gap = b"" if not there else newline if there.endswith(b"\n") else newline * 2
    return there + gap + new
