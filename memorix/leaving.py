"""Decide which notes leave the vault in an export, and what of each.

Archived notes are out of the vault already and stay where they are.  What waits in the inbox, and
what is out of force because it was retired, superseded or has expired, leaves only with
`everything`.  Private notes stay, private spans are taken out and secrets masked, unless all is
asked for as it is.
"""

from dataclasses import dataclass, replace

from memorix.frontmatter import cut, read_block
from memorix.kinds import INBOX, PRIVATE, SECRET
from memorix.note import decode, parse
from memorix.privacy import is_private, without
from memorix.query import Filter
from memorix.screening import hide, secrets, values


@dataclass(frozen=True, slots=True)
class Screened:
    """What of a file may leave: its bytes, None where it stays and `why`; kinds of what is masked.

    Every byte that is neither private nor secret is the same.
    """

    content: bytes | None
    masked: tuple[str, ...] = ()
    why: str = ""


def wanted(asked: Filter, *, everything: bool) -> Filter:
    """Return the filter of the notes to look at; those that are private are screened afterwards."""
    held = ("", SECRET, PRIVATE, *([INBOX] if everything else []))
    return replace(asked, everything=everything or asked.everything, held=held)


def narrowed(asked: Filter) -> bool:
    """Say whether a filter takes only some of the notes of its scopes."""
    return asked != Filter(scopes=asked.scopes)


def screened(content: bytes, path: str) -> Screened:
    """Take what is private or secret out of a note's file."""
    if is_private(parse(content, path)):
        return Screened(None, why="private")
    text, odd = decode(content)
    public = without(text)
    found = values(public, secrets(public))
    labels = tuple(dict.fromkeys(found.values()))
    if odd and (found or public != text):
        why = f"holds a {labels[0]}" if labels else "has a private part"
        return Screened(None, why=f"{why}, and its encoding does not let it be taken out")
    kept = hide(public, found)
    if read_block(cut(public).block).sound and not read_block(cut(kept).block).sound:
        return Screened(None, why=f"its metadata holds what looks like a {labels[0]}")
    return Screened(content if kept == text else kept.encode(), labels)
