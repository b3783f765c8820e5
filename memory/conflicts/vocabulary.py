"""Words that detection knows: empty ones, other names of one thing, opposites, what points to the past or lists."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _classes(text: str) -> dict[str, str]:
    """Each word of a line by the first word of its line."""
    lines = [line.split() for line in text.strip().splitlines()]
    return {word.replace("_", " "): line[0] for line in lines for word in line}


# Words without which a statement says the same.
FILLERS = _words(
    """
    a an the is are am be been being that this these those please just really very also actually remember note so now
    currently presently basically simply do does did has have had will would shall i we us our ours my me mine
    of to in on at for with by as it its there then and kindly ok okay fyi
    der die das dem den des ein eine einen einem einer ist sind wir unser unsere unseren unserer ich mein meine bitte
    und auch im am zum zur von mit für auf in
    le la les un une des du de d l est sont nous notre nos je mon ma mes et en au aux pour sur avec s'il plaît
    el los las una unos unas es son está están nosotros nuestro nuestra nuestros yo mi mis y con para por que del al
    的 了 吧 呢 啊 哦 嘛 吗 请 就 也 已 已经 我们 我 咱们 大家 这个 那个 这 那 一下 将 应该 应 应当 请记住 记住 注意
    目前 现在 当前 其实 是 为 在 有 把 被 给 与 和 及 并 于 个 请注意 务必记住
    は が を に で の と も へ です ます する している ください
    """
)
# Phrases that only introduce a statement.
INTRODUCING = re.compile(
    r"(?<!\w)(?:just )?(?:(?:please )?(?:don't forget|do not forget|keep in mind|bear in mind|note|remember|be aware)(?: that)?|"
    r"for the record|by the way|btw|as a reminder|a (?:quick )?(?:note|reminder)|as you know|as discussed|as mentioned|as agreed|in fact|"
    r"of course|to be clear|in general|generally|at the moment|at present|right now|once again|definitely|certainly|obviously|"
    r"essentially|i think|i believe|it is worth noting that|it turns out that|as far as i know|afaik|in other words|as always|"
    r"übrigens|zur erinnerung|derzeit|à noter|pour rappel|actuellement|cabe recordar|por cierto|actualmente)(?!\w)[:,]?|"
    r"顺便说一下|顺便提一下|顺便说|提醒一下|需要注意的是|要注意的是|请注意|别忘了|不要忘记|请牢记|记一下|备注|说明一下|目前来看|总之|基本上|确实|当然|"
    r"的话|呀|哈|嗯|一直以来|众所周知|据我所知|就我所知|如前所述|再说一遍|补充一下|对了|其实吧|ちなみに|なお|念のため"
)
MODALS = _words(
    "must should shall need needs ought muss müssen soll sollen doit doivent debe deben 必须 须 务必 一定要 需要 需 要"
)

SAME = _classes(
    """
    database db databases
    数据库 资料库
    软件 软体
    网络 网路
    程序 程式
    服务器 伺服器
    默认 预设 缺省
    文件 档案
    项目 专案
    信息 资讯
    视频 影片
    屏幕 萤幕
    用户 使用者
    登录 登入
    界面 介面
    账号 帐号 账户
    有 拥有 具有
    own owns possess possesses
    repository repo repos repositories
    configuration config configs
    documentation docs doc
    environment env
    production prod
    development dev
    kubernetes k8s
    postgres postgresql pg
    javascript js
    typescript ts
    application app apps
    maximum max
    minimum min
    use uses used using utilize utilise employ adopt adopts
    choose chose chosen pick picked select selected choice
    begin begins start starts started starting commence
    end ends finish finishes
    buy purchase
    large big
    fast quick
    delete remove erase
    create make
    every each
    meeting meetings sync standup
    deploy deploys deployment deployments deployed deploying
    timeout time-out timeouts
    live lives reside resides living
    work works working
    email e-mail
    phone telephone
    photo picture image
    grey gray
    cancelled canceled
    adviser advisor
    ok okay
    centre center
    programme program
    daily everyday
    two-factor 2fa
    answer answers reply replies respond
    short brief concise
    detailed verbose
    prefer prefers preferred favour favor favours favors
    like likes enjoy enjoys
    hate hates dislike dislikes
    allow allows allowed permit permits permitted
    forbid forbids forbidden prohibit prohibited disallow disallowed ban banned
    enable enables enabled
    disable disables disabled
    用 使用 采用 选用 选择 用的
    喜欢 喜爱 偏好 更喜欢 偏爱 爱
    住 居住 定居
    工作 上班 任职 就职 供职
    必须 须 务必 一定要 需要 需
    每天 每日 天天
    电脑 计算机
    负责 主管 管理
    允许 准许 许可 可以
    禁止 不准 不许 不允许 严禁
    启用 开启 打开 启动
    停用 禁用 关闭 关掉
    回答 回复 答复
    简短 简洁 简明
    会议 例会
    截止 截至
    开始 起
    """
)

# Both words of a pair cannot hold of one thing.
OPPOSITES: tuple[tuple[str, str], ...] = (
    ("enable", "disable"), ("allow", "forbid"), ("on", "off"), ("true", "false"), ("public", "private"),
    ("required", "optional"), ("mandatory", "optional"), ("open", "closed"), ("open", "close"), ("accept", "reject"),
    ("include", "exclude"), ("increase", "decrease"), ("raise", "lower"), ("light", "dark"), ("tab", "space"),
    ("left", "right"), ("upper", "lower"), ("first", "last"), ("synchronous", "asynchronous"), ("sync", "async"),
    ("before", "after"), ("always", "sometimes"), ("short", "detailed"), ("short", "long"), ("formal", "casual"),
    ("formal", "informal"), ("like", "hate"), ("love", "hate"), ("vegetarian", "carnivore"), ("manual", "automatic"),
    ("manually", "automatically"), ("online", "offline"), ("remote", "on-site"), ("single", "double"),
    ("metric", "imperial"), ("ascending", "descending"), ("horizontal", "vertical"), ("stable", "unstable"),
    ("safe", "unsafe"), ("pass", "fail"), ("passed", "failed"), ("approved", "rejected"), ("alive", "dead"),
    ("married", "single"), ("up", "down"), ("strict", "lenient"), ("lowercase", "uppercase"), ("hot", "cold"),
    ("possible", "impossible"), ("correct", "incorrect"), ("active", "inactive"), ("supported", "unsupported"),
    ("允许", "禁止"), ("启用", "停用"), ("公开", "私有"), ("必填", "可选"), ("必须", "可选"), ("接受", "拒绝"), ("包含", "排除"),
    ("增加", "减少"), ("提高", "降低"), ("深色", "浅色"), ("左", "右"), ("大写", "小写"), ("同步", "异步"), ("喜欢", "讨厌"),
    ("简短", "详细"), ("正式", "随意"), ("手动", "自动"), ("线上", "线下"), ("在线", "离线"), ("升序", "降序"), ("单引号", "双引号"),
    ("支持", "反对"), ("通过", "失败"), ("开放", "关闭"), ("空格", "制表符"), ("之前", "之后"), ("完整", "部分"), ("成功", "失败"),
    ("always", "rarely"), ("often", "rarely"), ("often", "seldom"), ("early", "late"), ("full", "empty"), ("strong", "weak"),
    ("hard", "soft"), ("heavy", "light"), ("easy", "hard"), ("easy", "difficult"), ("simple", "complex"), ("cheap", "expensive"),
    ("rich", "poor"), ("wet", "dry"), ("clean", "dirty"), ("loud", "quiet"), ("noisy", "quiet"), ("old", "new"), ("old", "young"),
    ("fast", "slow"), ("high", "low"), ("large", "small"), ("wide", "narrow"), ("thick", "thin"), ("deep", "shallow"), ("near", "far"),
    ("inside", "outside"), ("indoor", "outdoor"), ("indoors", "outdoors"), ("internal", "external"), ("local", "remote"),
    ("static", "dynamic"), ("free", "paid"), ("temporary", "permanent"), ("visible", "hidden"), ("locked", "unlocked"),
    ("encrypted", "unencrypted"), ("read-only", "writable"), ("mutable", "immutable"), ("success", "failure"), ("win", "lose"),
    ("agree", "disagree"), ("true", "wrong"), ("right", "wrong"), ("start", "stop"), ("begin", "end"), ("add", "delete"),
    ("import", "export"), ("push", "pull"), ("upload", "download"), ("connected", "disconnected"), ("working", "broken"),
    ("ready", "unready"), ("complete", "incomplete"), ("legal", "illegal"), ("known", "unknown"), ("available", "unavailable"),
    ("compatible", "incompatible"), ("healthy", "sick"), ("awake", "asleep"), ("present", "absent"), ("voluntary", "mandatory"),
    ("vertical", "flat"), ("positive", "negative"), ("more", "fewer"), ("more", "less"), ("most", "least"), ("sweet", "bitter"),
    ("sweet", "savoury"), ("black", "white"), ("introvert", "extrovert"), ("optimistic", "pessimistic"), ("hot", "iced"),
    ("大", "小"), ("长", "短"), ("早", "晚"), ("新", "旧"), ("贵", "便宜"), ("冷", "热"), ("远", "近"), ("强", "弱"), ("开", "关"), ("上", "下"),
    ("内", "外"), ("甜", "咸"), ("前", "后"), ("赞成", "反对"), ("同意", "反对"), ("安全", "危险"), ("简单", "复杂"), ("容易", "困难"), ("免费", "收费"),
    ("临时", "永久"), ("可见", "隐藏"), ("本地", "远程"), ("室内", "室外"), ("内部", "外部"), ("静态", "动态"), ("强制", "自愿"), ("正确", "错误"),
    ("兼容", "不兼容"), ("上升", "下降"), ("扩容", "缩容"), ("增长", "下降"), ("盈利", "亏损"), ("早睡", "熬夜"), ("内向", "外向"), ("乐观", "悲观"),
    ("清淡", "重口"), ("安静", "吵闹"), ("满", "空"), ("加密", "明文"), ("只读", "可写"), ("集中", "分散"), ("串行", "并行"), ("全职", "兼职"),
    ("开源", "闭源"), ("合法", "非法"), ("已知", "未知"), ("单线程", "多线程"), ("左侧", "右侧"), ("顶部", "底部"), ("男", "女"), ("买", "卖"),
    ("总是", "从不"), ("批准", "驳回"), ("已婚", "单身"), ("素食", "吃肉"), ("稳定", "不稳定"), ("快", "慢"), ("多", "少"), ("高", "低"),
    ("aktiviert", "deaktiviert"), ("erlaubt", "verboten"), ("activé", "désactivé"), ("activado", "desactivado"),
)  # fmt: skip

# Of each line one can hold of one thing at a time.
EXCLUSIVE: dict[str, int] = {
    word: number
    for number, line in enumerate(
        """
        hourly daily weekly biweekly fortnightly monthly quarterly yearly annually
        每小时 每天 每周 每月 每季度 每年
        red green blue yellow orange purple black white grey brown pink teal
        红色 绿色 蓝色 黄色 橙色 紫色 黑色 白色 灰色 棕色 粉色
        small medium large
        low medium high critical urgent
        todo doing done blocked pending cancelled finished
        beginner intermediate advanced expert
        junior senior
        full-time part-time
        morning noon afternoon evening night
        早上 上午 下午 晚上 夜里
        weekday weekend
        工作日 周末
        spring summer autumn winter
        春天 夏天 秋天 冬天
        north south east west
        male female
        window aisle
        男 女
        rot grün blau schwarz weiß
        rouge vert bleu noir blanc
        rojo verde azul negro blanco
        täglich wöchentlich monatlich jährlich
        quotidien hebdomadaire mensuel
        diario semanal mensual
        """.strip().splitlines()
    )
    for word in line.split()
}

# Words that say of a statement that it takes the place of another.
CHANGED = re.compile(
    r"(?<!\w)(?:now|switch(?:ed|ing)?|migrat(?:ed|ing)|moved|moving|chang(?:ed|ing)|replac(?:ed|es|ing)|upgraded|downgraded|renamed|"
    r"no longer|instead|from now on|as of|since then|anymore|any more|new|updated?|postponed|rescheduled|"
    r"jetzt|nun|inzwischen|gewechselt|umgezogen|désormais|maintenant|ahora|ya no)(?!\w)|"
    r"改为|改成|改用|改到|改在|换成|换为|换到|切换|迁移|迁到|搬到|搬去|搬家|现在|如今|新的|升级|不再|调整|推迟|提前|更换|变更|变成|変更|になりました|今は|引っ越"
)

# What points to a time that is over: such a text says nothing of now.
PAST = (
    "used to", "formerly", "previously", "once was", "back then", "had been", "in the past", "originally", "at first",
    "以前", "曾经", "曾", "原来", "过去", "之前是", "原先", "当时", "最初", "früher", "damals", "autrefois", "auparavant", "antes",
    "以前は", "かつて",
)  # fmt: skip

# What stands before a number that names and does not count.
NUMBERED = _words(
    """
    code room chapter step phase ticket issue pr bug task story floor line page section sprint milestone server node shard
    worker build team group option figure table lesson item question answer appendix gate track platform rule case
    number nr # zebra run batch level tier stage iteration epic rfc adr cve adr unit lane
    order invoice device sensor camera printer host rack replica partition customer user client seat bus flight train
    building block apartment wing door box bin pod slot set part volume season episode article clause
    第 号 raum kapitel schritt salle chapitre sala capítulo
    """
)
# Light words that a rewording may add or leave out beside a changed number.
LIGHT = _words(
    """
    set raise increase decrease lower reduce limit keep kept allow take takes last lasts run runs each per up down only
    about around roughly approximately exactly total value need require must should after within every become change
    changed update updated new current default configured go goes stay stays remain remains happen
    设 设置 设定 调 调整 改 改成 改为 变 变成 变为 上限 共 总共 大约 约 左右 每 只 最多 最少 定 定为 保持 需要 用 必须 内 后 以
    """
)

# Words that deny without a negation.
DENYING = _words(
    """
    stopped stop quit quits abandoned abandon lack lacks lacking refuse refuses refused fails fail unable discontinued scrapped ceased
    arrêté dejó aufgehört
    戒掉 戒了 放弃 弃用 停止 拒绝 缺乏 缺少 取消 废弃 无法 没法 杜绝 避免
    """
)

# Words that say that there is another besides.
BESIDES = re.compile(
    r"(?<!\w)(?:also|too|as well|additionally|another|one of|among|besides|auch|aussi|también|either|or)(?!\w)|也|还[有会是要能用]|另外|另一|之一|其中|以及|或者?|も"
)

# Words between two things that are compared: the other way round it says the opposite.
COMPARING = re.compile(
    r"(?<!\w)(?:over|than|rather than|instead of|before|after|better|als|statt|que|avant|antes de)(?!\w)|而不是|胜过|优于|比|早于|晚于|先于|之前|之后"
)
