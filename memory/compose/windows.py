"""Time words in a message, resolved against the caller's own clock: "yesterday" is his yesterday."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

Window = tuple[datetime, datetime]
_RECENT_DAYS = 7
_MAX_UNITS = 1000

_DIGITS = {"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "几": 7}
_NAMES = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10, "few": 7, "couple": 2}
_UNITS = {
    "day": 1, "天": 1, "日": 1,
    "week": 7, "周": 7, "星期": 7, "礼拜": 7,
    "month": 30, "月": 30,
    "year": 365, "年": 365,
}  # fmt: skip

_START, _END = r"(?<![a-z0-9_])", r"(?![a-z0-9_])"
_SPAN = re.compile(
    rf"{_START}(?:last|past|previous)\s+(?P<en>\d{{1,4}}|{'|'.join(_NAMES)})\s+(?P<en_unit>day|week|month|year)s?{_END}"
    r"|(?:最近|过去|近)(?P<zh>\d{1,4}|[一两二三四五六七八九十几])个?(?P<zh_unit>天|日|周|星期|礼拜|月|年)"
)


@dataclass(frozen=True, slots=True)
class _Days:
    """Whole days of the caller, from `first` to `last`, both included."""

    first: date
    last: date


def _week(today: date) -> date:
    return today - timedelta(days=today.weekday())


def _month(today: date) -> date:
    return today.replace(day=1)


def _last_month(today: date) -> _Days:
    last = _month(today) - timedelta(days=1)
    return _Days(_month(last), last)


def _last_week(today: date) -> _Days:
    return _Days(_week(today) - timedelta(days=7), _week(today) - timedelta(days=1))


def _back(days: int) -> Callable[[date], _Days]:
    return lambda today: _Days(today - timedelta(days=days), today - timedelta(days=days))


# The longer form of a word stands before the shorter one that it holds.
_WORDS: list[tuple[str, Callable[[date], _Days]]] = [
    (rf"{_START}day before yesterday{_END}|前天", _back(2)),
    (rf"{_START}yesterday{_END}|昨天|昨日|昨晚", _back(1)),
    (rf"{_START}(?:today|tonight){_END}|今天|今日|今早|今晚", _back(0)),
    (rf"{_START}last week{_END}|上周|上星期|上个星期|上礼拜|上个礼拜", _last_week),
    (rf"{_START}this week{_END}|本周|这周|这星期|这个星期|这礼拜", lambda today: _Days(_week(today), today)),
    (rf"{_START}last month{_END}|上个月|上月", _last_month),
    (rf"{_START}this month{_END}|本月|这个月|当月", lambda today: _Days(_month(today), today)),
    (
        rf"{_START}last year{_END}|去年",
        lambda today: _Days(date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)),
    ),
    (rf"{_START}this year{_END}|今年", lambda today: _Days(date(today.year, 1, 1), today)),
]
_RECENT = re.compile(rf"{_START}recent(?:ly)?{_END}|{_START}lately{_END}|最近|近来|近日|近期|这几天")


def time_window(text: str, now: datetime) -> tuple[Window, str] | None:
    """From when to when the text speaks of, and the words that say so; nothing where it names no time.

    Several times make one window over all of them. Whole days run from midnight to midnight where the caller is,
    the day of `now` and spans such as "last 3 days" end at `now`.
    """
    lowered = text.casefold()
    found = _named(lowered, now)
    if not found and (recent := _RECENT.search(lowered)):
        found = [((now - timedelta(days=_RECENT_DAYS), now), recent.group())]
    if not found:
        return None
    window = (min(window[0] for window, _ in found), max(window[1] for window, _ in found))
    return window, ", ".join(words for _, words in found)


def _named(text: str, now: datetime) -> list[tuple[Window, str]]:
    found: list[tuple[Window, str]] = []
    for match in _SPAN.finditer(text):
        count = _number(match["en"] or match["zh"])
        days = min(count, _MAX_UNITS) * _UNITS[match["en_unit"] or match["zh_unit"]]
        found.append(((_earlier(now, days), now), match.group()))
    rest = _SPAN.sub(" ", text)
    for pattern, days_of in _WORDS:
        if said := re.search(pattern, rest):
            found.append((_whole(days_of(now.date()), now), said.group()))
            rest = rest.replace(said.group(), " ")
    return found


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else _DIGITS.get(text) or _NAMES[text]


def _earlier(now: datetime, days: int) -> datetime:
    floor = datetime.min.replace(tzinfo=now.tzinfo) + timedelta(days=2)
    return max(floor, now - timedelta(days=min(days, (now - floor).days)))


def _whole(days: _Days, now: datetime) -> Window:
    since = _midnight(days.first, now.tzinfo)
    return since, now if days.last >= now.date() else _midnight(days.last + timedelta(days=1), now.tzinfo)


def _midnight(day: date, zone: tzinfo | None) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)
