"""Reading entities and relations, as far as the one who asks may see them."""

from __future__ import annotations

from django.db.models import QuerySet

from kernel.context import Ctx
from memory.models import Entity, KgEdge
from memory.selectors.sight import in_sight


def visible_entities(ctx: Ctx) -> QuerySet[Entity]:
    """The base queryset: entities of the scopes that the actor may read."""
    return Entity.objects.filter(*in_sight(ctx)).select_related("scope", "item")


def visible_edges(ctx: Ctx) -> QuerySet[KgEdge]:
    """The base queryset: relations of the scopes that the actor may read."""
    return KgEdge.objects.filter(*in_sight(ctx)).select_related("scope")
