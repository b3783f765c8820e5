"""The cue table of orders and changes: remember, from now on, forget, that is wrong, done, blocked, no longer."""

from __future__ import annotations

from memory.extraction.cue import UNDENIED, cue

_TAIL_EN = r"(?: (?:that|of (?:this|that)))?(?: (?:this|that|it|these|the following|for (?:me|later|next time|the future)|please)(?=[\s,.:!-]*(?:$|[:,.-])))?[\s:,-]*"
_TAIL_ZH = r"(?:了|好|哦|啊|呀|吧|哈|啦|噢|喔|呗|嘛|～|下(?![周个次一午月半班礼星]|载|单|线)){0,2}(?:(?:这(?:几[点条件个](?:事情?)?|一点|点|个|件事|些|条)?|以下(?:几点|内容|信息)?|一下|如下)(?=[\s:,]*(?:$|[:,])))?[\s:,]*"
_ASK = r"(?:(?:please|pls|kindly|(?:can|could|would|will) you(?: please)?|i(?:'d| would) like you to|i (?:want|need) you to|(?:make|be) sure (?:to|you)|you (?:should|must|need to)|always|do) ){0,2}"

WRAPPERS = (
    cue(
        "remember",
        "remember",
        _ASK
        + r"(?:remember|memori[sz]e|keep in mind|bear in mind|take note|make a note|note to self|for future reference|add to (?:your |the )?memory|save to (?:your |the )?memory)(?![a-z'])"
        + _TAIL_EN,
    ),
    cue("note_that", "remember", r"(?:please|pls) note(?![a-z])" + _TAIL_EN),
    cue(
        "dont_forget",
        "remember",
        _ASK + r"(?:don't|do not|never) (?:you |let me |let us )?forget(?![a-z])(?: about)?" + _TAIL_EN,
        arg="todo",
    ),
    cue(
        "jizhu",
        "remember",
        r"(?:请你?|麻烦你?|烦请|劳烦)?(?:务必|一定)?要?(?:(?:能不能|可以|能|可不可以)?(?:帮我|给我|替我))?(?:务必|一定要?|要)?"
        + UNDENIED
        + r"(?<!没必要)(?<!不必要)(?<!人要)(?<!人)(?<!都会)(?<!一个)(?:(?<=帮我)|(?<=给我)|(?<=替我)|(?<![我他她们难能]))(?:记住|记下来?|记一下|记着|牢记|谨记|切记|记录一下|记录下来|备忘(?:一下|(?=:))|记好(?=了?[,:\s]))(?!了吗|了没|来的|的东西|的内容)"
        + _TAIL_ZH,
        anchored=False,
    ),
    cue(
        "jide",
        "remember",
        r"(?:你(?=要|一定|务必))?(?:请|一定要?|务必|要|(?:到时候?|下次|明天|后天|今晚|下?周[一二三四五六日天])(?:上午|下午|晚上|中午|早上)?)?"
        + UNDENIED
        + r"(?<![我你他她还也都不没们])记得(?!吗|不|清|很|住|有一次|曾)"
        + _TAIL_ZH,
        arg="todo",
    ),
    cue(
        "biewang",
        "remember",
        r"(?:请|可|千万)?(?:别|不要|勿|莫)(?:忘了|忘记|忘)(?!我吧)" + _TAIL_ZH,
        anchored=False,
        arg="todo",
    ),
    cue(
        "from_now_on",
        "standing",
        r"(?:please )?(?:(?:from|starting) (?:now|today|here|this point|this moment|tomorrow)(?: on| onwards?| forward)?(?: out)?|going forward|moving forward|henceforth|in (?:the )?future(?=,? (?:please|always|never|use|don't|do not|reply|answer|respond|write)))(?![a-z])[\s:,]*",
        anchored=False,
    ),
    cue(
        "congxianzai",
        "standing",
        r"(?:请)?(?:从现在(?:起|开始)|从今(?:以后|往后|天起|天开始)|从此以后)[\s:,]*",
        anchored=False,
    ),
    cue(
        "yihou",
        "standing",
        r"(?<![天年月周时了之的束完业后日婚久班饭大老去来走好醒])(?:以后|今后|往后|日后)(?!再说|再聊|再看|再议|可能|也许|会)(?=[^。!?;]{0,14}?(?:都|请|一律|统一|不要|不准|不许|不用|别|必须|务必|一定要|默认|就用|只用|每次|凡是|所有|要用|用|按|就叫|叫我|全部|要|得|直接|尽量|[^,]{1,10}(?:就行|就好|即可)))[\s:,]*(?:请)?(?:都(?=[^\s]))?",
        anchored=False,
    ),
    cue(
        "forget_that",
        "forget",
        r"(?:please |pls |(?:can|could|would) you (?:please )?|you can |just )?(?:forget|disregard)(?![a-z])(?: (?:that|about|what i said about|everything about|the (?:fact|rule|preference|note|memory) (?:that|about)))?[\s:,]*",
    ),
    cue(
        "delete_memory",
        "forget",
        r"(?:please )?(?:delete|remove|erase|drop) (?:the|your|any|that) (?:memory|memories|note|fact) (?:that|about|of|saying)[\s:,]*",
    ),
    cue(
        "wangdiao",
        "forget",
        r"(?:请|帮我|麻烦)?(?:把)?(?<![别没会想我他她差点])(?<!不要)(?<!不会)(?:忘掉|忘记|忘了)(?!吗)(?:关于|之前说的|我说的|刚才说的|我之前说的)?[\s:,]*",
    ),
    cue(
        "shanjiyi",
        "forget",
        r"(?:请|帮我)?(?:删掉|删除|清除|撤回|作废)(?:关于|那条|这条)(?=.{1,60}(?:记忆|记录|信息|说法|内容))[\s:,]*",
    ),
    cue("ba_wangdiao", "forget", r"(?:请)?把(?=[^,。]{1,40}(?:忘掉|忘了|忘记))", anchored=False),
    cue(
        "thats_wrong",
        "wrong",
        r"(?:no,? |sorry,? |wait,? )?(?:that(?:'s| is| was)|this is|you're|you are|you were) (?:wrong|incorrect|not (?:right|correct|true|accurate)|mistaken|inaccurate|outdated|no longer (?:true|correct|right))(?: about (?:that|this|it))?(?![a-z])[\s:,.-]*",
    ),
    cue(
        "i_was_wrong",
        "wrong",
        r"(?:i (?:was wrong|misspoke|made a mistake)|correction|scratch that|i take that back)(?![a-z])[\s:,.-]*",
    ),
    cue(
        "budui",
        "wrong",
        r"(?:(?:你|我)?(?:刚才|刚刚|上面|前面|之前)(?:说的)?)?(?:这|那|这个|那个|那条|这条|哦|啊|等等)?,?(?:不对|不是的|错了|说错了|你?记错了|你?搞错了|不正确|我说错了|我记错了|更正(?:一下)?|纠正一下|有误)(?![劲称吗])[\s:,]*",
    ),
)

STATUS = (
    cue(
        "done_with",
        "done",
        r"(?:(?:i(?:'m| am)|we(?:'re| are)) )?(?:all |finally |now |already )?(?:done|finished|through) with ",
        arg="after",
    ),
    cue(
        "finished",
        "done",
        r"(?:i|we)(?:'ve| have)? (?:(?:just|already|finally|successfully|now) ){0,2}(?:finished|completed|wrapped up|done with) ",
        arg="after",
    ),
    cue(
        "shipped",
        "done",
        r"(?:i|we)(?:'ve| have)? (?:(?:just|already|finally|successfully|now) ){0,2}(?:fixed|shipped|merged|closed|delivered|deployed|implemented|submitted|sent|written|wrote|done) ",
        arg="after?",
    ),
    cue(
        "just_finished",
        "done",
        r"(?:just |finally )?(?:finished|completed|wrapped up) (?=(?:the|my|our|a|writing|fixing|[a-z]+ing) )",
        arg="after",
    ),
    cue("checked", "done", r"(?:[-*+] )?\[x\] ", arg="after?"),
    cue(
        "is_done",
        "done",
        r"(?:(?: is| are| has been| have been|'s)(?: (?:now|already|finally|all|fully|100%|officially|also)){0,2}| now|:) ?(?:done|finished|complete|completed|wrapped up|merged and deployed)(?![a-z-])(?! (?:by (?:friday|monday|tomorrow|next)|with|right|wrong|for))",
        anchored=False,
        arg="before",
    ),
    cue(
        "blocked_on",
        "blocked",
        r"(?:(?:i(?:'m| am)|we(?:'re| are)) )?(?:still |now |currently |completely |totally )?(?:blocked|stuck) (?:on|by|with|waiting (?:for|on)) ",
        arg="after",
    ),
    cue(
        "is_blocked",
        "blocked",
        r"(?: is| are|'s| got)(?: (?:now|still|currently|completely|being)){0,2} (?:blocked|stuck|on hold)(?![a-z])",
        anchored=False,
        arg="before",
    ),
    cue(
        "yiwancheng",
        "done",
        r"(?:我们?)?(?:已经?|终于|刚刚?|都){0,2}(?<!未)(?<!没)(?<!没有)(?:完成|做完|搞定|写完|弄完|办完)(?:了)?(?!之后|以后|后|之前|前|的话|的时候|时|度|率|后再|吗)(?=[^,。;!?\s吗]{2,})[\s:]*",
        arg="after",
    ),
    cue(
        "zuowanle",
        "done",
        r"(?:已经?|都|也|终于|刚刚?|全部|总算|现在|:){0,3}(?<![未没不快])(?<!没有)(?<!马上)(?<!即将)(?<!差不多)(?:做完|搞定|弄好|写完|写好|弄完|办完|做好|完工|(?:完成|上线)(?=了|啦)|(?<=已|部|都|经|[:✅☑✔])(?:完成|上线)|(?<=[✅☑✔]\s)完成)(?:了|啦|咯)?(?!之后|以后|后|之前|前|的话|的时候|时|度|率|吗)(?=[^a-z0-9\u4e00-\u9fff]|[并啊呀哈哦]|$)",
        anchored=False,
        arg="before",
    ),
    cue(
        "bei_zuse",
        "blocked",
        r"(?:现在|目前|还是|又|已经)?被(?P<why>[^,。;!?]{1,40}?)(?:给)?(?:阻塞|卡住|挡住|卡着|耽搁|拖住|block)(?:住|了|ed)*",
        anchored=False,
        arg="before",
    ),
    cue(
        "bei_zuse_le",
        "blocked",
        r"(?:现在|目前|还是|又|已经)?被(?:阻塞|卡住|挡住|卡着|耽搁|拖住)(?:住|了)*(?!吗|的)",
        anchored=False,
        arg="before?",
    ),
    cue(
        "kazai",
        "blocked",
        r"(?:我们?)?(?:现在|目前|还是|又|一直)?(?:卡在|阻塞在|困在)(?:了)?(?!路上|门|车)",
        anchored=False,
        arg="both",
    ),
    cue(
        "kazhule",
        "blocked",
        r"(?:现在|目前|还是|又|已经|一直)?(?<!被)(?:卡住了?|卡着(?!吗)|阻塞了?|受阻|停滞了?|搁置了?)(?!吗)",
        anchored=False,
        arg="before?",
    ),
)

CORRECTIONS = (
    cue("no_longer", "no_longer", r"(?: (?:is|are|do|does))? no longer(?![a-z]) ?", anchored=False),
    cue(
        "not_anymore",
        "anymore",
        r"(?:i|we)(?: don't| do not| won't| will not| am not|'m not|'re not| are not| aren't) (?=[^.,]{1,80} any ?more(?![a-z]))",
    ),
    cue(
        "stopped",
        "anymore",
        r"(?:i|we)(?:'ve| have)? (?:just |recently )?(?:stopped|quit) (?=using |working (?:at|for) |living in )",
    ),
    cue("buzai", "no_longer", r"(?<!决定)(?<!要)(?<!就)(?:已经)?不再(?:是)?(?!说|看|见)\s*", anchored=False),
    cue(
        "not_but",
        "not_but",
        r"(?: is| are|'s|it's|that's)? ?(?:isn't|aren't|not) (?=[^,.;]{1,60}?,? ?(?:but|it's|rather,?|it is|they're) [^,.;]{1,80})",
        anchored=False,
    ),
    cue("bushi_ershi", "not_but", r"不是(?=[^,。;]{1,30}?,?(?:而是|是)[^,。;]{1,60})(?!我|不|说|吗)", anchored=False),
    cue(
        "actually_it",
        "correct",
        r"(?:no,? |sorry,? |wait,? |oh,? )?(?:actually,? (?:it(?:'s| is| should be)|that(?:'s| is|'s))|it(?:'s| is) actually|it should(?: actually)? be|it should have been|i meant(?: to say)?|i mean)(?![a-z]) ?",
    ),
    cue(
        "actually",
        "correct_full",
        r"(?:no,? |sorry,? |wait,? )?actually[, ]+(?=(?:the|our|my) [^,.]{1,60} (?:is|are) )",
    ),
    cue("is_actually", "correct_mid", r" (?:is|are) (?:actually|really|in fact) ", anchored=False),
    cue("yinggaishi", "correct", r"(?:其实|实际上|事实上|正确的)?(?:应该|应当|应)(?:是|为|叫)\s*"),
    cue("qishishi", "correct", r"(?:其实|实际上|事实上|准确(?:地)?说)(?:应该)?是\s*"),
    cue("qishi_mid", "correct_mid", r"(?:其实|实际上|事实上)(?:应该)?是\s*", anchored=False),
)

STANDING_IMPERATIVE = cue(
    "always",
    "standing",
    r"(?=(?:please |you should |you must |you need to )?(?:always|never) (?:cite|avoid|return|prefer|test|document|comment|link|round|spell|translate|mention|use|reply|answer|respond|write|run|include|add|call|put|ask|check|keep|format|commit|push|send|explain|show|give|speak|start|end|deploy|merge|squash|rebase)(?![a-z]))",
    arg="soft",
)

# Not in the table: credited with the right value that a sentence after "that's wrong" gives.
AFTER_DENIAL = cue("after_denial", "wrong", r"(?!)")
