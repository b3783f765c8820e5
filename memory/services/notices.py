"""Telling agents, on their next compose, what became of memories that they were shown."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from kernel.context import Ctx
from memory.compose.contracts import NoticeView
from memory.models import ContextShown, MemoryItem, Notice

REMEMBERED = timedelta(days=30)
MAX_TOLD = 500  # agents told of one change


def tell(item: MemoryItem, kind: str, reason: str, replacement: MemoryItem | None, ctx: Ctx) -> int:
    """Leave a notice for everyone who was shown the item in the last 30 days but the one who acts; gives their number.

    `kind` is retracted, corrected, narrowed or demoted.
    """
    shown = ContextShown.objects.filter(object_id=item.id, record__created_at__gte=ctx.now - REMEMBERED)
    names = shown.exclude(actor_id=ctx.actor.id).values_list("actor_id", "record__actor_name")
    readers = dict(names.order_by("actor_id", "record__actor_name").distinct()[:MAX_TOLD])
    Notice.objects.bulk_create(
        [
            Notice(
                domain_id=item.domain_id,
                actor_id=actor_id,
                actor_name=name,
                item=item,
                kind=kind,
                reason=reason,
                replacement=replacement,
                created_at=ctx.now,
            )
            for actor_id, name in sorted(readers.items())
        ]
    )
    return len(readers)


def told(notices: list[NoticeView], context_id: UUID, ctx: Ctx) -> None:
    """Keep that a context told these notices."""
    if notices:
        ids = [notice.id for notice in notices]
        Notice.objects.filter(pk__in=ids, told_at=None).update(told_at=ctx.now, context=context_id)
