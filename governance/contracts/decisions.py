"""What people decide on proposals, and what they and agents do around it."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from governance.contracts.base import Reason
from governance.contracts.proposals import ProposalView
from kernel.contracts import Instant, KeyedInput, KeyedResult


class OnProposal(KeyedInput):
    """Names the proposal that the call is about."""

    id: UUID = Field(description="Proposal id.")


class DecideInput(OnProposal):
    """Names the proposal and the revision that was looked at."""

    revision: int | None = Field(default=None, ge=1, description="Revision you looked at; another is 409 `stale`.")


class ApproveProposalInput(DecideInput):
    """Approve one proposal."""

    reason: str = Field(default="", max_length=2000, description="Comment; may be empty.")


class RejectProposalInput(DecideInput):
    """Reject one proposal."""

    reason: Reason


class RequestChangesInput(DecideInput):
    """Send one proposal back to its proposer."""

    reason: Reason


class EditAndApproveInput(DecideInput):
    """Approve one proposal with another input."""

    input: dict[str, Any] = Field(description="The whole input as it shall be carried out.")
    reason: Reason


class ReviseProposalInput(DecideInput):
    """Send your own proposal again with another input."""

    input: dict[str, Any] = Field(description="The whole input; the same as before changes nothing.")


class WithdrawProposalInput(OnProposal):
    """Take back one's own proposal."""


class ClaimProposalInput(OnProposal):
    """Say that you are looking at one proposal."""


class ReleaseProposalInput(OnProposal):
    """Give up your claim on one proposal."""


class SnoozeProposalInput(OnProposal):
    """Put one proposal off, or with neither `until` nor `seen_again` wake it."""

    until: Instant | None = Field(default=None, description="Until this instant, a year ahead at most.")
    seen_again: int | None = Field(default=None, ge=1, le=1000, description="Until the same call came so often again.")


class CommentInput(OnProposal):
    """Say something about one proposal."""

    text: str = Field(
        min_length=1, max_length=4000, pattern=r"\S", description="The comment; `@name` tells a reviewer of its scope."
    )


class RecommendInput(OnProposal):
    """Recommend a verdict; it decides nothing."""

    verdict: Literal["approve", "reject"] = Field(description="What you recommend.")
    reason: Reason


class DecisionResult(KeyedResult):
    """What became of a proposal."""

    proposal: ProposalView = Field(description="The proposal after the call.")
    result: dict[str, Any] | None = Field(default=None, description="Answer of the action, once carried out.")


class CommentResult(DecisionResult):
    """The comment as it was kept."""

    mentioned: list[str] = Field(description="User names of the reviewers who were named.")
