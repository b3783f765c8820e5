"""What speaks for a candidate, feature by feature: pure functions over plain rows, the same for every database.

BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009), over the text and, counted less, the
texts around it in its session: an answer rarely repeats the words of the question before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date

from kernel import tokens
from search.selectors.asking import Asked, Span
from search.selectors.candidates import Corpus, Row


@dataclass(frozen=True, slots=True)
class TextWeights:
    """Of the text feature. `k1` and `b` are those of BM25; `before` and `after` count the words of the texts one and
    two steps away; `form` is for each of several forms of one word."""

    k1: float = 1.2
    b: float = 0.4
    before: tuple[float, ...] = (0.5, 0.3)
    after: tuple[float, ...] = (0.3, 0.2)
    form: float = 0.6


def named_authors(rows: Iterable[Row], asked: Asked) -> dict[str, frozenset[str]]:
    """The authors whom the question names, by all of their name or its first word, with the terms that name them."""
    terms = frozenset(asked.terms)
    found: dict[str, frozenset[str]] = {}
    for author in {row.author for row in rows}:
        for name in (author, *author.split()[:1]):
            named = frozenset(tokens.query_terms(name))
            if named and named <= terms:
                found[author] = found.get(author, frozenset()) | named
    return found


def telling_units(asked: Asked, names: AbstractSet[str], known: AbstractSet[str]) -> list[tokens.Unit]:
    """The pieces of the question that texts are scored by: those that occur, names of authors left out unless nothing
    else is there, since the author feature stands for them."""
    units = [unit for unit in asked.units if known & set(unit.terms)]
    return [unit for unit in units if not names & set(unit.terms)] or units


def term_weights(units: Iterable[tokens.Unit], corpus: Corpus, form: float) -> dict[str, float]:
    """What each term is worth: what it tells, shared among the forms of a word."""
    weights: dict[str, float] = defaultdict(float)
    for unit in units:
        held = [term for term in unit.terms if term in corpus.known]
        for term in held:
            weights[term] += corpus.information[term] * unit.weight * (1.0 if len(held) == 1 else form)
    return dict(weights)


def widened(rows: Sequence[Row], weights: TextWeights) -> tuple[dict[int, dict[str, float]], dict[int, float]]:
    """The counts of terms in a row and around it, and the length that goes with them, for each row that has any."""
    by_place = {row.place: row for row in rows if row.place is not None}
    # A text passes its words on: to the one after it as what stands before that.
    around = [*enumerate(weights.before, 1), *((-step, weight) for step, weight in enumerate(weights.after, 1))]
    counts: dict[int, dict[str, float]] = {row.entry_id: dict(row.counts) for row in rows if row.counts}
    for row in rows:
        if not row.counts or row.place is None:
            continue
        for step, weight in around:
            other = by_place.get(row.place + step)
            if other is not None:
                found = counts.setdefault(other.entry_id, {})
                for term, count in row.counts.items():
                    found[term] = found.get(term, 0.0) + weight * count
    lengths = {row.entry_id: _length(row, by_place, around) for row in rows if row.entry_id in counts}
    return counts, lengths


def _length(row: Row, by_place: Mapping[int, Row], around: Iterable[tuple[int, float]]) -> float:
    """The mean length of a row and those around it, by their weights."""
    if row.place is None:
        return float(row.length)
    length, share = float(row.length), 1.0
    for step, weight in around:
        other = by_place.get(row.place - step)
        if other is not None:
            length += weight * other.length
            share += weight
    return length / share


def bm25(counts: Mapping[str, float], length: float, worth: Mapping[str, float], weights: TextWeights) -> float:
    """The score of one text; `length` is relative to the mean."""
    norm = weights.k1 * (1 - weights.b + weights.b * length)
    return sum(
        value * counts[term] * (weights.k1 + 1) / (counts[term] + norm)
        for term, value in worth.items()
        if term in counts
    )


def is_of_author(row: Row, named: Mapping[str, frozenset[str]]) -> bool:
    """Whether a named author said it, or, where nobody is known to have said it, it tells of one."""
    if row.author:
        return row.author in named
    return any(names and names <= row.counts.keys() for names in named.values())


def nearness(day: int, spans: Iterable[Span]) -> float:
    """How well the day of a text fits the days that the question names: things are also told within days after."""
    return max((_fit(day, span) for span in spans), default=0.0)


def _fit(day: int, span: Span) -> float:
    after = min(
        (day - last.toordinal() for first, last in _dates(day, span) if day >= first.toordinal() - 1), default=None
    )
    if after is None:
        return 0.0
    if after <= 1:
        return 1.0
    one_day = span.first == span.last
    if after <= 14:
        return 0.7 if one_day else 0.5
    return 0.3 if one_day and after <= 31 else 0.0


def _dates(day: int, span: Span) -> list[tuple[date, date]]:
    """The span in the year of the text and in the one before."""
    if not span.yearly:
        return [(span.first, span.last)]
    year = date.fromordinal(day).year
    return [(_in_year(span.first, y), _in_year(span.last, y)) for y in (year, year - 1) if y > 0]


def _in_year(day: date, year: int) -> date:
    leap = day.month == 2 and day.day == 29
    return date(year, 2, 28) if leap else day.replace(year=year)


def recency(rows: Sequence[Row]) -> dict[int, float]:
    """For each row how new it is among all: 0 the oldest, 1 the newest."""
    days = [row.day for row in rows]
    oldest, newest = min(days, default=0), max(days, default=0)
    return {row.entry_id: (row.day - oldest) / (newest - oldest) if newest > oldest else 0.0 for row in rows}


def tellings(asked: Asked, corpus: Corpus) -> list[tuple[frozenset[str], float]]:
    """The terms of each piece of the question, and the share of its information that the piece carries.

    A piece tells as much as its commonest form, so that neither a rare spelling nor a pair of characters across two
    words makes a match look worse than it is.
    """
    told = [unit.weight * min(corpus.information[term] for term in unit.terms) for unit in asked.units]
    total = sum(told) or 1.0
    return [(frozenset(unit.terms), value / total) for unit, value in zip(asked.units, told, strict=True)]


def share_matched(
    own: Mapping[str, int], around: Mapping[str, float], told: Iterable[tuple[frozenset[str], float]], context: float
) -> float:
    """The share of the question's information that a text holds itself or, counted by `context`, beside it."""
    matched = 0.0
    for terms, share in told:
        if not terms.isdisjoint(own):
            matched += share
        elif not terms.isdisjoint(around):
            matched += share * context
    return matched
