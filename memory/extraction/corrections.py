"""Corrections: what is taken back, what replaces it, and which earlier statement is meant."""

from __future__ import annotations

import re

from memory.extraction import facts, shapes
from memory.extraction.facts import Fact, bare
from memory.extraction.reading import fold, read
from memory.extraction.values import Draft, Rejected, Value
from memory.extraction.words import EMPTY, PRONOUNS, SMALL_VALUE
from memory.keys import slug

_NOT_BUT = re.compile(
    r"(?P<x>[^;]{1,60}?),?\s{0,2}(?:\b(?:but(?: rather)?(?! it| they|\srather)|it's|it is|they're|rather,?)\s|而是|是)\s{0,2}(?P<y>.+)",
    re.DOTALL,
)
_NOT_A_CORRECTION = re.compile(
    r"(?:only|just|because|that|sure|going|really|even|always|a (?:big|huge)|bad|good)\b|因为|不|只|说|很|吗|我"
)
_NEGATED_TAIL = re.compile(r"[,，]?\s{0,2}(?:\b(?:not|instead of|rather than)\s|而?不是).{1,80}$", re.DOTALL)
_IT_IS = re.compile(
    r"(?:it's|it is|it should be|that's|it was|should be|they're|its|它?(?:应该|其实|实际上)?是|应为|正确的?是)\s{0,2}"
)
_ANYMORE = re.compile(r"\s{0,2}any ?more.{0,200}$", re.DOTALL)
_FORGET_TAIL = re.compile(
    r"(?:这件事情?|这条(?:记忆|信息|记录)?|这个(?:偏好|决定|信息)|的(?:事情?|记忆|记录|信息|说法|内容|规则)|忘掉|忘了|忘记|都|吧|了|please|anymore|now)\s{0,2}$"
)
_FORGET_HEAD = re.compile(
    r"(?:that|about|关于|之前|我说的?|(?:the )?(?:fact|rule|preference|note) (?:that|about)|what i (?:said|told you) about)\s{0,2}"
)
_NAMED = (
    ("decisions", re.compile(r"(?:the |our )?decision (?:about|on|for|to|regarding) (?P<what>.+)")),
    ("decisions", re.compile(r"(?:关于)?(?P<what>.{1,40}?)(?:的?(?:那个|这个))?的?决定")),
    ("preferences", re.compile(r"my preference (?:for|about|on|regarding) (?P<what>.+)")),
    ("preferences", re.compile(r"(?:我的?)?(?:关于|对)?(?P<what>.{1,40}?)的?偏好")),
)
_GIVEN_UP = (
    ("employer", re.compile(r"(?:work(?:ing)?|works) (?:at|for) ")),
    ("location", re.compile(r"(?:live|living|based) in |(?:居?住在?)")),
    ("workplace", re.compile(r"在(?=.{1,30}(?:工作|上班|任职|就职))")),
    ("prefer", re.compile(r"(?:prefer|like|love|want|favou?r)(?:ing|s)? (?:to )?|更?(?:喜欢|偏好|倾向于?|偏爱|习惯)")),
    ("use", re.compile(r"(?:us(?:e|ing)|go(?:ing)? with|采用|使用|用)\s{0,2}")),
    ("support", re.compile(r"(?=(?:支持|维护|兼容|support(?:ing)? |maintain(?:ing)? ))")),
    ("task", re.compile(r"(?:need(?:ing)?|have|has) to |需要|必须")),
)


def taken_back(content: str, statement: str, *, ours: bool, subject: str) -> Draft:
    """What "I no longer …" retracts. Raises Rejected where no key can be derived."""
    content = shapes.clean(_ANYMORE.sub("", content) if "any" in content else content)
    view = fold(content)
    for field, pattern in _GIVEN_UP:
        match = pattern.match(view)
        if match:
            rest = content[match.end() :].removesuffix("了")
            return retraction(_given_up(field, rest, statement, ours, subject), statement)
    raise Rejected("no_target")


def _given_up(field: str, rest: str, statement: str, ours: bool, subject: str) -> Draft:
    if field == "prefer" or (field == "use" and not ours):
        return shapes.preference(rest, statement)
    if field == "use":
        verb = "用" if any(char >= "\u4e00" for char in rest) else "use "
        return shapes.decision(verb + rest, statement)
    if field == "support":
        return shapes.decision(rest, statement)
    if field == "task":
        return shapes.task(rest, statement)
    return shapes.profile("employer" if field == "workplace" else field, rest, statement, subject)[0]


def retraction(target: Draft, statement: str) -> Draft:
    """A retraction of what a draft would have written; a profile names the facts, since others share its key."""
    value: Value = {"reason": statement}
    if target.type == "profile":
        value |= {"subject": target.value["subject"], "facts": target.value["facts"]}
    return Draft(target.type, target.key, value, statement, "retract")


def without_tail(content: str) -> str:
    """The words to forget without "this fact", "的事情" and the like after them."""
    return shapes.clean(_FORGET_TAIL.sub("", content))


def forgotten(content: str, statement: str, subject: str) -> Draft:
    """What "forget …" names: a statement, or a thing whose fact is meant."""
    content = without_tail(shapes.clean(content))
    head = _FORGET_HEAD.match(fold(content))
    content = shapes.clean(content[head.end() :] if head else content)
    if (
        not content
        or EMPTY.fullmatch(fold(content))
        or fold(content).split()[0] in {"it", "this", "everything", "all", "to"}
    ):
        raise Rejected("no_target")
    own = re.match(
        r"(?:my |我的)(?P<k>birthday|name|e-?mail(?: address)?|phone(?: number)?|address|job|role|company|employer|age|生日|名字|邮箱|手机号|地址|职业|公司|年龄)$",
        fold(content),
    )
    if own:
        return retraction(
            Draft(
                "profile",
                f"profile:{subject}",
                {"subject": subject, "facts": [{"k": shapes.field_name(own["k"]), "v": None}]},
                "",
            ),
            statement,
        )
    for type_, pattern in _NAMED:
        named = pattern.fullmatch(fold(content))
        if named and named["what"].strip():
            what = content[named.start("what") : named.end("what")].strip()
            made = shapes.decision(what, "") if type_ == "decisions" else shapes.preference(what, "")
            return retraction(made, statement)
    fact = facts.parse(content)
    scope, topic = shapes.preference_topic(content)
    if fact is None and topic and scope not in {"other", "tools"}:
        return retraction(shapes.preference(content, ""), statement)
    if fact is None:
        relation = "是" if any(char >= "\u4e00" for char in content) else "is"
        if len(content.split()) > 8 or fold(content).split()[0] in PRONOUNS:
            raise Rejected("no_target")
        fact = Fact(bare(content) or content, relation, "", many=False)
    return retraction(fact.draft(content), statement)


def replaced(content: str) -> tuple[str, str]:
    """The wrong and the right value of "not X but Y" (after its "not")."""
    view = fold(content)
    match = _NOT_BUT.match(view)
    if not match or _NOT_A_CORRECTION.match(view) or SMALL_VALUE.fullmatch(match["y"]):
        raise Rejected("not_a_correction")
    return content[match.start("x") : match.end("x")].strip(), shapes.clean(content[match.start("y") :])


def starts_with_it(content: str) -> bool:
    """Whether a correction leaves its subject to what was said before."""
    return bool(_IT_IS.match(fold(content)))


def value_of(content: str) -> str:
    """The value that a correction gives, without "it's" before it and "not X" after it."""
    head = _IT_IS.match(fold(content))
    value = shapes.clean(content[head.end() :] if head else content)
    tail = _NEGATED_TAIL.search(fold(value))
    value = shapes.clean(value[: tail.start()] if tail and tail.start() > 0 else value).removesuffix("才对").strip()
    if not value or SMALL_VALUE.fullmatch(fold(value)) or EMPTY.fullmatch(fold(value)) or len(value) > 200:
        raise Rejected("no_target")
    return value


def about(subject: str, value: str, statement: str) -> Draft:
    """A fact with a corrected value."""
    name = bare(subject)
    view = fold(name)
    if (
        not name
        or len(view.split()) > 8
        or view.split()[0] in PRONOUNS
        or (view[0] in "我你他她它您" and not view.startswith("我的"))
    ):
        raise Rejected("no_target")
    relation = "是" if any("\u4e00" <= char <= "\u9fff" for char in statement if char not in value) else "is"
    return Fact(name, relation, value, many=False).draft(statement)


def restated(earlier: Draft, value: str) -> Draft:
    """An earlier statement with the right value under the same key."""
    old = earlier.value
    if earlier.type == "facts":
        told = str(old["relation"])
        relation = {"is not": "is", "不是": "是"}.get(told, told)  # what corrects a denial affirms
        old = {**old, "relation": relation}
        gap = "" if relation[:1] >= "\u4e00" else " "
        return Draft("facts", earlier.key, {**old, "value": value}, f"{old['subject']}{gap}{relation} {value}")
    known = old.get("facts")
    if earlier.type == "profile" and isinstance(known, list) and len(known) == 1 and isinstance(known[0], dict):
        field = known[0]["k"]
        return Draft("profile", earlier.key, {**old, "facts": [{"k": field, "v": value}]}, f"{field}: {value}")
    for type_, field in (("preferences", "value"), ("decisions", "decision")):
        if earlier.type == type_:
            return Draft(type_, earlier.key, {**old, field: value}, value)
    raise Rejected("no_target")


def shortened(fact: Fact, earlier: Draft) -> bool:
    """Whether a fact names the subject of an earlier one by its last words: the owner, after the release owner."""
    if earlier.type != "facts" or earlier.value["relation"] != fact.relation:
        return False
    long, short = slug(str(earlier.value["subject"])), slug(fact.subject)
    return (
        long != short
        and len(short) >= 2
        and (long.endswith(f"-{short}") or (long.endswith(short) and short[0] > "\u3000"))
    )


def stated_last(text: str) -> Draft | None:
    """The last fact that a text states: what "that's wrong" after it is about."""
    reading = read(text[-2000:])
    for sentence in reversed(reading.sentences[-6:]):
        if sentence.asked_from < sentence.end:
            continue
        words = reading.text[sentence.start : min(sentence.end, sentence.start + 400)]
        for piece in reversed(re.split(r"[,，:：]", words)):
            fact = facts.parse(piece.strip())
            if fact is not None and not fact.many:
                return fact.draft(piece.strip())
    return None
