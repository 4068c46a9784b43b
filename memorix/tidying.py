"""Decide what in a vault wants to be settled, and by which calls; nothing is done by this."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType

from memorix import conflict
from memorix.chunks import estimate_tokens
from memorix.lexemes import index_words, stem, telling_words
from memorix.links import note_path
from memorix.note import Note, cut_short, digest, without_relations
from memorix.resemblance import Pair, Vectors, alike
from memorix.retention import FADED_BELOW, Recalls, retention
from memorix.topics import stars, topics
from memorix.trust import TIERS, trust_tier
from memorix.validity import is_expired, is_in_force, is_stale

LONGEST_TOKENS = 2000
# A note beyond that is a document: recall finds a piece of it, and a reader pays for all.

MOST_COMPARED = 3000
# Pairs, the closest first, that are looked at for a contradiction: some seconds.

YOUNG_DAYS = 90
# A note that is younger had no time yet to prove useful.

GIST_LENGTH = 160
# Characters of a note that tell which one it is.

EPISODE, TOPIC = "Episode", "Reference"
# What is summed up, and what it is summed up in.


Options = Mapping[str, str | tuple[str, ...]]
# Of a call, by the names of the tools' arguments.


@dataclass(frozen=True, slots=True)
class Subject:
    """A note to look at, with what only the index knows of it.

    `root` is the folder of its scope.  `written` is when its text last changed, `dangling` are its
    links that lead to no note; `orphaned` says that the note which replaced it is gone.  `copy_of`
    is the path of the note that it is a conflict copy of, its own where git's marks are in it.
    """

    note: Note
    scope: str
    root: str
    written: datetime
    recalls: Recalls | None = None
    dangling: tuple[str, ...] = ()
    orphaned: bool = False
    copy_of: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A call that would settle something, the same as a command and as a tool.

    `why` says when it is the right one of several.
    """

    verb: str
    id: str = ""
    options: Options = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """A note as a plan names it; `gist` is its description, or how its text begins."""

    id: str
    title: str
    gist: str
    date: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to settle: the notes it is about, what it is, and the steps that would settle it.

    A `safe` one may be settled without asking, by all of its steps.
    """

    kind: str
    scope: str
    notes: tuple[Mention, ...]
    says: str
    steps: tuple[Step, ...]
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be settled, the most pressing first, among how many notes of which scopes."""

    findings: tuple[Finding, ...]
    looked_at: int
    scopes: tuple[str, ...]

    def of(self, kind: str) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.kind == kind)


KINDS: Mapping[str, str] = MappingProxyType(
    {
        "expired": "Expired, out of recall already",
        "copy": "Two versions of one note, from two machines",
        "duplicate": "The same text twice",
        "conflict": "Possibly contradicting each other",
        "near": "Saying nearly the same",
        "stale": "Due to be checked again",
        "broken": "Leading nowhere",
        "topic": "Episodes of one subject, worth a document",
        "long": "Very long",
        "faded": "Not recalled for long",
    }
)
# In the order of a plan.


def plan(
    subjects: Sequence[Subject],
    vectors: Vectors | None,
    scopes: tuple[str, ...],
    now: datetime,
) -> Plan:
    """Look through notes and return what wants to be settled.

    `vectors` are those of the subjects, row by row; without them words alone decide what resembles
    what.
    """
    found = [*_alone(subjects, now), *_broken(subjects), *_copies(subjects)]
    by_scope: dict[str, list[int]] = defaultdict(list)
    for place, subject in enumerate(subjects):
        if is_in_force(subject.note, now) and not subject.copy_of:
            by_scope[subject.scope].append(place)
    for places in by_scope.values():
        ours = [subjects[place] for place in places]
        rows = None if vectors is None else vectors[places]
        found += [*_disputes(ours), *_together(ours, rows), *_episodes(ours, rows)]
    order = list(KINDS)
    # The largest subject first, whatever its scope; what fades is in order, the weakest first.
    sizes = {"topic": -1}
    found.sort(key=lambda f: (order.index(f.kind), sizes.get(f.kind, 0) * len(f.notes)))
    return Plan(tuple(found), len(subjects), scopes)


# -- notes that want something for themselves


def _alone(subjects: Iterable[Subject], now: datetime) -> Iterator[Finding]:
    faded = []
    for subject in subjects:
        note = subject.note
        if note.status != "deprecated" and is_expired(note, now):
            steps = (Step("forget", note.id, {"level": "archive"}),)
            yield _finding("expired", [subject], f"expired {_day(note.expires_at)}", steps, True)
        if not is_in_force(note, now):
            continue
        if is_stale(note, now):
            yield _finding("stale", [subject], f"due since {_day(note.stale_after)}", _check(note))
        tokens = estimate_tokens(note.body)
        if tokens > LONGEST_TOKENS:
            steps = (Step("edit", note.id, why="keep what matters, a note for each fact"),)
            yield _finding("long", [subject], f"about {tokens:,} tokens", steps)
        if _has_faded(subject, now):
            faded.append((retention(subject.recalls, subject.written, now), note.path, subject))
    for _, _, subject in sorted(faded, key=lambda one: one[:2]):
        yield _finding("faded", [subject], _how_faded(subject), _check(subject.note))


def _check(note: Note) -> tuple[Step, ...]:
    return (
        Step("revise", note.id, {"verify": "true"}, "it still holds"),
        Step("forget", note.id, why="it does not"),
    )


def _has_faded(subject: Subject, now: datetime) -> bool:
    """Say whether nobody needed a note for long; what a person has confirmed does not fade, nor
    does an episode, which says what was and not what holds."""
    return (
        subject.note.type != EPISODE
        and now - subject.written > timedelta(days=YOUNG_DAYS)
        and trust_tier(subject.note) != TIERS[2]
        and retention(subject.recalls, subject.written, now) < FADED_BELOW
    )


def _how_faded(subject: Subject) -> str:
    known = subject.recalls
    if known is None:
        return f"never recalled since {_day(subject.written)}"
    times = "once" if known.count == 1 else f"{known.count} times"
    return f"recalled {times}, last {_day(known.last)}"


def _back(note: Note) -> tuple[Step, ...]:
    keys = '{"superseded_by": null, "valid_to": null, "status": "stable"}'
    return (
        Step("revise", note.id, {"set": keys}, "it holds again"),
        Step("forget", note.id, {"level": "archive"}, "it does not"),
    )


def _broken(subjects: Sequence[Subject]) -> Iterator[Finding]:
    """Find links to no note, and notes that only one side says are replaced."""
    known = {str(subject.note.id): subject for subject in subjects}
    for subject in subjects:
        note = subject.note
        if subject.dangling:
            steps: tuple[Step, ...] = (Step("edit", note.id),)
            says = f"links to {', '.join(subject.dangling[:3])}, which is no note"
            yield _finding("broken", [subject], says, steps)
        if subject.orphaned:
            says = f"is replaced by {note.superseded_by}, which is gone"
            yield _finding("broken", [subject], says, _back(note))
        for old in (known[name] for name in note.supersedes if name in known):
            if not old.note.superseded_by and old.note.status != "deprecated":
                steps = (Step("revise", old.note.id, {"supersede": note.id}),)
                says = "the first says it replaces the other, which does not know"
                yield _finding("broken", [subject, old], says, steps)


def _copies(subjects: Sequence[Subject]) -> Iterator[Finding]:
    known = {subject.note.path: subject for subject in subjects}
    for subject in (one for one in subjects if one.copy_of):
        path = subject.note.path
        notes = [known[name] for name in (subject.copy_of, path) if name in known]
        marked = subject.copy_of == path
        says = "holds git's marks" if marked else f"{path} is a conflict copy of {subject.copy_of}"
        yield _finding("copy", notes[-1:] if marked else notes, says, (Step("conflicts", path),))


# -- notes that want something together


def _together(subjects: Sequence[Subject], vectors: Vectors | None) -> Iterator[Finding]:
    same: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for place, subject in enumerate(subjects):
        same[digest(subject.note.body), subject.note.title, _occasion(subject)].append(place)
    for places in same.values():
        places.sort(key=lambda place: _worth(subjects[place]), reverse=True)
        if len(places) > 1:
            kept, *others = (subjects[place] for place in places)
            steps = tuple(Step("forget", other.note.id) for other in others)
            yield _finding("duplicate", [kept, *others], "the first is kept", steps)
    kept_places = sorted(places[0] for places in same.values())
    words = [_words(subjects[place].note) for place in kept_places]
    ours = [subjects[place] for place in kept_places]
    yield from _alike(ours, alike(words, None if vectors is None else vectors[kept_places]))


def _alike(subjects: Sequence[Subject], pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Tell of notes that contradict each other, and of those that say nearly the same."""
    opposed = set()
    for pair in sorted(pairs, key=lambda pair: -pair.closeness)[:MOST_COMPARED]:
        older, newer = sorted((subjects[pair.first], subjects[pair.second]), key=_age)
        if str(older.note.id) in newer.note.contested_by:
            opposed.add(pair)  # and told of by `_disputes`
        elif difference := _contradiction(older.note, newer.note):
            opposed.add(pair)
            yield _finding("conflict", [older, newer], difference, _either(older, newer))
    repeats = [
        pair
        for pair in pairs
        if pair.says_the_same
        and pair not in opposed
        and _occasion(subjects[pair.first]) == _occasion(subjects[pair.second])
    ]
    for star in _stars_of(repeats):
        *older_ones, newest = sorted((subjects[place] for place in star), key=_age)
        steps = (
            *(_replaced(older, newest, "the later one says it all") for older in older_ones),
            _with(newest, older_ones, "merge", "each says something of its own"),
        )
        yield _finding("near", [*older_ones, newest], "nearly the same, the oldest first", steps)


def _occasion(subject: Subject) -> str:
    """Return the day of an episode, empty for what is none: the same on two days happened twice."""
    return _day(subject.written) if subject.note.type == EPISODE else ""


def _contradiction(older: Note, newer: Note) -> str:
    """Say in what two notes contradict each other; empty where they do not."""
    if EPISODE in (older.type, newer.type):  # what was said once is not what holds
        return ""
    found = conflict.conflicts(newer.title, newer.body, older.title, older.body)
    return f"the later says: {found[0].here}; the earlier: {found[0].there}" if found else ""


def _disputes(subjects: Iterable[Subject]) -> Iterator[Finding]:
    """Tell of the notes that are marked as contested and still stand beside each other."""
    known: dict[str, Subject] = {}
    for subject in sorted(subjects, key=_age):
        for other in (known[name] for name in subject.note.contested_by if name in known):
            steps = _either(other, subject)[:2]
            yield _finding("conflict", [other, subject], "marked as contested", steps)
        known[str(subject.note.id)] = subject


def _either(older: Subject, newer: Subject) -> tuple[Step, ...]:
    return (
        _replaced(older, newer, "the later one holds"),
        _replaced(newer, older, "the earlier one holds"),
        _with(older, [newer], "contest", "it is not known"),
    )


def _stars_of(pairs: Sequence[Pair]) -> list[list[int]]:
    near: dict[int, dict[int, float]] = defaultdict(dict)
    for pair in pairs:
        near[pair.first][pair.second] = near[pair.second][pair.first] = pair.closeness
    return [star for star in stars(near) if len(star) > 1]


def _replaced(one: Subject, by: Subject, why: str) -> Step:
    return Step("revise", one.note.id, {"supersede": str(by.note.id)}, why)


def _with(one: Subject, others: Sequence[Subject], how: str, why: str) -> Step:
    return Step("revise", one.note.id, {how: tuple(str(o.note.id) for o in others)}, why)


def _age(subject: Subject) -> tuple[datetime, str]:
    return subject.written, subject.note.path


def _words(note: Note) -> frozenset[str]:
    return frozenset(index_words(f"{note.title} {without_relations(note.body)}").split())


def _worth(subject: Subject) -> tuple[int, int, float]:
    """Rank notes of the same text: confirmed, then recalled, then older."""
    recalls = subject.recalls.count if subject.recalls else 0
    return TIERS.index(trust_tier(subject.note)), recalls, -subject.written.timestamp()


def _episodes(subjects: Sequence[Subject], vectors: Vectors | None) -> Iterator[Finding]:
    """Find the subjects of episodes that no document draws on yet."""
    drawn = {path for subject in subjects for path in _sources(subject)}
    places = [
        place
        for place, subject in enumerate(subjects)
        if subject.note.type == EPISODE and subject.note.path not in drawn
    ]
    words = [_telling(subjects[place].note) for place in places]
    for topic in topics(words, None if vectors is None else vectors[places]):
        members = [subjects[places[place]] for place in topic.notes]
        title = ", ".join(topic.name)
        dates = sorted(_day(member.written) for member in members)
        ids = tuple(str(member.note.id) for member in members)
        options: Options = {"type": TOPIC, "title": title, "sources": ids}
        steps = (Step("remember", options=options, why="with the text that sums them up"),)
        says = f"{title}: {len(members)} episodes, {dates[0]} to {dates[-1]}"
        yield _finding("topic", members, says, steps)


def _sources(subject: Subject) -> Iterator[str]:
    """Yield the paths of the notes that a note draws on."""
    entries = subject.note.meta.get("sources")
    for entry in entries if isinstance(entries, list) else ():
        resource = entry.get("resource") if isinstance(entry, Mapping) else entry
        if isinstance(resource, str):
            yield note_path(subject.note.path, resource, subject.root)


def _telling(note: Note) -> dict[str, str]:
    return {stem(word): word for word in telling_words(f"{note.title}\n{note.body}")}


def _finding(
    kind: str,
    subjects: Sequence[Subject],
    says: str,
    steps: tuple[Step, ...],
    safe: bool = False,
) -> Finding:
    mentions = tuple(map(_mention, subjects))
    return Finding(kind, subjects[0].scope, mentions, says, steps, safe)


def _mention(subject: Subject) -> Mention:
    note = subject.note
    gist = note.description or cut_short(" ".join(note.body.split()), GIST_LENGTH)
    return Mention(str(note.id), note.title, gist, _day(subject.written))


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else ""
