"""Say in a commit who changed which notes, by what, and in which session."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memorix.note import Note
from memorix.privacy import is_private
from memorix.versions import ERASED, Change

DOMAIN = "memorix.invalid"
# Assistants have no mailbox; this domain can never have one (RFC 2606).

FALLBACK = ("Memorix", f"memorix@{DOMAIN}")
# Who commits where git knows no user.

_LONGEST_TITLE, _MOST_NOTES = 100, 20
_HUMAN = "human:"


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote what is committed; `is_user` is whoever git takes for its user, if it knows one."""

    name: str
    email: str
    is_user: bool = False


def author_of(who: str) -> Author:
    """Return the author for an actor of OKF: `claude-code/2.1`, or `human:ann`."""
    name = who.removeprefix(_HUMAN)
    mailbox = re.sub(r"[^A-Za-z0-9._-]+", "-", name.partition("/")[0]).strip("-.").lower()
    return Author(name, f"{mailbox or 'assistant'}@{DOMAIN}", who.startswith(_HUMAN))


def message(change: Change, notes: Sequence[Note], session: str = "") -> str:
    """Return the message of the commit that holds a change to these notes, as they are now.

    What was erased is not called by its title, and neither is what is private.
    """
    erased = [step.note for step in change.steps if change.what == ERASED and not step.path]
    subject = f"{change.what}: {_count(len(erased)) if erased else _titles(notes)}"
    listed = [("Memorix-Note", one) for one in erased or [str(note.id) for note in notes]]
    told = [
        *(listed if len(listed) <= _MOST_NOTES else ()),
        ("Memorix-Tool", change.what),
        ("Memorix-Session", session),
        ("Memorix-Change", change.id),
        ("Memorix-Undoes", change.undoes),
    ]
    trailers = "".join(f"{key}: {value}\n" for key, value in told if value)
    return f"{subject}\n\n{trailers}"


def by_hand(notes: Sequence[Note]) -> str:
    """Return the message for what a person had changed before a tool did."""
    return f"edited by hand: {_titles(notes)}\n"


def _titles(notes: Sequence[Note]) -> str:
    if not notes:
        return "files beside the notes"
    title = " ".join(notes[0].title.split())
    title = title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"
    first = "a private note" if is_private(notes[0]) else title
    return f"{first} and {len(notes) - 1} more" if len(notes) > 1 else first


def _count(notes: int) -> str:
    return "a note" if notes == 1 else f"{notes} notes"
