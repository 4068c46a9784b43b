"""Judge what a peer does: how it starts, what it finds, loses and leaves behind."""

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles

from memorix.bench.data import Document, Question
from memorix.bench.generated import near_copies
from memorix.bench.peers.base import Peer, Said, Session

TITLE = re.compile(r"\bnote-\w+")
LIMITS = (5, 10)
STARTS = 3
EDITED_WITHIN_S, ASKS_EVERY_S = 60.0, 0.02
CALLERS = 8
EACH = 10
# Notes that each caller writes at once.
MANY = 1000
# Notes to be written until a server is killed, more than it has time for.
ENOUGH = 200
# Characters of an answer that tell what is wrong.
SECRET, EDITED = "quokka7f3marzipan", "axolotl9c4nougat"
# Words that nothing else in a store has.


def title(document: Document) -> str:
    return f"note-{document.id}"


def ranking(answer: str) -> list[str]:
    """Return the titles that an answer names, each once, in the order it names them."""
    return list(dict.fromkeys(TITLE.findall(answer)))


def started(peer: Peer, trivial: Peer, store: Path, starts: int = STARTS) -> Mapping[str, float]:
    """Start a peer and a trivial server in turns, up to the list of tools; return the medians, and
    how often those of the trivial server they are."""
    found: dict[str, list[tuple[float, float]]] = {"peer": [], "trivial": []}
    for number in range(starts + 1):
        for name, one in (("peer", peer), ("trivial", trivial)):
            with one.opened(store) as session:
                if number:  # the first fills the caches of the system
                    found[name].append((session.started_ms, session.cpu_s() * 1000))
    (took, cpu), (floor, floor_cpu) = (
        (median(row[0] for row in rows), median(row[1] for row in rows)) for rows in found.values()
    )
    ratios = {"start.ratio": took / floor, "start.cpu_ratio": cpu / floor_cpu}
    return {"start_ms": took, "start.cpu_ms": cpu, **ratios}


def filled(session: Session, documents: Sequence[Document]) -> Mapping[str, float]:
    """Write every document; return ms a write, CPU ms of the peer until all of it can be recalled,
    and the share it refused."""
    took, refused, cpu = [], 0, session.cpu_s()
    for document in documents:
        began = time.perf_counter()
        refused += not session.write(title(document), document.text).kept
        took.append(time.perf_counter() - began)
    session.caught_up()
    spent = (session.cpu_s() - cpu) * 1000 / len(documents)
    share = refused / len(documents)
    return {**_spread("write", took), "write.cpu_ms": spent, "write.refused": share}


def asked(session: Session, questions: Sequence[Question]) -> Mapping[str, float]:
    """Ask every question; return ms and CPU ms an answer, and by kind the share whose note is
    among the first of an answer."""
    took, cpu, places = [], session.cpu_s(), dict[str, list[int]]()
    for question in questions:
        began = time.perf_counter()
        answer = session.recall(question.text, max(LIMITS))
        took.append(time.perf_counter() - began)
        titles = ranking(answer.text) if answer.kept else []
        right = f"note-{question.gold[0]}"
        place = titles.index(right) if right in titles else max(LIMITS)
        places.setdefault(question.category, []).append(place)
    spent = (session.cpu_s() - cpu) * 1000 / len(questions)
    shares = {
        f"{kind.replace(' ', '_')}.recall_at_{limit}": sum(p < limit for p in found) / len(found)
        for kind, found in places.items()
        for limit in LIMITS
    }
    return {**_spread("recall", took), "recall.cpu_ms": spent, **shares}


def lost_by_callers(peer: Peer, store: Path) -> Mapping[str, float]:
    """Let eight callers write to one server at once."""
    with peer.opened(store) as session:
        kept = _written_at_once([session] * CALLERS)
    return _lost(peer, store, CALLERS * EACH, kept)


def lost_by_servers(peer: Peer, store: Path) -> Mapping[str, float]:
    """Let two servers write to one store at once."""
    with peer.opened(store) as one, peer.opened(store) as other:
        kept = _written_at_once([one, other])
    return _lost(peer, store, 2 * EACH, kept)


def lost_by_kill(peer: Peer, store: Path) -> Mapping[str, float]:
    """End a server by SIGKILL in the midst of writes."""
    kept: list[str] = []
    with peer.opened(store) as session:
        enough = threading.Event()

        def write() -> None:
            try:
                for name, text in _texts("killed", MANY):
                    if not session.write(name, text).kept:
                        break
                    kept.append(name)
                    if len(kept) >= EACH:
                        enough.set()
            finally:
                enough.set()

        writer = threading.Thread(target=write)
        writer.start()
        enough.wait()
        session.kill()
        writer.join()
    return {"lost": _lost(peer, store, len(kept), kept)["lost"]}


def edited(peer: Peer, store: Path) -> Mapping[str, float]:
    """Change a word of a note's file by hand; return ms until the note is recalled by it.

    Raises:
        ValueError: No file has the note, or the change is not seen.
    """
    with peer.opened(store) as session:
        session.write("note-edited", f"The word is {SECRET}.")
        session.caught_up()
        files = (file for file in store.glob(peer.notes) if SECRET in _read(file))
        file = next(files, None)
        if not file:
            raise ValueError("no file holds the note")
        file.write_text(_read(file).replace(SECRET, EDITED), encoding="utf-8")
        began = time.perf_counter()
        while time.perf_counter() - began < EDITED_WITHIN_S:
            if "note-edited" in ranking(session.recall(EDITED, max(LIMITS)).text):
                return {"recallable_ms": (time.perf_counter() - began) * 1000}
            time.sleep(ASKS_EVERY_S)
    raise ValueError(f"the change is not recalled within {EDITED_WITHIN_S:.0f} s")


def left(peer: Peer, store: Path) -> Mapping[str, float]:
    """Return how many files hold a word of a note that was deleted, once the peer has ended.

    Raises:
        ValueError: The peer would not delete it.
    """
    with peer.opened(store) as session:
        written = session.write("note-secret", f"The word is {SECRET}.")
        session.write("note-other", "A note that stays.")
        session.caught_up()
        gone = session.delete("note-secret", written)
        if not (written.kept and gone.kept):
            raise ValueError(f"not deleted: {gone.text[:ENOUGH]}")
    return {"files_left": float(sum(SECRET.encode() in f.read_bytes() for f in _files(store)))}


def size_mb(store: Path) -> float:
    return sum(file.stat().st_size for file in _files(store)) / 2**20


def _files(store: Path) -> Iterator[Path]:
    return (file for file in store.rglob("*") if file.is_file() and not file.is_symlink())


def _written_at_once(sessions: Sequence[Session]) -> list[str]:
    def write(caller: int) -> list[str]:
        texts = _texts("caller", len(sessions) * EACH)[caller * EACH : (caller + 1) * EACH]
        return [name for name, text in texts if sessions[caller].write(name, text).kept]

    with ThreadPoolExecutor(len(sessions)) as pool:
        return [name for names in pool.map(write, range(len(sessions))) for name in names]


def _texts(name: str, count: int) -> list[tuple[str, str]]:
    """Return titles and texts, none a copy of another, that each have a word of their own."""
    documents = near_copies(notes=count, kinds=()).documents
    words = [f"{name}{number}" for number in range(count)]
    return [
        (f"note-{word}", f"{document.text} Noted as {word}.")
        for word, document in zip(words, documents, strict=True)
    ]


def _lost(peer: Peer, store: Path, asked: int, kept: Sequence[str]) -> Mapping[str, float]:
    """Ask a server that is started anew for each of them; return how many of what was asked to be
    written was refused, and how many of the others are gone.

    Raises:
        ValueError: Nothing was kept, so that nothing could be lost, or nothing can be asked.
    """
    if not kept:
        raise ValueError("it kept no write")
    with peer.opened(store) as session:
        found: list[Said] = [session.find(name) for name in kept]
    if not any(said.kept for said in found):
        raise ValueError(f"it answers nothing when started anew: {found[0].text[:ENOUGH]}")
    gone = sum(name not in ranking(said.text) for name, said in zip(kept, found, strict=True))
    return {"refused": float(asked - len(kept)), "lost": float(gone)}


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _spread(name: str, took: Sequence[float]) -> dict[str, float]:
    cut = quantiles(took, n=20, method="inclusive")
    return {f"{name}.p50_ms": cut[9] * 1000, f"{name}.p95_ms": cut[18] * 1000}
