"""What memory tells the apps below it."""

from __future__ import annotations

from memory.selectors import hydrate_events, hydrate_items
from search.contracts import Kind
from search.hooks import register_hydrator

register_hydrator(Kind.MESSAGE, hydrate_events)
register_hydrator(Kind.MEMORY, hydrate_items)
