"""What memory tells the apps below it."""

from __future__ import annotations

from governance.hooks import register_counted_table
from memory.selectors import hydrate_events, hydrate_items
from memory.selectors.refs import resolve_addresses, resolve_memories, resolve_messages
from search.contracts import Kind
from search.hooks import register_evidence_resolver, register_hydrator

register_counted_table("memory_items")
register_hydrator(Kind.MESSAGE, hydrate_events)
register_hydrator(Kind.MEMORY, hydrate_items)

register_evidence_resolver("memory", resolve_memories)
register_evidence_resolver("message", resolve_messages)
register_evidence_resolver("url", resolve_addresses)
