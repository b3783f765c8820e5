"""Committing a turn: everything that happened in, everything that was stored out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, Self
from uuid import UUID

from pydantic import Field, model_validator

from kernel.contracts import Contract, KeyedInput, KeyedResult
from memory.compose.contracts import OpenConflict
from memory.conflicts import Rule
from memory.contracts.events import MessageIn, RefIn, ToolCallIn
from memory.contracts.items import (
    CaseIn,
    DecisionIn,
    EdgeIn,
    EntityIn,
    GoalIn,
    ItemIn,
    Lifecycle,
    MilestoneIn,
    PatternIn,
    PreferenceIn,
    ProfileIn,
    RetractionIn,
    Status,
    TaskIn,
)
from scopes.contracts import ExternalId, Scoped, ScopeView


class TurnEvents(Contract):
    """What happened in one turn. Every list may be left out; not all of them."""

    messages: list[MessageIn] = Field(default=[], description="Messages in order.")
    tool_calls: list[ToolCallIn] = Field(default=[], description="Tool calls in order.")
    refs: list[RefIn] = Field(default=[], description="Files, addresses and artifacts.")
    tasks: list[TaskIn] = Field(default=[], description="Things to do, and where they stand.")
    decisions: list[DecisionIn] = Field(default=[], description="What was decided.")
    goals: list[GoalIn] = Field(default=[], description="Long-term goals.")
    events: list[MilestoneIn] = Field(default=[], description="Milestones, incidents, releases.")
    preferences: list[PreferenceIn] = Field(default=[], description="Preferences; only confirmed ones are kept.")
    profile: list[ProfileIn] = Field(default=[], description="Who someone is.")
    cases: list[CaseIn] = Field(default=[], description="Problems and how they were solved.")
    patterns: list[PatternIn] = Field(default=[], description="Rules drawn from cases.")
    entities: list[EntityIn] = Field(default=[], description="Someone or something worth knowing.")
    retractions: list[RetractionIn] = Field(default=[], description="What was wrong.")
    edges: list[EdgeIn] = Field(default=[], description="Relations between names.")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not any(getattr(self, name) for name in type(self).model_fields):
            raise ValueError("nothing to commit: give at least one message, tool call, ref or item")
        return self

    def items(self) -> Iterator[tuple[str, ItemIn]]:
        """Every structured item with its path, in the order in which they are written."""
        for name in ITEM_LISTS:
            for number, item in enumerate(getattr(self, name)):
                yield f"turn_events.{name}.{number}", item


# Behavioural specification 2.3, with the three later types before the entities.
ITEM_LISTS = (
    "tasks",
    "decisions",
    "goals",
    "events",
    "preferences",
    "profile",
    "cases",
    "patterns",
    "entities",
)


class CommitTurnInput(KeyedInput, Scoped):
    """One turn of a conversation."""

    session_id: ExternalId = Field(description="The conversation, in the caller's own words; opened where missing.")
    turn_events: TurnEvents = Field(description="What happened.")
    extract: bool = Field(default=True, description="False: learn nothing from the text of messages.")


class Ignored(Contract):
    """A part of the input that has no effect, and why."""

    path: str = Field(description="Where in the input.")
    reason: str = Field(description="Reason code.")


class StoredCounts(Contract):
    """How much was stored."""

    messages: int = Field(description="Messages stored.")
    tool_calls: int = Field(description="Tool calls stored.")
    refs: int = Field(description="References stored.")


class WrittenItem(Contract):
    """An item that this commit wrote, or found already there."""

    id: UUID = Field(description="Item id (UUIDv7).")
    type: str = Field(description="Memory type.")
    key: str | None = Field(description="Key.")
    status: Status = Field(description="active, or retracted for a retraction of something unknown.")
    lifecycle_status: Lifecycle = Field(description="candidate for what was only inferred.")
    confidence: float = Field(description="How sure, 0 to 1.")
    scope: ScopeView = Field(description="Scope written to.")
    deduplicated: bool = Field(description="True: the same was already there, and nothing new was stored.")


class WriteConflict(Contract):
    """An item that this commit changed because another took its place."""

    type: Literal["overwrite", "retract", "version"] = Field(description="What became of the earlier item.")
    key: str | None = Field(description="Key of the earlier item.")
    previous_memory_item_id: UUID = Field(description="The earlier item.")
    memory_item_id: UUID | None = Field(description="The item that took its place; null for a retraction.")
    rule: Rule | None = Field(
        default=None,
        description="How the new value differs from the earlier one; null for a retraction, or where each has its own time.",
    )


PartAction = Literal["write_memory_item", "retract_item", "write_relation", "write_denial"]


class QueuedItem(Contract):
    """A part of this commit that waits for a person while the rest was stored: what it writes, relates, denies or takes
    back."""

    proposal_id: UUID = Field(description="The proposal that a reviewer decides on.")
    type: str = Field(description="Memory type; `edges` for a relation.")
    key: str = Field(description="Key; of a relation its subject, predicate and object.")
    scope: ScopeView = Field(description="Scope that it is to enter, or where it is to be taken back.")
    action: PartAction = Field(description="What waits.")
    deduplicated: bool = Field(description="True: the same was proposed before and still waits.")


class MemoryWritten(Contract):
    """What was learned."""

    count: int = Field(description="Items newly stored.")
    items: list[WrittenItem] = Field(description="Items, in the order in which they were written.")
    conflicts: list[WriteConflict] = Field(description="Earlier items that changed.")
    found: list[OpenConflict] = Field(
        default=[], description="Memories already there that do not go together with these: stored, and to be decided."
    )
    queued: list[QueuedItem] = Field(default=[], description="Items that wait for a person.")


class RetentionLine(Contract):
    """What became of one candidate for memory, and why."""

    action: Literal["write", "skip", "retract", "refuse", "deduplicate", "update_task", "edge", "queue"] = Field(
        description="What was done."
    )
    type: str = Field(description="Memory type.")
    key: str | None = Field(description="Key.")
    reason_code: str = Field(description="Why.")
    scope: str | None = Field(description="Scope, `type:id`.")
    source: str = Field(description="Where it came from: the place in turn_events, or the rule and message.")
    text: str = Field(description="The same in one line.")


class SummaryResult(Contract):
    """The session's working summary after this commit."""

    summary_version: int = Field(description="0 before the first summary.")
    summary_source_turn_range: dict[str, int] | None = Field(description="`{from, to}` turns it was made from.")
    summary_generated_at: datetime | None = Field(description="When.")
    text: str = Field(description="The summary; empty before the first.")
    triggered: bool = Field(description="True: this commit made it.")
    trigger_reason: str = Field(description="turn_threshold, token_pressure, stage_event, not_triggered or empty.")


class CommitExplain(Contract):
    """Why the commit did what it did."""

    retention: list[RetentionLine] = Field(description="One line for each candidate.")
    conflicts: list[WriteConflict] = Field(description="As in memory_written.")
    summary: dict[str, str | bool] = Field(description="`{triggered, reason}`.")
    warnings: list[str] = Field(description="What could not be done, each with a reason code.")


class CommitTurnResult(KeyedResult):
    """The stored turn and what was learned from it."""

    ok: Literal[True] = Field(default=True, description="Always true; refusals are errors.")
    commit_id: UUID = Field(description="This commit; the same as the turn.")
    domain_id: str = Field(description="Domain written to.")
    session_id: str = Field(description="The caller's own id of the conversation.")
    turn_id: UUID = Field(description="The stored turn (UUIDv7).")
    seq: int = Field(description="Place of the turn in its session, from 1 without gaps.")
    default_write: ScopeView | None = Field(description="Scope in which the messages can also be found.")
    message_ids: list[str] = Field(description="Ids of the messages: the caller's own where given, else ours.")
    stored: StoredCounts = Field(description="How much was stored.")
    memory_written: MemoryWritten = Field(description="What was learned.")
    summary: SummaryResult = Field(description="The session's working summary.")
    explain: CommitExplain = Field(description="Why.")
    ignored: list[Ignored] = Field(description="Parts of the input that have no effect.")
