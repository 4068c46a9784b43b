"""Cut a text into statements, and a statement at its predicate: English and Chinese, by patterns.

What is matched is in lower case, with a sign in the place of each value (`values.find_values`).
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime

from memorix.values import find_values

MUST, MAY, NEED_NOT, MUST_NOT = "must", "may", "need not", "must not"

FIRST_MARK = 0xE000
# Values are put aside as single characters of Unicode's private area.

MARK = "[\ue000-\uf8ff]"
BAR = "\u2502"
# Stands behind the predicate, in what follows the subject.

OPEN = frozenset({"be", "key", "use", "means", "place", "owner"})
# Relations whose object may be any word.

_MARKUP = re.compile(
    r"!?\[([^\]]*)\]\([^)]*\)|\[\[(?:[^\]|]*\|)?([^\]]*)\]\]|[`*]+|(?<!\w)_+|_+(?!\w)"
)
_SENTENCE = re.compile(
    r"(?<=[^.][.!?])\s+|[.!]\s*$|(?<=[!?])(?=[^\s\x00-\x7f])|。\s*|;\s*|\s+[—–]\s+"
)
_PART = re.compile(
    r"""
    ,\s+(?:and|but|while|whereas)\s+
  | \s+and\s+(?=(?:then\ |do\ not\ |don't\ )?(?:leave|run|use|add|keep|make|ask|open|write|read|send
        |set|call|check|commit|push|put|never|always|avoid|at\ most|at\ least|up\ to)\b)
  | [，,](?:但是|但|而(?!不)|并且)
  | [，,]\s*(?=[\u4e00-\u9fff])(?!不是|不用|而不)
  | \s+and\s+(?=\w+ed\ )
  | \s+and\s+(?=(?:\w+\s+){1,2}(?:in|for|on|under)\s+\w+\s*(?:,|$))
  | ,\s+(?=(?:\w+ly\s+)?\w{3,}(?:ed|en|ilt)\s+(?:\w+ly\s+)?(?:by|with|in|on|to|from|using|every)\s)
  | [:,]\s+(?=(?:the\s+)?\w+(?:\s\w+)?\s+(?:is|are|was|were|got|has|have|had|uses?)\b)
    """,
    re.VERBOSE,
)
_UNSTATED = re.compile(
    r"""
    [?]\s*$ | [吗呢]\s*$ | 是不是 | 是否应该? | 要不要 | 能不能 | 该不该
  | ^(?:(?!we\b|i\b|the\ user\b|user\b)[\w'.-]+\ ){0,4}?
      (?:asked\ (?:for|to|us|whether|if)
        |(?:wished|hoped|proposed|suggested|requested|demanded|wanted|complained|claimed|argued
          |wondered|recommended|would\ (?:like|prefer|rather))\b(?!\ (?:by|in|at)\b)
        |(?:wishes|hopes|proposes|suggests|demands|complains|claims|argues)\ (?:that|for|to)\b)
  | ^(?:we|i)\ (?:have\ |had\ |once\ |also\ |briefly\ )*
      (?:considered|discussed|debated|thought\ (?:about|of)|tried|evaluated|looked\ (?:at|into)
        |talked\ about|experimented)\b
  | ^.{0,10}?(?:客户|甲方|合作方|供应商|厂商|对方|有人|同事|运营|销售|老板|领导|业务方?)[^，,]{0,6}?
      (?:希望|想要?|要求|建议|提议|提出|问|觉得|认为|说|抱怨|主张)
  | ^(?:[^\s，,]{0,8}?)?(?:讨论|考虑|尝试|试|评估|设想|提议|提出|商量|争论)过
    """,
    re.VERBOSE | re.IGNORECASE,
)
# A question, a wish, what somebody else said, what was only thought of: nothing that holds.

_LABEL = re.compile(r"^(?P<said>[^::=]{2,60})[::]\s*(?P<rest>\S.*)$")
_SHORT = 3
# Words of what is a mere name before a colon, or a mere value behind it.

_ASIDE = re.compile(r"\s*[（(][^()（）\d]*[)）]")
_REASON = re.compile(
    r"""
    ,?\s*\b(?:because|so\ that|in\ order\ to|otherwise|due\ to|as\ agreed|which|although
        |even\ though|until\ it)\b.*
  | ,\s+(?:as|since|after|when|while|so|for|judging|according|agreed|decided|it\ seems)\b.*
  | [，,]?\s*(?:因为|以便|否则|由于|所以|避免|以免|这样).*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PAST = re.compile(
    r"""
    \b(?:used\ to|formerly|previously|originally|in\ the\ past|at\ that\ time|back\ then)\b
  | \b(?:ran|took|lasted|went|came|crashed|broke|happened|occurred|finished|began|saw)\b
  | \b(?:was|were|had)\b(?!\s+\w+(?:ed|en|ut|et|un)\b)
  | ^\s*(?:until|before)\s+(?:the\s|last\s|early\s|late\s)?\w+\b
  | 以前|之前是|曾经|曾|原来|原先|过去|当时
    """,
    re.VERBOSE | re.IGNORECASE,
)
_STANCES = (
    (
        NEED_NOT,
        re.compile(
            r"""
            \bno\ longer\ (?:needs?\ to|have\ to|has\ to|need|required|necessary|mandatory)\b
          | 不再(?:需要|要求|强制|必须|用)(?!\s*[a-z])
          | \b(?:(?:do|does|did)\ not\ (?:need|have)(?:\ to)?|need\ not|no\ need\ to|not\ have\ to
                |not\ (?:required|necessary|needed))\b
          | 不需要|无需|不必|不用|没必要|用不着
            """,
            re.VERBOSE,
        ),
    ),
    (
        MUST_NOT,
        re.compile(
            r"""
            \b(?:must\ not|should\ not|never|cannot|may\ not|can\ not|avoid|not\ allowed\ to
                |(?:is|are)\ (?:strictly\ )?(?:forbidden|prohibited|banned|disallowed|not\ allowed
                |not\ permitted)|forbidden|prohibited)\b
          | ^\s*(?:please\ |we\ |you\ )?do\ not\b
          | ^\s*no\ (?=(?:[\w-]+\ )?[\w-]+(?:[^s]s|ing)\b)(?!worries|comments|one|longer|more|less)
          | 禁止|严禁|不要|不得|不能|不可以|不可|不允许|不许|不准|切勿|勿|从不|绝不
          | (?<![分类级特区])别
            """,
            re.VERBOSE,
        ),
    ),
    (
        MAY,
        re.compile(
            r"\b(?:(?:is|are) (?:allowed|permitted|fine|okay|ok)|may|can|allowed to)\b|可以|允许"
        ),
    ),
    (
        MUST,
        re.compile(
            r"""
            \b(?:must|always|should|have\ to|has\ to|need\ to|needs\ to|make\ sure(?:\ to)?
                |be\ sure\ to|required\ to)\b
          | 必须|一定要|务必|需要|应该|应当|总是|始终|一律|(?<![需重主])要(?![求点素])
            """,
            re.VERBOSE,
        ),
    ),
)
_DENIAL = re.compile(
    r"\b(?:do|does|did|is|are|has|have|will|can|get|gets) not\b|\bno longer\b"
    r"|\b(?:needs?|has|have|requires?|takes?|is|are|there (?:is|are)) no\b"
    r"|不再|不是|没有|无法|尚未|未|不"
)
# Of all that is said; `with no disk` denies a part.

_NOT = re.compile(
    r"\b(?:(?:do|does|did) not|no longer|not|without|no(?= [a-z]))\b|不再|不是|没有|无法|尚未|未|不"
)
_PRONOUN = re.compile(
    r"(?:(?:now|then|instead|so|today),?\s+)?(?:it|they|these|those|he|she)\b|(?:现在|如今)?(?:它们?|其(?![他中余它实]))",
    re.IGNORECASE,
)
_IT = re.compile(r"\b(?:it|they|itself|themselves)\b|它", re.IGNORECASE)
_WHERE_FIRST = re.compile(r"\s*(?:(?:in|on|at|during|under|within|for)\s(?!.*,)|[在于从自])")
_BOUNDS = (
    (
        re.compile(
            r"\b(?:no|not)\s(?:less|fewer|lower|earlier|under)\sthan\b|\bnot\sbelow\b"
            r"|(?:不得?|不能|不可|不应)(?:低|少|小|早)于"
        ),
        " at least ",
    ),
    (
        re.compile(
            r"\b(?:no|not)\s(?:more|greater|higher|later|longer)\sthan\b|\bnot\sabove\b"
            r"|\b(?:(?:must|may|should|can|do|does|will)\snot|cannot|never)\sexceed\b"
            r"|(?:不得?|不能|不可|不应)(?:(?:高|多|大|晚|长)于|超过?)"
        ),
        " at most ",
    ),
)
# Deny nothing, whatever their words.

_OWNER = re.compile(
    r"""
    ^(?P<o>[\w.\ ]{2,30}?)\ (?:now\ )?(?:owns|maintains|leads|looks\ after|is\ responsible\ for
        |is\ in\ charge\ of|takes\ care\ of)\ (?P<s>.+)$
  | ^(?:contact|ask|ping|page)\ (?P<o2>\w+)\ (?:about|for|regarding|on)\ (?P<s2>.+)$
  | ^(?P<s3>.+?)\ (?:is|are)\ (?:now\ )?(?:owned|maintained|led|looked\ after)\ by\ (?P<o3>.+)$
  | ^(?:the\ )?(?:owner|maintainer|lead|contact)\ (?:of|for)\ (?P<s4>.+?)\ is\ (?:now\ )?(?P<o4>.+)$
  | ^(?P<s5>.*?)(?:现在|目前)?由(?P<o5>[^\ ]{1,12}?)(?:来)?(?:负责|维护|管理|跟进)
  | ^(?P<s8>.+?)(?:请)?(?:找|联系|咨询)(?P<o8>[^\ ]{2,6})$
  | ^(?P<s6>.*?)的?(?:负责人|维护者|维护人|联系人|接口人)(?:现在)?
        (?:已?(?:换成|改成|改为|变成)|是|为|[::])?\s*(?P<o6>[^\ ]{1,12})$
  | ^(?P<o7>[\u4e00-\u9fff]{2,4})(?:现在)?(?:负责(?!人)|维护(?!者|人))(?P<s7>.+)$
    """,
    re.VERBOSE,
)
_PREDICATE = re.compile(
    r"""
    (?:(?<!\w)|(?=[=\u4e00-\u9fff]))  # where a word begins; in the midst of one nothing is tried
    (?:
    (?P<place>
        \b(?:(?:is|are|seems?\ to\ be)\ )?(?:now\ |still\ )?
            (?:lives?|stored|kept|saved|located|hosted|written\ to|served|exposed|found|put
            |deployed|published|released|installed|mounted|routed|sent|pushed|uploaded|copied
            |cut
            |made|created|generated|pulled|loaded|imported|exported|reported|forwarded|shipped
            |delivered|streamed|logged|emitted|posted|merged|promoted|lands?|starts?|runs?|goes?|go|sits?
            |resides?)
            \ (?:in|at|on|under|to|into|from)\b
      | \b(?:comes?\ from|goes?\ (?:out\ )?(?:through|via)|(?:is|are)\ sent\ (?:through|via))\b
      | \b(?:is|are)\ (?:now\ )?
            (?!connected|linked|related|used|needed|mentioned|documented|described|tested|supported
             |included|added|known|compared|attached|subscribed|allowed|involved|interested|limited
             |based|tied|bound|exposed|opposed|checked|stored\ as)
            \w{3,}(?:ed|en|ept|uilt)\ (?:to|into|in|at|on|from|under|through|via)\b
      | (?:存放|保存|部署|运行|跑|位于|放|写|存)在
      | [\u4e00-\u9fff]{1,2}(?:到|至|往)(?=\ *[a-z0-9\#@])
      | (?:发|送|推|写|存|放|传|转|同步|上报|投递|归档)[送布]?[到至往]
      | 位于|写入|来自|取自|出自)
  | (?P<means>
        \b(?:is|are)\ (?:now\ )?(?:based\ on
            |(?!implemented|owned|caused|enabled|disabled|activated|limited)
             \w{3,}ed\ (?:with|by|using|as))\b
      | \b(?!works|comes|deals|starts|begins|ends|integrates|interacts|agrees|helps)
         \w{3,}s\ (?:with|using)\b
      | 基于)
  | (?P<use>
        \b(?:(?:is|are)\ (?:now\ )?(?:written|implemented|built|done|made|run|kept|tested|powered
            |backed|stored)\ (?:in|with|by|on|using)
            |uses?|using|targets?|speaks?|prefers?|adopts?|relies\ on|runs?\ on|runs?)\b
      | 统一用|使用|采用|改用|选用|用的是|(?<![启禁停使采不费专应通常信作])用(?![户例于法途量品]))
  | (?P<be>
        \b(?:(?:is|are)\ (?:limited|capped|restricted|fixed)\ to|is|are|equals|becomes?
            |(?:moved|switched|changed|renamed|migrated|defaults?|set|points?|raised|lowered
             |reduced|increased|shortened|extended|upgraded|adjusted|trimmed)(?:\ over)?\ to
            |will\ be|must\ be)\b(?:\ now\b)?(?:\ (?:set\ to|called|named))?
      | =
      | 已?(?:改|换|调整|迁移|升级|切换|变|设|设置)(?:成|为|到)了?|默认(?:是|为)|就是|是|为|叫)
  | (?P<many>
        \b(?:has|have|needs?|requires?|allows?|supports?|contains|handles|accepts?)\b
      | 支持|需要|有(?!效))
  | (?P<verb>
        \b(?:takes?|expires?|starts?|means|lasts?|lasted|keeps?|sends?|reads?|returns?|listens?
            |fails?|failed|fixed|added|removed|caused|causes|saves?|reviewed|saved|dropped|must
            |should|may|can|stays?)\b
      | (?<=[\ue000-\uf8ff]\ )\w{3,}ed\b
      | 监听|返回|表示|保留|持续|到期|过期|占用|超过|评审)
    )
    """,
    re.VERBOSE,
)
_KEY = re.compile(r"^(?P<left>[^:=]{1,40}?)\s*(?:[::]\s+|[::](?=\S)|\s=\s?|=)(?P<right>.+)$")
_MOVED = re.compile(
    r"^(?:we |i )?(?:moved|switched|upgraded|migrated|bumped|changed|raised|lowered|set|renamed)"
    r" (?P<s>.{2,60}?) to (?P<o>.+)$"
)
_PASSIVE = re.compile(r"^(?P<s>.+?)由(?P<o>[^ ]{1,12}?)(?:来)?(?P<verb>[\u4e00-\u9fff]{2})$")
_REMARK = re.compile(
    r"^(?:note|todo|example|e\.g|reason|see|warning|tip|hint|why|fix|cause|result|summary|update"
    r"|context|background|remember|important|step \S+|注意|例如|原因|说明|备注|参见|示例)\b"
)
_ACTIVE = re.compile(
    r"^(?:we |please |always )*(?P<verb>keep|store|save|put|host|deploy|publish|log|write|send"
    r"|return|format|encode) (?!.*\b(?:is|are|was|were|has|have|been)\b)(?P<s>.{2,40}?)"
    r" (?P<how>in|at|on|to|into|under|as) (?P<o>.+)$"
)
_NAME_FIRST = re.compile(r"^\s*(?!the|our|it|this|that|he|she|there|what|you|we)[a-z0-9_.+-]+\s*$")
_IS = re.compile(r"(?:is|are|becomes?)(?: now)?")
_THE = re.compile(r"\s*(?:now |still )?(?:the|our)\s")
_PARTICIPLE = re.compile(r"\s*(?:now |also |only )?(?:\w{3,}ed|written|built|kept|run)\b")
_IN_USE = re.compile(
    r"^\s*(?:required|used|supported|needed|installed|in use|recommended|the default|enough"
    r"|mandatory|our|必需|必须)\b"
)
_TAIL = re.compile(
    r"\b(?:for|in|on|at|with|by|because|when|if|since|from|to|via|under|during|inside|after|before"
    r"|across|per)\b|(?:来|做|作为|存|管理|构建|安装|跑|写|部署)|，|,\s"
)
_AS_OF = re.compile(r"(?:^|\b(?:as of|since|from|starting|effective|in|on|at)|截至|自|从|在|于)$")
_LATIN_FIRST = re.compile(r"\s*[a-z0-9_.+#-]+(?=\s*[\u4e00-\u9fff])")


def sentences(line: str) -> Iterator[list[str]]:
    """Yield the sentences of a line, each as the statements in it, without markup and reasons."""
    text = _MARKUP.sub(lambda m: m[1] or m[2] or "", re.sub(MARK, " ", line))
    plain = unicodedata.normalize("NFKC", text)
    for sentence in _SENTENCE.split(plain):
        if _UNSTATED.search(sentence):
            continue
        parts = _PART.split(_ASIDE.sub("", _REASON.sub("", sentence)))
        stripped = [part.strip(" .,，。") for part in parts]
        yield [clause for part in stripped if part.strip(":") for clause in _unlabelled(part)]


def _unlabelled(clause: str) -> Iterator[str]:
    """Yield a statement without what announces it: `Security review: tokens now expire`."""
    label = _LABEL.match(clause)
    match = _PREDICATE.search(label["rest"].lower()) if label else None
    if label and match and match.string[: match.start()].strip():
        rest = label["rest"]
        if not rest.isascii() or len(rest.split()) > _SHORT:
            if len(label["said"].split()) > _SHORT:  # a statement too
                yield label["said"]
            clause = rest
    yield clause


def stated_since(text: str) -> datetime | None:
    """Return the day from which on a text says that it holds, or held: `as of 2025-03-01 ...`.

    Only what its first statement says, with the year.  A month counts from its first day.
    """
    line = text.lstrip().partition("\n")[0]
    first = next((clause for sentence in sentences(line) for clause in sentence), "")
    for value in find_values(first):
        year, month, day = value.amount if value.kind == "date" else (None, None, None)
        before = first[: value.start].lower().rstrip()
        if isinstance(year, int) and isinstance(month, int) and _AS_OF.search(before):
            return _day(year, month, day if isinstance(day, int) else 1)
    return None


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, 12, tzinfo=UTC)
    except ValueError:
        return None


def is_past(clause: str) -> bool:
    """Say whether a statement is about what no longer holds."""
    return _PAST.search(clause) is not None


def bounded(masked: str) -> str:
    """Return a statement with one word for each bound: `not less than` is `at least`."""
    for pattern, bound in _BOUNDS:
        masked = pattern.sub(bound, masked)
    return masked


def refers_back(clause: str) -> bool:
    """Say whether a statement begins with a pronoun, so that it speaks of what another did."""
    return _PRONOUN.match(clause) is not None


def has_pronoun(clause: str) -> bool:
    """Say whether a statement says `it` of something that may stand in another one."""
    return _IT.search(clause) is not None


def is_aside(left: str) -> bool:
    """Say whether what stands before a predicate only says where or when."""
    return _WHERE_FIRST.match(left) is not None


def stance(masked: str) -> tuple[str, bool]:
    """Return what is to be done, empty where nothing is asked for, and whether it is affirmed."""
    for name, pattern in _STANCES:
        if pattern.search(masked):
            return name, True
    return "", _DENIAL.search(masked) is None


def without_stance(masked: str) -> str:
    for _, pattern in _STANCES:
        masked = pattern.sub(" ", masked)
    return " ".join(_NOT.sub(" ", masked).split())


def cut(masked: str) -> tuple[str, str, str]:
    """Return what is spoken of, the relation, and what is said: the predicate, `BAR`, the rest.

    Relations: `owner`, `place`, `means` (done with it), `use`, `be`, `key` (`key: value`), `many`
    (of which there may be several), `verb`, or none where there is no predicate; then the first
    value parts the two.
    """
    owner = _OWNER.match(masked)
    if owner:
        parts = {name[0]: text for name, text in owner.groupdict().items() if text}
        return parts.get("s", ""), "owner", parts["o"]
    key = _KEY.match(masked)
    if key and not _PREDICATE.search(key["left"]):
        return key["left"], "verb" if _REMARK.search(key["left"]) else "key", key["right"]
    passive = _PASSIVE.match(masked)
    if passive:
        return passive["s"], "means", f"{passive['verb']} {BAR} {passive['o']}"
    moved = _MOVED.match(masked)
    if moved:
        return moved["s"], "be", f"{BAR} {moved['o']}"
    active = _ACTIVE.match(masked)
    if active:
        relation = "means" if active["how"] == "as" else "place"
        return active["s"], relation, f"{active['verb']} {BAR} {active['o']}"
    return _at_predicate(masked)


def _at_predicate(masked: str) -> tuple[str, str, str]:
    match, first = _PREDICATE.search(masked), re.search(MARK, masked)
    if match:
        left, right = masked[: match.start()], masked[match.end() :]
        value_first = first is not None and first.start() < match.start()
        if not (value_first and (_IN_USE.match(right) or not right.strip())):
            return _related(left, match, right)
    if first:
        return masked[: first.start()], "", masked[first.start() :]
    return "", "", masked


def _related(left: str, predicate: re.Match[str], right: str) -> tuple[str, str, str]:
    relation = str(predicate.lastgroup)
    if _PARTICIPLE.match(right):
        relation = "verb"
    elif _IS.fullmatch(predicate[0]) and _NAME_FIRST.match(left) and _THE.match(right):
        left, right = right, left  # `Dana is the lead of search`
    return left, relation, f"{predicate[0]} {BAR} {right}"


def object_of(right: str) -> tuple[str, str]:
    """Return the words of what is stated, empty where it is a value, and what else is said."""
    verb, bar, rest = right.rpartition(BAR)
    tail = _TAIL.search(rest, 1)
    end = tail.start() if tail else len(rest)
    if re.search(MARK, rest[:end]):
        return "", f"{verb} {rest}"
    mixed = _LATIN_FIRST.match(rest[:end])
    end = mixed.end() if mixed else end
    return rest[:end], f"{verb if bar else ''} {rest[end:]}"
