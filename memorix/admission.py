"""Decide what of a new memory, an edit or a file from elsewhere is kept, as for secrets.

The policy is `mask`, which keeps the rest with a mark in the place of each, `refuse`, or `off`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from memorix.errors import NoteUneditable, SecretRefused
from memorix.frontmatter import cut, read_block
from memorix.lifecycle import Draft
from memorix.note import decode
from memorix.screening import hide, hide_within, secrets, values
from memorix.yamltext import Value

MASK, REFUSE, OFF = "mask", "refuse", "off"

Admitted = tuple[Draft, tuple[str, ...], str]
# A memory as it is kept, what was masked in it, and its scope.


def of_draft(draft: Draft, policy: str) -> tuple[Draft, tuple[str, ...]]:
    """Return the draft to keep, and what was masked in it, such as `GitHub token`.

    Raises:
        SecretRefused: The policy is to refuse, and there is a secret.
    """
    if policy == OFF:
        return draft, ()
    keyed = [f"{key}: {value}" for key, held in draft.extra.items() for value in _leaves(held)]
    found = _found([draft.text, draft.title, *draft.tags, *keyed], policy)
    if not found:
        return draft, ()
    kept = replace(
        draft,
        text=hide(draft.text, found),
        title=hide(draft.title, found),
        tags=tuple(hide(tag, found) for tag in draft.tags),
        extra={key: hide_within(value, found) for key, value in draft.extra.items()},
    )
    return kept, _labels(found)


def of_change(old: bytes, new: bytes, path: str, policy: str) -> tuple[bytes, tuple[str, ...]]:
    """Return the version of a file to write, and what was masked in it.

    What the old version says is its writer's, and stays.  A file that is new has an empty old one.

    Raises:
        SecretRefused: The policy is to refuse, and there is a new secret.
        NoteUneditable: A mark would break the metadata; nothing is to be written.
    """
    text, odd = decode(new)
    if policy == OFF or odd:
        return new, ()
    before = decode(old)[0]
    found = {v: label for v, label in _found([text], MASK).items() if v not in before}
    if not found:
        return new, ()
    _refuse(found, policy)
    kept = hide(text, found)
    if read_block(cut(text).block).sound and not read_block(cut(kept).block).sound:
        raise NoteUneditable(path, f"its metadata holds what looks like a {_labels(found)[0]}")
    return kept.encode(), _labels(found)


def _found(texts: Iterable[str], policy: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        rest = hide(text, found)
        found |= values(rest, secrets(rest))
    _refuse(found, policy)
    return found


def _refuse(found: Mapping[str, str], policy: str) -> None:
    if found and policy == REFUSE:
        raise SecretRefused(_labels(found))


def _labels(found: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found.values()))


def _leaves(value: Value) -> Iterable[str]:
    if isinstance(value, Mapping):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value] if isinstance(value, str) else []
