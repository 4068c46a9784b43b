"""How long a warm recall by words and meaning takes, beside its parts alone over the same texts."""

from collections.abc import Mapping

from memorix.bench.latency import asked
from memorix.bench.results import Measured
from memorix.bench.speed.corpus import questions
from memorix.bench.speed.floors import floor_over
from memorix.bench.speed.stock import Stock
from memorix.bench.speed.timing import Rounds

ASKED, WARM = 60, 5


def recall(stock: Stock) -> Mapping[str, Measured]:
    """Ask in turns; `parts` are the question embedded once, one FTS5 query and one vector scan.

    The product comes after all of them, and finds its matrix in the processor's caches where it is
    small: the threads it is done in wait busily for a while, and counted as the next recall.
    """
    rounds, answered, vectors = Rounds(), 0, []
    texts = [(note.title, note.text) for note in stock.notes]
    with floor_over(stock.folder / "plain.db", texts, stock.model.card.dim) as floor:
        for number, question in enumerate(questions(stock.notes, ASKED + WARM)):
            timed = Rounds() if number < WARM else rounds
            answer = timed.time("recall", stock.memory.recall, asked(question))
            vector = timed.time("embed", stock.model.embed_query, question)
            timed.time("words", floor.words, question)
            timed.time("scan", floor.scan, vector)
            vectors.append(vector)
            answered += bool(answer.hits) and number >= WARM
        for vector in vectors[WARM:]:
            rounds.time("product", floor.product, vector)
    parts = ("embed", "words", "scan")
    busy = [f"{part}.cpu" for part in parts]
    return {
        "p50_ms": rounds.median_ms("recall"),
        "p95_ms": rounds.p95_ms("recall"),
        "parts.p50_ms": rounds.median_ms(*parts),
        "parts.p95_ms": rounds.p95_ms(*parts),
        **{f"{part}.p50_ms": rounds.median_ms(part) for part in (*parts, "product")},
        "ratio": rounds.ratio(["recall"], parts),
        "cpu_ms": rounds.median_ms("recall.cpu"),
        "parts.cpu_ms": rounds.median_ms(*busy),
        "scan.cpu_ms": rounds.median_ms("scan.cpu"),
        "product.cpu_ms": rounds.median_ms("product.cpu"),
        "cpu.ratio": rounds.ratio(["recall.cpu"], busy),
        "answered": Measured.once(answered / ASKED),
    }
