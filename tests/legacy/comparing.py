"""What a migrated row holds here, as the source's own columns, so that both can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.db.models import Model

from legacy.models import MigratedRow
from memory.models import (
    Entity,
    EntityMention,
    KgEdge,
    MemoryItem,
    Message,
    Ref,
    Session,
    Summary,
    ToolCall,
    Turn,
)
from tests.legacy.sources.databases import Source
from tests.legacy.sources.manifest import MIGRATED, key_of
from tests.legacy.sources.rows import Raw, Row

Seen = dict[str, Any]


def _session(row: Session) -> Seen:
    return {"id": row.external_id, "created_at": row.created_at, "metadata_json": row.metadata}


def _turn(row: Turn) -> Seen:
    return {"session_id": row.session.external_id, "created_at": row.created_at}


def _message(row: Message) -> Seen:
    return {
        "role": row.role, "content": row.content, "model": row.model or None, "created_at": row.created_at,
        "meta_json": row.meta,
    }  # fmt: skip


def _tool_call(row: ToolCall) -> Seen:
    return {
        "name": row.name, "args_json": row.args, "result_json": row.result, "status": row.status,
        "created_at": row.created_at,
    }  # fmt: skip


def _ref(row: Ref) -> Seen:
    return {
        "ref_type": row.ref_type,
        "ref_uri": row.ref_uri,
        "ref_meta_json": row.ref_meta,
        "created_at": row.created_at,
    }


def _item(row: MemoryItem) -> Seen:
    return {
        "session_id": row.source_session and row.source_session.external_id, "type": row.type, "key": row.key,
        "value_json": row.value, "confidence": f"{row.confidence:.2f}", "status": row.status,
    }  # fmt: skip


def _summary(row: Summary) -> Seen:
    return {
        "session_id": row.session.external_id, "summary_text": row.text, "summary_version": row.version,
        "summary_source_turn_range": {"from": row.source_from, "to": row.source_to},
        "summary_generated_at": row.generated_at,
    }  # fmt: skip


def _edge(row: KgEdge) -> Seen:
    return {
        "subject": row.subject, "predicate": row.predicate, "object": row.object, "status": row.status,
        "valid_from": row.valid_from, "valid_to": row.valid_to, "session_id": row.source_session and row.source_session.external_id,
    }  # fmt: skip


def _entity(row: Entity) -> Seen:
    return {"name": row.name, "kind": row.kind}


def _mention(row: EntityMention) -> Seen:
    return {}


READERS: dict[str, tuple[type[Model], Callable[[Any], Seen]]] = {
    "sessions": (Session, _session),
    "turns": (Turn, _turn),
    "messages": (Message, _message),
    "tool_calls": (ToolCall, _tool_call),
    "refs": (Ref, _ref),
    "memory_items": (MemoryItem, _item),
    "summaries": (Summary, _summary),
    "kg_edges": (KgEdge, _edge),
    "entities": (Entity, _entity),
    "entity_mentions": (EntityMention, _mention),
}


def differences(source: Source, tables: Iterable[str] | None = None) -> list[str]:
    """Every column of a migrated row that is not here what it was there, but for rows whose note says what changed."""
    found = []
    for table in tables or [name for name in READERS if source.rows.by_table.get(name)]:
        model, read = READERS[table]
        held = {str(row.pk): row for row in model._default_manager.all()}
        targets = dict(
            MigratedRow.objects.filter(source_table=table, outcome=MIGRATED, note="").values_list(
                "source_id", "target_id"
            )
        )
        for row in source.rows[table]:
            target = targets.get(key_of(table, row))
            if target is None:
                continue
            if target not in held:
                found.append(f"{table} {key_of(table, row)}: says it is {target}, and nothing is there")
                continue
            found += [f"{table} {key_of(table, row)}: {fault}" for fault in _unlike(row, read(held[target]))]
    return found


def _unlike(row: Row, seen: Seen) -> list[str]:
    return [
        f"{name} was {row[name]!r:.100}, is {value!r:.100}"
        for name, value in seen.items()
        if not isinstance(row[name], Raw) and not _same(row[name], value)
    ]


def _same(there: Any, here: Any) -> bool:
    """Equal; of an object, at least its own members that say something: here the key's own fields are added."""
    if isinstance(there, dict) and isinstance(here, dict):
        return all(_same(value, here.get(name)) for name, value in there.items())
    if isinstance(there, list) and isinstance(here, list):
        return len(there) == len(here) and all(map(_same, there, here))
    return bool(there == here)
