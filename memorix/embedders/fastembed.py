"""Models that fastembed runs: a folder with an ONNX file, or one of its own list from its cache.

Only `pull` may use the network.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memorix.embedders.base import ModelCard
from memorix.embedders.cards import MINILM, MINILM_FOLDER, MINILM_SHA256, UNKNOWN_FLOOR
from memorix.errors import InvalidRequest, ModelUnavailable
from memorix.onnxmodels import BATCH, FILE, THREADS, Register, as_unavailable, file_in

if TYPE_CHECKING:
    from memorix.embedders.base import Vectors

_register = Register()


class FastembedEmbedder:
    """An `Embedder` over fastembed's `TextEmbedding`."""

    def __init__(self, card: ModelCard, model: Any) -> None:
        self._card, self._model = card, model

    @property
    def card(self) -> ModelCard:
        return self._card

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors = np.empty((len(texts), self._card.dim), dtype=np.float32)
        made = self._model.passage_embed((texts[place] for place in order), batch_size=BATCH)
        for place, vector in zip(order, made, strict=True):
            vectors[place] = vector
        return _unit(vectors)

    def embed_query(self, text: str) -> "Vectors":
        import numpy as np

        made = np.array(list(self._model.query_embed([text])), dtype=np.float32)
        row: Vectors = _unit(made)[0]
        return row

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text as the model sees it, uncut, special ones included."""
        tokenizer = self._model.model.tokenizer
        encoded = tokenizer.encode(text)
        return len(encoded.ids) + sum(len(part.ids) for part in encoded.overflowing)


def load_minilm() -> FastembedEmbedder:
    """Load the packaged model.

    Raises:
        ModelUnavailable: Its file is missing or damaged.
    """
    return _load_folder(MINILM_FOLDER, MINILM, sha256=MINILM_SHA256)


def load_folder(folder: Path) -> FastembedEmbedder:
    """Load a sentence encoder from a folder: `model.onnx` and the tokenizer's files.

    Its token vectors are averaged, as sentence-transformers does by default.

    Raises:
        ModelUnavailable: The folder has no model that can be loaded.
    """
    file = file_in(folder)
    with as_unavailable(f"model {folder}"):
        mark = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    dim = _dimension(file)
    card = ModelCard(
        str(folder), f"onnx-{mark}", dim, 256, frozenset(), UNKNOWN_FLOOR, "unknown", str(folder)
    )
    return _load_folder(folder, card)


def load_named(name: str, models_dir: Path) -> FastembedEmbedder:
    """Load a model of fastembed's list from the cache; never from the network.

    Raises:
        ModelUnavailable: There is no such model, or it has not been pulled.
    """
    from fastembed import TextEmbedding

    described = _described(name)
    with as_unavailable(f"model {name}", f"Download it with `memorix model pull {name}`."):
        model = TextEmbedding(
            name, cache_dir=str(models_dir), threads=THREADS, local_files_only=True
        )
    return FastembedEmbedder(_card_of(described), model)


def pull(name: str, models_dir: Path) -> str:
    """Download a model of fastembed's list; the one use of the network in all of Memorix.

    Raises:
        InvalidRequest: fastembed knows no such model.
        ModelUnavailable: The download failed.
    """
    from fastembed import TextEmbedding

    if name not in {described["model"] for described in supported()}:
        raise InvalidRequest(f"There is no model {name!r}. See `memorix model list`.")
    models_dir.mkdir(parents=True, exist_ok=True)
    with as_unavailable(
        f"model {name}", "Check the network, or copy the model and name its folder."
    ):
        TextEmbedding(name, cache_dir=str(models_dir))
    return name


def supported() -> list[dict[str, Any]]:
    from fastembed import TextEmbedding

    return list(TextEmbedding.list_supported_models())


def _load_folder(folder: Path, card: ModelCard, sha256: str = "") -> FastembedEmbedder:
    from fastembed import TextEmbedding

    with as_unavailable(f"model {card.name}"):
        if sha256 and hashlib.sha256((folder / FILE).read_bytes()).hexdigest() != sha256:
            raise ModelUnavailable(
                f"The packaged model {card.name} is damaged. Install memorix-notes again."
            )
        _register.tell(_own_name(card), partial(_add, card))
        model = TextEmbedding(_own_name(card), specific_model_path=str(folder), threads=THREADS)
    return FastembedEmbedder(card, model)


def _add(card: ModelCard) -> None:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    TextEmbedding.add_custom_model(
        model=_own_name(card),
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=_own_name(card)),  # required, and never used
        dim=card.dim,
        model_file=FILE,
    )


def _own_name(card: ModelCard) -> str:
    return f"memorix/{card.fingerprint}"


def _described(name: str) -> dict[str, Any]:
    for described in supported():
        if described["model"].lower() == name.lower():
            return described
    raise ModelUnavailable(f"There is no model {name!r}. See `memorix model list`.")


def _card_of(described: dict[str, Any]) -> ModelCard:
    name = described["model"]
    multilingual = "multilingual" in name.lower() or "embeddinggemma" in name or "Qwen3" in name
    languages = frozenset({"zh", "en"} if "-zh" in name else {"en"})
    return ModelCard(
        name,
        f"fastembed-{name}",
        int(described["dim"]),
        512,
        frozenset() if multilingual else languages,
        UNKNOWN_FLOOR,
        str(described.get("license", "unknown")),
        "hub",
    )


def _dimension(file: Path) -> int:
    import onnxruntime

    with as_unavailable(f"model {file}"):
        session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
        return int(session.get_outputs()[0].shape[-1])


def _unit(vectors: "Vectors") -> "Vectors":
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit
