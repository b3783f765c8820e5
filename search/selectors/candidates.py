"""Finding candidates in the database: the rows of the rarest terms first, within a budget, and those around them.

Five queries, whatever the size of the index and the number of scopes. Every one of them goes through `held_to`: domain,
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


Place = tuple[int, int | None]
"""The id of an entry, and its place among those of its session."""

COLUMNS = ("id", "kind", "object_id", "scope_id", "place", "author", "state", "trust", "length", "terms")
_PLAIN = len(COLUMNS) - 1


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
class Key:
    """A term of one scope."""

    number: int
    scope_key: int
    term: str
    rows: int


def find_candidates(query: Query, asked: Asked) -> Candidates | None:
    """The rows that may answer; None where nothing holds any term."""
    keys = keys_of(query, asked)
    corpus = corpus_of(query, asked, keys)
    best, cut = _best(query, telling_of(keys), corpus)
    if not best:
        return None
    return Candidates(_rows(query, best, asked), corpus, cut)


def rules_of(query: Query) -> dict[str, Any]:
    """What every look-up holds to: entries of the query's domain and scopes that hold at its moment, and no other."""
    past = query.history or query.superseded or query.recorded_at is not None
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
        "open_at": None if query.superseded else query.recorded_at,
    }
    return rules | {name: value for name, value in asked.items() if value is not None}


def held_to(rules: Mapping[str, Any], path: str = "") -> Q:
    """The filter of `rules_of`."""
    kept = Q(**{path + name: value for name, value in rules.items() if name not in {"valid_at", "open_at"}})
    if "open_at" in rules:
        kept &= _unset_or(f"{path}current_until", "gt", rules["open_at"])
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


def _size_of(query: Query) -> tuple[int, int]:
    """The number of texts in all scopes of the query, and their length together."""
    rows = _sizes(scopes=query.scope_keys)
    return sum(int(entries) for _, entries, _ in rows), sum(int(length) for _, _, length in rows)


def keys_of(query: Query, asked: Asked) -> list[Key]:
    """The terms that occur, scope by scope, rarest first; equally rare ones in the order of the question, since scopes
    have other numbers in another database."""
    wanted = {term_key(scope_key, term): (scope_key, term) for scope_key in query.scope_keys for term in asked.terms}
    place = {number: at for at, number in enumerate(wanted)}
    found = [Key(number, *wanted[number], rows) for number, rows in _counts(terms=list(wanted))]
    return sorted(found, key=lambda key: (key.rows, place[key.number]))


def corpus_of(query: Query, asked: Asked, keys: Iterable[Key]) -> Corpus:
    """What is known of all texts of the query's scopes, whatever the query is narrowed to."""
    texts, length = _size_of(query)
    rows = dict.fromkeys(asked.terms, 0)
    for key in keys:
        rows[key.term] += key.rows
    information = {term: max(math.log((texts + PRIOR) / (count + 1)), 0.0) for term, count in rows.items()}
    return Corpus(information, frozenset(term for term, n in rows.items() if n), max(length / max(texts, 1), 1.0))


def telling_of(keys: list[Key]) -> list[Key]:
    """The rarest keys within the row budget, at least one."""
    taken, budget = 0, ROW_BUDGET
    for key in keys:
        budget -= key.rows
        if budget < 0 and taken:
            break
        taken += 1
    return keys[:taken]


def _best(query: Query, telling: list[Key], corpus: Corpus) -> tuple[list[Place], int]:
    rules = rules_of(query)
    if len(telling) == 1 and telling[0].rows > ROW_BUDGET:
        held = _newest(tuple(rules))(**rules, term__among=[telling[0].number])
        return best_of(held, [(telling[0].number, row[0]) for row in held], telling, corpus)
    read = postings(terms=[key.number for key in telling])
    return best_of(_places(tuple(rules))(**rules, ids={row[1] for row in read}), read, telling, corpus)


def best_of(
    held: Iterable[tuple[int, int, int | None]],
    found: Iterable[tuple[int, int]],
    telling: Iterable[Key],
    corpus: Corpus,
) -> tuple[list[Place], int]:
    """The best of the entries held (id, length, place) by a rough score from the postings found (term, entry), and how
    many were left out: what their terms tell, less for long texts. Whole numbers, so that the order in which the
    database gives the postings makes no difference."""
    key_of = {key.number: key for key in telling}
    told: dict[int, int] = {}
    scope_of: dict[int, int] = {}
    for term, entry_id in found:
        key = key_of[term]
        told[entry_id] = told.get(entry_id, 0) + round(corpus.information[key.term] * 1_000_000)
        scope_of[entry_id] = key.scope_key
    mean = 3 * corpus.mean_length
    scored = sorted((-told[entry_id] / (mean + length), -entry_id, place) for entry_id, length, place in held)
    places = {-entry_id: place for _, entry_id, place in scored}
    chosen = of_every_scope(list(places), scope_of)
    return [(entry_id, places[entry_id]) for entry_id in chosen], len(scored) - len(chosen)


@compiled(tuple_of)
def postings(terms: Given) -> QuerySet[Any, Any]:
    """The postings of some terms. Read before their entries and not joined with them: while PostgreSQL has no statistics
    of the tables it would read the entries from end to end and look for the terms of each."""
    return Posting.objects.filter(term__among=terms).values_list("term", "entry_id")


@cache
def _places(names: tuple[str, ...]) -> Compiled[Any]:
    """The query for those of some entries that the question may see: id, length, place."""

    def build(ids: Given, **rules: Given) -> QuerySet[Any, Any]:
        return IndexEntry.objects.filter(held_to(rules), pk__among=ids).values_list("id", "length", "place")

    return Compiled(build, tuple_of, (*names, "ids"))


@cache
def _newest(names: tuple[str, ...]) -> Compiled[Any]:
    """The query for the newest entries that hold one term, up to the budget, since the rarest word of a question may
    still be in most texts: id, length, place."""

    def build(term__among: Given, **rules: Given) -> QuerySet[Any, Any]:
        held = Posting.objects.filter(held_to(rules, "entry__"), term__among=term__among).order_by("-entry_id")
        return held[:ROW_BUDGET].values_list("entry_id", "entry__length", "entry__place")

    return Compiled(build, tuple_of, (*names, "term__among"))


def of_every_scope(order: list[int], scope_of: Mapping[int, int]) -> list[int]:
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


def _rows(query: Query, best: list[Place], asked: Asked) -> tuple[Row, ...]:
    """The best rows and those before and after them in their sessions."""
    rules, timed = rules_of(query), is_timed(asked)
    wanted = _entries(tuple(rules), timed=timed)
    found = wanted(**rules, ids=[entry_id for entry_id, _ in best], places=places_around(best))
    return rows_from(found, query, asked)


def is_timed(asked: Asked) -> bool:
    """Whether the times of rows are to be read: turning texts into times costs more than all the rest of a row."""
    return bool(asked.spans or asked.now)


def places_around(best: list[Place]) -> set[int]:
    """The places before and after the best rows in their sessions."""
    steps = [step for step in range(-REACH, REACH + 1) if step]
    return {place + step for _, place in best[:AROUND] if place is not None for step in steps}


def rows_from(found: Iterable[tuple[Any, ...]], query: Query, asked: Asked) -> tuple[Row, ...]:
    """Candidates from the columns of entries, with `event_time` after them where the question is about time."""
    timed = is_timed(asked)
    keys = {scope_key: {term_key(scope_key, term): term for term in asked.terms} for scope_key in query.scope_keys}
    rows = []
    for row in found:
        day = row[-1].date().toordinal() if timed else 0
        rows.append(Row(*row[:_PLAIN], counts=pick(bytes(row[_PLAIN]), keys[row[3]]), day=day))  # type: ignore[misc]
    return tuple(rows)


@cache
def _entries(names: tuple[str, ...], *, timed: bool) -> Compiled[Any]:
    """The query for entries by their ids or places, in the order of ids; `timed`: with their times."""

    def build(ids: Given, places: Given, **rules: Given) -> QuerySet[Any, Any]:
        wanted = IndexEntry.objects.filter(held_to(rules), Q(pk__among=ids) | Q(place__among=places))
        return wanted.order_by("id").values_list(*COLUMNS, *(["event_time"] if timed else []))

    return Compiled(build, tuple_of, (*names, "ids", "places"))
