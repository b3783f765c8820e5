"""Finding what says the same as a memory or rests on it, so that one decision can be taken for all of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet, TextField, Value
from django.db.models.functions import Cast

from kernel.context import Ctx
from memory.contracts.items import TRUSTED, Status
from memory.contracts.lifecycle import AlsoView, Relation
from memory.models import EvidenceLink, KnowledgeEvent, MemoryItem, SessionScopeLink
from memory.selectors.items import view_item, visible_items
from scopes.selectors import visible_scopes
from search import selectors as index
from search.contracts import Kind, Query

MAX_OFFERED = 20
MAX_NEAR = 10
MAX_SCOPES = 20
MAX_LINKS = 500
NEAR_ENOUGH = 0.6  # share of the statement's information that a near-duplicate holds
NEAR_AT_ONCE = 0.4  # the same of what the same turn taught: said once, it may be remembered twice in other words
_LONGEST_ASKED = 1000


def offered_with(item: MemoryItem, ctx: Ctx, along: Iterable[UUID] = ()) -> list[tuple[MemoryItem, Relation]]:
    """Visible items in force that a decision on this one may concern too: copies, what it was made from, what rests on
    it, near-duplicates; each once, at most 20. `along` names further items to be read in the same statement."""
    links = links_around([item], ctx)
    related: dict[UUID, Relation] = {}
    for item_id in links.copies[:MAX_OFFERED]:
        related.setdefault(item_id, Relation.COPY)
    if item.source_item_id is not None:
        related.setdefault(item.source_item_id, Relation.SOURCE)
    for link in links.onto[:MAX_OFFERED]:
        related.setdefault(link.item, Relation.DERIVED)
    near = _similar(item.statement, item.domain_id, _scopes_around(item, related, ctx), ctx)
    rows = in_force([*related, *near], ctx, along)
    found = [(rows[item_id], relation) for item_id, relation in related.items() if item_id in rows]
    known = {item.pk, *related}
    new = [
        rows[item_id] for item_id, share in near.items() if item_id in rows and _is_near(rows[item_id], share, item)
    ]
    fresh = [(row, Relation.NEAR_DUPLICATE) for row in new[:MAX_NEAR] if row.pk not in known]
    return [*found, *fresh][:MAX_OFFERED]


def _is_near(row: MemoryItem, share: float, item: MemoryItem) -> bool:
    """Whether a row says nearly the same as an item, of whose information it holds a share: more where another turn
    taught it."""
    at_once = row.source_turn_id is not None and row.source_turn_id == item.source_turn_id
    return share >= (NEAR_AT_ONCE if at_once else NEAR_ENOUGH)


class Link(NamedTuple):
    """One link between an item and what it rests on, or what speaks against it, and since when."""

    id: str
    item: UUID
    kind: str
    ref: str
    role: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Links:
    """Evidence links of items: what they rest on or what speaks against them, what names them as its evidence, and what
    was copied from them, the newest copy first."""

    own: list[Link]
    onto: list[Link]
    copies: list[UUID]


def links_around(items: Sequence[MemoryItem], ctx: Ctx) -> Links:
    """The links of items, read once in a call in one statement: of their evidence the oldest 500, so that their own come
    first, and the newest 20 copies. A turn that they came from is none."""
    ids = tuple(item.pk for item in items)
    return ctx.once(("links", ids), lambda: _links(ids))


def _links(ids: tuple[UUID, ...]) -> Links:
    around = Q(item__in=ids) | Q(kind="memory", ref__in=[str(each) for each in ids])
    evidence = EvidenceLink.objects.filter(around).exclude(kind="turn").order_by("id").values("pk")[:MAX_LINKS]
    copies = KnowledgeEvent.objects.filter(item__in=ids, kind="copied").order_by("-id").values("pk")[:MAX_OFFERED]
    # SQLite takes no limit inside a union, so the parts are named by their ids
    links = EvidenceLink.objects.filter(pk__in=evidence).order_by().annotate(is_copy=Value(0))
    events = KnowledgeEvent.objects.filter(pk__in=copies).order_by().annotate(is_copy=Value(1), none=Value(""))
    columns = ("is_copy", "id", "item_id", "kind", "ref", "role", "created_at")
    told = events.annotate(told=Cast("metadata", TextField())).values_list(
        "is_copy", "id", "item_id", "kind", "told", "none", "created_at"
    )
    rows = sorted(links.values_list(*columns).union(told, all=True))
    found = [Link(*row) for is_copy, *row in rows if not is_copy]
    named = {str(each) for each in ids}
    return Links(
        [link for link in found if link.item in ids],
        [link for link in found if link.kind == "memory" and link.ref in named],
        [UUID(json.loads(row[4])["item_id"]) for row in reversed(rows) if row[0]],
    )


def view_also(found: Iterable[tuple[MemoryItem, Relation]]) -> list[AlsoView]:
    """Offered items as answers show them."""
    return [AlsoView(item=view_item(row), relation=relation) for row, relation in found]


def _scopes_around(item: MemoryItem, related: Iterable[UUID], ctx: Ctx) -> tuple[int, ...]:
    """The visible scopes in which to look for near-duplicates: its own, those of its conversation and of `related`."""
    others = list(related)
    if item.source_session_id is None and not others:
        return (item.scope_id,)
    near = Q(pk=item.scope_id)
    if others:
        near |= Q(pk__in=_in_force(visible_items(ctx)).filter(pk__in=others).values("scope_id"))
    if item.source_session_id is not None:
        near |= Q(pk__in=SessionScopeLink.objects.filter(session_id=item.source_session_id).values("scope_id"))
    here = visible_scopes(ctx).filter(near, domain_id=item.domain_id)
    return tuple(here.order_by("pk").values_list("pk", flat=True)[:MAX_SCOPES])


def similar_ids(text: str, domain_id: str, scope_keys: tuple[int, ...], ctx: Ctx) -> list[UUID]:
    """Items in these scopes that the index holds to say nearly the same as a text, the nearest first."""
    found = _similar(text, domain_id, scope_keys, ctx)
    return [item_id for item_id, share in found.items() if share >= NEAR_ENOUGH]


def _similar(text: str, domain_id: str, scope_keys: tuple[int, ...], ctx: Ctx) -> dict[UUID, float]:
    """Items in these scopes that say some of what a text says, the nearest first, with the share of its information."""
    asked = Query(
        text=text[:_LONGEST_ASKED],
        domain_id=domain_id,
        scope_keys=scope_keys,
        kinds=(Kind.MEMORY,),
        valid_at=ctx.now,
    )
    hits = index.find(asked).hits[: 3 * MAX_NEAR]
    return {hit.object_id: hit.confidence for hit in hits if hit.confidence >= NEAR_AT_ONCE}


def in_force(ids: Iterable[UUID], ctx: Ctx, along: Iterable[UUID] = ()) -> dict[UUID, MemoryItem]:
    """The visible items in force among these; `along` as for `offered_with`."""
    wanted = list(ids)
    rows = readable([*wanted, *along], ctx)
    return {item_id: rows[item_id] for item_id in wanted if item_id in rows and _holds(rows[item_id])}


def readable(ids: Iterable[UUID], ctx: Ctx) -> dict[UUID, MemoryItem]:
    """The visible items among these, each read once in a call."""
    known: dict[UUID, MemoryItem | None] = ctx.once("readable items", dict)
    wanted = list(dict.fromkeys(ids))
    new = [item_id for item_id in wanted if item_id not in known]
    if new:
        known.update(dict.fromkeys(new))
        known.update({row.pk: row for row in visible_items(ctx).filter(pk__in=new)})
        read_in(ctx).update({row.pk: row for row in map(known.get, new) if row is not None})
    return {item_id: row for item_id in wanted if (row := known[item_id]) is not None}


def read_in(ctx: Ctx) -> dict[UUID, MemoryItem]:
    """The items that were read so far in a call, whoever may see them: for rules on how they stand, never to be shown."""
    return ctx.once("items read", dict)


def _holds(row: MemoryItem) -> bool:
    return row.current_until is None and row.status == Status.ACTIVE and row.lifecycle_status in TRUSTED


def _in_force(rows: QuerySet[MemoryItem]) -> QuerySet[MemoryItem]:
    return rows.filter(current_until=None, status=Status.ACTIVE, lifecycle_status__in=TRUSTED)
