"""Reading notices: those that wait for an actor, and those of an item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from kernel.compiled import Given, compiled, instances
from kernel.context import Ctx
from memory.compose.contracts import NoticeView
from memory.contracts.items import TRUSTED, Status
from memory.models import MemoryItem, Notice
from memory.selectors.items import visible_items

MAX_SHOWN = 10
MAX_STEPS = 20  # along a line of replacements


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
    ends = _ends({row.replacement_id for row in rows if row.replacement_id}, ctx)
    return [_view(row, ends.get(row.replacement_id) if row.replacement_id else None) for row in rows]


def _view(row: Notice, end: MemoryItem | None) -> NoticeView:
    """A notice by what is so now: what took the place may have been replaced, or be gone itself."""
    kind, reason, replacement = row.kind, row.reason, end.pk if end is not None else None
    if end is not None and not _counts(end):
        replacement = None
        gone = _gone(end)
        if row.kind == "corrected" and gone:
            kind = gone[0]
            last = end.events.filter(kind__in=gone).order_by("-id").first()
            reason = last.reason if last is not None else ""
    return NoticeView.model_validate(
        {
            "id": row.id,
            "kind": kind,
            "memory_item_id": row.item_id,
            "at": row.created_at,
            "reason": reason,
            "replacement_id": replacement,
        }
    )


def _gone(row: MemoryItem) -> tuple[str, ...]:
    """How a row left by itself: the kind of its notice, then the further kinds of the event that tells why. Empty where it
    did not, such as where another took its place."""
    if row.lifecycle_status not in TRUSTED:
        return ("demoted", str(row.lifecycle_status))
    return ("retracted", "undone") if row.status == Status.RETRACTED else ()


def _counts(row: MemoryItem) -> bool:
    return row.current_until is None and row.status == Status.ACTIVE and row.lifecycle_status in TRUSTED


def _ends(replacements: set[UUID], ctx: Ctx) -> dict[UUID, MemoryItem]:
    """What stands at the end of what took the place of each, as far as the actor may read; one statement a step, and one
    where nothing was replaced again."""
    ends: dict[UUID, MemoryItem] = {}
    at = {each: each for each in replacements}
    for _ in range(MAX_STEPS):
        if not at:
            break
        rows = {row.pk: row for row in visible_items(ctx).filter(pk__in=set(at.values()))}
        ends |= {first: rows[place] for first, place in at.items() if place in rows}
        onward = {first: ends[first].successor_id for first, place in at.items() if place in rows}
        at = {first: then for first, then in onward.items() if then is not None and not _counts(ends[first])}
    return ends


def notices_of(item: MemoryItem) -> QuerySet[Notice]:
    """Who was or will be told of an item, the oldest first."""
    return Notice.objects.filter(item=item).order_by("id")
