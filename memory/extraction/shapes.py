"""Typing: what decision, preference, goal, task or profile a piece of text states, and under which key."""

from __future__ import annotations

import re

from memory.extraction import facts
from memory.extraction.facts import bare
from memory.extraction.places import PLACE_ZH
from memory.extraction.reading import fold
from memory.extraction.values import Draft, Rejected, Value
from memory.extraction.words import (
    EMPTY,
    NOT_A_ROLE,
    NOT_A_TASK,
    PREFERENCE_SCOPES,
    PREFERENCE_TOPICS,
    ROLE_SUFFIX,
    ROLE_ZH,
)
from memory.keys import slug

_REASON = re.compile(
    r"[,，]?\s{0,2}(?:\b(?:because|since|so that|due to|given that|as it|as they)\b|因为|由于|原因是|以便|这样)\s*(?P<why>.+)$",
    re.DOTALL,
)
_INSTEAD = re.compile(
    r"[,，]?\s{0,2}(?:\b(?:instead of|rather than|over|not|and not|and drop)\b\s|而不是|而非|不用|,不是)\s*(?P<y>.+)$",
    re.DOTALL,
)
_LATER = re.compile(
    r"\s{0,2}[,，]?\s{0,2}(?:\b(?:for now|for the time being|going forward|from now on|from next week|starting (?:today|now|next week)|right now|again|instead|then|"
    r"after all|in the end|please)|暂时|先|吧|了|好了|啦|哈)\s*$"
)
_USE_EN = re.compile(
    r"(?:(?:not )?to\s+|against )?(?:just\s+|all\s+)?(?:us(?:e|ing)|adopting|adopt|go with|choose|pick|switch(?:ing|ed)? (?:over )?(?:from .{1,40}? )?to|mov(?:e|ing) (?:from .{1,40}? )?to|migrat(?:e|ing|ed) (?:from .{1,40}? )?to|stick (?:with|to)|keep|"
    r"standardi[sz]e on|settle on|be using|replace .{1,40}? with|go for|upgrade to|stay (?:on|with))(?: using)?\s+"
)
_FOR_EN = re.compile(
    r"(?P<o>[^,]{1,160}?)\s+(?:for (?!now\b|the time|a (?:while|bit)|\d)|as (?:our |the |a |an )(?!well|soon|planned)|to (?:handle|manage|store|build|run|serve|power|host) (?:the |our )?)(?P<t>[^,;]{1,80})"
)
_REPLACE_EN = re.compile(r"(?:to )?(?:replace|swap(?: out)?) (?P<t>.{1,40}?) (?:with|for) (?P<o>.+)")
_USE_ZH = r"(?:不再|不|放弃|继续|统一|全部|还是|要|都|就|先|改|默认)*(?:采用|使用|改用|换用|选用|选择|选了|换成|改成|改为|迁移到|切换到|迁到|切到|升级到|升到|定成|选定|选(?![型项])|用(?!户)|走(?!廊|查)|上(?![线传面次周班个]))"
_SET_ZH = r"(?:改到|定在|定为|定于|设为|调整为|调整到|挪到|推迟到|延期到|延到|提前到|换到|放在|安排在|限制在|控制在)"
_OBJECT_FIRST_ZH = re.compile(
    _USE_ZH
    + r"(?P<o>[^,。]{1,60}?)(?:来)?(?:作为|当作|当|做|管理|实现|处理|存储|存|构建|开发|编写|写|部署|搭建|承载|跑|完成|发布|画)(?P<t>[^,。]{1,30})"
)
_TOPIC_FIRST_ZH = re.compile(
    r"(?:把|将|在|为|对|给|关于)?(?P<t>[^,。用采换选切迁]{1,24}?)(?:上|里|中|方面|这块|部分)?(?:"
    + _USE_ZH
    + "|"
    + _SET_ZH
    + r")(?P<o>[^,。]{1,80})"
)
_ONLY_ZH = re.compile(_USE_ZH + r"(?P<o>[^,。]{1,80})")
_LEADING_VERB = re.compile(r"(?:to|that|we(?:'ll| will| should| would)?|on|against|不再|不|要|将|会|都|把)\s*")
_OVER_EN = re.compile(
    r"(?P<x>[^,]{1,80}?),?\s+(?:over|rather than|instead of|than|versus|vs\.?|more than|better than|as opposed to|and not|not)\s+(?P<y>[^,;]{1,80})"
)
_TO_EN = re.compile(r"(?P<x>[^\s,]+(?: [^\s,]+){0,2}) to (?P<y>[^\s,]+(?: [^\s,]+){0,2})$")
_ON_EN = re.compile(r"(?P<x>[^,]{1,80}?),?\s+(?:for|when|while|whenever) (?P<t>[^,;]{1,60})")
_OVER_ZH = re.compile(
    r"(?P<x>[^,。]{1,60}?),?(?:但|而|也|并且|,)*(?:不喜欢|不太喜欢|讨厌|而不是|而非|胜过|多于|甚于|不要|不是|不爱|别用|不用)(?P<y>[^,。]{1,60})"
)
_POLITE_OBJECT = re.compile(
    r"(?:(?:it|that) if you |that you |you to |if you |it when you |when you |your |to (?:use |have |get |work with |write in )?|having |getting |using |working with |用|使用|让你|你|在(?=.{1,12}[写做用]))"
)
_ROLE_EN = re.compile(
    r"(?:an?|the) (?P<role>[^,.;:]{2,60}?)(?= (?:at|for|in|from|who|working|based|by|with|and|of|on|since|but)\b|[,.;:]|$)"
)
_AT_EN = re.compile(
    r"\b(?:at|for) (?P<where>(?:the )?[a-z0-9][^,.;]{1,40}?)(?= (?:as|and|in|since|where|but)\b|[,.;]|$)"
)
_CUT_PROFILE = re.compile(
    r"\s{1,2}(?:and|but|so|because|since|where|which|who|by the way|btw|these days|right now|at the moment|last (?:week|month|year)|this (?:week|month|year)|now|though|currently|please)(?![a-z])|[,，;；。！!（(]|(?:并且|而且|负责|，|吧$|就行|就好|就可以|即可|好了)"
)
_TRADE_ZH = re.compile(
    r"(?:做|搞|干)(?P<role>[^,。的]{0,8}(?:运维|测试|前端|后端|全栈|算法|设计|产品|运营|开发|数据(?:分析)?|安全|硬件|嵌入式|市场|销售|财务|人事|法务|客服|教育|外贸|金融|研究|架构|ios|安卓|ai))(?:的|开发的?|这块的?)?"
    r"|(?:做|搞)(?P<line>(?![不得梦给了错好完这那]|什么|出)[^,。的]{2,8})的"
)
_LONG_NAME = re.compile(r"[\u4e00-\u9fff]{6,}")
PLACE = re.compile(PLACE_ZH)
_AFTER_PLACE = re.compile(r"(?:人|的|了|这边|生活|定居|读书|上学|呢|啊)+$")
_NO_NAME = re.compile(
    r"(?:ish|ese|ian|ican|ean|rman|ench|tch)$|^(?:sorry|sure|glad|happy|sad|tired|done|new|fine|ok|okay|here|back|just|not|also|so|very)$"
)
_ZH_WORKPLACE = re.compile(r"(?P<where>.{2,30}?)(?:工作|上班|任职|就职|实习)")
_PROJECT = "general"
# One name for a field in both languages, so that a later value replaces it; the value stays as it was said.
_FIELDS = {
    "职业": "role",
    "工作": "role",
    "职位": "role",
    "岗位": "role",
    "生日": "birthday",
    "邮箱": "email",
    "电子邮箱": "email",
    "时区": "timezone",
    "公司": "employer",
    "家乡": "hometown",
    "母语": "native language",
    "年龄": "age",
    "昵称": "nickname",
    "部门": "team",
    "团队": "team",
    "手机号": "phone",
    "地址": "address",
    "e-mail": "email",
    "e-mail address": "email",
    "email address": "email",
    "time zone": "timezone",
    "company": "employer",
    "phone number": "phone",
    "job title": "role",
    "job": "role",
    "profession": "role",
    "occupation": "role",
    "title": "role",
}


def clean(text: str) -> str:
    """A content without the punctuation and connectives around it."""
    text = text.strip(" \t\n\r:：,，、。;；!！-—\x1a")
    text = re.sub(r"[\s,，](?:and|but|so|also|because|then|并且|而且|另外|所以|但是?|同时|还有|以及)$", "", text)
    return text if text.endswith(("e.g.", "etc.")) else text.rstrip(".。 ")


def _solid(content: str) -> str:
    if not content or EMPTY.fullmatch(fold(content).strip(" .,!")):
        raise Rejected("no_content")
    if not any(char.isalnum() for char in content):
        raise Rejected("no_content")
    return content


def _part(match: re.Match[str], name: str, text: str) -> str:
    return text[match.start(name) : match.end(name)].strip()


def decision(content: str, statement: str) -> Draft:
    """A decision about a topic: what it is for where that is said, else the thing chosen."""
    content = _solid(_LATER.sub("", content))
    core, why = content, ""
    reason = _REASON.search(fold(content))
    if reason and reason.start() > 0:
        core, why = clean(content[: reason.start()]), _part(reason, "why", content)
    if re.search(r"[\u4e00-\u9fff]", core):
        core = _LATER.sub("", re.split(r"[,，]", core)[0]) or core
    value: Value = {
        "project": _PROJECT,
        "topic": slug(bare(topic_of(_solid(core)))),
        "decision": re.sub(r"^(?:to|that|是|:)\s{1,2}", "", content),
    }
    if why:
        value["rationale"] = why
    return Draft("decisions", f"decision:{_PROJECT}:{value['topic']}", value, statement)


def topic_of(core: str) -> str:
    """What a decision is about."""
    instead = _INSTEAD.search(fold(core))
    tail = ""
    if instead and instead.start() > 2:
        core, tail = core[: instead.start()], core[instead.start() :]
    view = fold(core)
    for pattern in (_REPLACE_EN, None, _OBJECT_FIRST_ZH, _ONLY_ZH, _TOPIC_FIRST_ZH):
        found = _topic_en(core, tail) if pattern is None else _named_topic(pattern, view, core)
        if found:
            return found
    fact = facts.parse(core[match.end() :] if (match := _LEADING_VERB.match(view)) else core)
    if fact is not None:
        return fact.subject
    return core[match.end() :] if (match := _LEADING_VERB.match(view)) else core


def _topic_en(core: str, tail: str) -> str:
    view = fold(core)
    use = _USE_EN.match(view)
    start = use.end() if use else 0
    if not use and view.startswith(("to ", "that ", "not ", "against ", "不")):
        return ""
    purpose = _FOR_EN.match(view, start) or (re.search(r"\sfor (?P<t>[^,;]{2,60})$", fold(tail)) if tail else None)
    if purpose:
        source = core if purpose.re is _FOR_EN else tail
        return re.split(r" (?:in|from|by|starting|until|at|because) ", _part(purpose, "t", source))[0]
    return core[start:] if use else ""


def _named_topic(pattern: re.Pattern[str], view: str, core: str) -> str:
    match = pattern.match(view)
    if not match:
        return ""
    return _part(match, "t" if "t" in pattern.groupindex else "o", core)


def preference(
    content: str, statement: str, *, topic: str = "", avoid: bool = False, over: str = "", rule: bool = False
) -> Draft:
    """A preference under the topic it is about, so that the opposite taste later has the same key.

    `over` is the rejected other side; a `rule` ("always …") is kept whole as the value.
    """
    content = _solid(_LATER.sub("", content))
    match = _POLITE_OBJECT.match(fold(content))
    taste = _solid(content[match.end() :] if match else content)
    scope, name = preference_topic(f"{topic} {content}")
    chosen = taste
    for pattern in (_OVER_EN, _OVER_ZH, _TO_EN):
        against = pattern.match(fold(taste))
        if against:
            chosen, over = _part(against, "x", taste), over or _part(against, "y", taste)
            break
    occasion = _ON_EN.match(fold(taste))
    if topic:
        name = name or slug(bare(topic))
    elif occasion and not name:
        name, chosen = slug(bare(_part(occasion, "t", taste))), _part(occasion, "x", taste)
    if not name:
        name = "-vs-".join(sorted((slug(bare(chosen)), slug(bare(over))))) if over else slug(bare(chosen))
    said = f"avoid: {chosen}" if avoid and fold(chosen).isascii() else f"不要：{chosen}" if avoid else chosen
    return Draft(
        "preferences",
        f"pref:{scope}:{name}",
        {"scope": scope, "name": name, "value": clean(content if rule else said)},
        statement,
    )


def preference_topic(text: str) -> tuple[str, str]:
    """The scope that a preference belongs to, and the name of its topic where the words tell it."""
    view = fold(text)
    for scope, name, pattern in PREFERENCE_TOPICS:
        if pattern.search(view):
            return scope, name
    return next((scope for scope, pattern in PREFERENCE_SCOPES if pattern.search(view)), "other"), ""


def has_preference_scope(text: str) -> bool:
    """Whether a liking is about how to work, and not about the weather."""
    return preference_topic(text)[0] != "other"


def goal(content: str, statement: str) -> Draft:
    content = _solid(content)
    name = slug(content)
    value: Value = {"project": _PROJECT, "name": name, "description": content, "status": "active"}
    return Draft("goals", f"goal:{_PROJECT}:{name}", value, statement)


def task(content: str, statement: str, status: str = "todo") -> Draft:
    """A task named after its title."""
    title = _solid(re.sub(r"(?i)^(?:to\s{1,3}|请|先|要|去|把|将)(?=\S)", "", content) if status == "todo" else content)
    if status == "todo" and (NOT_A_TASK.match(fold(title)) or not any(char.isalpha() for char in title)):
        raise Rejected("not_a_task")
    name = slug(bare(title))
    value: Value = {"project": _PROJECT, "task_id": name, "title": title, "status": status}
    return Draft("tasks", f"task:{_PROJECT}:{name}", value, statement)


def profile(field: str, content: str, statement: str, subject: str) -> list[Draft]:
    """Facts about the person who speaks; one sentence can give a place of work and a role."""
    known = [(key, value) for key, value in _profile_facts(field_name(field), content) if value]
    if not known:
        raise Rejected("not_a_profile")
    pairs: list[Value] = [{"k": key, "v": value} for key, value in known]
    return [Draft("profile", f"profile:{subject}", {"subject": subject, "facts": [*pairs]}, statement)]


def field_name(word: str) -> str:
    """The one name of a profile field."""
    return _FIELDS.get(word, word)


def _profile_facts(field: str, content: str) -> list[tuple[str, str]]:
    view = fold(content)
    if field == "allergy" and "过敏" in view:
        return [("allergy", content[: view.index("过敏")])]
    if field == "introduction":
        return _introduction(content, view)
    if field == "diet":
        return [("diet", re.split(r"[,，。;；!！]", content)[0].strip())]
    if field == "employer":
        return _employment(content, view)
    if field == "role":
        return _role(content, view)
    cut = _CUT_PROFILE.search(view)
    short = content[: cut.start()] if cut and field != "birthday" else content
    short = _AFTER_PLACE.sub("", short) if field in {"location", "hometown"} else short
    if field == "name" and _LONG_NAME.fullmatch(short.strip()):
        return []
    limit = 4 if field == "name" else 12
    return [(field, _solid(short.strip()))] if len(short.split()) <= limit and len(short) <= 80 else []


def _introduction(content: str, view: str) -> list[tuple[str, str]]:
    """ "I'm Dana, a nurse": a name is written with a capital, and a people or a mood is no name."""
    name = content.split(",")[0].split()[0]
    if not (name[:1].isupper() and name[1:].islower()) or _NO_NAME.search(fold(name)):
        return []
    rest = view[len(name) :].lstrip(", ")
    offset = len(view) - len(rest)
    return [("name", name), *(_role(content[offset:], rest) if rest.startswith(("a ", "an ", "the ")) else [])]


def _employment(content: str, view: str) -> list[tuple[str, str]]:
    place = _ZH_WORKPLACE.match(view)
    if place and PLACE.fullmatch(where := _part(place, "where", content)):
        return [("location", where)]
    if place:
        return (
            [("employer", where)]
            if where not in {"家", "家里", "外面", "努力", "认真", "线上", "公司", "这里", "这边"}
            else []
        )
    post = re.match(r"(?P<where>[^,。]{2,30}?)(?:做|当|担任)(?P<role>[^,。;!]{2,16})", view)
    if post and ROLE_ZH.search(post["role"]):
        where = _part(post, "where", content)
        return [("location" if PLACE.fullmatch(where) else "employer", where), ("role", _part(post, "role", content))]
    if post and content[:1] > "\u4e00":
        return []
    as_role = re.search(r" as (?:an? |the )?(?P<role>[^,.;]{2,60})", view)
    cut = _CUT_PROFILE.search(view)
    end = min(as_role.start() if as_role else len(content), cut.start() if cut else len(content))
    found = [("employer", content[:end].strip())]
    if as_role:
        found.append(("role", _part(as_role, "role", content)))
    return found if not EMPTY.fullmatch(view[:end].strip()) and len(view[:end].split()) <= 8 else []


def _role(content: str, view: str) -> list[tuple[str, str]]:
    cut = re.search(r"[,，。;；!！]", view)
    chinese = view[: cut.start()] if cut else view
    trade = _TRADE_ZH.fullmatch(chinese)
    if trade:
        return [("role", _part(trade, "role" if trade["role"] else "line", content))]
    if ROLE_ZH.search(chinese):
        return [("role", content[: len(chinese)].strip())]
    match = _ROLE_EN.match(view if view.startswith(("a ", "an ", "the ")) else f"a {view}")
    if not match:
        return []
    shift = 0 if view.startswith(("a ", "an ", "the ")) else -2
    head = match["role"].split()[-1]
    if (
        head in NOT_A_ROLE
        or not ROLE_SUFFIX.search(head)
        or match["role"].startswith(("bit ", "little ", "big ", "huge ", "total ", "complete ", "real "))
    ):
        return []
    found = [("role", content[match.start("role") + shift : match.end("role") + shift])]
    where = _AT_EN.match(view[match.end() + shift :].lstrip())
    if where and view[match.end() + shift :].startswith(" at"):
        offset = len(view) - len(view[match.end() + shift :].lstrip())
        found.append(("employer", content[offset + where.start("where") : offset + where.end("where")]))
    return found
