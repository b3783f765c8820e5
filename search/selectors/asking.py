"""Reading a question: what it asks for, which days it names, and whether it asks for the present state."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

from kernel import tokens

MAX_QUERY_TERMS = 64
_MONTH_NAMES = """
january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,september sep sept,october oct,november nov,
december dec
"""
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.split(","), 1) for name in names.split()}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"(?:19|20)\d\d"
_NAMED = [
    re.compile(rf"(?P<year>{_YEAR})[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}))?(?!\d)"),
    re.compile(
        rf"(?:\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?\b(?P<name>{_MONTH})\b\.?"
        rf"(?:\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?(?:,?\s+(?P<year>{_YEAR})\b)?",
        re.IGNORECASE,
    ),
    re.compile(rf"(?:(?P<year>{_YEAR})\s*年\s*)?(?P<month>\d{{1,2}})\s*月(?:\s*(?P<day>\d{{1,2}})\s*[日号])?"),
]
_BARE_YEAR = re.compile(
    rf"(?:\b(?:in|during|since|of)\s+(?P<en>{_YEAR})\b|(?P<zh>{_YEAR})\s*年(?!\s*\d{{1,2}}\s*月))", re.I
)
_AGO = re.compile(r"\b(\d{1,3}|a|an|one|two|three|four|five|six)\s+(day|week|month|year)s?\s+ago\b", re.IGNORECASE)
_AGO_ZH = re.compile(r"(\d{1,3}|一|两|三|四|五|六)\s*(天|日|个?星期|周|个月|年)(?:之|以)?前")
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6} | {
    "一": 1,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
}
_UNITS = {"天": "day", "日": "day", "星期": "week", "个星期": "week", "周": "week", "个月": "month", "年": "year"}
# What a phrase stands for: a unit of time, and how many of them back.
_RELATIVE = {
    "today|今天|今日": ("day", 0),
    "yesterday|last night|昨天|昨日|昨晚": ("day", 1),
    "day before yesterday|前天": ("day", 2),
    "this week|本周|这周|这个星期|这星期": ("week", 0),
    "last week|上周|上个?星期": ("week", 1),
    "this month|本月|这个月": ("month", 0),
    "last month|上个?月": ("month", 1),
    "this year|今年": ("year", 0),
    "last year|去年": ("year", 1),
}
_PHRASES = [
    (
        re.compile(
            "|".join(rf"\b{word}\b" if word.isascii() and "?" not in word else word for word in phrase.split("|")),
            re.I,
        ),
        meant,
    )
    for phrase, meant in _RELATIVE.items()
]
_NOW = re.compile(
    r"\b(?:now|nowadays|current(?:ly)?|latest|newest|at present|at the moment|these days|up[- ]to[- ]date|"
    r"most recent(?:ly)?|as of today)\b|现在|目前|当前|如今|最新|眼下|现阶段",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `first` to `last`, both included. `yearly`: of any year, the year of both is a stand-in."""

    first: date
    last: date
    yearly: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for. `sentence`: it is more than key words. `cut` is the number of terms beyond the limit."""

    units: tuple[tokens.Unit, ...]
    spans: tuple[Span, ...]
    now: bool
    sentence: bool
    cut: int

    @property
    def terms(self) -> tuple[str, ...]:
        """Every term to look up, each once, in order."""
        return tuple(dict.fromkeys(term for unit in self.units for term in unit.terms))


def read(text: str, at: datetime) -> Asked:
    """Read a question that is asked at an instant."""
    units: list[tokens.Unit] = []
    known: set[str] = set()
    cut = 0
    for unit in tokens.query_units(text):
        if len(known | set(unit.terms)) <= MAX_QUERY_TERMS:
            known.update(unit.terms)
            units.append(unit)
        else:
            cut += len(set(unit.terms) - known)
    return Asked(
        tuple(units),
        tuple(dict.fromkeys(_spans(text, at.date()))),
        bool(_NOW.search(text)),
        tokens.is_sentence(text),
        cut,
    )


def _spans(text: str, today: date) -> Iterator[Span]:
    for pattern in _NAMED:
        for found in pattern.finditer(text):
            yield from _named(found.groupdict())
    for found in _BARE_YEAR.finditer(text):
        yield _year(int(found["en"] or found["zh"]))
    for pattern, (unit, back) in _PHRASES:
        if pattern.search(text):
            yield from _back(today, unit, back)
    for found in [*_AGO.finditer(text), *_AGO_ZH.finditer(text)]:
        count = found[1].lower()
        unit = found[2].lower()
        yield from _back(today, _UNITS.get(unit, unit), _COUNTS.get(count) or int(count))


def _named(parts: dict[str, str | None]) -> Iterator[Span]:
    """The day or month that a match names; nothing where the calendar has no such day."""
    name = parts.get("name")
    month = _MONTHS[name.lower()] if name else int(parts["month"] or 0)
    day = int(parts.get("day") or parts.get("day2") or 0)
    year = int(parts.get("year") or 0)
    if name and name.islower() and not (day or year):
        return  # "may", "march" and "mar" are also other words; as months they are written with a capital
    if not 1 <= month <= 12:
        return
    days = monthrange(year or 2024, month)[1]
    if 0 < day <= days:
        only = date(year or 2024, month, day)
        yield Span(only, only, yearly=not year)
    elif not day:
        yield Span(date(year or 2024, month, 1), date(year or 2024, month, days), yearly=not year)


def _back(today: date, unit: str, count: int) -> Iterator[Span]:
    """The day, week, month or year that lies so many units back; nothing where the calendar does not reach."""
    if unit == "day":
        yield from _days(today.toordinal() - count, 1)
    elif unit == "week":
        yield from _days(today.toordinal() - today.weekday() - 7 * count, 7)
    elif unit == "month":
        year, month = divmod(today.year * 12 + today.month - 1 - count, 12)
        if year > 0:
            yield Span(date(year, month + 1, 1), date(year, month + 1, monthrange(year, month + 1)[1]))
    elif today.year > count:
        yield _year(today.year - count)


def _days(first: int, length: int) -> Iterator[Span]:
    """So many days from the day of that number, counted from the first of the year 1."""
    if first >= 1 and first + length - 1 <= date.max.toordinal():
        yield Span(date.fromordinal(first), date.fromordinal(first + length - 1))


def _year(year: int) -> Span:
    return Span(date(year, 1, 1), date(year, 12, 31))
