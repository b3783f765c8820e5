"""Finding candidates in the database: the rows of the rarest terms first, within a budget, and those around them.

Five queries, whatever the size of the index and the number of scopes. Every one of them goes through `_held`: domain,
scopes, kinds and times of the query are part of the look-up itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum

from kernel.compiled import Compiled, Given, compiled, tuple_of
from search.contracts import Query, State
from search.models import IndexEntry, Posting, ScopeSize
from search.selectors.asking import Asked
from search.terms import pick, term_key

# Postings read in the first stage: the rarest terms up to this number choose the rows, and every term scores them.
ROW_BUDGET = 1_000
CANDIDATES = 150
# Candidates whose neighbours are read, and how far.
AROUND = 40
REACH = 2
# As if so many more texts were there that hold none of the terms: in a scope of three texts no word is common yet.
PRIOR = 100


class Row(NamedTuple):
    """A candidate with the counts of the query's terms that it holds, and its day where the question is about time."""

    entry_id: int
    kind: str
    object_id: UUID
    scope_key: int
    place: int | None
    author: str
    state: str
    trust: float
    length: int
    counts: Mapping[str, int]
    day: int = 0


_COLUMNS = ("id", "kind", "object_id", "scope_id", "place", "author", "state", "trust", "length", "terms")
_PLAIN = len(_COLUMNS) - 1


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of all texts of the query's scopes together: for each term what it tells, and the mean length."""

    information: Mapping[str, float]
    known: frozenset[str]
    mean_length: float


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows to rank, and how many were found beyond the limit."""

    rows: tuple[Row, ...]
    corpus: Corpus
    cut: int


@dataclass(frozen=True, slots=True)
class _Key:
    """A term of one scope."""

    number: int
    scope_key: int
    term: str
    rows: int


def find_candidates(query: Query, asked: Asked) -> Candidates | None:
    """The rows that may answer; None where nothing holds any term."""
    texts, length = _size(query)
    keys = _keys(query, asked)
    corpus = _corpus(asked, keys, texts, length)
    best, cut = _best(query, _telling(keys), corpus)
    if not best:
        return None
    return Candidates(_rows(query, best, asked), corpus, cut)


def _rules(query: Query) -> dict[str, Any]:
    """What every look-up holds to: entries of the query's domain and scopes that hold at its moment, and no other."""
    past = query.history or query.recorded_at is not None
    rules: dict[str, Any] = {
        "domain_id": query.domain_id,
        "scope_id__among": query.scope_keys,
        "kind__among": query.kinds,
        "state__among": [State.CURRENT, State.HISTORY] if past else [State.CURRENT],
        "valid_at": query.valid_at,
    }
    asked = {
        "label__among": query.labels or None,
        "event_time__gte": query.since,
        "event_time__lt": query.until,
        "recorded_at__lte": query.recorded_at,
    }
    return rules | {name: value for name, value in asked.items() if value is not None}


def _held(rules: Mapping[str, Any], path: str = "") -> Q:
    """The filter of `_rules`."""
    kept = Q(**{path + name: value for name, value in rules.items() if name != "valid_at"})
    if "recorded_at__lte" in rules:
        kept &= _unset_or(f"{path}current_until", "gt", rules["recorded_at__lte"])
    return (
        kept
        & _unset_or(f"{path}valid_from", "lte", rules["valid_at"])
        & _unset_or(f"{path}valid_to", "gt", rules["valid_at"])
    )


def _unset_or(column: str, rule: str, value: object) -> Q:
    return Q(**{f"{column}__isnull": True}) | Q(**{f"{column}__{rule}": value})


@compiled(tuple_of)
def _sizes(scopes: Given) -> QuerySet[Any, Any]:
    rows = ScopeSize.objects.filter(scope_id__among=scopes)
    return rows.values_list("scope_id").annotate(entries=Sum("entries"), length=Sum("length")).order_by()


@compiled(tuple_of)
def _counts(terms: Given) -> QuerySet[Any, Any]:
    return Posting.objects.filter(term__among=terms).values_list("term").annotate(n=Count("entry_id")).order_by()


def _size(query: Query) -> tuple[int, int]:
    """The number of texts in all scopes of the query, and their length together."""
    rows = _sizes(scopes=query.scope_keys)
    return sum(int(entries) for _, entries, _ in rows), sum(int(length) for _, _, length in rows)


def _keys(query: Query, asked: Asked) -> list[_Key]:
    """The terms that occur, scope by scope, rarest first; equally rare ones in the order of the question, since scopes
    have other numbers in another database."""
    wanted = {term_key(scope_key, term): (scope_key, term) for scope_key in query.scope_keys for term in asked.terms}
    place = {number: at for at, number in enumerate(wanted)}
    found = [_Key(number, *wanted[number], rows) for number, rows in _counts(terms=list(wanted))]
    return sorted(found, key=lambda key: (key.rows, place[key.number]))


def _corpus(asked: Asked, keys: Iterable[_Key], texts: int, length: int) -> Corpus:
    rows = dict.fromkeys(asked.terms, 0)
    for key in keys:
        rows[key.term] += key.rows
    information = {term: max(math.log((texts + PRIOR) / (count + 1)), 0.0) for term, count in rows.items()}
    return Corpus(information, frozenset(term for term, n in rows.items() if n), max(length / max(texts, 1), 1.0))


def _telling(keys: list[_Key]) -> list[_Key]:
    """The rarest keys within the row budget, at least one."""
    taken, budget = 0, ROW_BUDGET
    for key in keys:
        budget -= key.rows
        if budget < 0 and taken:
            break
        taken += 1
    return keys[:taken]


def _best(query: Query, telling: list[_Key], corpus: Corpus) -> tuple[list[tuple[int, int | None]], int]:
    """Ids and places of the best rows by a rough score: what their terms tell, less for long texts. Whole numbers, so
    that the order in which the database gives the postings makes no difference."""
    worth = {key.number: round(corpus.information[key.term] * 1_000_000) for key in telling}
    scopes = {key.number: key.scope_key for key in telling}
    told: dict[int, int] = {}
    scope_of: dict[int, int] = {}
    rules = _rules(query)
    if len(telling) == 1 and telling[0].rows > ROW_BUDGET:
        held = _newest(tuple(rules))(**rules, term__among=list(worth))
        told = dict.fromkeys((row[0] for row in held), worth[telling[0].number])
        scope_of = dict.fromkeys(told, telling[0].scope_key)
    else:
        for term, entry_id in _postings(terms=list(worth)):
            told[entry_id] = told.get(entry_id, 0) + worth[term]
            scope_of[entry_id] = scopes[term]
        held = _places(tuple(rules))(**rules, ids=list(told))
    mean = 3 * corpus.mean_length
    scored = sorted((-told[entry_id] / (mean + length), -entry_id, place) for entry_id, length, place in held)
    places = {-entry_id: place for _, entry_id, place in scored}
    chosen = _of_every_scope(list(places), scope_of)
    return [(entry_id, places[entry_id]) for entry_id in chosen], len(scored) - len(chosen)


@compiled(tuple_of)
def _postings(terms: Given) -> QuerySet[Any, Any]:
    """The postings of some terms. Read before their entries and not joined with them: while PostgreSQL has no statistics
    of the tables it would read the entries from end to end and look for the terms of each."""
    return Posting.objects.filter(term__among=terms).values_list("term", "entry_id")


@cache
def _places(names: tuple[str, ...]) -> Compiled[Any]:
    """The query for those of some entries that the question may see: id, length, place."""

    def build(ids: Given, **rules: Given) -> QuerySet[Any, Any]:
        return IndexEntry.objects.filter(_held(rules), pk__among=ids).values_list("id", "length", "place")

    return Compiled(build, tuple_of, (*names, "ids"))


@cache
def _newest(names: tuple[str, ...]) -> Compiled[Any]:
    """The query for the newest entries that hold one term, up to the budget, since the rarest word of a question may
    still be in most texts: id, length, place."""

    def build(term__among: Given, **rules: Given) -> QuerySet[Any, Any]:
        held = Posting.objects.filter(_held(rules, "entry__"), term__among=term__among).order_by("-entry_id")
        return held[:ROW_BUDGET].values_list("entry_id", "entry__length", "entry__place")

    return Compiled(build, tuple_of, (*names, "term__among"))


def _of_every_scope(order: list[int], scope_of: Mapping[int, int]) -> list[int]:
    """The first candidates, each scope with its share of them: one with many texts does not shut out one with few."""
    if len(order) <= CANDIDATES:
        return order
    found = set(scope_of.values())
    left = dict.fromkeys(found, CANDIDATES // len(found))
    within, beyond = set[int](), list[int]()
    for entry_id in order:
        scope = scope_of[entry_id]
        if left[scope]:
            left[scope] -= 1
            within.add(entry_id)
        else:
            beyond.append(entry_id)
    within.update(beyond[: CANDIDATES - len(within)])
    return [entry_id for entry_id in order if entry_id in within]


def _rows(query: Query, best: list[tuple[int, int | None]], asked: Asked) -> tuple[Row, ...]:
    """The best rows and those before and after them in their sessions. Days are read only where the question is about
    time: turning texts into times costs more than all the rest of a row."""
    steps = [step for step in range(-REACH, REACH + 1) if step]
    places = {place + step for _, place in best[:AROUND] if place is not None for step in steps}
    rules, timed = _rules(query), bool(asked.spans or asked.now)
    wanted = _entries(tuple(rules), timed=timed)
    keys = {scope_key: {term_key(scope_key, term): term for term in asked.terms} for scope_key in query.scope_keys}
    rows = []
    for row in wanted(**rules, ids=[entry_id for entry_id, _ in best], places=places):
        day = row[-1].date().toordinal() if timed else 0
        rows.append(Row(*row[:_PLAIN], counts=pick(bytes(row[_PLAIN]), keys[row[3]]), day=day))  # type: ignore[misc]
    return tuple(rows)


@cache
def _entries(names: tuple[str, ...], *, timed: bool) -> Compiled[Any]:
    """The query for entries by their ids or places, in the order of ids; `timed`: with their times."""

    def build(ids: Given, places: Given, **rules: Given) -> QuerySet[Any, Any]:
        wanted = IndexEntry.objects.filter(_held(rules), Q(pk__among=ids) | Q(place__among=places))
        return wanted.order_by("id").values_list(*_COLUMNS, *(["event_time"] if timed else []))

    return Compiled(build, tuple_of, (*names, "ids", "places"))
