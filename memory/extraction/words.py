"""Word lists of the rules, as data: connectives, hedges, reporting verbs, empty objects, preference topics."""

from __future__ import annotations

import re

# A clause may open with these and still be a statement of its own.
OPENERS_EN = frozenset(
    [
        "and",
        "but",
        "so",
        "because",
        "also",
        "then",
        "that",
        "well",
        "ok",
        "okay",
        "hi",
        "hello",
        "hey",
        "yes",
        "yeah",
        "yep",
        "no",
        "actually",
        "btw",
        "please",
        "just",
        "oh",
        "right",
        "great",
        "sure",
        "thanks",
        "anyway",
        "today",
        "yesterday",
        "finally",
        "eventually",
        "ultimately",
        "now",
        "basically",
        "additionally",
        "plus",
        "moreover",
        "however",
        "therefore",
        "since",
        "first",
        "second",
        "third",
        "lastly",
        "still",
        "again",
        "alright",
        "all",
        "meeting",
        "discussion",
        "afterwards",
        "team",
        "everyone",
        "guys",
        "tomorrow",
        "tonight",
        "fyi",
        "together",
        "too",
        "either",
        "personally",
        "honestly",
        "usually",
        "generally",
        "as",
        "week",
        "month",
        "morning",
        "afternoon",
        "end",
        "know",
        "way",
    ]
)
OPENERS_ZH = re.compile(
    r"(?=((?:并且?|而且|另外|所以|因为|但是?|不过|那么?|好的?|嗯|对了|还有|然后|同时|今天|昨天|明天|刚才|刚刚|最后|最终|于是|因此|其实|"
    r"顺便|总之|现在|目前|接下来|下一步|之后|后来|时候|也|就|且|请|首先|其次|再|都|已经?|经过?讨论|会上|是的|行|可以|了|啊|呀|吧|哦|"
    r"本周|这周|下周|今晚|团队|大家|个人|一下|和|跟|,|、)\s{0,3}))"
)

HYPOTHETICAL = re.compile(
    r"\b(?:if|unless|whether|suppose|supposing|assuming|assume|imagine|hypothetically|pretend|let's say|say we|in case|maybe|perhaps|"
    r"possibly|probably|might|i guess|i suppose|not sure|unsure|i wonder|wondering|i wish|for example|for instance|e\.g|such as|"
    r"once|until|as soon as|when|whenever|before|after we|after i|would be nice|considering|thinking about|in theory|just kidding|kidding|joking)\b"
    r"|如果|要是|假如|假设|假使|若是|倘若|万一|除非|也许|或许|可能|大概|说不定|没准|比如|例如|譬如|假装|是否|要不要|是不是|不确定|不知道|"
    r"不一定|考虑(?!再三|过|之后|到|了)|开个?玩笑|逗你|要不|不如|等到?|一旦|只要|只有|当(?!前|天|地|时|下|然)|如(?=我们?|有|需)"
)
POLITE = re.compile(
    r"if (?:possible|you (?:can|could|don't mind|would|please))|if it's (?:ok|okay|not too much)[a-z ]{0,12}|when you (?:can|get a chance)"
    r"|(?:如果|要是)?(?:可以|方便|可能|行)的话|如果(?:可以|可能|方便)|after (?:the|a|our|some|much|long|today's|yesterday's) [a-z ]{1,30}"
    r"|when i(?:'m| am)? [a-z ]{1,30},|after (?:discussing|talking|thinking|reviewing|comparing)[a-z ]{0,30}|不等于?|等等|相等|平等|高等"
)
# Soft doubt: enough to keep a claim about what was settled from counting, not a wish or a taste.
SOFT_HEDGE = re.compile(
    r"\b(?:i think|i believe|i feel like|seems?|apparently|iirc|if i recall|as far as i know)\b|我记得|好像|似乎|应该是|貌似|印象中"
)
UNDECIDED = re.compile(
    r"\b(?:or maybe|maybe not|not sure yet|haven't decided|not decided|undecided|not yet decided|still deciding|tbd)\b"
    r"|还没定|还没决定|没想好|还不确定|待定|再说吧|再议"
)
REPORTED = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!i've )(?<!as )\b(?:said|says|saying|told|tells|mentioned|mentions|claims|claimed|wrote|writes|asked|asks|"
    r"suggested|suggests|thinks|according to|argued|argues|announced|insists|insisted|replied|believes|states|stated|heard|"
    r"quote|quotes|reads)\b|(?<!我)(?<!我刚)(?<!我们)(?<!刚才)(?:说|表示|告诉|写道|提到|认为|建议|声称|听说|据说|宣布|坚持|回复|问|唱的?|歌词|台词|写着)"
)
NOT_REPORTED = re.compile(
    r"(?:我|我们)(?:刚才|刚|之前|上次|已经|都|也)?(?:跟你|和你|对你)?(?:说|提到|建议|认为|告诉)|说实话|老实说|总的来说|也就是说|话说|说起来|"
    r"说好|说定|具体来说|简单来说|说明|说到|再说|问题|访问|顾问|that being said|having said|as i said|i already told|like i said"
)

PRONOUNS = frozenset(
    [
        "it",
        "this",
        "that",
        "these",
        "those",
        "he",
        "she",
        "they",
        "there",
        "i",
        "we",
        "you",
        "what",
        "which",
        "who",
        "everything",
        "something",
        "nothing",
        "anything",
        "one",
        "here",
        "how",
        "why",
        "when",
        "where",
        "all",
    ]
) | frozenset(
    [
        "我",
        "我们",
        "咱们",
        "你",
        "你们",
        "您",
        "他",
        "她",
        "它",
        "他们",
        "她们",
        "它们",
        "这",
        "那",
        "这个",
        "那个",
        "这些",
        "那些",
        "这里",
        "那里",
        "这样",
        "那样",
        "这是",
        "今天",
        "现在",
        "什么",
        "谁",
        "大家",
        "问题",
        "都",
        "也",
        "其实",
        "还",
        "就",
        "那么",
        "应该",
        "可能",
        "不过",
        "但",
        "所以",
        "因为",
        "如果",
        "当时",
        "人",
        "这边",
        "那边",
        "结果",
    ]
)
# An object that names nothing by itself.
EMPTY = re.compile(
    r"(?:it|this|that|these|those|them|me|us|you|him|her|everything|nothing|something|anything|all|so|one|the same|what|when|"
    r"how|who|where|why|the (?:time|day|way|moment)|our|my|the|a|an|to|or|yet|here|now|today|work|dinner|lunch|breakfast|school|"
    r"class|you guys|life|people|stuff|things?|nonsense|crap|shit|"
    r"这|这个|那个|那|它|他|她|这样|那样|这些|那些|这点|什么|一切|都|了|啊|吧|的|你|我|工作|饭|晚饭|午饭|早饭|今天|作业了|事情|上班|下班|时候|"
    r"这件事|这事|那件事|一下|好|谁|啥|全部)(?: (?:one|now|today|then|again|instead|please|too|yet|already|for now|for today|way|stuff|thing|nonsense|crap))*"
)
REMINISCENCE = re.compile(
    r"(?:when|the (?:time|day|night|days|times|summer|movie|song|guy|old|good old)|how (?:we|i|you|it|they|much)|what|where|who|why|me\b|us\b|him\b|her\b|"
    r"those|last (?:time|year|week|summer)|our (?:first|trip|talk|last|chat)|back when|you (?:said|told|promised|were|used))"
    r"|上次|那次|那时|当时|以前|小时候|那年|那会|当年|那天|去年|第一次|你说|你是|你答应"
)
SMALL_VALUE = re.compile(
    r"(?:(?:not |so |very |pretty |quite |really |too |all |totally |just |a bit |kind of |much |even )*(?:fine|ok|okay|good|great|bad|cool|nice|funny|raining|"
    r"sunny|cold|hot|true|false|wrong|right|correct|possible|easy|hard|difficult|late|early|time|done|working|worse|better|"
    r"important|interesting|simple|that|clear|up to you|my (?:fault|bad|mistake)|because|about|been|a (?:joke|good idea|bad idea)|"
    r"not|quite|worth|the case|like|just|me|you|easier|harder|sad|awesome|terrible|weird|amazing|likely)(?![a-z]).{0,60})"
    r"|(?:这样|那样|好的|可以|没事|没有|还行|不错|开玩笑|对的|我|你|很|挺|太|真|因为|一样|骗|想|假的|真的|有点|个玩笑|怎么|这么|什么|吗).{0,40}"
)

ROLE_SUFFIX = re.compile(
    r"(?:er|or|ist|ian|eer|yst|ant|tect|ent|man|woman|lead|chief|head|nurse|chef|cto|ceo|cfo|coo|pm|sre|dba|student|phd|intern|"
    r"vegetarian|vegan|freelance|professional|cook|pilot|artist|mom|mum|dad|mother|father|parent|guide|host|spy|dev)s?$"
)
NOT_A_ROLE = frozenset(
    [
        "believer",
        "lover",
        "loser",
        "beginner",
        "newcomer",
        "killer",
        "bummer",
        "hater",
        "player",
        "winner",
        "customer",
        "number",
        "member",
        "matter",
        "monster",
        "sucker",
        "disaster",
        "computer",
        "error",
        "center",
        "bother",
        "hater",
        "favor",
        "moment",
        "accident",
        "different",
        "patient",
        "percent",
        "incident",
        "human",
        "stranger",
        "dreamer",
        "admirer",
        "follower",
        "owner",
        "supporter",
        "fan",
        "user",
        "mess",
        "early-riser",
        "other",
        "another",
        "better",
        "faster",
        "slower",
        "quicker",
        "later",
        "longer",
    ]
)
ROLE_ZH = re.compile(
    r"(?:工程师|老师|教师|医生|护士|学生|经理|设计师|程序员|律师|作家|编辑|记者|会计|顾问|架构师|研究员|教授|开发者?|开发人员|产品|运营|主管|总监|"
    r"创始人|负责人|分析师|科学家|博士生?|硕士生?|研究生|大学生|实习生|厨师|司机|翻译|公务员|音乐人|艺术家|摄影师|测试|运维|销售|秘书长?|主任|院长|"
    r"素食者?|素食主义者|全职妈妈|自由职业者?|合伙人|站长|博主|码农|前端|后端|架构|农民|工人|军人|警察|演员|导演|校长|班主任|店长|老板)$"
)
NOT_A_TASK = re.compile(
    r"(?:say|admit|confess|agree|disagree|be honest|be careful|vent|laugh|wonder|know|ask you|ask\b|tell you|apologi[sz]e|thank|go(?: now| soon| home| to (?:bed|sleep))?$|"
    r"run(?: now)?$|leave(?: now| soon)?$|think\b|sleep|eat|rest|breathe|relax|get (?:some|going|out)|calm|wait|see\b|be\b|understand|talk\b|stop\b|"
    r"hear|remember|have\b|accept|believe|worry|your|you\b|help\b|some|more|time\b|a (?:break|coffee|drink|hug|vacation|moment|minute|beer|nap|hand|favor)|coffee|it\b|that\b|"
    r"this\b|look at it|do (?:it|this|that|something)(?: .{0,12})?$|pee|cry|scream|deal with)"
    r"|(?:帮助|帮忙|你|您|注意|说|知道|休息|冷静|吐槽|抱怨|夸|感谢|下雨|下雪|上班|放假|上课|上学|休假|加班|降温|升温|开学|过年|结婚|起飞|去旅游|去玩|时间|安慰|一[点些杯个下]|什么|多少|多久|吗|的是|承认|想|睡|吃|喝|走了|考虑|的话|他|她|更多|爱|钱|等|怎么|哪|去睡|回家|的)"
)
IMPERATIVE_RULE = re.compile(
    r"(?:please )?(?:always|never|don't|do not|avoid|only use|make sure)\b|(?:请)?(?:总是|永远|一律|统一|每次|不要|不准|不许|别|禁止|务必|必须|只能?用|凡是|所有.{1,20}都[要用])"
)

# What a preference is about: the same topic gives the same key, so a later taste replaces the earlier one.
PREFERENCE_TOPICS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (scope, name, re.compile(pattern))
    for scope, name, pattern in (
        (
            "ui",
            "theme",
            r"(?:dark|light|night|day|high[- ]contrast) ?(?:mode|theme|color scheme)|themes?\b|深色|浅色|暗色|亮色|夜间模式|主题|暗黑模式",
        ),
        ("ui", "font", r"\bfonts?\b|font size|字体|字号"),
        ("ui", "layout", r"\blayout|sidebar|compact view|dashboard|布局|侧边栏|界面"),
        ("coding", "indentation", r"\b(?:tabs|spaces|indent\w*)\b|缩进|制表符|\btab\b|空格"),
        ("coding", "commit-messages", r"commit messages?|conventional commits|提交信息|提交说明|commit信息"),
        ("coding", "naming", r"snake_?case|camel_?case|kebab-?case|naming|命名"),
        ("coding", "typing", r"type hints?|type annotations?|static typing|类型注解|类型标注"),
        ("coding", "testing", r"\btests?\b|\btesting\b|\btdd\b|pytest|unittest|单元测试|写测试|测试"),
        (
            "coding",
            "style",
            r"functional (?:style|programming)|object[- ]oriented|code style|\blinter|函数式|面向对象|代码风格",
        ),
        ("coding", "comments", r"\bcomments?\b|docstrings?|注释"),
        (
            "writing",
            "language",
            r"\b(?:in|use|using|speak|write in|reply in|answers? in) (?:english|chinese|mandarin|french|german|japanese|spanish|korean|british english|american english)"
            r"|(?:用|使用|说|讲|写)?(?:中文|英文|英语|汉语|日语|日文|法语|德语|繁体中文?|简体中文?|普通话)",
        ),
        (
            "writing",
            "tone",
            r"\b(?:tone|formal|informal|casual|friendly|polite|emojis?)\b|语气|口吻|正式|随意|表情符号|表情|礼貌",
        ),
        (
            "writing",
            "length",
            r"\b(?:concise|brief(?:ly)?|short(?:er)?|detailed|long(?:er)?|verbose|terse|to the point|succinct)\b|简洁|简短|详细|精简|啰嗦|冗长|长篇|言简意赅|简明",
        ),
        (
            "writing",
            "format",
            r"\b(?:bullet(?:ed)?(?: points?| lists?)?|markdown|tables?|lists?|paragraphs?|headings?|iso dates?|date format)\b|列表|表格|要点|段落|分点|日期格式",
        ),
        (
            "tools",
            "editor",
            r"\b(?:vim|neovim|emacs|vs ?code|sublime|jetbrains|pycharm|intellij|cursor|zed|editors?)\b|编辑器",
        ),
        ("tools", "shell", r"\b(?:zsh|bash|fish|powershell|terminals?|shell)\b|终端"),
        ("tools", "browser", r"\b(?:chrome|firefox|safari|browsers?)\b|浏览器"),
        (
            "tools",
            "package-manager",
            r"\b(?:pnpm|npm|yarn|poetry|pipenv|uv|pip|conda|homebrew|package managers?)\b|包管理器?",
        ),
        ("tools", "database", r"\b(?:postgres\w*|mysql|sqlite|mongodb|redis|databases?)\b|数据库"),
        (
            "coding",
            "language",
            r"\b(?:python|rust|golang|typescript|javascript|kotlin|java|ruby|c\+\+|swift|haskell|elixir|programming languages?)(?![a-z])|编程语言",
        ),
        ("other", "units", r"\b(?:metric|imperial|celsius|fahrenheit|kilomet\w+|units?)\b|公制|英制|摄氏|华氏|单位"),
        ("other", "meetings", r"\bmeetings?\b|会议|开会"),
        ("other", "contact", r"\b(?:email|e-mail|phone calls?|slack|async)\b|邮件|电话|微信"),
    )
)
PREFERENCE_SCOPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "coding",
        re.compile(
            r"\b(?:code|coding|push\w*|functions?|class(?:es)?|api|apis|refactor\w*|commits?|pull requests?|prs?|branch\w*|variables?|imports?|deploy\w*|sql|merge|rebase|monorepo)\b|代码|函数|变量|编程|提交|重构|接口|分支|部署|合并"
        ),
    ),
    (
        "ui",
        re.compile(
            r"\b(?:ui|buttons?|icons?|colou?rs?|screens?|menus?|views?|animations?)\b|界面|弹窗|按钮|图标|颜色|屏幕|菜单|动画"
        ),
    ),
    (
        "tools",
        re.compile(
            r"\b(?:tools?|apps?|git|docker|cli|ide|plugins?|software|libraries|library|frameworks?|linux|mac\w*|windows|django|react|vue|kubernetes)\b|工具|软件|插件|框架|命令行|应用"
        ),
    ),
    (
        "writing",
        re.compile(
            r"\b(?:answer(?:s|ed|ing)?|repl(?:y|ies|ied)|respon[ds]\w*|writing|writ(?:e|ten)|explanations?|explain|summar\w+|documents?|docs|reports?|emails?|sentences?|prose|call me|address me)\b|回答|回复|写作|文档|报告|总结|解释|文章|说明|文风|叫我|称呼"
        ),
    ),
)
