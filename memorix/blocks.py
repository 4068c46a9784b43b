"""A block of our own lines in somebody's Markdown file, between two marks that name it."""

import re
from functools import cache

RULES, FACTS = "memorix-notes", "memorix-notes facts"
# The blocks there are: what `memorix install` writes for assistants, and the notes that an export
# puts where they read them.

_NAME = re.compile(r"<!-- (.+?): begin\b")


def framed(name: str, about: str, lines: str) -> str:
    """Return lines as a block of this name; `about` says in its first mark whose it is."""
    begin, end = f"<!-- {name}: begin; {about} -->", f"<!-- {name}: end -->"
    return "\n".join([begin, *lines.strip().splitlines(), end])


def put(text: str, block: str) -> str:
    """Return the text with a block at its end, or in the place of the one of that name.

    Where only one of the marks is there, a person cut that block: it is none any more.  A text
    that has no last line end gets none below the block either; `take` goes by that.

    Raises:
        ValueError: The block does not begin with a mark.
    """
    named = _NAME.match(block)
    if named is None:
        raise ValueError(f"{block[:40]!r} is no block")
    found = _pattern(named[1]).search(text)
    end = _line_end(found[0] if found else text)
    new = end.join(block.splitlines())
    if found:
        return text[: found.start()] + new + (found[1] or "") + text[found.end() :]
    if not text:
        return new + end
    return f"{text}{end}{new}{end}" if text.endswith("\n") else f"{text}{end}{end}{new}"


def take(text: str, name: str) -> str:
    """Return the text as it was without the block of this name."""
    found = _pattern(name).search(text)
    if found is None:
        return text
    end = _line_end(found[0])
    before = text[: found.start()].removesuffix(end)
    if not found[1]:
        before = before.removesuffix(end)
    return before + text[found.end() :]


def held(text: str, name: str) -> bool:
    """Say whether the text has a block of this name."""
    return _pattern(name).search(text) is not None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    begin, end = rf"<!-- {re.escape(name)}: begin\b", f"<!-- {re.escape(name)}: end -->"
    within = rf"(?:(?!{begin}).)*?"  # else a mark that lost its end would reach to another's
    return re.compile(rf"{begin}[^>]*-->\r?\n{within}{end}(\r?\n)?", re.DOTALL)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
