"""Deciding on a proposal: approve, reject, request changes, edit and approve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from governance import gate, selectors, services
from governance.actions.proposals.rules import its_scope, moved, moved_with, require_other, require_person, to_decide
from governance.contracts import (
    ApproveProposalInput,
    DecisionResult,
    EditAndApproveInput,
    ProposalState,
    RejectProposalInput,
    RequestChangesInput,
    Verdict,
)
from governance.models import RISKS, Proposal
from governance.services import Step
from kernel.actions import Action, Applied, Change, register
from kernel.context import Ctx, Right
from kernel.errors import (
    DomainError,
    ForbiddenError,
    IdempotencyConflictError,
    InvalidInputError,
    QuotaExceededError,
    StaleError,
    TransitionError,
)

# Why an approval fails that says nothing about the proposal.
_CALLERS = (TransitionError, ForbiddenError, QuotaExceededError, IdempotencyConflictError, gate.KeyUsedError)


@dataclass(frozen=True, slots=True)
class _Ready:
    proposal: Proposal
    stored: gate.Stored[Any, Any]
    original: gate.Stored[Any, Any] | None = None


def shown(row: Proposal, ctx: Ctx, result: dict[str, Any] | None = None) -> DecisionResult:
    """The answer of a call that decided on a proposal."""
    view = selectors.view_proposal(selectors.get_proposal(row.id, ctx), ctx)
    return DecisionResult(proposal=view, result=result)


def _prepare_approval(given: ApproveProposalInput, ctx: Ctx) -> _Ready:
    row = to_decide(given, ctx)
    require_person(ctx)
    services.require_step(row, Step.APPROVE, given.revision)
    require_other(row, ctx)
    stored = gate.ready(row, ctx.actor, ctx)
    if not all(selectors.may_decide(row.action, row.domain_id, name, ctx) for name in gate.decided_in(stored.target)):
        raise ForbiddenError("The call takes effect in a scope on which you may not decide: ask who reviews it.")
    return _Ready(row, stored)


def _approve(given: ApproveProposalInput, ready: _Ready, ctx: Ctx) -> Applied[DecisionResult]:
    row = ready.proposal
    services.require_room_today(row, ctx)
    services.hold_still(row, Step.APPROVE, ctx)
    needed = max(row.approvals_needed, ready.stored.weight.approvals)
    count = row.approvals + 1
    if count < needed:
        _require_same_effect(row, ready.stored)
        change = moved(row, ProposalState.OPEN, Step.APPROVE, ctx, approvals=count, approvals_needed=needed)
        services.add_decision(row, Verdict.APPROVED, given.reason, ctx)
        return shown(row, ctx), [change]
    change = moved(row, ProposalState.APPROVED, Step.APPROVE, ctx, approvals=count, approvals_needed=needed)
    services.add_decision(row, Verdict.APPROVED, given.reason, ctx)
    return shown(row, ctx, gate.carry_out(ready.stored)), [change]


def _require_same_effect(row: Proposal, stored: gate.Stored[Any, Any]) -> None:
    if services.changes_digest(gate.tried(stored)) != row.digest:
        raise StaleError(f"What proposal {row.id} would change has changed since: look at it again.")


def _approval_failed(given: ApproveProposalInput, error: DomainError, ctx: Ctx) -> list[Change]:
    """Keep on the proposal why it could not be carried out; not what is the caller's own fault."""
    if isinstance(error, _CALLERS):
        return []
    row = selectors.visible_proposals(ctx).filter(pk=given.id).first()
    if row is None or not selectors.may_decide(row.action, row.domain_id, row.scope, ctx):
        return []
    if given.revision is not None and given.revision != row.revision:
        return []
    return services.note_failure(given.id, error.message)


APPROVE_PROPOSAL = register(
    Action(
        "approve_proposal",
        "Approve a proposal: the stored call is carried out in the same transaction, once enough persons approved.",
        ApproveProposalInput,
        DecisionResult,
        Right.DECIDE,
        its_scope,
        _prepare_approval,
        _approve,
        queueable=False,
        failed=_approval_failed,
    )
)


def _prepare_rejection(given: RejectProposalInput, ctx: Ctx) -> Proposal:
    row = to_decide(given, ctx)
    require_person(ctx)
    services.require_step(row, Step.REJECT, given.revision)
    return row


def _reject(given: RejectProposalInput, row: Proposal, ctx: Ctx) -> Applied[DecisionResult]:
    services.require_room_today(row, ctx)
    change = moved(row, ProposalState.REJECTED, Step.REJECT, ctx, approvals=0)
    services.add_decision(row, Verdict.REJECTED, given.reason, ctx)
    return shown(row, ctx), [change]


REJECT_PROPOSAL = register(
    Action(
        "reject_proposal",
        "Reject a proposal with a reason that its proposer can read.",
        RejectProposalInput,
        DecisionResult,
        Right.DECIDE,
        its_scope,
        _prepare_rejection,
        _reject,
        queueable=False,
    )
)


def _prepare_request(given: RequestChangesInput, ctx: Ctx) -> Proposal:
    row = to_decide(given, ctx)
    require_person(ctx)
    services.require_step(row, Step.REQUEST_CHANGES, given.revision)
    return row


def _request(given: RequestChangesInput, row: Proposal, ctx: Ctx) -> Applied[DecisionResult]:
    services.require_room_today(row, ctx)
    change = moved(row, ProposalState.CHANGES_REQUESTED, Step.REQUEST_CHANGES, ctx, approvals=0)
    services.add_decision(row, Verdict.CHANGES_REQUESTED, given.reason, ctx)
    return shown(row, ctx), [change]


REQUEST_CHANGES = register(
    Action(
        "request_changes",
        "Send a proposal back: its proposer reads the reason and answers with revise_proposal.",
        RequestChangesInput,
        DecisionResult,
        Right.DECIDE,
        its_scope,
        _prepare_request,
        _request,
        queueable=False,
    )
)


def _prepare_edit(given: EditAndApproveInput, ctx: Ctx) -> _Ready:
    row = to_decide(given, ctx)
    require_person(ctx)
    services.require_step(row, Step.EDIT, given.revision)
    require_other(row, ctx)
    stored = gate.ready(row, ctx.actor, ctx, given.input)
    if stored.call.given.model_dump(mode="json") == row.input:
        raise InvalidInputError("The input is the same as before: approve the proposal, or change something.")
    _require_reach(row, stored, ctx)
    return _Ready(row, stored, _original(row, ctx))


def _original(row: Proposal, ctx: Ctx) -> gate.Stored[Any, Any] | None:
    """The call as it was proposed; None where it cannot be made any more, which an edit may be there to mend."""
    try:
        return gate.ready(row, ctx.actor, ctx)
    except DomainError:
        return None


def _require_reach(row: Proposal, stored: gate.Stored[Any, Any], ctx: Ctx) -> None:
    """An edit must not take the call to where the person may not decide, or to another domain. Scopes in which it would be
    decided count even where the call named them before: to edit is to approve."""
    if stored.target.domain_id != row.domain_id:
        raise InvalidInputError("An edit stays in the domain of the proposal: propose it anew there.")
    before = set(stored.call.action.target(stored.call.action.input.parse(row.input), stored.call.ctx).scopes)
    beyond = [*gate.decided_in(stored.target), *(name for name in stored.target.scopes if name not in before)]
    if not all(selectors.may_decide(row.action, row.domain_id, name, ctx) for name in beyond):
        raise ForbiddenError("The edited input reaches a scope on which you may not decide: leave it out.")


def _edit(given: EditAndApproveInput, ready: _Ready, ctx: Ctx) -> Applied[DecisionResult]:
    row, stored = ready.proposal, ready.stored
    services.require_room_today(row, ctx)
    services.hold_still(row, Step.EDIT, ctx)
    if ready.original is not None:
        _require_unchanged(row, ready.original)
    before, edited = row.input, stored.call.given.model_dump(mode="json")
    needed = max(row.approvals_needed, stored.weight.approvals)
    done = needed == 1
    columns = {
        "proposed_input": row.proposed_input or before,
        "approvals": 1,
        "approvals_needed": needed,
        "risk": max(row.risk, RISKS.index(stored.weight.risk)),
        "editor_id": ctx.actor.id,
        "editor_name": ctx.actor.name,
    }
    to = ProposalState.APPROVED if done else ProposalState.OPEN
    change = moved_with(stored, row, to, Step.EDIT, ctx, **columns)
    services.add_decision(row, Verdict.APPROVED, given.reason, ctx, edited)
    result = gate.carry_out(stored) if done else None
    both = Change(
        change.table,
        change.id,
        {**(change.before or {}), "input": before},
        {**(change.after or {}), "input": edited, "editor": ctx.actor.name},
    )
    return shown(row, ctx, result), [both]


def _require_unchanged(row: Proposal, original: gate.Stored[Any, Any]) -> None:
    """Refuse an edit of what would change something else by now; what cannot be carried out at all may be mended."""
    try:
        _require_same_effect(row, original)
    except StaleError:
        raise
    except DomainError:
        return


EDIT_AND_APPROVE = register(
    Action(
        "edit_and_approve",
        "Approve a proposal with another input: carried out as its proposer's call, both inputs and authors kept.",
        EditAndApproveInput,
        DecisionResult,
        Right.DECIDE,
        its_scope,
        _prepare_edit,
        _edit,
        queueable=False,
    )
)
