"""A block of our own lines in somebody's Markdown file, between two marks."""

import re

BEGIN = "<!-- memorix-notes: begin; `memorix uninstall` takes this block out -->"
END = "<!-- memorix-notes: end -->"

_BLOCK = re.compile(
    r"<!-- memorix-notes: begin\b[^>]*-->\r?\n.*?<!-- memorix-notes: end -->(\r?\n)?", re.DOTALL
)


def put(text: str, lines: str) -> str:
    """Return the text with our block at its end, or in the place of the one that is there.

    A text that has no last line end gets none below the block either; `take` goes by that.
    """
    found = _BLOCK.search(text)
    end = _line_end(found[0] if found else text)
    block = end.join([BEGIN, *lines.strip().splitlines(), END])
    if found:
        return text[: found.start()] + block + (found[1] or "") + text[found.end() :]
    if not text:
        return block + end
    return f"{text}{end}{block}{end}" if text.endswith("\n") else f"{text}{end}{end}{block}"


def take(text: str) -> str:
    """Return the text as it was without our block."""
    found = _BLOCK.search(text)
    if found is None:
        return text
    end = _line_end(found[0])
    before = text[: found.start()].removesuffix(end)
    if not found[1]:
        before = before.removesuffix(end)
    return before + text[found.end() :]


def held(text: str) -> bool:
    """Say whether the text has our block."""
    return _BLOCK.search(text) is not None


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
