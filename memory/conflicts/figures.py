"""Numbers, dates and times as people write them in several languages, each in one normal form."""

from __future__ import annotations

import re
from collections.abc import Callable

_HAN_DIGITS = "〇零一二两三四五六七八九十百千万亿"
_HAN_VALUE = {
    "〇": 0,
    "零": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_HAN_UNIT = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ENGLISH = {word: value for value, word in enumerate(_SMALL)} | {
    word: value * 10 for value, word in enumerate(_TENS, start=2)
}
_ENGLISH |= {"dozen": 12}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000}

_SCALE_OF = {
    "k": 1000,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "千": 1000,
    "万": 10**4,
    "百万": 10**6,
    "亿": 10**8,
}
_MONTH_NAMES = (
    "january jan januar janvier enero", "february feb februar février febrero", "march mar märz mars marzo",
    "april apr avril abril", "may mai mayo", "june jun juni juin junio", "july jul juli juillet julio",
    "august aug août agosto", "september sept sep septembre septiembre", "october oct oktober octobre octubre",
    "november nov novembre noviembre", "december dec dezember décembre diciembre",
)  # fmt: skip
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}
_DAY_NAMES = (
    "monday mon montag lundi lunes 月", "tuesday tue tues dienstag mardi martes 火", "wednesday wed mittwoch mercredi miércoles 水",
    "thursday thu thurs donnerstag jeudi jueves 木", "friday fri freitag vendredi viernes 金",
    "saturday samstag samedi sábado 土", "sunday sonntag dimanche domingo 日",
)  # fmt: skip
_DAYS = {name: number for number, names in enumerate(_DAY_NAMES, start=1) for name in names.split()}
_HAN_DAYS = {day: number for number, day in enumerate("一二三四五六日", start=1)} | {"天": 7}

# Unit words by dimension: how many of the dimension's smallest unit one of them is.
_UNITS: dict[str, tuple[str, float]] = {}


def _unit(dimension: str, factor: float, names: str) -> None:
    _UNITS.update(dict.fromkeys(names.split(), (dimension, factor)))


_unit("time", 1, "ms msec millisecond milliseconds 毫秒 millisekunden millisecondes milisegundos みり秒")
_unit("time", 1000, "s sec secs second seconds 秒 秒钟 sekunde sekunden seconde secondes segundo segundos")
_unit("time", 60_000, "min mins minute minutes 分钟 minuten minuto minutos 分間")
_unit("time", 3_600_000, "h hr hrs hour hours 小时 个小时 钟头 stunde stunden heure heures hora horas 时间")
_unit("time", 86_400_000, "day days 天 tag tage tagen jour jours día días dia dias 日間")
_unit("time", 604_800_000, "week weeks 周 个星期 星期 woche wochen semaine semaines semana semanas 周间")
_unit("months", 1, "month months 个月 monat monate monaten mois mes meses ゖ月 か月")
_unit("months", 12, "year years yr yrs 年 jahr jahre jahren an ans año años")
_unit("size", 1, "b byte bytes 字节")
_unit("size", 1024, "kb kib")
_unit("size", 1024**2, "mb mib 兆")
_unit("size", 1024**3, "gb gib")
_unit("size", 1024**4, "tb tib")
_unit("part", 1, "% percent 百分点 prozent")
_unit("times", 1, "times fois veces mal 次 回 遍")
_unit("length", 1, "mm 毫米")
_unit("length", 10, "cm 厘米")
_unit("length", 1000, "m meter meters metre metres 米")
_unit("length", 1_000_000, "km 公里 千米 kilometers kilometer")
_unit("mass", 1, "gram grams 克")
_unit("mass", 1000, "kg kilo kilos 公斤 千克")
for _name in ("$ usd dollar dollars 美元", "€ eur euro euros 欧元", "£ gbp", "元 块 rmb cny ¥ 人民币", "円 jpy"):
    _unit(_name.split()[1] if " " in _name else _name, 1, _name)

_UNIT = "|".join(sorted((re.escape(name) for name in _UNITS), key=len, reverse=True))
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_SURE_MONTH = "|".join(
    sorted(
        (name for name in _MONTHS if len(name) > 3 and name not in ("mars", "mayo", "march")), key=len, reverse=True
    )
)
_DAY = "|".join(sorted((name for name in _DAYS if name.isascii() or len(name) > 1), key=len, reverse=True))
_HAN = f"[{_HAN_DIGITS}]"
_COUNTED = "个|条|次|名|位|人|台|张|份|层|楼|号|倍|页|件|只|本|种|项|套|间|家|组|班|轮|票|点|岁|成|副本|秒|分|小时|天|周|月|年|日|元|块|米|公里|兆"
_PERIOD = "早上|上午|中午|下午|晚上|凌晨|清晨|傍晚|午後|午前"
_HALF_DAYS = ("下午", "晚上", "傍晚", "午後")


def han_number(text: str) -> int | None:
    """The value of a number in Han characters, read digit by digit where it holds no unit; None where it is none."""
    if not text or any(char not in _HAN_DIGITS for char in text):
        return None
    if not any(char in _HAN_UNIT for char in text):
        return int("".join(str(_HAN_VALUE[char]) for char in text))
    total, section, digit = 0, 0, 0
    for char in text:
        if char in _HAN_VALUE:
            digit = _HAN_VALUE[char]
        elif char in "万亿":
            total = (total + section + digit or 1) * _HAN_UNIT[char]
            section = digit = 0
        else:
            section += (digit or 1) * _HAN_UNIT[char]
            digit = 0
    return total + section + digit


def _count(text: str) -> int:
    found = han_number(text)
    return int(text) if found is None else found


def _decimal(text: str) -> float:
    return float(re.sub(r"[,_'](?=\d{3})", "", text))


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def _amount(number: float, unit: str) -> str:
    if unit not in _UNITS:
        return f"{_plain(number)}{unit}"
    dimension, factor = _UNITS[unit]
    return f"{_plain(round(number * factor, 6))}{dimension}"


def _full_date(found: re.Match[str]) -> str:
    return "-".join(f"{_count(part):02}" for part in found.groups() if part)


def _han_date(found: re.Match[str]) -> str:
    year, month, day = found.groups()
    return "-".join(f"{_count(part):02}" for part in (year, month, day) if part)


def _named_date(found: re.Match[str]) -> str:
    parts = found.groupdict()
    year = f"{parts['year']}-" if parts.get("year") else ""
    day = f"-{int(parts['day']):02}" if parts.get("day") else ""
    return f"{year}{_MONTHS[parts['month']]:02}{day}"


def _weekday(found: re.Match[str]) -> str:
    name = found.group(1)
    return f"day{_DAYS[name] if name in _DAYS else _HAN_DAYS[name]}"


def _clock(found: re.Match[str]) -> str:
    parts = found.groupdict()
    hour, minute = _count(parts["hour"]), _minutes(parts.get("minute"))
    later = (parts.get("half") or "")[:1] == "p" or parts.get("period") in _HALF_DAYS
    if later and hour < 12:
        hour += 12
    if (parts.get("half") or "")[:1] == "a" and hour == 12:
        hour = 0
    return f"{hour:02}:{minute:02}"


def _minutes(text: str | None) -> int:
    if not text:
        return 0
    fixed = {"半": 30, "一刻": 15, "三刻": 45}
    return fixed[text] if text in fixed else _count(text.rstrip("分"))


def _quarter(found: re.Match[str]) -> str:
    return f"q{_count(found.group(1))}" + (f"-{found.group(2)}" if found.group(2) else "")


def _number(found: re.Match[str]) -> str:
    parts = found.groupdict()
    scale = _SCALE_OF[parts["scale"]] if parts.get("scale") else 1
    return _amount(_decimal(found.group("digits")) * scale, parts.get("unit") or parts.get("sign") or "")


def _part(found: re.Match[str]) -> str:
    return _amount(float(_count(found.group(1))), "%")


def _half(found: re.Match[str]) -> str:
    return _amount(0.5, found.group(1))


def _han_amount(found: re.Match[str]) -> str:
    value = han_number(found.group("han"))
    return _amount(float(value or 0), found.group("unit") or "")


def _english(found: re.Match[str]) -> str:
    total = current = 0
    for word in re.findall(r"[a-z]+", found.group("words")):
        if word in _ENGLISH:
            current += _ENGLISH[word]
        elif word in _SCALES:
            current = (current or 1) * _SCALES[word]
            if word != "hundred":
                total, current = total + current, 0
    return _amount(float(total + current), found.group("unit") or "")


def _same(found: re.Match[str]) -> str:
    return " ".join(found.group().split())


_NUMBER_WORD = "|".join(sorted([*_ENGLISH, *_SCALES], key=len, reverse=True))
_B, _E = r"(?<![a-z0-9_.])", r"(?![a-z0-9_])"  # where a word of Latin letters or digits begins and ends
_YEAR = r"(?:19|20)\d\d"
_H = rf"(?:\d{{1,2}}|{_HAN}{{1,3}})"

_COUNTS = {"once": 1, "twice": 2, "thrice": 3}


def _times(found: re.Match[str]) -> str:
    return _amount(float(_COUNTS[found.group(1)]), "times")


def _half_hour(found: re.Match[str]) -> str:
    return _amount(0.5, "h")


def _day_month(found: re.Match[str]) -> str:
    day, month, year = (int(part) for part in found.groups())
    return f"{year}-{month:02}-{day:02}"


def _month_day(found: re.Match[str]) -> str:
    month, day, year = (int(part) for part in found.groups())
    month, day = (day, month) if month > 12 else (month, day)
    return f"{year}-{month:02}-{day:02}"


_FORMS: tuple[tuple[str, str, Callable[[re.Match[str]], str]], ...] = (
    ("date", rf"{_B}(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}})(?:t[\d:.]+z?)?(?![\d])", _full_date),
    ("date", rf"{_B}(\d{{1,2}})\.(\d{{1,2}})\.({_YEAR})(?![\d])", _day_month),
    ("date", rf"{_B}(\d{{1,2}})/(\d{{1,2}})/({_YEAR})(?![\d])", _month_day),
    ("number", rf"{_B}(once|twice|thrice)\b", _times),
    ("number", rf"{_B}half an hour\b|eine halbe stunde|une demi-heure|media hora", _half_hour),
    ("date", rf"(\d{{4}}|[〇零一二三四五六七八九]{{4}})\s?年\s?({_H})\s?月(?:\s?({_H})\s?[日号號])?", _han_date),
    ("date", rf"()({_H})\s?月\s?({_H})\s?[日号號]", _han_date),
    ("date", rf"()({_H})月份?(?!经|度)()", _han_date),
    ("date", rf"{_B}(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:of\s|de\s)?(?P<month>{_MONTH})\b\.?,?(?:\s(?:of\s|de\s)?(?P<year>{_YEAR}))?", _named_date),
    ("date", rf"{_B}(?P<month>{_MONTH})\b\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{_E}(?:,?\s(?P<year>{_YEAR}))?", _named_date),
    ("date", rf"{_B}(?P<month>{_MONTH})\b\.?\s(?:de\s)?(?P<year>{_YEAR}){_E}", _named_date),
    ("date", rf"{_B}(?P<month>{_SURE_MONTH})\b", _named_date),
    ("date", r"(?:(?<=\bin )|(?<=\bby )|(?<=\bof )|(?<=\buntil )|(?<=\bsince ))(?P<month>may|march)\b", _named_date),
    ("date", rf"{_B}({_DAY})s?(?:'s)?\b", _weekday),
    ("date", r"(?:周|星期|礼拜|週)([一二三四五六日天])", _weekday),
    ("date", r"([月火水木金土日])曜日?", _weekday),
    ("date", rf"{_B}q([1-4])(?:[ /-]?({_YEAR}))?{_E}", _quarter),
    ("date", r"第?([一二三四1-4])季度()", _quarter),
    ("date", rf"{_B}({_YEAR})(?:年度?)?(?![\d.,:]*[a-z0-9%])(?!\s?(?:个|条|次|元|rows|items|users))", lambda found: found.group(1)),
    ("date", rf"{_B}(?:(?:next|last|this) (?:week|month|year|quarter)|today|tomorrow|yesterday|tonight)\b|[今明昨后去前]天|[今明去]年|[本下上]周|[本下上]个?月|heute|demain|mañana|明日|昨日", _same),
    ("time", rf"{_B}(?P<hour>\d{{1,2}})[:h](?P<minute>\d{{2}})(?::\d\d)?\s?(?P<half>[ap]\.?m\.?)?(?:\s?uhr)?{_E}", _clock),
    ("time", rf"{_B}(?P<hour>\d{{1,2}})\s?(?P<half>[ap]\.?m\.?){_E}", _clock),
    ("time", rf"{_B}(?P<hour>\d{{1,2}})\suhr\b", _clock),
    ("time", rf"(?P<period>{_PERIOD})\s?(?P<hour>{_H})\s?[:点點时時](?P<minute>半|一刻|三刻|\d{{1,2}}分?|{_HAN}{{1,3}}分)?", _clock),
    ("time", rf"(?<!第)(?P<hour>{_H})[点點](?P<minute>半|一刻|三刻|\d{{1,2}}分?|{_HAN}{{1,3}}分)?(?!点|子)", _clock),
    ("time", rf"{_B}(?:noon|midnight)\b|中午|午夜|正午", _same),
    ("number", rf"{_B}v?\d+(?:\.\d+){{2,}}{_E}", _same),
    ("number", rf"{_B}v\d+(?:\.\d+)*{_E}", _same),
    ("number", rf"(?:(?P<sign>[$€£¥])\s?)?(?<![a-z0-9_.])(?P<digits>\d+(?:[,_']\d{{3}})*(?:\.\d+)?)"
     rf"(?:\s?(?P<scale>k|thousand|million|billion|百万|千|万|亿)(?![a-z]))?(?:st|nd|rd|th)?\s?(?P<unit>{_UNIT})?(?![a-z0-9_])", _number),
    ("number", rf"百分之(\d+|{_HAN}+)", _part),
    ("number", r"半(小时|天|年|个月)", _half),
    ("number", rf"(?<!第)(?P<han>{_HAN}+)(?P<unit>{_UNIT})(?!下|直|般|样|定|些|起|切|共)", _han_amount),
    ("number", rf"(?<!第)(?P<han>{_HAN}+)(?P<unit>)(?=(?:{_COUNTED}))", _han_amount),
    ("number", rf"(?P<han>{_HAN}{{2,}})(?P<unit>)(?<!十分)(?<!万一)(?<!千万)(?<!一一)", _han_amount),
    ("number", rf"(?<=第)(?P<han>{_HAN}+)(?P<unit>)", _han_amount),
    ("number", rf"{_B}(?P<words>(?:{_NUMBER_WORD})(?:[ -](?:and )?(?:{_NUMBER_WORD}))*)\b(?:\s(?P<unit>{_UNIT})\b)?", _english),
)  # fmt: skip

# Kind, pattern and normal form, the more telling forms first: what one has taken no later one gets.
FORMS = tuple((kind, re.compile(pattern), normal) for kind, pattern, normal in _FORMS)
# Where a figure may begin; most texts have few such places.
STARTS = re.compile(
    rf"(?<![a-z0-9_.])(?:[\d$€£¥]|v\d|q[1-4]|(?:{_NUMBER_WORD}|{_MONTH}|{_DAY}|once|twice|thrice|half|eine|une|media|noon|midnight|today|tomorrow|yesterday|tonight|next|last|"
    rf"this|heute|demain|mañana)\b)|[{_HAN_DIGITS}半周星礼月火水木金土日今明昨后去本下上早中午晚凌清傍百第]"
)
