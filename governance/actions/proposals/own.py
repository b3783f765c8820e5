"""What a proposer does with its own proposal: revise it, or take it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from governance import gate, selectors, services
from governance.actions.proposals.deciding import shown
from governance.actions.proposals.rules import its_place, moved, moved_with, require_proposer
from governance.contracts import (
    DecisionResult,
    ProposalState,
    ReviseProposalInput,
    StepKind,
    WithdrawProposalInput,
)
from governance.models import RISKS, Proposal
from governance.services import Step
from kernel.actions import Action, Applied, Change, register
from kernel.context import Ctx, Right
from kernel.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class _Revision:
    proposal: Proposal
    stored: gate.Stored[Any, Any] | None


def _prepare_revision(given: ReviseProposalInput, ctx: Ctx) -> _Revision:
    row = selectors.get_proposal(given.id, ctx)
    require_proposer(row, ctx, "revises a proposal; a reviewer edits and approves it.")
    services.require_step(row, Step.REVISE, given.revision)
    stored = gate.ready(row, ctx.actor, ctx, given.input)
    if stored.call.given.model_dump(mode="json") == row.input:
        return _Revision(row, None)
    if stored.target.domain_id != row.domain_id:
        raise InvalidInputError("A revision stays in the domain of the proposal: propose it anew there.")
    return _Revision(row, stored)


def _revise(given: ReviseProposalInput, revision: _Revision, ctx: Ctx) -> Applied[DecisionResult]:
    row, stored = revision.proposal, revision.stored
    if stored is None:
        return shown(row, ctx), []
    before = row.input
    columns = {
        "risk": RISKS.index(stored.weight.risk),
        "approvals_needed": stored.weight.approvals,
        "approvals": 0,
        "proposed_input": None,
        "editor_id": "",
        "editor_name": "",
    }
    change = moved_with(stored, row, ProposalState.OPEN, Step.REVISE, ctx, **columns)
    services.refuse_rejected(row, services.Evidence.of(stored.target), ctx, alike=bool(stored.target.subject))
    services.add_step(row, StepKind.REVISED, ctx, data={"input": before})
    return shown(row, ctx), [_with_inputs(change, before, row.input)]


def _with_inputs(change: Change, before: dict[str, Any], after: dict[str, Any]) -> Change:
    return Change(
        change.table,
        change.id,
        {**(change.before or {}), "input": before},
        {**(change.after or {}), "input": after},
    )


REVISE_PROPOSAL = register(
    Action(
        "revise_proposal",
        "Change your own proposal, such as after a request for changes; an unchanged input keeps everything.",
        ReviseProposalInput,
        DecisionResult,
        Right.READ,
        its_place,
        _prepare_revision,
        _revise,
        queueable=False,
    )
)


def _prepare_withdrawal(given: WithdrawProposalInput, ctx: Ctx) -> Proposal:
    row = selectors.get_proposal(given.id, ctx)
    require_proposer(row, ctx, "withdraws a proposal; a reviewer rejects it.")
    services.require_step(row, Step.WITHDRAW, None)
    return row


def _withdraw(given: WithdrawProposalInput, row: Proposal, ctx: Ctx) -> Applied[DecisionResult]:
    change = moved(row, ProposalState.WITHDRAWN, Step.WITHDRAW, ctx)
    services.add_step(row, StepKind.WITHDRAWN, ctx)
    return shown(row, ctx), [change]


WITHDRAW_PROPOSAL = register(
    Action(
        "withdraw_proposal",
        "Take back your own proposal while it is open.",
        WithdrawProposalInput,
        DecisionResult,
        Right.READ,
        its_place,
        _prepare_withdrawal,
        _withdraw,
        queueable=False,
    )
)
