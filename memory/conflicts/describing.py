"""Rules for statements of what something is: another holder of a role, another kind, another place, another name."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

from memory.conflicts.beings import Being, being_of
from memory.conflicts.kinds import deny_each_other, exclude, is_kin, is_kind, kind_at_end
from memory.conflicts.pairing import LIGHT_WORDS, Pair, finding, quoted, raw
from memory.conflicts.places import lie_apart
from memory.conflicts.reading import Reading, Token, norm_of, read
from memory.conflicts.sides import Side, is_other_name
from memory.conflicts.values import Finding, Rule
from memory.conflicts.vocabulary import BESIDES, NUMBERED

_MAYBE = re.compile(
    r"(?<![\w])(?:might|may(?= (?:be|become|well|have|still))|maybe|perhaps|possibly|probably|could|would|likely|seems?|suggest(?:s|ed)?|propos(?:e|es|ed|al)|rumou?rs?|"
    r"allegedly|supposedly|considering|opinion|hopes?|hoped|wants?|wish(?:es)?|says|used to|former|formerly|ex(?=-\w)|previous)(?![\w])"
    r"|[?？]|可能|也许|或许|大概|估计|好像|似乎|据说|听说|建议|提议|觉得|认为|(?<!新)希望(?!(?:小学|中学)(?!生)|工程(?!师))|打算|考虑|曾|以前|原来|前任|原任|过去|吗"
)
_WHEN = re.compile(
    r"(?<![\w])(?:if|when|whenever|unless|while|during|except|in case|as long as|only (?:on|in|at|for|when|if)|otherwise|whereas|after|before|outside|until)(?![\w])"
    r"|如果|假如|(?:(?<!\w)|(?<=[但而]))若|[倘假]若|每逢|期间|的时候|时(?=[，,的是由用])|除非|除了|除.{1,6}外|仅(?!有)|只有(?![一1])|否则|之前|之后"
)
_GROUP = re.compile(
    r"(?<![\w])(?:team|backlog|roadmap|pipeline|sprint|choir|club|board|committee|group|class|council|band|course|army|union|department|crew|squad|jury|staff|family|"
    r"charge|order|use|progress|need|contact|stock|favou?r|development|review|production|beta|love|trouble|danger|hospital|bed|leave|holiday|"
    r"vacation|duty|call|fire|hold|sale|schedule|track|time|list|way|phase|mood|budget|condition|shape|position|case|hurry|plan|agenda|"
    r"programme|program|menu|team's|payroll|mailing list|waiting list)$"
)
_HAN_PLACE = re.compile(
    r"(?:里|上|下|下面|旁|旁边|边|楼|室|厅|房|院|区|路|街|巷|馆|店|层|州|北京|上海|天津|沈阳|洛阳|西安|宁波|成都|重庆|武汉|深圳|香港|国|柜|箱|抽屉|门口|市|省|县|镇|村|岛|校|场|园|台|处|中心|车库|阁楼|外面|后面|前面|大堂|食堂|操场|间|架|号|库|窖|手里|手上|那里|那儿|家)$"
)
_POSSESSIVE = re.compile(r"(?:my|our|your|his|her|their) ")
_THE = re.compile(r"(?:the|our|my|his|her|their) ")
_LAND = re.compile(
    r"^(?:europe|asia|africa|america|norway|sweden|denmark|finland|iceland|germany|france|italy|spain|portugal|poland|austria|switzerland|belgium|"
    r"the netherlands|ireland|england|scotland|wales|great britain|the uk|the us|the usa|canada|mexico|brazil|china|japan|korea|india|australia|turkey|"
    r"greece|ukraine|hungary|croatia)$|国$|洲$|省$"
)
_TIME = re.compile(
    r"(?<![\w])(?:spring|summer|autumn|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|mornings?|evenings?|afternoons?|"
    r"nights?|week|month|year|season|holidays?|january|february|march|april|may|june|july|august|september|october|november|december)(?![\w])"
)
_SHORT_NAME, _SPELLING = 5, 0.85  # characters, and the likeness of what may be a slip
_DIGITS = "0123456789.,"
_WAYS = frozenset({"long", "high", "tall", "wide", "deep", "old", "heavi", "larg", "高", "长", "宽", "重"})
# What has an adjective for its value; of other things two adjectives may both be true.
_MANNER = re.compile(
    r"(?:default|status|state|mode|level|theme|colou?r|style|tone|size|priority|format|strategy|policy|schedule|frequency|mood|type|kind|"
    r"visibility|access|setting|method|layout|severity|grade|quality|rating|standard)s?$|[:：]|^default|^main"
)
_DOING = re.compile(r"\w{2,}ing ")
_PLAIN = frozenset({"is", "same", "colon", "held"})
_ROOM = 10  # Han characters of a place
_HAN_NO_PLACE = re.compile(
    r"[组队团会班]$|维护|休假|开会|进行|运行|使用|施工|修|工作|上班|等|[0-9](?!号)|点|时|年级|的$|状态|期间"
)
_SUPERLATIVE = re.compile(r"(?<![\w])(?:\w{3,}est|most|best|main|first|last|only|largest)(?![\w])")
_PERSON = re.compile(
    r"(?:er|or|ist|ian|man|woman|head|chief|captain|nurse|president|chair|lead|mother|father|sister|brother|wife)$"
)


def other_being(pair: Pair) -> Finding | None:
    """Two answers to the question what, who, where or which something is, of which one can be true at a time."""
    one, two = being_of(pair.first), being_of(pair.second)
    if one is None or two is None or one.several != two.several:
        return None
    found = _told_of(pair, one, two)
    return found if found is not None and may_clash(pair) else None


def _told_of(pair: Pair, one: Being, two: Being) -> Finding | None:
    if _the_same(one, two):
        return _the_same_said(pair, one.negations - two.negations)
    if any(count > being.right.denied_in_kind for count, being in zip(pair.negated, (one, two), strict=True)):
        return None
    for rule in (_another_amount, _another_kind, _another_one, _another_place, _another_meaning):
        found = rule(pair, one, two)
        if found is not None:
            return found
    return None


def may_clash(pair: Pair) -> bool:
    """Whether both are said for certain, of one thing alone, and hold under the same conditions."""
    if any(
        is_unsure(each) or BESIDES.search(each.folded.replace("another name", ""))
        for each in (pair.first, pair.second)
    ):
        return False
    return conditions(pair.first) == conditions(pair.second)


def say_alike(pair: Pair) -> bool:
    """Whether two of what something is answer one question: not one of them which it is and the other how, nor each
    for others."""
    one, two = being_of(pair.first), being_of(pair.second)
    if one is None or two is None:
        return True
    for mine, first, _ in one.ways:
        for yours, second, _ in two.ways:
            if mine.said == yours.said:
                return (
                    not (mine.indefinite or (one.link == "colon" and mine.label))
                    and _answer_alike(mine, first, second)
                    and _scope(first) == _scope(second)
                )
    return True


def _answer_alike(of: Side, one: Side, two: Side) -> bool:
    if one.property != two.property or one.text.startswith("to ") or (of.person and (one.calling or two.calling)):
        return False
    if one.quality and two.quality and not _MANNER.search(of.core):
        return False
    which = [side.definite or (side.named and not side.opens) for side in (one, two)]
    return not ((one.quality and which[1]) or (two.quality and which[0]))


def _scope(side: Side) -> frozenset[str]:
    """For what, or when, a value holds: `Postbox in Europe`."""
    apart = (
        not side.han
        and (not side.definite or _TIME.search(side.text))
        and re.search(r" (?:for|in|on|at|during|until|under) ", side.text)
    )
    return side.tail if apart else frozenset()


def is_unsure(reading: Reading) -> bool:
    """Whether it only supposes, asks, wishes, or tells of what was."""
    return _is_unsure(reading.folded)


@lru_cache(maxsize=2_000)
def _is_unsure(folded: str) -> bool:
    return _MAYBE.search(folded) is not None


def conditions(reading: Reading) -> frozenset[str]:
    """What a statement says under which condition it holds; nothing where it always does."""
    return _conditions(reading.text)


@lru_cache(maxsize=2_000)
def _conditions(text: str) -> frozenset[str]:
    reading = read(text)
    found = _WHEN.search(reading.folded)
    if found is None:
        return frozenset()
    being = being_of(reading)
    end = being.left.tokens[-1].to if being is not None and being.left.tokens else 0
    end = end if found.start() < end else len(reading.folded)
    return frozenset(token.norm for token in reading.telling if found.start() <= token.at < end) | {found.group()}


def _told(pair: Pair, about: Side, first: Side, second: Side) -> Finding:
    one, two = (raw(reading, side.tokens) for reading, side in ((pair.first, first), (pair.second, second)))
    what = quoted(raw(pair.first, about.tokens))
    return finding(pair, Rule.OTHER_OBJECT, f"Of “{what}” one holds at a time, but they say “{one}” and “{two}”.")


def _the_same(one: Being, two: Being) -> bool:
    if (one.link == "in") != (two.link == "in"):
        return False
    return one.aside == two.aside and any(
        (one.left.said, one.right.said) == (mine.said, yours.said) and one.left.indefinite == mine.indefinite
        for mine, yours, _ in two.ways
    )


def _of_one(one: Being, two: Being) -> bool:
    """Whether both begin with one thing, under the same heading."""
    return one.left.said == two.left.said and one.aside == two.aside


def _the_same_said(pair: Pair, more: int) -> Finding | None:
    if more % 2:
        return finding(pair, Rule.NEGATION, "One says it, the other denies it.")
    beside = pair.negated[0] - pair.negated[1] != more
    return None if beside else finding(pair, Rule.NEAR_DUPLICATE, "Both say the same of the same.")


def _another_amount(pair: Pair, one: Being, two: Being) -> Finding | None:
    """The same measure of the same, and another figure."""
    if not _of_one(one, two):
        return None
    figures = [[token for token in side.tokens if token.kind == "number"] for side in (one.right, two.right)]
    others = [
        {
            norm_of(token)
            for token in side.tokens
            if not token.empty and token.kind != "number" and token.norm not in LIGHT_WORDS
        }
        - _WAYS
        for side in (one.right, two.right)
    ]
    if any(len(each) != 1 for each in figures) or others[0] != others[1]:
        return None
    (first,), (second,) = figures
    if any(_is_name(token, reading) for token, reading in ((first, pair.first), (second, pair.second))):
        return None
    if first.norm == second.norm or first.norm.lstrip(_DIGITS) != second.norm.lstrip(_DIGITS):
        return None
    shown = f"“{raw(pair.first, [first])}” and “{raw(pair.second, [second])}”"
    return finding(pair, Rule.NUMBER, f"They differ in a number: {shown}.")


def _is_name(token: Token, reading: Reading) -> bool:
    """Whether a number names, as in `room 5`."""
    place = reading.tokens.index(token)
    return reading.folded[token.to : token.to + 1] == "号" or (
        place > 0 and reading.tokens[place - 1].norm in NUMBERED
    )


def _another_kind(pair: Pair, one: Being, two: Being) -> Finding | None:
    """ "X is a queue" and "X is a database": nothing is both."""
    if one.link == "colon" and one.left.label:
        return None
    if not {one.link, two.link} <= _PLAIN or _whose(one.right) != _whose(two.right):
        return None
    (mine, tail), (yours, other_tail) = one.right.kind, two.right.kind
    if one.left.plain | one.aside | tail != two.left.plain | two.aside | other_tail:
        return None
    doing = any(_DOING.match(side.core) and not is_kind(side.core) for side in (one.right, two.right))
    kinds = [] if doing else [(mine, yours), _before_the_same(one.right.core, two.right.core)]
    apart = any(_exclude(one.right, two.right, *each) for each in kinds)
    if apart or (not one.right.han and deny_each_other(one.right.core, two.right.core)):
        return _told(pair, one.left, one.right, two.right)
    return None


def _exclude(one: Side, two: Side, mine: str | None, yours: str | None) -> bool:
    """Whether nothing is of both kinds; of kin, where it is said to whom: who is a mother may be another's sister."""
    if mine is None or yours is None or not exclude(mine, yours):
        return False
    return not is_kin(mine) or _kin_of(one, mine) == _kin_of(two, yours) != ""


def _kin_of(side: Side, kind: str) -> str:
    """Whose relative somebody is; empty where that is not said."""
    if side.han:
        return side.core.removesuffix(kind)
    pronoun = _POSSESSIVE.match(side.text)
    if pronoun is not None:
        return pronoun.group()
    named = any(token.named for token in side.tokens if norm_of(token) in side.tail)
    return _whose(side) or (" ".join(sorted(side.tail)) if named and " of " in side.text else "")


def _whose(side: Side) -> str:
    """Of "Maria's sister" whose it is."""
    found = re.match(r"(.*(?:'s|s'|(?<=.)的)) ?.", side.text)
    return found[1] if found is not None else ""


def _before_the_same(one: str, two: str) -> tuple[str | None, str | None]:
    """What stands before the end that both have: `electric` and `diesel` of cars."""
    parts = [each.split(" ") if each.isascii() else list(each) for each in (one, two)]
    size = 0
    while size < min(map(len, parts)) and parts[0][-1 - size] == parts[1][-1 - size]:
        size += 1
    kinds = [kind_at_end((" " if one.isascii() else "").join(each[: len(each) - size])) for each in parts]
    return (kinds[0], kinds[1]) if size else (None, None)


def _another_one(pair: Pair, one: Being, two: Being) -> Finding | None:
    """Another holder of a role, another thing that is the default, another value of what has one."""
    for mine, first, left in one.ways:
        for yours, second, other_left in two.ways:
            if not _describe(one, mine, left) or not _describe(two, yours, other_left):
                continue
            if mine.said | one.aside | _scope(first) != yours.said | two.aside | _scope(second):
                continue
            told = ((mine, first, one.link), (yours, second, two.link))
            which = all(side.identifies(of, colon=link == "colon") for of, side, link in told)
            if which and _differ(first, second):
                return _told(pair, mine, first, second)
    return None


def _describe(being: Being, side: Side, left: bool) -> bool:
    if being.link in ("in", "for") or being.several:
        return False
    if being.link == "holds":
        return not left and (side.definite or side.han or side.named)
    if being.link in ("held", "by"):
        return left and not side.indefinite
    return side.describes(left=left, colon=being.link == "colon" and left)


def _differ(one: Side, two: Side) -> bool:
    """Whether two names are of two things, neither of which only says more, or tells where else it holds."""
    if one.han != two.han or one.said <= two.said or two.said <= one.said:
        return False
    if any(token.kind in ("date", "time") for side in (one, two) for token in side.tokens):
        return False
    if one.core == two.core:
        return one.core == "one"
    words = len(one.core) > _SHORT_NAME and (one.core + two.core).replace(" ", "").isalpha()
    return not words or SequenceMatcher(None, one.core, two.core).ratio() < _SPELLING  # else one name in two spellings


def _another_place(pair: Pair, one: Being, two: Being) -> Finding | None:
    """One thing in two places, or of two owners."""
    if not _of_one(one, two) or one.left.indefinite:
        return None
    first, second = one.right, two.right
    if (
        first.said <= second.said
        or second.said <= first.said
        or any(t.kind in ("date", "time") for s in (first, second) for t in s.tokens)
    ):
        return None
    if one.link == two.link == "in":
        if bool(_LAND.search(first.text)) != bool(_LAND.search(second.text)):
            return None
        sides = (first, second)
        placed = all(_HAN_PLACE.search(side.text) for side in sides) and not any(
            _HAN_NO_PLACE.search(side.text) for side in sides
        )
        placed = placed and all(side.han and len(side.text) <= _ROOM for side in sides)
        placed = placed and lie_apart(first.text, second.text)
        return _told(pair, one.left, first, second) if placed else None
    if one.left.han or not (one.left.definite or one.left.named):
        return None
    if _are_places(first, second):
        return _told(pair, one.left, first, second)
    return None


def _are_places(one: Side, two: Side) -> bool:
    """Whether two are told in the same way and, as far as is known, of one sort, so that neither lies in the other."""
    if not (one.preposition and two.preposition and _is_place(one) and _is_place(two)):
        return False
    if one.preposition != two.preposition and {one.preposition, two.preposition} != {"in", "at"}:
        return False
    places = [side.text[len(side.preposition) :].strip() for side in (one, two)]
    alike = all(len({bool(form.match(place)) for place in places}) == 1 for form in (_THE, _LAND))
    return alike and lie_apart(*places)


def _is_place(side: Side) -> bool:
    """Whether a preposition and what follows it tell a place, and no group, state or tongue."""
    place = side.text[len(side.preposition) :].strip()
    if side.preposition in ("for", "during", "until", "by", "among") or _GROUP.search(
        re.split(r" (?:of|for|in|on|at) ", place)[0]
    ):
        return False
    told = [token for token in side.tokens if not token.empty and token.norm != side.preposition]
    return _THE.match(place) is not None or all(token.named or token.norm in NUMBERED for token in told)


def _another_meaning(pair: Pair, one: Being, two: Being) -> Finding | None:
    """One name for two things."""
    if not _of_one(one, two) or one.right.said <= two.right.said or two.right.said <= one.right.said:
        return None
    if one.link == two.link == "same" and not one.right.property and not two.right.property:
        return _told(pair, one.left, one.right, two.right)
    if all(each.link == "for" or is_other_name(each.right) for each in (one, two)):
        return _told(pair, one.left, one.right, two.right)
    sides = (one.right, two.right)
    if not all(_THE.match(side.text) and not side.han for side in sides) or not (one.left.named or one.left.definite):
        return None
    heads = {side.core.split()[-1] for side in sides}
    if len(heads) != 1 or one.right.tail != two.right.tail or any(map(_holds_with_others, sides)):
        return None
    return _told(pair, one.left, one.right, two.right)


def _holds_with_others(side: Side) -> bool:
    """Whether the same may be this and another beside: a person with two offices, the oldest that is the largest."""
    return side.role or bool(_SUPERLATIVE.search(side.text) or _PERSON.search(side.core)) or len(side.core.split()) < 2
