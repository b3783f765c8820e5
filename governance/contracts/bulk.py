"""Deciding on many proposals at once, and taking decisions and changes back."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from governance.contracts.base import Reason
from governance.contracts.proposals import ProposalView
from kernel.contracts import Contract, KeyedInput, KeyedResult

BulkVerdict = Literal["approve", "reject", "request_changes"]
OutcomeName = Literal[
    "done",
    "recorded",
    "stale",
    "decided",
    "irreversible",
    "not_permitted",
    "not_found",
    "high_risk",
    "over_cap",
    "over_daily_cap",
    "failed",
]


class ProposalChoice(Contract):
    """One proposal at the revision that was looked at."""

    id: UUID = Field(description="Proposal id.")
    revision: int = Field(ge=1, description="Revision you looked at.")


class DecideProposalsInput(KeyedInput):
    """One verdict on many proposals."""

    verdict: BulkVerdict = Field(description="The verdict on each.")
    proposals: list[ProposalChoice] = Field(min_length=1, max_length=1000, description="The proposals, in order.")
    reason: Reason


class ProposalOutcome(Contract):
    """What became of one proposal in a bulk call."""

    id: UUID = Field(description="Proposal id.")
    outcome: OutcomeName = Field(
        description="done; recorded (the first of two approvals); stale (changed meanwhile); decided (by someone "
        "else before); irreversible (an undo of what has no way back); not_permitted; not_found; high_risk and over_cap (left out by policy); over_daily_cap (you decided as "
        "much today as policy allows); failed."
    )
    message: str = Field(default="", description="Why, where it was not done.")


class BulkResult(KeyedResult):
    """What became of each proposal."""

    request_id: UUID = Field(description="Joins the decisions: undo them together with `undo_decision`.")
    outcomes: list[ProposalOutcome] = Field(description="One for each proposal, in the order given.")
    counts: dict[str, int] = Field(description="How many had each outcome.")
    summary: str = Field(description="The counts in words, such as `38 approved, 2 changed meanwhile`.")


class UndoDecisionInput(KeyedInput):
    """Which decision to take back: the last one on a proposal, or all of one bulk call."""

    proposal_id: UUID | None = Field(default=None, description="The proposal.")
    request_id: UUID | None = Field(
        default=None, description="The bulk call; with `proposal_id`, only if its last decision was made in that call."
    )
    reason: str = Field(
        default="",
        max_length=2000,
        description="Why. Needed for a decision of someone else, and once `review.undo_minutes` are over.",
    )


class UndoResult(KeyedResult):
    """What became of each decision."""

    proposal: ProposalView | None = Field(description="The proposal; null where a bulk call was taken back.")
    outcomes: list[ProposalOutcome] = Field(description="One for each proposal.")
    summary: str = Field(description="The outcomes in words.")


class RevertChangeInput(KeyedInput):
    """Which change to take back."""

    audit_entry_id: UUID = Field(description="The audit entry of the call that made it.")
    reason: Reason


class RevertChangeResult(KeyedResult):
    """What was taken back."""

    audit_entry_id: UUID = Field(description="The audit entry whose change was taken back.")
    action: str = Field(description="Its action.")
    changed: list[str] = Field(description="Rows that were written to restore what was, `table id`.")
