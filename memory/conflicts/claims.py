"""Taking a statement apart: what it is about, what it says of it, and whether another value would contradict it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from memory.conflicts.reading import Reading, Token, tells
from memory.conflicts.vocabulary import BESIDES, PAST

_B, _E = r"(?<![\w.])", r"(?![\w])"


def _latin(words: str) -> str:
    return rf"{_B}(?:{words}){_E}"


# Relations of which something has one at a time: another object contradicts the first. Tried in this order.
_ONE: tuple[tuple[str, str], ...] = (
    ("place", _latin(r"(?:now )?(?:lives?|reside[sd]?|resides|(?:is|are) (?:based|located|situated|moored|parked|stationed|housed|buried)|based|located|moved) (?:in|at|to|on)|"
                     r"wohnt (?:jetzt )?in|lebt in|habite (?:à|en|au)|vit (?:à|en)|vive en|reside en")
     + r"|住在|居住在|定居在?|位于|坐落于|坐落在|搬到了?|搬去了?|设在|に住んで|に引っ越し"),
    ("employer", _latin(r"works? (?:at|for)|(?:is|are) employed (?:at|by)|joined|arbeitet (?:bei|für)|travaille (?:chez|pour)|trabaja (?:en|para)")
     + r"|就职于|任职于|供职于|入职了?|受雇于"),
    ("boss", _latin(r"reports? to|(?:is|are) (?:managed|led|headed|supervised) by") + r"|汇报给|隶属于"),
    ("owner", _latin(r"(?:is|are) (?:owned|maintained|handled|run|reviewed|approved|serviced|cleaned|coached|taught|edited|organi[sz]ed|funded|insured|"
                        r"supplied|provided|supervised|treated|looked after|coordinated|administered|operated|audited|moderated|chaired|catered) by|belongs? to") + r"|属于|归属于|归(?=[^，。]{1,12}(?:所有|管|负责))"),
    ("host", _latin(r"(?:runs?|(?:is|are) (?:hosted|deployed|running|installed)|deploys?) (?:on|in|to|at)|läuft auf|tourne sur|corre en")
     + r"|部署在|部署到|运行在|跑在|托管在|托管于"),
    ("store", _latin(r"(?:(?:is|are) )?(?:stored|saved|kept|archived|written) (?:in|on|to|at)|(?:goes?|writes?|logs?|syncs?|backs? up|uploads?|ships?) to|"
                     r"wird in|gespeichert in") + r"|存储在|存放在|保存在|存到|存在|备份到|上传到|写入|同步到|放在"),
    ("made with", _latin(r"(?:is|are) (?:written|implemented|built|developed|coded) (?:in|with|on|using)|geschrieben in|écrit en|escrito en")
     + r"|编写于|基于"),
    ("born", _latin(r"(?:was|were) born (?:in|on)|geboren (?:am|in)|né en|nació en") + r"|出生于|生于|出生在"),
    ("married", _latin(r"(?:is|are) married to|verheiratet mit") + r"|嫁给了?"),
    ("moment", _latin(r"(?:(?:is|are) (?:due|scheduled|planned|held|set)|takes? place|happens?|starts?|begins?|ends?|opens?|closes?|launche?s?|"
                      r"expires?|meets?|leaves?|departs?|arrives?|ships) (?:on|at|in|for|by|from)|findet (?:am|um|im)|beginnt um|commence à|empieza a")
     + r"|举行在|安排在|定在|定于|开始于|结束于|截止到|截止于|上线于"),
    ("goes through", _latin(r"(?:connects?|listens?|points?|routes?|redirects?|resolves?) (?:to|on|at|through)|"
                            r"(?:authenticates?|pays?|signs? in|logs? in) (?:with|via|through|by)|(?:is|are) (?:sent|delivered) (?:to|via|by)")
     + r"|连接到|连到|指向|监听|发送到|发到"),
    ("is", _latin(r"defaults? to|(?:is|are) set to|set to|(?:is|are) configured (?:as|to)|(?:is|are) (?:named|called)|"
                       r"(?:is|are) short for|heißt|s'appelle|se llama|(?:switched|migrated|changed|upgraded|moved over) to|stands for")
     + r"|默认为|默认是|默认使用|默认用|默认采用|设置为|设为|设定为|配置为|改为|改成|改用|换成|换为|切换到|升级到|命名为|名叫|叫做|叫|称为|等于|定为|调整为|调到"),
    ("cost", _latin(r"costs?|weighs?|measures?|lasts?|kostet|dauert|coûte|dure|cuesta|dura") + r"|花费|价格为|售价|持续|重达|需时"),
)  # fmt: skip
# Relations of which something may have many at a time.
_MANY = re.compile(
    _latin(
        r"likes?|loves?|enjoys?|hates?|speaks?|knows?|uses?|using|supports?|includes?|contains?|has|have|owns?|plays?|reads?|visited|visits?|"
        r"(?:is|are) (?:a |an )?(?:member|part|fan|friend|colleague|user|contributor|example|kind|type)s? (?:of|in|to|with)|works? (?:on|with)|needs?|wants?|"
        r"contributes? to|attended|attends?|met|bought|wrote|fixed|read|saw|watched|learned|learns?|studies|studied|travell?ed|tried|"
        r"integrates? with|depends? on|exports?|imports?|mag|spricht|nutzt|verwendet|parle|aime|utilise|habla|usa|gusta|can"
    )
    + r"|喜欢|喜爱|爱吃|爱喝|会说|说|讲|使用|用|支持|包含|包括|拥有|有|养|玩|读|看|去过|参加|认识|擅长|精通|懂|会|学习|学|需要|想要|想|依赖|兼容|接入|的成员|是.{0,6}成员|が好き|を話|を使"
)
_IS = re.compile(
    _latin(
        r"(?:is|are|will be|should be|must be|shall be|ist|sind|est|sont|es|son|será)(?: (?:now|currently|still|always|set to|called|jetzt|ahora|maintenant))?"
    )
    + r"|[:：=]|(?<!不)(?<!还)(?<!但)(?<!可)(?<!就)(?<!于)(?<!或)(?<!总)是(?!否|因为|不是|为了|由于)|(?<![因认以成作行称])为(?!了|什么|主)|は(?!い|ず)"
)
_USE_AS = re.compile(
    _latin(r"(?:use|uses|using|chose|choose|picked|prefer|adopt|went with|go with)") + r"\s(?P<object>.{1,60}?)\s"
    + _latin(r"as|for|to (?:store|build|run|deploy|manage|handle|host|track|test|format|lint|send|write)") + r"\s(?P<subject>.+)"
)  # fmt: skip
_HAN_USE = re.compile(
    r"(?:用|使用|采用|选用|选择|选)(?P<object>[^，。,；;]{1,30}?)(?:作为|当作|当|来做|来|做|作|写|编写|存储|存|管理|部署|开发|搭建|实现)(?P<subject>[^，。；;]+)"
)
_HAN_SUBJECT_USE = re.compile(r"^(?P<subject>[^，。；;]{2,30}?)(?:由|在)(?P<object>[^，。；;]{1,20}?)(?P<verb>负责|管理|维护|审批|主持|工作|上班|举行|召开|运行|编写|实现|驱动)")  # fmt: skip

# Nouns that name something of which there is one: "the X is ..." then gives its value.
_ATTRIBUTES = re.compile(
    _latin(
        r"database|port|owner|manager|lead|leader|deadline|name|language|colou?r|theme|framework|tool|editor|region|zone|city|branch|format|"
        r"licen[cs]e|provider|platform|stack|budget|price|version|capital|birthday|address|email|phone|number|timezone|time zone|password|host|url|"
        r"default|policy|strategy|mode|level|status|priority|size|limit|timeout|standard|currency|location|vendor|library|engine|method|protocol|"
        r"algorithm|encoding|frequency|schedule|date|day|time|model|backend|frontend|broker|queue|cache|style|tone|indentation|font|unit|contact|"
        r"ceo|cto|author|maintainer|approver|reviewer|supplier|client|customer|venue|destination|hotel|job|title|role|salary|age|height|favou?rite|"
        r"browser|shell|os|system|registry|endpoint|domain|prefix|suffix|window|quota|plan|team|office|headquarters|length|width|rate|threshold|"
        r"orm|license|compiler|runtime|base image|image|linter|formatter|tracker|chat|channel|codename|nickname|pin|code|gateway|runner|"
        r"datenbank|sprache|farbe|frist|termin|preis|stadt|besitzer|chef|base de données|langue|couleur|prix|ville|idioma|precio|ciudad|puerto|color"
    )
    + r"|默认|数据库|端口|负责人|截止|期限|语言|名字|名称|姓名|地址|版本|框架|编辑器|时区|分支|预算|价格|方案|模式|主题|颜色|格式|密码|电话|邮箱|城市|首都|生日|部门|经理|组长|"
    r"时间|地点|会议室|供应商|平台|引擎|策略|级别|优先级|状态|频率|周期|单位|货币|上限|下限|阈值|大小|年龄|身高|工号|职位|职务|学校|专业|公司|总部|老板|领导|客户|代号|域名|"
    r"日期|缓存|队列|协议|算法|编码|接口人|联系人|审批人|主机|网关|镜像|仓库|风格|语气|字体|缩进|浏览器|系统|工具|技术栈|前端|后端|车牌|房间|酒店|航班|型号|血型|星座"
)
_PLURAL = re.compile(r"(?:are|were|sind|sont|son)\b.*")
_DEFINITE = re.compile(r"(?:the|our|my|your|his|her|its|their|der|die|das|le|la|el)\s|(?:我们|我|你|他|她)?的")
_MEMBER = re.compile(r"^(?:an?|one of|ein|eine|un|une|una|part of)\s|^一[个位名种只家]|^(?:之一)")
_PAST = re.compile("|".join(_latin(re.escape(sign)) if sign.isascii() else sign for sign in PAST))
_FROM = re.compile(
    _latin(r"(?:since|from|as of|starting|until|till|before|in|during|seit|bis|ab|depuis|desde|hasta)(?= )")
    + r"|自|从|截至|直到"
)
_OCCASION = re.compile(_latin(r"(?:was|were)") + "|" + r"(?<![\w])\w{3,}ed(?![\w])|[^了]了")


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement as subject, relation and object. `single`: another object of the subject contradicts it.

    `turned` is true of "X is Y", where either may have been said first: its subject is what is described, and its object
    the name or value that this has.
    """

    relation: str
    subject: tuple[Token, ...]
    object: tuple[Token, ...]
    single: bool
    turned: bool = False


def claim_of(reading: Reading) -> Claim | None:
    """What the statement says of what; None where it cannot be told."""
    return _used_as(reading) or _related(reading)


def is_past(reading: Reading) -> bool:
    """Whether the statement tells of a time that is over."""
    return _is_past(reading.folded)


@lru_cache(maxsize=2_000)
def _is_past(folded: str) -> bool:
    return _PAST.search(folded) is not None


def is_occasion(reading: Reading) -> bool:
    """Whether the statement tells of something that happened."""
    return _OCCASION.search(reading.folded) is not None


def frames(reading: Reading) -> frozenset[str]:
    """The dates that say for when a statement holds: `since May`, `in 2025`, and a date that it begins with."""
    found = set()
    for place, token in enumerate(reading.tokens):
        if token.kind != "date":
            continue
        before = reading.folded[max(0, token.at - 12) : token.at].rstrip()
        opens = place == 0 or all(other.empty for other in reading.tokens[:place])
        if opens or re.search(rf"(?:{_FROM.pattern.replace('(?= )', '')})$", before):
            found.add(token.norm)
    return frozenset(found)


def _used_as(reading: Reading) -> Claim | None:
    for form in (_USE_AS, _HAN_USE, _HAN_SUBJECT_USE):
        found = form.search(reading.folded)
        if found is not None:
            subject, told = (_within(reading, *found.span(part)) for part in ("subject", "object"))
            relation = found.groupdict().get("verb") or "is"
            if tells(subject) and tells(told):
                return Claim(relation, subject, told, single=True)
    return None


def _related(reading: Reading) -> Claim | None:
    """The first relation that stands between two parts."""
    many = _MANY.search(reading.folded)
    ones = [(found.start(), name, found) for name, form in ONE for found in [form.search(reading.folded)] if found]
    first = min(ones, key=lambda one: one[0], default=None)
    link = _IS.search(reading.folded)
    starts = [found.start() for found in (link, many) if found is not None]
    if first is not None and all(first[0] <= start for start in starts):
        return _claim(reading, first[1], first[2].span(), single=True)
    if link is not None and (many is None or link.start() < many.start()):
        if first is not None and first[0] < link.end() + 2:
            return _claim(reading, first[1], first[2].span(), single=True)
        return _being(reading, link.span())
    return _claim(reading, many.group(), many.span(), single=False) if many is not None else None


def _being(reading: Reading, span: tuple[int, int]) -> Claim | None:
    """ "The owner is Dana" and "Dana is the owner": both of the owner, of whom there is one. Of Dana, who may be much
    else, and of two things that are both settled today, it says nothing that another could contradict."""
    subject_text, link, object_text = (
        reading.folded[: span[0]], reading.folded[span[0] : span[1]].strip(), reading.folded[span[1] :].strip(),
    )  # fmt: skip
    described, said = bool(_ATTRIBUTES.search(subject_text)), bool(_ATTRIBUTES.search(object_text))
    turned = said and (not described or (_is_definite(object_text) and not _is_definite(subject_text)))
    single = (described or said) and _PLURAL.fullmatch(link) is None and _MEMBER.search(object_text) is None
    claim = _claim(reading, "is", span, single=single or link in (":", "="), turned=True)
    if claim is None or not turned or not tells(claim.subject):
        return claim
    return replace(claim, subject=claim.object, object=claim.subject)


def _is_definite(text: str) -> bool:
    return _DEFINITE.match(text) is not None


def _claim(
    reading: Reading, relation: str, span: tuple[int, int], *, single: bool, turned: bool = False
) -> Claim | None:
    subject, told = _within(reading, 0, span[0]), _within(reading, span[1], len(reading.folded))
    single = single and BESIDES.search(reading.folded) is None
    return Claim(relation, subject, told, single, turned) if told else None


def _within(reading: Reading, start: int, end: int) -> tuple[Token, ...]:
    return tuple(token for token in reading.tokens if start <= token.at and token.to <= end)


ONE = tuple((name, re.compile(pattern)) for name, pattern in _ONE)
