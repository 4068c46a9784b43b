"""What all models share that fastembed runs by ONNX: how they are run, and how they fail."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from memorix.errors import ModelUnavailable

BATCH = 8
# On a CPU small batches of like length are fastest, and memory grows with batch x length squared.

THREADS = 1
# A second one waits by turning round: it costs three times the work as soon as the machine has
# anything else to do, and an editor's always has.

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# onnxruntime reports its use to its maker from version 1.32 on, unless this is set before it loads.

FILE = "model.onnx"
# The name of a model in a folder of its own.


def file_in(folder: Path) -> Path:
    """Return the model of a folder.

    Raises:
        ModelUnavailable: It has none.
    """
    file = folder / FILE
    if not file.is_file():
        raise ModelUnavailable(f"{folder} has no {FILE}. Name a folder with an ONNX model.")
    return file


class Register:
    """The models that fastembed was told of beside those on its list; it takes each name once."""

    def __init__(self) -> None:
        self._lock, self._told = Lock(), set[str]()

    def tell(self, name: str, add: Callable[[], None]) -> None:
        with self._lock:
            if name not in self._told:
                add()
                self._told.add(name)


@contextmanager
def as_unavailable(what: str, advice: str = "") -> Iterator[None]:
    """Turn whatever a missing or broken model raises into one error with a next step.

    `what` is the model with its kind, such as `model minilm`.
    """
    try:
        yield
    except ModelUnavailable:
        raise
    except Exception as error:
        reason = str(error).split("\n")[0][:200]
        said = f"The {what} cannot be used: {reason}. {advice}"
        raise ModelUnavailable(said.rstrip()) from error
