"""A question finds notes that say the same in the words of another language."""

import pytest

from memorix import glossary
from memorix.arguments import query_from
from memorix.lexemes import query_terms
from memorix.lifecycle import Draft
from memorix.memory import Memory

OTHERS = (
    "The office plant is watered on Mondays by Iris.",
    "灰度比例由运营控制。",
    "Invoices are numbered by country and year.",
    "压测在周四晚上做，提前在群里说一声。",
    "The map tiles come from our own server in Graz.",
    "客服话术每季度更新一次。",
)
PAIRS = [
    ("how long are access tokens valid", "访问令牌有效期两小时，刷新令牌三十天。"),
    ("which message queue do we use", "消息队列选 RocketMQ，Kafka 运维没人会。"),
    ("who maintains the payment gateway", "支付网关由老徐负责，周末找平台组值班。"),
    ("retry policy for failed callbacks", "回调失败重试五次，间隔翻倍。"),
    ("where are uploaded images stored", "图片上传后存在对象存储的 media 桶。"),
    ("数据库迁移怎么回滚", "Every migration ships a down step; rollback was rehearsed in May."),
    ("单元测试覆盖率要求多少", "Unit test coverage must stay above 80 percent, CI fails below."),
    ("日志级别怎么改", "Set LOG_LEVEL=debug in the env file; the log level is read at start only."),
    ("缓存过期时间是多久", "Cache entries expire after ten minutes; nobody may set it."),
    ("前端依赖用什么装", "Frontend dependencies are installed with pnpm, never npm."),
]


@pytest.fixture
def mixed(memory: Memory) -> Memory:
    for text in OTHERS:
        memory.remember(Draft(text, text[:20]))
    return memory


@pytest.mark.parametrize(("question", "text"), PAIRS)
def test_a_question_finds_its_note_in_the_other_language(
    mixed: Memory, question: str, text: str
) -> None:
    wanted = mixed.remember(Draft(text, text[:20])).id

    hits = mixed.recall(query_from(question)).hits

    assert [hit.id for hit in hits][:1] == [wanted]
    assert str(hits[0].why).startswith("words: ")


def test_a_chinese_question_finds_another_chinese_word_for_the_same(mixed: Memory) -> None:
    wanted = mixed.remember(Draft("正式环境的密码每月轮换。", "轮换")).id

    assert [hit.id for hit in mixed.recall(query_from("线上口令多久换")).hits] == [wanted]


def test_a_note_in_the_words_of_the_question_comes_before_one_in_another_language(
    mixed: Memory,
) -> None:
    other = mixed.remember(Draft("部署窗口是周二下午。", "窗口")).id
    own = mixed.remember(Draft("The deploy window is on Thursday.", "Window")).id

    assert [hit.id for hit in mixed.recall(query_from("deploy window")).hits] == [own, other]


@pytest.mark.parametrize("question", ["谁唱的这首老歌", "小猫几个月打疫苗", "how to boil an egg"])
def test_a_question_of_something_else_is_still_met_with_silence(
    mixed: Memory, question: str
) -> None:
    assert not mixed.recall(query_from(question)).hits


def test_a_longer_term_is_taken_before_the_words_in_it() -> None:
    (term,) = glossary.translated("配置中心", query_terms("中心"))
    assert term.also == ("config center", "configur center")


def test_a_text_without_terms_is_left_as_it_is() -> None:
    terms = query_terms("the heron nests by the pond")
    assert glossary.translated("the heron nests by the pond", terms) == terms
