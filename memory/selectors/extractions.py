"""Reading what language models made of turns, as far as the one who asks may see the turns."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from kernel.context import Ctx
from memory.models import ExtractionRun
from memory.selectors.events import visible_turns
from scopes.selectors import domain_filter


def visible_extractions(ctx: Ctx) -> QuerySet[ExtractionRun]:
    """The base queryset: extractions of turns that the actor may read."""
    return ExtractionRun.objects.filter(domain_filter(ctx), Exists(visible_turns(ctx).filter(pk=OuterRef("turn_id"))))
