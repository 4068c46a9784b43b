"""Cross-encoders that fastembed runs: a folder with an ONNX file, or a pulled one of its list.

Only `pull` may use the network.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from memorix.errors import ModelUnavailable
from memorix.onnxmodels import BATCH, FILE, THREADS, Register, as_unavailable, file_in

_register = Register()


class FastembedReranker:
    """A `Reranker` over fastembed's `TextCrossEncoder`."""

    def __init__(self, name: str, model: Any) -> None:
        self._name, self._model = name, model

    @property
    def name(self) -> str:
        return self._name

    def scores(self, question: str, passages: Sequence[str]) -> Sequence[float]:
        with as_unavailable(f"reranker {self._name}"):
            return [float(s) for s in self._model.rerank(question, passages, batch_size=BATCH)]


def load_folder(folder: Path) -> FastembedReranker:
    """Load a cross-encoder from a folder: `model.onnx` and the tokenizer's files.

    Raises:
        ModelUnavailable: The folder has no model that can be loaded.
    """
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    file = file_in(folder)
    with as_unavailable(f"reranker {folder}"):
        name = f"memorix/{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}"
        _register.tell(name, partial(_add, name))
        model = TextCrossEncoder(name, specific_model_path=str(folder), threads=THREADS)
    return FastembedReranker(str(folder), model)


def load_named(name: str, models_dir: Path) -> FastembedReranker:
    """Load a cross-encoder of fastembed's list from the cache; never from the network.

    Raises:
        ModelUnavailable: There is no such model, or it has not been pulled.
    """
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    if not is_known(name):
        listed = ", ".join(known())
        raise ModelUnavailable(f"There is no reranker {name!r}. There are: {listed}.")
    with as_unavailable(f"reranker {name}", f"Download it with `memorix model pull {name}`."):
        model = TextCrossEncoder(
            name, cache_dir=str(models_dir), threads=THREADS, local_files_only=True
        )
    return FastembedReranker(name, model)


def pull(name: str, models_dir: Path) -> str:
    """Download a cross-encoder of fastembed's list.

    Raises:
        ModelUnavailable: The download failed.
    """
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    models_dir.mkdir(parents=True, exist_ok=True)
    with as_unavailable(
        f"reranker {name}", "Check the network, or copy the model and name its folder."
    ):
        TextCrossEncoder(name, cache_dir=str(models_dir), threads=THREADS)
    return name


def known() -> list[str]:
    """Return the names of fastembed's list, without those that were told of a folder."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    names = [str(row["model"]) for row in TextCrossEncoder.list_supported_models()]
    return [name for name in names if not name.startswith("memorix/")]


def is_known(name: str) -> bool:
    return name.lower() in {one.lower() for one in known()}


def _add(name: str) -> None:
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    source = ModelSource(hf=name)  # required, and never used
    TextCrossEncoder.add_custom_model(model=name, sources=source, model_file=FILE)
