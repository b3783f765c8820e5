"""Which places may lie in one another, by their sort: a drawer in a kitchen, a park in a city, but no kitchen in a garage."""

from __future__ import annotations

import re

from memory.conflicts.script import HAN

# Of two that stand in one line neither lies in the other; of two that stand in no line together one may. What is carried
# may be in anything, also in another such thing.
_LINES = """
envelope bag box folder wallet purse backpack rucksack suitcase briefcase handbag pouch tin jar case basket bucket pocket binder crate carton toolbox 信封 袋 袋子 包 背包 书包 钱包 盒 盒子 箱 箱子 罐 罐子 文件夹 口袋 篮子 桶
drawer shelf safe counter tray rack locker compartment desk table cabinet cupboard wardrobe fridge refrigerator freezer chest bookcase sideboard sofa bed 抽屉 架 架子 保险柜 保险箱 柜台 桌 桌子 书桌 柜 柜子 橱柜 衣柜 冰箱 冰柜 书架 床 沙发
car van bus minibus truck lorry trailer boat 汽车 面包车 卡车 拖车
room kitchen bathroom bedroom hall hallway corridor lobby foyer reception office library cellar basement attic loft garage shed pantry larder lounge classroom laboratory lab ward canteen workshop cloakroom closet toilet storeroom studio gym cafeteria balcony 厨房 卧室 客厅 浴室 卫生间 洗手间 办公室 会议室 教室 实验室 走廊 大厅 门厅 大堂 前台 车库 地下室 阁楼 储藏室 储物间 机房 病房 食堂 阳台 图书馆 体育馆 室 房 厅
room kitchen bathroom bedroom hall hallway corridor lobby office cellar basement attic lounge classroom garage balcony garden yard courtyard terrace driveway playground 厨房 卧室 客厅 浴室 办公室 会议室 教室 走廊 大厅 地下室 阁楼 车库 阳台 花园 院子 操场 停车场
house hall library office school church museum hotel hospital clinic pharmacy garage barn station warehouse factory workshop studio gym theatre cinema pub café cafe restaurant building boathouse pavilion park field meadow forest beach market 图书馆 体育馆 学校 医院 诊所 酒店 教堂 博物馆 仓库 工厂 餐厅 市政厅 公园 广场
street road lane avenue 街 路 巷
city town village suburb centre center 市中心 市区 镇 村
region county country valley district 省 县
floor storey basement cellar attic loft 层 地下室 阁楼
corner middle back front end entrance doorway window 角落 门口 窗边
"""
_CARRIED, _ROOM = 0, 3  # numbers of lines


def _sorted() -> dict[str, frozenset[int]]:
    """Each word by the numbers of the lines that it stands in."""
    lines = [set(line.split()) for line in _LINES.strip().splitlines()]
    return {word: frozenset(n for n, line in enumerate(lines) if word in line) for word in set().union(*lines)}


_SORTS = _sorted()
_FURTHER = re.compile(r" (?:of|in|on|at|for|by|with|near|behind|under|from|next to|that|where) ")
_AT_HAN = re.compile(r"(?:[里上下后前外旁][面边]|那里|那儿|[里上下内中旁外])$")
_LONGEST = max(len(word) for word in _SORTS if HAN.search(word))


def lie_apart(one: str, two: str) -> bool:
    """Whether of two places neither may lie in the other, so far as it is known of which sort they are."""
    first, second = _head(one), _head(two)
    if not (first and second):
        return True
    mine, yours = _sorts(one, first), _sorts(two, second)
    return mine == yours if first == second else bool(mine & yours - {_CARRIED})


def _head(place: str) -> str:
    """The known word that says what a folded place is, as `drawer` of "the top drawer of the desk"; empty where none."""
    if HAN.search(place):
        place = _AT_HAN.sub("", place)
        return next((place[-n:] for n in range(min(_LONGEST, len(place)), 0, -1) if place[-n:] in _SORTS), "")
    last = _FURTHER.split(place)[0].split()[-1:]
    return next((name for word in last for name in (word, word.removesuffix("s")) if name in _SORTS), "")


def _sorts(place: str, head: str) -> frozenset[int]:
    """The sorts of a place; what stands in a room that is named, as the kitchen drawer, is where that room is."""
    own = _SORTS[head]
    if min(own) >= _ROOM:
        return own
    words = _parts(place) if HAN.search(place) else place.split()
    rooms = [_SORTS[word] for word in words if word in _SORTS and min(_SORTS[word]) == _ROOM]
    return rooms[0] if rooms else own


def _parts(place: str) -> list[str]:
    """All pieces of a place in Han characters that might be a word."""
    return [place[n : n + size] for size in range(_LONGEST, 1, -1) for n in range(len(place) - size + 1)]
