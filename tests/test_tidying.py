"""What wants to be settled in a vault, and how it is settled."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from memorix import settling, upkeep, worklist
from memorix.lifecycle import Draft
from memorix.memory import Memory
from memorix.resemblance import alike
from memorix.tidying import Finding
from memorix.topics import topics
from tests.hashing import HashingEmbedder

NOW = datetime(2026, 10, 1, tzinfo=UTC)
CHECKED = 'verified: [{by: "human:dana", at: "2026-09-30T00:00:00Z"}]'


@pytest.fixture
def memory(memory: Memory) -> Memory:
    memory.clock = lambda: NOW
    return memory


def keep(memory: Memory, text: str, title: str = "", days_ago: float = 1, **keys: object) -> str:
    """Keep a note that was written some days ago; `type` and other keys as given."""
    kind = str(keys.pop("type", "Fact"))
    when = NOW - timedelta(days=days_ago)
    draft = Draft(text, title or text[:60], kind, when=when, extra=keys)  # type: ignore[arg-type]
    return memory.remember(draft).id


def survey(memory: Memory, kind: str = "") -> Sequence[Finding]:
    plan = upkeep.survey(memory)
    return plan.of(kind) if kind else plan.findings


def ids(finding: Finding) -> list[str]:
    return [note.id for note in finding.notes]


def test_a_vault_without_anything_odd_has_nothing_to_settle(memory: Memory) -> None:
    keep(memory, "The gateway listens on port 8443.")
    keep(memory, "The lamp in the hall is green.")

    plan = upkeep.survey(memory)

    assert (plan.findings, plan.looked_at) == ((), 2)
    assert worklist.as_text(plan) == "2 notes looked at in app + user: nothing to settle."


def test_what_has_expired_is_archived_by_apply_and_by_nothing_else(
    memory: Memory, vault: Path
) -> None:
    gone = keep(memory, "The demo key works until Friday.", expires_at="2026-09-25T00:00:00Z")
    kept = keep(memory, "The lamp is green.", expires_at="2026-10-02T00:00:00Z")
    due = keep(memory, "The door is red.", stale_after="2026-09-01T00:00:00Z")

    plan = upkeep.survey(memory)
    assert [(f.kind, ids(f), f.safe) for f in plan.findings] == [
        ("expired", [gone], True),
        ("stale", [due], False),
    ]
    done, failed = upkeep.settle(memory, plan)

    assert ([one.id for one in done], failed) == ([gone], [])
    assert (vault / "archive/projects/app/the-demo-key-works-until-friday.md").exists()
    assert survey(memory, "expired") == ()
    assert {row.id for row in memory.index.latest(_all(), NOW, 9)} == {kept, due}


def test_what_was_prolonged_meanwhile_is_not_archived(memory: Memory, vault: Path) -> None:
    note = keep(memory, "The demo key works.", "Key", expires_at="2026-09-25T00:00:00Z")
    plan = upkeep.survey(memory)
    file = vault / "projects/app/key.md"
    file.write_text(file.read_text(encoding="utf-8").replace("2026-09-25", "2026-12-25"), "utf-8")

    assert upkeep.settle(memory, plan) == ([], [])
    assert memory.read(note).note.path.endswith("key.md")


def test_the_same_text_twice_keeps_what_a_person_confirmed(memory: Memory, vault: Path) -> None:
    first = keep(memory, "The gateway listens on port 8443.", "Gateway")
    file = vault / "projects/app/gateway.md"
    text = file.read_text(encoding="utf-8").replace(first, "01M8RP8FJN00N2YDXTRDHMREZZ")
    checked = text.replace("origin:", f"{CHECKED}\norigin:")
    (vault / "projects/app/copy.md").write_text(checked, "utf-8")
    memory.catch_up()

    (found,) = survey(memory)

    assert (found.kind, ids(found)) == ("duplicate", ["01M8RP8FJN00N2YDXTRDHMREZZ", first])
    assert [worklist.command(step) for step in found.steps] == [f"memorix forget {first}"]


def test_notes_that_say_nearly_the_same_are_told_with_both_ways_out(memory: Memory) -> None:
    old = keep(memory, "The gateway of the staging cluster is behind the old proxy.", days_ago=9)
    new = keep(memory, "The gateway of the staging cluster is now behind the old proxy.")
    keep(memory, "The staging cluster has three nodes.")

    (found,) = survey(memory)

    assert (found.kind, ids(found)) == ("near", [old, new])
    assert [worklist.command(step) for step in found.steps] == [
        f"memorix supersede {old} --by {new}",
        f"memorix merge {new} {old}",
    ]
    assert worklist.call(found.steps[1]) == (
        f'revise(id="{new}", etag=<from read>, merge=["{old}"])'
    )


def test_a_contradiction_is_told_with_what_each_side_says(memory: Memory) -> None:
    old = keep(memory, "The gateway listens on port 8443.", "Gateway port", days_ago=90)
    new = keep(memory, "The gateway listens on port 9443.", "Port of the gateway")
    keep(memory, "The gateway times out after 30 seconds.", "Gateway timeout")

    (found,) = survey(memory)

    assert (found.kind, ids(found)) == ("conflict", [old, new])
    assert "9443" in found.says.partition(";")[0]
    assert "8443" in found.says.partition(";")[2]
    assert [worklist.command(step) for step in found.steps] == [
        f"memorix supersede {old} --by {new}",
        f"memorix supersede {new} --by {old}",
        f"memorix contest {old} {new}",
    ]


def test_a_plan_tells_nothing_private(memory: Memory) -> None:
    spoken = "The gateway of staging listens on port {}. <private>The key is heron {}.</private>"
    keep(memory, spoken.format(8443, 1), "Gateway port", days_ago=200)
    keep(memory, spoken.format(9443, 2), "Port of the gateway", days_ago=200)
    keep(memory, "The heron is back.", "Heron", days_ago=200, private="true")

    plan = upkeep.survey(memory)

    assert {finding.kind for finding in plan.findings} == {"conflict", "faded"}
    assert "heron" not in json.dumps(worklist.as_data(plan)).lower()


def test_a_dispute_stays_in_the_plan_once_until_it_is_settled(memory: Memory) -> None:
    old = keep(memory, "The gateway listens on port 8443.", "Gateway port", days_ago=90)
    new = keep(memory, "The gateway listens on port 9443.", "Port of the gateway")
    settling.contest(memory, old, memory.read(old).etag, [new])

    (found,) = survey(memory)
    assert (found.kind, ids(found), found.says) == ("conflict", [old, new], "marked as contested")
    settling.replaced_by(memory, old, memory.read(old).etag, new)

    assert survey(memory) == ()


def test_what_happened_at_different_times_contradicts_nothing(memory: Memory) -> None:
    keep(memory, "The gateway listens on port 8443.", "Gateway port", type="Episode")
    keep(memory, "The gateway listens on port 9443.", "Port of the gateway", type="Episode")

    assert survey(memory, "conflict") == ()


def test_what_happened_twice_is_no_repetition_and_does_not_fade(memory: Memory) -> None:
    text = "Restarted the queue of the billing worker after it was stuck."
    for days_ago in (400, 300):
        keep(memory, f"{text} It took {days_ago // 100} minutes.", "", days_ago, type="Episode")
    twice = [
        keep(memory, f"{text} {end}", "", 200, type="Episode") for end in ("Again.", "Again!!")
    ]

    assert [(f.kind, sorted(ids(f))) for f in survey(memory)] == [("near", sorted(twice))]


def test_a_hundred_nearly_equal_notes_are_one_finding(memory: Memory) -> None:
    words = "the nightly backup of the main database ran without any error on host"
    for number in range(40):
        keep(memory, f"{words} {number}", days_ago=number + 1)

    assert [len(finding.notes) for finding in survey(memory, "near")] == [40]


def test_nearness_by_meaning_counts_where_some_words_are_shared(memory: Memory) -> None:
    memory.use_model(HashingEmbedder())
    once = "lime oak elm ash fir yew box bay"
    keep(memory, once, "Trees")
    keep(memory, f"{once} {once} {once} {once} {once} of a wood near my old home town", "Wood")
    memory.embed_pending()

    (by_meaning,) = survey(memory, "near")
    memory.use_model(None)

    assert by_meaning.notes[0].title == "Trees"
    assert survey(memory, "near") == ()


def test_notes_of_other_scopes_and_the_inbox_are_not_compared(memory: Memory) -> None:
    text = "The gateway of the staging cluster is behind the old proxy."
    keep(memory, text)
    memory.remember(Draft(text, "G", when=NOW), "user")
    memory.remember(Draft(f"{text} Now.", "H", suggested=True, when=NOW))

    plan = upkeep.survey(memory)

    assert (plan.findings, plan.looked_at) == ((), 2)


def test_half_a_supersession_and_a_lost_successor_are_found(memory: Memory, vault: Path) -> None:
    old, new = keep(memory, "Port 22.", "Old port"), keep(memory, "Port 49222.", "New port")
    edit(vault / "projects/app/new-port.md", "origin:", f'supersedes: ["{old}"]\norigin:')
    lost = keep(memory, "The lamp is green.", "Lamp")
    ended = 'status: deprecated\nsuperseded_by: "01M8RP8FJN00N2YDXTRDHMREZZ"\norigin:'
    edit(vault / "projects/app/lamp.md", "origin:", ended)
    memory.catch_up()

    half, orphan = sorted(survey(memory, "broken"), key=lambda finding: finding.says, reverse=True)

    assert ids(half) == [new, old]
    assert [worklist.command(step) for step in half.steps] == [
        f"memorix supersede {old} --by {new}"
    ]
    assert ids(orphan) == [lost]
    assert "is gone" in orphan.says


def test_a_link_to_nothing_and_an_overlong_note_are_found(memory: Memory) -> None:
    bad = keep(memory, "See [the plan](plans/none.md) and [[Nowhere]].", "Links")
    long = keep(memory, "\n\n".join(f"Sentence number {n} of the log." for n in range(900)), "Log")

    broken, big = survey(memory)

    assert (broken.kind, ids(broken)) == ("broken", [bad])
    assert "plans/none.md, Nowhere" in broken.says.replace("projects/app/", "")
    assert (big.kind, ids(big)) == ("long", [long])


def test_what_nobody_recalls_fades_but_not_what_a_person_confirmed(
    memory: Memory, vault: Path
) -> None:
    never = keep(memory, "The lamp in the hall is green.", "Lamp", days_ago=200)
    once = keep(memory, "The door to the garden is blue.", "Door", days_ago=400)
    keep(memory, "The roof is red.", "Roof", days_ago=30)
    keep(memory, "The fence is white.", "Fence", days_ago=300)
    edit(vault / "projects/app/fence.md", "origin:", f"{CHECKED}\norigin:")
    memory.catch_up()
    memory.index.recalled([once], NOW - timedelta(days=399))

    found = survey(memory, "faded")

    assert [ids(finding) for finding in found] == [[once], [never]]
    assert [finding.says for finding in found] == [
        "recalled once, last 2025-08-28",
        "never recalled since 2026-03-15",
    ]
    memory.index.recalled([never, once], NOW)
    assert survey(memory, "faded") == ()


POTTERY = (
    "Went to the pottery class and threw a tall vase on the wheel.",
    "The kiln of the pottery class cracked two bowls, the glaze ran over.",
    "Booked another pottery class for Saturday, clay is included.",
    "Sold a mug from the pottery class to the neighbour for twelve euros.",
    "Learned in the pottery class how to center the clay with wet hands.",
    "The teacher of the pottery class showed how a raku firing is done.",
)
OTHERS = (
    "Repaired the chain of the bicycle before riding to the lake.",
    "The dentist moved the appointment to the ninth of October.",
    "Planted forty tulip bulbs beside the northern wall.",
    "Replaced the battery of the smoke detector upstairs.",
    "The train to Leipzig was late, missed the connection.",
    "Baked rye bread with caraway, the crust came out dark.",
    "Called the insurance about the water damage below the sink.",
    "Finished reading the biography of Ada Lovelace at last.",
)


def test_episodes_of_one_subject_are_worth_a_document_until_there_is_one(memory: Memory) -> None:
    episodes = [keep(memory, text, days_ago=9, type="Episode") for text in POTTERY]
    for text in OTHERS:
        keep(memory, text, type="Episode")

    (found,) = survey(memory)
    assert (found.kind, set(ids(found))) == ("topic", set(episodes))
    assert found.says == "pottery, class: 6 episodes, 2026-09-22 to 2026-09-22"
    sources = json.dumps({"sources": ids(found)})
    call = f'remember(type="Reference", title="pottery, class", set={sources})'
    assert worklist.call(found.steps[0]) == call
    keep(memory, "Makes pottery since September.", "Pottery", type="Reference", sources=episodes)

    assert survey(memory) == ()


def test_subjects_are_found_in_chinese(memory: Memory) -> None:
    for text in (
        "周六去上陶艺课，拉了一只高花瓶。",
        "陶艺课的窑裂了两只碗，釉流了下来。",
        "又报了一期陶艺课，含黏土的费用。",
        "在陶艺课上学会了用湿手找中心。",
        "陶艺课老师演示了乐烧的做法。",
        "把自行车的链条修好，骑去湖边。",
        "牙医把预约改到十月九日。",
        "北墙边种了四十个郁金香球根。",
        "楼上的烟雾报警器换了电池。",
        "去莱比锡的火车晚点，没赶上换乘。",
    ):
        keep(memory, text, type="Episode")

    (found,) = survey(memory, "topic")

    assert len(found.notes) == 5
    assert found.says.startswith("陶艺课: 5 episodes")


def test_the_plan_is_printed_for_reading_and_as_data(memorix: Callable[..., str]) -> None:
    one = json.loads(
        memorix("remember", "--json", stdin="The gateway of staging is behind a proxy.")
    )
    text = "The gateway of the staging is behind a proxy."
    two = json.loads(memorix("remember", "--json", stdin=text))
    old = memorix("remember", "--json", "--set", "expires_at=2020-01-01", stdin="Old badge code.")

    shown = memorix("tidy", "--words")
    data = json.loads(memorix("tidy", "--plan", "--json", "--words"))

    assert "Saying nearly the same (1)" in shown
    assert f"    memorix supersede {one['id']} --by {two['id']}" in shown
    assert data["counts"] == {"expired": 1, "near": 1}
    (expired, near) = data["findings"]
    assert (
        expired["steps"][0]["command"] == f"memorix forget {json.loads(old)['id']} --level archive"
    )
    assert "not both" in memorix("tidy", "--plan", "--apply", code=2)
    assert json.loads(memorix("tidy", "--apply", "--json", "--words"))["failed"] == []
    assert "Nothing has expired" in memorix("tidy", "--apply", "--words")
    memorix("undo")
    assert "Expired, out of recall already (1)" in memorix("tidy", "--words")
    memorix("tidy", "--apply", "--words")
    done = memorix(*near["steps"][0]["command"].split()[1:])
    assert done.startswith("superseded")
    assert "nothing to settle" in memorix("tidy", "--words")


def test_the_commands_of_a_plan_change_what_they_say(memorix: Callable[..., str]) -> None:
    first, second = (
        json.loads(memorix("remember", "--json", "--type", "Episode", stdin=text))["id"]
        for text in ("The lamp is green.", "The lamp is blue.")
    )

    memorix("revise", first, "--contest", second)
    assert json.loads(memorix("read", second, "--json"))["meta"]["contested_by"] == [first]
    memorix("revise", first, "--verify")
    assert "human-reviewed" in memorix("read", first)
    memorix("revise", first, "--set", '{"importance": 4}', "--set", "mood=calm")
    meta = json.loads(memorix("read", first, "--json"))["meta"]
    assert (meta["importance"], meta["mood"]) == ("4", "calm")
    assert "KEY=VALUE" in memorix("revise", first, "--set", "calm", code=2)
    memorix("remember", "--type", "Reference", "--set", f"sources={first},{second}", stdin="Lamps.")
    merged = memorix("revise", first, "--merge", second, "--text", "-", stdin="The lamp changes.")
    assert merged.startswith("merged")


def _all():  # type: ignore[no-untyped-def]
    from memorix.query import Filter

    return Filter(everything=True)


def edit(file: Path, old: str, new: str) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")


def near_to(*centre: float) -> Callable[[int], list[float]]:
    """Return vectors that lie close to a centre, each a little elsewhere."""
    return lambda number: [*centre, *(0.3 * (place == number % 6) for place in range(6))]


def test_vectors_part_subjects_that_share_a_word() -> None:
    import numpy as np

    rivers, money = near_to(1, 0, 0), near_to(0, 1, 0)
    rows = [rivers(n) for n in range(6)] + [money(n) for n in range(6)]
    vectors = np.array(rows, dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    shores = [f"bank river shore boat{n} reed{n} heron{n} eel{n}" for n in range(6)]
    loans = [f"bank credit interest loan{n} teller{n} vault{n} coin{n}" for n in range(6)]
    words = [{word: word for word in text.split()} for text in (*shores, *loans)]

    found = topics(words, vectors)

    assert [sorted(topic.notes) for topic in found] == [list(range(6)), list(range(6, 12))]
    assert [set(topic.name) for topic in found] == [{"river", "shore"}, {"credit", "interest"}]


def test_greetings_are_no_subject() -> None:
    greetings = [f"hello friend good day nice{n}" for n in range(8)]
    words = [{word: word for word in text.split()} for text in greetings]

    assert topics(words, None) == []


def test_nearly_equal_sets_of_words_are_found_among_thousands() -> None:
    chance = Random(1)
    vocabulary = [f"w{number}" for number in range(9000)]
    words = [frozenset(chance.sample(vocabulary, 30)) for _ in range(3000)]
    copies = [frozenset([*sorted(words[n])[:26], "a", "b"]) for n in range(0, 3000, 300)]

    pairs = alike([*words, *copies], None)
    found = {(pair.first, pair.second) for pair in pairs if pair.says_the_same}

    assert {(n * 300, 3000 + n) for n in range(10)} <= found
    assert all(second >= 3000 for _, second in found)
