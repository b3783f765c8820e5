"""Reading what language models made of turns, as far as the one who asks may see the turns."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from kernel.context import Ctx
from memory.models import ExtractionRun
from memory.selectors.events import visible_turns
from memory.selectors.telling import turns_told_to
from scopes.selectors import domain_filter


def visible_extractions(ctx: Ctx) -> QuerySet[ExtractionRun]:
    """The base queryset: extractions of turns that the actor may read, but those of which something was narrowed away from
    it: the reply of the model tells it."""
    turn = Exists(visible_turns(ctx).filter(pk=OuterRef("turn_id")))
    return ExtractionRun.objects.filter(domain_filter(ctx), turns_told_to(ctx), turn)
