"""What lifts a note in an answer besides its own words: its neighbours, its day, who wrote it."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memorix import settling
from memorix.arguments import query_from
from memorix.embedders.base import ModelCard
from memorix.errors import InvalidRequest
from memorix.lifecycle import Draft
from memorix.memory import Memory
from memorix.query import Answer
from memorix.recalling import files_named
from tests.hashing import HashingEmbedder

if TYPE_CHECKING:
    from memorix.embedders.base import Vectors

NOW = datetime(2026, 12, 2, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def at_noon(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    memory.clock = lambda: NOW


def say(memory: Memory, text: str, day: str = "2026-11-20", session: str = "", **more: str) -> str:
    draft = Draft(
        text,
        more.get("title", text[:20]),
        type="Episode" if session else "Fact",
        author=more.get("author", ""),
        when=datetime.fromisoformat(f"{day}T12:00:00+00:00"),
        extra={"session": session} if session else {},
    )
    return memory.remember(draft).id


def ask(memory: Memory, question: str, **more: object) -> Answer:
    return memory.recall(query_from(question, **more))  # type: ignore[arg-type]


def ids(answer: Answer) -> list[str]:
    return [hit.id for hit in answer.hits]


def test_a_short_note_is_found_by_what_was_said_around_it(memory: Memory) -> None:
    say(memory, "Shall we keep the broker for the telemetry?", session="monday")
    answer = say(memory, "No, it goes; nats is enough.", session="monday")
    say(memory, "Then I order the cake.", session="tuesday")

    assert answer in ids(ask(memory, "telemetry broker"))


def test_what_is_said_around_a_note_counts_less_than_what_it_says(memory: Memory) -> None:
    question = say(memory, "Shall we keep the telemetry broker?", session="monday")
    say(memory, "No, it goes.", session="monday")

    assert ids(ask(memory, "telemetry broker"))[0] == question


def test_a_neighbour_that_is_erased_or_changed_is_no_longer_around(
    memory: Memory, vault: Path
) -> None:
    first = say(memory, "The zanzibar cluster is full.", session="s", title="first")
    second = say(memory, "Then we add two nodes.", session="s", title="second")
    assert second in ids(ask(memory, "zanzibar"))

    file = vault / "projects/app/first.md"
    file.write_text(file.read_text("utf-8").replace("zanzibar", "lisbon"), "utf-8")
    memory.catch_up()
    assert ids(ask(memory, "zanzibar")) == []
    assert second in ids(ask(memory, "lisbon"))

    memory.forget(first, "erase")
    assert ids(ask(memory, "lisbon")) == []


def test_a_note_between_two_others_becomes_their_neighbour_when_it_comes(memory: Memory) -> None:
    last = say(memory, "Agreed.", "2026-11-22", session="s", title="last")
    assert ids(ask(memory, "walrus")) == []

    say(memory, "The walrus service is retired.", "2026-11-21", session="s", title="middle")

    assert last in ids(ask(memory, "walrus"))


def test_a_new_index_has_the_same_neighbours(memory: Memory) -> None:
    for number in range(30):
        say(memory, f"step {number} uses tool_{number:02}", session="s", title=f"t{number}")
    before = [ids(ask(memory, f"tool_{number:02}")) for number in range(30)]

    memory.make_index_anew()

    assert [ids(ask(memory, f"tool_{number:02}")) for number in range(30)] == before
    assert sum(len(found) for found in before) > 2 * 30 - 3


def test_a_long_note_is_not_found_by_its_neighbours(memory: Memory) -> None:
    say(memory, "The walrus service is retired.", session="s")
    long = say(memory, "A report on the weather of many towns. " * 20, session="s")

    assert long not in ids(ask(memory, "walrus"))


def test_a_short_note_is_found_by_its_day_in_words(memory: Memory) -> None:
    english = say(memory, "Released the parser.", "2025-05-08")
    chinese = say(memory, "发布了解析器。", "2025-05-09")

    assert ids(ask(memory, "released 8 May 2025"))[0] == english
    assert ids(ask(memory, "2025年5月9日 发布"))[0] == chinese


@pytest.mark.parametrize("question", ["What did we decide last week?", "上周决定了提高哪个配额"])
def test_notes_of_the_time_asked_for_come_first(memory: Memory, question: str) -> None:
    for day in ("2026-09-01", "2026-11-25", "2026-12-01"):
        say(
            memory,
            f"We decide to raise quota {day[5:7]}. 决定提高配额。",
            day,
            title=f"quota {day}",
        )

    answer = ask(memory, question)

    assert answer.hits[0].date[:10] == "2026-11-25"
    assert "from that time +50%" in answer.hits[0].why.notes
    assert any("2026-11-23 to 2026-11-29" in line for line in answer.read_as)


def test_a_month_without_a_year_is_the_latest_that_has_notes(memory: Memory) -> None:
    old = say(memory, "The outage hit the queue.", "2024-07-14", title="outage one")
    say(memory, "The outage hit the cache.", "2024-08-14", title="outage two")

    answer = ask(memory, "which outage was in July")

    assert ids(answer)[0] == old
    assert answer.read_as == ("July: 2024-07-01 to 2024-07-31",)


def test_the_newest_or_oldest_comes_first_where_that_is_asked(memory: Memory) -> None:
    days = ["2026-03-01", "2026-06-01", "2026-09-01"]
    made = [say(memory, f"Limit is {day[6]}00 calls.", day, title="Rate limit") for day in days]

    assert ids(ask(memory, "what is the latest rate limit"))[0] == made[2]
    assert ids(ask(memory, "what was the rate limit originally"))[0] == made[0]


def test_a_person_who_is_named_lifts_what_that_person_wrote(memory: Memory) -> None:
    say(memory, "Ports are fine as they are.", author="human:bob", title="ports of bob")
    hers = say(memory, "Ports should change.", author="human:anna-li", title="ports of hers")

    hit = ask(memory, "what did Anna say about ports").hits[0]

    assert hit.id == hers
    assert "by who is named +40%" in hit.why.notes


def test_an_identifier_that_exists_comes_first_whatever_else_speaks_for_others(
    memory: Memory,
) -> None:
    wanted = say(memory, "Note on err_4711.", "2020-01-01", title="misc")
    for number in range(12):
        say(memory, f"Anna on errors last week, case {number}", "2026-11-25", author="human:anna",
            title=f"Errors {number}")  # fmt: skip

    assert ids(ask(memory, "what did Anna say last week about err_4711 errors"))[0] == wanted


def test_a_session_that_holds_more_of_a_question_lifts_its_notes_more(memory: Memory) -> None:
    """Each of the party's notes holds as much of it as one of Monday's, which together hold all."""
    for number in range(30):
        say(memory, f"Unrelated remark {number}.", title=f"t{number}")
    slow = "The broker was slow"
    party = [f"{slow}, anna said.", "Yes.", f"{slow}, berta said.", "No.", f"{slow}, chris said."]
    monday = ["Telemetry first.", "Then Lisbon.", "Yes.", "No.", f"{slow}, dora said."]
    for session, turns in {"party": party, "monday": monday}.items():
        for text in turns:
            say(memory, text, session=session, title=session)

    hits = ask(memory, "telemetry in Lisbon: was the broker slow").hits

    assert [hit.title for hit in hits] == ["monday"] * 5 + ["party"] * 3
    assert "its session +50%" in hits[0].why.notes


@pytest.mark.parametrize("question", ["who cooks lunch on 24 days?", "谁在24天里煮午饭？"])
def test_a_number_of_two_digits_counts_something_and_names_no_note(
    memory: Memory, question: str
) -> None:
    wanted = say(memory, "Anna cooks lunch on most days. 安娜煮午饭。", title="lunch")
    say(memory, "The crate holds 24 bottles. 一箱装24瓶。", title="crate")

    assert ids(ask(memory, question))[0] == wanted


def test_ids_sort_in_the_order_in_which_notes_were_made(memory: Memory) -> None:
    made = [say(memory, f"note {number}") for number in range(50)]

    assert made == sorted(made)


def test_an_event_dates_a_question_where_a_note_is_about_it(memory: Memory) -> None:
    before = say(memory, "We use mysql as database.", "2026-01-10", title="database one")
    say(memory, "The big migration is done.", "2026-05-20", title="Migration done")
    say(memory, "We use postgres as database.", "2026-07-01", title="database two")

    answer = ask(memory, "which database did we use before the migration?")

    assert ids(answer)[0] == before
    assert answer.read_as == ("before the migration: to 2026-05-19",)


def test_what_nobody_asked_for_takes_more_evidence(memory: Memory) -> None:
    say(memory, "The gateway listens on port 8443 because 443 is taken.", title="Gateway port")
    for number in range(40):
        say(memory, f"Unrelated remark number {number} on lunch.", title=f"lunch {number}")

    def strictly(question: str) -> Answer:
        return memory.recall(replace(query_from(question), strict=True))

    assert strictly("why does the gateway listen on port 8443?").hits
    prompt = "rename the taken variable"
    assert ask(memory, prompt).hits
    assert not strictly(prompt).hits


def test_pages_stay_as_they_were_while_notes_change(memory: Memory, vault: Path) -> None:
    made = [
        say(memory, f"Lantern {number} is lit.", title=f"Lantern {number}") for number in range(20)
    ]
    first = ask(memory, "lantern", limit=8)
    rest = {*made} - {*ids(first)}
    gone, changed = sorted(rest)[:2]

    memory.forget(gone, "archive")
    row = memory.find(changed)
    file = vault / row.path
    file.write_text(file.read_text("utf-8").replace("is lit", "is out"), "utf-8")
    say(memory, "Lantern lantern lantern: a new one.", title="Lantern lantern")
    memory.catch_up()
    second = ask(memory, "lantern", limit=20, cursor=first.next_cursor)

    assert {*ids(second)} == rest - {gone}
    assert len(ids(second)) == len({*ids(second)})


def test_a_cursor_that_no_longer_is_known_goes_on_from_its_place(memory: Memory) -> None:
    for number in range(12):
        say(memory, f"Lantern {number} is lit.", title=f"Lantern {number}")
    whole = ids(ask(memory, "lantern", limit=12))

    assert ids(ask(memory, "lantern", limit=12, cursor="8-00000000")) == whole[8:]


def test_copies_of_one_statement_are_shown_once_and_counted(memory: Memory) -> None:
    say(memory, "The nightly build of the parser fails on arm machines since the update.")
    for word in ("Well,", "Oh,", "So,"):
        say(
            memory,
            f"{word} the nightly build of the parser fails on arm machines since the update.",
        )
    other = say(memory, "The nightly build of the parser fails on arm64 since version 4.")

    answer = ask(memory, "nightly build parser arm machines fails")

    assert other in ids(answer)
    assert len(answer.hits) == 2
    assert any("3 more say the same" in hit.why.notes for hit in answer.hits)


def test_more_of_a_hit_is_shown_on_request(memory: Memory) -> None:
    text = "# Ports\n\nThe gateway uses 8443.\n\n# Owners\n\nThe owner is Anna."
    say(memory, text, title="Gateway")

    brief, passage, full = (
        ask(memory, "gateway port 8443", detail=detail).hits[0].text
        for detail in ("brief", "passage", "full")
    )

    assert brief == ""
    assert "8443" in passage
    assert full == text


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"author": "anna"}, ["hers"]),
        ({"path": "projects/app/he*"}, ["hers"]),
        ({"path": "his.md"}, ["his"]),
        ({"file": "src/net/gateway.py"}, ["hers"]),
        ({"file": "docs/readme.md"}, ["his"]),
        ({"file": "other.py"}, []),
        ({"component": "GATEWAY"}, ["hers"]),
        ({"component": ["gateway", "docs"]}, ["hers", "his"]),
        ("component: gateway|docs", ["hers", "his"]),
        ({"component": "docs", "author": "anna"}, []),
        ({"status": "deprecated"}, ["old"]),
    ],
)
def test_notes_are_filtered_by_what_their_metadata_say(
    memory: Memory, where: object, found: list[str]
) -> None:
    for title, author, extra in (
        ("hers", "human:anna-li", {"code_refs": ["src/net/*.py"], "component": "gateway"}),
        ("his", "human:bob", {"code_refs": ["docs/"], "component": "docs"}),
        ("old", "human:bob", {"component": "attic"}),
    ):
        memory.remember(Draft(f"About lanterns, {title}.", title, author=author, extra=extra))
    memory.forget("projects/app/old.md")

    by_words = {hit.title for hit in ask(memory, "lanterns", where=where).hits}
    listed = {hit.title for hit in ask(memory, "", where=where).hits}

    assert sorted(by_words) == sorted(listed) == found


@pytest.mark.parametrize("where", ["nonsense", {"author": ""}])
def test_a_condition_that_cannot_be_read_is_refused(memory: Memory, where: object) -> None:
    with pytest.raises(InvalidRequest, match="where"):
        ask(memory, "x", where=where)


def test_a_newer_note_that_seems_to_contradict_does_not_pass_the_one_that_is_named(
    memory: Memory,
) -> None:
    for number in range(30):
        text = f"The heron number {number} stands in bay {number}."
        day = f"2026-11-{number % 28 + 1:02}"
        say(memory, text, day, title=text[:-1])

    found = [ask(memory, f"heron bay {number}").hits[0].title for number in range(30)]

    assert found == [f"The heron number {number} stands in bay {number}" for number in range(30)]


def test_what_seems_to_date_a_question_may_be_its_subject(memory: Memory) -> None:
    say(memory, "Courier incident: the queue overflowed.", "2026-03-02", title="Courier incident")

    assert ask(memory, "what to do after courier incident").hits[0].title == "Courier incident"


def test_silence_tells_of_no_word_of_another_project(memory: Memory, vault: Path) -> None:
    other = vault / "projects" / "other" / "secret-plan.md"
    other.parent.mkdir(parents=True)
    other.write_text("The zanzibar plan.", encoding="utf-8")
    memory.catch_up()
    say(memory, "The gateway listens on 8443.", title="Gateway port")

    assert ask(memory, "zanzibar").silent == "Nothing close. No note has: zanzibar."


FILLING = [
    "前端构建产物放在 CDN，缓存一年。",
    "日志保留三十天，之后转存冷备。",
    "周会改到星期四下午。",
    "测试环境每晚重置一次。",
]


def test_a_chinese_question_finds_words_that_its_note_puts_in_another_order(
    memory: Memory,
) -> None:
    for text in FILLING:
        say(memory, text)
    wanted = say(memory, "订单号用雪花算法生成，不再用数据库自增，避免被人按序号遍历。")

    assert ids(ask(memory, "订单编号为什么不用自增主键")) == [wanted]


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("我想要把限流放宽一些，应该怎样做", "限流阈值改动要双人复核，夜里禁止动。"),
        ("这样写递归会不会有什么问题", "递归深度不许超过二十层，爆过栈。"),
        ("如果我现在就要回滚应该从哪里开始", "回滚入口在发布平台的历史页，一次只退一个版本。"),
        ("我们能不能在这里直接用反射", "反射在启动阶段才允许，热路径里不行。"),
    ],
)
def test_words_that_any_chinese_question_may_have_need_not_stand_in_its_note(
    memory: Memory, question: str, note: str
) -> None:
    say(memory, "压测在周四晚上做，提前在群里说一声。")
    wanted = say(memory, note)

    assert ids(ask(memory, question))[:1] == [wanted]


def test_a_chinese_question_of_something_else_is_answered_by_silence(memory: Memory) -> None:
    for text in FILLING:
        say(memory, text)

    assert ids(ask(memory, "附近有什么好吃的火锅店")) == []
    assert ids(ask(memory, "周末去海边的火车票怎么买")) == []


def test_of_two_notes_that_contradict_each_other_the_newer_comes_first_in_any_words(
    memory: Memory,
) -> None:
    say(
        memory,
        "We build the web client with Node 18. CI image and .nvmrc both say 18.19.",
        "2026-01-12",
        title="Node version",
    )
    newer = say(
        memory,
        "Moved the web client to Node 22: .nvmrc and the CI image are on 22.4, 18 is gone.",
        "2026-02-27",
    )

    found = ask(memory, "what Node version do I need to build the web client")

    assert ids(found)[0] == newer
    assert ask(memory, "web client Node 18.19").hits[0].title == "Node version"


class OneAngle:
    """An `Embedder` to which every question is as far from every note: a cosine of 0.16."""

    card = ModelCard("angle", "angle-1", 2, 256, frozenset(), 0.1, "Apache-2.0", "tests")

    def embed(self, texts: Sequence[str]) -> "Vectors":
        return np.array([[1.0, 0.0]] * len(texts), dtype=np.float32)

    def embed_query(self, text: str) -> "Vectors":
        return np.array([0.16, math.sqrt(1 - 0.16**2)], dtype=np.float32)


def test_a_note_in_another_language_need_not_hold_words_of_the_question(memory: Memory) -> None:
    memory.use_model(OneAngle())
    made = say(memory, "The dispatcher sends everything twice after a timeout.")
    memory.embed_pending()

    assert ids(ask(memory, "客户为什么收到两封信？")) == [made]
    assert not ask(memory, "why do customers get two letters?").hits


def test_a_name_that_many_notes_hold_is_evidence_that_a_question_is_meant_for_them(
    memory: Memory,
) -> None:
    memory.use_model(HashingEmbedder())
    for number in range(120):
        say(memory, f"Anna remark{number}", title=f"Anna remark{number}")
    for number in range(9):
        text = f"Anna cello thing{number} and other{number} words{number}"
        say(memory, text, title=f"cello {number}")
    memory.embed_pending()

    def strictly(question: str) -> Answer:
        return memory.recall(replace(query_from(question), strict=True))

    assert strictly("Anna cello quarrel neighbours noisy evenings borrowed").hits
    assert not strictly("Bert cello quarrel neighbours noisy evenings borrowed").hits


@pytest.fixture
def changed(memory: Memory) -> Memory:
    """Three facts of January, each changed in April; one more that was retired then."""
    for text, new in (
        ("The ssh port of the bastion is 2022.", "The ssh port of the bastion is 49222."),
        ("Billing exports are kept 90 days.", "Billing exports are kept 30 days."),
        ("短信限流阈值是每分钟一百条。", "短信限流阈值是每分钟三十条。"),
    ):
        memory.clock = lambda: datetime(2026, 1, 12, 12, tzinfo=UTC)
        old = memory.remember(Draft(text, text))
        memory.clock = lambda: datetime(2026, 4, 20, 12, tzinfo=UTC)
        settling.supersede(memory, old.id, old.etag, Draft(new, new))
    memory.clock = lambda: datetime(2026, 1, 12, 12, tzinfo=UTC)
    gone = memory.remember(Draft("The ssh banner greets the bastion.", "Banner")).id
    memory.clock = lambda: NOW
    memory.forget(gone)
    return memory


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which ssh port did the bastion have in January", "2022"),
        ("how long were billing exports kept in February 2026", "90 days"),
        ("一月份短信的限流阈值是多少", "一百"),
        ("how long were billing exports kept before April", "90 days"),
        ("ssh port of the bastion on 2026-02-03", "2022"),
        ("三月之前短信限流阈值是多少", "一百"),
    ],
)
def test_what_held_at_the_time_a_question_names_comes_first_and_marked(
    changed: Memory, question: str, told: str
) -> None:
    hits = ask(changed, question).hits

    assert told in hits[0].gist
    assert hits[0].status == "deprecated"
    assert len(hits) == 2


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("which ssh port has the bastion", "49222"),
        ("how long are billing exports kept since January", "30 days"),
        ("which ssh port did the bastion have in May", "49222"),
    ],
)
def test_what_was_replaced_stays_out_where_no_time_of_it_is_named(
    changed: Memory, question: str, told: str
) -> None:
    (hit,) = ask(changed, question).hits

    assert told in hit.gist


def test_what_held_at_that_time_is_on_the_pages_that_follow_too(changed: Memory) -> None:
    question = "how long were billing exports kept, and which ssh port did we have, in January"
    whole = ids(ask(changed, question))
    first = ask(changed, question, limit=1)
    second = ask(changed, question, limit=8, cursor=first.next_cursor)

    assert [*ids(first), *ids(second)] == whole
    assert sum(hit.status == "deprecated" for hit in second.hits) == 1


def test_what_was_forgotten_does_not_come_back_with_its_time(changed: Memory) -> None:
    assert not ask(changed, "banner in January").hits


def test_statements_that_differ_in_a_chinese_numeral_are_no_copies(memory: Memory) -> None:
    long = "短信网关的限流阈值按租户算，超过之后排队，不会丢，夜里自动放宽，每分钟{}条。"
    both = {say(memory, long.format("五")), say(memory, long.format("七"), title="另一条")}

    assert set(ids(ask(memory, "短信网关的限流阈值"))) == both


@pytest.fixture
def anchored(memory: Memory) -> Memory:
    """Notes about files, told by globs, among others that share words with the questions."""
    for title, text, refs in (
        (
            "Minor units",
            "Amounts are integers of cents; floats rounded wrongly.",
            "src/checkout/**",
        ),
        ("Waiting", "失败后等两秒再试，最多五次。", "src/auth/*.ts"),
        ("Lock order", "Take the account before the journal.", "ledger/post.py"),
    ):
        memory.remember(Draft(text, title, extra={"code_refs": [refs]}))
    for number in range(4):
        say(memory, f"Guest {number} leaves a tip for table {number}.", title=f"Table {number}")
    return memory


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("model for the tip a guest leaves in src/checkout/tips.py", "Minor units"),
        ("why is `./src/checkout/sum/total.rs:14` written so", "Minor units"),
        ("src/auth/login.ts里要注意什么", "Waiting"),
        ("what waits in src/auth/login.test.ts?", "Waiting"),
        ("anything to know before I edit ledger/post.py?", "Lock order"),
    ],
)
def test_a_note_about_a_file_that_the_question_names_is_found_whatever_its_words(
    anchored: Memory, question: str, title: str
) -> None:
    titles = {hit.title for hit in ask(anchored, question).hits}

    assert titles & {"Minor units", "Waiting", "Lock order"} == {title}


@pytest.mark.parametrize(
    "question", ["what does src/net/io.py do", "who edits post.py", "src/auth/login.py"]
)
def test_a_file_that_no_note_is_about_brings_none(anchored: Memory, question: str) -> None:
    titles = {hit.title for hit in ask(anchored, question).hits}

    assert not titles & {"Minor units", "Waiting", "Lock order"}


def test_a_pasted_log_with_hundreds_of_paths_is_answered(anchored: Memory) -> None:
    log = " ".join(f"lib/{number}/io.py" for number in range(1100))
    titles = [hit.title for hit in ask(anchored, f"ledger/post.py {log} Guest 3 tip").hits]

    assert "Lock order" in titles


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("see ./src/a.py, b.test.ts and 'c/d'.", ("src/a.py", "b.test.ts", "c/d")),
        ("版本 1.2 的README.md里", ("README.md",)),
        ("3.5 or so...", ()),
        ("a" * 20_000, ()),
    ],
)
def test_what_may_be_a_file_is_told_from_other_words(text: str, named: tuple[str, ...]) -> None:
    assert files_named(text) == named


def test_a_file_brings_none_from_another_scope(anchored: Memory) -> None:
    assert not ask(anchored, "what about ledger/post.py", scope="user").hits
