"""The line of a memory and who was told of it, as the page of an item shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from governance.adminbase import Cell, Table, page_url
from kernel.context import Ctx
from memory.contracts.items import Status
from memory.contracts.promotion import LineageNode
from memory.models import MemoryItem
from memory.selectors.lineage import line_of
from memory.selectors.notices import notices_of

MAX_NOTICES = 50


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the line: where it lives, what it says, and how it was made from the one before."""

    scope: str
    text: str
    link: str
    here: bool
    state: str
    made: str
    depth: int
    readable: bool


def drawn_line(row: MemoryItem, ctx: Ctx) -> dict[str, Any]:
    """What the template draws: where the line begins and its steps; no steps for what was never copied. Looking at the
    page is on record already, as a look at the item."""
    line = line_of(row, ctx)
    steps = [_step(node, line.nodes[0].depth, row) for node in line.nodes]
    return {
        "origin": line.origin,
        "nodes": line.nodes,
        "steps": steps if len(steps) > 1 else [],
        "truncated": line.truncated,
    }


def _step(node: LineageNode, first: int, row: MemoryItem) -> Step:
    item, promotion = node.item, node.promotion
    scope = f"{item.scope.type}:{item.scope.id}" if item else ""
    state = ""
    if item is not None and not item.current:
        state = item.status.value if item.status is not Status.ACTIVE else "earlier version"
    elif item is not None:
        state = item.lifecycle_status.value
    decided = f", decided by {promotion.reviewer}" if promotion and promotion.reviewer else ""
    reworded = " in other words" if promotion and promotion.reworded else ""
    made = f"{promotion.kind}{reworded} for {promotion.proposed_by}{decided}: {promotion.reason}" if promotion else ""
    return Step(
        scope=scope,
        text=item.statement if item else "",
        link=page_url(MemoryItem(pk=node.item_id)) if item and node.item_id != row.pk else "",
        here=node.item_id == row.pk,
        state=state,
        made=made,
        depth=min(node.depth - first, 6),
        readable=item is not None,
    )


def notices_table(row: MemoryItem) -> Table:
    """Agents that were shown the item and are told what became of it."""
    rows = [
        [
            Cell(notice.actor_name),
            Cell(notice.kind, kind="word"),
            Cell(notice.created_at, kind="time"),
            Cell(notice.told_at, kind="time") if notice.told_at else Cell("waits for the next compose"),
            Cell(notice.reason),
        ]
        for notice in notices_of(row)[:MAX_NOTICES]
    ]
    headers = ("Agent", "What happened", "When", "Told", "Reason")
    return Table(
        "Agents told of it", headers, rows, "Nobody had to be told: it did not change, or nobody was shown it."
    )
