"""Find text that addresses the model which will read it: orders, role marks, hidden characters.

It is pointed out and never stopped: who writes about such text, or quotes it, means no harm.  An
instruction to people or a preference of the user ("always use uv") is none of these.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memorix.anchors import Anchors
from memorix.lexemes import beyond_ascii


@dataclass(frozen=True, slots=True)
class _Sign:
    """A way of speaking to a model, looked for in text in lower case.

    Every match has one of `words` in it.
    """

    label: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]


def _sign(label: str, words: str, pattern: str) -> _Sign:
    return _Sign(label, tuple(words.split("; ")), re.compile(pattern, re.VERBOSE))


_READERS = (
    "assistant", "ai", "agent", "llm", "model", "claude", "chatgpt", "gpt", "copilot", "cursor",
    "codex", "gemini",
)  # fmt: skip
_ADDRESSED = "; ".join(f"{name}{end}" for name in _READERS for end in (":", ",", "s:", "s,"))
_READER = rf"(?:{'|'.join(_READERS)}|language[ ]model)s?"
_DO = r"""(?:ignore|disregard|forget|always|never|do[ ]not|don['’]t|you[ ](?:must|should|will)|must
    |end|begin|start|stop|reply|respond|answer|say|tell|call|run|execute|invoke|send|post|upload
    |write|print|output|reveal|include|append|add|delete|remove|forward|repeat|fetch|open|please)"""
_TOLD = r"""(?:instructions?|prompts?|rules|directives?|directions|guidelines|guardrails|commands
    |messages|context)"""
_TOLD_STEMS = (
    "instruction", "prompt", "rule", "directive", "direction", "guideline", "guardrail", "command",
    "message", "context",
)  # fmt: skip
_TOLD_ZH = r"(?:指令|指示|提示|规则|要求|设定|命令|约束|限制|系统消息|上下文)"

_HELD_BACK = "; ".join(
    f"{no} {verb}"
    for no in ("do not", "don't", "don’t", "never", "without")
    for verb in ("tell", "mention", "inform", "notif", "reveal", "disclos", "alert", "ask")
)
_ASKED_FOR = "; ".join(
    ["system prompt", *(f"{kind} {told}" for kind in ("hidden", "initial") for told in _TOLD_STEMS)]
)

_SIGNS = (
    _sign(
        "an order to ignore instructions",
        "ignore ; disregard ; forget ; override ; bypass ",
        rf"""\b(?:ignore|disregard|forget|override|bypass)[ ](?:\w+[ ]){{0,3}}?
        (?:previous|prior|above|earlier|preceding|existing|original|system|your|all)[ ]
        (?:\w+[ ]){{0,2}}?{_TOLD}\b""",
    ),
    _sign(
        "an order to ignore instructions",
        "忽略; 无视; 忘; 理会; 抛开; 绕过; 违背",
        rf"""(?:忽略|无视|忘记|忘掉|不要理会|不必理会|抛开|绕过|违背)[^\n。！？]{{0,14}}?
        (?:之前|以上|前面|上述|先前|此前|上面|所有|一切|全部|系统|你的|原有|原来)
        [^\n。！？]{{0,8}}?{_TOLD_ZH}""",
    ),
    _sign(
        "an order to ignore instructions",
        "es anteriores; instructions précédentes; instructions antérieures; anweisungen"
        "; istruzioni precedenti; инструкции; 指示を",
        r"""ignor\w*[ ](?:\w+[ ]){0,3}?(?:instrucciones|instruções)[ ]anteriores
        |(?:ignor|oubli)\w*[ ](?:\w+[ ]){0,3}?instructions[ ](?:précédentes|antérieures)
        |(?:ignorier|vergiss|missacht)\w*[ ](?:\w+[ ]){0,3}?(?:vor|bis|ob)\w+[ ]anweisungen
        |ignora\w*[ ](?:\w+[ ]){0,3}?istruzioni[ ]precedenti
        |игнорируй\w*[ ](?:\w+[ ]){0,3}?инструкции
        |(?:以前|前|上記|これまで)の(?:すべての)?指示を(?:無視|忘れ)""",
    ),
    _sign(
        "an order to the assistant",
        _ADDRESSED,
        rf"""(?:\A|[.!?\n>*"'(-])[ \t]*(?:(?:note|attention|important|message|instructions?)[ ]
        (?:to|for)[ ](?:(?:the|any|all)[ ])?)?{_READER}[:,][ ]+{_DO}\b""",
    ),
    _sign(
        "an order to the assistant",
        "请; 必须; 不要; 务必; 总是; 始终; 立即; 马上; 以后; 现在; 忽略; 你",
        r"""(?:\A|[。！？\n，；>*“「]|[.!?][ ])[ \t]*[致给]?
        (?:助手|大?模型|ai|agent|智能体|机器人)[：:，,][ ]*
        (?:请|必须|不要|务必|总是|始终|立即|马上|以后|现在|忽略|你)""",
    ),
    _sign(
        "an order to the assistant",
        "you must now; you must immediately; you must always first; from now on; you are now"
        "; you are no longer; instructions:; instructions :; for you:; for you :",
        r"""\byou[ ]must[ ](?:now|immediately|always[ ]first)[ ]
            (?:call|run|use|invoke|execute|send|fetch|write|delete|reply|respond|obey)\b
        |\bfrom[ ]now[ ]on,?[ ]you[ ](?:are|must|will|only)\b
        |\byou[ ]are[ ](?:now|no[ ]longer)[ ](?:dan\b|in[ ]\w+[ ]mode|bound|restricted|unrestricted
            |an?[ ](?:\w+[ ]){0,3}?(?:assistant|ai|agent|model|expert|hacker|pirate))
        |\b(?:new|updated|real|actual)[ ](?:system[ ])?instructions[ ]?(?:for[ ]you[ ]?)?:""",
    ),
    _sign(
        "an order to the assistant",
        "从现在; 你必须; 你现在; 你务必; 你应当",
        r"""从现在(?:开始|起)[，,]?[ ]?你(?:是|必须|要|将|只能|不再)
        |你(?:现在)?(?:必须|务必|应当)(?:立即|马上|现在|先)
            (?:调用|执行|运行|使用|发送|删除|回复|读取|输出)
        |你现在是(?:一个|一名|一位)""",
    ),
    _sign(
        "an order to keep something from the user",
        _HELD_BACK,
        r"""\b(?:do[ ]not|don['’]t|never|without)[ ]
        (?:tell|mention|inform|notif|reveal|disclos|alert|ask)\w*[ ]
        (?:this[ ](?:note|instruction|message|prompt)|these[ ]instructions
        |(?:(?:it|this)[ ]to[ ])?the[ ]user\b)""",
    ),
    _sign(
        "an order to keep something from the user",
        "用户; 提及; 提到; 透露",
        r"""(?:不要|别|不得|切勿|无需|不必)(?:告诉|告知|通知|提示|让)用户
        |(?:不要|别|切勿)(?:提及|提到|透露)[这本该][条则个]?(?:笔记|指令|消息|提示)""",
    ),
    _sign(
        "a request for the system prompt",
        f"{_ASKED_FOR}; 系统提示; 提示词; 初始指令",
        rf"""\b(?:reveal|print|show|output|repeat|leak|display|share)[ ](?:me[ ])?(?:your|the)[ ]
            (?:\w+[ ])?(?:system[ ]prompt|(?:hidden|initial)[ ]{_TOLD})
        |(?:泄露|输出|显示|透露|打印|重复|说出)[^\n。]{{0,6}}?(?:系统提示词?|提示词|初始指令)""",
    ),
    _sign(
        "an order to send secrets away",
        "send ; post ; upload ; forward ; exfiltrate ; leak ; email ; e-mail ",
        r"""\b(?:send|post|upload|forward|exfiltrate|leak|e-?mail)[ ](?:\w+[ ]){0,5}?
        (?:secrets|credentials|passwords|api[ ]keys?|tokens|private[ ]keys?|ssh[ ]keys?
        |environment[ ]variables|\.env\b|chat[ ]history|conversation)
        [^\n.]{0,30}?[ ](?:to|at)[ ](?:https?://|\S+@\S+\.|this[ ](?:url|address|server))""",
    ),
    _sign(
        "an order to send secrets away",
        "发; 上传; 提交",
        r"""[把将][^\n。]{0,20}?(?:密钥|密码|令牌|凭证|环境变量|聊天记录|对话|私钥)
        [^\n。]{0,16}?(?:发送|上传|发|提交|转发)[到给至]""",
    ),
    _sign(
        "a way out of the rules",
        "do anything now; dan mode; jailbreak mode; unrestricted mode; god mode; pretend "
        "; 越狱模式; 无限制模式",
        r"""\bdo[ ]anything[ ]now\b|\bdan[ ]mode\b
        |\b(?:enter|enable|activate)[ ](?:jailbreak|unrestricted|god)[ ]mode\b
        |\bpretend[ ](?:that[ ])?you[ ]
            (?:are[ ](?:not[ ]an[ ]ai|unrestricted)|have[ ]no[ ](?:rules|restrictions|guidelines))
        |(?:进入|启用|开启|激活)(?:越狱|无限制)模式""",
    ),
    _sign(
        "a role mark",
        "<|; <system; </system; <developer; </developer; # system; #system; # instr; #instr",
        r"""<\|(?:im_start|im_end|system|assistant|user|start_header_id|eot_id)\|>
        |(?m:^)[ \t]*</?(?:system|system-reminder|system_prompt|developer)>
        |(?m:^)\#{2,4}[ ]?(?:system|instruction)[ ]?:[ ]""",
    ),
    _sign(
        "an imitated tool call",
        "tool_; function_; invoke",
        r"""</?(?:antml:)?(?:tool_calls?|tool_use|tool_result|function_calls?|function_results?
        |invoke)(?:[ ]name=[^>\n]{0,200})?>""",
    ),
)

_ANCHORED = Anchors((sign, sign.words) for sign in _SIGNS)

_LLAMA = re.compile(r"\[/?INST\]|<</?SYS>>")
_TAGS = re.compile("[\U000e0020-\U000e007f]+")
_FLAG = "\U0001f3f4"
# The tags spell the flags of England, Scotland and Wales after it; else nobody can see them.

_HIDDEN = re.compile(
    "[\u200b\u200c\u2060-\u2064\ufeff]{4,}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}"
    "|(?<=[A-Za-z])[\u200b\u2060\u00ad\ufeff]+(?=[A-Za-z][A-Za-z]*[\u200b\u2060\u00ad\ufeff])"
)
_TURNED = re.compile("[\u202d\u202e]")
_UNSEEN = re.compile(
    "[\u00ad\u200b\u200c\u202d\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0020-\U000e01ef]"
)
# One of these is in whatever the patterns above match.


def find(text: str, lower: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, label) of what speaks to a model or is hidden; in no order.

    `lower` is the text in lower case.
    """
    for sign in _ANCHORED.within(lower):
        yield from ((*match.span(), sign.label) for match in sign.pattern.finditer(lower))
    if "INST]" in text or "SYS>>" in text:
        yield from ((*match.span(), "a role mark") for match in _LLAMA.finditer(text))
    if not text.isascii():
        yield from hidden(text)


def hidden(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield what a reader cannot see, or sees in another order than it is stored."""
    if not _UNSEEN.search(beyond_ascii(text)):
        return
    for match in _TAGS.finditer(text):
        if text[match.start() - 1 : match.start()] != _FLAG:
            yield *match.span(), "hidden text"
    yield from ((*match.span(), "hidden text") for match in _HIDDEN.finditer(text))
    yield from ((*match.span(), "text turned around") for match in _TURNED.finditer(text))


def visible(text: str) -> str:
    """Return a text without the characters that nobody can see, in which orders may hide."""
    if text.isascii():
        return text
    parts, end = list[str](), 0
    for start, stop, _ in sorted(hidden(text)):
        parts.append(text[end:start])
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def places_of(text: str, passage: str) -> list[tuple[int, int]]:
    """Return where a passage lies in a text, whatever either has of what nobody can see.

    Who copies a passage seldom copies that.  What of it lies within the passage is in its place.
    """
    wanted = _UNSEEN.sub("", passage)
    if not wanted:
        return []
    seen = [place for place, character in enumerate(text) if not _UNSEEN.match(character)]
    plain, found = "".join(text[place] for place in seen), list[tuple[int, int]]()
    start = plain.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        found.append((seen[start], seen[end - 1] + 1))
        start = plain.find(wanted, end)
    return found
