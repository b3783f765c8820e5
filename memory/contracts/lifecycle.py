"""Acts on one memory item: take it back, correct it, narrow it, demote it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, JsonValue

from governance.contracts.base import Reason
from kernel.contracts import Contract, KeyedInput, KeyedResult
from memory.contracts.items import ItemView, Lifecycle
from memory.contracts.refs import EvidenceRefs
from scopes.contracts import NarrowedInput, ScopeRef

Words = Annotated[
    str, Field(min_length=1, max_length=20_000, pattern=r"\S", description="The memory in words, as it is to read.")
]


ALONG = 50  # other items that one call decides on with its own


class ItemInput(NarrowedInput):
    """Names one memory item."""

    memory_item_id: UUID = Field(description="The memory item; its domain and scope come from the record.")


class Relation(StrEnum):
    """What another item is to the one that was decided on."""

    COPY = "copy"
    SOURCE = "source"
    DERIVED = "derived"
    NEAR_DUPLICATE = "near_duplicate"


class AlsoView(Contract):
    """Another item that says the same or rests on it, offered for the same decision."""

    item: ItemView = Field(description="The item.")
    relation: Relation = Field(
        description="copy: made from it by promotion or narrowing; source: what it was made from; derived: rests on it "
        "as evidence; near_duplicate: says nearly the same."
    )


class AlsoOutcome(Contract):
    """What became of an item that was named for the same decision."""

    id: UUID = Field(description="The item.")
    outcome: Literal["done", "already", "not_permitted", "not_found", "governed", "not_in_force", "does_not_fit"] = (
        Field(
            description="already: it stood so before; not_permitted: you may see it and not write there; governed: "
            "knowledge in force that only a decision changes; not_in_force: history or out of use, which only a retraction "
            "takes; does_not_fit: it cannot be narrowed to that scope, or corrected by that, on account of its scope, key or type."
        )
    )
    successor_id: UUID | None = Field(default=None, description="What took its place, where something did.")


class RelatedItemsResult(Contract):
    """What one decision on a memory may concern."""

    item: ItemView = Field(description="The item asked about.")
    also: list[AlsoView] = Field(
        description="Copies, what it was made from, what rests on it and near-duplicates that are in force; at most 20."
    )


class RelatedItemsInput(ItemInput):
    """Whose copies, derived items and near-duplicates to show."""


class RetractItemInput(ItemInput, KeyedInput):
    """Take one memory back because it is wrong."""

    reason: Reason
    also: list[UUID] = Field(
        default=[], max_length=ALONG, description="Other items to take back for the same reason, each reported."
    )


class RetractItemResult(KeyedResult):
    """The item after it was taken back."""

    item: ItemView = Field(description="The item: `retracted`, no longer current.")
    outcomes: list[AlsoOutcome] = Field(default=[], description="What became of each item in `also`.")
    also: list[AlsoView] = Field(
        default=[], description="Copies, derived items and near-duplicates that are still in force; at most 20."
    )
    notices: int = Field(default=0, description="Agents that will be told on their next compose.")


class CorrectItemInput(ItemInput, KeyedInput):
    """Replace one memory by what is right, under the same key in the same scope."""

    text: Words | None = Field(
        default=None, description="What is right, in words. With `value` it must say what the fields say."
    )
    value: dict[str, JsonValue] | None = Field(
        default=None, description="Fields of the value to change, in the shape of the item's type; others stay."
    )
    reason: Reason
    evidence_refs: EvidenceRefs = Field(default=[])
    also: list[UUID] = Field(
        default=[],
        max_length=ALONG,
        description="Other items that say the same wrong thing, to correct likewise, each in its own scope under its own "
        "key and reported: by the same `text` and `value` where it is of the same type, else by the words of the correction.",
    )


class CorrectItemResult(KeyedResult):
    """The correction and what it took the place of."""

    item: ItemView = Field(description="The item that now holds.")
    replaced: ItemView = Field(description="The item that was wrong: kept, superseded, with its successor.")
    corrections: int = Field(description="How often this key was corrected in this scope, this time included.")
    outcomes: list[AlsoOutcome] = Field(default=[], description="What became of each item in `also`.")
    also: list[AlsoView] = Field(
        default=[], description="Copies, derived items and near-duplicates that still say the old; at most 20."
    )
    notices: int = Field(default=0, description="Agents that will be told on their next compose.")


class NarrowItemInput(ItemInput, KeyedInput):
    """Keep a memory only for a narrower scope: outside of it the wide original is no longer shown, not even as history."""

    target_scope: ScopeRef = Field(description="A narrower scope of the same domain, such as a task of the project.")
    reason: Reason
    text: Words | None = Field(default=None, description="The memory in other words, as it is to read there.")
    also: list[UUID] = Field(
        default=[],
        max_length=ALONG,
        description="Other items to keep for that scope only, in their own words, each reported: what else says the same "
        "would go on telling it to those outside.",
    )


class NarrowItemResult(KeyedResult):
    """The memory in its narrower scope."""

    item: ItemView = Field(description="The item in the narrower scope.")
    narrowed_item_id: UUID = Field(description="The wide original, hidden from those outside the narrower scope.")
    outcomes: list[AlsoOutcome] = Field(default=[], description="What became of each item in `also`.")
    also: list[AlsoView] = Field(
        default=[],
        description="Copies, derived items and near-duplicates that those outside may still see; at most 20.",
    )
    notices: int = Field(default=0, description="Agents that will be told on their next compose.")


class DemotionReason(StrEnum):
    """Why a memory is no longer trusted."""

    CONTRADICTED = "contradicted"
    OBSOLETE = "obsolete"
    SUPERSEDED = "superseded"
    OUT_OF_SCOPE = "out_of_scope"
    UNSAFE = "unsafe"


class DemoteInput(ItemInput, KeyedInput):
    """Say that a memory is no longer to be trusted: it leaves contexts and searches and keeps its history."""

    status: Literal["demoted", "retired"] = Field(
        default="demoted",
        description="demoted: weakened, and trusted again only where this is undone; retired: history only.",
    )
    evidence_refs: EvidenceRefs = Field(min_length=1)
    reason_type: DemotionReason = Field(description="contradicted, obsolete, superseded, out_of_scope or unsafe.")
    reason: Reason


class DemoteFromScopeInput(ItemInput, KeyedInput):
    """Take a promoted copy out of use in its scope; what it was made from stays as it is."""

    evidence_refs: EvidenceRefs = Field(min_length=1)
    reason_type: DemotionReason = Field(
        default=DemotionReason.OUT_OF_SCOPE,
        description="contradicted, obsolete, superseded, out_of_scope or unsafe.",
    )
    reason: Reason


class DemoteResult(KeyedResult):
    """The item after its demotion."""

    item: ItemView = Field(description="The item.")
    from_status: Lifecycle = Field(description="How far it was trusted before.")
    source_item_id: UUID | None = Field(description="What it was made from, which was left alone.")
    also: list[AlsoView] = Field(default=[], description="Copies and derived items still in force; at most 20.")
    notices: int = Field(default=0, description="Agents that will be told on their next compose.")
