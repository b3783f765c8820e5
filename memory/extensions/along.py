"""How presentations show what a decision on a memory may concern too, and what becomes of the items that go along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from governance.contracts.presenting import RelatedText, RowChange
from kernel.actions import Change
from kernel.context import Ctx
from memory.extensions.showing import TABLE, UNREADABLE, related
from memory.models import MemoryItem
from memory.selectors.near import offered_with, readable

MAX_ROWS = 50


def offered(item: MemoryItem, along: Sequence[UUID], ctx: Ctx) -> list[RelatedText]:
    """What a decision on an item may concern too; `along` names further items to be read in the same statement."""
    return [related(row, ctx, relation.value) for row, relation in offered_with(item, ctx, along)]


def rows_along(
    ids: Sequence[UUID], changes: Sequence[Change], shown: Callable[[MemoryItem], list[RowChange]], ctx: Ctx
) -> list[RowChange]:
    """What becomes of each item that goes along, as `shown` tells it; of one that the reviewer may not read, no more than
    that it changes."""
    touched = {change.id for change in changes}
    seen = readable(ids, ctx)
    rows: list[RowChange] = []
    for item_id in dict.fromkeys(ids):
        if str(item_id) in touched and item_id in seen:
            rows += shown(seen[item_id])
        elif str(item_id) in touched:
            rows.append(RowChange(table=TABLE, id=str(item_id), kind="changed", title=UNREADABLE, fields=[]))
    return rows[:MAX_ROWS]
