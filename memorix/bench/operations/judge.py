"""Judge an answer by ids and exact strings; no model, no opinion."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memorix.bench.operations.adapter import CONFLICT, OUTDATED, Done, Found, Seen
from memorix.bench.operations.scenarios import Probe

FIRST_FIVE = 5
# A reader looks no further; what is wrong among them is believed.

SETTLES = OUTDATED | CONFLICT
# The marks with which an old value may stand among the first five.


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found wrong with the answer to one probe, and what the measures need of it.

    `faults` are sentences, none where all is right.  `ranked` are the names of the notes that came
    back, foreign ones as their ids; `told` counts characters returned, `evidence` those of them
    that belong to notes that had to come.  `let_through` are forbidden strings that were there.
    """

    kind: str
    faults: tuple[str, ...] = ()
    not_offered: str = ""
    ranked: tuple[str, ...] = ()
    top_score: float = 0.0
    silent: bool = False
    told: int = 0
    evidence: int = 0
    let_through: tuple[str, ...] = ()
    stale: bool = False
    merged: int = 0
    flagged: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        return not (self.faults or self.not_offered)


def judge(probe: Probe, seen: Seen, names: Mapping[str, str]) -> Verdict:
    """Judge what a look showed; `names` maps the scenario's names to the ids they stand for."""
    ids = [hit.id for hit in seen.hits]
    by_name = {name: hit for name, id in names.items() for hit in seen.hits if hit.id == id}
    of_id = {id: name for name, id in reversed(list(names.items()))}
    wanted = {names.get(name, "") for name in probe.must}
    faults = [
        *_notes(probe, names, ids),
        *_marks(probe, by_name),
        *_strings(probe, seen),
        *_silence(probe, seen),
    ]
    shown = seen.hits[:FIRST_FIVE]
    return Verdict(
        kind=probe.kind,
        faults=tuple(faults),
        ranked=tuple(of_id.get(id, id) for id in ids),
        top_score=max((hit.score for hit in seen.hits), default=0.0),
        silent=seen.unsure,
        told=sum(len(hit.text) for hit in shown),
        evidence=sum(len(hit.text) for hit in shown if hit.id in wanted),
        let_through=tuple(s for s in probe.not_strings if s in _forbidden_in(probe, seen)),
        stale=_is_stale(probe, by_name, shown),
        merged=_merged(probe.must, names),
        flagged={name: hit.flags for name, hit in by_name.items()},
    )


def judge_write(probe: Probe, done: Done | None, names: Mapping[str, str]) -> Verdict:
    """Judge what the write of step `probe.of` was answered."""
    if done is None:
        return Verdict(probe.kind, (f"{probe.of} was not written",))
    named = [done.id, *done.named]
    faults = [f"{name} is not named" for name in probe.must if names.get(name) not in named]
    faults += [f"{name} is named" for name in probe.must_not if names.get(name, "-") in named]
    if probe.status and not _has_status(done, probe.status):
        faults.append(f"answered {done.status}, not {' or '.join(probe.status)}")
    faults += [f"{text!r} is not told" for text in probe.strings if text not in done.text]
    told = tuple(text for text in probe.not_strings if text in done.text)
    faults += [f"{text!r} is told" for text in told]
    return Verdict(probe.kind, tuple(faults), let_through=told)


def _has_status(done: Done, wanted: Sequence[str]) -> bool:
    return done.status in wanted or ("masked" in wanted and done.masked)


def _notes(probe: Probe, names: Mapping[str, str], ids: Sequence[str]) -> Iterator[str]:
    places = {name: ids.index(id) for name, id in names.items() if id in ids}
    within = len(ids) if probe.via != "recall" else probe.k
    for name in probe.must:
        if places.get(name, within) >= within:
            yield f"{name} is missing"
    for name in probe.must_not:
        if name in places:
            yield f"{name} came back"
    if probe.first and places.get(probe.first) != 0:
        yield f"{probe.first} is not first"
    order = [places[name] for name in probe.order if name in places]
    if order != sorted(order) or len(order) < len(probe.order):
        yield f"not in the order {', '.join(probe.order)}"
    if _merged(probe.must, names):
        yield f"some of {', '.join(probe.must)} are one note"


def _merged(wanted: Sequence[str], names: Mapping[str, str]) -> int:
    held = [names[name] for name in wanted if name in names]
    return len(held) - len(set(held))


def _marks(probe: Probe, by_name: Mapping[str, Found]) -> Iterator[str]:
    for name, wanted in probe.flags.items():
        if name in by_name and not by_name[name].flags & set(wanted.split("|")):
            yield f"{name} is not marked {wanted}"
    for name in probe.unflagged:
        if name in by_name and by_name[name].flags & CONFLICT:
            yield f"{name} is marked as contested"


def _strings(probe: Probe, seen: Seen) -> Iterator[str]:
    text = _told(probe, seen)
    for wanted in probe.strings:
        if wanted not in text:
            yield f"{wanted!r} is not told"
    for forbidden in probe.not_strings:
        if forbidden in _forbidden_in(probe, seen):
            yield f"{forbidden!r} is told"
    if 0 < sum(part in text for part in probe.all_or_none) < len(probe.all_or_none):
        yield "a note is there in part"


def _told(probe: Probe, seen: Seen) -> str:
    hits = seen.hits[: probe.k] if probe.via == "recall" else ()
    return "\n".join(hit.text for hit in hits) if probe.via == "recall" else seen.text


def _forbidden_in(probe: Probe, seen: Seen) -> str:
    """Return the text in which a forbidden string counts: recall may tell old ones, marked."""
    if probe.via != "recall":
        return seen.text
    return "\n".join(hit.text for hit in seen.hits[:FIRST_FIVE] if not hit.flags & SETTLES)


def _is_stale(probe: Probe, by_name: Mapping[str, Found], shown: Sequence[Found]) -> bool:
    old = [by_name[name] for name in (*probe.must_not, *probe.flags) if name in by_name]
    text = "\n".join(hit.text for hit in shown if not hit.flags & SETTLES)
    unmarked = any(hit in shown and not hit.flags & SETTLES for hit in old)
    return unmarked or any(forbidden in text for forbidden in probe.not_strings)


def _silence(probe: Probe, seen: Seen) -> Iterator[str]:
    if probe.empty and not seen.unsure:
        yield f"{len(seen.hits)} notes instead of silence"
