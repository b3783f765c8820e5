"""Reading entities and relations, as far as the one who asks may see them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from kernel.compiled import Given, compiled, tuple_of
from kernel.context import Ctx
from kernel.db import checked
from memory.contracts.items import TRUSTED, Status
from memory.models import Entity, EntityAlias, KgEdge
from memory.selectors.sight import in_sight
from scopes.selectors import visible_scopes
from search.contracts import Query

MAX_NAMES = 50


def visible_entities(ctx: Ctx) -> QuerySet[Entity]:
    """The base queryset: entities of the scopes that the actor may read, but those of which the memory was narrowed to
    another scope."""
    told = Q(item__narrowed_to=None) | Exists(visible_scopes(ctx).filter(pk=OuterRef("item__narrowed_to_id")))
    return Entity.objects.filter(*in_sight(ctx)).filter(told).select_related("scope", "item")


def visible_edges(ctx: Ctx) -> QuerySet[KgEdge]:
    """The base queryset: relations of the scopes that the actor may read."""
    return KgEdge.objects.filter(*in_sight(ctx)).select_related("scope")


def _in_force(domain: Given) -> QuerySet[Entity]:
    """The oldest entities whose memory is in force."""
    return Entity.objects.filter(
        *checked(domain_id=domain),
        item__current_until=None,
        item__status=Status.ACTIVE,
        item__lifecycle_status__in=TRUSTED,
    ).order_by("id")


@compiled(tuple_of)
def _by_name(domain: Given, scopes: Given, names: Given) -> QuerySet[Entity, Any]:
    rows = _in_force(domain).filter(scope_id__among=scopes, canonical_folded__among=names)
    return rows.values_list("id", "canonical")[:MAX_NAMES]


@compiled(tuple_of)
def _by_alias(domain: Given, scopes: Given, names: Given) -> QuerySet[Entity, Any]:
    aliases = EntityAlias.objects.filter(alias_folded__among=names).values("entity")
    rows = _in_force(domain).filter(*checked(scope_id__among=scopes), pk__in=aliases)
    return rows.values_list("id", "canonical")[:MAX_NAMES]


@compiled(tuple_of)
def _aliases(entities: Given) -> QuerySet[EntityAlias, Any]:
    return EntityAlias.objects.filter(entity_id__among=entities).order_by("id").values_list("entity_id", "alias")


def named_entities(names: Sequence[str], query: Query) -> list[tuple[str, list[str]]]:
    """The entities of the query's scopes that bear one of the folded names, oldest first: each its canonical name and
    its aliases."""
    asked = {"domain": query.domain_id, "scopes": query.scope_keys, "names": names}
    canonical = dict([*_by_name(**asked), *_by_alias(**asked)])
    kept: dict[UUID, list[str]] = {entity_id: [] for entity_id in sorted(canonical)[:MAX_NAMES]}
    for entity_id, alias in _aliases(entities=kept) if kept else []:
        kept[entity_id].append(alias)
    return [(canonical[entity_id], aliases) for entity_id, aliases in kept.items()]


class EdgeSeen(NamedTuple):
    """A relation as contexts and searches show it."""

    id: UUID
    scope_id: int
    subject: str
    predicate: str
    object: str
    confidence: float
    valid_from: datetime | None
    recorded_at: datetime
    source_turn_id: UUID | None


def _edges(domain: Given, scopes: Given, moment: Given, **ends: Given) -> QuerySet[KgEdge, Any]:
    rows = KgEdge.objects.filter(
        Q(valid_from=None) | Q(valid_from__lte=moment),
        Q(valid_to=None) | Q(valid_to__gt=moment),
        *checked(domain_id=domain, status="active"),
        scope_id__among=scopes,
        current_until=None,
        **ends,
    )
    return rows.order_by("-confidence", "-id").values_list(*EdgeSeen._fields)[:MAX_NAMES]


# One end at a time, so that each has its index.
@compiled(EdgeSeen)
def _from(domain: Given, scopes: Given, moment: Given, names: Given) -> QuerySet[KgEdge, Any]:
    return _edges(domain, scopes, moment, subject_folded__among=names)


@compiled(EdgeSeen)
def _to(domain: Given, scopes: Given, moment: Given, names: Given) -> QuerySet[KgEdge, Any]:
    return _edges(domain, scopes, moment, object_folded__among=names)


def related_edges(names: Sequence[str], query: Query) -> list[EdgeSeen]:
    """The relations that hold and have one of the folded names at either end, the surest first."""
    asked = {"domain": query.domain_id, "scopes": query.scope_keys, "moment": query.valid_at, "names": names}
    found = {row.id: row for row in [*_from(**asked), *_to(**asked)]}
    return sorted(found.values(), key=lambda row: (-row.confidence, -row.id.int))
