"""What a reviewer is shown of one proposal, and what it would do."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from governance.contracts.base import ProposalState
from governance.contracts.presenting import EffectLine, Presentation, RowChange
from governance.contracts.proposals import DecisionView, ProposalDetail, ProposalFilters, ProposalRef, StepView
from kernel.contracts import Contract

StepName = Literal["approve", "reject", "request_changes", "edit_and_approve", "claim", "release", "snooze", "comment"]


class ReviewProposalInput(ProposalRef):
    """The proposal to look at, and the list it was reached from."""

    filters: ProposalFilters | None = Field(
        default=None, description="The list from which it was opened, to know the ones beside it; left out: none."
    )


class EarlierProposal(Contract):
    """Another proposal in a line, with what was decided on it."""

    id: UUID = Field(description="Proposal id.")
    subject: str = Field(description="What it is about.")
    state: ProposalState = Field(description="Where it stands.")
    created_at: datetime = Field(description="When it was proposed.")
    decisions: list[DecisionView] = Field(description="Decisions on it, oldest first.")


class SourceView(Contract):
    """What else comes from the same proposer: single texts may be harmless and their sum not."""

    recent: list[EarlierProposal] = Field(description="Its newest other proposals, 5 at most.")
    last_hour: int = Field(description="How many it made in the hour before this look, counted up to the burst.")
    burst: bool = Field(description="Whether that is a burst by the policy `review.burst_per_hour`.")
    approved: int = Field(description="Approved among its last 50 proposals.")
    rejected: int = Field(description="Rejected among its last 50 proposals.")


class StepAllowed(Contract):
    """Whether the one who asks may take a step now."""

    step: StepName = Field(description="The step.")
    allowed: bool = Field(description="Whether the gate would let it through now.")
    why_not: str = Field(default="", description="What stands against it.")


class ReviewProposalResult(Contract):
    """Everything that helps to decide on one proposal."""

    proposal: ProposalDetail = Field(description="The proposal.")
    presentation: Presentation = Field(description="As its app shows it: before and after, evidence, neighbours.")
    obstacle: str = Field(
        default="",
        description="Why it would be refused if it were carried out now, such as that its memory was replaced; empty where "
        "nothing is known against it: `preview_proposal` tries it.",
    )
    why: str = Field(description="The rule that sent it to review, in words, as the policy had it then.")
    why_today: str = Field(
        default="", description="What the policy in force makes of the same call; empty where it says the same."
    )
    guidelines: list[str] = Field(description="What reviewers of its scope go by, the most exact first.")
    canned_reasons: list[str] = Field(description="Reasons to choose from, 9 at most.")
    timeline: list[StepView] = Field(description="What happened to it, oldest first, comments among it.")
    source: SourceView = Field(description="What else its proposer sent.")
    earlier: list[EarlierProposal] = Field(
        description="The newest others on the same subject or nearly the same text."
    )
    similar_open: int = Field(description="Other open proposals that say nearly the same.")
    may: list[StepAllowed] = Field(description="What you may do now.")
    previous_id: UUID | None = Field(
        description="The one before it in the list; null at its start, or without `filters`."
    )
    next_id: UUID | None = Field(
        description="The next one of the list, in the order of the open queues: of open ones where `filters` names "
        "neither queue nor state; null at its end, or without `filters`."
    )


class SnapshotChange(Contract):
    """Something that reads differently once the proposal is approved."""

    kind: str = Field(description="What it is, such as `context`.")
    id: str = Field(description="Its id.")
    title: str = Field(description="What it is in words.")
    before: list[str] = Field(description="Its lines now.")
    after: list[str] = Field(description="Its lines then.")
    differs: bool = Field(description="Whether the two differ.")


class PreviewProposalResult(Contract):
    """What a proposal would do, from a dry run of the same service."""

    possible: bool = Field(description="Whether it could be carried out now.")
    error: str = Field(description="Why not; empty where it could.")
    stale: bool = Field(description="Whether it would change something else than when it was proposed.")
    rows: list[RowChange] = Field(description="Rows it would change, field by field.")
    lines: list[EffectLine] = Field(description="The effect in lines: rows, index lines, who gains or loses sight.")
    shown: list[SnapshotChange] = Field(
        description="What was built from those rows before, 20 at most, made anew without and with the change."
    )
