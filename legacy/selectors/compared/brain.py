"""SmartBrain's tables, 0.1 and 0.2, held against ours."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from legacy.contracts import SourceRow
from legacy.selectors.compared.shapes import (
    Comparison,
    Parent,
    Value,
    at,
    exactly,
    moment,
    named,
    number,
    text,
    within,
    without,
)
from memory.models import (
    Entity,
    EntityMention,
    KgEdge,
    KnowledgeEvent,
    MemoryItem,
    Message,
    Ref,
    Session,
    SessionScopeLink,
    Summary,
    ToolCall,
    Turn,
)
from memory.naming import fold_name
from scopes.contracts import SESSION
from scopes.models import Domain, MemoryScope

_WAS_HERE = ("was here already",)
_METADATA = (within("metadata", "metadata"), within("metadata_json", "metadata"))
_OF_TURN = (Parent("turn_id", "turn_id", "turns", "turns"),)
_PLACED = (
    Parent("scope_id", "scope.id", "memory_scopes", "memory_scopes", named("scope_id")),
    Parent("source_session_id", "source_session_id", "sessions", "sessions", named("source_session_id")),
    Parent("session_id", "source_session_id", "sessions", "sessions", without("session_id", "source_session_id")),
)
_ALONE = {"source_turn_id": ("source_turn_id",), "source_message_id": ("source_message_id",)}


def _in_force(row: SourceRow) -> bool:
    return row.columns.get("status") == "active"


def _ended(row: SourceRow) -> bool:
    return row.columns.get("status") not in (None, "", "active")


def _called(target: Any, row: SourceRow) -> str:
    """The id by which callers know what was said."""
    return str(target.external_id or target.pk)


_ID = Value("id", "external_id", lambda row: row.id, seen=_called)
_ID_LEFT = {"id": ("its id of",)}


def _learned(target: Any, row: SourceRow) -> datetime | None:
    """When an older version was learned: when its turn was, and not after it ceased there. One that was in force when it was
    first moved in is known for longer. What stands here where that fits is as it is there."""
    ceased = row.moment("updated_at")
    turn = target.source_turn.created_at if target.source_turn_id else None
    expected = min(turn, ceased) if turn and ceased else ceased
    left = target.current_until is not None and ceased is not None and target.current_until >= ceased
    longer = (
        expected is not None and target.recorded_at < expected and target.events.filter(kind="migrated").count() > 1
    )
    return ceased if left and (target.recorded_at == expected or longer) else target.recorded_at


def _own_scope(target: Any, row: SourceRow) -> str:
    """The name of a session, if it lies in the scope of that name."""
    scope = target.scope
    own = (scope.scope_type, scope.external_id, scope.domain_id) == (SESSION, target.external_id, target.domain_id)
    return str(target.external_id) if own else f"{target.external_id} in {scope.domain_id}/{scope.name}"


def _name(row: SourceRow) -> str:
    return row.text("name")


def _known_as(target: Any, row: SourceRow) -> str:
    """The name there, if the entity here is known by it."""
    wanted = fold_name(row.text("name"))
    known = wanted == target.canonical_folded or target.aliases.filter(alias_folded=wanted).exists()
    return row.text("name") if known else f"only as {target.canonical_folded}"


def _turns_of(row: SourceRow) -> list[int]:
    """The first and last turn of a summary as it says them in either way."""
    given = row.json("summary_source_turn_range")
    ends = (given.get("from"), given.get("to")) if isinstance(given, dict) else given or ()
    return [int(end or 0) for end in ends] or [0, 0]


def _span(row: SourceRow) -> dict[str, Any]:
    """Where in its message a mention stands; what says nothing is not kept."""
    span = row.json("span_json")
    return {"span": span} if span else {}


def _last_change(row: SourceRow) -> datetime | None:
    times = [at for at in (row.moment("created_at"), row.moment("updated_at")) if at is not None]
    return max(times, default=None)


BRAIN: dict[str, Comparison] = {
    "domains": Comparison(
        Domain, (text("id"), *_METADATA, moment("created_at")),
        excuses=dict.fromkeys(("metadata", "metadata_json", "created_at"), _WAS_HERE),
    ),
    "memory_scopes": Comparison(
        MemoryScope,
        (text("domain_id"), text("scope_type"), text("external_id"), *_METADATA, moment("created_at")),
        (Parent("parent_scope_id", "parent.id", "memory_scopes", "memory_scopes", empty=True),),
        excuses={
            **dict.fromkeys(("metadata", "metadata_json", "created_at"), _WAS_HERE),
            "parent_scope_id": (*_WAS_HERE, "lay under"),
        },
    ),
    "sessions": Comparison(
        Session,
        (Value("id", "external_id", lambda row: row.id, seen=_own_scope), text("domain_id"),
         within("metadata_json", "metadata"), moment("created_at")),
        excuses=dict.fromkeys(("metadata_json", "created_at"), _WAS_HERE),
        owner="scope.owner",
        related=("scope",),
    ),
    "session_scope_links": Comparison(
        SessionScopeLink,
        (text("access_mode"), number("priority"), moment("created_at")),
        (Parent("session_id", "session_id", "sessions", "sessions"),
         Parent("scope_id", "scope.id", "memory_scopes", "memory_scopes")),
        excuses=dict.fromkeys(("access_mode", "priority", "created_at"), ("uses that scope already",)),
        key=("session_id", "scope_id"),
    ),
    "turns": Comparison(
        Turn,
        (number("seq"), moment("created_at"),
         Value("session_id", "default_write_id", lambda row: True, label="written to its session",
               seen=lambda target, row: target.default_write_id == at(target, "session.scope_id"))),
        (Parent("session_id", "session_id", "sessions", "sessions"),),
        owner="author_id",
        related=("session",),
    ),
    "messages": Comparison(
        Message,
        (_ID, text("role"), text("content", empty=True), text("model", empty=True), within("meta_json", "meta"),
         moment("created_at")),
        _OF_TURN,
        excuses=_ID_LEFT,
    ),
    "tool_calls": Comparison(
        ToolCall,
        (_ID, text("name"), exactly("args_json", "args"), exactly("result_json", "result"), text("status", empty=True),
         moment("created_at")),
        _OF_TURN,
        excuses=_ID_LEFT,
    ),
    "refs": Comparison(
        Ref,
        (_ID, text("ref_type"), text("ref_uri"), within("ref_meta_json", "ref_meta"), moment("created_at")),
        _OF_TURN,
        excuses=_ID_LEFT,
    ),
    "memory_items": Comparison(
        MemoryItem,
        (text("type"), text("key", empty=True), within("value_json", "value"), number("confidence"), text("status"),
         text("lifecycle_status"), moment("updated_at", "recorded_at", only=_in_force),
         Value("updated_at", "recorded_at", lambda row: row.moment("updated_at"), only=_ended, seen=_learned)),
        (*_PLACED, Parent("source_turn_id", "source_turn_id", "turns", "turns", empty=True),
         Parent("source_message_id", "source_message_id", "messages", "messages", empty=True)),
        excuses={
            "key": ("it has no key", "key was"), "value_json": ("of another shape",),
            "status": ("another row of its key is in force",), "lifecycle_status": ("canonical there",), **_ALONE,
        },
        placed=True,
        owner="author_id",
        related=("source_turn",),
    ),
    "entities": Comparison(
        Entity,
        (text("name"), text("kind"), Value("name", "canonical_folded", _name, seen=_known_as, label="known as"),
         Value("name", "canonical", _name, label="canonical name", only=lambda row: not row.has("canonical_id"))),
        _PLACED[:2],
        excuses={
            **dict.fromkeys(("name", "canonical name", "source_session_id"), ("one here with others of its name",)),
            "kind": ("kind was",),
        },
        placed=True,
    ),
    "entity_mentions": Comparison(
        EntityMention,
        (moment("created_at"), Value("span_json", "metadata", _span, part=True)),
        (*_OF_TURN, Parent("entity_id", "entity_id", "entities", "entities")),
        excuses=dict.fromkeys(("created_at", "span_json"), ("the turn mentions it already",)),
    ),
    "summaries": Comparison(
        Summary,
        (text("summary_text", "text"), number("summary_version", "version"),
         Value("summary_source_turn_range", "source_from", _turns_of,
               seen=lambda target, row: [target.source_from, target.source_to]),
         moment("summary_generated_at", "generated_at")),
        (Parent("session_id", "session_id", "sessions", "sessions"),),
        key=("session_id",),
    ),
    "kg_edges": Comparison(
        KgEdge,
        (text("subject"), text("predicate"), text("object"), text("status"), number("confidence"),
         moment("valid_from", empty=True), moment("valid_to", empty=True), moment("created_at", "recorded_at"),
         Value("updated_at", "current_until", _last_change, only=_ended)),
        (*_PLACED, Parent("source_turn_id", "source_turn_id", "turns", "turns", empty=True)),
        excuses=_ALONE,
        placed=True,
    ),
    "knowledge_events": Comparison(
        KnowledgeEvent,
        (text("event_type", "kind", only=named("event_type")), text("from_status", empty=True),
         text("to_status", empty=True), text("reason", empty=True), text("actor", "actor_name", only=named("actor")),
         *_METADATA, moment("created_at")),
        (Parent("memory_item_id", "item_id", "memory_items", "memory_items"),),
        owner="actor_id",
    ),
}  # fmt: skip
