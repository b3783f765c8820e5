"""Promotion: a memory enters another scope, or a higher tier, as a new row that can be traced to where it comes from."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from governance.contracts.base import Reason
from kernel.contracts import Contract, KeyedInput, KeyedResult
from memory.contracts.items import HistoryStep, ItemView
from memory.contracts.lifecycle import ItemInput, Words
from memory.contracts.refs import EvidenceRefs
from scopes.contracts import ScopeRef, ScopeView


class PromoteToScopeInput(ItemInput, KeyedInput):
    """Let a memory enter another scope. The call of an agent always waits for a person who may decide in that scope."""

    target_scope: ScopeRef = Field(description="Task, project, expert or global scope of the same domain.")
    verification_refs: EvidenceRefs = Field(
        min_length=1, description="What confirms it, other than the memory itself: at least one."
    )
    reason: Reason
    text: Words | None = Field(
        default=None, description="The memory in other words, as it is to read there. Both texts are kept and linked."
    )
    reviewer: str | None = Field(
        default=None, max_length=150, description="Kept as `claimed_reviewer`; the reviewer is whoever decides."
    )


class PromotionView(Contract):
    """One promotion, as it is kept with the new row."""

    event_id: UUID = Field(description="Event of the promotion.")
    kind: Literal["promoted", "narrowed", "raised"] = Field(description="What kind of act made the row.")
    at: datetime = Field(description="When.")
    source_item_id: UUID = Field(description="What the row was made from.")
    source_scope: ScopeView = Field(description="Scope of that.")
    target_scope: ScopeView = Field(description="Scope of the row.")
    proposed_by: str = Field(description="Who asked for it.")
    reviewer: str = Field(description="The signed-in person who decided; empty where nobody had to.")
    claimed_reviewer: str = Field(description="The reviewer that the caller named; it counts for nothing.")
    reason: str = Field(description="Why.")
    reworded: bool = Field(description="Whether the words were changed.")
    supporting: list[dict[str, str]] = Field(description="`{kind, id}` each: what it rests on.")
    verification: list[dict[str, str]] = Field(description="`{kind, id}` each: what confirmed it.")


class PromoteToScopeResult(KeyedResult):
    """The memory in its new scope. `deduplicated`: it was there already."""

    item: ItemView = Field(description="The item in the target scope.")
    promotion: PromotionView | None = Field(
        description="How it came there; null where the scope knew the same by itself before."
    )
    replaced_item_ids: list[UUID] = Field(
        default=[], description="Items of the target scope that it took the place of."
    )


class RaiseTierInput(ItemInput, KeyedInput):
    """Make tiered knowledge of a memory, as a new version under its key. It always waits for a person."""

    tier: Literal["qi", "dao_ren", "shu", "dao_tian"] = Field(
        description="qi: tool-bound know-how; shu: a method; dao_ren: law of a field; dao_tian: universal law, pinned."
    )
    supporting_refs: EvidenceRefs = Field(description="What it rests on. dao_tian needs 3, dao_ren 2, others 1.")
    verification_refs: EvidenceRefs = Field(description="What confirms it. dao_tian needs 2, others 1.")
    teaching_refs: EvidenceRefs = Field(default=[], description="Where it was taught. dao_tian needs 1.")
    reason: Reason
    text: Words | None = Field(default=None, description="One short proposition that says it.")
    field: str | None = Field(
        default=None, min_length=1, max_length=80, description="Subject area, such as debugging."
    )


class RaiseTierResult(KeyedResult):
    """The knowledge, in force from now on."""

    item: ItemView = Field(description="The new row.")
    promotion: PromotionView = Field(description="How it came to be.")


class LineageInput(ItemInput):
    """Whose origin and copies to show."""


class LineageNode(Contract):
    """One row of a line of copies."""

    item_id: UUID = Field(description="The item.")
    depth: int = Field(description="0: the item asked for; -1: what it was made from, and so on; 1: a copy of it.")
    from_item_id: UUID | None = Field(description="What the row was made from.")
    item: ItemView | None = Field(description="The row; null where you may not read its scope.")
    promotion: PromotionView | None = Field(description="How it was made; null for the first of the line.")


class OriginView(Contract):
    """Where the first row of a line comes from, as far as you may read it."""

    session_id: str | None = Field(description="Conversation.")
    turn_id: UUID | None = Field(description="Turn.")
    turn_seq: int | None = Field(description="Place of the turn in its conversation.")
    message_id: str | None = Field(description="Message.")
    author: str = Field(description="Principal that wrote the first row; empty where you may not read it.")
    at: datetime | None = Field(description="When it was said or committed.")
    text: str | None = Field(description="What was said; null where you may not read the conversation.")


class LineageResult(Contract):
    """An item's line: from the conversation that it comes from to every copy that was made of it."""

    item: ItemView = Field(description="The item asked for.")
    origin: OriginView = Field(description="Where the line begins.")
    nodes: list[LineageNode] = Field(
        description="The line, the oldest first; copies that you may not read are left out; at most 200."
    )
    events: list[HistoryStep] = Field(
        description="Steps in the life of all rows that you may read, oldest first; at most 200."
    )
    truncated: bool = Field(description="True: the line has more copies than are shown.")
