"""The cue tables: which words, in Chinese and English, announce something worth proposing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.extraction.words import OPENERS_EN, OPENERS_ZH

_ADV = (
    r"(?:(?:just|finally|now|all|already|also|really|strongly|personally|generally|usually|always|much|still|actually|"
    r"definitely|mostly|both|currently|recently|eventually|jointly|collectively|have|do|very|highly) ){0,3}"
)
_WE = r"(?:we|i|我们|咱们|我)"
_USES = r"(?:采用|使用|改用|选用|选择|用|不用|不再|放弃|把|将|换|上|改|迁移|切换|选|走)"
_UNDENIED = r"(?<!不)(?<!没)(?<!没有)(?<!未)(?<!别)(?<!无需)(?<!不要)(?<!不用)(?<!不必)(?<!不需要)(?<!难以)(?<!无法)(?<!不能)"


@dataclass(frozen=True)
class Cue:
    """A pattern over the folded view. An anchored cue counts only where a clause begins."""

    name: str
    kind: str
    pattern: re.Pattern[str]
    anchored: bool
    arg: str


@dataclass(frozen=True)
class Hit:
    """A cue found in a sentence."""

    cue: Cue
    start: int
    end: int
    groups: dict[str, str | None]


def _cue(name: str, kind: str, pattern: str, *, anchored: bool = True, arg: str = "") -> Cue:
    return Cue(name, kind, re.compile(pattern), anchored, arg)


_TAIL_EN = r"(?: (?:that|of (?:this|that)))?(?: (?:this|that|these|the following|for (?:me|later|next time|the future)|please)(?=[\s,.:!-]*(?:$|[:,.-])))?[\s:,-]*"
_TAIL_ZH = r"(?:了|好|哦|啊|呀|吧|下)?(?:(?:这(?:一点|点|个|件事|些|条)?|以下(?:几点|内容|信息)?|一下|如下)(?=[\s:,]*(?:$|[:,])))?[\s:,]*"
_ASK = r"(?:(?:please|pls|kindly|(?:can|could|would|will) you(?: please)?|i(?:'d| would) like you to|i (?:want|need) you to|(?:make|be) sure (?:to|you)|you (?:should|must|need to)|always|do) ){0,2}"

WRAPPERS = (
    _cue("remember", "remember", _ASK + r"(?:remember|memori[sz]e|keep in mind|bear in mind|take note|make a note|note to self|for future reference|add to (?:your |the )?memory|save to (?:your |the )?memory)(?![a-z'])" + _TAIL_EN),
    _cue("note_that", "remember", r"(?:please|pls) note(?![a-z])" + _TAIL_EN),
    _cue("dont_forget", "remember", _ASK + r"(?:don't|do not|never) (?:you )?forget(?![a-z])(?: about)?" + _TAIL_EN, arg="todo"),
    _cue("jizhu", "remember", r"(?:请你?|麻烦你?|烦请|劳烦)?(?:务必|一定)?要?(?:(?:能不能|可以|能|可不可以)?(?:帮我|给我|替我))?(?:务必|一定要?|要)?" + _UNDENIED + r"(?<![我他她们难能])(?:记住|记下来?|记一下|记着|牢记|谨记|切记|记录一下|记录下来|备忘(?=:))(?!了吗|了没|不)" + _TAIL_ZH, anchored=False),
    _cue("jide", "remember", r"(?:请|一定要?|务必|要|到时候?|下次)?" + _UNDENIED + r"(?<![我你他她还也都不没们])记得(?!吗|不|清|很|住|有一次|曾)" + _TAIL_ZH, arg="todo"),
    _cue("biewang", "remember", r"(?:请|可|千万)?(?:别|不要|勿|莫)(?:忘了|忘记|忘)(?!我吧)" + _TAIL_ZH, anchored=False, arg="todo"),
    _cue("from_now_on", "standing", r"(?:please )?(?:(?:from|starting) (?:now|today|here|this point|this moment|tomorrow)(?: on| onwards?| forward)?(?: out)?|going forward|moving forward|henceforth|in (?:the )?future(?=,? (?:please|always|never|use|don't|do not|reply|answer|respond|write)))(?![a-z])[\s:,]*", anchored=False),
    _cue("congxianzai", "standing", r"(?:请)?(?:从现在(?:起|开始)|从今(?:以后|往后|天起|天开始)|从此以后)[\s:,]*", anchored=False),
    _cue("yihou", "standing", r"(?<![天年月周时了之的束完业后日])(?:以后|今后|往后|日后)(?!再说|再聊|再看|再议|可能|也许|会)(?=[^。!?;]{0,14}?(?:都|请|一律|统一|不要|不准|不许|不用|别|必须|务必|一定要|默认|就用|只用|每次|凡是|所有|要用|用|按|就叫|叫我|全部|要|得))[\s:,]*(?:请)?(?:都(?=[^\s]))?", anchored=False),
    _cue("forget_that", "forget", r"(?:please |pls |(?:can|could|would) you (?:please )?|you can |just )?(?:forget|disregard)(?![a-z])(?: (?:that|about|what i said about|everything about|the (?:fact|rule|preference|note|memory) (?:that|about)))?[\s:,]*"),
    _cue("delete_memory", "forget", r"(?:please )?(?:delete|remove|erase|drop) (?:the|your|any|that) (?:memory|memories|note|fact) (?:that|about|of|saying)[\s:,]*"),
    _cue("wangdiao", "forget", r"(?:请|帮我|麻烦)?(?:把)?(?<![别没会想我他她差点])(?<!不要)(?<!不会)(?:忘掉|忘记|忘了)(?!吗)(?:关于|之前说的|我说的|刚才说的|我之前说的)?[\s:,]*"),
    _cue("shanjiyi", "forget", r"(?:请|帮我)?(?:删掉|删除|清除|撤回|作废)(?:关于|那条|这条)(?=.{1,60}(?:记忆|记录|信息|说法|内容))[\s:,]*"),
    _cue("ba_wangdiao", "forget", r"(?:请)?把(?=[^,。]{1,40}(?:忘掉|忘了|忘记))", anchored=False),
    _cue("thats_wrong", "wrong", r"(?:no,? |sorry,? |wait,? )?(?:that(?:'s| is| was)|this is|you're|you are|you were) (?:wrong|incorrect|not (?:right|correct|true|accurate)|mistaken|inaccurate|outdated|no longer (?:true|correct|right))(?: about (?:that|this|it))?(?![a-z])[\s:,.-]*"),
    _cue("i_was_wrong", "wrong", r"(?:i (?:was wrong|misspoke|made a mistake)|correction|scratch that|i take that back)(?![a-z])[\s:,.-]*"),
    _cue("budui", "wrong", r"(?:这|那|这个|那个|哦|啊|等等)?,?(?:不对|不是的|错了|说错了|你?记错了|你?搞错了|不正确|我说错了|我记错了|更正(?:一下)?|纠正一下|有误)(?![劲称吗])[\s:,]*"),
)

_CLAIMS = (
    _cue("we_decided", "decide", r"(?:we|the team|our team|everyone|my team)(?:'ve| have| had)? ?" + _ADV + r"(?:decided|agreed|chosen|chose|opted|settled)(?! (?:if|whether|how|what|nothing|yet|which|to disagree))(?![a-z])(?: (?:that|on|upon|for))?[\s:,]*"),
    _cue("i_decided", "decide", r"i(?:'ve| have)? " + _ADV + r"(?:decided|chosen) (?:on |that )?(?=to (?:use|go with|adopt|switch|move|migrate|stick|keep|drop|stop|not)|against|that|we|the)"),
    _cue("it_was_decided", "decide", r"it(?:'s| is| was|'s been| has been) (?:been )?(?:decided|agreed|settled)(?! (?:if|whether|yet))(?: that| to| on)?[\s:,]*"),
    _cue("decision_is", "decide", r"(?:(?:the|our) )?(?:final )?decision(?: is(?: to| that)?|:)[\s:,]*"),
    _cue("go_with", "decide", r"(?:let's|lets|let us|we(?:'ll| will)|we(?:'re| are)(?: now)? going|i(?:'ll| will)|i(?:'m| am) going)(?: just| all| simply| definitely)? (?:go with|going with|with|stick with|stick to|settle on|use|to use|adopt|to go with)(?![a-z])\s*"),
    _cue("juedingyong_we", "decide", r"(?:我们|咱们|团队|大家|公司|项目组|组里|部门|双方)[^,。;?!我]{0,10}?" + _UNDENIED + r"(?<![否再该法么的能])(?:决定|商定|敲定|选定|约定|说好|定下来|达成一致)(?:了|好)?(?!权|性|因素|什么|吗|不了|是否|要不要)[\s:,]*", anchored=False),
    _cue("wojueding", "decide", r"我(?:已经|最终|最后|还是|现在)?决定(?:了)?[\s:,]*(?=" + _USES + ")"),
    _cue("jueding", "decide", r"(?:最终|最后|经讨论|讨论后|现在|已经?|正式|一致|会上)?,?决定(?:了)?[\s:,]*(?=" + _USES + ")"),
    _cue("juedingshi", "decide", r"(?:我们的|最终|最后的|最终的)?(?:决定|结论)(?:是|:|为)[\s:,]*"),
    _cue("jiuyong", "decide", r"(?:那么?|那?我们|咱们|还是)?就(?=(?:用|选|采用|定)(?!了|到)[^,。?!]{1,40}(?:吧|了|好了|做|作为|$|,))"),
    _cue("prefer", "prefer", r"(?:we|i|我们|我)(?:'d| would)? ?" + _ADV + r"(?:prefer|favou?r)(?: to)?(?! not to (?:say|answer|talk|discuss|go))(?![a-z])[\s:,]*"),
    _cue("preference_is", "prefer", r"my preference(?: is(?: for| to)?|:)[\s:,]*"),
    _cue("favourite", "prefer", r"my (?:all-time )?favou?rite (?P<topic>[a-z][a-z -]{0,30}?) (?:is|are)(?: now| actually)?(?![a-z'])\s*"),
    _cue("rather", "prefer", r"i(?:'d| would)(?: much)? rather (?=[^.]{1,80} than )"),
    _cue("like_better", "prefer", r"(?:i|we) (?:really )?(?:like|love) (?=[^.]{1,60} (?:better|more|rather) than )"),
    _cue("like", "like", r"(?:i|we) (?:really |generally |usually |always )?(?:like|love|enjoy) (?:it when you |when you |you to |your )?"),
    _cue("dislike", "dislike", r"(?:i|we) (?:really )?(?:don't like|do not like|dislike|hate|can't stand) (?:it when you |when you |your )?"),
    _cue("gengxihuan", "prefer", r"(?:i|我们?)\s?(?:个人|平时|平常|一般|通常|还是|现在|一直|其实|一向|都|会){0,3}\s?(?:更喜欢|更偏好|偏好|偏爱|更偏向于?|更倾向于?|倾向于|更愿意|更习惯|习惯(?=用|使用|在)|比较喜欢|最喜欢|更爱|宁愿|宁可)(?:的?(?P<topic>[^,。是]{1,10})是)?[\s:,]*", anchored=False),
    _cue("pianhaoshi", "prefer", r"我的偏好(?:是|:)[\s:,]*", anchored=False),
    _cue("xihuan", "like", r"我们?(?:一直|平时|很|非常|挺|特别|比较|都|更)?喜欢\s*"),
    _cue("buxihuan", "dislike", r"我们?(?:一直|平时|很|非常|特别|真的|都|最)?(?:不喜欢|讨厌|不爱)\s*"),
    _cue("goal_is", "goal", r"(?:my|our) (?:[a-z-]+ ){0,2}(?:goal|objective|aim)(?: (?:this|for|of|in) [a-z0-9 ]{1,30}?)? (?:is|has always been)(?: now)?(?: to)?(?![a-z])[\s:,]*"),
    _cue("goal_label", "goal", r"(?:goal|objective|目标) ?:\s*"),
    _cue("mubiaoshi", "goal", r"我们?的?(?:[^,。的]{0,8}的?)目标(?:是|就是|为|:)[\s:,]*", anchored=False),
    _cue("mubiaoshi_bare", "goal", r"(?:长期|最终|今年的?|本季度的?|项目的?|这个项目的?|主要|近期)?目标(?:是|就是)[\s:,]*"),
    _cue("todo", "task", r"(?:to-?do|action item|task|next step|待办(?:事项)?|任务|要做的事(?:情)?|下一步)(?:\s?:\s*|\s-+\s|是\s?|(?<=to-do)\s(?=[a-z])|(?<=todo)\s(?=[a-z\u4e00-\u9fff]))"),
    _cue("checkbox", "task", r"(?:[-*+] )?\[ \] "),
    _cue("remind_me", "task", r"(?:please |(?:can|could|would|will) you (?:please )?)?remind (?:me|us) (?:to|that i (?:need|have) to) ", arg="explicit"),
    _cue("tixingwo", "task", r"(?:请|记得|麻烦|到时候?|明天|下周)?提醒(?:我们?|一下我)(?:要)?(?=[^吗]{2,})\s*", arg="explicit"),
    _cue("need_to", "task", r"(?:we|i)(?:'ve)? (?:(?:still|also|really|just|now|urgently|first|then) ){0,2}(?:need to|have to|got to|gotta|must|ought to)(?: (?:also|still|first|now|then))?(?![a-z])\s*"),
    _cue("needs_to_be", "task", r"(?=the [a-z -]{2,50} (?:still )?needs? to be [a-z]+(?:ed|en|t|ne))"),
    _cue("xuyao", "task", r"(?:我们?|咱们|接下来|下一步|还|明天|今天|下周|本周|这周|后面|下个月){1,3}(?:,)?(?:还)?(?:需要|必须|得(?=在|把|先|去))(?!你|您|吗|不)\s*"),
    _cue("xuyao_bare", "task", r"(?:还)?需要(?!你|您|吗|不)(?=[^,。?!]{3,}$|[^,。?!]{3,},)"),
)

PROFILE = tuple(
    _cue(name, "profile", pattern, arg=key)
    for name, key, pattern in (
        ("my_name", "name", r"my (?:full |first |last |real )?name(?:'s| is)(?! not)\s*"),
        ("call_me", "name", r"(?:you can |please |just )?call me (?!back|later|when|if|crazy|at|on|tomorrow|asap|maybe|a )"),
        ("i_am_called", "name", r"i(?:'m| am) called "),
        ("work_at", "employer", r"i (?:currently |now |also )?work (?:at|for) (?!home|night|hours|a while|now|it|this|that|me|my (?:desk|own|kids)|you|free|the day|\d)"),
        ("work_as", "role", r"i (?:currently |now |also )?work as "),
        ("i_am_a", "role", r"i(?:'m| am) (?:currently |now |also )?(?=(?:an?|the) )"),
        ("attribute", "", r"my (?P<k>birthday|e-?mail(?: address)?|time ?zone|company|employer|hometown|nickname|pronouns|native language|phone(?: number)?|address|job title|job|role|profession|occupation|team|age|title) (?:is|are)(?! (?:not|due|late|being|full|so|very|really|broken|getting|killing|great|hard|tomorrow))(?: now)?\s*"),
        ("live_in", "location", r"i(?:'m| am)? (?:currently |now )?(?:live|living|based|located) in (?!fear|a (?:world|dream|bubble)|the (?:moment|past))"),
        ("moved_to", "location", r"i(?:'ve| have)? (?:just |recently )?(?:moved|relocated) to (?!the next|bed|a new (?:tab|chapter))"),
        ("from", "location", r"i(?:'m| am) (?:originally )?from (?!the future|scratch)"),
        ("allergic", "allergy", r"i(?:'m| am) (?:severely |highly |also )?allergic to (?!mondays|meetings|work)"),
        ("wojiao", "name", r"我(?:的名字)?(?:叫做|叫|名叫)(?!你|他|她|它|了|过|人|来|外卖|车|不|错|什么|做|醒|住|停|大家|您|啥|苦|滴|个)\s*"),
        ("jiaowo", "name", r"(?:请|可以|就|你可以|大家都)?(?:叫|称呼)我(?!们|怎么|去|来|起|吃|说|做|如何|别|不|在|把|帮)\s*"),
        ("mingzishi", "name", r"我的(?:名字|姓名|大名|英文名|中文名)(?:是|叫)(?!什么|啥)\s*"),
        ("zaigongzuo", "employer", r"我(?:现在|目前|一直)?(?:就职于|任职于|供职于|受雇于)\s*"),
        ("zai_gongzuo", "employer", r"我(?:现在|目前|一直|正)?在(?=[^,。;?!在]{2,30}?(?:工作|上班|任职|就职|实习))(?!努力|认真|忙|外面|家|加班|线|拼命|好好|继续|快|准备|开始|专心)\s*"),
        ("woshiyiming", "role", r"我(?:现在|目前)?是(?:一名|一个|一位|名|位|个)\s*"),
        ("woshi_role", "role", r"我(?:现在|目前)?(?:是|当|担任|从事)(?=[^,。;?!是]{1,16}(?:$|[,。;!]))(?!说|想|不是|在|真|很|觉得|认真|不|来|去|谁|否)\s*"),
        ("zhiyeshi", "", r"我的(?P<k>职业|工作|职位|岗位|生日|邮箱|电子邮箱|时区|公司|家乡|母语|年龄|昵称|部门|团队|手机号|地址)(?:是|在)(?!不|什么|谁|哪|很)\s*"),
        ("wozhuzai", "location", r"我(?:现在|目前|家)?(?:住在|定居在|居住在|常驻)\s*"),
        ("wolaizi", "location", r"我(?:来自|是从)\s*"),
        ("guomin", "allergy", r"我对(?=[^,。;?!]{1,20}过敏)"),
    )
)

STATUS = (
    _cue("done_with", "done", r"(?:(?:i(?:'m| am)|we(?:'re| are)) )?(?:all |finally |now |already )?(?:done|finished|through) with ", arg="after"),
    _cue("finished", "done", r"(?:i|we)(?:'ve| have)? (?:(?:just|already|finally|successfully|now) ){0,2}(?:finished|completed|wrapped up|done with) ", arg="after"),
    _cue("shipped", "done", r"(?:i|we)(?:'ve| have)? (?:(?:just|already|finally|successfully|now) ){0,2}(?:fixed|shipped|merged|closed|delivered|deployed|implemented|submitted|sent|written|wrote|done) ", arg="after?"),
    _cue("just_finished", "done", r"(?:just |finally )?(?:finished|completed|wrapped up) (?=(?:the|my|our|a|writing|fixing|[a-z]+ing) )", arg="after"),
    _cue("checked", "done", r"(?:[-*+] )?\[x\] ", arg="after?"),
    _cue("is_done", "done", r"(?:(?: is| are| has been| have been|'s)(?: (?:now|already|finally|all|fully|100%|officially|also)){0,2}| now|:) ?(?:done|finished|complete|completed|wrapped up|merged and deployed)(?![a-z-])(?! (?:by (?:friday|monday|tomorrow|next)|with|right|wrong|for))", anchored=False, arg="before"),
    _cue("blocked_on", "blocked", r"(?:(?:i(?:'m| am)|we(?:'re| are)) )?(?:still |now |currently |completely |totally )?(?:blocked|stuck) (?:on|by|with|waiting (?:for|on)) ", arg="after"),
    _cue("is_blocked", "blocked", r"(?: is| are|'s| got)(?: (?:now|still|currently|completely|being)){0,2} (?:blocked|stuck|on hold)(?![a-z])", anchored=False, arg="before"),
    _cue("yiwancheng", "done", r"(?:我们?)?(?:已经?|终于|刚刚?|都){0,2}(?<!未)(?<!没)(?<!没有)(?:完成|做完|搞定|写完|弄完|办完)(?:了)?(?!之后|以后|后|之前|前|的话|的时候|时|度|率|后再|吗)(?=[^,。;!?\s吗]{2,})[\s:]*", arg="after"),
    _cue("zuowanle", "done", r"(?:已经?|都|也|终于|刚刚?|全部|总算|现在|:){0,3}(?<![未没不快])(?<!没有)(?<!马上)(?<!即将)(?<!差不多)(?:完成|做完|搞定|弄好|写完|弄完|办完|做好|上线|完工)(?:了)?(?!之后|以后|后|之前|前|的话|的时候|时|度|率|吗)(?=[\s,。;!]|$)", anchored=False, arg="before"),
    _cue("bei_zuse", "blocked", r"(?:现在|目前|还是|又|已经)?被(?P<why>[^,。;!?]{1,40}?)(?:给)?(?:阻塞|卡住|挡住|卡着|耽搁|拖住|block)(?:住|了|ed)*", anchored=False, arg="before"),
    _cue("kazai", "blocked", r"(?:我们?)?(?:现在|目前|还是|又|一直)?(?:卡在|阻塞在|困在)(?:了)?(?!路上|门|车)", anchored=False, arg="both"),
    _cue("kazhule", "blocked", r"(?:现在|目前|还是|又|已经|一直)?(?<!被)(?:卡住了?|阻塞了?|受阻|停滞了?|搁置了?)(?!吗)", anchored=False, arg="before"),
)

CORRECTIONS = (
    _cue("no_longer", "no_longer", r"(?: (?:is|are|do|does))? no longer(?![a-z]) ?", anchored=False),
    _cue("not_anymore", "anymore", r"(?:i|we) (?:don't|do not|am not|'m not|are not|aren't) (?=[^.,]{1,80} any ?more(?![a-z]))"),
    _cue("buzai", "no_longer", r"(?<!决定)(?<!要)(?<!就)(?:已经)?不再(?:是)?(?!说|看|见)\s*", anchored=False),
    _cue("not_but", "not_but", r"(?: is| are|'s|it's|that's)? ?(?:isn't|aren't|not) (?=[^,.;]{1,60}?,? ?(?:but|it's|rather,?|it is|they're) [^,.;]{1,80})", anchored=False),
    _cue("bushi_ershi", "not_but", r"不是(?=[^,。;]{1,30}?,?(?:而是|是)[^,。;]{1,60})(?!我|不|说|吗)", anchored=False),
    _cue("actually_it", "correct", r"(?:no,? |sorry,? |wait,? |oh,? )?(?:actually,? (?:it(?:'s| is| should be)|that(?:'s| is|'s))|it(?:'s| is) actually|it should(?: actually)? be|it should have been|i meant(?: to say)?|i mean)(?![a-z]) ?"),
    _cue("actually", "correct_full", r"(?:no,? |sorry,? |wait,? )?actually[, ]+(?=(?:the|our|my) [^,.]{1,60} (?:is|are) )"),
    _cue("is_actually", "correct_mid", r" (?:is|are) (?:actually|really|in fact) ", anchored=False),
    _cue("yinggaishi", "correct", r"(?:其实|实际上|事实上|正确的)?(?:应该|应当|应)(?:是|为|叫)\s*"),
    _cue("qishishi", "correct", r"(?:其实|实际上|事实上|准确(?:地)?说)(?:应该)?是\s*"),
    _cue("qishi_mid", "correct_mid", r"(?:其实|实际上|事实上)(?:应该)?是\s*", anchored=False),
)

STANDING_IMPERATIVE = _cue(
    "always", "standing", r"(?=(?:please )?(?:always|never) (?:use|reply|answer|respond|write|run|include|add|call|put|ask|check|keep|format|commit|push|send|explain|show|give|speak|start|end|deploy|merge|squash|rebase)(?![a-z]))", arg="soft"
)

# Not in the table: credited with the right value that a sentence after "that's wrong" gives.
AFTER_DENIAL = _cue("after_denial", "wrong", r"(?!)")

TABLE: tuple[Cue, ...] = (*WRAPPERS, *_CLAIMS, *PROFILE, *STATUS, *CORRECTIONS, STANDING_IMPERATIVE)
WRAPPING = frozenset({"remember", "standing", "forget", "wrong"})
# Kinds whose cue may stand in the middle of a clause; inside the words of a claim they are part of what is claimed.
_MID = frozenset({"done", "blocked", "no_longer", "not_but", "correct_mid"})
_CLAIMING = frozenset({"decide", "prefer", "like", "dislike", "goal", "task", "profile"})
_NEW_CLAUSE = re.compile(r"[,;:]|\s(?:and|but|so) |但|并且|而且|所以")

_LAST_WORD = re.compile(r"([a-z']+)\s*$")


def find(view: str, start: int, end: int) -> list[Hit]:
    """The cues of a sentence, in order and not overlapping; where two begin together the table's order decides."""
    sentence = view[start:end]
    opened: set[int] = set()
    found: list[tuple[int, int, Hit]] = []
    for rank, cue in enumerate(TABLE):
        for match in cue.pattern.finditer(sentence):
            if match.start() in opened or _placed(sentence, match, cue):
                if cue.kind in WRAPPING:
                    opened.add(match.end())
                hit = Hit(cue, start + match.start(), start + match.end(), match.groupdict())
                found.append((match.start(), rank, hit))
    found.sort(key=lambda entry: entry[:2])
    hits: list[Hit] = []
    for _, _, hit in found:
        if not hits or hit.start >= hits[-1].end and (hit.start > hits[-1].start or hits[-1].cue.kind in WRAPPING):
            hits.append(hit)
    return _prune(view, hits)


def _prune(view: str, hits: list[Hit]) -> list[Hit]:
    kept: list[Hit] = []
    for hit in hits:
        last = kept[-1] if kept else None
        inside = last is not None and last.cue.kind in _CLAIMING and not _NEW_CLAUSE.search(view, last.end, hit.start)
        if not (inside and hit.cue.kind in _MID and not hit.cue.anchored):
            kept.append(hit)
    return kept


def _placed(sentence: str, match: re.Match[str], cue: Cue) -> bool:
    """Whether a cue stands where it can speak: not inside a word, and where a clause begins if it must."""
    before = sentence[max(0, match.start() - 40) : match.start()]
    if before and before[-1].isascii() and before[-1].isalnum() and sentence[match.start() : match.start() + 1].isalpha() \
            and sentence[match.start()].isascii():
        return False
    if not cue.anchored:
        return True
    before = before.rstrip(" \t\x1a")
    if not before or before[-1] in ",:()[]-、*•&/>—~!.'\"”」":
        return True
    word = _LAST_WORD.search(before)
    if word:
        return word.group(1) in OPENERS_EN
    return bool(OPENERS_ZH.search(before))
