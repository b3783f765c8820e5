"""What memory tells the apps below it: how its texts are read, and how its proposals are shown to reviewers."""

from __future__ import annotations

from governance.hooks import (
    Words,
    register_counted_table,
    register_dashboard_panel,
    register_doctor_check,
    register_effect,
    register_exporter,
    register_facts,
    register_obstacles,
    register_presenter,
    register_snapshots,
    register_words,
)
from memory.extensions.conflicts import facts_of_decision, open_conflicts, present_decision
from memory.extensions.effects import effect_on_memory
from memory.extensions.exporting import EXPORTERS
from memory.extensions.facts import FACTS
from memory.extensions.health import check_index
from memory.extensions.obstacles import obstacles
from memory.extensions.presenters import PRESENTERS
from memory.extensions.said import SAID_FACTS, SAID_PRESENTERS
from memory.extensions.snapshots import contexts_now
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

for _name, _presenter in (PRESENTERS | SAID_PRESENTERS).items():
    register_presenter(_name, _presenter)
for _name, _find in (FACTS | SAID_FACTS).items():
    register_facts(_name, _find)
register_presenter("resolve_conflict", present_decision)
register_facts("resolve_conflict", facts_of_decision)
_DIGEST = {"sha256": "Digest"}
for _table, _words in {
    "memory_items": Words("memory", "memories", _DIGEST, frozenset({"valid_from", "valid_to", "review_by"})),
    "conflicts": Words("contradiction"),
    "entities": Words("entity", "entities"),
    "kg_edges": Words("relation", times=frozenset({"current_until"})),
    "knowledge_events": Words("step in the life of a memory", "steps in the life of memories"),
    "messages": Words("message", fields=_DIGEST),
    "refs": Words("reference"),
    "session_scope_links": Words("scope of a session", "scopes of sessions"),
    "sessions": Words("session"),
    "tool_calls": Words("tool call"),
    "turns": Words("turn"),
}.items():
    register_words(_table, _words)
register_dashboard_panel(open_conflicts)
register_effect(effect_on_memory)
register_obstacles(obstacles)
register_snapshots(contexts_now)
register_doctor_check("memory index", check_index)
for _exporter in EXPORTERS:
    register_exporter(_exporter)
