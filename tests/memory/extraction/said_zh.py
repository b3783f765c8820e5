"""Chinese messages as people type them, with what each proposes (types, and words it must hold), and those that propose nothing."""

from __future__ import annotations

WORTH_KEEPING: list[tuple[str, list[str]]] = [
    ("记一下 测试环境的端口是 8081", ["facts 8081"]),
    ("帮我记一下哈，周五晚上不能发版", ["facts|preferences 周五晚上不能发版"]),
    ("帮我记着下周三要交房租", ["facts|tasks 交房租"]),
    ("备忘：服务器续费日期是 11 月 3 号", ["facts 11 月 3 号"]),
    ("麻烦记下，客户联系人换成王琳了", ["facts 王琳"]),
    ("你记住啊 我们的主仓库在 gitlab 不在 github", ["facts gitlab"]),
    ("记住了啊，生产库只读账号叫 reader01", ["facts reader01"]),
    ("请记住：发布负责人是陈静", ["facts 陈静"]),
    ("请記住，我們的客服信箱是 help@example.com", ["facts help@example.com"]),
    ("請幫我記一下：週會改到星期二下午三點", ["facts 星期二下午三點"]),
    ("要记得咱们的合同编号是 HT-2031", ["facts HT-2031"]),
    ("这个要记住：线上库的时区是 UTC", ["facts UTC"]),
    ("有件事你记一下，我老婆对花生过敏", ["facts 花生"]),
    ("给你记个东西：内网域名是 corp.lan", ["facts corp.lan"]),
    ("mark一下，灰度比例先按 10% 来", ["facts 10%"]),
    ("先记着，供应商的对接人是老赵", ["facts 老赵"]),
    ("别忘了哈，下周一要续签合同", ["tasks 续签合同"]),
    ("存一下：办公室的门禁号是 3 号楼 502", ["facts 502"]),
    ("顺便记一下我对青霉素过敏", ["profile|facts 青霉素"]),
    ("咱们的产品代号叫青鸟，记一下", ["facts 青鸟"]),
    ("我闺女 6 月 1 号生日，帮我记住", ["facts 6 月 1 号"]),
    ("记住哦～ CI 用的 runner 是 arm64 的", ["facts arm64"]),
    ("请牢记：所有金额单位都是分，不是元", ["facts|preferences 分"]),
    ("务必记住 线上数据库不能直接改", ["facts|preferences 线上数据库不能直接改"]),
    ("重要！！记住：回滚脚本在 ops/rollback.sh", ["facts ops/rollback.sh"]),
    ("你帮我记一个事，李总的航班是周四早上八点", ["facts 周四早上八点"]),
    ("以后回答都用中文", ["preferences 中文"]),
    ("以后别给我写那么长的解释了", ["preferences 那么长的解释"]),
    ("以后代码里不要加注释哈", ["preferences 注释"]),
    ("今后提交信息统一用英文写", ["preferences 英文"]),
    ("别再用表情符号了", ["preferences 表情"]),
    ("不要再叫我先生了，叫我小周就行", ["preferences 先生", "profile 小周"]),
    ("从今天开始，日报都按这个模板：先写结论再写过程", ["preferences 模板"]),
    ("以后遇到时间都写成 ISO 格式", ["preferences ISO"]),
    ("往后给我的代码都带上类型标注", ["preferences 类型标注"]),
    ("以後都用繁體中文回覆我", ["preferences 繁體中文"]),
    ("以后凡是涉及删数据的操作先问我", ["preferences 删数据"]),
    ("每次改完代码都要跑一遍测试", ["preferences 测试"]),
    ("所有接口都必须写文档", ["preferences 文档"]),
    ("回答我的时候一律用要点列出来", ["preferences 要点"]),
    ("永远不要直接 push 到 main", ["preferences push"]),
    ("以后叫我阿杰就好", ["preferences|profile 阿杰"]),
    ("今后所有的报告默认用 PDF 格式", ["preferences PDF"]),
    ("下次开始 回复简短点", ["preferences 简短"]),
    ("以后写 SQL 关键字都大写吧", ["preferences 大写"]),
    ("不要再推荐付费方案给我了", ["preferences 付费方案"]),
    ("以后不用每次都道歉", ["preferences 道歉"]),
    ("从下个版本起，我们只支持 Python 3.11 以上", ["preferences|decisions|facts Python 3.11"]),
    ("定了，用 Postgres", ["decisions Postgres"]),
    ("就这么定了，前端用 Vue", ["decisions Vue"]),
    ("前端框架就用 React 吧，就这么定了", ["decisions React"]),
    ("我们最后还是选了 RabbitMQ", ["decisions RabbitMQ"]),
    ("咱们定了周四上线", ["decisions 周四"]),
    ("跟老板商量好了，下个月开始收费", ["decisions 下个月开始收费"]),
    ("讨论完了 缓存方案定成 Redis", ["decisions Redis"]),
    ("我们不用 Kafka 了，改成 RabbitMQ", ["decisions|retract Kafka"]),
    ("数据库换成 MySQL 了", ["decisions|facts MySQL"]),
    ("部署时间改到周五", ["decisions|facts 周五"]),
    ("最终方案：单体架构，不拆微服务", ["decisions 单体架构"]),
    ("经过对比，我们选择 FastAPI 而不是 Flask", ["decisions FastAPI"]),
    ("大家一致同意用 monorepo", ["decisions monorepo"]),
    ("会上拍板了，移动端先做安卓", ["decisions 安卓"]),
    ("敲定了：域名用 zhiyun.cn", ["decisions zhiyun.cn"]),
    ("行，那就按方案二来", ["decisions 方案二"]),
    ("好 那就定 9 月 10 号发布", ["decisions 9 月 10 号"]),
    ("团队决定把日志从 ES 迁到 ClickHouse", ["decisions ClickHouse"]),
    ("我们打算用 Go 重写网关，已经定下来了", ["decisions Go"]),
    ("咱們決定用 Docker 部署", ["decisions Docker"]),
    ("结论：先不上 k8s，用 compose 顶着", ["decisions k8s"]),
    ("我这边已经确定用 Stripe 收款了", ["decisions Stripe"]),
    ("我们跟设计那边说好了，主色改成蓝色", ["decisions 蓝色"]),
    ("登录方案采用短信验证码，不做密码登录", ["decisions 短信"]),
    ("我们确定放弃 IE 支持了", ["decisions IE"]),
    ("我一般都用 vim 写代码", ["preferences vim"]),
    ("我习惯用 4 个空格缩进", ["preferences 4 个空格"]),
    ("我比较喜欢暗色主题", ["preferences 暗色"]),
    ("我更喜欢先看结论再看细节", ["preferences 结论"]),
    ("本人偏好函数式写法", ["preferences 函数式"]),
    ("我喜欢你回答得简短一点", ["preferences 简短"]),
    ("我不太喜欢太啰嗦的回复", ["preferences 啰嗦"]),
    ("我平时都是用 pnpm 不用 npm", ["preferences pnpm"]),
    ("个人更倾向于写单元测试而不是集成测试", ["preferences 单元测试"]),
    ("相比微信我更愿意用邮件沟通", ["preferences 邮件"]),
    ("我不爱用鼠标，喜欢全键盘操作的编辑器", ["preferences 编辑器"]),
    ("我偏愛淺色主題", ["preferences 淺色"]),
    ("我最讨厌代码里写拼音变量名", ["preferences 拼音"]),
    ("我通常用 Mac 开发", ["preferences|facts|profile Mac"]),
    ("我习惯早上开会", ["preferences 早上"]),
    ("我喜欢喝手冲咖啡，不喜欢速溶的", ["preferences 手冲"]),
    ("我还是喜欢用 tab 缩进哈哈", ["preferences tab"]),
    ("我叫林晓，在杭州做后端开发", ["profile 林晓", "profile 后端开发"]),
    ("我是做运维的", ["profile 运维"]),
    ("我是产品经理，不太懂代码", ["profile 产品经理"]),
    ("我在美团上班，做算法", ["profile 美团"]),
    ("我住在成都", ["profile 成都"]),
    ("我人在深圳", ["profile 深圳"]),
    ("我上个月刚搬到苏州了", ["profile 苏州"]),
    ("我刚换工作，现在在小米", ["profile 小米"]),
    ("我今年 32 岁", ["profile 32"]),
    ("我是湖南人", ["profile 湖南"]),
    ("我老家是山东的", ["profile 山东"]),
    ("我的英文名是 Leo", ["profile Leo"]),
    ("我邮箱是 leo@example.com", ["profile leo@example.com"]),
    ("我生日 3 月 8 号", ["profile 3 月 8 号"]),
    ("本人就职于招商银行", ["profile 招商银行"]),
    ("我吃素", ["profile|preferences|facts 素"]),
    ("我对海鲜过敏", ["profile 海鲜"]),
    ("我女朋友叫小雨", ["profile|facts 小雨"]),
    ("我們公司叫雲帆科技", ["profile|facts 雲帆科技"]),
    ("我负责支付模块", ["profile|facts 支付模块"]),
    ("我時區是 UTC+8", ["profile UTC+8"]),
    ("大家都叫我老王", ["profile 老王"]),
    ("我养了一只猫叫团子", ["profile|facts 团子"]),
    ("我是一名在读博士生", ["profile 博士生"]),
    ("我的目标是三个月内把英语练到能开会", ["goals 英语"]),
    ("我们今年的目标是做到 10 万用户", ["goals 10 万用户"]),
    ("我想在年底前把博客做到一千订阅", ["goals 一千订阅"]),
    ("我今年打算考下 PMP", ["goals PMP"]),
    ("我们的长期目标就是把成本降一半", ["goals 成本"]),
    ("这个季度争取把崩溃率降到 0.1%", ["goals 崩溃率"]),
    ("我計劃明年跑一次全馬", ["goals 全馬"]),
    ("目标：Q3 前完成国际化", ["goals 国际化"]),
    ("我们希望年底之前能盈利", ["goals 盈利"]),
    ("我明天要把周报写完", ["tasks 周报"]),
    ("我得先把登录的 bug 修了", ["tasks 登录"]),
    ("待办：给客户回邮件", ["tasks 回邮件"]),
    ("下周要跟法务对一下合同", ["tasks 合同"]),
    ("还有个事没做，要补一下单元测试", ["tasks 单元测试"]),
    ("接下来要做的是把数据迁移脚本写好", ["tasks 迁移脚本"]),
    ("提醒我周五交报销单", ["tasks 报销单"]),
    ("到时候提醒我续费域名", ["tasks 续费域名"]),
    ("这周必须把支付联调搞完", ["tasks 支付联调"]),
    ("咱们还需要补一份部署文档", ["tasks 部署文档"]),
    ("todo 升级 django 到 5.2", ["tasks 升级"]),
    ("我这边还要改一下首页的文案", ["tasks 文案"]),
    ("明天之前要把合同发给客户", ["tasks 合同"]),
    ("我们需要尽快把证书换掉", ["tasks 证书"]),
    ("我後天要交論文初稿", ["tasks 論文初稿"]),
    ("下一步：接入支付宝", ["tasks 支付宝"]),
    ("默认端口是 8080。哦不对，是 9090", ["facts 9090"]),
    ("不对不对，负责人是李雷", ["facts 李雷"]),
    ("你记错了，我是做前端的，不是后端", ["profile 前端"]),
    ("之前说错了，发布日期是 6 号", ["facts 6 号"]),
    ("更正一下，会议室是 302", ["facts 302"]),
    ("其实我叫王磊，不是王雷", ["profile|facts 王磊"]),
    ("我不用 vim 了", ["retract vim"]),
    ("我们取消用 Redis 做缓存的决定了", ["retract|decisions Redis"]),
    ("忘了我之前说的端口吧", ["retract 端口"]),
    ("别记我的生日了", ["retract birthday"]),
    ("我不喜欢深色主题了", ["retract|preferences 深色主题"]),
    ("我们不再支持 Windows 7 了", ["retract|decisions Windows 7"]),
    ("今天真累😮\u200d💨 对了记一下，服务器 IP 是 10.0.0.8", ["facts 10.0.0.8"]),
    ("早啊！我们昨天开会定了，下个版本用 GraphQL。你觉得怎么样？", ["decisions GraphQL"]),
    ("我叫阿May，在上海，平时用 TypeScript 比较多，帮我看看这段代码", ["profile 阿May", "profile 上海"]),
    ("这个报错我看不懂啊，卡了一下午。另外以后贴代码的时候都加上语言标记。帮我看看日志", ["preferences 语言标记"]),
    (
        "我先交代一下背景：项目做了两年，代码很乱，没人愿意接手，测试也基本没有，每次上线都提心吊胆。前天开会吵了半天，最后我们决定先补测试再重构。你帮我列个计划吧",
        ["decisions 测试"],
    ),
    ("ok 那就 go with 方案 B 吧", ["decisions 方案 B"]),
    ("帮我写个脚本，顺便记住我们的命名规范是 snake_case", ["facts|preferences snake_case"]),
    ("帮忙记一下我的工位号是 B12", ["facts|profile B12"]),
    ("记好了：上线前要先备份数据库", ["facts|preferences|tasks 备份"]),
    ("你要记得我不吃香菜", ["facts|preferences|profile 香菜"]),
    ("这里备忘一下 合同到期日是 2027-01-31", ["facts 2027-01-31"]),
    ("记录一下：本次压测 QPS 峰值是 3200", ["facts 3200"]),
    ("麻烦帮我记着，财务的联系方式是分机 8802", ["facts 8802"]),
    ("給我記住：正式環境不准用 root 登入", ["facts|preferences root"]),
    ("记住我的 GitHub 用户名是 lx-dev", ["facts|profile lx-dev"]),
    ("请你记住这几点：\n1. 接口超时时间是 3 秒\n2. 重试次数是 2", ["facts 3 秒", "facts 2"]),
    ("我再说一遍，请记住：我们的服务器在法兰克福", ["facts 法兰克福"]),
    ("别忘了周五下班前把报表发给财务", ["tasks 报表"]),
    ("记得后天帮我提一下服务器扩容的事", ["tasks|facts 扩容"]),
    ("以后给我代码就行，不用解释", ["preferences 代码"]),
    ("以后都叫我老大哈哈", ["preferences|profile 老大"]),
    ("往后写文档都用 markdown 吧", ["preferences markdown"]),
    ("从现在开始跟我说英文", ["preferences 英文"]),
    ("以后生成的代码默认加上日志", ["preferences 日志"]),
    ("今后数字一律用千分位", ["preferences 千分位"]),
    ("回答请始终保持简洁", ["preferences 简洁"]),
    ("拜托别再写那么多废话了", ["preferences 废话"]),
    ("每次提交之前都要先跑 lint", ["preferences lint"]),
    ("日期格式统一写成 YYYY-MM-DD", ["preferences|decisions YYYY-MM-DD"]),
    ("我们商量了一下，决定先上灰度", ["decisions 灰度"]),
    ("最后敲定用阿里云", ["decisions 阿里云"]),
    ("咱们就用 SQLite 吧", ["decisions SQLite"]),
    ("那咱就定在下周三发布", ["decisions 下周三"]),
    ("我决定了 用 Rust 写", ["decisions Rust"]),
    ("团队投票通过了，以后用飞书", ["decisions|preferences 飞书"]),
    ("我们把前端从 Vue 2 升级到 Vue 3 了", ["decisions Vue 3"]),
    ("评审结果：采用方案 A", ["decisions 方案 A"]),
    ("项目名改成“星火”了", ["decisions|facts 星火"]),
    ("上线时间推迟到 12 月了", ["decisions|facts 12 月"]),
    ("我们统一用 pnpm 管理依赖", ["decisions|preferences|facts pnpm"]),
    ("数据库我们选 Postgres", ["decisions Postgres"]),
    ("例会从周一改到周二了", ["decisions|facts 周二"]),
    ("我们不打算支持 IE 了", ["decisions|retract IE"]),
    ("我喜欢用深色模式", ["preferences 深色"]),
    ("比起视频我更喜欢看文档", ["preferences 文档"]),
    ("我更习惯 Linux", ["preferences Linux"]),
    ("我不喜欢弹窗", ["preferences 弹窗"]),
    ("我偏向于用 REST，不太想用 GraphQL", ["preferences REST"]),
    ("我写代码都用 VS Code", ["preferences VS Code"]),
    ("说实话我更爱用命令行", ["preferences 命令行"]),
    ("我希望你的回答带上示例", ["preferences 示例"]),
    ("我是个前端，写 React 的", ["profile 前端"]),
    ("我姓陈，叫我小陈就好", ["profile 小陈"]),
    ("我在一家创业公司做产品经理", ["profile 产品经理"]),
    ("我毕业于浙江大学", ["profile|facts 浙江大学"]),
    ("我是做跨境电商的", ["profile|facts 跨境电商"]),
    ("我目前在北京工作", ["profile 北京"]),
    ("我家在武汉", ["profile 武汉"]),
    ("我有两个孩子", ["profile|facts 两个孩子"]),
    ("我的职位是技术总监", ["profile 技术总监"]),
    ("我最近跳槽到了字节", ["profile 字节"]),
    ("我是左撇子", ["profile|facts 左撇子"]),
    ("我会说日语和英语", ["profile|facts 日语"]),
    ("本人坐标南京", ["profile 南京"]),
    ("我手机号是 13800000000", ["profile 13800000000"]),
    ("我的目标是半年内减 20 斤", ["goals 20 斤"]),
    ("今年的目标是把营收翻倍", ["goals 营收"]),
    ("我打算明年换到产品岗", ["goals 产品岗"]),
    ("年底前要把系统全部迁到云上", ["goals|tasks 云上"]),
    ("我们的愿景是让每个人都有自己的知识库", ["goals 知识库"]),
    ("我想考研", ["goals 考研"]),
    ("周三之前把 PR 提了", ["tasks PR"]),
    ("今天要做的：1 修登录 2 写文档", ["tasks 登录"]),
    ("我需要准备下周的演讲稿", ["tasks 演讲稿"]),
    ("下周一要去趟税务局办发票", ["tasks 发票"]),
    ("回头我得把这块重构一下", ["tasks 重构"]),
    ("任务：整理用户反馈", ["tasks 用户反馈"]),
    ("晚点我要给王总回电话", ["tasks 王总"]),
    ("端口不是 3000 是 3001", ["facts 3001"]),
    ("我不在阿里上班了", ["retract 阿里"]),
    ("不用再提醒我交周报了", ["retract|preferences 周报"]),
    ("刚才那条不对，预算是 5 万", ["facts 5 万"]),
    ("我们不用 MongoDB 了", ["retract|decisions MongoDB"]),
    ("忘掉我住在上海这件事", ["retract 上海"]),
    ("之前说用 Redis 的那个决定作废", ["retract Redis"]),
    ("帮我记住啦 我的车牌号是京A12345", ["facts|profile 京A12345"]),
    ("这条很重要记一下 客户 A 的折扣是八五折", ["facts 八五折"]),
    ("請記得我們的 logo 主色是 #FF6600", ["facts #FF6600"]),
    ("记住，老板不吃辣", ["facts 辣"]),
    ("牢记一点：生产环境绝对不能用 latest 标签", ["facts|preferences latest"]),
    ("今后一律称呼我为陈老师", ["preferences|profile 陈老师"]),
    ("以后的代码示例都用 TypeScript 写", ["preferences TypeScript"]),
    ("从现在起你不要给我推荐付费软件了", ["preferences 付费软件"]),
    ("以后输出不要带行号", ["preferences 行号"]),
    ("嗯 我们定下来用 Flutter 做客户端", ["decisions Flutter"]),
    ("开完会了，决定把搜索换成 Elasticsearch", ["decisions Elasticsearch"]),
    ("消息队列最终选用 NATS", ["decisions NATS"]),
    ("那就这么定了：每周五发版", ["decisions 每周五发版"]),
    ("我们决定这个版本不做国际化", ["decisions 国际化"]),
    ("部署改用 Helm 了", ["decisions Helm"]),
    ("咱们约定好了，代码评审至少两个人", ["decisions 两个人"]),
    ("考虑再三，我们还是放弃了微服务", ["decisions 微服务"]),
    ("我们選擇 AWS 東京機房", ["decisions AWS"]),
    ("我更愿意用 Markdown 写笔记", ["preferences Markdown"]),
    ("我个人习惯用 zsh", ["preferences zsh"]),
    ("我特别喜欢简洁的界面", ["preferences 简洁"]),
    ("写代码的时候我喜欢用空格缩进", ["preferences 空格"]),
    ("我宁愿看表格也不想看大段文字", ["preferences 表格"]),
    ("我最喜欢的编辑器是 Zed", ["preferences Zed"]),
    ("我是一个在深圳的安卓开发", ["profile 安卓开发"]),
    ("我现在在阿里云做解决方案架构师", ["profile 阿里云"]),
    ("我是学生，读大三", ["profile 学生"]),
    ("我來自台灣", ["profile 台灣"]),
    ("我的公司是星辰科技", ["profile 星辰科技"]),
    ("我儿子叫乐乐", ["profile|facts 乐乐"]),
    ("我今年28岁啦", ["profile 28"]),
    ("我对花粉过敏", ["profile 花粉"]),
    ("我家住在朝阳区", ["profile 朝阳区"]),
    ("我的长期目标是做一个开源的知识库", ["goals 知识库"]),
    ("今年争取把技术博客更新到 50 篇", ["goals 50 篇"]),
    ("我们的目标就是下半年盈亏平衡", ["goals 盈亏平衡"]),
    ("我计划在两年内读完研究生", ["goals 研究生"]),
    ("我要在周五前把测试报告交给甲方", ["tasks 测试报告"]),
    ("明天得联系一下物业", ["tasks 物业"]),
    ("后面还需要给接口加鉴权", ["tasks 鉴权"]),
    ("下周三之前必须把 demo 做出来", ["tasks demo"]),
    ("提醒我一下明天下午三点开会", ["tasks 开会"]),
    ("更正：预算是 30 万而不是 20 万", ["facts 30 万"]),
    ("不对，生日应该是 5 月 6 号", ["facts 5 月 6 号"]),
    ("我已经不用 Windows 了", ["retract Windows"]),
    ("我们现在不用 Jenkins 了，换 GitHub Actions 了", ["retract|decisions Jenkins"]),
    ("把我喜欢浅色主题这条忘掉吧", ["retract 浅色主题"]),
    ("我不住北京了", ["retract 北京"]),
]

# Beside the open tasks of test_spoken.
STATUS: list[tuple[str, list[str]]] = [
    ("支付接口联调搞定了🎉", ["done task:app:pay"]),
    ("支付接口那块弄完了", ["done task:app:pay"]),
    ("我把支付接口联调做完了", ["done task:app:pay"]),
    ("支付接口已经联调完了", ["done task:app:pay"]),
    ("迁移脚本写好了", ["done task:app:move"]),
    ("迁移脚本终于跑通上线了", ["done task:app:move"]),
    ("周报交了", ["done task:me:report"]),
    ("周报我已经写完并发出去了", ["done task:me:report"]),
    ("周報寫完了", ["done task:me:report"]),
    ("刚刚把数据迁移脚本合并了", ["done task:app:move"]),
    ("支付接口联调 ✅ 完成", ["done task:app:pay"]),
    ("支付接口联调卡在第三方审核上了", ["blocked task:app:pay"]),
    ("支付接口得等银行那边开通才能继续", ["blocked task:app:pay"]),
    ("迁移脚本被权限问题卡住了", ["blocked task:app:move"]),
    ("迁移脚本在等 DBA 审批，暂时推进不了", ["blocked task:app:move"]),
    ("周报先暂停，等数据出来", ["blocked task:me:report"]),
    ("支付接口联调还没做完", []),
    ("支付接口做完了吗", []),
    ("要是迁移脚本写完了就好了", []),
    ("迁移脚本快写完了", []),
    ("午饭搞定了", []),
    ("等周报写完了再说", []),
    ("支付接口联调今天弄好了", ["done task:app:pay"]),
    ("数据迁移脚本：已完成", ["done task:app:move"]),
    ("周报发出去啦", ["done task:me:report"]),
    ("迁移脚本跑完了，没问题", ["done task:app:move"]),
    ("支付接口联调还卡着，对方没给测试账号", ["blocked task:app:pay"]),
    ("迁移脚本卡在锁表这一步", ["blocked task:app:move"]),
    ("周报写了一半", []),
    ("周报不用写了", []),
    ("支付接口联调通过了", ["done task:app:pay"]),
    ("你把周报写完了吗", []),
    ("迁移脚本估计明天能写完", []),
    ("周报刚交", []),
    ("支付接口联调终于通了！", []),
    ("周报已提交", ["done task:me:report"]),
    ("数据迁移脚本写完啦～", ["done task:app:move"]),
    ("支付接口联调目前被银行卡住了", ["blocked task:app:pay"]),
    ("支付接口联调没搞定", []),
    ("周报得等数据才能写", ["blocked task:me:report"]),
    ("帮我把周报写完", []),
    ("周报写完了的话告诉我", []),
]

# One a line.
NOT_WORTH_KEEPING = """\
在吗
早上好呀☀️
哈哈哈哈笑死我了
好的收到
辛苦啦
谢谢你 帮大忙了
晚安
嗯嗯 可以
烦死了这破电脑又卡了
今天被老板骂了一顿 心情不好
累成狗了
不想上班啊啊啊
这 bug 搞得我头大
我真的服了这个需求
我太难了
这天气热死了
我喜欢你这个回答哈哈
我讨厌周一
真喜欢今天的天气
记得我们上次说的那个方案吗
你记住了吗
我记得以前好像是用 MySQL 的
还记得我叫什么吗
我们当时是怎么决定的？
你觉得我们用 Redis 好还是 Memcached 好
要不要以后都用中文回复？
默认端口是多少来着
负责人是谁啊
我应该用哪个框架呢
我的目标是不是太高了
以后会不会涨价
这个任务完成了没
能不能就用 SQLite
如果以后都用中文会不会好一点
假如我们决定用 Mongo 会怎么样
要是我叫张三你怎么称呼我
万一数据库换成 Oracle 了怎么办
我在想要不要换成 Rust
可能下周要改到周五吧 还不确定
也许我们应该选 AWS
说不定就定在周三了
他说他更喜欢 Java
小王说我们决定用 PHP
书上写着：“记住，永远不要放弃”
听说他们公司决定用飞书了
我妈让我记得吃饭
歌词里唱的是 记住我的名字
帮我翻译：“我们决定采用新方案”
解释一下“以后都这样”是什么意思
帮我写个排序
把第三行删掉
重新跑一下测试
换成红色试试
这段改成 for 循环
用中文解释一下这个函数
把标题改成 Hello
翻译成英文
打开日志看看
这次用表格给我
给我列个清单
帮我查一下明天天气
不用了 谢谢
取消吧
算了不弄了
别记这个
不用记住
这个不用记
没必要记下来
我没说要用 Redis
我们没决定用 Redis
还没定呢
我不是不喜欢，就是没感觉
我的密码是 Qwe123456，记一下
记住 api key 是 sk-abc123def456ghi789
我要睡了
我要去吃饭了
我得走了 拜拜
我需要你帮个忙
我想问一下怎么部署
我想知道为什么报错
我要一杯咖啡
我打算睡了
我在公司上班呢
我在看书
我是说这个
我是真的不懂
我是第一次用
我是想问
我叫你别改了
我人在路上
我人都傻了
我今年真倒霉
我负责任地告诉你这不行
我一般般吧
我习惯了
每次都这样
每次上线都出问题
所有人都走了
大家都同意吗
定了个外卖
定了明天的闹钟
那就这样吧
那就算了
那就按你说的来
开个玩笑，我叫皮卡丘
改成这样行不行
卡在门口了
饭做好了
路上堵着呢
我等你
以后再聊
以后的事以后再说吧
生活总要继续
人要记住教训啊
我希望你能快点
我希望明天不下雨
争取早点睡
存一下这个文件
备忘录怎么删
记下来的东西在哪看
> 以后都用中文
`我们决定用 Redis`
我女朋友叫我去吃饭
我公司叫我加班
我邮箱是不是满了
我生日快到了
我不用了
我不用加班了
我不在
我已经不在乎了
在不在
哈喽
牛逼
我裂开了
又要加班 呜呜
好烦 不想写了
你真棒
我先去开会了
等我一下
稍等
你说得对
没事没事
我记性不好
忘了
我忘记密码了怎么办
以后怎么办啊
以后有机会再说
我们以后会更好的
我觉得还行吧
这个方案不错
这个框架怎么用
用什么数据库好
用 Python 写一个爬虫
帮我改成异步的
把颜色换成蓝色了吗
把变量名改成驼峰
时间改到三点可以吗
会议能改到周五吗
改到周五行不行
请用表格输出
用英文回答这个问题
写一封请假邮件
我要怎么学英语
我要的是这个
我要一个登录页
我想要一个函数
我得想想
我想想啊
我想今晚吃火锅
明天要下雨
明天要上班好烦
下周要放假啦
我明天要去旅游
他要离职了
他住在北京
我同事在腾讯上班
我朋友叫我去看电影
我爸是医生吗
如果我叫李四
比如说我决定用 Go
假设默认端口是 80
听说公司要换成飞书
据说他们定了用 Java
老板让我们用 Oracle
别人都说要用 K8s
“以后都用中文”这句话怎么翻译
这段文字里说请记住我
他不再喜欢她了
我不再年轻了
我不用手机
我们不用谢
没搞定
还没弄完
快弄完了
我做完饭了
电影看完了
我卡了
网卡死了
游戏卡住了
密码是 abc12345 帮我记一下
请记住银行卡密码 998877
其实我也不知道
其实是这样的
其实挺简单的
不对吧
你错了
不是吧
不是我说你
哪里不对
开玩笑的 我叫奥特曼
我在想晚上吃什么
我在等你
我在排队
我一直在线
我是你爸爸
我是谁
我是新手
我是不是很笨
我是学不会了
我们定个时间聊聊吧
定个闹钟
就这样吧
就用这个吧
就按这个来
我们确定要这样吗
我确定
确定删除
取消订单
最终结果是 5
结论是什么
目标是谁
下一步怎么做
下一步是什么
吃了吗
在干嘛
哎呀妈呀
太卷了
你好厉害啊
我好困
好嘞
没问题 你继续
那行吧
我不太明白你的意思
能再解释一遍吗
为什么要用 Redis
我该怎么办
这个函数是做什么的
数据库连不上了
页面打不开了
服务挂了
接口报 500 了
日志里一直在刷错误
构建失败了
测试没过
我改了一下代码还是不行
我刚把服务器重启了
我换了个浏览器也不行
我用的是 Chrome 浏览器也会这样
我用 Python 写了个脚本，报错了
我在用 vim 改配置的时候崩了
把数据库换成 MySQL
前端改成用 Vue 写
部署到测试环境
用 Redis 实现一个分布式锁
写个单元测试
用 pytest 写
帮我给函数加注释
所有文件都删了吧
每次都报错
每次部署都失败
每次提交都要等很久
所有测试都挂了
任何时候都可以
永远相信美好
从明天开始减肥哈哈
今天开始降温了
下周开始放假
现在开始计时
你以后会取代人类吗
以后我老了怎么办
结婚以后都变懒了
我最喜欢的歌是什么
你猜我喜欢什么
我喜欢吃火锅
我讨厌下雨天
我不喜欢这个结果
我是来咨询的
我是刚来的
我是做错了什么吗
我是做梦吧
我在家呢
我在杭州站等车
我在北京出差呢
我有一个问题
我有两个疑问
我会努力的
我会说你好
我想转行怎么样
我想学习一下
我打算先看看
我今年打算怎么过
我叫错人了
我叫你呢
我儿子叫我了
我负责买单
他负责前端
其实不是的
其实默认端口是可以改的
其实最难的是坚持
实际上是这样吗
作者认为我们应该用 Go
文章里提到他们选择了 Kafka
小明问我喜欢什么主题
领导说以后都要打卡
如果明天要把合同发出去怎么办
等我弄完了再找你
弄完了叫我
换好了
改好了
改完了你再看看
定了
行 定了
你决定吧
由你决定
听你的 就用你说的
我随便 都行
不用再解释了
不要再这样了
别再犯同样的错
取消上一步
撤回
我们不用管它
记住密码的功能怎么做
记住登录状态怎么实现
remember me 复选框怎么写
实现一个记一下按钮
写一段“请记住我”的前端代码
存一下：
我的天
我的目标检测模型不收敛
目标函数是凸的吗
任务队列是 Celery
任务管理器打不开
不是周三，是周四上线
这个功能不做了，砍掉
我是 95 后，今年大四
说错了 是 8081 不是 8080
我名字写错了，应该是张伟
跟你说个事，记一下：我下月改名叫周宁
""".splitlines()
