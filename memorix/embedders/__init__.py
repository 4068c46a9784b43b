"""Embedding models: `base` is the contract, `cards` what is known of each, then one module a kind.

`load` chooses: a folder that is named, fastembed's cache, a packaged model.  Nothing here imports a
model's library before one is loaded, and nothing but `fastembed.pull` uses the network.
"""

from pathlib import Path

from memorix.embedders.base import Embedder
from memorix.embedders.cards import MINILM, MULTILINGUAL, RECOMMENDED, Offer, packaged
from memorix.embedders.fastembed import load_folder, load_minilm, load_named, supported
from memorix.embedders.multilingual import load_multilingual
from memorix.errors import ModelUnavailable


def load(name: str, models_dir: Path) -> tuple[Embedder, str]:
    """Load the model that is asked for; an empty name asks for the default.

    A named model that cannot be loaded is replaced by the packaged one, and the second value says
    why; it is empty otherwise.

    Raises:
        ModelUnavailable: Not even the packaged model can be loaded.
    """
    try:
        return _named(name, models_dir), ""
    except ModelUnavailable as error:
        if name in ("", MINILM.name):
            raise
        return load_minilm(), f"{error} Using the packaged model {MINILM.name} meanwhile."


def available(models_dir: Path) -> list[Offer]:
    """List the packaged models, those in the cache, and those that are worth a download."""
    described = {row["model"]: row for row in supported()}
    names = dict.fromkeys([*RECOMMENDED, *described])
    found = [(name, _is_cached(described[name], models_dir)) for name in names if name in described]
    offers = packaged()
    for name, cached in found:
        if cached or name in RECOMMENDED:
            row = described[name]
            where = "pulled" if cached else "to be pulled"
            note = RECOMMENDED.get(name, "")
            offers.append(Offer(name, where, int(row["dim"]), note, str(row["license"])))
    return offers


def _named(name: str, models_dir: Path) -> Embedder:
    if name in ("", MINILM.name):
        return load_minilm()
    if name == MULTILINGUAL.name:
        return load_multilingual()
    folder = Path(name).expanduser()
    if folder.is_dir():
        return load_folder(folder)
    return load_named(name, models_dir)


def _is_cached(described: dict[str, object], models_dir: Path) -> bool:
    sources = described.get("sources")
    hub = getattr(sources, "hf", None) or (sources.get("hf") if isinstance(sources, dict) else None)
    return bool(hub) and (models_dir / f"models--{str(hub).replace('/', '--')}").is_dir()
