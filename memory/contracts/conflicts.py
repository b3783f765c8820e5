"""Memories at odds with each other: how a conflict is listed, shown, decided and reopened."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from governance.contracts.base import Reason
from kernel.contracts import Contract, KeyedInput, KeyedResult, PageInput, PageResult
from memory.compose.contracts import OpenConflict
from memory.conflicts import Rule, Severity
from memory.contracts.items import ItemView, ProvenanceView
from scopes.contracts import LEGACY_DOMAIN, DomainId, ScopeRef, ScopeView


class ConflictState(StrEnum):
    """Whether a conflict waits for a decision."""

    OPEN = "open"
    RESOLVED = "resolved"


class ConflictOutcome(StrEnum):
    """What a person decided about a conflict."""

    KEEP_A = "keep_a"
    KEEP_B = "keep_b"
    MERGE = "merge"
    BOTH_VALID = "both_valid"
    NOT_A_CONFLICT = "not_a_conflict"


class ConflictSide(Contract):
    """One of the two that are at odds."""

    kind: Literal["memory", "relation"] = Field(description="A memory, or a relation of the graph.")
    id: UUID = Field(description="Its id.")
    type: str = Field(description="Memory type; `edges` for a relation.")
    key: str | None = Field(description="Key of a memory.")
    statement: str = Field(description="What it says.")
    scope: ScopeView = Field(description="Scope it belongs to.")
    current: bool = Field(description="Whether it is in force.")
    author: str = Field(description="Who wrote it; empty for a relation.")
    recorded_at: datetime = Field(description="When it was stored.")


class ConflictView(Contract):
    """A conflict as lists show it."""

    id: UUID = Field(description="Conflict id (UUIDv7).")
    domain_id: str = Field(description="Domain.")
    rule: Rule = Field(description="How it was found.")
    severity: Severity = Field(description="high, medium or low.")
    explanation: str = Field(description="What is wrong, in words.")
    state: ConflictState = Field(description="open or resolved.")
    outcome: ConflictOutcome | None = Field(
        description="What was decided; null while it is open, and where one side left by itself."
    )
    condition: str = Field(description="Under which condition both hold, where that was decided.")
    revision: int = Field(description="Counts up with each decision.")
    a: ConflictSide = Field(description="The one that was there first.")
    b: ConflictSide = Field(description="The one that came later.")
    found_at: datetime = Field(description="When it was found.")
    decided_at: datetime | None = Field(description="When it was decided.")
    decided_by: str = Field(description="Who decided; empty while it is open.")


class ListConflictsInput(PageInput):
    """Which conflicts to list; all filters must hold."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The isolation domain; `legacy` where left out.")
    scope: ScopeRef | None = Field(default=None, description="Only those with a side in this scope.")
    rule: Rule | None = Field(default=None, description="Only those found by this rule.")
    severity: Severity | None = Field(default=None, description="Only this severity.")
    state: ConflictState | None = Field(
        default=ConflictState.OPEN, description="Only this state; null for open and resolved ones."
    )
    memory_item_id: UUID | None = Field(default=None, description="Only those with this memory as one side.")


class ListConflictsResult(PageResult):
    """One page of conflicts, newest first."""

    conflicts: list[ConflictView] = Field(description="Conflicts, newest first.")


class GetConflictInput(Contract):
    """Names one conflict; its domain and scopes come from the record."""

    id: UUID = Field(description="Conflict id.")


class ShowConflictsInput(Contract):
    """Names several conflicts; their domains and scopes come from the records."""

    ids: list[UUID] = Field(min_length=1, max_length=100, description="Conflict ids, 1 to 100.")


class ShowConflictsResult(Contract):
    """Several conflicts as lists show them."""

    conflicts: list[ConflictView] = Field(
        description="The conflicts, in the order in which they were named, each once."
    )
    missing: list[UUID] = Field(description="Ids of which there is no conflict that you can see.")


class DifferenceView(Contract):
    """A place where the two texts differ."""

    kind: str = Field(description="number, date, time, negation or words.")
    a: tuple[int, int] = Field(description="Start and end in the statement of `a`, in characters.")
    b: tuple[int, int] = Field(description="Start and end in the statement of `b`, in characters.")


class ConflictStep(Contract):
    """One step in the life of a conflict."""

    verdict: str = Field(description="An outcome, `reopened`, or `followed` where one side left by itself.")
    reason: str = Field(description="Why.")
    condition: str = Field(description="The stated condition, where there is one.")
    result_id: UUID | None = Field(description="The memory that a merge made.")
    by: str = Field(description="Who.")
    at: datetime = Field(description="When.")


class Neighbour(Contract):
    """A memory to which the same decision may apply."""

    memory_item_id: UUID = Field(description="Memory.")
    of: Literal["a", "b"] = Field(description="The side that it is like, or made from.")
    relation: Literal["near_duplicate", "derived", "source"] = Field(description="How it belongs to that side.")
    statement: str = Field(description="What it says.")
    scope: ScopeView = Field(description="Its scope.")


class SideDetail(Contract):
    """One side in full."""

    item: ItemView | None = Field(description="The memory; null for a relation.")
    provenance: ProvenanceView | None = Field(description="Where it comes from; null for a relation.")
    evidence: list[dict[str, Any]] = Field(
        description="What it rests on, with the text of its messages as far as you may see it: `{kind, id, text}`."
    )


class GetConflictResult(Contract):
    """A conflict with both sides, what differs, what is near, and what was decided."""

    conflict: ConflictView = Field(description="The conflict.")
    differences: list[DifferenceView] = Field(description="The places that differ.")
    a: SideDetail = Field(description="The one that was there first.")
    b: SideDetail = Field(description="The one that came later.")
    also: list[Neighbour] = Field(description="Memories to which the same decision may apply; at most 20.")
    history: list[ConflictStep] = Field(description="Decisions so far, oldest first.")
    may_decide: bool = Field(description="Whether you may decide it; others propose a decision.")


class ResolveConflictInput(KeyedInput):
    """A decision about one conflict."""

    id: UUID = Field(description="Conflict id.")
    revision: int | None = Field(default=None, ge=1, description="Revision you looked at; another is 409 `stale`.")
    outcome: ConflictOutcome = Field(
        description="`keep_a` or `keep_b` supersedes the other; `merge` writes `text` in place of both; `both_valid` keeps "
        "both under the stated `condition`; `not_a_conflict` keeps both."
    )
    reason: Reason
    condition: str = Field(default="", max_length=2000, description="For `both_valid`: when which of them holds.")
    text: str = Field(
        default="", max_length=20_000, description="For `merge`: the statement that takes the place of both."
    )
    apply_to: list[UUID] = Field(
        default=[],
        max_length=20,
        description="Memories of `also` to which the decision applies too: near-duplicates and copies of the side that goes.",
    )


class AppliedTo(Contract):
    """What the decision did to a neighbour."""

    memory_item_id: UUID = Field(description="Memory.")
    result: Literal["superseded", "kept", "not_current", "not_a_neighbour", "not_permitted", "governed"] = Field(
        description="What became of it."
    )


class ResolveConflictResult(KeyedResult):
    """The conflict after the decision."""

    conflict: ConflictView = Field(description="The conflict.")
    result_id: UUID | None = Field(description="The memory that a merge made.")
    applied: list[AppliedTo] = Field(description="What became of each memory named in `apply_to`.")
    also: list[Neighbour] = Field(description="Memories that are still like the side that went: decide on them too.")


class ReopenConflictInput(KeyedInput):
    """Takes a decision back."""

    id: UUID = Field(description="Conflict id.")
    revision: int | None = Field(default=None, ge=1, description="Revision you looked at; another is 409 `stale`.")
    reason: Reason


class ReopenConflictResult(KeyedResult):
    """The conflict, open again, and what came back."""

    conflict: ConflictView = Field(description="The conflict.")
    restored: list[UUID] = Field(description="Memories that are in force again.")


__all__ = [
    "AppliedTo",
    "ConflictOutcome",
    "ConflictSide",
    "ConflictState",
    "ConflictStep",
    "ConflictView",
    "DifferenceView",
    "GetConflictInput",
    "GetConflictResult",
    "ListConflictsInput",
    "ListConflictsResult",
    "Neighbour",
    "OpenConflict",
    "ReopenConflictInput",
    "ReopenConflictResult",
    "ResolveConflictInput",
    "ResolveConflictResult",
    "ShowConflictsInput",
    "ShowConflictsResult",
    "SideDetail",
]
