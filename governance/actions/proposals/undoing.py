"""Taking back a decision, a bulk of decisions, or the change of any call: what was is restored, nothing is erased."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from governance import gate, selectors, services
from governance.actions.proposals.bulk import DONE, in_words, outcome_of
from governance.actions.proposals.rules import on_proposal, require_person, require_revertible, snapshot
from governance.contracts import (
    OutcomeName,
    ProposalOutcome,
    ProposalState,
    RevertChangeInput,
    RevertChangeResult,
    UndoDecisionInput,
    UndoResult,
    Verdict,
    is_legible,
)
from governance.contracts.erasing import is_mark
from governance.models import AuditEntry, Decision, Proposal
from governance.policies import ReviewPolicy, in_force
from kernel.actions import Action, Applied, Change, Target, register
from kernel.context import Ctx, Right
from kernel.errors import ConflictError, DomainError, InvalidInputError, NotFoundError, TransitionError


@dataclass(frozen=True, slots=True)
class _Undoing:
    """The proposal whose last decision goes back, and for an approval the entry of what it carried out."""

    proposal: Proposal
    entry: AuditEntry | None


def _undo_target(given: UndoDecisionInput, ctx: Ctx) -> Target:
    if given.proposal_id is None:
        return Target(None, scopes=())
    return on_proposal(selectors.get_proposal(given.proposal_id, ctx), ctx)


def _prepare_undo(given: UndoDecisionInput, ctx: Ctx) -> _Undoing | list[ProposalOutcome]:
    require_person(ctx)
    if given.proposal_id is None and given.request_id is None:
        raise InvalidInputError("Name what to take back: `proposal_id` or `request_id`.")
    if given.proposal_id is None:
        hidden = (
            selectors.second_looks(ctx).filter(pk__in=_decisions_in(given.request_id)).values_list("pk", flat=True)
        )
        decided = [row.id for row in _decided_in(given.request_id, ctx)]
        return [_undo_one(proposal_id, given, ctx) for proposal_id in [*decided, *hidden]]
    row = selectors.get_proposal(given.proposal_id, ctx)
    if is_mark(row.input):
        raise services.IrreversibleError("What it was about was erased since: there is nothing to decide.")
    last = _require_last(row, given.request_id)
    review = in_force(row.domain_id, ctx).section(ReviewPolicy)
    _require_time(last, given.reason, review, ctx)
    if row.state != ProposalState.APPROVED:
        return _Undoing(row, None)
    entry = services.carried_out(row.id, row.action)
    if entry is None:
        raise TransitionError(f"What proposal {row.id} did was taken back before: nothing was changed.")
    require_revertible(entry, ctx, own_word=_own_word(last, review, ctx))
    return _Undoing(row, entry)


def _own_word(last: Decision, review: ReviewPolicy, ctx: Ctx) -> bool:
    """Whether it is the actor's own decision, made so lately that it may go back as if it had not been made."""
    return last.by_id == ctx.actor.id and ctx.now - last.created_at <= timedelta(minutes=review.undo_minutes)


def _decided_in(request_id: UUID | None, ctx: Ctx) -> list[Proposal]:
    """The proposals that were decided on in one call, those in sight, the newest first."""
    rows = selectors.decidable(ctx).filter(pk__in=_decisions_in(request_id))
    found = list(rows.order_by("-id"))
    if not found:
        raise NotFoundError("No decisions of that call that you can see.")
    return found


def _decisions_in(request_id: UUID | None) -> Any:
    """The ids of the proposals that were decided on in one call, as a subquery."""
    decided = Decision.objects.filter(request_id=request_id).exclude(verdict__in=selectors.TAKEN_BACK)
    return decided.values("proposal_id")


def _undo_one(proposal_id: UUID, given: UndoDecisionInput, ctx: Ctx) -> ProposalOutcome:
    one = UndoDecisionInput(proposal_id=proposal_id, request_id=given.request_id, reason=given.reason)

    def work() -> OutcomeName:
        gate.perform(UNDO_DECISION, one, ctx=ctx)
        return "done"

    return outcome_of(proposal_id, work)


def _require_last(row: Proposal, request_id: UUID | None) -> Decision:
    """The decision that can go back: the last one, while it is what the proposal's state rests on."""
    last = row.decisions.last()
    if last is None:
        raise TransitionError(f"Nothing was decided on proposal {row.id} yet.")
    if last.verdict in selectors.TAKEN_BACK:
        raise TransitionError(f"{last.by_name} took back the decision on proposal {row.id}: nothing was changed.")
    rests = row.state == last.verdict or (row.state == ProposalState.OPEN and row.approvals > 0)
    if not rests or (request_id is not None and last.request_id != request_id):
        raise TransitionError(
            f"Proposal {row.id} has moved on since, and is {row.state.replace('_', ' ')}: look at it again."
        )
    return last


def _require_time(last: Decision, reason: str, review: ReviewPolicy, ctx: Ctx) -> None:
    age = ctx.now - last.created_at
    if age > timedelta(days=review.revert_days):
        raise TransitionError(
            f"That was decided more than {review.revert_days} days ago: make the opposite change as a new one."
        )
    if is_legible(reason):
        return
    if last.by_id != ctx.actor.id:
        raise InvalidInputError(f"Say why: {last.by_name} decided that.")
    if age > timedelta(minutes=review.undo_minutes):
        raise InvalidInputError(f"Say why: that was decided more than {review.undo_minutes} minutes ago.")


def _undo(given: UndoDecisionInput, undoing: _Undoing | list[ProposalOutcome], ctx: Ctx) -> Applied[UndoResult]:
    if isinstance(undoing, list):
        return UndoResult(proposal=None, outcomes=undoing, summary=in_words(undoing, DONE["undo"])), []
    row, before = undoing.proposal, snapshot(undoing.proposal)
    was_approved = row.state == ProposalState.APPROVED
    if not services.held_unchanged(row) or not _reopen(row, ctx):
        row.refresh_from_db()
        raise TransitionError(f"Proposal {row.id} was changed meanwhile: look at it again.")
    restored: list[Change] = []
    if was_approved and undoing.entry is not None:
        restored = services.take_back(undoing.entry, given.reason, ctx)
        _look_again(row, ctx)
    services.add_decision(row, Verdict.REOPENED, given.reason, ctx)
    outcome = ProposalOutcome(id=row.id, outcome="done")
    view = selectors.view_proposal(selectors.get_proposal(row.id, ctx), ctx)
    change = Change("proposals", str(row.id), before, snapshot(row))
    return UndoResult(proposal=view, outcomes=[outcome], summary="1 undone"), [change, *restored]


def _reopen(row: Proposal, ctx: Ctx) -> bool:
    try:
        with transaction.atomic():
            return services.move_proposal(row, ProposalState.OPEN, ctx, approvals=0)
    except IntegrityError as exc:
        raise ConflictError("Another proposal about the same subject is open by now: decide on that one.") from exc


def _look_again(row: Proposal, ctx: Ctx) -> None:
    """What the reopened call would change now; where it cannot be made any more, the proposal says why."""
    try:
        with transaction.atomic():
            stored = gate.ready(row, ctx.actor, ctx)
            columns: dict[str, Any] = services.content_columns(
                stored.call.action.name, stored.call.given, gate.tried(stored), stored.call.ctx
            )
    except DomainError as exc:
        columns = {"last_error": exc.message[:2000]}
    services.touch_proposal(row, ctx, **columns)


UNDO_DECISION = register(
    Action(
        "undo_decision",
        "Take back the last decision on a proposal, or all of a bulk call: it is open again, what it did is restored.",
        UndoDecisionInput,
        UndoResult,
        Right.DECIDE,
        _undo_target,
        _prepare_undo,
        _undo,
        queueable=False,
    )
)


def _revert_target(given: RevertChangeInput, ctx: Ctx) -> Target:
    entry = selectors.get_audit_entry(given.audit_entry_id, ctx)
    needs = selectors.deciding_right(entry.action, entry.domain_id, entry.scope, ctx)
    return Target(entry.domain_id, (entry.scope,), proposal_id=entry.proposal_id, needs=needs)


def _prepare_revert(given: RevertChangeInput, ctx: Ctx) -> AuditEntry:
    entry = selectors.get_audit_entry(given.audit_entry_id, ctx)
    require_revertible(entry, ctx)
    return entry


def _revert(given: RevertChangeInput, entry: AuditEntry, ctx: Ctx) -> Applied[RevertChangeResult]:
    changes = services.take_back(entry, given.reason, ctx)
    if entry.proposal is not None and entry.rule == "approved":
        services.add_decision(entry.proposal, Verdict.REVERTED, given.reason, ctx)
    changed = [f"{change.table} {change.id}" for change in changes]
    return RevertChangeResult(audit_entry_id=entry.id, action=entry.action, changed=changed), changes


REVERT_CHANGE = register(
    Action(
        "revert_change",
        "Take back what a recorded call changed: its action appends rows that restore what was.",
        RevertChangeInput,
        RevertChangeResult,
        Right.DECIDE,
        _revert_target,
        _prepare_revert,
        _revert,
        queueable=False,
    )
)
