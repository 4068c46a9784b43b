"""How long a note takes to keep, beside its bytes fsynced once and one FTS5 transaction."""

from collections.abc import Mapping

from memorix.bench.results import Measured
from memorix.bench.speed.corpus import SEED, drafts
from memorix.bench.speed.floors import floor_over, synced
from memorix.bench.speed.stock import SCOPE, Stock
from memorix.bench.speed.timing import Rounds

KEPT, WARM = 60, 5


def remember(stock: Stock) -> Mapping[str, Measured]:
    """Keep notes in turns.

    `whole` is the tool's answer, which names the nearest notes and what they contradict; `kept` a
    note that is fsynced and findable by words, and no more.
    """
    rounds = Rounds()
    fresh = drafts(2 * (KEPT + WARM), SEED + 1)
    texts = [(note.title, note.text) for note in stock.notes]
    with floor_over(stock.folder / "written.db", texts, 1) as floor:
        for number in range(KEPT + WARM):
            timed = Rounds() if number < WARM else rounds
            draft, other = fresh[2 * number], fresh[2 * number + 1]
            written = timed.time("whole", stock.memory.remember, draft, SCOPE).path
            timed.time("kept", stock.memory.remember_all, [(other, SCOPE)])
            file = stock.memory.store.locate(written)
            content, beside = file.read_bytes(), file.with_suffix(".bench")
            timed.time("fsync", synced, beside, content)
            beside.unlink()
            timed.time("transaction", floor.insert, draft.title, draft.text)
            timed.time("embed", stock.model.embed, [draft.text])
    floor_of = ("fsync", "transaction")
    return {
        "p50_ms": rounds.median_ms("whole"),
        "p95_ms": rounds.p95_ms("whole"),
        "kept.p50_ms": rounds.median_ms("kept"),
        "fsync.p50_ms": rounds.median_ms("fsync"),
        "transaction.p50_ms": rounds.median_ms("transaction"),
        "ratio": rounds.ratio(["whole"], floor_of),
        "kept.ratio": rounds.ratio(["kept"], floor_of),
        "cpu_ms": rounds.median_ms("whole.cpu"),
        "kept.cpu_ms": rounds.median_ms("kept.cpu"),
        "with_vector.cpu_ms": rounds.median_ms("whole.cpu", "embed.cpu"),
    }
