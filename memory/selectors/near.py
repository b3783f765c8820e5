"""Finding what says the same as a memory or rests on it, so that one decision can be taken for all of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q

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
_LONGEST_ASKED = 1000


def offered_with(item: MemoryItem, ctx: Ctx) -> list[tuple[MemoryItem, Relation]]:
    """Visible items in force that a decision on this one may concern too: copies, what it was made from, what rests on
    it, near-duplicates; each once, at most 20."""
    related: dict[UUID, Relation] = {}
    for item_id in _copies(item):
        related.setdefault(item_id, Relation.COPY)
    if item.source_item_id is not None:
        related.setdefault(item.source_item_id, Relation.SOURCE)
    for link in links_around(item, ctx).onto[:MAX_OFFERED]:
        related.setdefault(link.item_id, Relation.DERIVED)
    rows = _in_force(related, ctx)
    found = [(rows[item_id], relation) for item_id, relation in related.items() if item_id in rows]
    known = {item.pk, *related}
    near = [row for row in near_duplicates(item.statement, item, ctx, found) if row.pk not in known]
    return [*found, *((row, Relation.NEAR_DUPLICATE) for row in near)][:MAX_OFFERED]


@dataclass(frozen=True, slots=True)
class Links:
    """Evidence links of an item: what it rests on or what speaks against it, and what names it as its evidence."""

    own: list[EvidenceLink]
    onto: list[EvidenceLink]


def links_around(item: MemoryItem, ctx: Ctx) -> Links:
    """The links of an item, read once in a call: the oldest 500, so that its own come first. A turn that it
    came from is none."""
    return ctx.once(("links", item.pk), lambda: _links(item))


def _links(item: MemoryItem) -> Links:
    around = Q(item=item) | Q(kind="memory", ref=str(item.pk))
    rows = list(EvidenceLink.objects.filter(around).exclude(kind="turn").order_by("id")[:MAX_LINKS])
    return Links(
        [row for row in rows if row.item_id == item.pk],
        [row for row in rows if row.kind == "memory" and row.ref == str(item.pk)],
    )


def view_also(found: Iterable[tuple[MemoryItem, Relation]]) -> list[AlsoView]:
    """Offered items as answers show them."""
    return [AlsoView(item=view_item(row), relation=relation) for row, relation in found]


def near_duplicates(
    text: str, item: MemoryItem, ctx: Ctx, found: Iterable[tuple[MemoryItem, Relation]] = ()
) -> list[MemoryItem]:
    """Items in force that say nearly the same, in the scope of the item, those of its conversation and of `found`."""
    keys = {item.scope_id, *(row.scope_id for row, _ in found)}
    if item.source_session_id is None and keys == {item.scope_id}:
        return similar_in(text, item.domain_id, (item.scope_id,), ctx)
    near = Q(pk__in=keys)
    if item.source_session_id is not None:
        near |= Q(pk__in=SessionScopeLink.objects.filter(session_id=item.source_session_id).values("scope_id"))
    here = visible_scopes(ctx).filter(near, domain_id=item.domain_id)
    scope_keys = tuple(here.order_by("pk").values_list("pk", flat=True)[:MAX_SCOPES])
    return similar_in(text, item.domain_id, scope_keys, ctx)


def similar_in(text: str, domain_id: str, scope_keys: tuple[int, ...], ctx: Ctx) -> list[MemoryItem]:
    """Items in force in these scopes that say nearly the same as a text, the nearest first."""
    asked = Query(
        text=text[:_LONGEST_ASKED],
        domain_id=domain_id,
        scope_keys=scope_keys,
        kinds=(Kind.MEMORY,),
        valid_at=ctx.now,
    )
    hits = [hit for hit in index.find(asked).hits[: 3 * MAX_NEAR] if hit.confidence >= NEAR_ENOUGH]
    rows = _in_force([hit.object_id for hit in hits], ctx)
    return [rows[hit.object_id] for hit in hits if hit.object_id in rows][:MAX_NEAR]


def _copies(item: MemoryItem) -> list[UUID]:
    events = KnowledgeEvent.objects.filter(item=item, kind="copied").order_by("-id")[:MAX_OFFERED]
    return [UUID(row.metadata["item_id"]) for row in events]


def _in_force(ids: Iterable[UUID], ctx: Ctx) -> dict[UUID, MemoryItem]:
    rows = visible_items(ctx).filter(
        pk__in=list(ids), current_until=None, status=Status.ACTIVE, lifecycle_status__in=TRUSTED
    )
    return {row.pk: row for row in rows}
