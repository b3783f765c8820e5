"""Reading saved filters: one's own, and those that others share."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q, QuerySet

from governance.contracts import FilterView, ProposalFilters
from governance.models import Proposal, SavedFilter
from governance.selectors.counting import bounded_counts
from governance.selectors.proposals import COUNTED_TO, filter_proposals
from kernel.context import ANY, Ctx, Right
from kernel.errors import DomainError, NotFoundError
from scopes.selectors import visible_domains

FILTERS = 100
TELLING = ("proposer", "text", "rule", "similar_to", "action")


def visible_filters(ctx: Ctx) -> QuerySet[SavedFilter]:
    """The base queryset: the actor's own filters, and shared ones of the domains in which it decides somewhere."""
    shared = Q(shared=True) & (Q(domain_id=None) | Q(domain_id__in=visible_domains(ctx, Right.DECIDE).values("pk")))
    if not any(Right.DECIDE in grant.rights for grant in ctx.reach):
        shared = Q(pk__in=[])
    return SavedFilter.objects.filter(Q(owner_id=ctx.actor.id) | shared)


def list_filters(ctx: Ctx, *, counts: bool) -> list[FilterView]:
    """The filters that the actor may use, the lightest first."""
    rows = [row for row in visible_filters(ctx)[:FILTERS] if _may_know(row, ctx)]
    lists = [_rows(ProposalFilters.parse(row.filters), ctx) for row in rows] if counts else []
    counted = bounded_counts(lists, COUNTED_TO) if counts else [None] * len(rows)
    return [view_filter(row, ctx, count) for row, count in zip(rows, counted, strict=True)]


def default_filter(ctx: Ctx) -> ProposalFilters | None:
    """The filters with which the actor's queue opens; None where it chose none."""
    row = SavedFilter.objects.filter(owner_id=ctx.actor.id, is_default=True).first()
    return ProposalFilters.parse(row.filters) if row else None


def get_filter(filter_id: UUID, ctx: Ctx) -> SavedFilter:
    """One filter that the actor may use. Raises NotFoundError."""
    row = visible_filters(ctx).filter(pk=filter_id).first()
    if row is None or not _may_know(row, ctx):
        raise NotFoundError(f"No filter {filter_id} that you can see.")
    return row


def view_filter(row: SavedFilter, ctx: Ctx, count: int | None = None) -> FilterView:
    """A filter as answers show it, with the proposals that fit, where they were counted."""
    filters = ProposalFilters.parse(row.filters)
    return FilterView(
        id=row.id,
        name=row.name,
        filters=filters,
        shared=row.shared,
        weight=row.weight,
        is_default=row.is_default and row.owner_id == ctx.actor.id,
        owner=row.owner_name,
        mine=row.owner_id == ctx.actor.id,
        count=None if count is None else min(count, COUNTED_TO),
        at_least=count is not None and count > COUNTED_TO,
    )


def tells(filters: ProposalFilters) -> bool:
    """Whether the filters themselves say something that only reviewers of a domain should read."""
    return filters.scope is not None or any(getattr(filters, name) is not None for name in TELLING)


def _may_know(row: SavedFilter, ctx: Ctx) -> bool:
    """Whether a shared filter says nothing of scopes on which the actor does not decide."""
    if row.owner_id == ctx.actor.id or row.domain_id is None:
        return True
    filters = ProposalFilters.parse(row.filters)
    says_more = any(getattr(filters, name) is not None for name in TELLING)
    if filters.scope is None and not says_more:
        return True
    return ctx.may(Right.DECIDE, row.domain_id, filters.scope or ANY)


def _rows(filters: ProposalFilters, ctx: Ctx) -> QuerySet[Proposal]:
    """What a filter lists; nothing where what it names is gone or out of sight."""
    try:
        return filter_proposals(filters, ctx).prefetch_related(None)
    except DomainError:
        return Proposal.objects.none()
