"""Finding candidates among texts that pass a filter of their owner's, applied before anything is cut.

Few objects are all read and ranked. Of many, every text that holds one of the rarer words is held to the filter, within
a budget, so that a word which only other texts hold does not lead away from those that pass.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from django.db.models import Q, QuerySet

from kernel.compiled import Compiled, Given, tuple_of
from search.contracts import Query
from search.models import IndexEntry, Posting
from search.selectors.asking import Asked
from search.selectors.candidates import (
    COLUMNS,
    ROW_BUDGET,
    Candidates,
    Corpus,
    Key,
    Place,
    best_of,
    corpus_of,
    held_to,
    is_timed,
    keys_of,
    places_around,
    postings,
    rows_from,
    rules_of,
)

HELD = 5_000  # postings whose entries are held to the filter
ENOUGH = 50  # entries that pass and hold a rare word: with fewer, common words are looked up too


def find_among(query: Query, asked: Asked) -> Candidates | None:
    """All objects that the query names, for each of its scopes; None where nothing holds any term. Three database
    queries."""
    keys = keys_of(query, asked)
    if not keys or not query.among:
        return None
    rules, timed = rules_of(query), is_timed(asked)
    found = _named(tuple(rules), timed=timed)(**rules, objects=query.among)
    return Candidates(rows_from(found, query, asked), corpus_of(query, asked, keys), 0)


def find_within(query: Query, asked: Asked) -> Candidates | None:
    """The rows that may answer among those that pass the filter; None where nothing does. Six database queries at most."""
    keys = keys_of(query, asked)
    if not keys:
        return None
    corpus = corpus_of(query, asked, keys)
    best, cut = _best(query, keys, corpus)
    if not best:
        return None
    found = IndexEntry.objects.filter(
        held_to(rules_of(query)),
        Q(pk__in=[entry_id for entry_id, _ in best]) | Q(place__in=places_around(best)),
        _filter(query, "object_id"),
    )
    columns = [*COLUMNS, *(["event_time"] if is_timed(asked) else [])]
    return Candidates(rows_from(found.order_by("id").values_list(*columns), query, asked), corpus, cut)


@cache
def _named(names: tuple[str, ...], *, timed: bool) -> Compiled[Any]:
    """The query for the entries of some objects, in the order of ids; `timed`: with their times."""

    def build(objects: Given, **rules: Given) -> QuerySet[Any, Any]:
        wanted = IndexEntry.objects.filter(held_to(rules), object_id__among=objects)
        return wanted.order_by("id").values_list(*COLUMNS, *(["event_time"] if timed else []))

    return Compiled(build, tuple_of, (*names, "objects"))


def _best(query: Query, keys: list[Key], corpus: Corpus) -> tuple[list[Place], int]:
    rare, common = _within_budget(keys)
    read = postings(terms=[key.number for key in rare])
    entries = IndexEntry.objects.filter(held_to(rules_of(query)), pk__in={row[1] for row in read})
    held = list(entries.filter(_filter(query, "object_id")).values_list("id", "length", "place"))
    ids = {row[0] for row in held}
    found = [row for row in read if row[1] in ids]
    if common and len(ids) < ENOUGH:
        # Few that pass hold a rare word: then the common ones lead too, to the newest texts.
        newest = _newest(query, common)
        held = list({*held, *(row[:3] for row in newest)})
        found += [(row[3], row[0]) for row in newest]
    return best_of(held, found, keys, corpus)


def _within_budget(keys: list[Key]) -> tuple[list[Key], list[Key]]:
    """The rarest keys whose postings are read, and the others."""
    budget, taken = HELD, 0
    for key in keys:
        budget -= key.rows
        if budget < 0:
            break
        taken += 1
    return keys[:taken], keys[taken:]


def _newest(query: Query, keys: list[Key]) -> list[tuple[int, int, int | None, int]]:
    """The newest entries that hold any of the terms, once for each, up to the budget: id, length, place, term."""
    rows = Posting.objects.filter(held_to(rules_of(query), "entry__"), term__in=[key.number for key in keys])
    rows = rows.filter(_filter(query, "entry__object_id")).order_by("-entry_id", "term")
    return list(rows.values_list("entry_id", "entry__length", "entry__place", "term")[:ROW_BUDGET])


def _filter(query: Query, column: str) -> Any:
    return query.within(column) if query.within else Q()
