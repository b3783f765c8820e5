"""The cue table of how people type their claims: settled talk, habits, plans with a date, who they are."""

from __future__ import annotations

from memory.extraction.cue import cue
from memory.extraction.places import PLACE_ZH

_US = r"(?:我们|咱们|咱|团队|大家|项目组|组里)"
_ME = r"(?:我们?|本人|咱们?)(?:这边|自己)?"
_STOP = r"(?=\s*(?:$|[,。;!.~(]))"
_DAY = (
    r"(?:回头|晚点|待会儿?|等会儿?|稍后|过两天|今天|今晚|明天|明早|明晚|后天|大后天|(?:下下?|这|本)?(?:周|星期|礼拜)[一二三四五六日天末]?|下个?月|这个?月|月底|月初|年底|下班|节前|"
    r"\d{1,2} ?[月号日](?: ?\d{1,2} ?[号日])?)(?:上午|下午|晚上|中午|早上)?(?:之?前)?"
)
_WORK = (
    r"(?:先|再|去|尽快|抓紧|继续){0,2}(?:把|给|跟|和|向|交|写|改|修|补|发|提|对一|对接|做|完成|整理|准备|更新|部署|测|联系|续|预约|约|重构|迁移|升级|接入|"
    r"处理|review|check|merge|fix|订|缴|办|打印|录|画|删|加|优化|排查|调|联调|回复|审|签|汇报|演示|总结|训练|上传|配置|搭|实现|安装|清理|申请|报名|还[书款钱]|"
    r"换|安排|确认|核对|评审|合并|发布|检查|搞|备份|导出|设计|开发|拆|收集|跟进)"
)
_HORIZON = (
    r"(?:今年|明年|后年|年底|年内|本年度|(?:这个?|本|下个?|下一)季度|[上下]半年|[一二三四五六七八九十两半\d]+ ?个?(?:年|月|季度)(?=之?[内前后])|q[1-4]|"
    r"毕业|月底|春节|\d{4} ?年)(?:之?[前内]|以内)?"
)
_AIMS = r"(?:打算|计划|想要?|希望|争取|准备|立志|力争|要)"
_SWITCH = r"(?:换成|改成|改为|改用|换到|迁到|迁移到|切到|切换到|升级到|升到|定成|定为)"
_MOVED = r"(?:改到|改在|定在|定于|定为|挪到|推迟到|提前到|延期到|延到|安排在|调整到|换到)"
_CHOSEN = r"(?:采用|使用|改用|选用|选择|用|放弃|弃用|不用|不再|走|上|迁|换|改|把|将)"
_PART = (
    r"(?:方案|框架|架构|数据库|缓存|前端|后端|客户端|服务端|部署|接口|网关|存储|日志|登录|认证|鉴权|支付|消息队列|队列|监控|测试|构建|语言|协议|格式|搜索|"
    r"域名|主色|字体|技术栈|组件库|打包|选型)"
)
_KIN = (
    r"女朋友|男朋友|老婆|老公|妻子|丈夫|太太|爱人|对象|儿子|女儿|闺女|爸爸?|妈妈?|父亲|母亲|哥哥?|姐姐?|弟弟?|妹妹?|孩子|宝宝|导师|老板|领导|室友|"
    r"猫|狗|猫咪|狗狗"
)
_NOT_CALLED = r"(?!我|你|您|他|她|它|大家|人|了|去|来|做|醒|停|过|不|什么|啥|外卖|车|别)"

SPOKEN_CLAIMS = (
    cue(
        "dingle",
        "settled",
        r"(?:那|好|行|ok|嗯|最后|最终|会上|已经|刚刚?|今天|昨天|,|\s){0,4}(?:(?:跟|和|与)[^,。;!?我]{1,8}?)?(?:就?(?:这么|这样|这么样)定(?:了|啦|吧)?|定(?:了|啦|好了|下来了)(?=\s*(?:$|[,:。!~]))|敲定(?:了|啦)?|拍板(?:了|啦|决定)?|"
        r"(?:商量|谈|说|约)(?:好|妥|定)了(?=[,:])|(?:讨论|商量|对比|评估)(?:完了|下来)|(?:选型|方案)定了)(?!吗|没|个)[\s,:]*",
    ),
    cue(
        "women_xuan",
        "decide",
        r"(?:[^,。;!?我]{1,8}(?:这块|方面|部分))?"
        + _US
        + r"(?:这边)?(?:最后|最终|还是|已经|现在|后来|正式|全面|经过[^,。]{1,8}){0,3}(?=(?:选择了?|选了|选定了?|采用了?|改用了?|换成了?|改成了?|切到了?|切换到了?|迁到了?|迁移到了?|放弃了?|弃用了?|(?:统一|全部|一律)(?:用|使用|采用)|不打算再?(?:支持|用|做|上)|(?:把|将)[^,。;!?]{1,24}?"
        + _SWITCH
        + r"(?=[^,。;!?]{1,30}了))"
        r"(?!相信|困难|恐惧|吗|沉默|等|了?吧|什么|哪)[^,。;!?]{2,})",
    ),
    cue(
        "queding",
        "decide",
        r"(?:我们?|咱们?|大家|团队)?(?:这边|那边)?(?:已经|最终|最后|都|现在|基本|一致|正式){0,3}(?:确定(?:了|下来)?|一致同意|都同意|达成共识)[,:\s]*(?="
        + _CHOSEN
        + r")(?!吗)",
    ),
    cue(
        "women_ding",
        "decide",
        r"(?:(?:我们|咱们|团队)(?:已经|最后|最终|昨天|今天|刚刚?|开会|一起){0,3}|(?:昨天|今天|刚刚?)?(?:开完?会|会上))定(?:了|好了?|的是|在了?)(?=[^,。;!?个]{2,40})(?!外卖|闹钟|机票|酒店|位|票|桌|餐|吗|没)\s*",
    ),
    cue(
        "fangan_shi",
        "decide",
        r"(?:(?:最终|最后的?|技术|确定的)(?:方案|选型|选择|定论)|(?:评审|讨论|投票|会议)(?:结果|结论))(?:是|:|为|定为)\s*",
    ),
    cue(
        "najiu_an",
        "decide",
        r"(?:那么?|那?我们|咱们|还是)?就(?=(?:按照?|走)(?!你|您|这|那|他|我|原来|着|了|吧|神)[^,。?!]{2,30}(?:来|走|办|做|执行|吧|$))",
    ),
    cue("najiu_go", "decide", r"(?:那)?就 ?(?:go with|pick|choose)\s*"),
    cue(
        "jiuyong_ba",
        "decide",
        r"(?P<all>(?!我(?!们)|你|他|她|这|那|要不|不如|如)[^,。;!?]{2,12}就(?:用|选|采用|定)(?!了|到|来)[^,。;!?]{1,40}?(?:吧|好了|了))"
        + _STOP,
    ),
    cue(
        "huancheng_le",
        "decide",
        r"(?P<all>(?!把|将|请|帮|给|我(?!们)|你|他|她|这|那|能|可|怎|天)[^,。;!?:\s把]{2,12}?\s?(?:已经|都|最终|最后|还是|全部|统一|现在){0,2}"
        + _SWITCH
        + r"[^,。;!?]{1,40}?了)"
        + _STOP,
    ),
    cue(
        "gaidao",
        "decide",
        r"(?P<all>(?!把|将|请|帮|给|我(?!们)|你|他|她|能|怎)[^,。;!?:\s把]{0,10}(?:时间|日期|窗口|会|评审|截止日?|版本|发布|上线|演示|面试|培训|站会|周报日)(?:从[^,。;!?]{1,8}?)?(?:已经|都|最终|还是){0,2}"
        + _MOVED
        + r"(?=[^,。;!?]{0,20}[\d一二三四五六日天月号点周初底])[^,。;!?]{2,30})"
        + _STOP,
    ),
    cue(
        "fangan_caiyong",
        "decide",
        r"(?P<all>(?!把|将|请|帮|给|我(?!们)|你|他|她|这|那|怎)[^,。;!?:\s]{0,8}"
        + _PART
        + r"(?:部分|层|这块)?(?:(?:统一|全部|最终|已经|还是|就){0,2}(?:采用|选用|改用|定为|定成|选定)|(?:我们|咱们)(?:就|还是|最后|最终|决定|先|统一){0,2}(?:选|用|采用|走)了?)(?!什么|哪|吗|率)\s?[^,。;!?]{1,60})",
    ),
    cue(
        "ended_up",
        "decide",
        r"(?:we|the team|our team)(?:'ve| have)? (?:(?:finally|eventually|now|all|just) ){0,2}(?:ended up (?:choosing|going with|using|picking|with)|landed on|picked(?! up| on| some| a| my| your)|selected(?! the wrong| this| that| a )|standardi[sz]ed on|(?:agreed|signed off) on)(?![a-z]) ",
    ),
    cue(
        "were_switching",
        "decide",
        r"(?:we(?:'re| are)|the team is) (?:(?:now|officially|finally|all) ){0,2}(?=(?:switching (?:from|to|over)|migrating (?:from|to)|moving (?:from [^.,]{1,30} to|off|away from)|dropping(?! by| in| off| out)|ditching|abandoning|adopting(?! a )|standardi[sz]ing on|sticking with) )",
    ),
    cue(
        "we_switched",
        "decide",
        r"we(?:'ve| have)? (?:(?:finally|now|just|already) ){0,2}(?=(?:switched|migrated) (?:from|to) )",
    ),
    cue(
        "final_call",
        "decide",
        r"(?:ok |okay )?(?:final (?:call|decision|choice)|decided|settled|it's settled|that's settled)(?: ?:\s*(?=[a-z0-9])|, (?=we |let's |use |go ))",
    ),
    cue(
        "xiguanyong",
        "habit",
        _ME
        + r"(?:个人|一般|通常|平时|平常|一直|基本|日常|习惯|写[^,。]{1,6}|开发){1,3}(?:上|来说)?(?:都|是|会|就|只|习惯|在){0,3}(?=(?:用|使用|写|先|把|跑)(?!户|完|过))",
    ),
    cue(
        "ni_huida",
        "habit",
        r"我(?:希望|想让|想要?)(?:你的?|以后)(?=(?:回答|回复|解释|说话|写的?代码|输出|总结|代码)[^,。;!?]{0,6}(?:带|用|能|都|简|详|短|先|不要|别|更|尽量|直接|加))",
    ),
    cue(
        "your_answers",
        "habit",
        r"i(?:'d like| want| would like| need) (?:all )?(?:of )?(?=your (?:answers|replies|responses|explanations|summaries|code) (?:in|to be|to|short|brief|without|with|as|under|always|never) )",
    ),
    cue("i_use", "habit", r"i (?=use [a-z][^.,;]{1,30}(?:$|[.,;]))"),
    cue(
        "usually_use",
        "habit",
        r"i (?:usually|generally|always|normally|typically|mostly|only|exclusively)(?: only)? (?=(?:use|write in|work with|code in) )",
    ),
    cue("more_of_a", "habit", r"i(?:'m| am) more of an? (?=[^.,]{1,30}(?: than |$))"),
    cue(
        "mubiao_niannei",
        "goal",
        r"(?:(?:我们?|咱们?)(?:也|还|就|一定|自己)?"
        + _AIMS
        + r"(?:能|在|于)?(?="
        + _HORIZON
        + r"[^,。;!?]{2,})|(?:我们?|咱们?)?(?:在)?"
        + _HORIZON
        + r"(?:我们?|咱们?)?(?:一定|必须|也|还)?(?:争取|力争|立志)(?:能|要)?|"
        r"(?:我们?|咱们?)"
        + _HORIZON
        + r"(?:一定|也|还)?"
        + _AIMS
        + r"(?:能)?)(?!去?睡|吃|回家|问|知道|辞职|放假|不)\s*(?=[^,。;!?]{2,})",
    ),
    cue(
        "xiang_kao",
        "goal",
        r"我(?:想|打算|准备|计划)(?=(?:考研|考公|转行|创业|考[下过取]|读博|读研|出国|拿下|减肥|戒烟)[^吗呢]{0,30}"
        + _STOP
        + r")",
    ),
    cue(
        "aim_to",
        "goal",
        r"(?:i|we)(?:'m| am|'re| are)? (?:really |also )?(?:aim(?:ing)? to |(?:trying|hoping|planning|want|plan|hope|intend|would like) to (?!understand|know|ask|see|sleep|say)"
        r"(?=[^.?!;]{3,80} (?:by|before|within|this|next|until|in) (?:the )?(?:year|quarter|end of|spring|summer|autumn|fall|winter|january|february|march|april|may|june|july|august|september|october|november|december|20\d\d|q[1-4]|christmas|next year|age)(?![a-z])))\s*",
    ),
    cue("zhiqian_ba", "task", _DAY + r"(?<=前)(?:" + _ME + r")?(?=把[^,。;!?吗]{3,})"),
    cue(
        "mingtian_yao",
        "task",
        r"(?:"
        + _ME
        + r"(?:还)?"
        + _DAY
        + r"|"
        + _DAY
        + r"(?:,)?"
        + _ME
        + r"|"
        + _DAY
        + r"|"
        + _ME
        + r"(?=还))(?:还|都|也)?(?:要|得|需要|必须|一定要)(?="
        + _WORK
        + r"[^,。;!?吗]{2,})",
    ),
    cue(
        "haiyou_shi",
        "task",
        r"还(?:有|剩)(?:个|一个|件|一件|点)(?:事|活|任务|事情)(?:没做|没弄|要做|没完)?[,:](?:就是)?(?:要|得|需要)?(?="
        + _WORK
        + r")",
    ),
    cue(
        "women_yao",
        "task",
        _ME
        + r"(?:现在|马上|最近|尽快|下一步|先){0,2}(?:还)?(?:要|得|需要|必须)(?=(?:在?"
        + _DAY
        + r")?(?:先|尽快|抓紧)?(?:把|给|跟)[^,。;!?吗]{4,})(?!把?你)",
    ),
)

SPOKEN_PROFILE = tuple(
    cue(name, "profile", pattern, arg=key)
    for name, key, pattern in (
        (
            "wo_zai_place",
            "location",
            r"(?:我|本人)(?:现在|目前|人)?(?:人)?(?:就)?(?:在|住|常驻|定居)(?="
            + PLACE_ZH
            + r"(?:这边|生活|定居|读书|上学|呢|啊)?"
            + _STOP
            + r")",
        ),
        ("zai_place", "location", r"(?:现在|目前|人)?(?:人)?(?:住)?在(?=" + PLACE_ZH + _STOP + r")"),
        (
            "zai_zuo",
            "employer",
            r"(?:我|现在|目前){0,2}在(?=" + PLACE_ZH + r"(?:这边)?(?:做|当|担任)[^,。;!?]{2,12}" + _STOP + r")",
        ),
        (
            "bandao",
            "location",
            r"我(?:们|家)?(?:上个?月|上周|最近|去年|今年|前[几两]天|刚刚?|已经|昨天|,){0,3}(?:搬到|搬去|搬家到|搬来|定居到?|落户)了?(?=[^,。;!?了]{2,10})(?!新家|隔壁|楼)\s*",
        ),
        (
            "ruzhi",
            "employer",
            r"我(?:上个?月|上周|最近|去年|今年|刚刚?|已经|现在|,){0,3}(?:跳槽到|跳槽去|入职|供职于|换工作,(?:现在)?在|换了(?:个|份)?工作,(?:现在)?在)了?(?=[^,。;!?了]{2,20})(?!手续|体检|以来|第|时|一)\s*",
        ),
        ("nianling", "age", r"我(?:今年|现在|已经|都)?\s?(?=\d{1,2} ?岁(?:了|啦)?" + _STOP + r")"),
        ("i_am_years", "age", r"i(?:'m| am) (?=\d{1,2}(?: years? old| y/?o)(?![a-z]))"),
        ("x_ren", "hometown", r"我(?:是|老家是)(?=" + PLACE_ZH + r"人" + _STOP + r")"),
        ("laojia", "hometown", r"我的?(?:老家|家乡|祖籍)(?:是|在)(?!不|什么|哪)\s*"),
        (
            "wo_shuxing",
            "",
            r"(?:我|本人)的?(?P<k>邮箱|电子邮箱|生日|时区|手机号|昵称|母语|职业|岗位|职位|微信号?|英文名|籍贯)\s?(?:是|在|叫|:|(?=[\da-z]))(?!不|什么|多少|谁|哪|很)\s*",
        ),
        (
            "gongsijiao",
            "employer",
            r"我们?的?公司(?:名字?)?(?:叫|是)" + _NOT_CALLED + r"(?=[^,。;!?的]{2,20}" + _STOP + r")\s*",
        ),
        (
            "jiaren",
            "",
            r"我(?:的|家)?(?P<k>"
            + _KIN
            + r")(?:的名字)?(?:叫|名叫|的名字是|名字叫)"
            + _NOT_CALLED
            + r"(?=[^,。;!?]{1,10}"
            + _STOP
            + r")\s*",
        ),
        (
            "yangle",
            "",
            r"我(?:家)?(?:养了|有)(?:一|两|只|条|个|\s){1,3}(?P<k>猫咪?|狗狗?|兔子|仓鼠|鹦鹉|乌龟)[,]?(?:名字)?叫"
            + _NOT_CALLED
            + r"\s*",
        ),
        (
            "my_kin",
            "",
            r"my (?P<k>wife|husband|partner|girlfriend|boyfriend|son|daughter|dog|cat|mom|mother|dad|father|brother|sister|boss|manager|mentor|baby)(?:'s name is|(?: is|'s) (?:called|named)) (?!not|irrelevant)(?=[a-z'-]{2,20}(?: [a-z'-]{2,20})?"
            + _STOP
            + r")",
        ),
        (
            "yinshi",
            "diet",
            r"我(?:一直|现在|平时|是)?(?=(?:吃素|素食者|素食主义者|不吃(?:肉|猪肉|牛肉|羊肉|辣|香菜|海鲜|蛋|奶制品))"
            + _STOP
            + r")",
        ),
        (
            "i_am_vegan",
            "diet",
            r"i(?:'m| am) (?:a )?(?=(?:strict )?(?:vegetarian|vegan|pescatarian|gluten[- ]free|lactose[- ]intolerant|halal|kosher)(?![a-z]))",
        ),
        (
            "wofuze",
            "responsibility",
            r"我(?:现在|目前|主要|平时|这边|在团队里){0,2}(?:主要)?负责(?!任|不了|吗|什么|哪|了|买单|做饭|貌美|吃|玩|搞笑|带娃)\s*(?=[^,。;!?]{2,20}"
            + _STOP
            + r")",
        ),
        (
            "i_am_name",
            "introduction",
            r"i(?:'m| am) (?=[a-z]{2,15}(?:, (?:an?|the|your) | and i (?:work|live|am|use)))",
        ),
        (
            "i_joined",
            "employer",
            r"i(?:'ve| have)? (?:just |recently |now )?(?:started (?:working )?at|got a job at|joined) (?=[a-z0-9])(?!late|early|up|in |on |to|yes|the (?:call|meeting|chat|room)|a (?:call|meeting)|this|you)",
        ),
        ("xuexiao", "education", r"我(?:是)?毕业于(?=[^,。;!?]{2,20}" + _STOP + r")"),
        (
            "you_haizi",
            "family",
            r"我(?:家)?有(?=[一两二三四\d] ?[个只条](?:孩子|娃|儿子|女儿|宝宝|弟弟|妹妹|哥哥|姐姐|猫|狗)"
            + _STOP
            + r")",
        ),
        (
            "i_have_pet",
            "",
            r"i have (?:a|an|one) (?P<k>dog|cat|son|daughter|brother|sister|puppy|kitten|parrot) (?:named|called) ",
        ),
        (
            "i_have_kids",
            "family",
            r"i have (?=(?:(?:two|three|four|five|\d) (?:kids|children|sons|daughters|dogs|cats|brothers|sisters)|(?:a|one) (?:kid|child|son|daughter))"
            + _STOP
            + r")",
        ),
        ("huishuo", "languages", r"我会(?:说|讲)(?=[^,。;!?]{0,4}(?:语|文|话)[^,。;!?]{0,16}" + _STOP + r")"),
        (
            "i_speak",
            "languages",
            r"i (?:also |can )?speak (?=(?:fluent |native |some |a little )?(?:english|chinese|mandarin|cantonese|spanish|french|german|japanese|korean|portuguese|italian|russian|arabic|hindi|dutch|turkish|polish|swedish|vietnamese|thai)(?![a-z]))",
        ),
        ("tezheng", "trait", r"我是(?=(?:左撇子|色盲|色弱|近视眼?|过敏体质|独生子女|双胞胎)" + _STOP + r")"),
        (
            "i_am_handed",
            "trait",
            r"i(?:'m| am) (?=(?:left-?handed|colou?r-?blind|deaf|blind|dyslexic|diabetic)(?![a-z]| to| by| sp| in))",
        ),
        ("jiazai", "location", r"(?:我|本人)?(?:的)?(?:家在|坐标|base ?在?)\s?(?=" + PLACE_ZH + _STOP + r")"),
    )
)
