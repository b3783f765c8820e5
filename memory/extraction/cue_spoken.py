"""The cue table of how people type orders, changes of mind and reports: short, without a subject, in the middle of talk."""

from __future__ import annotations

from memory.extraction.cue import cue

SPOKEN_ORDERS = (
    cue(
        "jilu",
        "remember",
        r"(?:请|麻烦|给|帮|替)?(?:你|我)?(?:先|再|顺便)?(?:帮我|给我)?(?:记(?:一|下)?个(?:东西|事儿?|事情)?|记(?:一|下)?件事(?:情|儿)?|mark ?(?:一下|下)?|"
        r"存(?:一下|个档)|备注(?:一下)?|留个底|记个笔记)(?:哈|啊|哦|呀)?(?:[,:]|\s(?=\S))(?:就是)?\s*",
    ),
    cue("xianji", "remember", r"(?:你)?先(?:帮我)?记(?:着|上)(?:哈|啊|哦|呀)?[,:\s]\s*"),
    cue(
        "jot",
        "remember",
        r"(?:please )?(?:(?:side |quick )?note ?:|for the record[,:]|(?:jot|write) (?:this|that) down ?(?:[:,]|- )|(?:save|store|log) (?:this|that) ?:)\s*+(?!this|it |that|no |no$|yes|what|how|why)",
    ),
    cue(
        "biezai",
        "standing",
        r"(?P<all>(?:请|你|麻烦你?|拜托|求求?你){0,2}(?:以后)?(?:(?:别|不要|请勿|不许|不准|禁止)再|不用再(?=提醒|叫|给我))(?:给我|跟我|对我)?(?!说|问|闹|来|烦|提(?!醒)|催|想|犯|熬)[^,。;!?]{2,40})",
        arg="scoped",
    ),
    cue(
        "yongyuan",
        "standing",
        r"(?P<all>(?:请)?(?:永远|始终|任何时候都|绝对|千万)(?:都)?(?:不要|别|不能|不准|要|用|先)[^,。;!?]{2,60})",
        arg="scoped",
    ),
    cue(
        "meici",
        "standing",
        r"(?P<all>(?:每次|凡是|所有|任何|每个|但凡|只要是)(?!人)[^,。;!?]{1,20}?,?(?:都|一律|统一|必须|务必|全部)(?:要(?!等|花|命|死|疯|吐|崩|被|很|重新|手动|半|报错|卡|好久)|"
        r"必须|得先|用|使用|写成?|加上?|带上?|按|先|不要|不能|不准|经过|走|放到?|附上?)[^,。;!?]{1,60})",
        arg="scoped",
    ),
    cue(
        "yilv",
        "standing",
        r"(?P<all>(?:(?:给我|跟我|对我)?[^,。;!?我]{1,12}|[^,。;!?]{1,6}我的时候,?)请?(?:一律|统一|默认都?|全部都?|始终)(?:保持|用|使用|按|写成?|采用|不要|加|放|输出|给)[^,。;!?]{1,40})",
        arg="scoped",
    ),
    cue(
        "xiaciqi",
        "standing",
        r"(?:从(?:下次|这次|下个?版本|下个?迭代|下周|下个?月|明天|今天|即日|本周|这个?版本|现在)(?:起|开始)|(?:下次|今天|现在|即日)(?:起|开始))(?!了|吗|有|放)[,:\s]*",
        arg="scoped",
    ),
    cue(
        "stop_doing",
        "standing",
        r"(?P<all>(?:please )?(?:stop (?:using|adding|writing|giving|including|saying|starting|ending|putting|apologi[sz]ing|calling|sending)|(?:don't|do not) ever|no more)(?![a-z]) ?[^.,;!?]{3,60})",
        arg="scoped",
    ),
    cue(
        "call_me_no_more",
        "standing",
        r"(?P<all>(?:please )?(?:don't|do not|stop|never) (?:call(?:ing)?|address(?:ing)?) me [^.,;!?]{2,30})",
        arg="scoped",
    ),
    cue(
        "in_replies",
        "standing",
        r"in (?:all |any )?(?:future|your|all|further) (?:replies|answers|responses|messages|summaries)[\s,:]*(?=(?:please |always |never )?(?:use|skip|don't|do not|avoid|keep|include|start|end|write|add|leave|be|answer|put|always|never)(?![a-z]))",
    ),
    cue(
        "whenever_you",
        "standing",
        r"(?P<all>(?:whenever|when|every time|each time|any ?time) (?:you|we) (?!said|told|were|did)[^.,;!?]{3,50}, (?:please )?(?:always |never )?(?:use|run|add|include|write|check|ask|keep|put|show|give|don't|do not|avoid|start|explain|format|prefer)(?![a-z])[^.;!?]{2,80})",
        arg="scoped",
    ),
    cue(
        "quxiao",
        "forget",
        r"(?:我们|咱们|我)?(?:取消|撤销|推翻|撤回|作废)(?:了|掉)?(?=[^,。;!?]{2,40}的决定)(?!吗)\s*",
    ),
    cue(
        "jueding_zuofei",
        "forget",
        r"(?:我们)?(?:之前|上次|昨天|那天)?(?:说|定)?(?:的)?(?:要)?(?P<all>[^,。;!?]{2,30}?的(?:那个|这个)?决定)(?=(?:已经|就|现在)?(?:作废|取消|不算|撤回|撤销|推翻))",
    ),
    cue(
        "shan_wode",
        "forget",
        r"(?:请|帮我)?(?:别记|不要记|删掉|删除|清除|抹掉)(?=我的(?:生日|名字|邮箱|手机号|地址|职业|公司|年龄)(?:了|吧|$|[,。!]))",
    ),
)

SPOKEN_CHANGES = (
    cue(
        "shuocuo",
        "wrong",
        r"(?:我|之前|刚才|刚刚|上面|前面|上次|那个|抱歉|不好意思|哦|啊|,){0,4}(?:说|写|打|记|搞|弄)错(?:了|啦)[,:\s]*",
    ),
    cue(
        "buyongle",
        "anymore",
        r"(?:我们?|咱们?)(?:已经|现在|早就|后来|早|都|以后){0,2}不再?(?=(?:用|使用)(?!担心|管|来|去|再|加班|上班|等|想)(?:[^,。;!?]{0,12}[a-z]|[^,。;!?]{0,12}(?:编辑器|浏览器|数据库|终端|框架|主题|输入法))"
        r"[^,。;!?]{0,20}了\s*(?:$|[,。;!]))",
    ),
    cue(
        "buzaigongzuo",
        "anymore",
        r"我(?:已经|现在|早就|早){0,2}不(?=(?:在[^,。;!?]{2,20}(?:工作|上班|任职)|住在?[^,。;!?]{2,12})了\s*(?:$|[,。;!]))",
    ),
    cue(
        "wait_no",
        "correct",
        r"(?:oops|oh|wait|no|sorry|my bad|hmm|,|\.|\s){1,8}(?<=[,. ])(?:it's|it is|that's|make (?:it|that)) (?=[^,.;]{1,40}$)",
    ),
    cue("no_the", "correct_full", r"no,? (?=(?:the|our|my) [^,.]{1,60} (?:is|are) [^,.]{1,40}, not )"),
    cue(
        "qishi_full",
        "correct_full",
        r"(?:其实|实际上|事实上)(?!我|你|他|她|它|这|那|没|不|也|都|就|还|问题|重点|关键|原因|意思|目的|本质|结果|区别|情况|事情|最)"
        r"(?=[^,。;!?的]{2,16}(?<![还但可于总就凡要像只先正老倒越硬更不都也])(?<![就还总也不只能]算)是(?!否|不是|因为|说|很|在|有|为了|可以|想|能)[^,。;!?]{1,30}(?<!的)(?:$|[,。;!]))",
    ),
)

SPOKEN_STATUS = (
    cue(
        "nengwancheng",
        "done",
        r"(?:已经?|都|也|终于|刚刚?|全部|总算|现在|正式|顺利){0,3}(?<![未没不快别要])(?<!没有)(?<!马上)(?<!即将)(?:(?:[写改修测调跑搞弄办做画审对签填补配装传查谈理训看](?:完|好|通)|合并|提交|修复|发布|部署|验收|上线|交付|"
        r"[交发寄送](?:上|出)去|跑通|交|通过|处理完|搞掂)(?:了|啦|咯|喽)|(?<=已|经)(?:提交|合并|修复|发布|部署|上线|交付|发送))(?!吗|没|么|再|就|之后|以后|的话|一[半点些])(?=[^a-z0-9\u4e00-\u9fff]|[啊呀哈哦吧]|$)",
        anchored=False,
        arg="before?",
    ),
    cue(
        "dengcai",
        "blocked",
        r"(?:现在|目前|暂时|还|只能|估计)?(?:得|要|需要|必须|还得|还要)?等(?P<why>[^,。;!?]{1,30}?)(?:之?后)?(?:才能|才可以|才行|才好)[^,。;!?]{0,8}",
        anchored=False,
        arg="before?",
    ),
    cue(
        "zaideng",
        "blocked",
        r"(?:现在|目前|一直|还|都){0,2}(?:在|正在)等(?!你|我|下|会|一)(?P<why>[^,。;!?]{2,30})",
        anchored=False,
        arg="before?",
    ),
    cue(
        "zanting",
        "blocked",
        r"(?:现在|目前|只能|暂时|先){0,2}(?:暂停|搁置|停了?下来|推进不了|推不动|做不下去|进行不下去|没法(?:继续|推进|往下)|动不了|卡壳)(?:了|着)?",
        anchored=False,
        arg="before?",
    ),
    cue(
        "just_merged",
        "done",
        r"(?:just|finally|already|got) (?:merged|shipped|deployed|fixed|submitted|released|published|closed|delivered|sent)(?: out| off)? ",
        arg="after?",
    ),
    cue(
        "got_working",
        "done",
        r"(?:i |we )?(?:just |finally )?got (?=(?:the|my|our) [^.,;]{2,50} (?:working|done|merged|deployed|finished|fixed)(?![a-z]))",
        arg="after?",
    ),
    cue(
        "is_written",
        "done",
        r"(?: is| are| has been| have been| got)(?: (?:now|already|finally|all|fully|officially)){0,2} (?:written|merged|shipped|fixed|deployed|submitted|released|live|in production)(?![a-z-])",
        anchored=False,
        arg="before?",
    ),
    cue(
        "shipped_bare",
        "done",
        r"(?<=[a-z]) (?:shipped|merged|deployed|released)(?=\s*(?:$|[.!,]))",
        anchored=False,
        arg="before?",
    ),
    cue(
        "is_waiting",
        "blocked",
        r"(?: is| are|'s)(?: (?:now|still|currently|just)){0,2} waiting (?:on|for) ",
        anchored=False,
        arg="before?",
    ),
    cue(
        "cannot_until",
        "blocked",
        r"(?:i|we) (?:can't|cannot|can not|couldn't) (?:continue|proceed|finish|start|complete|move forward|go on)(?: with| on)? (?=(?:the|my|our) [^.,;]{2,50} until )",
        arg="after?",
    ),
)
