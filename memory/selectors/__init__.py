"""Reading memory, as far as the one who asks may see it."""

from __future__ import annotations

from memory.selectors.events import (
    get_session,
    hydrate_events,
    session_by_id,
    summaries_of,
    turn_by_id,
    turns_of,
    view_session,
    view_turn,
    visible_sessions,
    visible_turns,
)
from memory.selectors.items import (
    current_items,
    filter_items,
    get_item,
    history_of,
    is_within,
    item_by_id,
    provenance_of,
    versions_of,
    view_item,
    visible_items,
)
from memory.selectors.recall import (
    Recalled,
    current_facts,
    open_tasks,
    recalled_in,
    recalled_texts,
    recent_entity_names,
    text_hash,
)
from memory.selectors.seen import hydrate_items

__all__ = [
    "Recalled",
    "current_facts",
    "current_items",
    "filter_items",
    "get_item",
    "get_session",
    "history_of",
    "hydrate_events",
    "hydrate_items",
    "is_within",
    "item_by_id",
    "open_tasks",
    "provenance_of",
    "recalled_in",
    "recalled_texts",
    "recent_entity_names",
    "session_by_id",
    "summaries_of",
    "text_hash",
    "turn_by_id",
    "turns_of",
    "versions_of",
    "view_item",
    "view_session",
    "view_turn",
    "visible_items",
    "visible_sessions",
    "visible_turns",
]
