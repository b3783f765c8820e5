"""Standing memories: who the user is, what they prefer and what they aim at, shown before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memory.compose.contracts import BlockSource, SystemBlock

if TYPE_CHECKING:
    from memory.selectors.seen import ItemSeen

_BLOCK_TYPES = {"profile": "core_profile", "preferences": "preferences", "goals": "goals"}
STANDING_TYPES = tuple(_BLOCK_TYPES)
_ENDED = frozenset({"done", "reached", "achieved", "cancelled", "canceled", "dropped"})


def system_blocks(items: Iterable[ItemSeen]) -> Iterator[SystemBlock]:
    """One block for each memory: profile first, then preferences by priority, then goals that are still open."""
    wanted = [item for item in items if item.type in _BLOCK_TYPES and not _has_ended(item)]
    for item in sorted(wanted, key=_order):
        yield SystemBlock.model_validate(
            {
                "type": _BLOCK_TYPES[item.type],
                "text": item.statement,
                "updated_at": item.recorded_at,
                "source": BlockSource(turn_id=item.source_turn_id, memory_item_id=item.id),
            }
        )


def _has_ended(item: ItemSeen) -> bool:
    return item.type == "goals" and str(item.value.get("status", "")).casefold() in _ENDED


def _order(item: ItemSeen) -> tuple[int, float, float, int]:
    priority = item.value.get("priority")
    weight = priority if isinstance(priority, int | float) else 0.5
    return STANDING_TYPES.index(item.type), -weight, -item.recorded_at.timestamp(), -item.id.int
