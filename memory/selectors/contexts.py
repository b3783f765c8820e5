"""Reading recorded contexts, as far as the one who asks may see them."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q, QuerySet

from kernel.context import ANY, Ctx, Right
from kernel.errors import NotFoundError
from memory.models import ContextRecord
from scopes.selectors import domain_filter


def visible_contexts(ctx: Ctx) -> QuerySet[ContextRecord]:
    """The base queryset: contexts that were composed for the actor, and every one of a domain that it reviews as a
    whole. A context draws on several scopes, so part of a domain is not enough."""
    reviewed = {grant.domain_id for grant in ctx.reach if Right.DECIDE in grant.rights and grant.pattern == ANY}
    whole = Q(pk__isnull=False) if ANY in reviewed else Q(domain_id__in=sorted(reviewed))
    return ContextRecord.objects.filter(domain_filter(ctx), Q(actor_id=ctx.actor.id) | whole)


def context_by_id(context_id: UUID, ctx: Ctx) -> ContextRecord:
    """One visible context with its package. Raises NotFoundError."""
    row = visible_contexts(ctx).select_related("session__scope").filter(pk=context_id).first()
    if row is None:
        raise NotFoundError(f"No context {str(context_id)!r} that you can see.")
    return row
