"""The cue table of claims: decisions, preferences, goals, tasks and profile, in Chinese and English."""

from __future__ import annotations

from memory.extraction.cue import UNDENIED, cue

_ADV = (
    r"(?:(?:just|finally|now|all|already|also|really|strongly|personally|generally|usually|always|much|still|actually|"
    r"definitely|mostly|both|currently|recently|eventually|jointly|collectively|have|do|very|highly) ){0,3}"
)
_WE = r"(?:we|i|我们|咱们|我)"
_USES = r"(?:采用|使用|改用|选用|选择|用|不用|不再|放弃|把|将|换|上|改|迁移|切换|选|走|先|不上|不做|不改|不支持|推迟|延期|砍掉|取消)"

CLAIMS = (
    cue(
        "we_decided",
        "decide",
        r"(?:we|the team|our team|everyone|my team|我们|咱们|团队)(?:'ve| have| had)? ?"
        + _ADV
        + r"(?:decided|agreed|chosen|chose|opted|settled)(?! (?:if|whether|how|what|nothing|yet|which|to disagree|that (?:it's|it is|you|he|she|they)(?![a-z])))(?![a-z])(?: (?:that|on|upon|for))?[\s:,]*",
    ),
    cue(
        "i_decided",
        "decide",
        r"i(?:'ve| have)? "
        + _ADV
        + r"(?:decided|chosen) (?:on |that )?(?=to (?:use|go with|adopt|switch|move|migrate|stick|keep|drop|stop|not)|against|that|we|the)",
    ),
    cue(
        "it_was_decided",
        "decide",
        r"it(?:'s| is| was|'s been| has been) (?:been )?(?:decided|agreed|settled)(?! (?:if|whether|yet))(?: that| to| on)?[\s:,]*",
    ),
    cue("decision_is", "decide", r"(?:(?:the|our) )?(?:final )?decision(?: is(?: to| that)?|:)[\s:,]*"),
    cue(
        "go_with",
        "decide",
        r"(?:let's|lets|let us|we(?:'ll| will)|we(?:'re| are)(?: now)? going|i(?:'ll| will)|i(?:'m| am) going)(?: just| all| simply| definitely)? (?:go with|going with|with|stick with|stick to|settle on|use|to use|adopt|to go with)(?![a-z])\s*",
    ),
    cue(
        "juedingyong_we",
        "decide",
        r"(?:我们|咱们|团队|大家|公司|项目组|组里|部门|双方)[^,。;?!我]{0,10}?"
        + UNDENIED
        + r"(?<![否再该法么的能])(?:决定|商定|敲定|选定|约定|说好|商量好|谈妥|谈好|拍板|定下来|达成一致|定(?=了[,:])|确定(?=了?(?:用|采用|放弃|弃用|不用|选|走|上|不再)))(?:了|好)?(?!权|性|因素|什么|吗|不了|是否|要不要)[\s:,]*",
        anchored=False,
    ),
    cue("wojueding", "decide", r"我(?:已经|最终|最后|还是|现在)?决定(?:了)?[\s:,]*(?=" + _USES + ")"),
    cue(
        "jueding",
        "decide",
        r"(?:最终|最后|经讨论|讨论后|现在|已经?|正式|一致|会上)?,?决定(?:了)?[\s:,]*(?=" + _USES + ")",
    ),
    cue("juedingshi", "decide", r"(?:我们的|最终|最后的|最终的)?(?:决定|结论)(?:是|:|为)[\s:,]*"),
    cue(
        "jiuyong",
        "decide",
        r"(?:那么?)?(?:我们|咱们?|还是)?就(?=(?:用|选|采用|定)(?!了|到|这|那|它|你)[^,。?!]{1,40}(?:吧|了|好了|做|作为|$|,))",
    ),
    cue(
        "prefer",
        "prefer",
        r"(?:we|i|我们|我)(?:'d| would)? ?"
        + _ADV
        + r"(?:prefer|favou?r)(?: to)?(?! not to (?:say|answer|talk|discuss|go))(?![a-z])[\s:,]*",
    ),
    cue("preference_is", "prefer", r"my preference(?: is(?: for| to)?|:)[\s:,]*"),
    cue(
        "favourite",
        "prefer",
        r"my (?:all-time )?(?:favou?rite|preferred|go-to) (?P<topic>[a-z][a-z -]{0,30}?) (?:is|are)(?: now| actually)?(?![a-z'])\s*",
    ),
    cue("rather", "prefer", r"i(?:'d| would)(?: much)? rather (?=[^.]{1,80} than )"),
    cue(
        "like_better",
        "prefer",
        r"(?:i|we) (?:really |much )?(?:like|love) (?=[^.]{1,60} (?:better|more|rather) than )",
    ),
    cue(
        "like",
        "like",
        r"(?:i|we) (?:really |generally |usually |always )?(?:like|love|enjoy) (?:it when you |when you |you to |your )?",
    ),
    cue(
        "dislike",
        "dislike",
        r"(?:i|we) (?:really )?(?:don't like|do not like|dislike|hate|can't stand) (?:it when you |when you |your )?",
    ),
    cue(
        "gengxihuan",
        "prefer",
        r"(?:i|我们?|本人|个人|俺|咱)\s?(?:个人|这边|平时|平常|一般|通常|还是|现在|一直|其实|一向|都|会){0,3}\s?(?:更喜欢|更偏好|偏好|偏爱|更偏向于?|偏向于|更倾向于?|倾向于|更愿意|更习惯|习惯(?=用|使用|在|先|早上|晚上|上午|下午|把|按|每)|比较喜欢|最喜欢|更爱|宁愿|宁可)(?:的(?P<topic>[^,。是不]{1,10})是)?[\s:,]*",
        anchored=False,
    ),
    cue("pianhaoshi", "prefer", r"我的偏好(?:是|:)[\s:,]*", anchored=False),
    cue(
        "xihuan",
        "like",
        r"(?:我们?|本人)(?:个人|一直|平时|很|非常|挺|特别|比较|都|更|还是|其实|真的|现在|蛮){0,2}喜欢\s*",
    ),
    cue(
        "buxihuan",
        "dislike",
        r"我们?(?:一直|平时|很|非常|特别|真的|都|最|其实|个人){0,2}(?:不喜欢|不太喜欢|不怎么喜欢|讨厌|不爱|受不了)\s*",
    ),
    cue(
        "goal_is",
        "goal",
        r"(?:my|our) (?:[a-z-]+ ){0,2}(?:goal|objective|aim)(?: (?:this|for|of|in) [a-z0-9 ]{1,30}?)? (?:is|has always been)(?: now)?(?: to)?(?![a-z])[\s:,]*",
    ),
    cue("goal_label", "goal", r"(?:goal|objective|目标) ?:\s*"),
    cue("mubiaoshi", "goal", r"我们?的?(?:[^,。的]{0,8}的?)(?:目标|愿景|使命)(?:是|就是|为|:)[\s:,]*", anchored=False),
    cue(
        "mubiaoshi_bare",
        "goal",
        r"(?:长期|最终|今年的?|本季度的?|项目的?|这个项目的?|主要|近期)?目标(?:是|就是)[\s:,]*",
    ),
    cue(
        "todo",
        "task",
        r"(?:to-?do|action item|task|next step|待办(?:事项)?|任务|要做的事(?:情)?|下一步)(?:\s?:\s*|\s-+\s|是\s?|(?<=to-do)\s(?=[a-z])|(?<=todo)\s(?=[a-z\u4e00-\u9fff]))",
    ),
    cue("checkbox", "task", r"(?:[-*+] )?\[ \] "),
    cue(
        "remind_me",
        "task",
        r"(?:please |(?:can|could|would|will) you (?:please )?)?remind (?:me|us) (?:to|that i (?:need|have) to) ",
        arg="explicit",
    ),
    cue(
        "tixingwo",
        "task",
        r"(?:请|记得|麻烦|到时候?|明天|下周)?提醒(?:我们?(?:一下)?|一下我)(?:要)?(?=[^吗]{2,})\s*",
        arg="explicit",
    ),
    cue(
        "need_to",
        "task",
        r"(?:we|i)(?:'ve)? (?:(?:still|also|really|just|now|urgently|first|then) ){0,2}(?:need to|have to|got to|gotta|must(?! not)|ought to)(?: (?:also|still|first|now|then))?(?![a-z])\s*",
    ),
    cue("need_bare", "task", r"(?:still |just )?need to (?=[a-z]{3})"),
    cue("needs_to_be", "task", r"(?=the [a-z -]{2,50} (?:still )?needs? to be [a-z]+(?:ed|en|t|ne))"),
    cue(
        "xuyao",
        "task",
        r"(?:我们?|咱们|接下来|下一步|还|明天|今天|下周|本周|这周|后面|下个月){1,3}(?:,)?(?:还)?(?:需要|必须|得(?=在|把|先|去))(?!你|您|吗|不)\s*",
    ),
    cue(
        "jiexialai_yao",
        "task",
        r"(?:接下来|下一步|明天|后天|下周[一二三四五六日]?|本周|这周|下个月)(?:我们?|咱们|,|还){0,2}要(?!是|不)\s*",
    ),
    cue("xuyao_bare", "task", r"(?:还)?需要(?!你|您|吗|不)(?=[^,。?!]{3,}$|[^,。?!]{3,},)"),
)

PROFILE = tuple(
    cue(name, "profile", pattern, arg=key)
    for name, key, pattern in (
        ("my_name", "name", r"my (?:full |first |last |real )?name(?:'s| is)(?! not| on | in | at | too | so )\s*"),
        (
            "call_me",
            "name",
            r"(?:you can |please |just )?call me (?!back|later|when|if|crazy|at|on|tomorrow|asap|maybe|a )",
        ),
        ("i_am_called", "name", r"i(?:'m| am) called "),
        (
            "work_at",
            "employer",
            r"i (?:currently |now |also )?work (?:at|for) (?!home|night|hours|a while|now|it|this|that|me|my (?:desk|own|kids)|you|free|the day|\d)",
        ),
        ("work_as", "role", r"i (?:currently |now |also )?work as "),
        ("i_am_a", "role", r"i(?:'m| am) (?:currently |now |also )?(?=(?:an?|the) )"),
        (
            "attribute",
            "",
            r"my (?P<k>birthday|e-?mail(?: address)?|time ?zone|company|employer|hometown|nickname|pronouns|native language|phone(?: number)?|address|job title|job|role|profession|occupation|team|age|title)(?: is| are|'s)(?: on(?= [a-z]+ \d))?(?! (?:not|due|late|being|full|so|very|really|broken|getting|killing|great|hard|tomorrow))(?: now)?\s*",
        ),
        (
            "live_in",
            "location",
            r"i(?:'m| am)? (?:currently |now )?(?:live|living|based|located) in (?!fear|a (?:world|dream|bubble)|the (?:moment|past))",
        ),
        (
            "moved_to",
            "location",
            r"i(?:'ve| have)? (?:just |recently )?(?:moved|relocated) to (?!the next|bed|a new (?:tab|chapter))",
        ),
        ("from", "location", r"i(?:'m| am) (?:originally )?from (?!the future|scratch)"),
        ("allergic", "allergy", r"i(?:'m| am) (?:severely |highly |also )?allergic to (?!mondays|meetings|work)"),
        (
            "wojiao",
            "name",
            r"我(?:的名字)?(?:叫做|叫|名叫)(?!你|他|她|它|了|过|人|来|外卖|车|不|错|什么|做|醒|住|停|大家|您|啥|苦|滴|个)\s*",
        ),
        (
            "jiaowo",
            "name",
            r"(?:请|可以|就|你可以|大家都)?(?:叫|称呼)我(?!们|怎么|去|来|起|吃|说|做|如何|别|不|在|把|帮)\s*",
        ),
        ("mingzishi", "name", r"我的(?:名字|姓名|大名|英文名|中文名)(?:是|叫)(?!什么|啥)\s*"),
        ("zaigongzuo", "employer", r"(?:我|本人)(?:现在|目前|一直)?(?:就职于|任职于|供职于|受雇于)\s*"),
        (
            "zai_gongzuo",
            "employer",
            r"我(?:现在|目前|一直|正)?在(?=[^,。;?!在]{2,30}?(?:工作|上班|任职|就职|实习))(?!努力|认真|忙|外面|家|加班|线|拼命|好好|继续|快|准备|开始|专心)\s*",
        ),
        (
            "zai_dangrole",
            "employer",
            r"我(?:现在|目前|一直)?在(?=[^,。;?!在]{2,30}?(?:做|当|担任)[^,。;?!]{2,16}(?:$|[,。;!]))\s*",
        ),
        ("woshiyiming", "role", r"我(?:现在|目前)?是(?:一名|一个|一位|名|位|个)\s*"),
        (
            "woshi_role",
            "role",
            r"我(?:现在|目前)?(?:是|当|担任|从事)(?=[^,。;?!是]{1,16}(?:$|[,。;!]))(?!说|想|不是|在|真|很|觉得|认真|不|来|去|谁|否)\s*",
        ),
        (
            "zhiyeshi",
            "",
            r"我的(?P<k>职业|工作|职位|岗位|生日|邮箱|电子邮箱|时区|公司|家乡|母语|年龄|昵称|部门|团队|手机号|地址)(?:是|在)(?!不|什么|谁|哪|很)\s*",
        ),
        ("wozhuzai", "location", r"我(?:现在|目前|家)?(?:住在|定居在|居住在|常驻)\s*"),
        ("wolaizi", "location", r"我(?:来自|是从)\s*"),
        ("guomin", "allergy", r"我对(?=[^,。;?!]{1,20}过敏)"),
    )
)
