"""Decide which notes stay out of what was not asked for by name: recall, the brief, resources."""

from collections.abc import Sequence
from dataclasses import replace

from memorix.kinds import HOST_FILE, INBOX, PRIVATE, SECRET
from memorix.layout import is_host_file
from memorix.lifecycle import Draft
from memorix.note import Note, Warning
from memorix.privacy import is_private


def reason(note: Note, root: str, warnings: Sequence[Warning] = ()) -> str:
    """Return why a note is held back, empty where it is not.

    `root` is the folder of its scope in the vault, `warnings` are those about its file.
    """
    if in_inbox(note.path, root):
        return INBOX
    if is_private(note):
        return PRIVATE
    if any(warning.code == SECRET for warning in warnings):
        return SECRET
    return HOST_FILE if is_host_file(note.path) else ""


def in_inbox(path: str, root: str) -> bool:
    """Say whether a path lies in the inbox of a scope; case is nothing to some systems."""
    folder, slash, _ = path.removeprefix(f"{root}/").partition("/")
    return bool(slash) and path.startswith(f"{root}/") and folder.casefold() == INBOX


def inbox_of(root: str) -> str:
    """Return the folder in which the suggestions for a scope wait."""
    return f"{root}/{INBOX}"


def outside(path: str, root: str) -> str:
    """Return the path that a suggestion has once it is accepted: its place without the inbox."""
    return f"{root}/{path.removeprefix(f'{root}/').partition('/')[2]}"


def for_review(draft: Draft, review: str) -> Draft:
    """Return a draft as a suggestion, where it has to wait for a person.

    `review` says which do: `all` that assistants write, the `inferred` ones among them, whose
    origin is not that the user stated them, or none (`off`).  What a person writes never waits.
    """
    if review == "off" or draft.author.startswith("human:"):
        return draft
    stated = draft.extra.get("origin", draft.origin) == "stated"
    return draft if stated and review == "inferred" else replace(draft, suggested=True)
