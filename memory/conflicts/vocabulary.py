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
MODALS = _words(
    "must should shall need needs ought muss müssen soll sollen doit doivent debe deben 必须 须 务必 一定要 需要 需 要"
)

SAME = _classes(
    """
    database db databases
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
    email e-mail mail
    phone telephone
    photo picture image
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
    ("总是", "从不"), ("批准", "驳回"), ("已婚", "单身"), ("素食", "吃肉"), ("稳定", "不稳定"), ("快", "慢"), ("多", "少"), ("高", "低"),
    ("aktiviert", "deaktiviert"), ("erlaubt", "verboten"), ("activé", "désactivé"), ("activado", "desactivado"),
)  # fmt: skip

# What points to a time that is over: such a text says nothing of now.
PAST = (
    "used to", "formerly", "previously", "once was", "back then", "had been", "in the past", "originally", "at first",
    "以前", "曾经", "曾", "原来", "过去", "之前是", "原先", "当时", "最初", "früher", "damals", "autrefois", "auparavant", "antes",
    "以前は", "かつて",
)  # fmt: skip

# What stands before a number that names and does not count.
NUMBERED = _words(
    """
    room chapter step phase ticket issue pr bug task story floor line page section sprint milestone server node shard
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

# Words between two things that are compared: the other way round it says the opposite.
COMPARING = re.compile(
    r"(?<!\w)(?:over|than|rather than|instead of|before|after|better|als|statt|que|avant|antes de)(?!\w)|而不是|胜过|优于|比|早于|晚于|先于|之前|之后"
)
