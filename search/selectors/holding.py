"""Finding the texts that hold the words of a search box: in any state and of any time, for a list that people read.

Whoever searches a list looks for what they know is there: a text that holds every word counts, however it ranks as an
answer. Only where none does, those count that hold most of the words. The rarest word leads to the texts, whose own
terms tell of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from kernel.compiled import Compiled, Given, compiled, tuple_of
from kernel.tokens import Unit
from search.contracts import Kind, Query
from search.models import IndexEntry, Posting
from search.selectors.asking import Asked, read
from search.selectors.candidates import Key, keys_of
from search.terms import pick, term_key

LOOKED_UP = 6_000  # terms, each in each scope
LEADING = 3  # words that are looked up where there are too many scopes for all of them
READ = 2_000  # texts, the newest of those that hold the rarest of these words
MOST_OF_THEM = 0.5  # share of the words that a text holds, where none holds them all
_PLAIN = 40  # added to the length of a text, so that a short one is no better than one of a few words


@dataclass(frozen=True, slots=True)
class Holding:
    """Ids of the objects found, the best first. `whole`: each holds every word. `cut`: only the newest texts that hold
    the rarest word were read."""

    objects: list[UUID]
    whole: bool = True
    cut: bool = False


class _Held(NamedTuple):
    object_id: UUID
    share: float
    score: float
    entry_id: int


def scopes_at_most(text: str, at: datetime) -> int:
    """In how many scopes the words of a text are looked up at once."""
    return LOOKED_UP // max(len(_leading_part(read(text, at)).terms), 1)


def find_holding(text: str, kind: Kind, scope_keys: Sequence[int], at: datetime) -> Holding:
    """The objects of a kind that hold the words of a text, in scopes that the caller was found to be allowed to read.
    Three database queries, one where none of the words occurs."""
    asked = read(text, at)
    query = Query(text, "", tuple(scope_keys), (kind,), at)
    few = len(query.scope_keys) * len(asked.terms) <= LOOKED_UP
    lead = _rarest(asked, keys_of(query, asked if few else _leading_part(asked)))
    if not lead:
        return Holding([])
    ids = [row[0] for row in _leading(READ + 1)(terms=lead)]
    cut, ids = len(ids) > READ, ids[:READ]
    found = _held(_entries(kind=kind, scopes=query.scope_keys, ids=ids), asked)
    whole = any(each.share == 1 for each in found)
    kept = [each for each in found if each.share == 1 or (not whole and each.share >= MOST_OF_THEM)]
    kept.sort(key=lambda each: (-each.share, -each.score, -each.entry_id))
    return Holding(list(dict.fromkeys(each.object_id for each in kept)), whole, cut)


def _leading_part(asked: Asked) -> Asked:
    """The longest words of a question, in its order."""
    longest = sorted(asked.units, key=lambda unit: -max(map(len, unit.terms)))[:LEADING]
    return replace(asked, units=tuple(unit for unit in asked.units if unit in longest))


def _rarest(asked: Asked, keys: Iterable[Key]) -> list[int]:
    """The keys of the word that is rarest in these scopes: what holds every word holds this one."""
    of_term: dict[str, list[Key]] = {}
    for key in keys:
        of_term.setdefault(key.term, []).append(key)
    pieces = [[key for term in unit.terms for key in of_term.get(term, ())] for unit in asked.units]
    rarest = min(filter(None, pieces), key=lambda piece: sum(key.rows for key in piece), default=[])
    return [key.number for key in rarest]


@cache
def _leading(most: int) -> Compiled[Any]:
    """The query for the newest entries that hold any of some terms."""

    def build(terms: Given) -> QuerySet[Any, Any]:
        return (
            Posting.objects.filter(term__among=terms).order_by("-entry_id").values_list("entry_id").distinct()[:most]
        )

    return Compiled(build, tuple_of)


@compiled(tuple_of)
def _entries(kind: Given, scopes: Given, ids: Given) -> QuerySet[Any, Any]:
    rows = IndexEntry.objects.filter(kind=kind, scope_id__among=scopes, pk__among=ids)
    return rows.order_by("id").values_list("id", "object_id", "scope_id", "length", "terms")


def _held(rows: Iterable[tuple[Any, ...]], asked: Asked) -> list[_Held]:
    """Each text with the share of the words that it holds, and with how much it says of them for its length."""
    wanted: dict[int, Mapping[int, str]] = {}
    found = []
    for entry_id, object_id, scope_key, length, terms in rows:
        if scope_key not in wanted:
            wanted[scope_key] = {term_key(scope_key, term): term for term in asked.terms}
        counts = pick(bytes(terms), wanted[scope_key])
        score = sum(counts.values()) / (_PLAIN + length)
        found.append(_Held(object_id, _share(asked.units, counts), score, entry_id))
    return found


def _share(units: Sequence[Unit], counts: Mapping[str, int]) -> float:
    """The share of the words that a text holds, 1 only where it holds all."""
    held = [unit.weight for unit in units if not counts.keys().isdisjoint(unit.terms)]
    return 1.0 if len(held) == len(units) else sum(held) / sum(unit.weight for unit in units)
