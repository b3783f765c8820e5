"""Reading a message: a folded view of the same length, quotations and code blanked out, and its sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# A sentence longer than this is pasted matter, and rules over it would cost more than they find.
LONGEST = 1200
MASK = "\x1a"
# The last mark of a quotation that ends with a full stop: a sentence ends there, and the mark stays.
MASK_STOP = "\x1b"

_TRADITIONAL = (
    "請请記记別别們们決决從从現现後后歡欢對对應应該该實实際际這这個个為为標标務务須须經经沒没開开還还並并會会說说講讲樣样麼么"
    "嗎吗誰谁問问題题職职業业擋挡來来過过選选擇择採采錯错糾纠關关於于刪删棄弃達达終终結结寫写辦办塊块給给幫帮讓让將将設设計计"
    "師师學学員员醫医產产長长劃划話话傾倾習习慣惯愛爱寧宁願愿帶带無无齊齐覺觉許许萬万隨随據据庫库動动處处時时間间機机號号"
    "討讨論论約约敲敲項项團团隊队組组務务備备處处護护當当與与較较則则條条總总裏里裡里嚴严謹谨銘铭興兴錄录檔档傳传報报運运"
    "準准確确認认識识買买賣卖電电郵邮續续變变換换繼继進进遠远"
    "區区體体資资訊讯網网頁页數数測测試试環环單单雙双戶户賬账帳账責责負负聯联絡络構构舊旧軟软級级歲岁幾几週周禮礼購购貼贴輯辑編编語语簡简養养貓猫兒儿媽妈點点導导領领釋释範范規规證证遷迁穩稳佈布參参"
    "頻频視视聽听讀读錢钱飯饭館馆車车門门園园國国灣湾華华術术農农廠厂層层協协議议類类織织績绩綠绿藍蓝紅红顏颜鍵键鎖锁隱隐顯显難难離离雲云靜静頂顶順顺預预額额風风驗验騰腾鮮鲜黃黄齡龄熱热狀状獨独畫画"
    "異异發发盡尽監监盤盘稱称種种競竞筆笔節节簽签納纳紀纪純纯紙纸細细紹绍統统絕绝綁绑維维緊紧線线練练縮缩繪绘聞闻聲声腦脑臺台舉举蘇苏蘭兰虛虚蟲虫補补裝装複复見见親亲觀观訂订訓训託托訪访評评詢询詳详"
    "誤误調调談谈謝谢貨货費费貴贵質质賴赖趕赶輕轻輸输轉转辭辞遲迟適适遺遗鐘钟鐵铁閉闭闆板陣阵陸陆階阶雜杂響响頭头麵面"
)
_FOLD = {ord(upper): upper.lower() for upper in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_FOLD |= {0xFF01 + shift: chr(0x21 + shift).lower() for shift in range(94)}
_FOLD |= {ord(old): new for old, new in zip(_TRADITIONAL[::2], _TRADITIONAL[1::2], strict=True)}
_FOLD |= {0x2019: "'", 0x3000: " ", 0xA0: " ", 0x3001: "、", 0x2014: ",", 0xFF0E: ".", 0xFE52: "."}

_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_QUOTED_LINE = re.compile(r"[ \t]{0,3}>")
_SPEAKER_LINE = re.compile(
    r"[ \t]{0,3}(?:\[[^\]\n]{1,30}\] ?)?(?:user|assistant|human|ai|bot|system|customer|agent) ?:"
)
# The written name of a scope or a memory, such as task:42 or goal:atlas:launch, is no label in front of words.
_NAME = r"(?<![\w:])(?:task|project|expert|global|session|goal|decision|pref|fact|profile|entity):[a-z0-9][^\s,;!?()\[\]\u3000-\u303f]*"
_INLINE = re.compile(
    _NAME
    + r"|`[^`\n]{1,400}`|\"[^\"\n]{1,800}\"|(?<![\w'])'(?:[^'\n]|(?<=[a-z])'(?=[a-z])){2,300}'(?![\w'])|https?://[^\s\u3000-\u303f\u4e00-\u9fff]{1,2000}"
)
_PAIRS = {"“": "”", "「": "」", "『": "』", "‘": "'", "«": "»", "„": "“"}
_STOP = re.compile(r"[。!?;\n\x1b]+|\.{2,}|…+|\.(?=[\s)\]'\"\x1a\u4e00-\u9fff]|$)")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[a-z]|e\.g|i\.e|etc|vs|mr|mrs|ms|dr|prof|st|no|inc|ltd|approx|fig|jr|sr)$")
_LIST_NUMBER = re.compile(r"\s*\(?\d{1,3}$")
_BULLET = re.compile(
    r"\s*(?:[-*+•·–]\s+(?!\[[ x]\])|\(?\d{1,3}[.)、]\s*|[a-z][.)]\s+|#{1,6}\s+|[一二三四五六七八九十]{1,2}、)"
)
_ASKS_EN = re.compile(
    r"(?:so |and |but |well |ok |okay |hey |hi |also |,)*"
    r"(?:(?:do|did|does|should|shall|could|would|can|will|have|has|had|is|are|was|were|am|don't|didn't|haven't|isn't|aren't"
    r"|shouldn't|can't) (?:you|we|i|they|he|she|it|the|my|our|there|this|that|your)\b"
    r"|(?:what|why|how|where|who|which|whose|when) (?:is|are|was|were|do|did|does|should|would|can|could|have|has|about|if)\b"
    r"|what if\b|how come\b|how about\b|any (?:idea|chance)\b|i wonder\b|i'm wondering\b)"
)
_ASKS_ZH = re.compile(
    r"(?:吗|么|什么时候[^,。]{0,16}|呢\?|嘛\?|怎么(?:做|办|写|弄|实现|用|看|删|搞|处理|解决|回事)|在哪里?看?|是什么|对吧|是吧|好不好|行不行|对不对|是不是|怎么样|如何|没有\?)[\s.。!?~]*$|是不是|要不要|有没有|能不能|该不该|是否|会不会|可不可以"
)
_WORDS = re.compile(r"\w")
_FRESH_QUESTION = re.compile(
    r"[\s,]*(?:and |but |so )?(?:what about|how about|what do|what's|what is|what are|what should|can |could |would |will |do |does "
    r"|is (?:that|this|it) (?:ok|okay|fine|alright|possible)|ok\?|okay\?|got it|how |why |which |where |when |who |any |are |should "
    r"|你呢|你觉得|你看|能|可以|可不可以|好吗|好不好|行吗|行不行|可以吗|明白|懂了|知道了|清楚|怎么|什么|哪|为什么|有没有|请问|帮我)"
)


@dataclass(frozen=True)
class Sentence:
    """Where a sentence stands; `asked_from` is the offset at which its question begins (`end` where it asks nothing)."""

    start: int
    end: int
    asked_from: int
    bullet: bool


@dataclass(frozen=True)
class Reading:
    """A message and its view: the same length, folded for matching, with the words of others blanked out."""

    text: str
    view: str
    sentences: tuple[Sentence, ...]


def read(text: str) -> Reading:
    """Read a message once; every offset counts in `text` and `view` alike."""
    view = _mask(text.translate(_FOLD))
    return Reading(text, view, tuple(_sentences(view)))


def fold(text: str) -> str:
    """A piece of text as the cue tables see it, unmasked and of the same length."""
    return text.translate(_FOLD)


def _mask(view: str) -> str:
    lines: list[str] = []
    fenced = False
    for line in view.split("\n"):
        fence = bool(_FENCE.match(line))
        if fenced or fence or _QUOTED_LINE.match(line) or _SPEAKER_LINE.match(line):
            lines.append(MASK * len(line))
        else:
            lines.append(_INLINE.sub(_blank, line))
        fenced = fenced != fence
    return _mask_pairs("\n".join(lines))


def _blank(match: re.Match[str]) -> str:
    return _masked(match.group())


def _masked(quotation: str) -> str:
    ends = quotation[-2:-1] in {".", "!", "?", "。", "…"}
    return MASK * (len(quotation) - 1) + (MASK_STOP if ends else MASK)


def _mask_pairs(view: str) -> str:
    """Blank what stands between opening and closing quotation marks, also over several lines."""
    if not any(mark in view for mark in _PAIRS):
        return view
    out: list[str] = []
    done = opened = 0
    awaited = ""
    for at, char in enumerate(view):
        if awaited and char == awaited:
            out += [view[done:opened], _masked(view[opened : at + 1])]
            done, awaited = at + 1, ""
        elif not awaited and char in _PAIRS:
            opened, awaited = at, _PAIRS[char]
    return "".join([*out, view[done:]])


def _sentences(view: str) -> Iterator[Sentence]:
    begin = 0
    for stop in _STOP.finditer(view):
        if stop.group() == "." and _goes_on(view[max(begin, stop.start() - 12) : stop.start()], stop.start() - begin):
            continue
        yield from _sentence(view, begin, stop.end())
        begin = stop.end()
    yield from _sentence(view, begin, len(view))


def _goes_on(before: str, length: int) -> bool:
    return bool(_ABBREVIATION.search(before)) or (length <= len(before) and bool(_LIST_NUMBER.fullmatch(before)))


def _sentence(view: str, begin: int, end: int) -> Iterator[Sentence]:
    bullet = _BULLET.match(view, begin, end)
    begin = bullet.end() if bullet else begin
    while begin < end and view[begin].isspace():
        begin += 1
    stop = end
    while stop > begin and view[stop - 1] in "。!?;\n .…\t\r":
        stop -= 1
    if _WORDS.search(view, begin, stop):
        tail = view[begin : min(end, begin + 2 * LONGEST)]
        yield Sentence(begin, stop, begin + _asked_from(tail, stop - begin), bool(bullet))


def _asked_from(tail: str, length: int) -> int:
    """Where the question starts in a sentence: a question after a comma leaves what was stated before it standing."""
    marked = "?" in tail[length:]
    if not marked and not _ASKS_EN.match(tail) and not _ASKS_ZH.search(tail):
        return length
    comma = tail.rfind(",", 0, length)
    if comma > 0 and _FRESH_QUESTION.match(tail, comma + 1) and not _ASKS_EN.match(tail):
        return comma
    return 0
