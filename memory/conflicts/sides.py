"""How a side of "is" names what it names: which one, what sort, where, and whether there is one of it at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from memory.conflicts.kinds import is_kind, is_nationality, kind_at_end
from memory.conflicts.reading import Token, norm_of, normal_word
from memory.conflicts.script import HAN

B, E = r"(?<![\w.'’-])", r"(?![\w-])"  # the ends of a word
MOST_OF_NAME = 5  # words
MOST_OF_HAN = 12
_PREPOSITION = re.compile(
    rf"{B}(?:with|for|in|on|at|during|until|among|under|behind|near|by|next to|above|beside|outside|inside){E}"
)
_ARTICLE = re.compile(r"^(?:the|our|my|your|his|her|its|their|this|that)\s+")
_INDEFINITE = re.compile(
    r"^(?:an?|one of|some|another|any|each|every|part of|among|both|two|three|several|many)\s|^(?:一|两|几|某|有些|其中|每|各)"
    r"|之一$|(?:其中|等)(?:一|$)"
)
_COUNTED = re.compile(r"^一?[个只种家名位条座栋间款套台辆部本张份所](?=.{2})")
_ADVERB = re.compile(r"^(?:very|quite|too|so|rather|always|usually|often|only|still|already|more|less|no|not|all)\s")
_DOES = re.compile(
    r"^(?:\w{2,}ed|\w{2,}ing|made|built|done|kept|held|run|sent|paid|given|written|known|due|able|ready|free|happy|good|bad|far|full|part)"
    r"(?:\s(?:by|in|on|to|from|with|for|of|at|as|and|every|again|twice|once|daily|weekly|monthly|yearly|when|well|out|up|down)\b|$)"
)
_ADJECTIVE = re.compile(
    r"^\w*(?:ous|ful|less|able|ible|ive|ical|ated|ized|ised)$|^(?:new|old|big|small|good|bad|nice|long|short|free|closed|open|full|empty|busy|"
    r"safe|wide|narrow|late|early|ready|fine|great|easy|hard|difficult|cheap|large|heavy|light|dark|warm|cold|hot|quiet|loud|slow|fast|tall|high|low|"
    r"clean|dirty|dry|wet|strict|simple|public|private|popular|careful|locked|broken|important|accessible|heated|central|modern|local|unknown|"
    r"wrong|right|correct|true|false|sick|ill|tired|away|here|there|confidential|optional|mandatory|silent|digital|secret|pending|vacant|current|different|same|remote|distributed|young|experienced|friendly|international|urgent|stable|reliable|flexible|noisy)$"
)

# Nouns of what one has at a time; others may be several.
_ROLES = re.compile(
    r"(?<![\w])(?:head|chief|captain|treasurer|secretary|chair|chairman|chairwoman|chairperson|president|director|manager|principal|coordinator|"
    r"co-ordinator|supervisor|owner|landlord|landlady|boss|lead|leader|ceo|cto|cfo|coo|mayor|minister|editor|maintainer|organiser|organizer|"
    r"caretaker|officer|registrar|dean|rector|matron|foreman|headmaster|headteacher|host|spokesperson|contact|deputy|commander|conductor|"
    r"guardian|spouse|husband|wife|mother|father|editor-in-chief|vice-president|team lead|head nurse|head coach|family doctor|class teacher|form teacher|head chef|goalkeeper)$"
)
# What a team or a department may hold too, so that a bare word may name the holder: "the owner of the budget is finance".
_HELD_BY_TEAMS = re.compile(r"(?<!\w)(?:owner|maintainer|organi[sz]er|host|contact|co-?ordinator)$")
_UNIQUE = re.compile(
    rf"{B}(?:default|main|primary|principal|first|last|usual|preferred|official|only|favou?rite|standard|chief|current|fallback|sole|top|"
    rf"secondary|second|third|emergency|backup|legal|lead|permanent|regular|normal|designated){E}"
)
_SEVERAL = re.compile(
    r"(?<![\w-])(?:friend|colleague|neighbou?r|brother|sister|sibling|son|daughter|child|kid|cousin|uncle|aunt|teammate|classmate|member|student|pupil|"
    r"patient|employee|contributor|guest|parent|grandparent|grandmother|grandfather|grandson|granddaughter|volunteer|competitor|ingredient|hobby|allergy|skill|symptom|side effect|lesson|exception|"
    r"highlight|part|step|feature|strength|weakness|answer|option|alternative|candidate|fan|user|plan|task|use case|one|result|trainer|"
    r"supporter|client|customer|nurse|doctor|teacher|pet)s?$"
)
_LABEL = re.compile(
    r"^(?:\w+(?<!s|u|i)s|todo|to do|note|reminder|decision|lesson|preference|fact|task|idea|question|warning|tip|example|info|update|allergy)$"
    r"|^(?:结论|爱好|标签|备注|待办|提醒|决定|特长|注意|提示|说明|问题|任务|技能|成员|参与者|参加者|经验|教训|偏好|过敏|今天.*|例子)$"
)
_NEVER_ONE = re.compile(
    r"(?<![\w-])(?:problem|issue|reason|cause|goal|aim|risk|challenge|idea|point|question|example|advantage|benefit|drawback|topic|focus|difference|thing)$"
)
_HAN_PERSON = re.compile(
    r"(?:长|主任|经理|总监|财务|会计|秘书|主席|教练|主编|负责人|房东|主厨|厨师长|导师|班主任|联系人|管理员|对接人|牵头人|老板|总统|主持人|法人|所有者|"
    r"所有人|主人|业主|监护人|审批人|接口人|维护者|维护人|代表|书记|院士|主管|领队|责任护士|指挥|裁判|守门员|妻子|丈夫|母亲|父亲|妈妈|爸爸|医生)$"
)
_HAN_ONE = re.compile(
    r"(?:代号|缩写|简称|别名|昵称|外号|本名|全称|"
    r"原名|赞助商|供应商|承办方|主办方|地点|位置|首都|方式|渠道|语言|名字|名称|地址|入口)$"
)
_HAN_UNIQUE = re.compile(
    r"默认|主要|首选|唯一|官方|备用|正式|最[^的]{1,3}的|第一|主[^人张要管任席厨持办](?!题)|首[席要都]|一线|常规|法定|指定|固定"
)
_HAN_SEVERAL = re.compile(
    r"(?:成员|会员|队员|组员|朋友|同事|邻居|爱好|特长|优点|缺点|问题|原因|目的|目标|作用|例子|特点|好处|任务|孩子|儿子|女儿|兄弟|姐妹|哥哥|弟弟|姐姐|妹妹|同学|"
    r"学生|病人|患者|客户|对手|症状|成分|原料|粉丝|用户|志愿者|参与者|贡献者|(?<!责任)护士|老师|副[^的]{1,4}|技能|风险|难点|重点|结果|员工|理由|之一|宠物|嘉宾|演员|评委|要求|意思|优势|步骤)$"
)  # fmt: skip
_TITLES = "老师|医生|学生"
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱"
    "江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐伍颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍艾"
)
_HAN_CALLING = re.compile(rf"(?:[人员]|{_TITLES})$")
_HAN_NAMED = re.compile(rf"[老小]?(?:[{_SURNAMES}]|欧阳|上官|司马|诸葛|皇甫)[^的]{{0,2}}(?:{_TITLES})")
_HAN_PROPERTY = re.compile(r"[的了着过]$|^(?:很|非常|比较|挺|太|最|有|没|可以|能|会|要|被|由|在|从|用|对|按)|进行$")
_OTHER_NAME = re.compile(
    r"^(?:the |our |another |a |an )?(?:codename|nickname|alias|abbreviation|acronym|short form|shorthand|(?:[\w-]+ )?name) (?:of|for) "
    r"|^what (?:we|they|people) call |.+(?:代号|缩写|简称|别名|别称|昵称|外号|绰号|本名|全称|原名|曾用名|英文名|名称|名字|叫法)$"
)
# Of one office the verb and its participle, as they are compared, by the noun.
_OFFICES = (
    "lead leads led leader", "head heads headed", "chair chairs chaired chairman chairwoman chairperson", "manager manages managed manage",
    "owner owns owned own belongs property", "coach coaches coached", "director directs directed", "editor edits edited",
    "captain captains captained", "host hosts hosted", "maintainer maintains maintained", "organiser organises organised",
    "organizer organizes organized", "supervisor supervises supervised", "coordinator coordinates coordinated", "teacher teaches taught",
    "conductor conducts conducted", "moderator moderates moderated", "sponsor sponsors sponsored", "runs run", "charge responsible",
)  # fmt: skip
OFFICE = {normal_word(word): line.split()[0] for line in _OFFICES for word in line.split()}
MODAL = re.compile(r"应该?当?$|目前$|现在$|(?:一直|始终|总是|仍然?|都|被|正|还)$|^目前|^现在")
_DEGREE = re.compile(
    r"^(?:fully|currently|still|always|completely|now|permanently|temporarily|already|actively|back) | (?:again|already|now|today|any ?more)$"
)
# What says of a thing only that it is one, of its sort, or of now.
_PRESENT = frozenset(
    normal_word(word)
    for word in (
        *(
            "current",
            "present",
            "new",
            "newly",
            "any",
            "more",
            "anymore",
            "still",
            "only",
            "sole",
            "exactly",
            "person",
            "post",
        ),
        *"现任职唯一",
    )
) | {"number:1"}


@dataclass(frozen=True)
class Side:
    """What stands on one side of "is"."""

    text: str
    tokens: tuple[Token, ...]
    opens: bool  # the statement, so that a capital says nothing
    more: frozenset[str] = frozenset()  # what the verb says of it: of one who leads it, `lead`

    @cached_property
    def plain(self) -> frozenset[str]:
        """The same without what a verb says of it."""
        return self.said - self.more

    @cached_property
    def said(self) -> frozenset[str]:
        """What it says, to compare it by."""
        told = {norm_of(token) for token in self.tokens if not token.empty and token.kind != "not"} | self.more
        named = {OFFICE.get(norm, norm) for norm in told - _PRESENT}
        beside = {"人"} if "负责" in named else {"on"} if len(named) > 1 else set()
        return frozenset(named - beside)

    @cached_property
    def han(self) -> bool:
        return HAN.search(self.text) is not None

    @cached_property
    def indefinite(self) -> bool:
        return _INDEFINITE.search(self.text) is not None

    @cached_property
    def definite(self) -> bool:
        return (
            _ARTICLE.match(self.text) is not None
            or re.match(r"^\S+(?: \S+){0,2}?(?:['’]s|s['’]) \S", self.text) is not None
        )

    @cached_property
    def core(self) -> str:
        """Without its article and what follows a preposition; of Han characters without what counts."""
        if self.han:
            return _COUNTED.sub("", self.text).rstrip("的")
        text = re.sub(r"^(?:an? )?(?:kind|type|sort|form|piece) of (?:an? )?", "", self.text)
        text = re.sub(r"^(?:an?|the|our|my|your|his|her|its|their|this|that)\s+", "", text)
        found = re.search(rf"{B}(?:of|for|in|on|at|to|with|from|by|during|that|which|who|used|run|made){E}", text)
        return text[: found.start()].strip() if found is not None and found.start() else text

    @cached_property
    def tail(self) -> frozenset[str]:
        """What follows the core, which may say where or for whom it holds."""
        end = self.text.find(self.core) + len(self.core)
        cut = self.tokens[0].at + end if self.tokens else 0
        return frozenset(norm_of(token) for token in self.tokens if token.at >= cut and not token.empty) - {"on"}

    @cached_property
    def kind(self) -> tuple[str | None, frozenset[str]]:
        """The sort or state that it is, so far as that is known, and what follows it."""
        text = _DEGREE.sub("", re.sub(r"^(?:an?|the) ", "", self.text))
        if is_kind(text):
            return text, frozenset()
        return kind_at_end(self.core), self.tail

    @cached_property
    def denied_in_kind(self) -> int:
        """How many negations belong to the name of a known state, as in `not started`."""
        return sum(token.kind == "not" for token in self.tokens) if is_kind(self.text) else 0

    @cached_property
    def preposition(self) -> str:
        found = _PREPOSITION.match(self.text)
        return found.group() if found is not None else ""

    @cached_property
    def named(self) -> bool:
        """Whether it is a name; at the opening of a statement, where every word has a capital, it may be."""
        told = [token for token in self.tokens if not token.empty]
        if not told or len(told) > MOST_OF_NAME or self.indefinite:
            return False
        first = [told[0].named or (self.opens and not self.definite)]
        return all([*first, *(token.named for token in told[1:])])

    @cached_property
    def unique(self) -> bool:
        """Whether it calls itself the main, default or only one of its sort."""
        return (
            _HAN_UNIQUE.search(self.text) is not None
            if self.han
            else _UNIQUE.search(self.text) is not None and " " in self.core
        )

    @cached_property
    def label(self) -> bool:
        """Whether it only heads what follows, of which there may be more: `Skills:`, `Note:`."""
        return _LABEL.search(self.text) is not None

    @cached_property
    def role(self) -> bool:
        """Whether it is what one holds, or is, at a time."""
        return self.person or (self.han and _HAN_ONE.search(self.core) is not None)

    @cached_property
    def person(self) -> bool:
        """Whether it is what one person is to others or for them: their boss, wife or head nurse."""
        return (_HAN_PERSON if self.han else _ROLES).search(self.core) is not None

    @cached_property
    def of_a_thing(self) -> bool:
        """Whether it names a role that a team may have too, and for what: `the owner of the budget`."""
        named = self.tail or len(self.core.split()) > 1
        return bool(named) and _HELD_BY_TEAMS.search(self.core) is not None

    @cached_property
    def calling(self) -> bool:
        """Whether it tells of what calling or from where somebody is, and not who: `数学老师`, but not `林老师`."""
        if not self.han:
            return is_nationality(self.text)
        return _HAN_CALLING.search(self.text) is not None and _HAN_NAMED.fullmatch(self.text) is None

    @cached_property
    def property(self) -> bool:
        """Whether it says how something is, and not which or who it is."""
        if self.han:
            return _HAN_PROPERTY.search(self.text) is not None
        return bool(self.preposition or _ADVERB.match(self.text) or (not self.named and _DOES.match(self.text)))

    @cached_property
    def quality(self) -> bool:
        """Whether it is an adjective, so far as its form or a short list tells."""
        return not self.han and not self.definite and _ADJECTIVE.match(self.core) is not None

    def describes(self, *, left: bool, colon: bool = False) -> bool:
        """Whether there is one at a time of what it describes."""
        if self.indefinite or not self.said:
            return False
        if (
            (_HAN_SEVERAL if self.han else _SEVERAL).search(self.core)
            and (self.han or not self.unique)
            and not (self.role and not self.han)
        ):
            return False
        if _NEVER_ONE.search(self.core):
            return False
        if colon and self.label:
            return False
        if self.role or self.unique or colon:
            return True
        if self.han:
            return left and re.search(r".的[^的]{1,6}$", self.text) is not None
        return self.definite and (left or _ARTICLE.match(self.text) is not None)

    def identifies(self, of: Side, *, colon: bool) -> bool:
        """Whether it tells which one something is: a name, this very thing, or of what is the only one a bare noun. A
        bare word after "the boss is" may as well tell how the boss is."""
        if self.indefinite or self.property or not self.said or (of.person and self.calling):
            return False
        if self.han:
            return len(self.text) <= MOST_OF_HAN
        if self.named or self.definite:
            return True
        sole = of.unique or (of.role and (colon or of.of_a_thing))
        return (sole or self.opens) and len(self.core.split()) <= 3 and not self.quality


def is_other_name(side: Side) -> bool:
    """Whether it tells whose other name something is, as "the code name of the release"."""
    return _OTHER_NAME.match(side.text) is not None
