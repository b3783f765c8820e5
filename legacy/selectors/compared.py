"""Which values of a row must be the same on both sides, written without a look at how rows are moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Model

from kernel.canonical import canonical_json
from legacy.contracts import Quarantined, SourceRow
from media.models import (
    MediaJob,
    MediaObject,
    MediaObjectReference,
    SectionTag,
    SourceDocument,
    SourceSection,
    Tag,
    Topic,
    TopicSection,
    TopicTag,
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
from scopes.models import Domain, MemoryScope

Reader = Callable[[SourceRow], Any]


@dataclass(frozen=True, slots=True)
class Value:
    """A column there and an attribute here that say the same. What the older row leaves open is not compared."""

    column: str
    attribute: str
    read: Reader
    part: bool = False  # the object there is a part of the object here, where more may stand
    only: Callable[[SourceRow], bool] = lambda row: True  # the rows of which it holds


@dataclass(frozen=True, slots=True)
class Parent:
    """A column there that names another row, and the attribute here that names what became of it: `scope.id` is the id of
    the row that `scope` is."""

    column: str
    attribute: str
    source_table: str
    target_table: str
    only: Callable[[SourceRow], bool] = lambda row: True  # the rows of which it holds


@dataclass(frozen=True, slots=True)
class Comparison:
    """How rows of one source table are held against rows of one table here.

    `excuses` are the words that a row's note must have for a column to differ; for `*` any note will do for any column.
    `key` are the columns that name a row there, where they are not its `id`. `placed` says that a row lies in a scope and
    comes from a session: what names no scope lies in that of its session.
    """

    model: type[Model]
    values: tuple[Value, ...]
    parents: tuple[Parent, ...] = ()
    excuses: Mapping[str, str] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    placed: bool = False

    @property
    def related(self) -> list[str]:
        """The rows here that are fetched with those that are compared."""
        named = [name for parent in self.parents if (name := parent.attribute.partition(".")[0]) != parent.attribute]
        return [*named, "source_session"] if self.placed else named

    def excused(self, columns: Iterable[str], note: str) -> bool:
        """Whether a note tells why these columns differ."""
        if "*" in self.excuses:
            return bool(note)
        return all(self.excuses.get(column, note + "?") in note for column in columns)


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


def _span(row: SourceRow) -> dict[str, Any]:
    """Where in its message a mention stands; what says nothing is not kept."""
    span = row.json("span_json")
    return {"span": span} if span else {}


def _in_force(row: SourceRow) -> bool:
    """Of an older version the time when it was learned is kept here, there the time when it ceased."""
    return row.columns.get("status") == "active"


def _filed(model: type[Model], one: Parent, other: Parent) -> Comparison:
    """Links between two rows: no other value of them is kept here."""
    return Comparison(model, (), (one, other), key=(one.column, other.column))


def _named(column: str) -> Callable[[SourceRow], bool]:
    return lambda row: bool(row.columns.get(column))


def _other_than(column: str, *words: str) -> Callable[[SourceRow], bool]:
    return lambda row: row.columns.get(column) not in (None, "", *words)


def _without(column: str, other: str) -> Callable[[SourceRow], bool]:
    return lambda row: bool(row.columns.get(column)) and not row.columns.get(other)


_ANY = {"*": ""}
_PLACED = (
    Parent("scope_id", "scope.id", "memory_scopes", "memory_scopes", _named("scope_id")),
    Parent("source_session_id", "source_session_id", "sessions", "sessions", _named("source_session_id")),
    Parent("session_id", "source_session_id", "sessions", "sessions", _without("session_id", "source_session_id")),
)
# A run is the owner of what belonged to the older system itself.
_OWNER = Value("principal", "owner_name", _text("principal"), only=_other_than("principal", "system"))
_SECTION = Parent("section_id", "section_id", "source_sections", "source_sections")
_TAG = Parent("tag_id", "tag_id", "tags", "tags")
_TOPIC = Parent("research_topic_id", "topic_id", "research_topics", "research_topics")
_METADATA = (within("metadata", "metadata"), within("metadata_json", "metadata"))
_HERE = "was here already"
_OF_TURN = (Parent("turn_id", "turn_id", "turns", "turns"),)

COMPARISONS: dict[str, Comparison] = {
    "domains": Comparison(
        Domain, (text("id"), *_METADATA, moment("created_at")),
        excuses={"metadata": _HERE, "metadata_json": _HERE, "created_at": _HERE},
    ),
    "memory_scopes": Comparison(
        MemoryScope,
        (text("domain_id"), text("scope_type"), text("external_id"), *_METADATA, moment("created_at")),
        (Parent("parent_scope_id", "parent.id", "memory_scopes", "memory_scopes"),),
        excuses={"metadata": _HERE, "metadata_json": _HERE, "created_at": _HERE, "parent_scope_id": "here"},
    ),
    "session_scope_links": Comparison(
        SessionScopeLink,
        (text("access_mode"), number("priority"), moment("created_at")),
        (Parent("session_id", "session_id", "sessions", "sessions"),
         Parent("scope_id", "scope.id", "memory_scopes", "memory_scopes")),
        excuses=dict.fromkeys(("access_mode", "priority", "created_at"), "uses that scope already"),
        key=("session_id", "scope_id"),
    ),
    "knowledge_events": Comparison(
        KnowledgeEvent,
        (Value("event_type", "kind", _text("event_type"), only=_named("event_type")), text("from_status"),
         text("to_status"), text("reason"), Value("actor", "actor_name", _text("actor"), only=_named("actor")),
         *_METADATA, moment("created_at")),
        (Parent("memory_item_id", "item_id", "memory_items", "memory_items"),),
        excuses={"event_type": "event_type"},
    ),
    "section_tags": _filed(SectionTag, _SECTION, _TAG),
    "research_topic_sections": _filed(TopicSection, _TOPIC, _SECTION),
    "research_topic_tags": _filed(TopicTag, _TOPIC, _TAG),
    "sessions": Comparison(
        Session, (text("id", "external_id"), within("metadata_json", "metadata"), moment("created_at")),
        excuses={"metadata_json": "was here already", "created_at": "was here already"},
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
        (text("type"), text("key"), within("value_json", "value"), number("confidence"), text("status"),
         text("lifecycle_status"), Value("updated_at", "recorded_at", _moment("updated_at"), only=_in_force)),
        (*_PLACED, Parent("source_turn_id", "source_turn_id", "turns", "turns"),
         Parent("source_message_id", "source_message_id", "messages", "messages")),
        excuses={
            "key": "key", "value_json": "of another shape", "status": "another row of its key is in force",
            "lifecycle_status": "canonical there", "source_turn_id": "source_turn_id",
            "source_message_id": "source_message_id",
        },
        placed=True,
    ),
    "entities": Comparison(Entity, (text("name"), text("kind")), excuses=_ANY),
    "entity_mentions": Comparison(
        EntityMention, (Value("span_json", "metadata", _span, part=True),), (*_OF_TURN, Parent("entity_id", "entity_id", "entities", "entities")), excuses=_ANY
    ),
    "summaries": Comparison(
        Summary,
        (text("summary_text", "text"), number("summary_version", "version"),
         moment("summary_generated_at", "generated_at")),
        (Parent("session_id", "session_id", "sessions", "sessions"),),
        excuses=_ANY,
    ),
    "kg_edges": Comparison(
        KgEdge, (text("subject"), text("predicate"), text("object"), text("status")), _PLACED, excuses=_ANY,
        placed=True,
    ),
    "source_documents": Comparison(
        SourceDocument,
        (text("title"), text("author"), text("description"), text("language"), text("source_uri"),
         text("content_hash"), within("metadata", "metadata"), moment("created_at"), moment("updated_at"), _OWNER),
        excuses=_ANY,
    ),
    "source_sections": Comparison(
        SourceSection,
        (text("content"), text("section_title", "title"), number("section_number", "number"),
         within("metadata", "metadata"), moment("created_at")),
        (Parent("document_id", "document_id", "source_documents", "source_documents"),),
        excuses=_ANY,
    ),
    "tags": Comparison(Tag, (text("name"),), (Parent("parent_id", "parent_id", "tags", "tags"),), excuses=_ANY),
    "research_topics": Comparison(Topic, (text("name"), text("description"), moment("created_at")), excuses=_ANY),
    "media_jobs": Comparison(
        MediaJob,
        (text("operation"), text("source"), within("options", "options"), text("idempotency_key"),
         number("max_attempts"), moment("created_at"), _OWNER,
         Value("status", "status", _text("status"), only=_other_than("status", "queued", "processing"))),
        excuses=_ANY,
    ),
    "media_objects": Comparison(MediaObject, (text("content_hash"), number("byte_size")), excuses=_ANY),
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
    found = [_value(value, row, target) for value in comparison.values if row.has(value.column) and value.only(row)]
    for parent in comparison.parents:
        if row.has(parent.column) and parent.only(row):
            went = places.get((parent.source_table, row.columns[parent.column] or ""))
            found.append(Held(parent.column, _plain(went), _plain(_at(target, parent.attribute))))
    if comparison.placed and not row.columns.get("scope_id"):
        its_own = _at(target, "source_session.scope_id")
        found.append(Held("scope_id", _plain(its_own), _plain(_at(target, "scope_id"))))
    return found


def _value(value: Value, row: SourceRow, target: Model) -> Held:
    here = getattr(target, value.attribute)
    try:
        there = value.read(row)
    except Quarantined as unreadable:
        return Held(value.column, f"unreadable: {unreadable}", _plain(here))
    if value.part:
        # What is no object there stands under its column's name in the object here.
        here = here.get(value.column) if isinstance(here, dict) and not isinstance(there, dict) else here
        there, here = _said(there), _part(there, here)
    return Held(value.column, _plain(there), _plain(here))


def _at(target: Any, path: str) -> Any:
    """An attribute of a row, or of the row that one of its attributes is."""
    for name in path.split("."):
        target = getattr(target, name, None)
    return target


def _said(there: Any) -> Any:
    """A value without the members that say nothing."""
    if isinstance(there, dict):
        return {name: _said(value) for name, value in there.items() if value is not None}
    return [_said(value) for value in there] if isinstance(there, list) else there


def _part(there: Any, here: Any) -> Any:
    """Of the value here what the value there says: members that were added, or say nothing there, are left out."""
    if isinstance(there, dict) and isinstance(here, dict):
        return {name: _part(value, here[name]) for name, value in there.items() if value is not None and name in here}
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        return [_part(*pair) for pair in zip(there, here, strict=True)]
    return here


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
