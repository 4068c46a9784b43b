"""Models that read question and passage together: `base` is the contract, `fastembed` runs them.

Nothing here imports a model's library before one is loaded, and nothing but `fastembed.pull` uses
the network.
"""

from pathlib import Path

from memorix.rerankers.base import Reranker
from memorix.rerankers.fastembed import load_folder, load_named


def load(name: str, models_dir: Path) -> Reranker:
    """Load a reranker from the folder of this name, or one that was pulled.

    Raises:
        ModelUnavailable: It cannot be loaded; the message says what to do.
    """
    folder = Path(name).expanduser()
    return load_folder(folder) if folder.is_dir() else load_named(name, models_dir)
