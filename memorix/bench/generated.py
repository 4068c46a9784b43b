"""A store of near-copies: notes from one mould that differ in what they are about.

Every note says one trouble of one part, its cure and an identifier.  A question names the
identifier, names the part and rewords the trouble, or rewords both, with no telling word of the
note in it.  The notes are many and alike, so that nothing but the meaning of two slots tells them
apart: made for finding out what a mix of words and meaning buries.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memorix.bench.data import Document, Question, RetrievalSet

GROUP = "generated"


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing in two wordings that share no telling word."""

    said: str
    asked: str


PARTS = tuple(
    Slot(*pair)
    for pair in (
        ("the invoice renderer", "whatever draws our bills"),
        ("the login gateway", "the place where people sign in"),
        ("the search indexer", "the job that makes things findable"),
        ("the mail dispatcher", "what sends out messages to customers"),
        ("the image resizer", "the picture shrinking tool"),
        ("the payment webhook", "the callback for money received"),
        ("the nightly backup", "the copy taken while everyone sleeps"),
        ("the metrics collector", "the thing gathering measurements"),
        ("the feature flag store", "where switches for new behaviour live"),
        ("the session cache", "memory of who is currently signed on"),
        ("the audit trail", "the history of who did what"),
        ("the pdf exporter", "printing documents to a file"),
        ("the translation loader", "reading texts in other languages"),
        ("the rate limiter", "the throttle on callers"),
        ("the address validator", "the check of streets and postcodes"),
        ("the stock synchroniser", "keeping warehouse numbers equal"),
        ("the recommendation engine", "suggesting products people may like"),
        ("the deployment script", "the way we roll out releases"),
        ("the test runner", "the harness that executes checks"),
        ("the mobile client", "the phone app"),
        ("the queue consumer", "the worker taking jobs off the line"),
        ("the schema migrator", "altering tables step by step"),
        ("the speech recogniser", "turning voices to text"),
        ("the map tiles server", "delivering pieces of geography"),
        ("the chat bridge", "relaying conversations between networks"),
    )
)
TROUBLES = tuple(
    Slot(*pair)
    for pair in (
        ("runs out of memory on large inputs", "is killed when the files get huge"),
        ("deadlocks under parallel writes", "hangs if several save at once"),
        ("rounds amounts to the wrong cent", "gets sums slightly off"),
        ("forgets its settings after a restart", "loses configuration on reboot"),
        ("rejects names with accents", "refuses letters like é or ü"),
        ("sends everything twice after a timeout", "delivers duplicates when slow"),
        ("shows dates in the wrong time zone", "is hours off for users abroad"),
        ("leaks file handles", "ends up with too many open descriptors"),
        ("is slow on the first request", "takes ages to warm up"),
        ("ignores the proxy of the company network", "cannot get out from the office"),
        ("fails on expired certificates without a message", "dies silently when tls lapses"),
        ("overwrites changes made by others", "clobbers a colleague's edits"),
        ("logs passwords in plain text", "writes secrets where anyone can read"),
        ("breaks on windows path separators", "chokes on backslashes"),
        ("sorts numbers as if they were strings", "puts ten before two"),
        ("counts deleted rows in its totals", "includes removed entries in the figures"),
        ("stops at the first malformed line", "gives up once a record is broken"),
        ("needs more than one core to finish in time", "misses its deadline on small machines"),
        ("drops the last page of results", "omits the final batch"),
        ("keeps retrying after permanent errors", "never gives up although it is hopeless"),
        ("returns stale values for minutes", "answers with old data for a while"),
        ("cannot be cancelled halfway", "has no way to abort midway"),
        ("grows its temporary folder without bound", "fills the disk with scratch files"),
        ("loses the order of events", "delivers things in jumbled sequence"),
        ("asks for permission again every day", "nags about access each morning"),
        ("crashes when the network is away", "falls over while offline"),
        ("truncates long comments", "cuts off lengthy remarks"),
        ("mixes up customers with equal names", "confuses people called the same"),
    )
)
ZH_PARTS = tuple(
    Slot(*pair)
    for pair in (
        ("发票渲染器", "画账单的程序"), ("登录网关", "用户进门的入口"),
        ("搜索索引器", "让内容能被找到的任务"), ("邮件派发器", "给客户发信的模块"),
        ("图片缩放器", "压小照片的工具"), ("支付回调", "收到钱以后的通知"),
        ("夜间备份", "半夜做的拷贝"), ("指标采集器", "收集测量数据的组件"),
        ("特性开关库", "控制新功能启停的地方"), ("审计日志", "谁做了什么的历史"),
        ("限流器", "挡住过多请求的部件"), ("库存同步", "让仓库数目一致的流程"),
        ("部署脚本", "发布新版本的办法"), ("消息消费者", "从队列里取任务的进程"),
        ("移动客户端", "手机上的应用"),
    )
)  # fmt: skip
ZH_TROUBLES = tuple(
    Slot(*pair)
    for pair in (
        ("处理大文件时内存溢出", "体积一大就被系统杀掉"),
        ("并发写入会死锁", "几个人同时保存就卡住"),
        ("金额四舍五入出错", "总数差一分钱"), ("重启后丢失配置", "开机以后设置不见了"),
        ("超时后重复发送", "一慢就收到两份"), ("时区显示错误", "国外看到的钟点不对"),
        ("文件句柄泄漏", "打开的描述符越来越多"), ("首次请求很慢", "刚启动要等半天"),
        ("证书过期却没有提示", "加密失效时悄悄挂掉"), ("覆盖别人的修改", "同事改的东西没了"),
        ("日志里有明文密码", "机密写在谁都能看的地方"), ("把数字当字符串排序", "十排在二前面"),
        ("统计包含已删除的行", "去掉的条目还算在里面"), ("遇到坏行就停止", "有一条记录不对就放弃"),
        ("最后一页结果丢失", "末尾那批没有出来"), ("永久错误也不断重试", "明知没用还一直试"),
        ("几分钟内返回旧值", "一段时间里答的是过时数据"),
        ("临时目录无限增长", "硬盘被草稿文件占满"),
        ("事件顺序错乱", "先后次序是反的"), ("断网时崩溃", "没有网络就倒下"),
    )
)  # fmt: skip
CURES = (
    "Fixed by raising the limit and adding a check before it.",
    "Worked around with a lock; the real cure is in the next release.",
    "Settled by moving the step into its own process.",
    "Cured by pinning the library and a test that fails without it.",
)
ZH_CURES = ("加了检查并提高上限后解决。", "先用锁绕过，下个版本根治。", "移到单独的进程里解决。")

EN = ("identifier", "part named", "reworded")
ZH = ("zh copied", "zh reworded")
# The kinds of questions, as categories of the set.


def near_copies(
    seed: int = 7, asked: int = 100, notes: int = 1000, kinds: Sequence[str] = (*EN, *ZH)
) -> RetrievalSet:
    """Return a store of about that many near-copies, a third of them Chinese, and `asked`
    questions of each kind; more notes than slots have pairs repeat them with other identifiers."""
    chance = random.Random(seed)
    english = list(_english(chance, notes - notes * 3 // 10))
    chinese = list(_chinese(chance, notes * 3 // 10))
    documents = [document for document, *_ in (*english, *chinese)]
    chance.shuffle(documents)
    questions = [*_questions(chance, english, EN, asked), *_questions(chance, chinese, ZH, asked)]
    wanted = tuple(question for question in questions if question.category in kinds)
    return RetrievalSet("generated", tuple(documents), wanted)


PLACES = ("in Europe", "in America", "in Asia")
COLOURS = ("Amber", "Cobalt", "Crimson", "Ivory", "Jade", "Ochre", "Sable", "Teal", "Umber")
ANIMALS = ("Badger", "Crane", "Falcon", "Heron", "Lynx", "Marten", "Otter", "Raven", "Viper")
LINKED = ("two steps", "one step")


def linked_notes(seed: int = 7) -> RetrievalSet:
    """Return notes on what each team looks after and notes on each team, joined by a wikilink.

    A question in two steps asks what the team's note says and names only what it looks after: the
    notes of teams are alike, and nothing but the link tells which is meant.  One in one step is
    answered by the note that it names, which links must not push down.
    """
    chance = random.Random(seed)
    teams = [f"Team {colour} {animal}" for colour in COLOURS for animal in ANIMALS]
    chance.shuffle(teams)
    works = [f"{part.said} {place}" for part in PARTS for place in PLACES]
    documents, questions = [], []
    for number, (work, team) in enumerate(zip(works, teams, strict=False)):
        owner, card = f"work{number}", f"team{number}"
        room, weekday = chance.randrange(100, 999), chance.choice(("Monday", "Tuesday", "Thursday"))
        documents.append(_document(owner, f"{work[:1].upper()}{work[1:]} belongs to [[{team}]]."))
        text = f"They sit in room {room} and can be paged at any hour. They plan on {weekday}."
        documents.append(Document(card, GROUP, team, "", "", text))
        asked = (f"In which room sit those who have {work}?", f"Who has {work}?")
        for kind, text, gold in zip(LINKED, asked, (card, owner), strict=True):
            questions.append(Question(f"{kind}/{number}", GROUP, text, (gold,), kind, ""))
    chance.shuffle(documents)
    return RetrievalSet("linked", tuple(documents), tuple(questions))


_Made = tuple[Document, dict[str, str]]


def _english(chance: random.Random, count: int) -> Iterator[_Made]:
    for number, (part, trouble) in enumerate(_pairs(chance, PARTS, TROUBLES, count)):
        name = f"{part.said.split()[-1]}_{chance.randrange(16**6):06x}"
        text = f"{part.said[:1].upper()}{part.said[1:]} {trouble.said}. {chance.choice(CURES)}"
        yield (
            _document(f"en{number}", f"{text} See `{name}`."),
            {
                "identifier": f"what do we know about {name}",
                "part named": f"{part.said} {trouble.asked}, what was that?",
                "reworded": f"{part.asked} {trouble.asked}, how did we cure it?",
            },
        )


def _chinese(chance: random.Random, count: int) -> Iterator[_Made]:
    for number, (part, trouble) in enumerate(_pairs(chance, ZH_PARTS, ZH_TROUBLES, count)):
        name = f"zh_{chance.randrange(16**6):06x}"
        text = f"{part.said}{trouble.said}。{chance.choice(ZH_CURES)}见 `{name}`。"
        yield (
            _document(f"zh{number}", text),
            {
                "zh copied": f"{part.said}{trouble.said}怎么办",
                "zh reworded": f"{part.asked}{trouble.asked}，是怎么处理的？",
            },
        )


def _pairs(
    chance: random.Random, parts: Sequence[Slot], troubles: Sequence[Slot], count: int
) -> list[tuple[Slot, Slot]]:
    every = [(part, trouble) for part in parts for trouble in troubles]
    chance.shuffle(every)
    return (every * (count // len(every) + 1))[:count]


def _document(name: str, text: str) -> Document:
    return Document(name, GROUP, "", "", "", text)


def _questions(
    chance: random.Random, made: Sequence[_Made], kinds: Sequence[str], asked: int
) -> Iterator[Question]:
    """Ask about a sample of the notes that no other note repeats."""
    for kind in kinds:
        for document, texts in chance.sample(made, min(asked, len(made))):
            yield Question(f"{kind}/{document.id}", GROUP, texts[kind], (document.id,), kind, "")
