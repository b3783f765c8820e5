"""Work around a decision: claim, release, snooze, comment, recommend."""

from __future__ import annotations

from datetime import datetime, timedelta

from governance import selectors, services
from governance.actions.proposals.deciding import shown
from governance.actions.proposals.rules import its_place, its_scope, require_person
from governance.contracts import (
    ClaimProposalInput,
    CommentInput,
    CommentResult,
    DecisionResult,
    RecommendInput,
    ReleaseProposalInput,
    SnoozeProposalInput,
    StepKind,
)
from governance.models import Proposal
from governance.policies import ReviewPolicy, in_force
from governance.services import Step
from kernel.actions import Action, Applied, Change, Target, register
from kernel.context import Ctx, Right
from kernel.errors import ForbiddenError, InvalidInputError

LONGEST_SNOOZE = timedelta(days=366)


def _prepare_claim(given: ClaimProposalInput, ctx: Ctx) -> Proposal:
    row = selectors.get_proposal(given.id, ctx)
    require_person(ctx)
    services.require_step(row, Step.CLAIM, None)
    return row


def _claim(given: ClaimProposalInput, row: Proposal, ctx: Ctx) -> Applied[DecisionResult]:
    minutes = in_force(row.domain_id, ctx).section(ReviewPolicy).claim_minutes
    before = {"claimed_by": row.claimed_name}
    if services.claim(row, minutes, ctx):
        services.add_step(row, StepKind.CLAIMED, ctx)
    return shown(row, ctx), [Change("proposals", str(row.id), before, {"claimed_by": ctx.actor.name})]


CLAIM_PROPOSAL = register(
    Action(
        "claim_proposal",
        "Say that you are looking at a proposal: others see it until the lease ends; claiming again lengthens it.",
        ClaimProposalInput,
        DecisionResult,
        Right.DECIDE,
        its_scope,
        _prepare_claim,
        _claim,
        queueable=False,
    )
)


def _prepare_release(given: ReleaseProposalInput, ctx: Ctx) -> Proposal:
    row = selectors.get_proposal(given.id, ctx)
    require_person(ctx)
    services.require_mine(row, ctx)
    return row


def _release(given: ReleaseProposalInput, row: Proposal, ctx: Ctx) -> Applied[DecisionResult]:
    if not services.release(row, ctx):
        row.refresh_from_db()
        services.require_mine(row, ctx)
    services.add_step(row, StepKind.RELEASED, ctx)
    change = Change("proposals", str(row.id), {"claimed_by": ctx.actor.name}, {"claimed_by": ""})
    return shown(row, ctx), [change]


RELEASE_PROPOSAL = register(
    Action(
        "release_proposal",
        "Give up your claim on a proposal.",
        ReleaseProposalInput,
        DecisionResult,
        Right.DECIDE,
        its_scope,
        _prepare_release,
        _release,
        queueable=False,
    )
)


def _prepare_snooze(given: SnoozeProposalInput, ctx: Ctx) -> Proposal:
    row = selectors.get_proposal(given.id, ctx)
    require_person(ctx)
    services.require_step(row, Step.SNOOZE, None)
    if given.until is not None and given.seen_again is not None:
        raise InvalidInputError("Give `until` or `seen_again`, not both.")
    if given.until is not None and not ctx.now < given.until <= ctx.now + LONGEST_SNOOZE:
        raise InvalidInputError("`until` must lie ahead, by a year at most.")
    return row


def _snooze(given: SnoozeProposalInput, row: Proposal, ctx: Ctx) -> Applied[DecisionResult]:
    to_seen = row.seen + given.seen_again if given.seen_again is not None else None
    before = _sleep(row.snoozed_until, row.snoozed_to_seen)
    if not services.snooze(row, given.until, to_seen, ctx):
        services.outrun(row, Step.SNOOZE, ctx)
    after = _sleep(given.until, to_seen)
    services.add_step(row, StepKind.SNOOZED if given.until or to_seen else StepKind.WOKEN, ctx, data=after)
    return shown(row, ctx), [Change("proposals", str(row.id), before, after)]


def _sleep(until: datetime | None, to_seen: int | None) -> dict[str, str | int | None]:
    return {"snoozed_until": until.isoformat() if until else None, "snoozed_to_seen": to_seen}


SNOOZE_PROPOSAL = register(
    Action(
        "snooze_proposal",
        "Put a proposal off until a time, or until the same call came so often again; with neither, wake it.",
        SnoozeProposalInput,
        DecisionResult,
        Right.DECIDE,
        its_scope,
        _prepare_snooze,
        _snooze,
        queueable=False,
    )
)


def _prepare_comment(given: CommentInput, ctx: Ctx) -> Proposal:
    return selectors.get_proposal(given.id, ctx)


def _comment(given: CommentInput, row: Proposal, ctx: Ctx) -> Applied[CommentResult]:
    step = services.add_step(row, StepKind.COMMENT, ctx, given.text)
    mentioned = services.add_mentions(step, row)
    change = Change("proposal_steps", str(step.id), None, {"text": given.text, "mentioned": mentioned})
    return CommentResult(proposal=shown(row, ctx).proposal, mentioned=mentioned), [change]


COMMENT_ON_PROPOSAL = register(
    Action(
        "comment_on_proposal",
        "Say something about a proposal that you may see; `@name` tells a reviewer of its scope.",
        CommentInput,
        CommentResult,
        Right.READ,
        its_place,
        _prepare_comment,
        _comment,
        queueable=False,
    )
)


def _its_domain(given: RecommendInput, ctx: Ctx) -> Target:
    row = selectors.get_proposal(given.id, ctx)
    return Target(row.domain_id, proposal_id=row.id)


def _prepare_recommendation(given: RecommendInput, ctx: Ctx) -> Proposal:
    row = selectors.get_proposal(given.id, ctx)
    if (row.proposer_kind, row.proposer_id) == (ctx.actor.kind, ctx.actor.id):
        raise ForbiddenError("Nobody recommends on their own proposal: comment on it instead.")
    services.require_step(row, Step.RECOMMEND, None)
    return row


def _recommend(given: RecommendInput, row: Proposal, ctx: Ctx) -> Applied[DecisionResult]:
    step = services.add_step(row, StepKind.RECOMMENDATION, ctx, given.reason, {"verdict": given.verdict})
    change = Change("proposal_steps", str(step.id), None, {"verdict": given.verdict, "reason": given.reason})
    return shown(row, ctx), [change]


RECOMMEND = register(
    Action(
        "recommend",
        "Recommend a verdict on a proposal of a domain in which you may promote; it is recorded and decides nothing.",
        RecommendInput,
        DecisionResult,
        Right.PROMOTE,
        _its_domain,
        _prepare_recommendation,
        _recommend,
        queueable=False,
    )
)
