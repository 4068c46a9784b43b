"""Give the texts of the index their vectors, in the background of a server or at a command."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from memorix.embedders.base import Embedder, ModelCard
from memorix.index.base import Embedded, Index, Pending

BATCH = 32
# Texts embedded before their vectors are stored; what is lost when the process is killed.

ROUND = 1024
# Texts that the index is asked for at once, for which it looks through all that it has.  What is
# written meanwhile waits for its vector until the round ends.


def embed_pending(
    index: Index,
    embedder: Embedder,
    lock_path: Path,
    *,
    stop: Callable[[], bool] = bool,
    limit: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Give every text of the index its vector; return how many were made.

    One process at a time does it; another returns at once with 0.  `stop` is asked between
    batches; what was made so far is kept when it says so, or when the process is killed.
    """
    try:
        lock_path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock_path, blocking=False):
            return _embed(index, embedder, stop, limit, progress)
    except Timeout:
        return 0


def _embed(
    index: Index,
    embedder: Embedder,
    stop: Callable[[], bool],
    limit: int | None,
    progress: Callable[[int], None] | None,
) -> int:
    fingerprint, done = embedder.card.fingerprint, 0
    for batch in _pending(index, embedder.card, limit):
        if stop():
            break
        index.keep_vectors(fingerprint, embedded(embedder, batch))
        done += len(batch)
        if progress:
            progress(done)
    return done


def _pending(index: Index, card: ModelCard, limit: int | None) -> Iterator[Sequence[Pending]]:
    """Yield texts without a vector, so many at once, until there are none; those of a round have to
    be kept before the next one is asked for."""
    asked = 0
    while limit is None or asked < limit:
        at_most = ROUND if limit is None else min(ROUND, limit - asked)
        waiting = index.pending(card.fingerprint, card.languages, at_most)
        if not waiting:
            return
        asked += len(waiting)
        for start in range(0, len(waiting), BATCH):
            yield waiting[start : start + BATCH]


def embedded(embedder: Embedder, texts: Sequence[Pending]) -> list[Embedded]:
    """Return the vectors of texts and of their sentences."""
    wholes = embedder.embed([item.text for item in texts])
    sentences = [said for item in texts for said in item.sentences]
    parts = iter(embedder.embed(sentences) if sentences else ())
    return [
        Embedded(
            item.hash, whole.tobytes(), b"".join(next(parts).tobytes() for _ in item.sentences)
        )
        for item, whole in zip(texts, wholes, strict=True)
    ]
