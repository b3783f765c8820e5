"""Which values of a row must be the same on both sides, written without a look at how rows are moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model

from kernel.canonical import canonical_json
from legacy.contracts import Quarantined, SourceRow
from media.models import MediaJob, MediaObject, MediaObjectReference, SourceDocument, SourceSection, Tag, Topic
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

Reader = Callable[[SourceRow], Any]


@dataclass(frozen=True, slots=True)
class Value:
    """A column there and an attribute here that say the same. What the older row leaves open is not compared."""

    column: str
    attribute: str
    read: Reader
    part: bool = False  # the object there is a part of the object here, where more may stand


@dataclass(frozen=True, slots=True)
class Parent:
    """A column there that names another row, and the attribute here that names what became of it."""

    column: str
    attribute: str
    source_table: str
    target_table: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """How rows of one source table are held against rows of one table here."""

    model: type[Model]
    values: tuple[Value, ...]
    parents: tuple[Parent, ...] = ()


def _text(column: str) -> Reader:
    return lambda row: row.optional(column)


def _moment(column: str) -> Reader:
    return lambda row: row.moment(column)


def _json(column: str) -> Reader:
    return lambda row: row.json(column)


def _number(column: str) -> Reader:
    return lambda row: row.number(column)


def text(column: str, attribute: str = "") -> Value:
    """A text column."""
    return Value(column, attribute or column, _text(column))


def moment(column: str, attribute: str = "") -> Value:
    """A moment."""
    return Value(column, attribute or column, _moment(column))


def number(column: str, attribute: str = "") -> Value:
    """A number."""
    return Value(column, attribute or column, _number(column))


def exactly(column: str, attribute: str) -> Value:
    """A JSON value."""
    return Value(column, attribute, _json(column))


def within(column: str, attribute: str) -> Value:
    """A JSON object to which more may have been added here."""
    return Value(column, attribute, _json(column), part=True)


_OF_TURN = (Parent("turn_id", "turn_id", "turns", "turns"),)

COMPARISONS: dict[str, Comparison] = {
    "sessions": Comparison(
        Session, (text("id", "external_id"), within("metadata_json", "metadata"), moment("created_at"))
    ),
    "turns": Comparison(
        Turn, (number("seq"), moment("created_at")), (Parent("session_id", "session_id", "sessions", "sessions"),)
    ),
    "messages": Comparison(
        Message,
        (text("role"), text("content"), text("model"), within("meta_json", "meta"), moment("created_at")),
        _OF_TURN,
    ),
    "tool_calls": Comparison(
        ToolCall,
        (text("name"), exactly("args_json", "args"), exactly("result_json", "result"), text("status"),
         moment("created_at")),
        _OF_TURN,
    ),
    "refs": Comparison(
        Ref, (text("ref_type"), text("ref_uri"), within("ref_meta_json", "ref_meta"), moment("created_at")), _OF_TURN
    ),
    "memory_items": Comparison(
        MemoryItem,
        (text("type"), text("key"), exactly("value_json", "value"), number("confidence"), text("status"),
         text("lifecycle_status"), moment("updated_at", "recorded_at")),
        (Parent("source_turn_id", "source_turn_id", "turns", "turns"),
         Parent("source_message_id", "source_message_id", "messages", "messages")),
    ),
    "entities": Comparison(Entity, (text("name"), text("kind"))),
    "entity_mentions": Comparison(
        EntityMention, (), (*_OF_TURN, Parent("entity_id", "entity_id", "entities", "entities"))
    ),
    "summaries": Comparison(
        Summary,
        (text("summary_text", "text"), number("summary_version", "version"),
         moment("summary_generated_at", "generated_at")),
        (Parent("session_id", "session_id", "sessions", "sessions"),),
    ),
    "kg_edges": Comparison(KgEdge, (text("subject"), text("predicate"), text("object"), text("status"))),
    "source_documents": Comparison(
        SourceDocument,
        (text("title"), text("author"), text("description"), text("language"), text("source_uri"),
         text("content_hash"), within("metadata", "metadata"), moment("created_at"), moment("updated_at")),
    ),
    "source_sections": Comparison(
        SourceSection,
        (text("content"), text("section_title", "title"), number("section_number", "number"),
         within("metadata", "metadata"), moment("created_at")),
        (Parent("document_id", "document_id", "source_documents", "source_documents"),),
    ),
    "tags": Comparison(Tag, (text("name"),), (Parent("parent_id", "parent_id", "tags", "tags"),)),
    "research_topics": Comparison(Topic, (text("name"), text("description"), moment("created_at"))),
    "media_jobs": Comparison(
        MediaJob,
        (text("operation"), text("source"), within("options", "options"), text("idempotency_key"),
         number("max_attempts"), moment("created_at")),
    ),
    "media_objects": Comparison(MediaObject, (text("content_hash"), number("byte_size"))),
    "media_object_references": Comparison(
        MediaObjectReference,
        (),
        (Parent("media_object_id", "media_object_id", "media_objects", "media_objects"),
         Parent("document_id", "document_id", "source_documents", "source_documents")),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Held:
    """One value on both sides, as canonical JSON."""

    column: str
    there: str
    here: str

    @property
    def same(self) -> bool:
        return self.there == self.here


def held(comparison: Comparison, row: SourceRow, target: Model, places: Mapping[tuple[str, str], str]) -> list[Held]:
    """The values of a row that both sides hold. `places` gives, by source table and id, where a row went."""
    found = [_value(value, row, target) for value in comparison.values if row.has(value.column)]
    for parent in comparison.parents:
        if row.has(parent.column):
            went = places.get((parent.source_table, row.columns[parent.column] or ""))
            found.append(Held(parent.column, _plain(went), _plain(getattr(target, parent.attribute))))
    return found


def _value(value: Value, row: SourceRow, target: Model) -> Held:
    here = getattr(target, value.attribute)
    try:
        there = value.read(row)
    except Quarantined as unreadable:
        return Held(value.column, f"unreadable: {unreadable}", _plain(here))
    if value.part:
        here = _part(there, here)
    return Held(value.column, _plain(there), _plain(here))


def _part(there: Any, here: Any) -> Any:
    """What is here of the members that are there, in objects within as well."""
    if not (isinstance(there, dict) and isinstance(here, dict)):
        return here
    return {name: _part(inner, here[name]) for name, inner in there.items() if name in here}


def _plain(value: Any) -> str:
    """Canonical JSON; numbers without a fraction alike, whatever their type, and no value as an empty text."""
    if value is None:
        return '""'
    if isinstance(value, datetime):
        return canonical_json(value.isoformat())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return canonical_json(round(float(value), 6))
    if isinstance(value, str | dict | list | bool):
        return canonical_json(value)
    return canonical_json(str(value))
