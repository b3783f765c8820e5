"""What of a table with a scope the one who asks may see."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from kernel.context import Ctx
from scopes.selectors import domain_filter, visible_scopes


def in_sight(ctx: Ctx) -> tuple[Q, Exists]:
    """Filters of a table with `domain` and `scope`: rows of the scopes that the actor may read. Each row asks for its
    scope, so that a page of the newest rows costs a page and not the table."""
    return domain_filter(ctx), Exists(visible_scopes(ctx).filter(pk=OuterRef("scope_id")))
