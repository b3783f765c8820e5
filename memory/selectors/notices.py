"""Reading notices: those that wait for an actor, and those of an item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from kernel.compiled import Given, compiled, instances
from kernel.context import Ctx
from memory.compose.contracts import NoticeView
from memory.models import MemoryItem, Notice
from memory.selectors.items import visible_items

MAX_SHOWN = 10


_COLUMNS = tuple(field.attname for field in Notice._meta.concrete_fields)


@compiled(instances(Notice, _COLUMNS))
def _waiting(domain: Given, actor: Given, scopes: Given) -> QuerySet[Notice, Any]:
    rows = Notice.objects.filter(domain_id=domain, actor_id=actor, told_at=None, item__scope_id__among=scopes)
    return rows.values_list(*_COLUMNS)[:MAX_SHOWN]


def waiting_notices(domain_id: str, scope_keys: Sequence[int], ctx: Ctx) -> list[NoticeView]:
    """What the actor is still to be told of memories of the scopes that are read, the oldest first. The rest waits for
    a context that reads its scope. One statement where there is nothing."""
    rows = _waiting(domain=domain_id, actor=ctx.actor.id, scopes=scope_keys)
    if not rows:
        return []
    named = [row.replacement_id for row in rows if row.replacement_id]
    readable = set(visible_items(ctx).filter(pk__in=named).values_list("pk", flat=True)) if named else set()
    return [
        NoticeView.model_validate(
            {
                "id": row.id,
                "kind": row.kind,
                "memory_item_id": row.item_id,
                "at": row.created_at,
                "reason": row.reason,
                "replacement_id": row.replacement_id if row.replacement_id in readable else None,
            }
        )
        for row in rows
    ]


def notices_of(item: MemoryItem) -> QuerySet[Notice]:
    """Who was or will be told of an item, the oldest first."""
    return Notice.objects.filter(item=item).order_by("id")
