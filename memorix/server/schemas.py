"""The shapes of what goes in and out of the tools, kept small: hosts pay for them in tokens."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator

from memorix.errors import InvalidRequest


def _text(value: object) -> object:
    if isinstance(value, bool):  # where a text may also be a yes
        return "true" if value else ""
    if isinstance(value, int):  # some clients send 8443 for "8443"; 1.10 would not come back
        return str(value)
    return "" if value is None else value


def _number(value: object) -> object:
    return 0 if value in (None, "") else value


def _listed(value: object) -> list[str]:
    from memorix.note import tags_from

    return list(tags_from(value))


def _ids(value: object) -> list[str]:
    from memorix.arguments import ids_from

    return ids_from(value)


def _keys(value: object) -> object:
    from memorix.keys import keys_from

    try:
        return keys_from(value)
    except InvalidRequest as error:
        raise ValueError(str(error)) from error


Text = Annotated[str, BeforeValidator(_text)]
# Hosts send null for what they leave out.

Count = Annotated[int, BeforeValidator(_number)]
Flag = Annotated[bool, BeforeValidator(lambda value: False if value in (None, "") else value)]
Words = Annotated[list[str], BeforeValidator(_listed)]
# Models send lists as JSON text, as `a, b`, as one word, or as null.

Ids = Annotated[list[str], BeforeValidator(_ids)]
# As words, but kept as they are written.

Keys = Annotated[dict[str, Any], BeforeValidator(_keys)]
# A mapping, its JSON text, or lines `key: value`.


class NearNote(BaseModel):
    id: str
    title: str
    gist: str
    differs: str
    conflict: bool


class Findable(BaseModel):
    words: str
    vector: str


class Write(BaseModel):
    """What a write did."""

    id: str
    path: str
    etag: str
    status: str
    scope: str
    findable_now: Findable
    near: list[NearNote]
    settle: list[str]
    masked: list[str]


class RecallHit(BaseModel):
    id: str
    title: str
    gist: str
    type: str
    date: str
    scope: str
    origin: str
    trust: str
    score: float
    why: str


class Recalled(BaseModel):
    """Notes found, best first."""

    hits: list[RecallHit]
    total: int
    scopes: list[str]
    truncated: bool
    cursor: str
    message: str


class LinkEnd(BaseModel):
    title: str
    id: str
    relation: str
    state: str


class NoteRead(BaseModel):
    """A note as its file says now."""

    id: str
    path: str
    etag: str
    title: str
    type: str
    scope: str
    status: str
    date: str
    origin: str
    trust: str
    tags: list[str]
    meta: dict[str, Any]
    links: list[LinkEnd]
    backlinks: list[LinkEnd]
    body: str
    warnings: list[str]


class Forgot(BaseModel):
    id: str
    path: str
    level: str
    done: bool
    steps: list[str]
    token: str
    ids: list[str]


class Briefed(BaseModel):
    text: str
    ids: list[str]
    total: int
    scopes: list[str]
    truncated: bool


def slim(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON schema without titles and references; the meaning is the same."""
    slimmed: dict[str, Any] = _slim(schema, schema.get("$defs", {}))
    return slimmed


def _slim(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_slim(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _slim(definitions[node["$ref"].rpartition("/")[2]], definitions)
    kept = {
        key: _slim(value, definitions)
        for key, value in node.items()
        if key not in ("$defs", "additionalProperties") and not _is_title(key, value)
    }
    return kept


def _is_title(key: str, value: Any) -> bool:
    # A property may be called `title`; then its value is a schema, not text.
    return key == "title" and isinstance(value, str)
