"""JSON without the module `json`, whose regular expressions take most of the time a hook may take.

The scanner and the quoting are the C parts that `json` itself stands on; where an interpreter has
none, they come from `json`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Settings:
    """What the scanner asks for: lenient about control characters, plain Python types."""

    strict, memo = False, None
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


try:
    from _json import encode_basestring_ascii as _quoted
    from _json import make_scanner

    _scan: "Any" = make_scanner(_Settings())  # type: ignore[arg-type]
except ImportError:
    from json.decoder import JSONDecoder
    from json.encoder import encode_basestring_ascii as _quoted

    _scan = JSONDecoder(strict=False).raw_decode


def loads(text: str) -> "Any":
    """Read one value.

    Raises:
        ValueError: The text is no JSON.
    """
    try:
        found, end = _scan(text, len(text) - len(text.lstrip()))
    except (StopIteration, SystemError):  # the scanner alone cannot say what is wrong; `json` can
        import json

        return json.loads(text, strict=False)
    if text[end:].strip():
        raise ValueError("there is more after the JSON")
    return found


def dumps(value: "Any") -> str:
    """Write texts, numbers, lists and dicts with text keys, in ASCII."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)}: {dumps(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(dumps, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)
