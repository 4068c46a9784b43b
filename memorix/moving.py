"""Give a note another path without losing who it is or what leads to it."""

from memorix import lifecycle, linking, sync
from memorix.errors import InvalidRequest
from memorix.files import safe_relative
from memorix.index.base import Rename
from memorix.layout import scope_of
from memorix.memory import Memory
from memorix.note import RESERVED
from memorix.results import Moved


def move(
    memory: Memory, note_id: str, target: str, *, links: bool = False, along: str = ""
) -> Moved:
    """Move a note; its id, its history and the places its own links lead to stay.

    `links` lets the links of other notes follow it, where Memorix wrote those notes.  Its own links
    into the folder `along` stay as they are.  The rename is what counts: were we to die after it,
    links are left as they were.

    Raises:
        NoteNotFound, NoteChanged, UnsafePath: Nothing was changed.
        InvalidRequest: The new path is taken, or is a reserved name.
    """
    row = memory.find(note_id)
    new = moved_path(row.path, target)
    with memory.writing("mv"):
        content, seen = memory.content(row)
        if memory.index.has_path(new) and new.casefold() != row.path.casefold():
            raise InvalidRequest(f"There is a note {new} already. Choose another path.")
        sources = linking.inbound(memory.index, row)
        moved = memory.store.move(row.path, new, seen.etag)
        based = lifecycle.rebased_note(content, row.path, new, along)
        if based != content:
            moved = memory.store.write(new, based, moved.etag)
        rename = Rename(row.path, new, scope_of(new), moved)
        memory.put([rename, sync.put_for(new, based, moved)])
        planned, left = linking.repairs(memory.store, sources, row.path, new)
        for repair in planned if links else ():
            memory.rewrite(repair.path, repair.content, repair.etag)
    repaired = tuple(repair.path for repair in planned)
    if not links:
        repaired, left = (), sorted({*left, *repaired})
    memory.announce([row.path, new, *repaired])
    return Moved(memory.find(new).id, new, row.path, moved.etag, repaired, tuple(left))


def moved_path(path: str, target: str) -> str:
    """Return the path a note gets: `target`, or its own name in `target` where that is a folder.

    Raises:
        UnsafePath, InvalidRequest: It cannot be the path of a note.
    """
    wanted = target.strip()
    new = f"{wanted}{path.rpartition('/')[2]}" if wanted.endswith("/") else wanted
    new = str(safe_relative(new if new.endswith(".md") else f"{new}.md"))
    if new.rpartition("/")[2].lower() in RESERVED:
        raise InvalidRequest(f"{new} is a name that OKF reserves. Choose another.")
    if new == path:
        raise InvalidRequest(f"The note is {path} already.")
    return new
