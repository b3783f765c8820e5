"""How memory is exported: conversations and what was learned from them, as far as the one who asks may see them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from governance.hooks import Exporter, same
from kernel.context import Ctx
from memory.models import EvidenceLink, KgEdge, KnowledgeEvent, Ref
from memory.selectors.events import visible_calls, visible_messages, visible_sessions, visible_turns
from memory.selectors.graph import visible_entities
from memory.selectors.items import visible_items
from memory.selectors.sight import in_sight

_SCOPE = {"scope_type": "scope__scope_type", "scope_id": "scope__external_id"}
Rows = Callable[[str, Ctx], Any]


def _in_turns(model: Any) -> Rows:
    return lambda domain_id, ctx: model.objects.filter(turn__in=visible_turns(ctx).filter(domain_id=domain_id))


def _of_items(model: Any) -> Rows:
    def rows(domain_id: str, ctx: Ctx) -> Any:
        items = visible_items(ctx).select_related(None).filter(domain_id=domain_id)
        return model.objects.filter(item__in=items.values("pk"))

    return rows


def _in_scopes(model: Any) -> Rows:
    return lambda domain_id, ctx: model.objects.filter(*in_sight(ctx), domain_id=domain_id)


EXPORTERS = (
    Exporter(
        "sessions",
        lambda domain_id, ctx: visible_sessions(ctx).filter(domain_id=domain_id),
        same("external_id", "last_seq", "metadata", "created_at"),
    ),
    Exporter(
        "turns",
        lambda domain_id, ctx: visible_turns(ctx).filter(domain_id=domain_id),
        same("session_id", "seq", "author_id", "author_name", "created_at"),
    ),
    Exporter(
        "messages",
        lambda domain_id, ctx: visible_messages(ctx).filter(domain_id=domain_id),
        same("turn_id", "position", "external_id", "role", "name", "content", "model", "meta", "created_at"),
    ),
    Exporter(
        "tool_calls",
        lambda domain_id, ctx: visible_calls(ctx).filter(domain_id=domain_id),
        same("turn_id", "position", "external_id", "name", "args", "result", "status", "created_at"),
    ),
    Exporter(
        "refs",
        _in_turns(Ref),
        same("turn_id", "position", "external_id", "ref_type", "ref_uri", "ref_meta", "created_at"),
    ),
    Exporter(
        "memory_items",
        lambda domain_id, ctx: visible_items(ctx).filter(domain_id=domain_id),
        {
            **_SCOPE,
            **same(
                "type", "key", "value", "statement", "confidence", "status", "lifecycle_status", "memory_kind", "tier",
                "field", "audience", "importance", "pinned", "origin", "source_session_id", "source_turn_id",
                "source_message_id", "source_item_id", "successor_id", "valid_from", "valid_to", "recorded_at",
                "current_until", "review_by", "author_id", "author_name", "version", "content_hash",
            ),
        },
    ),
    Exporter("evidence_links", _of_items(EvidenceLink), same("item_id", "kind", "ref", "role", "created_at")),
    Exporter(
        "knowledge_events",
        _of_items(KnowledgeEvent),
        # Not what an event says beside: it names memories and scopes that the one who asks may not see.
        same("item_id", "kind", "from_status", "to_status", "reason", "actor_id", "actor_name", "created_at"),
    ),
    Exporter("entities", lambda domain_id, ctx: visible_entities(ctx).filter(domain_id=domain_id), {**_SCOPE, **same("kind", "canonical", "name", "item_id", "created_at")}),
    Exporter(
        "kg_edges",
        _in_scopes(KgEdge),
        {
            **_SCOPE,
            **same(
                "subject", "predicate", "object", "status", "confidence", "valid_from", "valid_to", "recorded_at",
                "current_until", "source_turn_id",
            ),
        },
    ),
)  # fmt: skip
