"""Tell which character pairs of a question straddle two words, so that they weigh nothing.

Text without spaces is searched by overlapping pairs of characters.  About half of those in a
question join the end of one word to the start of the next: rare by accident, they would weigh as
much as the rarest words, and no note that puts its words in another order could hold them.  Nor
do words weigh anything that every question may have, such as `我们` and `应该`.
"""

from collections.abc import Sequence, Set

from memorix.lexemes import QueryTerm

_STOP = frozenset(
    """
    我们 你们 他们 她们 它们 咱们 自己 大家 一个 这个 那个 这些 那些 这样 那样 这里 那里 这种 那种
    这次 这边 一下 一些 一点 一次 有些 有没 没有 有哪 哪一 哪种 哪儿 怎样 为何 何时 是否 能否 可否
    可以 能够 能不 会不 是不 应该 应当 需要 想要 我要 我想 帮我 请问 请帮 给我 还是 或者 以及 并且
    而且 因为 所以 如果 要是 但是 不过 虽然 然后 之后 之前 以后 以前 现在 目前 如今 已经 曾经 正在
    就是 不是 还有 也是 都是 而是 关于 对于 多久 多长 多大 几个 几点 几次 第几
    """.split()  # noqa: SIM905 - a list of 100 strings is not easier to read
)
# They still help to find; as evidence they say no more than English stop words do.


def without_seams(terms: Sequence[QueryTerm], known: Set[QueryTerm]) -> list[QueryTerm]:
    """Return the terms of a question, in its order, without stop words and pairs that only straddle
    words; all of them where nothing else is asked.

    `known` are the terms that some note holds.  A pair that none holds is a seam where it shares a
    character with one that some note does; of a longer run of unknown pairs, every other one is.
    """
    kept: list[QueryTerm] = []
    terms = _without_stop_words(terms) or terms
    for place, term in enumerate(terms):
        before, after = terms[max(place - 1, 0) : place], terms[place + 1 : place + 2]
        beside_known = any(_touch(other, term) and other in known for other in before)
        beside_known = beside_known or any(_touch(term, o) and o in known for o in after)
        repeats = bool(kept) and kept[-1] not in known and _touch(kept[-1], term)
        if term in known or not (beside_known or repeats):
            kept.append(term)
    return kept


def _without_stop_words(terms: Sequence[QueryTerm]) -> list[QueryTerm]:
    """Leave out stop words, and the pairs that join one to the word beside it."""
    stops = [term.kind == "cjk" and term.text in _STOP for term in terms]
    return [
        term
        for place, term in enumerate(terms)
        if not stops[place]
        and not (place and stops[place - 1] and _touch(terms[place - 1], term))
        and not (place + 1 < len(terms) and stops[place + 1] and _touch(term, terms[place + 1]))
    ]


def _touch(one: QueryTerm, other: QueryTerm) -> bool:
    """Say whether two terms are pairs of one run, the second beginning with the first one's end."""
    pairs = one.kind == other.kind == "cjk"
    return pairs and one.text != other.text and one.text[-1] == other.text[0]
