"""Finding memories and conflicts for a list that people read: by the start of a key or by words, and never further than
they see."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, When

from kernel.context import Ctx
from memory.keys import GRAMMARS
from memory.models import MemoryItem
from memory.naming import fold_name, name_candidates
from memory.selectors.conflicts import visible_conflicts
from memory.selectors.graph import visible_edges
from scopes.contracts import SESSION
from scopes.selectors import visible_scopes
from search.contracts import Kind
from search.selectors.holding import Holding, find_holding, scopes_at_most

MOST = 200  # memories that one search shows
MOST_AT_ODDS = 1_000  # conflicts
MOST_CHARS = 200  # of what was typed
FEW_SCOPES = 500


@dataclass(frozen=True, slots=True)
class Found:
    """Ids of the memories found, the best first. `whole`: those found by words hold every one of them. `more`: there may
    be others beyond these. `scopes_left`: there are scopes in which the words were not looked up."""

    ids: list[UUID]
    whole: bool = True
    more: bool = False
    scopes_left: bool = False


@dataclass(frozen=True, slots=True)
class AtOdds:
    """Ids of the conflicts with a side that says or is named so, and whether there may be others, as above."""

    ids: list[UUID]
    whole: bool
    more: bool
    scopes_left: bool


def find_items(text: str, rows: QuerySet[MemoryItem], within: Q, ctx: Ctx) -> Found:
    """Those of some visible items whose key begins as typed, or that hold the words. `within` says which scopes may
    hold any of them. Seven statements at most."""
    scopes, left = _scopes(text, within, ctx)
    keyed = _of_key(text, rows, scopes)
    held = _holding(text, scopes, keyed, ctx)
    passing = set(rows.filter(pk__in=held.objects).order_by().values_list("pk", flat=True)) if held.objects else set()
    worded = [each for each in held.objects if each in passing]
    ids = list(dict.fromkeys([*keyed, *worded]))
    return Found(ids[:MOST], held.whole or not worded, held.cut or len(ids) > MOST, left)


def find_conflicts(text: str, within: Q, ctx: Ctx) -> AtOdds:
    """The conflicts with a side that holds the words, whose key begins as typed, or that relates such a name. Nine
    statements at most."""
    scopes, left = _scopes(text, within, ctx)
    rows = visible_conflicts(ctx).order_by("-id").values_list("pk", flat=True)
    of_key = _begins("item_a__key", text) | _begins("item_b__key", text)
    keyed = list(rows.filter(of_key)[: MOST_AT_ODDS + 1]) if _types_of_key(text) else []
    held = _holding(text, scopes, keyed, ctx)
    names = [fold_name(text), *name_candidates(text)][:MOST]
    related = Q(subject_folded__in=names) | Q(object_folded__in=names)
    edges = list(visible_edges(ctx).filter(related).order_by("-id").values_list("pk", flat=True)[: MOST + 1])
    items = held.objects
    sides = Q(item_a__in=items) | Q(item_b__in=items) | Q(edge_a__in=edges) | Q(edge_b__in=edges)
    worded = list(rows.filter(sides)[: MOST_AT_ODDS + 1]) if items or edges else []
    more = held.cut or len(edges) > MOST or max(len(keyed), len(worded)) > MOST_AT_ODDS
    return AtOdds(list(dict.fromkeys([*keyed, *worded])), held.whole, more, left)


def _holding(text: str, scopes: list[int], keyed: list[UUID], ctx: Ctx) -> Holding:
    """The memories that hold the words; where keys begin so, only those that hold every word, and none where what was
    typed is a part of a key and nothing else."""
    if keyed and ":" in text and len(text.split()) == 1:
        return Holding([])
    held = find_holding(text, Kind.MEMORY, scopes, ctx.now)
    return held if held.whole or not keyed else Holding([])


def _scopes(text: str, within: Q, ctx: Ctx) -> tuple[list[int], bool]:
    """The scopes that hold memories and in which the words are looked up, shared ones before sessions and the newest
    first; and whether some are left out."""
    most = scopes_at_most(text, ctx.now)
    holds = Exists(MemoryItem.objects.filter(scope=OuterRef("pk")).order_by())
    rows = visible_scopes(ctx).filter(within, holds).annotate(last=Case(When(scope_type=SESSION, then=1), default=0))
    found = list(rows.order_by("last", "-key").values_list("key", flat=True)[: most + 1])
    return found[:most], len(found) > most


def _of_key(text: str, rows: QuerySet[MemoryItem], scopes: list[int]) -> list[UUID]:
    """The newest of the items whose key begins as typed; none where no key can begin so."""
    types = _types_of_key(text)
    if not types:
        return []
    found = rows.filter(_begins("key", text), type__in=types)
    if len(scopes) <= FEW_SCOPES:  # their indexes lead to the keys; of many scopes the newest rows are gone through
        found = found.filter(scope__in=scopes)
    return list(found.order_by("-id").values_list("pk", flat=True)[: MOST + 1])


def _begins(column: str, text: str) -> Q:
    """Keys that begin as typed: they are kept in NFKC, and with small letters where nobody chose others."""
    typed = unicodedata.normalize("NFKC", text)
    return Q(**{f"{column}__begins_alike": typed}) | Q(**{f"{column}__begins_alike": typed.casefold()})


def _types_of_key(text: str) -> list[str]:
    """The types of memories whose key can begin as typed."""
    return [name for name, each in GRAMMARS.items() if _begins_alike(each.prefix, text)]


def _begins_alike(prefix: str, text: str) -> bool:
    """Whether a key of that prefix can begin with what was typed: a part of the prefix, or the prefix and more."""
    name, colon, _ = unicodedata.normalize("NFKC", text).casefold().partition(":")
    return prefix == name if colon else prefix.startswith(name)
