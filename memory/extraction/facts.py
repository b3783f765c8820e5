"""Facts: finding the subject and the relation of a statement, so that a later value has the same key."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memory.extraction.denials import affirmed
from memory.extraction.reading import fold
from memory.extraction.values import Draft, Rejected
from memory.extraction.words import EMPTY, PRONOUNS
from memory.keys import slug

# Relations that hold one value at a time: the value is not part of the key.
_ONE_VALUE_EN = (
    r"is not|are not|isn't|aren't|is now|are now|is called|is named|is located (?:in|at)|is set to|is due(?: on| by| in)?|is|are|was|were|"
    r"will be|equals|=|lives? (?:in|at|under)|runs? (?:on|at|in|every)|listens? on(?: port)?|expires? (?:on|in|at|after)|starts? (?:on|at|in)|"
    r"ends? (?:on|at|in)|happens? (?:on|at|in|every)|belongs? to|points? to|costs?|takes? place (?:on|in|at)|sits? (?:in|at|on)|"
    r"defaults? to|resolves? to|works? (?:at|for|as)|reports? to|reopens? (?:on|at)|opens? (?:on|at)|closes? (?:on|at)|moved to|got moved to|was born (?:in|on)"
)
_MANY_VALUES_EN = (
    r"uses?|has|have|needs?|requires?|supports?|must(?: not)?|should(?: not|n't)?|can(?:not|'t| not)?|will|won't|goes?|go|likes?|loves?|hates?|"
    r"wants?|prefers?|contains?|depends? on|includes?|speaks?|owns?|manages?|leads?|handles?|stores?|returns?|accepts?|sends?|don't|doesn't|"
    r"does not|do not|never|always|blocks?|breaks?|works?|runs?|keeps?|gets?|takes?|drives?|maintains?|hosts?"
)
_NOT_A_NOUN = r"(?!\s+(?:is|are|was|were|isn't|aren't|has|must|should|can|cannot|will)\s)"  # "the Atlas host is": many nouns look like verbs
_EN = re.compile(
    rf"(?P<s>(?:(?:the|an?|our)\s+)?[^,;:=]{{1,80}}?)(?:\s+|(?==))(?:(?P<one>{_ONE_VALUE_EN})|(?P<many>{_MANY_VALUES_EN}){_NOT_A_NOUN})(?:\s+|(?<==))(?P<v>.+)",
    re.DOTALL,
)
_ONE_VALUE_ZH = (
    r"(?<![还但可于总就凡要像只先正老倒越硬更不])(?<![就还总也不只能]算)是(?!否|不是|因为|说)|(?<![因作认行成以人视])为(?![了什何])|叫做?(?!醒|停|车|号)|位于|等于|设置为|设为|改为|改成|改到|换成|定成|定在|定为|安排在|"
    r"应该是|应当是|应为|其实是|实际上是|部署在|存放在|放在|存在(?!于|的|着)|运行在|住在|默认用(?!户)|统一用(?!户)|默认使用(?!者)|(?<![正现存实自所内])在(?!线|意|乎|于|职|读|售|办|途|场)|(?<![使不采常费作应引信利启])(?:使用(?!者|率|量|手册|说明|方|权|人|期|频)|采用(?!率)|用(?![户途于法处量例料人餐品力词语时]))"
)
_MANY_VALUES_ZH = r"不是|不能|不要|不准|不支持|必须|需要(?!的)|应该|支持(?!者|率|人|团队|邮箱|热线|部门|群|方)|负责(?!人|方|部门|的)|包含|依赖(?!库|项|包|关系|版本|树|图|管理)|喜欢|有(?!关|效|点|限|序|状态|奖)|没有|(?<![核绝相校针应面])对(?!接|象|话|方|比|应|齐|账|手|外|内|称|策)|(?<![机社晚周例年议开聚都照工协商学])会(?![议员话计场签诊长])|可以|(?<![主重纪摘概需必次])要(?![求点素件闻塞])|每(?![日周月天年次个季])|禁止|只(?!读)"
_ZH = re.compile(
    rf"(?P<s>[^,。;:=是]{{1,40}}?)\s*(?:(?P<one>{_ONE_VALUE_ZH}|=)|(?P<many>{_MANY_VALUES_ZH}))[\s:]*(?P<v>.+)",
    re.DOTALL,
)
_LABELLED = re.compile(r"(?P<s>[^,;:=。]{2,40}?)\s?(?::|=|->|=>)\s*(?P<v>\S.*)", re.DOTALL)
_HAN = re.compile(r"[\u4e00-\u9fff]")

_ARTICLE_EN = re.compile(
    r"(?:(?:the|a|an|our|this|that|these|those|all|please|so|and|but|also|currently|now|today)\s+(?![\u4e00-\u9fff]))+"
)
_ARTICLE_ZH = re.compile(
    r"(?:(?:其实|实际上|事实上),?|我们的?|咱们的?|这个|那个|该|本|目前的?|现在的?|咱|以后|今后)(?=.)"
)
_POSSESSIVE = re.compile(r"'s?(?=\s|$)")
_SUBORDINATE = re.compile(
    r"(?:which|who|where|because|since|so|but|if|when|while|unless|although|though|after|before|until|as|and|or|not|in order|with|for|to|e\.g|i\.e)\b"
    r"|因为|所以|但|如果|因此|而|并|否则|不然|除非|以便|也|就|还|其中"
)


@dataclass(frozen=True)
class Fact:
    """A statement taken apart; `many` relations hold several values, so the value is part of the key.

    A denial has the relation that it denies, and so the key of what it denies; `denial` is how it was put.
    """

    subject: str
    relation: str
    value: str
    many: bool
    denial: str = ""

    @property
    def key(self) -> str:
        name = f"{self.relation} {self.value}" if self.many else self.relation
        return f"fact:{slug(self.subject)}:{slug(name)}"

    def draft(self, statement: str, value: str | None = None) -> Draft:
        what = self.value if value is None else value
        return Draft(
            "facts",
            self.key,
            {"subject": self.subject, "relation": self.denial or self.relation, "value": what},
            statement,
        )


def bare(name: str) -> str:
    """A noun phrase without article, possessive mark and quotation marks."""
    name = name.strip(" \t\n,.:;!?\"'“”‘’「」『』`()*_。，")
    view = fold(name)
    article = _ARTICLE_EN.match(view) or _ARTICLE_ZH.match(view)
    if article and article.end() < len(name):
        name = name[article.end() :]
    return _POSSESSIVE.sub("", name.replace("’", "'")).strip()


def parse(statement: str) -> Fact | None:
    """The fact that a statement states or denies, or None where no subject can be found."""
    denied = affirmed(statement)
    if denied is not None:
        fact, at = _parse(denied.text)
        if fact is not None and at == denied.at:
            return replace(fact, denial=_as_said(denied.said, fact.relation))
    return _parse(statement)[0]


def _as_said(denial: str, relation: str) -> str:
    """The relation of a denial in the words that it was denied with; every "is not" in one form."""
    if denial.isascii():
        return "is not" if relation == "is" else " ".join([denial, *relation.split(" ")[1:]])
    return f"没{relation}" if denial.endswith("没") else f"不{relation.replace('可以', '能')}"


def _parse(statement: str) -> tuple[Fact | None, int]:
    """The fact that a statement states, and where in it the relation begins."""
    view = fold(statement)
    pattern = _ZH if _HAN.search(view[:60]) and not re.match(r"[ -~]{0,60}\s(?:is|are)\s", view) else _EN
    match = pattern.match(view) or (_LABELLED.match(view) if ":" in view[:42] or "=" in view[:42] else None)
    if not match:
        return None, 0
    subject = bare(statement[match.start("s") : match.end("s")])
    value = statement[match.start("v") :].strip().rstrip(".。!！")
    if not _names_something(subject) or not value or len(value) > 600:
        return None, 0
    groups = match.groupdict()
    relation = groups.get("one") or groups.get("many") or "is"
    at = next((match.start(name) for name in ("one", "many") if groups.get(name)), match.end("s"))
    return Fact(subject, _same(relation.strip()), value, bool(groups.get("many"))), at


def _same(relation: str) -> str:
    """Forms of one relation under one name: are, was and will be are `is`."""
    if relation in {"are", "was", "were", "is now", "are now", "will be", "equals", "="}:
        return "is"
    if relation in {"isn't", "are not", "aren't"}:
        return "is not"
    if relation in {
        "为",
        "应该是",
        "应当是",
        "应为",
        "其实是",
        "实际上是",
        "改为",
        "改成",
        "换成",
        "设为",
        "设置为",
        "等于",
    }:
        return "是"
    return {"默认用": "用", "使用": "用", "采用": "用", "统一用": "用", "默认使用": "用"}.get(relation, relation)


def _names_something(subject: str) -> bool:
    view = fold(subject)
    words = view.split()
    if not words or words[0] in PRONOUNS or len(words) > 9 or view in PRONOUNS or _SUBORDINATE.match(view):
        return False
    return not (view[0] in "我你他她它您" and not view.startswith("我的"))


def split(statement: str) -> list[tuple[int, int]]:
    """The clauses of a statement that are facts of their own; one that leans on the clause before stays with it."""
    view = fold(statement)
    cuts = [0]
    for match in re.finditer(r",(?![0-9])\s*(?:and |并且|而且|另外)?", view):
        rest = statement[match.end() :]
        if (
            cuts[-1] != match.start()
            and not _SUBORDINATE.match(fold(rest))
            and _own(rest.split(",")[0].split("，")[0])
        ):
            cuts.append(match.end())
    first = statement[: cuts[1]] if len(cuts) > 1 else statement
    if len(cuts) > 1 and not _own(first.rstrip(" ,，")):
        return [(0, len(statement))]
    return list(zip(cuts, [*cuts[1:], len(statement)], strict=True))


def _own(clause: str) -> bool:
    fact = parse(clause)
    return fact is not None and not fact.many and len(fact.subject.split()) <= 6


def remembered(statement: str) -> Draft:
    """The fact for a statement that the user asked to remember; without a subject the words themselves name it."""
    fact = parse(statement)
    if fact is not None:
        return fact.draft(statement)
    if EMPTY.fullmatch(fold(statement).strip()):
        raise Rejected("no_content")
    return Draft(
        "facts",
        f"fact:general:{slug(statement)}",
        {"subject": "general", "relation": "states", "value": statement},
        statement,
    )
