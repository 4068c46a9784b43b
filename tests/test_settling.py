"""How notes stand to each other: replaced, contested, merged, confirmed; and writes that meet."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memorix import settling
from memorix.arguments import query_from, revision_from
from memorix.errors import InvalidRequest, NoteChanged, NoteNotFound, NoteUneditable
from memorix.lifecycle import Edit, by, draft_from, successor
from memorix.memory import Memory
from memorix.note import Note
from memorix.results import Written

NOW = datetime(2026, 10, 2, 8, tzinfo=UTC)


@pytest.fixture
def clocked(memory: Memory) -> Memory:
    memory.clock = lambda: NOW
    return memory


def keep(memory: Memory, text: str, title: str = "", scope: str = "", **keys: object) -> Written:
    return memory.remember(draft_from(text, title, keys=keys), scope)  # type: ignore[arg-type]


def note_of(memory: Memory, done: Written) -> Note:
    return memory.read(done.id).note


def found(memory: Memory, question: str, **more: object) -> list[str]:
    return [hit.id for hit in memory.recall(query_from(question, **more)).hits]  # type: ignore[arg-type]


def revise(memory: Memory, done: Written, **arguments: object) -> Written:
    etag = memory.read(done.id).etag
    return settling.revise(memory, done.id, etag, revision_from(**arguments), "x/1")  # type: ignore[arg-type]


# -- superseding


def test_a_note_that_is_there_takes_the_place_of_another(clocked: Memory) -> None:
    old, new = keep(clocked, "Backups run at 02:15."), keep(clocked, "Backups run at 04:40.")

    done = revise(clocked, old, supersede=new.id)

    in_force = clocked.find(new.id)
    assert (done.id, done.path, done.etag) == (new.id, in_force.path, in_force.seen.etag)
    assert (done.status, done.superseded) == ("superseded", old.id)
    assert revise(clocked, old, supersede=new.id) == replace(done, steps=())
    assert found(clocked, "backups run") == [new.id]
    assert note_of(clocked, old).superseded_by == new.id
    assert note_of(clocked, new).supersedes == (old.id,)
    assert len(clocked.index.listing()) == 2


def test_superseding_twice_with_the_same_text_writes_once(clocked: Memory) -> None:
    old = keep(clocked, "Backups run at 02:15.")
    draft = successor("Backups run at 04:40.", {})

    first = settling.supersede(clocked, old.id, old.etag, draft)
    again = settling.supersede(clocked, old.id, old.etag, draft)

    assert (again.id, again.status, again.superseded) == (first.id, "superseded", old.id)
    assert len(clocked.index.listing()) == 2


def test_what_is_replaced_already_is_not_replaced_again(clocked: Memory) -> None:
    old = keep(clocked, "Backups run at 02:15.")
    new = revise(clocked, old, supersede="true", text="Backups run at 04:40.")

    with pytest.raises(InvalidRequest, match=new.id):
        revise(clocked, old, supersede="true", text="Backups run at 05:00.")

    assert found(clocked, "backups run") == [new.id]


def test_the_text_of_a_superseding_note_is_known_when_it_is_remembered_again(
    clocked: Memory,
) -> None:
    old = keep(clocked, "Backups run at 02:15.")
    new = revise(clocked, old, supersede="true", text="Backups run at 04:40.")

    again = keep(clocked, "Backups run at 04:40.")
    back = keep(clocked, "Backups run at 02:15.")

    assert (again.status, again.id) == ("already known", new.id)
    assert back.id not in (old.id, new.id)


@pytest.mark.rule("MEM-33")
def test_an_older_fact_that_arrives_late_does_not_displace_the_newer(clocked: Memory) -> None:
    current = keep(clocked, "Backups run at 04:40.", valid_from="2026-06-01")

    done = revise(
        clocked, current, supersede="true", text="Backups ran at 01:00.",
        set={"valid_from": "2025-01-01"},
    )  # fmt: skip

    late = note_of(clocked, done)
    assert (done.status, done.superseded) == ("filed as history", "")
    assert found(clocked, "backups") == [current.id]
    assert found(clocked, "backups", as_of="2025-03-01") == [done.id]
    assert found(clocked, "backups", as_of="2026-07-01") == [current.id]
    assert (late.superseded_by, late.valid_to) == (current.id, note_of(clocked, current).valid_from)
    assert note_of(clocked, current).supersedes == (done.id,)


@pytest.mark.parametrize(
    "text",
    [
        "As of 2025-03-01 backups ran at 01:00.",
        "In March 2025 backups ran at 01:00.",
        "2025-03-01: backups ran at 01:00.",
        "截至 2025 年 3 月 1 日，备份 1 点运行。",
    ],
)
def test_a_text_that_states_an_earlier_day_is_filed_as_history(text: str, clocked: Memory) -> None:
    current = keep(clocked, "Backups run at 04:40.")

    done = revise(clocked, current, supersede="true", text=text)

    assert done.status == "filed as history"
    assert note_of(clocked, done).valid_from == datetime(2025, 3, 1, 12, tzinfo=UTC)
    assert found(clocked, "backups") == [current.id]


@pytest.mark.parametrize(
    "text",
    [
        "Since 2026-11-01 backups run at 01:00.",
        "Backups run at 01:00, because the dump of 2025-03-01 was too late.",
        "Backups run at 01:00 on 30 February 2025.",
    ],
)
def test_a_day_that_is_later_or_about_something_else_delays_nothing(
    text: str, clocked: Memory
) -> None:
    current = keep(clocked, "Backups run at 04:40.")

    assert revise(clocked, current, supersede="true", text=text).status == "superseded"


def test_an_older_note_that_is_named_as_the_successor_becomes_history(clocked: Memory) -> None:
    current = keep(clocked, "Backups run at 04:40.")
    late = keep(clocked, "Backups ran at 01:00.", valid_from="2025-01-01")

    done = revise(clocked, current, supersede=late.id)

    assert (done.status, done.id) == ("filed as history", late.id)
    assert note_of(clocked, current).superseded_by == ""
    assert found(clocked, "backups") == [current.id]


def test_the_old_note_ends_when_the_new_one_says_that_it_begins(clocked: Memory) -> None:
    old = keep(clocked, "Backups run at 02:15.", valid_from="2026-01-01")

    new = revise(
        clocked, old, supersede="true", text="Backups run at 04:40.",
        set={"valid_from": "2026-09-01T00:00:00Z"},
    )  # fmt: skip

    assert found(clocked, "backups", as_of="2026-08-31") == [old.id]
    assert found(clocked, "backups", as_of="2026-09-02") == [new.id]
    assert note_of(clocked, old).valid_to == datetime(2026, 9, 1, tzinfo=UTC)


@pytest.mark.rule("MEM-37")
def test_a_note_replaced_across_scopes_is_named_by_id_and_not_linked(clocked: Memory) -> None:
    old = keep(clocked, "Use pip.", scope="user")
    new = keep(clocked, "Use uv.")

    revise(clocked, old, supersede=new.id)

    assert note_of(clocked, old).superseded_by == new.id
    assert "Relations" not in note_of(clocked, old).body


def test_a_person_s_broken_block_keeps_its_note_from_being_replaced(
    memory: Memory, vault: Path
) -> None:
    (vault / "user").mkdir(parents=True)
    file = vault / "user/odd.md"
    file.write_bytes(b"---\ntitle: Fix: it\n---\n\nlarkspur\n")
    memory.catch_up()
    note = memory.read("user/odd.md")

    with pytest.raises(NoteUneditable):
        settling.supersede(memory, "user/odd.md", note.etag, successor("new", {}))

    assert file.read_bytes() == b"---\ntitle: Fix: it\n---\n\nlarkspur\n"
    assert [path.name for path in vault.rglob("*.md")] == ["odd.md"]


# -- contesting


@pytest.mark.rule("MEM-34")
def test_contested_notes_name_each_other_and_both_come_back_marked(clocked: Memory) -> None:
    one, two = keep(clocked, "The port is 8443.", "A"), keep(clocked, "The port is 9443.", "B")

    done = revise(clocked, one, contest=[two.id])
    again = settling.contest(clocked, one.id, "b2-old", [two.id])

    assert (done.status, again.status) == ("contested", "contested")
    assert note_of(clocked, one).contested_by == (two.id,)
    assert note_of(clocked, two).contested_by == (one.id,)
    why = {hit.id: str(hit.why) for hit in clocked.recall(query_from("port")).hits}
    assert f"contested by {two.id}" in why[one.id]
    assert f"contested by {one.id}" in why[two.id]
    assert "contested" in memory_flags(clocked, one)


def memory_flags(memory: Memory, done: Written) -> str:
    return " ".join(memory.read(done.id).flags)


def test_a_dispute_ends_when_one_side_is_out_of_force(clocked: Memory) -> None:
    one, two = keep(clocked, "The port is 8443.", "A"), keep(clocked, "The port is 9443.", "B")
    revise(clocked, one, contest=[two.id])

    clocked.forget(two.id)

    assert "contested" not in str(clocked.recall(query_from("port")).hits[0].why)
    assert "contested" not in memory_flags(clocked, one)


def test_a_contested_note_can_be_replaced_by_the_one_that_disputes_it(clocked: Memory) -> None:
    one, two = keep(clocked, "The port is 8443.", "A"), keep(clocked, "The port is 9443.", "B")
    revise(clocked, one, contest=[two.id])

    done = revise(clocked, one, supersede=two.id)

    assert done.status == "superseded"
    assert note_of(clocked, one).superseded_by == two.id
    assert note_of(clocked, two).supersedes == (one.id,)


def test_a_note_cannot_contest_or_replace_itself_or_one_that_is_not_there(clocked: Memory) -> None:
    one = keep(clocked, "The port is 8443.")

    for arguments in ({"contest": [one.id]}, {"supersede": one.id}):
        with pytest.raises(InvalidRequest, match="itself"):
            revise(clocked, one, **arguments)
    for arguments in ({"contest": ["nobody"]}, {"supersede": "nobody"}):
        with pytest.raises(NoteNotFound):
            revise(clocked, one, **arguments)


# -- merging, and what a note was made from


@pytest.mark.rule("MEM-35", "MEM-36")
def test_a_topic_document_replaces_its_notes_and_keeps_their_sources(clocked: Memory) -> None:
    raw = keep(clocked, "Dana: the port is 8443.", "Call with Dana", type="Episode")
    one = keep(clocked, "The port is 8443.", "Port", sources=[raw.id, "https://a.test/pull/1"])
    two = keep(clocked, "TLS ends at the gateway.", "TLS")

    done = revise(
        clocked, one, merge=[f"{two.id}@{two.etag}"],
        text="# Gateway\n\nPort 8443; TLS ends here.",
    )  # fmt: skip

    topic = note_of(clocked, done)
    assert (done.status, topic.type, topic.title) == ("merged", "Reference", "Gateway")
    assert topic.supersedes == (one.id, two.id)
    assert [note_of(clocked, part).superseded_by for part in (one, two)] == [done.id] * 2
    sources = topic.meta["sources"]
    assert isinstance(sources, list)
    assert [source.get("id", source["resource"]) for source in sources] == [  # type: ignore[union-attr]
        one.id, raw.id, "https://a.test/pull/1", two.id,
    ]  # fmt: skip
    assert set(found(clocked, "gateway port 8443")) == {done.id, raw.id}


def test_a_fact_names_the_episode_it_was_made_from_and_links_to_it(clocked: Memory) -> None:
    raw = keep(clocked, "Dana: the port is 8443.", "Call with Dana")

    fact = keep(clocked, "The port is 8443.", "Port", sources=raw.id)

    note, backlinks = note_of(clocked, fact), clocked.read(raw.id).backlinks
    assert note.meta["sources"] == [
        {"id": raw.id, "resource": "./call-with-dana.md", "title": "Call with Dana"}
    ]
    assert [(link.id, link.relation) for link in backlinks] == [(fact.id, "derived_from")]
    assert keep(clocked, "The port is 8443.", "Port").status == "already known"


def test_a_source_that_is_no_note_is_refused_and_nothing_is_written(clocked: Memory) -> None:
    with pytest.raises(NoteNotFound):
        keep(clocked, "The port is 8443.", sources=["nobody"])

    assert clocked.index.listing() == {}


def test_merging_is_refused_where_one_of_the_notes_changed(clocked: Memory, vault: Path) -> None:
    one, two = keep(clocked, "The port is 8443.", "A"), keep(clocked, "TLS ends here.", "B")
    file = vault / two.path
    file.write_text(file.read_text(encoding="utf-8") + "By hand.\n", encoding="utf-8")

    with pytest.raises(NoteChanged, match="By hand"):
        revise(clocked, one, merge=[f"{two.id}@{two.etag}"], text="Both.")
    with pytest.raises(InvalidRequest, match="etag"):
        revise(clocked, one, merge=[two.id], text="Both.")

    assert len(list(vault.rglob("*.md"))) == 2


# -- confirming, lists, titles


def test_an_agent_confirms_as_itself_and_a_person_as_a_person(clocked: Memory) -> None:
    done = keep(clocked, "The port is 8443.")

    clocked.revise(done.id, done.etag, Edit(verify=True), "claude-code/2.1")
    by_agent = clocked.read(done.id)
    clocked.revise(done.id, by_agent.etag, Edit(verify=True), "human:dana")
    by_person = clocked.read(done.id)

    assert (by_agent.trust, by_person.trust) == ("machine-confirmed", "human-reviewed")
    assert by_person.note.meta["verified"] == [
        {"by": "claude-code/2.1", "at": "2026-10-02T08:00:00Z"},
        {"by": "human:dana", "at": "2026-10-02T08:00:00Z"},
    ]


@pytest.mark.parametrize("key", ["verified", "generated", "id", "created"])
def test_no_new_note_borrows_a_name_or_an_id(key: str, clocked: Memory) -> None:
    old = keep(clocked, "The port is 8443.")
    keys = {key: [{"by": "human:dana", "at": "2026-10-02T00:00:00Z"}]}

    with pytest.raises(InvalidRequest):
        clocked.remember(by(draft_from("Another.", keys=keys), "x/1"))
    with pytest.raises(InvalidRequest):
        settling.supersede(clocked, old.id, old.etag, by(successor("New.", keys), "x/1"))

    assert len(clocked.index.listing()) == 1


def test_items_are_added_to_a_list_and_taken_from_it(clocked: Memory, vault: Path) -> None:
    (vault / "user").mkdir(parents=True)
    file = vault / "user/n.md"
    block = "type: Fact\ntags:\n  - Net  # mine\n  - old\ncode_refs: [a.py]\n"
    file.write_text(f"---\n{block}---\n\nText.\n", encoding="utf-8")
    clocked.catch_up()

    for keys in ({"tags+": ["net", "tls"]}, {"code_refs+": "b.py, c.py"}, {"tags-": "OLD"}):
        etag = clocked.read("user/n.md").etag
        clocked.revise("user/n.md", etag, Edit(keys=keys))
    note = clocked.read("user/n.md").note

    assert note.tags == ("Net", "tls")
    assert note.meta["code_refs"] == ["a.py", "b.py", "c.py"]
    etag = clocked.read("user/n.md").etag
    clocked.revise("user/n.md", etag, Edit(keys={"code_refs-": ["a.py", "b.py", "c.py"]}))
    assert "code_refs" not in clocked.read("user/n.md").note.meta


def test_links_by_the_old_title_lead_to_a_note_that_was_given_another(clocked: Memory) -> None:
    done = keep(clocked, "The port is 8443.", "Gateway port")
    linking = keep(clocked, "See [[Gateway port]] first.", "Runbook")

    revise(clocked, done, set={"title": "Ports of the gateway"})

    assert [link.id for link in clocked.read(linking.id).links] == [done.id]
    assert found(clocked, "gateway port")[0] == done.id


@pytest.mark.parametrize(
    "arguments",
    [
        {"supersede": "true", "contest": ["x"], "text": "t"},
        {"contest": ["x"], "text": "t"},
        {"supersede": "someid", "text": "t"},
        {"supersede": "true", "text": "t", "find": "x"},
        {"merge": ["x@b2-1"], "verify": True, "text": "t"},
    ],
)
def test_one_revision_does_one_thing(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest, match="Nothing was changed"):
        revision_from(**arguments)  # type: ignore[arg-type]


# -- writes that meet


@pytest.mark.fault("A-82")
def test_a_refused_write_shows_what_changed_meanwhile(clocked: Memory, vault: Path) -> None:
    done = keep(clocked, "The port is 8443.\n\nTLS ends here.")
    etag = clocked.read(done.id).etag
    file = vault / done.path
    file.write_text(file.read_text(encoding="utf-8").replace("8443", "9443"), encoding="utf-8")
    clocked.catch_up()

    with pytest.raises(NoteChanged) as refused:
        clocked.revise(done.id, etag, Edit(text="The port is 7443."))

    told = str(refused.value)
    assert "- The port is 8443." in told.replace("-The", "- The")
    assert "+ The port is 9443." in told.replace("+The", "+ The")
    assert "TLS" not in told
    assert clocked.read(done.id).etag in told
    assert "9443" in file.read_text(encoding="utf-8")


@pytest.mark.fault("A-82")
def test_a_refused_write_shows_the_text_where_the_version_read_is_not_known(
    clocked: Memory, vault: Path, open_another: Callable[[], Memory]
) -> None:
    done = keep(clocked, "The port is 8443.")

    with pytest.raises(NoteChanged, match=r"It says now.*\n(.*\n)*The port is 8443"):
        open_another().revise(done.id, "b2-unknown", Edit(text="The port is 7443."))


# -- dry runs


@pytest.mark.parametrize("way", ["supersede", "replace", "contest", "merge", "edit", "verify"])
def test_a_dry_run_says_what_would_be_done_and_does_nothing(
    way: str, clocked: Memory, vault: Path
) -> None:
    one, two = keep(clocked, "The port is 8443.", "A"), keep(clocked, "TLS ends here.", "B")
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}
    arguments = {
        "supersede": {"supersede": "true", "text": "The port is 1."},
        "replace": {"supersede": two.id},
        "contest": {"contest": [two.id]},
        "merge": {"merge": [f"{two.id}@{two.etag}"], "text": "Both."},
        "edit": {"find": "8443", "replace": "9443"},
        "verify": {"verify": True},
    }[way]

    plan = settling.revise(
        clocked,
        one.id,
        one.etag,
        revision_from(**arguments),
        dry_run=True,  # type: ignore[arg-type]
    )

    assert plan.status == "planned"
    assert plan.steps
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == before


def test_a_plan_names_each_file_it_writes(clocked: Memory) -> None:
    one, two = keep(clocked, "The port is 8443.", "A"), keep(clocked, "TLS ends here.", "B")
    revision = revision_from(merge=[f"{two.id}@{two.etag}"], text="Both.", set={"title": "C"})

    plan = settling.revise(clocked, one.id, one.etag, revision, dry_run=True)

    assert plan.steps == (
        "create projects/app/c.md (C)",
        "mark projects/app/a.md (A) as replaced by it, out of force",
        "mark projects/app/b.md (B) as replaced by it, out of force",
    )


# -- validity


@pytest.mark.rule("MEM-10")
@pytest.mark.parametrize("ttl", ["30d", "P30D", "30 days", "30天"])
def test_a_time_to_live_becomes_a_date_when_the_note_is_written(ttl: str, clocked: Memory) -> None:
    done = keep(clocked, "The freeze lasts.", ttl=ttl)

    note = note_of(clocked, done)
    clocked.clock = lambda: NOW + timedelta(days=30, seconds=-1)
    before = found(clocked, "freeze")
    clocked.clock = lambda: NOW + timedelta(days=30)

    assert note.expires_at == NOW + timedelta(days=30)
    assert "ttl" not in note.meta
    assert (before, found(clocked, "freeze")) == ([done.id], [])


def test_what_has_expired_is_kept_anew_when_it_is_remembered_again(clocked: Memory) -> None:
    first = keep(clocked, "The freeze lasts.", ttl="1d")
    clocked.clock = lambda: NOW + timedelta(days=2)

    again = keep(clocked, "The freeze lasts.")

    assert again.id != first.id
    assert found(clocked, "freeze") == [again.id]


def test_a_note_that_is_due_is_shown_with_a_warning_and_not_hidden(clocked: Memory) -> None:
    done = keep(clocked, "The quota is 64.", stale_after="90d")
    fresh = str(clocked.recall(query_from("quota")).hits[0].why)
    clocked.clock = lambda: NOW + timedelta(days=90)

    hit = clocked.recall(query_from("quota")).hits[0]

    assert "stale" not in fresh
    assert (hit.id, "stale since 2026-12-31" in str(hit.why)) == (done.id, True)
    assert clocked.read(done.id).flags == ("stale",)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ttl", "soon"),
        ("ttl", "30m"),
        ("expires_at", "later"),
        ("valid_from", "30d"),
        ("ttl", "0d"),
    ],
)
def test_a_time_that_is_none_is_refused_with_an_example(
    key: str, value: str, clocked: Memory
) -> None:
    with pytest.raises(InvalidRequest, match="takes a"):
        keep(clocked, "The freeze.", **{key: value})


def test_a_note_cannot_end_before_it_begins(clocked: Memory) -> None:
    done = keep(clocked, "The freeze.", valid_from="2026-05-01")

    with pytest.raises(InvalidRequest, match="before"):
        clocked.revise(done.id, done.etag, Edit(keys={"valid_to": "2026-04-01"}))
    with pytest.raises(InvalidRequest, match="before"):
        keep(clocked, "Another.", valid_from="2026-05-01", valid_to="2026-04-01")


def test_an_edit_does_not_hide_a_note_from_the_time_before_it(clocked: Memory) -> None:
    done = keep(clocked, "The port is 8443.")
    clocked.clock = lambda: NOW + timedelta(days=60)
    clocked.revise(done.id, done.etag, Edit(find="8443", replace="9443"))

    assert found(clocked, "port", as_of="2026-10-20") == [done.id]


# -- exact repeats


@pytest.mark.fault("A-74")
@pytest.mark.parametrize(
    "again",
    [
        "  Port\u3000８４４３ is\n the caf\u00e9's. ",
        "Port 8443 is the cafe\u0301's.",
    ],
)
def test_a_repeat_in_other_spacing_or_another_unicode_form_is_known(
    again: str, memory: Memory
) -> None:
    first = keep(memory, "Port 8443 is the caf\u00e9's.")

    assert (keep(memory, again).id, len(memory.index.listing())) == (first.id, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The flag is -X.", "The flag is -x."),
        ("The limit is 10².", "The limit is 102."),
        ("```yaml\na:\n  b: 1\n  c: 2\n```", "```yaml\na:\n  b: 1\nc: 2\n```"),
    ],
)
def test_texts_that_say_different_things_are_two_notes(
    one: str, other: str, memory: Memory
) -> None:
    assert keep(memory, one, "A").id != keep(memory, other, "A").id


def test_the_same_value_of_two_things_is_two_notes(memory: Memory) -> None:
    staging = keep(memory, "10.0.0.5", "Staging database host")
    production = keep(memory, "10.0.0.5", "Production database host")
    chinese = [keep(memory, "端口 8443", title) for title in ("预发网关", "生产网关")]

    assert staging.id != production.id
    assert chinese[0].id != chinese[1].id
    assert keep(memory, "10.0.0.5", "Production database host").status == "already known"
    assert keep(memory, "端口 8443", "生产网关").status == "already known"


def test_another_wording_of_the_title_makes_no_second_note(memory: Memory) -> None:
    first = keep(memory, "The gateway listens on port 8443.", "Gateway listens on 8443")

    for title in ("Port of the gateway", "", "gateway port 8443"):
        assert keep(memory, "The gateway listens on port 8443.", title).id == first.id


def test_a_retry_after_its_writer_died_finds_the_note_that_was_written(
    memory: Memory, vault: Path
) -> None:
    first = keep(memory, "The port is 8443.", "Port")
    content = (vault / first.path).read_bytes()
    memory.forget(first.id, "erase")
    (vault / first.path).write_bytes(content)  # as if the index had not been told

    again = keep(memory, "The port is 8443.", "Port")

    assert (again.status, again.id) == ("already known", first.id)
    assert len(list(vault.rglob("*.md"))) == 1
