"""Hiding the earlier versions of a memory that is narrowed, and showing them again where the narrowing is undone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Q

from kernel.actions import Change
from kernel.errors import ConflictError
from memory.models import KnowledgeEvent, MemoryItem

if TYPE_CHECKING:
    from scopes.models import MemoryScope

MEMORY = "memory_items"
LINE_HIDDEN = "line_hidden"  # kind of the step by which what a memory said before was hidden after it was narrowed
_BATCH = 500  # rows asked about at a time


def hide_line(item: MemoryItem, scope: MemoryScope) -> list[Change]:
    """Hide what an item said before, from everyone outside of the scope that it was narrowed to: the earlier versions of
    its key, what it took the place of under another key, and so on. Versions that were narrowed before stay as they are.
    The caller holds its own scope, so that no version of it comes to be meanwhile."""
    rows = _before(item)
    ids = sorted(pk for pk, narrowed in rows.items() if narrowed is None)
    for batch in _batches(ids):
        MemoryItem.objects.filter(pk__in=batch).update(narrowed_to=scope)
    name = item.scope.name
    return [Change(MEMORY, str(pk), {"narrowed_to": None}, {"narrowed_to": scope.name}, scopes=(name,)) for pk in ids]


def show_again(changes: Iterable[Change]) -> list[Change]:
    """Show the rows again that a narrowing hid, the narrowed one too; rows that stand otherwise by now stay so."""
    hidden = [change for change in changes if (change.after or {}).get("narrowed_to")]
    hidden += _hidden_later([UUID(change.id) for change in hidden])
    rows = {
        str(row.pk): row.narrowed_to.name
        for batch in _batches([UUID(change.id) for change in hidden])
        for row in MemoryItem.objects.filter(pk__in=batch).select_related("narrowed_to").exclude(narrowed_to=None)
        if row.narrowed_to is not None
    }
    ours = [each for each in hidden if rows.get(each.id) == (each.after or {})["narrowed_to"]]
    for batch in _batches([UUID(change.id) for change in ours]):
        MemoryItem.objects.filter(pk__in=batch).update(narrowed_to=None)
    return [
        Change(MEMORY, each.id, {"narrowed_to": rows[each.id]}, {"narrowed_to": None}, scopes=each.scopes)
        for each in ours
    ]


def _hidden_later(narrowed: list[UUID]) -> list[Change]:
    """What was hidden along with narrowed rows after the call that narrowed them, as their own history tells it."""
    steps = (
        KnowledgeEvent.objects.filter(item__in=narrowed, kind=LINE_HIDDEN).select_related("item__scope").order_by("id")
    )
    return [
        Change(MEMORY, pk, None, {"narrowed_to": step.metadata["scope"]}, scopes=(step.item.scope.name,))
        for step in steps
        for pk in step.metadata["item_ids"]
    ]


def require_unhidden(item: MemoryItem) -> None:
    """Raise ConflictError where an item was narrowed away by now: in force again, it would be shown to everyone."""
    if MemoryItem.objects.filter(pk=item.pk).exclude(narrowed_to=None).exists():
        raise ConflictError(f"Memory item {item.pk} was narrowed to another scope since: undo that first.")


def _before(item: MemoryItem) -> dict[UUID, int | None]:
    """The rows of a line that came before its last one in the same scope, with where each was narrowed to."""
    here = MemoryItem.objects.filter(scope_id=item.scope_id).exclude(current_until=None).exclude(pk=item.pk).order_by()
    columns = ("pk", "narrowed_to_id")
    same_key = Q(type=item.type, key=item.key) if item.key is not None else Q(pk__in=[])
    found = dict(here.filter(same_key | Q(successor=item)).values_list(*columns))
    fresh = sorted(found)
    while fresh:
        more = [row for batch in _batches(fresh) for row in here.filter(successor__in=batch).values_list(*columns)]
        fresh = sorted({pk for pk, _ in more} - found.keys())
        found |= dict(more)
    return found


def _batches(ids: list[UUID]) -> Iterable[list[UUID]]:
    return (ids[first : first + _BATCH] for first in range(0, len(ids), _BATCH))
