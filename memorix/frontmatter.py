"""The metadata block of a note: cut it out of the text, and read it as far as it can be read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from frontmatter.default_handlers import BaseHandler

from memorix.yamltext import (
    MAX_NODES,
    TooLarge,
    Value,
    compose,
    flow,
    key_of,
    key_text,
    read_simple,
    value_of,
)

_OPENING = re.compile(r"\A---[ \t]*(?:\r\n|\n|\r)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE)
_CLOSING_CR = re.compile(r"(?:\A|(?<=[\r\n]))(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_MARKED = re.compile(
    r"^<{7,} [^\r\n]*\r?\n(?P<ours>(?:(?!<{7}|[|]{7}|={7}|>{7}).*\n)*?)"
    r"(?:[|]{7,}[^\r\n]*\r?\n(?P<base>(?:(?!<{7}|={7}|>{7}).*\n)*?))?"
    r"={7,}\r?\n(?P<theirs>(?:(?!<{7}|={7}|>{7}).*\n)*?)>{7,} [^\r\n]*(?:\r?\n|\Z)",
    re.MULTILINE,
)
# Two versions of some lines as git leaves them where it cannot merge; a third, older one between.

_KEY_LINE = re.compile(r"^([A-Za-z_][\w-]*):[ \t]+(\S.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parts:
    """A note's text in pieces; joined in order they are the text again."""

    bom: str
    opening: str
    block: str
    closing: str
    body: str

    @property
    def has_block(self) -> bool:
        return bool(self.opening)

    def joined(self) -> str:
        return self.bom + self.opening + self.block + self.closing + self.body


@dataclass(frozen=True, slots=True)
class Block:
    """A metadata block, read: values as typed, and what was wrong with it.

    `problems` are (code, line in the file, message).  `sound` is False where an edit could lose
    something; such a block is never rewritten.
    """

    values: Mapping[str, Value]
    problems: tuple[tuple[str, int, str], ...] = ()
    sound: bool = True


class NoteHandler(BaseHandler):
    """Front matter as Memorix reads and renders it, for python-frontmatter's interface.

    `split` keeps the body to the byte and takes only a block on the first line; `export` writes
    text that every YAML reader takes for the same text.
    """

    FM_BOUNDARY = _OPENING
    START_DELIMITER = END_DELIMITER = "---"

    def split(self, text: str) -> tuple[str, str]:
        parts = cut(text)
        return parts.block, parts.body

    def load(self, fm: str) -> dict[str, Any]:
        return dict(read_block(fm).values)

    def export(self, metadata: dict[str, object], **kwargs: object) -> str:
        return "".join(f"{key_of(key)}: {flow(value)}\n" for key, value in metadata.items())

    def format(self, post: Any, **kwargs: object) -> str:
        return f"---\n{self.export(post.metadata)}---\n\n{post.content}"


def cut(text: str) -> Parts:
    """Cut a note's text into its pieces; without a closed block on the first line all is body."""
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    rest = text[len(bom) :]
    opening = _OPENING.match(rest)
    closing = _find_closing(rest, opening.end()) if opening else None
    if opening is None or closing is None:
        return Parts(bom, "", "", "", rest)
    block = rest[opening.end() : closing.start()]
    return Parts(bom, opening.group(), block, closing.group(), rest[closing.end() :])


def _find_closing(text: str, start: int) -> re.Match[str] | None:
    lone_cr = "\r" in text[:start] and "\n" not in text[:start]
    return (_CLOSING_CR if lone_cr else _CLOSING).search(text, start)


def read_block(block: str) -> Block:
    """Read a metadata block as far as it can be read; never raises.

    A block that is not YAML gives the keys that stand alone on a line, and is not sound.
    """
    simple = read_simple(block)
    if simple is not None:
        return Block(simple)
    try:
        root = compose(block)
        if root is None:
            return Block({})
        if not isinstance(root, yaml.MappingNode):
            return Block(
                {}, (("frontmatter-not-mapping", 2, "the block is not a list of keys"),), False
            )
        return _read_mapping(root, block)
    except yaml.MarkedYAMLError as error:
        line = _line_at(block, error.problem_mark) if error.problem_mark else 1
        return _recovered(block, "frontmatter-invalid", line, str(error.problem or error.context))
    except yaml.YAMLError as error:
        return _recovered(block, "frontmatter-invalid", 1, str(error).split("\n")[0])
    except TooLarge as error:
        return _recovered(block, "frontmatter-too-complex", 1, str(error))


def ours_of(text: str) -> str:
    """Return a text with our version of the lines of which git has left two, between its marks."""
    return _one_side(text, "ours") if "<<<<<<< " in text else text


def sides_of(text: str) -> tuple[str, str, str] | None:
    """Return both versions of a text between whose lines git has left marks: ours and theirs.

    The third is what both began from, empty where git did not leave that too.  None where there are
    no marks.
    """
    marks = list(_MARKED.finditer(text)) if "<<<<<<< " in text else []
    if not marks:
        return None
    if any(found["base"] is None for found in marks):
        return _one_side(text, "ours"), _one_side(text, "theirs"), ""
    return _one_side(text, "ours"), _one_side(text, "theirs"), _one_side(text, "base")


def _one_side(text: str, side: str) -> str:
    return _MARKED.sub(lambda found: found[side], text)


def marked_line(text: str) -> int:
    """Return the line of the first mark of two versions in a text, from 1; 0 where there is none"""
    found = _MARKED.search(text) if "<<<<<<< " in text else None
    return text.count("\n", 0, found.start()) + 1 if found else 0


def _recovered(block: str, code: str, line: int, message: str) -> Block:
    ours = ours_of(block)
    if ours != block:
        message = "git left two versions of a key; it is read as ours until one is taken out"
        at = marked_line(block) + 1
        return Block(read_block(ours).values, (("conflict-markers", at, message),), sound=False)
    values: dict[str, Value] = {}
    for match in _KEY_LINE.finditer(block):
        values.setdefault(match[1], _guessed(match[2]))
    return Block(values, ((code, line, message),), sound=False)


def _guessed(text: str) -> Value:
    if text.startswith("[") and text.endswith("]"):
        return [_unquoted(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    return _unquoted(text)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _line_at(block: str, mark: Any) -> int:
    """Return the line of the file at a mark of its block; libyaml counts more ends of lines."""
    text = block.replace("\r\n", "\n").replace("\r", "\n")
    return text.count("\n", 0, mark.index) + 2


def _read_mapping(root: yaml.MappingNode, block: str) -> Block:
    values: dict[str, Value] = {}
    problems: list[tuple[str, int, str]] = []
    budget = iter(range(MAX_NODES))
    for key_node, value_node in root.value:
        key = key_text(key_node)
        if key in values:
            line = _line_at(block, key_node.start_mark)
            problems.append(("frontmatter-duplicate-key", line, f"the key {key!r} is given twice"))
            continue
        values[key] = value_of(value_node, budget, 0)
    return Block(values, tuple(problems), sound=not problems)
