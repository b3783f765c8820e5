"""Keeping filters of the review queue under a name."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from governance.contracts import SaveFilterInput
from governance.models import SavedFilter
from governance.selectors import get_filter
from kernel.actions import Change
from kernel.context import Ctx
from kernel.errors import ConflictError, ForbiddenError

OWN_FILTERS = 50


def save_filter(given: SaveFilterInput, ctx: Ctx) -> tuple[SavedFilter, Change]:
    """Keep a filter under its owner's name for it, replacing the one before. Raises ConflictError over 50 filters, or
    where the same owner saves twice at one moment."""
    own = SavedFilter.objects.filter(owner_id=ctx.actor.id)
    row = own.filter(name=given.name).first()
    if row is None and own.count() >= OWN_FILTERS:
        raise ConflictError(f"You have {OWN_FILTERS} filters already: delete one first.")
    before = _as_json(row) if row else None
    row = row or SavedFilter(owner_id=ctx.actor.id, name=given.name, created_at=ctx.now)
    row.owner_name = ctx.actor.name
    row.filters = given.filters.model_dump(mode="json", exclude_none=True)
    row.domain_id = given.filters.domain_id
    row.shared, row.weight, row.is_default = given.shared, given.weight, given.is_default
    try:
        with transaction.atomic():
            if given.is_default:
                own.filter(is_default=True).exclude(pk=row.pk).update(is_default=False)
            row.save()
    except IntegrityError as exc:
        raise ConflictError("You saved a filter at this very moment elsewhere: look at your filters again.") from exc
    return row, Change("saved_filters", str(row.id), before, _as_json(row))


def delete_filter(filter_id: UUID, ctx: Ctx) -> Change:
    """Delete one's own filter."""
    row = get_filter(filter_id, ctx)
    if row.owner_id != ctx.actor.id:
        raise ForbiddenError(f"Only {row.owner_name}, who saved it, deletes this filter.")
    before = _as_json(row)
    row.delete()
    return Change("saved_filters", str(filter_id), before, None)


def _as_json(row: SavedFilter) -> dict[str, Any]:
    return {
        "name": row.name,
        "filters": row.filters,
        "shared": row.shared,
        "weight": row.weight,
        "is_default": row.is_default,
    }
