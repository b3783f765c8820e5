"""Writing one memory item, one relation or one denial by itself, in the grammar of `turn_events`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from pydantic import Field, JsonValue

from governance.contracts.base import Reason
from kernel.contracts import Contract, KeyedInput, KeyedResult
from memory.contracts.commit import RetentionLine, WriteConflict
from memory.contracts.items import (
    CaseIn,
    DecisionIn,
    EntityIn,
    GoalIn,
    ItemIn,
    ItemView,
    Long,
    MemoryType,
    MilestoneIn,
    PatternIn,
    PreferenceIn,
    ProfileIn,
    RelationIn,
    Short,
    TaskIn,
)
from scopes.contracts import LEGACY_DOMAIN, DomainId, ScopeRef, ScopeView


class FactIn(ItemIn):
    """Something that holds and fits no other type: key `fact:<subject>:<slug>`."""

    of_type: ClassVar[str] = "facts"
    statement: Long = Field(min_length=1, pattern=r"\S", description="The fact in words.")
    subject: Short | None = Field(default=None, description="What it is about; left out, that of the key.")
    relation: Short | None = Field(default=None, description="The relation, such as `is`.")
    value: JsonValue = Field(default=None, description="The value.")


ITEM_TYPES: dict[str, type[ItemIn]] = {
    model.of_type: model
    for model in (
        TaskIn, DecisionIn, GoalIn, MilestoneIn, PreferenceIn, ProfileIn, CaseIn, PatternIn, EntityIn, FactIn,
    )
}  # fmt: skip


class WriteMemoryItemInput(KeyedInput):
    """One item for one scope. Policy may let it wait for a person."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    scope: ScopeRef = Field(description="Scope to write; sessions learn through `commit_turn`.")
    type: MemoryType = Field(description="Memory type.")
    item: dict[str, JsonValue] = Field(
        description="The item as `turn_events` takes one of its type, with its `key`; facts take `statement`."
    )
    statement: str | None = Field(
        default=None,
        min_length=1,
        max_length=20_000,
        description="The item in words, where the value does not say it. Words that contradict the value are refused.",
    )
    inferred: bool = Field(default=False, description="True: only concluded; it is kept as a candidate.")
    turn_id: UUID | None = Field(default=None, description="The turn that it was learned from.")
    message: int | None = Field(default=None, ge=0, description="Place of its message in that turn, from 0.")


class WriteMemoryItemResult(KeyedResult):
    """What became of the item. `deduplicated`: the scope knew it already."""

    item: ItemView = Field(description="The item in the scope.")
    conflicts: list[WriteConflict] = Field(default=[], description="Earlier items that changed.")
    retention: list[RetentionLine] = Field(description="What was done, and why.")


class WriteRelationInput(KeyedInput, RelationIn):
    """One relation for one scope. Policy may let it wait for a person."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    scope: ScopeRef = Field(description="Scope to write; sessions learn through `commit_turn`.")
    turn_id: UUID | None = Field(default=None, description="The turn that it was learned from.")


class RelationView(Contract):
    """A relation between two names, as the scope holds it."""

    id: UUID = Field(description="Its id (UUIDv7).")
    subject: str = Field(description="Who or what.")
    predicate: str = Field(description="Relation.")
    object: str = Field(description="To whom or what.")
    confidence: float = Field(description="How sure, 0 to 1.")
    scope: ScopeView = Field(description="Scope it belongs to.")
    valid_from: datetime | None = Field(description="Holds in the world from then on.")
    valid_to: datetime | None = Field(description="Holds in the world until then.")


class WriteRelationResult(KeyedResult):
    """The relation. `deduplicated`: the scope knew it already."""

    relation: RelationView = Field(description="The relation in the scope.")


class WriteDenialInput(KeyedInput):
    """What does not hold, of which the scope knows nothing. Policy may let it wait for a person."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    scope: ScopeRef = Field(description="Scope to write; sessions learn through `commit_turn`.")
    type: MemoryType = Field(description="Memory type.")
    key: str = Field(
        min_length=1, max_length=500, description="Key of what does not hold, in the grammar of the type."
    )
    reason: Reason
    turn_id: UUID | None = Field(default=None, description="The turn that it was learned from.")


class WriteDenialResult(KeyedResult):
    """The denial. `deduplicated`: the scope knew it already."""

    item: ItemView = Field(description="The denial, which is in force for nothing: its status is `retracted`.")


def item_fields(item_type: str, value: dict[str, Any], key: str) -> dict[str, Any]:
    """The value of an item as `turn_events` would take it."""
    known = ITEM_TYPES[item_type].model_fields
    fields = {name: told for name, told in value.items() if name in known and told is not None}
    return {**fields, "key": key, **({"confirmed": True} if item_type == "preferences" else {})}


def defaults_of(item_type: str) -> dict[str, Any]:
    """What the fields of an item hold where they are left out."""
    known = ITEM_TYPES[item_type].model_fields.items()
    return {name: field.get_default(call_default_factory=True) for name, field in known if not field.is_required()}
