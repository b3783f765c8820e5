"""Proposals as answers show them, and the lists of them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from governance.contracts.base import ProposalState, Risk, StepKind, Verdict
from kernel.contracts import Contract, PageInput, PageResult
from scopes.contracts import DomainId, ScopePattern

QueueName = Literal["open", "mine", "snoozed", "changes_requested", "approved", "rejected"]


class DecisionView(Contract):
    """One decision of a person on a proposal."""

    verdict: Verdict = Field(description="What was decided.")
    by: str = Field(description="Name of the person who decided.")
    reason: str = Field(description="Their reason; may be empty for an approval.")
    at: datetime = Field(description="When.")
    revision: int = Field(description="Revision that was looked at.")
    input: dict[str, Any] | None = Field(
        default=None, description="What they made of the input, where they edited it."
    )


class ClaimView(Contract):
    """Who is looking at a proposal now."""

    by: str = Field(description="Name of the person.")
    until: datetime = Field(description="When the claim ends by itself.")
    mine: bool = Field(description="Whether that is you.")


class SnoozeView(Contract):
    """Until when a proposal is out of the open queue."""

    by: str = Field(description="Name of the person who put it off.")
    until: datetime | None = Field(description="Until this instant; null where it waits to be seen again.")
    until_seen: int | None = Field(description="Until `seen` reaches this; null where it waits for an instant.")


class ProposalView(Contract):
    """A call that waits for a person, or waited."""

    id: UUID = Field(description="Proposal id (UUIDv7).")
    action: str = Field(description="Name of the action that would be carried out.")
    state: ProposalState = Field(description="Where it stands.")
    domain_id: str | None = Field(description="Domain it touches; null for the installation.")
    scope: str = Field(
        description="Scope it touches: `type:id`, `*` for the whole domain, or `@owner:<id>` for what an actor keeps for itself."
    )
    subject_key: str = Field(description="What it is about; one subject has one open proposal.")
    subject: str = Field(description="What it is about, in a line for people.")
    summary: str = Field(description="The difference it makes, in a line for people.")
    risk: Risk = Field(description="How much care it asks for; high ones are never decided in bulk.")
    has_conflict: bool = Field(description="Whether it touches a contradiction.")
    revision: int = Field(description="Counts up when the proposal is edited.")
    proposed_by: str = Field(description="Name of the proposer.")
    proposer_kind: str = Field(description="agent, person or system.")
    edited_by: str = Field(description="Name of the person who edited its input; empty if none did.")
    rule: str = Field(description="Policy rule that sent it to review.")
    created_at: datetime = Field(description="When it was proposed.")
    decided_at: datetime | None = Field(description="When it reached a final state.")
    last_error: str = Field(
        description="Why it could not be carried out when that was last tried, by an approval or by the dry run after one was "
        "taken back; empty if it could, or was not tried."
    )
    approvals: int = Field(description="Approvals that stand at this revision.")
    approvals_needed: int = Field(description="Approvals by different persons that carry it out.")
    seen: int = Field(description="How often the same call was sent while it was open.")
    claim: ClaimView | None = Field(description="Who is looking at it now; null if nobody.")
    snooze: SnoozeView | None = Field(description="Why it is out of the open queue; null if it is not.")
    decisions: list[DecisionView] = Field(description="Decisions so far, oldest first.")
    similar: int | None = Field(
        default=None, description="Other open proposals that say nearly the same; null where not counted."
    )


class ProposalDetail(ProposalView):
    """A proposal with the stored input and what it would change."""

    input: dict[str, Any] = Field(description="The stored input of the action.")
    proposed_input: dict[str, Any] | None = Field(
        default=None, description="The input as its proposer sent it, where a person edited it since; else null."
    )
    changes: list[dict[str, Any]] = Field(description="Rows it would change, as seen when it was proposed.")
    withheld: bool = Field(
        default=False,
        description="Whether input and changes are left out: a drafted rule holds the domain's whole policy, and you may"
        " read that of your own scopes only.",
    )


class StepView(Contract):
    """One entry of a proposal's timeline."""

    kind: StepKind | Verdict | Literal["proposed", "edited"] = Field(description="What happened.")
    by: str = Field(description="Name of who did it.")
    by_kind: str = Field(description="agent, person or system.")
    at: datetime = Field(description="When.")
    text: str = Field(default="", description="Reason, comment or recommendation.")
    data: dict[str, Any] = Field(default={}, description="Further facts, such as `until` of a snooze.")


class QueuedAnswer(Contract):
    """The answer of a call that now waits for a person."""

    status: str = Field(default="queued", description="Always `queued`.")
    proposal: ProposalView = Field(description="The proposal to follow.")
    deduplicated: bool = Field(default=False, description="True when the same proposal was already open.")


class ProposalRef(Contract):
    """Names one proposal."""

    id: UUID = Field(description="Proposal id.")


class QueueFilters(Contract):
    """What narrows every queue alike; all filters must hold."""

    domain_id: DomainId | None = Field(default=None, description="Only this domain.")
    action: str | None = Field(default=None, max_length=80, description="Only this action.")
    scope: ScopePattern | None = Field(default=None, description="Only these scopes: `type:id`, `type:*` or `*`.")
    proposer: str | None = Field(default=None, max_length=150, description="Only what this one proposed, by name.")
    risk: Risk | None = Field(default=None, description="Only this risk.")
    min_age_hours: Annotated[int, Field(ge=0, le=100_000)] | None = Field(
        default=None, description="Only what was proposed at least so many hours ago."
    )
    has_conflict: bool | None = Field(default=None, description="Only those that touch a contradiction, or do not.")
    rule: str | None = Field(default=None, max_length=120, description="Only what this rule sent to review.")
    text: str | None = Field(
        default=None, max_length=200, description="Only those that hold this text, in any case of letters."
    )
    similar_to: UUID | None = Field(default=None, description="Only those that say nearly the same as this proposal.")
    mentions_me: bool = Field(default=False, description="Only those in which a comment names you.")


class ProposalFilters(QueueFilters):
    """Which proposals; all filters must hold."""

    queue: QueueName | None = Field(
        default=None,
        description="Only this queue. `open` leaves out what is snoozed, `mine` is what you claim now. The first four "
        "come by risk, then oldest first.",
    )
    state: ProposalState | None = Field(default=None, description="Only this state.")


class ListProposalsInput(PageInput, ProposalFilters):
    """Which proposals to list: those you may decide on, and your own."""


class ListProposalsResult(PageResult):
    """One page of proposals: of open queues by risk and age, else newest first."""

    proposals: list[ProposalView] = Field(description="Proposals.")


class ProposalCountsInput(QueueFilters):
    """What to count in every queue."""

    choices_of: QueueName | None = Field(
        default=None, description="Also list the values by which this queue can be narrowed, and how many each leaves."
    )


class QueueCount(Contract):
    """How many proposals a queue holds."""

    queue: QueueName = Field(description="The queue.")
    count: int = Field(description="Proposals in it.")
    at_least: bool = Field(description="True where counting stopped at this number.")


class Choice(Contract):
    """One value of a filter."""

    value: str = Field(description="The value.")
    count: int = Field(description="Proposals that it leaves, the other filters as they are.")


class QueueChoices(Contract):
    """By what a queue can be narrowed: the values that occur in it, the most frequent first."""

    domain_id: list[Choice] = Field(description="Domains.")
    scope: list[Choice] = Field(description="Scopes, and `type:*` where a type has several.")
    action: list[Choice] = Field(description="Actions.")
    proposer: list[Choice] = Field(description="Names of proposers.")
    rule: list[Choice] = Field(description="Rules that sent to review.")
    at_least: bool = Field(
        description="True where the queue was not looked at to its end: there may be further values."
    )
    cut: list[str] = Field(
        description="Those of these fields that have further values, of which the 50 first are given."
    )


class ProposalCountsResult(Contract):
    """How many wait, and what was done today."""

    queues: list[QueueCount] = Field(description="Every queue, as `list_proposals` would list it with these filters.")
    decided_today: int = Field(
        description="Your decisions since midnight UTC that stand: what was undone since does not count."
    )
    remaining: int = Field(
        description="Open proposals of the domain that you may decide on, whatever the other filters, up to where "
        "counting stopped."
    )
    daily_cap: int = Field(
        description="Decisions a day, over all domains, after which further ones are refused where it holds; 0: none. "
        "Without `domain_id`, the smallest of those of the domains that you review."
    )
    daily_cap_domain: str | None = Field(
        description="Domain whose cap it is. Null: that of the installation, for who reviews every domain, each of which "
        "may have another."
    )
    left_today: int | None = Field(
        description="What is left of the daily cap, to which what was undone counts too; null without one."
    )
    choices: QueueChoices | None = Field(
        default=None, description="The values of `choices_of`; null where it was not given."
    )
