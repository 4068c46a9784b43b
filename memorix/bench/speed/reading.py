"""How fast a folder is read anew, and how fast texts are embedded, beside the least there is."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from memorix.bench.results import Measured
from memorix.bench.speed.floors import inserted
from memorix.bench.speed.stock import Stock
from memorix.bench.speed.timing import Rounds
from memorix.embedders.base import Embedder
from memorix.embedders.cards import MINILM, MINILM_FOLDER
from memorix.index.rows import prepare
from memorix.onnxmodels import BATCH, FILE, THREADS
from memorix.reconcile import Seen
from memorix.sync import put_for

READS = 3
EMBEDDED, ROUNDS = 64, 5


def reindex(stock: Stock) -> Mapping[str, Measured]:
    """Read all notes anew, without vectors, beside inserts of the same text into plain FTS5."""
    rounds, memory = Rounds(), stock.memory
    files = sorted(stock.config.vault.rglob("*.md"))
    contents = {str(f.relative_to(stock.config.vault)): f.read_bytes() for f in files}
    plain = [(content.decode(),) for content in contents.values()]
    ours = [words for path, content in contents.items() for words in our_words(path, content)]
    for _ in range(READS):
        rounds.time("plain", inserted, stock.folder / "plain.db", plain)
        rounds.time("words", inserted, stock.folder / "plain.db", ours)
        memory.index.clear()
        rounds.time("reindex", memory.catch_up)
        rounds.time("look", memory.catch_up)
    count = len(files)
    return {
        "notes_per_s": _per_s(rounds, "reindex", count),
        "plain.notes_per_s": _per_s(rounds, "plain", count),
        "ratio": rounds.ratio(["reindex"], ["plain"]),
        "ratio_of_our_words": rounds.ratio(["reindex"], ["words"]),
        "look_ms": rounds.median_ms("look"),
    }


def our_words(path: str, content: bytes) -> list[tuple[str, ...]]:
    """Return what the index's own FTS5 table gets of a note, a row for each chunk."""
    put = put_for(path, content, Seen("", ""))
    return list(prepare(put).words)


def embedding(model: Embedder, texts: Sequence[str]) -> Mapping[str, Measured]:
    """Embed texts in batches, beside the bare runtime on the same tokens in the same batches.

    The floor is there for the packaged model alone.
    """
    texts = texts[:EMBEDDED]
    bare = _bare(texts) if model.card.fingerprint == MINILM.fingerprint else None
    rounds = Rounds()
    model.embed(texts)
    for _ in range(ROUNDS):
        rounds.time("ours", model.embed, texts)
        if bare:
            rounds.time("bare", bare)
    found = {"texts_per_s": _per_s(rounds, "ours", len(texts))}
    if bare:
        found["ratio"] = rounds.ratio(["ours"], ["bare"])
    return found


def _bare(texts: Sequence[str]) -> Callable[[], object]:
    """Return the model's run over tokens that are there already."""
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(MINILM_FOLDER / "tokenizer.json"))
    tokenizer.enable_truncation(MINILM.max_tokens)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(
        str(MINILM_FOLDER / FILE), options, providers=["CPUExecutionProvider"]
    )
    wanted = [given.name for given in session.get_inputs()]
    ordered = sorted(texts, key=len)
    batches = []
    for at in range(0, len(ordered), BATCH):
        encoded = tokenizer.encode_batch(ordered[at : at + BATCH])
        columns = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        batches.append({name: np.array(columns[name], dtype=np.int64) for name in wanted})
    return lambda: [session.run(None, batch) for batch in batches]


def _per_s(rounds: Rounds, name: str, count: int) -> Measured:
    rates = [count / took for took in rounds.seconds[name]]
    middle = count * 1000 / rounds.median_ms(name).value
    return Measured(middle, min(rates), max(rates))
