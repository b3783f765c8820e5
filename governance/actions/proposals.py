"""Actions on proposals: list, look, approve, reject, withdraw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from governance import gate, selectors, services
from governance.contracts import (
    ApproveProposalInput,
    DecisionResult,
    ListProposalsInput,
    ListProposalsResult,
    ProposalDetail,
    ProposalRef,
    ProposalState,
    RejectProposalInput,
    Verdict,
    WithdrawProposalInput,
)
from governance.models import OPEN_STATES, Proposal
from kernel.actions import Action, Applied, Change, Target, register
from kernel.context import ActorKind, Ctx, Right
from kernel.errors import DomainError, ForbiddenError, StaleError, TransitionError
from kernel.paging import page
from scopes.selectors import require_domain


@dataclass(frozen=True, slots=True)
class _Ready:
    proposal: Proposal
    stored: gate.Stored[Any, Any]


def _no_scope(given: ListProposalsInput, ctx: Ctx) -> Target:
    if given.domain_id is not None:
        require_domain(given.domain_id, ctx)
    return Target(given.domain_id, scopes=())


def _its_scope(given: ApproveProposalInput | RejectProposalInput, ctx: Ctx) -> Target:
    row = selectors.get_proposal(given.id, ctx)
    return Target(row.domain_id, (row.scope,), proposal_id=row.id)


def _its_place(given: ProposalRef | WithdrawProposalInput, ctx: Ctx) -> Target:
    row = selectors.get_proposal(given.id, ctx)
    return Target(row.domain_id, scopes=(), proposal_id=row.id)


def _require_open(row: Proposal, revision: int | None) -> None:
    if row.state not in OPEN_STATES:
        last = row.decisions.last()
        who = f" by {last.by_name}" if last else ""
        raise TransitionError(f"Proposal {row.id} was already {row.state}{who}: nothing was changed.")
    if revision is not None and revision != row.revision:
        raise StaleError(f"Proposal {row.id} is at revision {row.revision} now: look at it again.")


def _move(row: Proposal, to: ProposalState, ctx: Ctx) -> Change:
    before = {"state": row.state, "revision": row.revision}
    if not services.move_proposal(row, to, ctx):
        row.refresh_from_db()
        _require_open(row, row.revision)
    return Change("proposals", str(row.id), before, {"state": to, "revision": row.revision})


def _require_person(ctx: Ctx) -> None:
    if ctx.actor.kind is not ActorKind.PERSON:
        raise ForbiddenError(
            "Only a signed-in person decides on proposals: sign in, or give --user on the command line."
        )


def _prepare_approval(given: ApproveProposalInput, ctx: Ctx) -> _Ready:
    row = selectors.get_proposal(given.id, ctx)
    _require_person(ctx)
    _require_open(row, given.revision)
    if ctx.actor.person and ctx.actor.person == row.proposer.person:
        raise ForbiddenError("Nobody approves what they or their own key proposed: ask another reviewer.")
    return _Ready(row, gate.ready(row, ctx.actor, ctx))


def _approve(given: ApproveProposalInput, ready: _Ready, ctx: Ctx) -> Applied[DecisionResult]:
    row = ready.proposal
    change = _move(row, ProposalState.APPROVED, ctx)
    services.add_decision(row, Verdict.APPROVED, ctx.actor, given.reason, ctx)
    result = gate.carry_out(ready.stored)
    view = selectors.view_proposal(selectors.get_proposal(row.id, ctx))
    return DecisionResult(proposal=view, result=result), [change]


def _approval_failed(given: ApproveProposalInput, error: DomainError, ctx: Ctx) -> list[Change]:
    row = selectors.visible_proposals(ctx).filter(pk=given.id).first()
    if row is None or not ctx.may(Right.DECIDE, row.domain_id or "*", row.scope):
        return []
    looked_at_another = given.revision is not None and given.revision != row.revision
    if looked_at_another or isinstance(error, TransitionError | ForbiddenError):
        return []
    return services.note_failure(given.id, error.message)


APPROVE_PROPOSAL = register(
    Action(
        "approve_proposal",
        "Approve a proposal: the stored call is carried out in the same transaction.",
        ApproveProposalInput,
        DecisionResult,
        Right.DECIDE,
        _its_scope,
        _prepare_approval,
        _approve,
        queueable=False,
        failed=_approval_failed,
    )
)


def _prepare_rejection(given: RejectProposalInput, ctx: Ctx) -> Proposal:
    row = selectors.get_proposal(given.id, ctx)
    _require_person(ctx)
    _require_open(row, given.revision)
    return row


def _reject(given: RejectProposalInput, row: Proposal, ctx: Ctx) -> Applied[DecisionResult]:
    change = _move(row, ProposalState.REJECTED, ctx)
    services.add_decision(row, Verdict.REJECTED, ctx.actor, given.reason, ctx)
    return DecisionResult(proposal=selectors.view_proposal(selectors.get_proposal(row.id, ctx))), [change]


REJECT_PROPOSAL = register(
    Action(
        "reject_proposal",
        "Reject a proposal with a reason that its proposer can read.",
        RejectProposalInput,
        DecisionResult,
        Right.DECIDE,
        _its_scope,
        _prepare_rejection,
        _reject,
        queueable=False,
    )
)


def _prepare_withdrawal(given: WithdrawProposalInput, ctx: Ctx) -> Proposal:
    row = selectors.get_proposal(given.id, ctx)
    if (row.proposer_kind, row.proposer_id) != (ctx.actor.kind, ctx.actor.id):
        raise ForbiddenError("Only its proposer withdraws a proposal; a reviewer rejects it.")
    _require_open(row, None)
    return row


def _withdraw(given: WithdrawProposalInput, row: Proposal, ctx: Ctx) -> Applied[DecisionResult]:
    change = _move(row, ProposalState.WITHDRAWN, ctx)
    return DecisionResult(proposal=selectors.view_proposal(selectors.get_proposal(row.id, ctx))), [change]


WITHDRAW_PROPOSAL = register(
    Action(
        "withdraw_proposal",
        "Take back your own proposal while it is open.",
        WithdrawProposalInput,
        DecisionResult,
        Right.READ,
        _its_place,
        _prepare_withdrawal,
        _withdraw,
        queueable=False,
    )
)


def _get_proposal(given: ProposalRef, ctx: Ctx) -> ProposalDetail:
    return selectors.view_proposal_detail(selectors.get_proposal(given.id, ctx))


GET_PROPOSAL = register(
    Action(
        "get_proposal",
        "Show one proposal with its stored input, effect and decisions.",
        ProposalRef,
        ProposalDetail,
        Right.READ,
        _its_place,
        _get_proposal,
    )
)


def _list_proposals(given: ListProposalsInput, ctx: Ctx) -> ListProposalsResult:
    found, cursor = page(selectors.filter_proposals(given, ctx), given, "id", UUID, newest_first=True)
    return ListProposalsResult(proposals=[selectors.view_proposal(row) for row in found], next_cursor=cursor)


LIST_PROPOSALS = register(
    Action(
        "list_proposals",
        "List the proposals you may decide on, and your own.",
        ListProposalsInput,
        ListProposalsResult,
        Right.READ,
        _no_scope,
        _list_proposals,
        resource="proposals",
    )
)
