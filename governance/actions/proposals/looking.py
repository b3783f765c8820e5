"""Looking at one proposal before deciding: everything around it, and what it would do."""

from __future__ import annotations

from collections.abc import Callable

from governance import gate, selectors, services
from governance.actions.effects import compare, effect, snapshots
from governance.actions.proposals.rules import on_proposal, require_other, require_person
from governance.actions.proposals.why import rule_in_words, today_in_words
from governance.contracts import (
    Presentation,
    PreviewProposalResult,
    ProposalRef,
    ProposalState,
    ReviewProposalInput,
    ReviewProposalResult,
    StepAllowed,
    StepName,
)
from governance.hooks import HeldCall, obstacles, presenter_of
from governance.models import OPEN_STATES, Proposal
from governance.policies import ReviewPolicy, for_scope, in_force
from governance.services import Step
from kernel.actions import Action, Change, Target, get, register
from kernel.context import Ctx, Right
from kernel.errors import DomainError, InvalidInputError, NotFoundError

CANNED = 9
_STEPS: dict[StepName, Step] = {
    "approve": Step.APPROVE,
    "reject": Step.REJECT,
    "request_changes": Step.REQUEST_CHANGES,
    "edit_and_approve": Step.EDIT,
    "claim": Step.CLAIM,
    "snooze": Step.SNOOZE,
}


def _seen(given: ProposalRef, ctx: Ctx) -> selectors.Seen:
    """The proposal and what stands beside it, read once in the call."""
    filters = given.filters if isinstance(given, ReviewProposalInput) else None
    return ctx.once(("proposal", given.id), lambda: selectors.proposal_to_review(given.id, filters, ctx))


def _its_scope(given: ProposalRef, ctx: Ctx) -> Target:
    row = _seen(given, ctx).row
    return on_proposal(row, ctx)


def _review(given: ReviewProposalInput, ctx: Ctx) -> ReviewProposalResult:
    seen = _seen(given, ctx)
    row = seen.row
    review = in_force(row.domain_id, ctx).section(ReviewPolicy)
    others = selectors.others_around(row, review.burst_per_hour, ctx)
    return ReviewProposalResult(
        proposal=selectors.view_proposal_detail(row, ctx, seen.similar_open),
        presentation=present(row, ctx),
        obstacle=_obstacle(row, ctx),
        why=rule_in_words(row, ctx),
        why_today=today_in_words(row, seen.held_on, ctx),
        guidelines=for_scope(review.guidelines, row.scope),
        canned_reasons=for_scope(review.canned_reasons, row.scope)[:CANNED],
        timeline=selectors.timeline(row),
        source=others.source,
        earlier=others.earlier,
        similar_open=max(seen.similar_open - (row.state == ProposalState.OPEN), 0),
        may=_may(row, ctx),
        previous_id=seen.previous_id,
        next_id=seen.next_id,
    )


def present(row: Proposal, ctx: Ctx) -> Presentation:
    """The proposal as its app shows it, a decided one as it was; its recorded rows, where the app shows nothing or its
    action is gone."""
    then = None if row.state in OPEN_STATES else row.decided_at or row.moved_at
    changes = row.changes if then is None else selectors.changes_made(row)
    presenter = presenter_of(row.action)
    plain = Presentation(subject=row.subject, rows=selectors.view_changes(changes))
    if presenter is None:
        return plain
    try:
        given = get(row.action).input.parse(row.input)
    except (NotFoundError, InvalidInputError):
        return plain
    shown = presenter(given, [Change.from_json(change) for change in changes], ctx, then)
    return shown if shown.subject else shown.model_copy(update={"subject": row.subject})


def _obstacle(row: Proposal, ctx: Ctx) -> str:
    """Why an open proposal would be refused if it were carried out now, as far as that is known without trying."""
    if row.state not in OPEN_STATES:
        return ""
    return obstacles({row.id: HeldCall(row.action, row.input, row.changes)}, ctx).get(row.id, "")


def _may(row: Proposal, ctx: Ctx) -> list[StepAllowed]:
    checks: dict[StepName, Callable[[], None]] = {
        name: lambda step=step: _check(row, step, ctx)  # type: ignore[misc]
        for name, step in _STEPS.items()
    }
    checks["release"] = lambda: services.require_mine(row, ctx)
    checks["comment"] = lambda: None
    return [_allowed(name, check) for name, check in checks.items()]


def _check(row: Proposal, step: Step, ctx: Ctx) -> None:
    require_person(ctx)
    services.require_step(row, step, None)
    if step in (Step.APPROVE, Step.EDIT):
        require_other(row, ctx)


def _allowed(name: StepName, check: Callable[[], None]) -> StepAllowed:
    try:
        check()
    except DomainError as exc:
        return StepAllowed(step=name, allowed=False, why_not=exc.message)
    return StepAllowed(step=name, allowed=True)


REVIEW_PROPOSAL = register(
    Action(
        "review_proposal",
        "Show everything that helps to decide on a proposal: its effect, evidence, surroundings, history and rules.",
        ReviewProposalInput,
        ReviewProposalResult,
        Right.DECIDE,
        _its_scope,
        _review,
    )
)


def _preview(given: ProposalRef, ctx: Ctx) -> PreviewProposalResult:
    row = _seen(given, ctx).row
    try:
        services.require_open(row)
        stored = gate.ready(row, ctx.actor, ctx)
        found = gate.preview(stored, lambda changes: snapshots(changes, ctx), lambda changes: effect(changes, ctx))
    except DomainError as exc:
        return PreviewProposalResult(
            possible=False,
            error=exc.message,
            stale=False,
            rows=selectors.view_changes(row.changes),
            lines=[],
            shown=[],
        )
    changes, before, (lines, after) = found
    return PreviewProposalResult(
        possible=True,
        error="",
        stale=services.changes_digest(changes) != row.digest,
        rows=selectors.view_changes(change.as_json() for change in changes if not change.incidental),
        lines=lines,
        shown=compare(before, after),
    )


PREVIEW_PROPOSAL = register(
    Action(
        "preview_proposal",
        "Show what a proposal would do, from a dry run that is undone: rows, index lines, who gains or loses sight.",
        ProposalRef,
        PreviewProposalResult,
        Right.DECIDE,
        _its_scope,
        _preview,
    )
)
