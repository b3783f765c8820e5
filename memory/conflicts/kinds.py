"""What excludes what among the things that statements say something is: sorts of things, and states."""

from __future__ import annotations

import re

# Of each line one can hold of one thing at a time. What stands between two `=` is the same in other words; what may be
# both (a dog and a rescue, a queue and a project) stands in no line together.
_SORTS = """
queue=message queue=message broker=broker, database=relational database=document database=graph database=db, cache, scheduler, load balancer, compiler, web server, search engine, operating system, browser, debugger, linter, firewall, spreadsheet, package manager, file system
monolith=monolithic application=monolithic, microservices=set of microservices
mobile app, web app, desktop app, website
text editor=editor, drawing program, image editor, video editor, music player, calculator, game
library, framework, command-line tool=cli, mobile app, web app, desktop app, browser extension, programming language
relational, document, graph, columnar, key-value, time-series, vector
python, rust, go, java, javascript, typescript, ruby, kotlin, swift, php, perl, c++, c#, scala, haskell, elixir, erlang, lua
cat, dog, horse, pony, rabbit, hedgehog, squirrel, fox, wolf, deer, donkey, goose, pigeon, owl, gecko, chinchilla, frog, hamster, parrot, canary, goldfish, tortoise, turtle, snake, guinea pig, goat, sheep, cow, pig, hen=chicken, duck, ferret, lizard, mouse, rat
bird, cat, dog, horse, rabbit, fish, snake, insect
tree, shrub, fern, moss, cactus
oak, birch, beech, maple, pine, spruce, willow, elm, chestnut
antibiotic, painkiller=analgesic, antihistamine, antidepressant, sedative=sleeping pill, vaccine, laxative, diuretic, steroid, beta blocker, blood thinner=anticoagulant, antiviral, statin
tablet=pill, capsule, syrup, injection, ointment=cream, patch, inhaler, drops
hotel, hostel, museum, school, hospital, pharmacy, restaurant, bar=pub, bakery, supermarket, cinema, theatre=theater, church, mosque, synagogue, bank, post office, gym, police station, fire station, warehouse, factory, prison, clinic=health centre, kindergarten=nursery=day-care centre=daycare=day-care, nursing home, stadium, airport
charity=nonprofit=non-profit=foundation=non-profit organisation=non-profit organization=nonprofit organization, company=business=corporation=firm=for-profit, cooperative=co-op, government agency=public authority, university, trade union, political party
football, tennis, chess, rowing, swimming, cycling, running, volleyball, basketball, hockey, cricket, rugby, badminton, golf, judo, karate, handball, baseball, sailing, climbing, book, choir
piano, violin, cello, guitar, flute, trumpet, clarinet, drum, saxophone, viola, trombone, harp, organ
van, bus=minibus, lorry=truck, motorcycle=motorbike, bicycle=bike, tram, train, boat, ferry, trailer, tractor, helicopter, plane=airplane, car
electric, diesel, petrol=gasoline, hybrid, hydrogen
invoice, contract, receipt, consent form, memo, manual, quote=quotation, certificate, purchase order, prescription, discharge letter, questionnaire
kitchen, bathroom, bedroom, living room, meeting room=conference room, storage room=storeroom, operating room=operating theatre, waiting room, dining room, server room, office, laboratory=lab, classroom, ward, cellar=basement, attic, garage, laundry
soup, salad, cake, bread, pizza, stew, curry, sandwich, pie
tea, coffee, juice, beer, wine, lemonade
wooden=wood, steel, aluminium=aluminum, plastic, glass, concrete, brick, stone, leather, cotton, wool=woollen, silk, linen, polyester, copper, bronze, rubber, ceramic, cardboard
novel, poem, biography, cookbook, textbook, comic, dictionary
retrospective, planning session=planning meeting, review, training, interview
steakhouse, vegetarian restaurant, vegan restaurant, seafood restaurant, pizzeria, sushi bar, noodle bar, café=cafe
plastic=artificial=fake, living=real=genuine
comedy, thriller, documentary, musical, western
workshop, party, concert, wedding, funeral, exam, lecture
river, lake, mountain, island, desert
cardiologist, neurologist, dermatologist, psychiatrist, radiologist, oncologist, dentist, paediatrician=pediatrician, gynaecologist=gynecologist, anaesthetist, general practitioner=gp
primary=elementary, secondary, vocational
first-year, second-year, third-year
nonprofit=non-profit=charity, public company=publicly traded company=listed company, private company, government agency
nonprofit=non-profit=charitable, commercial=for-profit
队列=消息队列=消息中间件, 数据库=关系数据库=关系型数据库=文档数据库=图数据库, 缓存=缓存服务, 负载均衡器, 调度器, 编译器, 搜索引擎, 操作系统, 浏览器, 防火墙, 网关, 编程语言
关系=关系型, 文档=文档型, 图, 列式, 时序
框架, 插件, 命令行工具
猫, 狗=犬, 兔子=兔, 仓鼠, 鹦鹉, 乌龟, 马, 羊, 牛, 猪, 鸡, 鸭
抗生素, 止痛药=镇痛药, 抗组胺药, 抗抑郁药, 安眠药=镇静剂, 疫苗, 维生素, 降压药, 降糖药, 抗病毒药, 退烧药
药片=片剂, 胶囊, 糖浆, 注射剂=针剂, 药膏=软膏
酒店=宾馆, 博物馆, 学校, 医院, 药店=药房, 餐厅=餐馆=饭店, 咖啡馆=咖啡店, 书店, 图书馆, 电影院, 剧院, 教堂, 银行, 邮局, 健身房, 工厂, 幼儿园, 超市, 体育馆, 食堂
宿舍楼, 办公楼, 教学楼, 实验楼, 住宅楼, 门诊楼, 住院楼
公益组织=慈善机构=非营利组织=非营利机构=公益机构, 公司=商业公司=企业, 政府机构=政府部门, 合作社, 大学
足球, 篮球, 网球, 排球, 羽毛球, 乒乓球, 象棋, 围棋, 游泳, 赛艇, 骑行, 跑步
会议室, 手术室, 仓库=储藏室=储物间, 办公室, 教室, 实验室, 厨房, 卧室, 卫生间=洗手间, 候诊室, 机房, 病房
发票, 合同, 收据, 同意书=知情同意书, 申请表, 处方, 说明书, 证书, 邀请函, 报价单
钢琴, 小提琴, 大提琴, 吉他, 长笛, 小号, 古筝, 二胡
公交车, 卡车, 摩托车, 自行车, 救护车, 面包车, 轿车
电动, 柴油, 汽油, 混动
小说, 诗集, 传记, 教材=教科书, 食谱, 漫画, 词典
喜剧, 纪录片, 惊悚片, 动画片
"""
_STATES = """
open=up=running=live=available=active=working=online=enabled=supported=ready=valid=operational=back in service=in service=unlocked=in operation=in use, closed=shut=down=blocked=suspended=offline=broken=out of order=out of service=out of action=deprecated=retired=disabled=unavailable=expired=locked=frozen=stopped=halted=on hold=cancelled=under maintenance=under repair=decommissioned=shut down=closed down=switched off=turned off=dead=inactive=defunct
开放=运行=运行中=可用=有效=在线=启用=支持=正常=正常运行=正常工作=上线=营业=通车=畅通=在用=启用中, 关闭=停运=停用=弃用=废弃=下线=离线=故障=坏了=损坏=维护中=维修中=停业=封闭=锁着=过期=失效=暂停=冻结=阻塞=堵塞=被阻塞=中断=停工=报废=已关闭=已停用=已弃用=已下线=已停运
left-handed, right-handed
married, divorced, widowed, single, engaged
draft=in draft, published, archived
planned=not started, ongoing=in progress=under way=running=under construction, finished=completed=complete=done=over=concluded, cancelled=canceled=called off, on hold=paused
active=valid=in force, expired=lapsed, suspended, revoked, cancelled=canceled, archived, retired, deprecated
active, inactive, dormant
deprecated=discontinued=obsolete=end of life=being phased out, supported=fully supported=maintained=actively maintained=recommended
blocked=stuck, unblocked=ready=ready to start, done=finished
passing=green, failing=red=broken
running, stopped=shut down
paused, running, resumed
stable=production-ready, experimental=beta=in beta=alpha=in alpha
read-only, writable=editable
accessible=open, off limits=out of bounds=forbidden=closed=inaccessible
public, private=confidential=internal
free=free of charge, paid=paid only=chargeable
merged, open=unmerged
delivered, in transit, lost
healthy=well, sick=ill=unwell
default, custom
small=tiny, medium-sized, large=huge=big=spacious
heated, unheated
approved, pending=pending approval=awaiting approval=under review, rejected=refused=declined=denied
paid, unpaid=outstanding=overdue
vacant=empty=free=unoccupied, occupied=taken=in use=full=filled, reserved=booked
free=available, occupied=taken=in use=busy=unavailable, fully booked=booked out=sold out
in stock=available, sold out=out of stock
working=working again=in working order=functional=operational, broken=out of order=out of service=defective=faulty, under repair=being repaired
open=open again, closed=shut
online=live=up=up and running=reachable, offline=down=taken down=unreachable=under maintenance=down for maintenance
fixed=repaired=resolved=solved=closed, open=unresolved=unsolved=unfixed
conscious=awake, unconscious, asleep
on leave=on holiday=on vacation, at work=on duty
confirmed, tentative=provisional=unconfirmed, cancelled=canceled
raw, cooked, fried
edible, poisonous
clean, dirty
fresh, spoiled=stale
gone, back=back again
intact=undamaged, damaged
未开始, 施工=施工中=进行=进行中=正在进行=正在进行中=开展中, 结束=完工=完成=已完成=已结束, 取消=已取消, 暂停=已暂停
有效, 过期=已过期=失效=已失效, 无效, 作废=已作废
批准=已批准=通过=已通过, 待审批=待批=审批中, 驳回=被驳回=已驳回=拒绝
签署=已签署, 未签署=待签署
在职, 离职=已离职, 休假=休假中
正常=正常运行=正常工作, 故障=挂了=坏了=坏的=损坏=停用, 维修中=在维修
空闲=空的=空着=空缺, 占用=占用中=满的=已满=满=使用中
上线=已上线, 下线=已下线
已婚, 未婚=单身, 离异=离婚
开放=开放中=对外开放=开着的=开着=开门=开的=营业=营业中, 关闭=关着的=关着=关门=锁着的=锁着=锁的=停业=闭馆=不开
弃用=废弃=停止维护=停用, 维护=维护中=支持
单体应用=单体架构=单体, 微服务=微服务架构
复盘会, 计划会=规划会, 评审会, 培训会=培训
素食餐厅, 烤肉店, 火锅店, 海鲜餐厅, 咖啡馆
假花=假的=塑料花, 真花=真的=真的植物
公开=公开的, 私有=私有的=保密的=内部的
只读, 可写=可编辑
稳定版=稳定, 测试版=实验性
免费=免费的, 收费=收费的
堵塞=阻塞=被阻塞, 就绪=可以开始
"""
_KIN = """
mother, father, sister, brother, cousin, aunt, uncle, grandmother, grandfather, daughter, son, niece, nephew, wife, husband, stepmother, stepfather, mother-in-law, father-in-law
妈妈=母亲, 爸爸=父亲, 姐姐, 妹妹, 哥哥, 弟弟, 表哥, 表姐, 姑姑, 叔叔, 舅舅, 奶奶, 外婆, 爷爷, 女儿, 儿子, 妻子=老婆=太太, 丈夫=老公
"""
_NATIONS = """
german, french, italian, spanish, swedish, norwegian, danish, finnish, dutch, british, american, chinese, japanese, korean, indian, polish, austrian, swiss, belgian, portuguese, greek, turkish, ukrainian, irish, canadian, mexican, brazilian, australian
"""


def _grouped(text: str) -> dict[str, dict[int, str]]:
    """Each word or phrase by the lines that it stands in, and in each by the first of those that say the same."""
    found: dict[str, dict[int, str]] = {}
    for number, line in enumerate(filter(None, text.splitlines())):
        for each in line.split(", "):
            names = each.split("=")
            for name in names:
                found.setdefault(name, {})[number] = names[0]
    return found


_KINDS = _grouped(_SORTS + _STATES + _KIN + _NATIONS)
_CONDITIONS = frozenset(_grouped(_STATES))
_RELATIVES = frozenset(_grouped(_KIN))
_ORIGINS = frozenset(_grouped(_NATIONS))
_LONGEST_HAN = max(len(kind) for kind in _KINDS if not kind.isascii())
_SHORT_WORD = 4
_DENYING = frozenset({"un", "in", "im", "ir", "il", "dis", "non-", "non"})
_WORDS = 3  # in a name of a kind


def is_kind(text: str) -> bool:
    """Whether all of a folded text is the name of a known kind or state."""
    return text in _KINDS


def kind_at_end(text: str) -> str | None:
    """The longest known kind or state with which a folded text ends, as `message queue` or `止痛药`."""
    if not text.isascii():
        return next(
            (text[-size:] for size in range(min(_LONGEST_HAN, len(text)), 0, -1) if text[-size:] in _KINDS), None
        )
    words = text.split()
    tails = (" ".join(words[-size:]) for size in range(min(_WORDS, len(words)), 0, -1))
    return next((name for tail in tails for name in (tail, re.sub(r"s$", "", tail)) if name in _KINDS), None)


def state_at_end(text: str) -> str | None:
    """The known state with which a folded text in Han characters ends without "is", as `有效`."""
    return next(
        (text[-size:] for size in range(min(_LONGEST_HAN, len(text)), 1, -1) if text[-size:] in _CONDITIONS), None
    )


def is_kin(kind: str) -> bool:
    """Whether a kind says that somebody is a relative: of one person that, and of another one this."""
    return kind in _RELATIVES


def is_nationality(text: str) -> bool:
    """Whether all of a folded text says where somebody or something comes from."""
    return text in _ORIGINS


def deny_each_other(one: str, two: str) -> bool:
    """Whether of two words one is the other with a prefix that denies it."""
    short, long = sorted((one, two), key=len)
    return len(short) > _SHORT_WORD and long.endswith(short) and long[: -len(short)] in _DENYING


def exclude(one: str, two: str) -> bool:
    """Whether nothing is both of two kinds, or in both of two states; of those not known it may be."""
    first, second = _KINDS.get(one, {}), _KINDS.get(two, {})
    shared = first.keys() & second.keys()
    return any(first[line] != second[line] for line in shared) and not any(
        first[line] == second[line] for line in shared
    )
