"""Telling agents, on their next compose, what became of memories that they were shown."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from kernel.context import Ctx
from memory.compose.contracts import NoticeView
from memory.models import ContextShown, MemoryItem, Notice, Session

REMEMBERED = timedelta(days=30)
BATCH = 500  # notices written at a time


def tell(
    item: MemoryItem, kind: str, reason: str, replacement: MemoryItem | None, ctx: Ctx, session: Session | None = None
) -> int:
    """Leave a notice for everyone who was shown the item in the last 30 days; gives their number.

    `kind` is retracted, corrected, narrowed or demoted. `session` is the conversation that acts, which knows: its actor
    is told where another of their conversations was shown the item.
    """
    shown = ContextShown.objects.filter(object_id=item.id, record__created_at__gte=ctx.now - REMEMBERED)
    if session is not None:
        shown = shown.exclude(pk__in=_shown_in(session, shown.filter(actor_id=ctx.actor.id)))
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


def _shown_in(session: Session, shown: QuerySet[ContextShown]) -> QuerySet[ContextShown, Any]:
    """What an actor was shown in a conversation, also before it was opened: the package alone names it then."""
    unopened = Q(record__session=None, record__domain_id=session.domain_id)
    before = unopened & Q(record__package__session_id=session.external_id)
    return shown.filter(Q(record__session=session) | before).values("pk")


def withdraw(item: MemoryItem, *kinds: str) -> None:
    """Drop what nobody was told yet of an item that is in force again as it was; of one that is history again only the
    notices of these kinds."""
    waiting = Notice.objects.filter(item=item, told_at=None)
    (waiting.filter(kind__in=kinds) if kinds else waiting).delete()


def told(notices: list[NoticeView], context_id: UUID, ctx: Ctx) -> None:
    """Keep that a context told these notices."""
    if notices:
        ids = [notice.id for notice in notices]
        Notice.objects.filter(pk__in=ids, told_at=None).update(told_at=ctx.now, context=context_id)
