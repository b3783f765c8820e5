"""How reviewing goes: decisions by day, by reviewer and by agent, and second looks."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from governance.contracts.base import Reason, Verdict
from governance.contracts.decisions import OnProposal
from governance.contracts.presenting import RowChange
from governance.contracts.proposals import ProposalView
from kernel.contracts import Contract, KeyedInput, KeyedResult, PageInput, PageResult
from scopes.contracts import DomainId


class ReviewStatsInput(Contract):
    """Which decisions to count: those on scopes that you review."""

    domain_id: DomainId | None = Field(default=None, description="Only this domain.")
    days: int = Field(default=30, ge=1, le=366, description="Days to look back, today included.")


class DayCount(Contract):
    """The decisions of one day; those that were taken back later count as `undone` only."""

    day: date = Field(description="The day, in UTC.")
    approved: int = Field(description="Approvals.")
    rejected: int = Field(description="Rejections.")
    changes_requested: int = Field(description="Requests for changes.")
    undone: int = Field(description="Decisions of any verdict that were taken back later.")


class Tally(Contract):
    """The decisions by one reviewer, or on what one agent proposed; those taken back later count as `undone` only."""

    name: str = Field(description="Name of the reviewer or of the proposer.")
    approved: int = Field(description="Approvals.")
    rejected: int = Field(description="Rejections.")
    changes_requested: int = Field(description="Requests for changes.")
    undone: int = Field(description="Decisions of any verdict that were taken back later.")
    reverted: int = Field(description="The approvals among `undone`.")
    approve_rate: float | None = Field(description="Approvals among approvals and rejections, 0 to 1; null without.")
    reverted_rate: float | None = Field(description="Reverted among all approvals ever made, 0 to 1; null without.")
    median_seconds: float | None = Field(
        description="Median time from proposal to a decision that stands; null without."
    )


class ReviewStatsResult(Contract):
    """How reviewing goes."""

    days: list[DayCount] = Field(description="Every day of the span, oldest first.")
    overall: Tally = Field(description="All of it.")
    reviewers: list[Tally] = Field(description="By reviewer, by name.")
    agents: list[Tally] = Field(description="By proposer, by name.")
    mine: Tally = Field(description="Your own decisions.")
    looked_at_twice: int = Field(description="Proposals that a second reviewer looked at blindly.")
    agreed: int = Field(description="How often the two agreed.")
    counted: int = Field(description="Decisions counted.")
    at_least: bool = Field(description="True where older decisions of the span were left out.")


class ListBlindReviewsInput(PageInput):
    """Which decided proposals wait for a second look of yours."""

    domain_id: DomainId | None = Field(default=None, description="Only this domain.")
    id: UUID | None = Field(default=None, description="Only this proposal.")


class BlindCase(Contract):
    """A decided proposal as it was when it was proposed; what was decided is not told."""

    id: UUID = Field(description="Proposal id.")
    action: str = Field(description="Name of the action.")
    domain_id: str | None = Field(description="Domain it touches; null for the installation.")
    scope: str = Field(description="Scope it touches.")
    subject: str = Field(description="What it is about.")
    summary: str = Field(description="The difference it makes.")
    proposed_by: str = Field(description="Name of the proposer.")
    created_at: datetime = Field(description="When it was proposed.")
    input: dict[str, Any] = Field(description="The input as it was proposed.")
    rows: list[RowChange] = Field(description="What it would have changed then; empty where that is not kept.")
    why: str = Field(description="The rule that held it, in words.")
    guidelines: list[str] = Field(description="What reviewers of its scope go by.")


class ListBlindReviewsResult(PageResult):
    """One page of proposals for a second look, newest first."""

    cases: list[BlindCase] = Field(description="The proposals.")


class ReviewBlindlyInput(OnProposal):
    """What you would have decided."""

    verdict: Literal["approve", "reject"] = Field(description="Your verdict; it changes nothing.")
    reason: Reason


class ReviewBlindlyResult(KeyedResult):
    """What was decided, told now."""

    id: UUID = Field(description="Proposal id.")
    agrees: bool = Field(description="Whether you agree with what was decided.")
    decided: Verdict = Field(description="What was decided.")
    reason: str = Field(description="The reason that was given.")


class DraftRuleInput(OnProposal):
    """From which proposal to draft a rule."""

    reason: Reason


class DraftRuleResult(KeyedResult):
    """The policy change that now waits for someone who may make it."""

    proposal: ProposalView = Field(description="The proposal of the policy change.")
    rule: dict[str, Any] = Field(description="The rule that it would add to `review.allow`.")


class ExpireProposalsInput(KeyedInput):
    """Nothing to say."""


class ExpireProposalsResult(KeyedResult):
    """What expired."""

    expired: int = Field(description="How many proposals.")
