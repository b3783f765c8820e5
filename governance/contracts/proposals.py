"""Proposals and decisions on them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from governance.contracts.base import ProposalState, Reason, Verdict
from kernel.contracts import Contract, KeyedInput, KeyedResult, PageInput, PageResult
from scopes.contracts import DomainId


class DecisionView(Contract):
    """One decision of a person on a proposal."""

    verdict: Verdict = Field(description="What was decided.")
    by: str = Field(description="Name of the person who decided.")
    reason: str = Field(description="Their reason; may be empty for an approval.")
    at: datetime = Field(description="When.")


class ProposalView(Contract):
    """A call that waits for a person, or waited."""

    id: UUID = Field(description="Proposal id (UUIDv7).")
    action: str = Field(description="Name of the action that would be carried out.")
    state: ProposalState = Field(description="Where it stands.")
    domain_id: str | None = Field(description="Domain it touches; null for the installation.")
    scope: str = Field(description="Scope it touches, `type:id`, or `*` for the whole domain.")
    subject_key: str = Field(description="What it is about; one subject has one open proposal.")
    revision: int = Field(description="Counts up when the proposal is edited.")
    proposed_by: str = Field(description="Name of the proposer.")
    rule: str = Field(description="Policy rule that sent it to review.")
    created_at: datetime = Field(description="When it was proposed.")
    last_error: str = Field(description="Why the last attempt to carry it out failed; empty if none did.")
    decisions: list[DecisionView] = Field(description="Decisions so far, oldest first.")


class ProposalDetail(ProposalView):
    """A proposal with the stored input and what it would change."""

    input: dict[str, Any] = Field(description="The stored input of the action.")
    changes: list[dict[str, Any]] = Field(description="Rows it would change, as seen when it was proposed.")


class QueuedAnswer(Contract):
    """The answer of a call that now waits for a person."""

    status: str = Field(default="queued", description="Always `queued`.")
    proposal: ProposalView = Field(description="The proposal to follow.")
    deduplicated: bool = Field(default=False, description="True when the same proposal was already open.")


class ProposalRef(Contract):
    """Names one proposal."""

    id: UUID = Field(description="Proposal id.")


class ListProposalsInput(PageInput):
    """Which proposals to list: those you may decide on, and your own."""

    domain_id: DomainId | None = Field(default=None, description="Only this domain.")
    state: ProposalState | None = Field(default=None, description="Only this state.")
    action: str | None = Field(default=None, max_length=80, description="Only this action.")


class ListProposalsResult(PageResult):
    """One page of proposals, newest first."""

    proposals: list[ProposalView] = Field(description="Proposals, newest first.")


class ApproveProposalInput(KeyedInput):
    """Approve one proposal."""

    id: UUID = Field(description="Proposal id.")
    revision: int | None = Field(default=None, ge=1, description="Revision you looked at; another is 409 `stale`.")
    reason: str = Field(default="", max_length=2000, description="Comment; may be empty.")


class RejectProposalInput(KeyedInput):
    """Reject one proposal."""

    id: UUID = Field(description="Proposal id.")
    revision: int | None = Field(default=None, ge=1, description="Revision you looked at; another is 409 `stale`.")
    reason: Reason


class WithdrawProposalInput(KeyedInput):
    """Take back one's own proposal."""

    id: UUID = Field(description="Proposal id.")


class DecisionResult(KeyedResult):
    """What became of a proposal."""

    proposal: ProposalView = Field(description="The proposal after the decision.")
    result: dict[str, Any] | None = Field(default=None, description="Answer of the action, once carried out.")
