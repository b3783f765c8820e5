"""Telling agents, on their next compose, what became of memories that they were shown."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from kernel.context import Ctx
from memory.compose.contracts import NoticeView
from memory.models import ContextShown, MemoryItem, Notice

REMEMBERED = timedelta(days=30)
BATCH = 500  # notices written at a time


def tell(
    item: MemoryItem, kind: str, reason: str, replacement: MemoryItem | None, ctx: Ctx, session: UUID | None = None
) -> int:
    """Leave a notice for everyone who was shown the item in the last 30 days; gives their number.

    `kind` is retracted, corrected, narrowed or demoted. `session` is the conversation that acts, which knows: its actor
    is told where another of their conversations was shown the item.
    """
    shown = ContextShown.objects.filter(object_id=item.id, record__created_at__gte=ctx.now - REMEMBERED)
    if session is not None:
        shown = shown.exclude(actor_id=ctx.actor.id, record__session_id=session)
    names = shown.values_list("actor_id", "record__actor_name")
    readers = dict(names.order_by("actor_id", "record__actor_name").distinct())
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
        ],
        batch_size=BATCH,
    )
    return len(readers)


def told(notices: list[NoticeView], context_id: UUID, ctx: Ctx) -> None:
    """Keep that a context told these notices."""
    if notices:
        ids = [notice.id for notice in notices]
        Notice.objects.filter(pk__in=ids, told_at=None).update(told_at=ctx.now, context=context_id)
