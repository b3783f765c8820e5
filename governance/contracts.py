"""What governance takes and answers: proposals, decisions, audit entries, policies, principals and keys."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from kernel.context import Right
from kernel.contracts import Contract, Identifier, Instant, KeyedInput, KeyedResult, PageInput, PageResult
from scopes.contracts import LEGACY_DOMAIN, DomainId, PrincipalView, ScopePattern, ScopeView

Reason = Annotated[str, Field(min_length=1, max_length=2000, pattern=r"\S", description="Why, in words people read.")]
UserName = Annotated[str, Field(min_length=1, max_length=150, description="User name of a person.")]
KeyRight = Annotated[Right, Field(description="`read`, `write`, `promote` or `erase`.")]


class ProposalState(StrEnum):
    """Where a proposal stands; the last four are final."""

    OPEN = "open"
    CHANGES_REQUESTED = "changes_requested"
    APPROVED = "approved"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"


class Outcome(StrEnum):
    """What became of a call, as the audit log says it."""

    ALLOWED = "allowed"
    QUEUED = "queued"
    DENIED = "denied"
    INVALID = "invalid"
    FAILED = "failed"


class DecisionView(Contract):
    """One decision of a person on a proposal."""

    verdict: ProposalState = Field(description="State that the decision led to.")
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


class AuditView(Contract):
    """One entry of the audit log."""

    id: UUID = Field(description="Entry id (UUIDv7).")
    at: datetime = Field(description="When.")
    request_id: UUID = Field(description="Joins the entries of one call.")
    action: str = Field(description="Action called.")
    actor: str = Field(description="Name of who acted, kept after the account is gone.")
    actor_kind: str = Field(description="agent, person or system.")
    on_behalf_of: str = Field(description="Name of the proposer, where a person carried out a stored call.")
    door: str = Field(description="python, http, mcp, cli, admin or job.")
    domain_id: str | None = Field(description="Domain touched; null for the installation.")
    scope: str = Field(description="Scope touched, `type:id`, or `*`.")
    outcome: Outcome = Field(description="What became of the call.")
    rule: str = Field(description="Rule that decided.")
    policy_version: str = Field(description="Policy version in force.")
    code: str = Field(description="Error code of a refused call; empty otherwise.")
    reason: str = Field(description="Reason given, or why the call was refused.")
    proposal_id: UUID | None = Field(description="Proposal made, decided or carried out.")
    changes: list[dict[str, Any]] = Field(description="Rows changed: table, id, before, after.")


class ListAuditInput(PageInput):
    """Which audit entries to list; all filters must hold."""

    domain_id: DomainId | None = Field(default=None, description="Only this domain.")
    action: str | None = Field(default=None, max_length=80, description="Only this action.")
    actor: str | None = Field(default=None, max_length=150, description="Only this actor's name.")
    outcome: Outcome | None = Field(default=None, description="Only this outcome.")
    request_id: UUID | None = Field(default=None, description="Only this call.")
    since: Instant | None = Field(default=None, description="At or after this instant.")
    until: Instant | None = Field(default=None, description="Before this instant.")


class ListAuditResult(PageResult):
    """One page of the audit log, newest first."""

    entries: list[AuditView] = Field(description="Entries, newest first.")


class CreatePrincipalInput(Contract):
    """A new principal with a first key and a first grant."""

    name: str = Field(min_length=1, max_length=100, pattern=r"^\S(.*\S)?$", description="Unique name.")
    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="Domain of the grant, created where missing.")
    pattern: ScopePattern = "*"
    rights: list[KeyRight] = Field(
        default=[Right.READ, Right.WRITE], min_length=1, max_length=4, description="Rights of the grant."
    )
    owner: UserName | None = Field(default=None, description="User name of the person who answers for it.")


class NewKeyResult(Contract):
    """A key, shown this once."""

    principal: PrincipalView = Field(description="The principal.")
    key_prefix: str = Field(description="Names the key from now on.")
    api_key: str = Field(description="The secret. It is not stored: keep it now.")


class IssueKeyInput(Contract):
    """One more key for a principal."""

    name: str = Field(min_length=1, max_length=100, description="Name of the principal.")


class RevokeKeyInput(KeyedInput):
    """Stop one key from working."""

    key_prefix: str = Field(min_length=1, max_length=16, description="The part of the key between the underscores.")


class RevokeKeyResult(KeyedResult):
    """The key that no longer works."""

    key_prefix: str = Field(description="Prefix of the key.")
    principal: str = Field(description="Name of its principal.")
    revoked_at: datetime = Field(description="Since when.")


class GrantAccessInput(KeyedInput):
    """Give a principal exactly these rights on a pattern of scopes."""

    name: str = Field(min_length=1, max_length=100, description="Name of the principal.")
    domain_id: DomainId
    pattern: ScopePattern = "*"
    rights: list[KeyRight] = Field(max_length=4, description="The rights; an empty list takes the grant away.")


class PrincipalResult(KeyedResult):
    """A principal after a change."""

    principal: PrincipalView = Field(description="The principal.")


class ListPrincipalsInput(PageInput):
    """Principals of a domain, or all of them."""

    domain_id: DomainId | None = Field(default=None, description="Only those with a grant in this domain.")


class ListPrincipalsResult(PageResult):
    """One page of principals, by name."""

    principals: list[PrincipalView] = Field(description="Principals, by name.")


class AssignReviewerInput(KeyedInput):
    """Let a person review scopes of a domain."""

    user: UserName
    domain_id: DomainId
    pattern: ScopePattern = "*"


class AssignReviewerResult(KeyedResult):
    """The assignment in force."""

    user: str = Field(description="User name.")
    domain_id: str = Field(description="Domain.")
    pattern: str = Field(description="Scopes.")


class WhoamiInput(Contract):
    """Nothing to say."""


class WhoamiResult(Contract):
    """Who you are here and what you may reach."""

    name: str = Field(description="Your name.")
    kind: str = Field(description="agent, person or system.")
    door: str = Field(description="Door you came through.")
    grants: list[dict[str, Any]] = Field(description="`{domain_id, pattern, rights}` each.")


class ListDomainsInput(PageInput):
    """The domains you may read in."""


class DomainView(Contract):
    """A domain."""

    id: str = Field(description="Domain id.")
    created_at: datetime = Field(description="When it was made.")


class ListDomainsResult(PageResult):
    """One page of domains, by id."""

    domains: list[DomainView] = Field(description="Domains, by id.")


class ListScopesInput(PageInput):
    """The scopes you may read in a domain."""

    domain_id: DomainId = Field(default=LEGACY_DOMAIN, description="The domain.")
    type: Identifier | None = Field(default=None, description="Only scopes of this type.")


class ScopeRow(ScopeView):
    """A scope with its id in the server."""

    scope_id: UUID = Field(description="Server id (UUIDv7).")
    created_at: datetime = Field(description="When it was first written.")


class ListScopesResult(PageResult):
    """One page of scopes, in order of creation."""

    scopes: list[ScopeRow] = Field(description="Scopes, oldest first.")


class PolicyInput(Contract):
    """Whose policy to show."""

    domain_id: DomainId | None = Field(default=None, description="The domain; left out: the whole installation.")


class SetPolicyInput(KeyedInput):
    """A new policy version; it replaces the version before and lies over the defaults and `brain.yml`."""

    domain_id: DomainId | None = Field(default=None, description="The domain; left out: the whole installation.")
    document: dict[str, Any] = Field(description="`{section: {field: value}}`; only what differs.")
    reason: Reason


class PolicyResult(KeyedResult):
    """The policy in force."""

    domain_id: str | None = Field(description="The domain; null for the whole installation.")
    version: str = Field(description="Names the file and versions that were laid over each other.")
    document: dict[str, Any] = Field(description="Every section with every field.")
