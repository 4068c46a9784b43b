"""Read a statement that tells of a change: what holds now, and what held before it.

`We replaced A with B in the shop` is told as `we use B in the shop`, and `A` as what held before;
`Ann handed the shop over to Ben` as `Ben owns the shop`, with `Ann`.  English and Chinese.
"""

import re
from typing import NamedTuple


class Told(NamedTuple):
    """What a statement says now, and the words for what it says held before; may be empty."""

    now: str
    former: str


class _Rule(NamedTuple):
    """A way to tell of a change; `now` says with the groups of the pattern what became of it."""

    pattern: re.Pattern[str]
    now: str


_TOLD = re.compile(
    r"\b(?:(?:from|cut|up|down|off|instead|rather|in place of|over|since|as of|starting|effective"
    r"|any ?more|these days|nowadays|gone|history|out of|new|passed|transferred)\b|now$"
    r"|swap|replac|supersed|hand|(?:drop|abandon|ditch|retir|deprecat|remov)\w*\s)"
    r"|^(?:after|following|with)\b|, (?:not|never)\b"
    r"|[（(]\s*(?:was|formerly|previously|not|原|曾)"
    r"|[从由换改把将交弃]|接[手管替任]|取代|代替|替[代换]|不是|不用|停用"
)
# Without any of it, in lower case, nothing below can match; most statements have none.

_WHO = r"(?:the\s)?[\w.'-]+(?:\s(?-i:[A-Z])[\w.-]+)?(?:\steam)?"
_WHAT = r"(?:(?:the|an?|our)\s)?[^\s,;]+(?:\s[^\s,;]+){0,2}?"
_BEFORE = r"(?:^|(?<=\s))(?:we\s|i\s)?(?:have\s|'ve\s|had\s)?"
_HAS = r"(?:was|were|is|are|has\sbeen|have\sbeen|got)"
_CHANGED = (
    r"(?:chang|slow|sped\b|mov|switch|migrat|upgrad|downgrad|rais|lower|cut\b|reduc|increas|decreas|bump|renam"
    r"|short|length|extend|rewr|convert|transition|went|gone|grew|grown|drop|fell|rose|adjust"
    r"|updat|port(?:ed|ing)\b|tighten|relax|swap|shift|transfer|pass|reassign|rotat|trim"
    r"|pushed|brought)"
)
_ZH_TO = r"(?:改|换|迁|升|降|调|切|挪|搬|移|转|变|缩|延|提|减|增|下调|上调|重命名)"
_ZH_HANDED = r"(?:移?交给|转?交给|交接给|转给|移交到|转到)"
_ZH_TAKEN = r"(?:接手|接管|接替|接任)"
_ZH_FOR = r"(?:代替|取代|替换|替代)"
_ZH_NAME = r"[^\s，,由被从的负责把将已]{1,8}?"


def _rules(*pairs: tuple[str, str]) -> tuple[_Rule, ...]:
    return tuple(_Rule(re.compile(p, re.VERBOSE | re.IGNORECASE), now) for p, now in pairs)


_RULES = _rules(
    # who is in charge
    (
        rf"^(?P<old>{_WHO})\s(?:has\s)?(?:handed|passed|transferred|turned|gave)\s(?P<s>.{{2,40}}?)"
        rf"\s(?:over|on)\sto\s(?P<new>{_WHO})(?=\s|$)",
        r"\g<new> owns \g<s>",
    ),
    (
        rf"^(?P<old>{_WHO})\s(?:has\s)?handed\sover\s(?P<s>.{{2,40}}?)\sto\s(?P<new>{_WHO})(?=\s|$)",
        r"\g<new> owns \g<s>",
    ),
    (
        rf"^(?P<s>.{{2,40}}?)\s{_HAS}\s(?:handed|passed|transferred)\sover\s"
        rf"(?:(?:from|by)\s(?P<old>{_WHO})\s)?to\s(?P<new>{_WHO})(?=\s|$)",
        r"\g<new> owns \g<s>",
    ),
    (
        rf"^(?P<new>{_WHO})\s(?:(?:has|have|will|is|now)\s)*(?:taken|took|takes?|taking)\sover\s"
        rf"(?P<s>.{{2,40}}?)(?:\sfrom\s(?P<old>{_WHO}))?$",
        r"\g<new> owns \g<s>",
    ),
    (
        rf"^(?:the\s)?ownership\sof\s(?P<s>.{{2,40}}?)\s(?:\w+\s){{0,2}}?{_CHANGED}\w*\s"
        rf"(?:from\s(?P<old>{_WHO})\s)?to\s(?P<new>{_WHO})$",
        r"\g<new> owns \g<s>",
    ),
    (
        rf"^(?P<new>{_WHO})\sis\s(?:now\s)?(?:the|our)\s(?:new\s)?(?:owner|maintainer|contact)"
        r"\s(?:of|for)\s(?P<s>.{2,40})$",
        r"\g<new> owns \g<s>",
    ),
    (r"^(?P<s>(?:the\s)?)new\s(?=(?:owner|maintainer|contact)\s(?:of|for)\b)", r"\g<s>"),
    (
        rf"^(?:(?P<old>{_ZH_NAME})已?经?[把将])?(?P<s>[^，,]{{2,20}}?)已?经?由?{_ZH_HANDED}了?"
        rf"(?P<new>{_ZH_NAME})(?:来?(?:负责|维护|管理?|跟进))?了?$",
        r"\g<s>由\g<new>负责",
    ),
    (
        rf"^(?P<s>[^，,]{{2,20}}?)(?:现在|目前|以后|今后)?(?:改由|转由|由)(?P<new>{_ZH_NAME})"
        rf"(?:来)?{_ZH_TAKEN}了?$",
        r"\g<s>由\g<new>负责",
    ),
    (
        r"^(?P<s>[^，,]{2,20}?)(?:现在|目前|已经?)?(?:换成|改成|换为|改为|换|改由|改)了?"
        rf"(?P<new>{_ZH_NAME})来?(?:负责|维护|管理?|跟进)了?$",
        r"\g<s>由\g<new>负责",
    ),
    (
        rf"^(?P<new>{_ZH_NAME})(?:已经?|现在)?{_ZH_TAKEN}了?(?:(?P<old>[^，,的]{{1,8}}?)(?:的|负责的?))?"
        rf"(?P<s>[^，,]{{2,20}})$",
        r"\g<s>由\g<new>负责",
    ),
    # what is used in the place of what
    (
        rf"{_BEFORE}(?:replaced?|swap(?:ped)?|exchanged?)\s(?P<old>{_WHAT})\s(?:with|by|for)\s",
        r"we use ",
    ),
    (
        rf"^(?P<old>{_WHAT})\s{_HAS}\s(?:\w+ly\s)?(?:replaced|superseded|swapped)\s(?:with|by|for)\s",
        r"we use ",
    ),
    (
        rf"^(?P<old>{_WHAT})\s{_HAS}\s(?:\w+ly\s)?(?:dropped|abandoned|ditched|retired|removed|deprecated)"
        r"\s(?:in\sfavou?r\sof|for)\s",
        r"we use ",
    ),
    (
        rf"{_BEFORE}(?:dropped|abandoned|ditched|retired|deprecated)\s(?P<old>{_WHAT})\s"
        r"(?:in\sfavou?r\sof|for)\s",
        r"we use ",
    ),
    (
        rf"^(?!(?:we|i)\s)(?P<new>{_WHAT})\s(?:has\s|have\s)?(?:replace[sd]?|supersede[sd]?)\s"
        r"(?P<old>[^\s,;]+(?:\s(?!in\b|for\b|on\b|as\b|at\b)[^\s,;]+)?)",
        r"we use \g<new>",
    ),
    (
        rf"^(?P<old>{_WHAT})\s(?:{_HAS}\s)(?:\w+ly\s)?(?:dropped|abandoned|ditched|retired)$",
        r"we do not use \g<old>",
    ),
    (
        r"用\s*(?P<new>[^\s，,]+)\s*" + _ZH_FOR + r"(?:掉|成)?了?\s*(?P<old>[^\s，,]+)",
        r"用 \g<new> ",
    ),
    (
        rf"^(?P<old>[^\s，,]+)\s*已?经?被\s*(?P<new>[^\s，,]+)\s*{_ZH_FOR}了?",
        r"用 \g<new> ",
    ),
    (
        rf"^(?P<new>[A-Za-z][\w.+-]*)\s*(?:已经?|全面)?{_ZH_FOR}了?\s*(?P<old>[^\s，,]+)",
        r"用 \g<new> ",
    ),
    (
        rf"[把将]\s*(?P<old>[A-Za-z][\w.+-]*)\s*(?:都|全部|全)?{_ZH_TO}\w{{0,3}}?(?:成|为|到)了?\s*"
        r"(?=[A-Za-z])",
        r"改为 ",
    ),
    (r"^(?:我们)?(?:弃用|放弃|停用|淘汰|下线)了?\s*(?P<old>[A-Za-z][\w.+-]*)了?$", r"不用 \g<old>"),
    (r"[把将]\s*(?=[^\s，,]{2,12}?" + _ZH_TO + r")", r""),
    # from the one to the other
    (
        rf"\b(?P<s>{_CHANGED}\w*(?:\s[\w-]+){{0,5}}?)\s(?:away\s)?(?:from|off|out\sof)\s"
        rf"(?:(?:port|version|every)\s)?(?P<old>{_WHAT})\s"
        r"(?:and\s)?(?:up\s|down\s|over\s|back\s)?(?:on|in)?to\b",
        r"\g<s> to",
    ),
    (
        rf"^(?P<s>.+?)\s(?:{_HAS}\s)?(?:moved?|migrated|switched)\s(?:away\sfrom|off|out\sof)\s"
        rf"(?P<old>{_WHAT})$",
        r"\g<s> does not use \g<old>",
    ),
    (
        rf"{_BEFORE}(?:moved|migrated|switched|taken|took)\s(?P<s>{_WHAT})\s"
        rf"(?:away\sfrom|off|out\sof)\s(?P<old>{_WHAT})$",
        r"\g<s> does not use \g<old>",
    ),
    (
        rf"^(?P<old>{_WHAT})\sis\s(?:gone|history|out|dead)(?:\snow)?$",
        r"we do not use \g<old>",
    ),
    (rf",?\s(?:replacing|superseding)\s(?P<old>{_WHAT})$", r""),
    (
        rf"\b(?P<s>{_CHANGED}\w*(?:\s\w+){{0,3}}?\sto\s(?:[^\s,;]+\s){{1,3}}?)(?:up\s|down\s)?from\s"
        rf"(?P<old>{_WHAT})$",
        r"\g<s>",
    ),
    (r",?\s(?:up|down)\sfrom\s(?P<old>(?:(?!\sto\s)[^,;])+)$", r""),
    (r"改(?=[发走送放存写传推])", r""),
    (rf"[从由]\s*(?P<old>[^，,]{{1,20}}?)\s*(?=(?:逐步|全部|全面|已经?|再)?{_ZH_TO})", r" "),
    (rf"\b(?P<s>{_CHANGED}\w*(?:\s[\w-]+){{0,5}}?)\s(?:up|down|back)\sto\b", r"\g<s> to"),
    (r"\bcut\s(?:back\s|down\s)?(?=to\b)", r"reduced "),
    (
        r"^(?:since|after|following|with)\s(?:the\s|our\s|last\s)?(?:[\w-]+\s)?(?:migration|move|upgrade"
        r"|switch|audit|incident|outage|relaunch)(?:\s(?:on|of|in)\s[\w-]+)?,?\s(?=the\b|our\b|we\b)",
        r"",
    ),
    # what is rejected
    (
        r"""
        ,?\s*\b(?:instead\ of|rather\ than|in\ place\ of|over|(?<=,\ )(?:not|never))\s+
            (?:(?:the|an?)\s+)?[\#@]?[\w./-]+(?:\s+any\ ?more)?\s*$
      | [（(]\s*(?:was|formerly|previously|not|原|曾)\s*(?:为|是|用)?(?P<before>[^)）]*)[)）]
      | (?:[，,]\s*而?|而)(?:不是|不用|代替|取代)\s*\S+$
        """,
        r"",
    ),
)

_SINCE = re.compile(
    r"\s+(?:since|as of|starting|effective)\s[^,]*$|\s+(?:any ?more|now|these days|nowadays)$",
    re.IGNORECASE,
)


def as_told(clause: str) -> Told:
    """Return a statement without what held before, what it rejects, and since when it holds."""
    if not _TOLD.search(clause.lower()):
        return Told(clause, "")
    now, former = clause, ""
    for pattern, told in _RULES:
        match = pattern.search(now)
        if match:
            groups = match.groupdict()
            former = former or groups.get("old") or groups.get("before") or ""
            now = f"{now[: match.start()]}{match.expand(told)}{now[match.end() :]}"
    return Told(_SINCE.sub("", now).strip(), former.strip())
