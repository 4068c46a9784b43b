"""Put made-up secrets together when a scenario is read: no file of ours holds one whole.

`{secret:NAME}` in a scenario's text becomes a value of that shape, the same for the same scenario;
`{bulk:N}` becomes N words.
"""

import random
import re
import string
from collections.abc import Callable, Mapping
from typing import Any

_MARK = re.compile(r"\{(secret|bulk):([a-z0-9-]+)\}")
_LETTERS = string.ascii_letters + string.digits
_URL_SAFE = _LETTERS + "-_"


def put_together(value: Any, seed: int) -> Any:
    """Return JSON data with every mark in its texts replaced."""
    if isinstance(value, str):
        return _MARK.sub(lambda mark: _MADE[mark[1]](mark[2], seed), value)
    if isinstance(value, Mapping):
        return {key: put_together(item, seed) for key, item in value.items()}
    if isinstance(value, list):
        return [put_together(item, seed) for item in value]
    return value


def secret(name: str, seed: int) -> str:
    """Return the value for a name: its kind, and a number where a scenario needs several."""
    kind = name.rstrip(string.digits).rstrip("-")
    return _SHAPES[kind](_Dice(f"{seed}/{name}"))


def bulk(count: str, seed: int) -> str:
    """Return so many made-up words in sentences of nine, a paragraph every ten."""
    dice = _Dice(f"{seed}/{count}")
    words = [dice.of(string.ascii_lowercase, 3 + number % 7) for number in range(int(count))]
    sentences = [" ".join(words[at : at + 9]) + "." for at in range(0, len(words), 9)]
    paragraphs = (" ".join(sentences[at : at + 10]) for at in range(0, len(sentences), 10))
    return "\n\n".join(paragraphs)


_MADE: Mapping[str, Callable[[str, int], str]] = {"secret": secret, "bulk": bulk}


class _Dice:
    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, count: int) -> str:
        """Return random characters, of which one at least is a digit where there are any."""
        text = "".join(self._random.choice(alphabet) for _ in range(count))
        if any(c.isdigit() for c in alphabet) and not any(c.isdigit() for c in text):
            text = text[:-1] + "7"
        return text

    def pick(self, *words: str) -> str:
        return self._random.choice(words)


def _jwt(dice: _Dice) -> str:
    return f"eyJ{dice.of(_URL_SAFE, 33)}.eyJ{dice.of(_URL_SAFE, 60)}.{dice.of(_URL_SAFE, 43)}"


def _pem(dice: _Dice) -> str:
    lines = "\n".join(dice.of(_LETTERS + "+/", 64) for _ in range(6))
    head, foot = (f"-----{edge} RSA " + "PRIVATE KEY-----" for edge in ("BEGIN", "END"))
    return f"{head}\n{lines}\n{foot}"


def _phrase(dice: _Dice) -> str:
    return dice.of(string.ascii_lowercase, 5) + dice.of("!*+", 1) + dice.of(_LETTERS, 9)


_SHAPES: Mapping[str, Callable[[_Dice], str]] = {
    "aws-id": lambda d: "AKIA" + d.of(string.ascii_uppercase + "234567", 16),
    "aws-key": lambda d: d.of(_LETTERS + "+/", 40),
    "github": lambda d: "gh" + d.pick("p", "o", "s") + "_" + d.of(_LETTERS, 36),
    "gitlab": lambda d: "gl" + "pat-" + d.of(_URL_SAFE, 20),
    "slack": lambda d: "xox" + "b-" + d.of(string.digits, 12) + "-" + d.of(_LETTERS, 24),
    "stripe": lambda d: "sk_" + "live_" + d.of(_LETTERS, 24),
    "google": lambda d: "AIza" + d.of(_URL_SAFE, 35),
    "openai": lambda d: "sk-" + "proj-" + d.of(_URL_SAFE, 48),
    "anthropic": lambda d: "sk-" + "ant-api03-" + d.of(_URL_SAFE, 93) + "AA",
    "npm": lambda d: "npm" + "_" + d.of(_LETTERS, 36),
    "pypi": lambda d: "pypi-" + "AgEIcHlwaS5vcmc" + d.of(_URL_SAFE, 70),
    "sendgrid": lambda d: "SG" + "." + d.of(_URL_SAFE, 22) + "." + d.of(_URL_SAFE, 43),
    "jwt": _jwt,
    "pem": _pem,
    "password": _phrase,
    "hex": lambda d: d.of("0123456789abcdef", 40),
    "token": lambda d: d.of(_URL_SAFE, 32),
}
