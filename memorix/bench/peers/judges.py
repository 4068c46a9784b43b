"""Judge what a peer does: what it finds, loses and leaves behind."""

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import quantiles

from memorix.bench.data import Document, Question
from memorix.bench.peers.base import Peer, Said, Session

TITLE = re.compile(r"\bnote-\w+")
LIMITS = (5, 10)
CALLERS = 8
EACH = 10
# Notes that each caller writes at once.
SECRET = "quokka7f3marzipan"
# A word that nothing else in a store has.


def title(document: Document) -> str:
    return f"note-{document.id}"


def ranking(answer: str) -> list[str]:
    """Return the titles that an answer names, each once, in the order it names them."""
    return list(dict.fromkeys(TITLE.findall(answer)))


def filled(session: Session, documents: Sequence[Document]) -> Mapping[str, float]:
    """Write every document; return ms a write, CPU ms of the peer, and the share it refused."""
    took, refused, cpu = [], 0, session.cpu_s()
    for document in documents:
        began = time.perf_counter()
        refused += not session.write(title(document), document.text).kept
        took.append(time.perf_counter() - began)
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


def lost_by_callers(peer: Peer, store: Path) -> float:
    """Return how many acknowledged writes are gone after eight callers wrote to one server."""
    with peer.opened(store) as session:
        kept = _written_at_once([session] * CALLERS)
    return _lost(peer, store, kept)


def lost_by_servers(peer: Peer, store: Path) -> float:
    """Return how many acknowledged writes are gone after two servers wrote to one store."""
    with peer.opened(store) as one, peer.opened(store) as other:
        kept = _written_at_once([one, other])
    return _lost(peer, store, kept)


def lost_by_kill(peer: Peer, store: Path) -> float:
    """Return how many acknowledged writes are gone after SIGKILL in the midst of others."""
    kept: list[str] = []
    with peer.opened(store) as session:
        enough = threading.Event()

        def write() -> None:
            try:
                for number in range(1000):
                    name = f"note-killed{number}"
                    if not session.write(name, _text(name)).kept:
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
    return _lost(peer, store, kept)


def left(peer: Peer, store: Path) -> float:
    """Return how many files hold a word of a note that was deleted, once the peer has ended.

    Raises:
        ValueError: The peer would not delete it.
    """
    with peer.opened(store) as session:
        written = session.write("note-secret", f"The word is {SECRET}.")
        session.write("note-other", "A note that stays.")
        gone = session.delete("note-secret", written)
        if not (written.kept and gone.kept):
            raise ValueError(f"not deleted: {gone.text[:200]}")
    return float(sum(SECRET.encode() in file.read_bytes() for file in _files(store)))


def size_mb(store: Path) -> float:
    return sum(file.stat().st_size for file in _files(store)) / 2**20


def _files(store: Path) -> Iterator[Path]:
    return (file for file in store.rglob("*") if file.is_file() and not file.is_symlink())


def _written_at_once(sessions: Sequence[Session]) -> list[str]:
    def write(caller: int) -> list[str]:
        names = [f"note-caller{caller}number{number}" for number in range(EACH)]
        return [name for name in names if sessions[caller].write(name, _text(name)).kept]

    with ThreadPoolExecutor(len(sessions)) as pool:
        return [name for names in pool.map(write, range(len(sessions))) for name in names]


def _text(name: str) -> str:
    word = name.removeprefix("note-")
    return f"The setting of {word} is {word}."


def _lost(peer: Peer, store: Path, kept: Sequence[str]) -> float:
    """Ask a server that is started anew for each of them.

    Raises:
        ValueError: Nothing was kept, so that nothing could be lost.
    """
    if not kept:
        raise ValueError("it kept no write")
    with peer.opened(store) as session:
        found: list[Said] = [session.recall(name.removeprefix("note-"), 10) for name in kept]
    return float(
        sum(name not in ranking(said.text) for name, said in zip(kept, found, strict=True))
    )


def _spread(name: str, took: Sequence[float]) -> dict[str, float]:
    cut = quantiles(took, n=20, method="inclusive")
    return {f"{name}.p50_ms": cut[9] * 1000, f"{name}.p95_ms": cut[18] * 1000}
