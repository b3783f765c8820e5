"""What every call on a proposal shares: where it happens, who may make it, and how it moves the row."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from governance import gate, selectors, services
from governance.contracts import DecideInput, OnProposal, ProposalRef, ProposalState
from governance.models import AuditEntry, Proposal
from governance.policies import Facts, ReviewPolicy, by_two, in_force
from governance.services import Step
from kernel.actions import Change, Target, get
from kernel.canonical import digest
from kernel.context import ANY, ActorKind, Ctx, Right
from kernel.errors import ConflictError, ForbiddenError, TransitionError


def its_scope(given: OnProposal | ProposalRef, ctx: Ctx) -> Target:
    """A call that needs its right on the proposal's scope."""
    row = to_decide(given, ctx) if isinstance(given, DecideInput) else selectors.get_proposal(given.id, ctx)
    return on_proposal(row, ctx)


def on_proposal(row: Proposal, ctx: Ctx) -> Target:
    """A call by who decides on the proposal: what only operators may do is decided on by those who operate there too."""
    needs = selectors.deciding_right(row.action, row.domain_id, row.scope, ctx)
    return Target(row.domain_id, (row.scope,), proposal_id=row.id, needs=needs)


def to_decide(given: DecideInput, ctx: Ctx) -> Proposal:
    """The proposal that a decision is about. Raises TransitionError where the caller looked at a revision that another
    decided on meanwhile, and that waits for their second look now; NotFoundError where they see no such proposal."""
    try:
        return selectors.get_proposal(given.id, ctx)
    except selectors.SecondLookError as exc:
        if given.revision is None:
            raise
        raise TransitionError(selectors.decided_unseen(given.id, ctx) or exc.message) from exc


def its_place(given: OnProposal | ProposalRef, ctx: Ctx) -> Target:
    """A call for whoever may see the proposal."""
    row = selectors.get_proposal(given.id, ctx)
    return Target(row.domain_id, scopes=(), proposal_id=row.id)


def require_person(ctx: Ctx) -> None:
    """Refuse everyone but a signed-in person."""
    if ctx.actor.kind is not ActorKind.PERSON:
        raise ForbiddenError(
            "Only a signed-in person decides on proposals: sign in, or give --user on the command line."
        )


def require_other(row: Proposal, ctx: Ctx) -> None:
    """Refuse whoever proposed it themselves or by their own key, and whoever approved this revision already."""
    why = why_not_other(row, ctx)
    if why:
        raise ForbiddenError(why)


def why_not_other(row: Proposal, ctx: Ctx) -> str:
    """Why the approval of the actor would not count; empty where it would."""
    if ctx.actor.person and ctx.actor.person == row.proposer.person:
        return "Nobody approves what they or their own key proposed: ask another reviewer."
    if row.approvals and any(decision.by_id == ctx.actor.id for decision in services.standing_approvals(row)):
        return "You approved this already: it needs the approval of another person too."
    return ""


def require_proposer(row: Proposal, ctx: Ctx, what: str) -> None:
    """Refuse everyone but the proposer."""
    if (row.proposer_kind, row.proposer_id) != (ctx.actor.kind, ctx.actor.id):
        raise ForbiddenError(f"Only its proposer {what}")


def require_revertible(entry: AuditEntry, ctx: Ctx, *, own_word: bool = False) -> None:
    """Refuse what cannot be taken back, and whoever may not do so: DomainError says why and what to do instead. `own_word`:
    the actor takes back the approval by which it was carried out, given a moment ago."""
    require_person(ctx)
    review = in_force(entry.domain_id, ctx).section(ReviewPolicy)
    services.require_reversible(entry, review.revert_days, ctx)
    needed = Right.OPERATE if get(entry.action).right is Right.OPERATE else Right.DECIDE
    if not ctx.may(needed, entry.domain_id or ANY, entry.scope):
        raise ForbiddenError(f"Taking back {entry.action} needs the right {str(needed)!r} on {entry.scope or ANY!r}.")
    if not own_word:
        _require_one_enough(entry, review)


def _require_one_enough(entry: AuditEntry, review: ReviewPolicy) -> None:
    """Refuse to take back alone what two persons must stand for, or what undoes it."""
    action = get(entry.action)
    places = Facts.from_json(entry.facts).touched if entry.facts else ()
    opposite = (name for undone in action.undone_as for name in (undone, *get(undone).judged_as))
    for name in dict.fromkeys((action.name, *action.judged_as, *opposite)):
        if by_two(name, places or (entry.scope or ANY,), review) is not None:
            raise ForbiddenError(
                f"Two persons stand for {name}, so nobody takes back {action.name} alone: make the opposite change with its "
                "own action, for another person to approve."
            )


def moved(row: Proposal, to: ProposalState, step: Step, ctx: Ctx, **columns: Any) -> Change:
    """Move the row on, or raise what tells who was first; the change names what of the columns is worth a record."""
    before = snapshot(row)
    if to in (ProposalState.APPROVED, ProposalState.REJECTED):
        share = in_force(row.domain_id, ctx).section(ReviewPolicy).blind_sample
        columns["blind"] = services.in_sample(row.id, share)
    if not services.move_proposal(row, to, ctx, **columns):
        services.outrun(row, step, ctx)
    return Change("proposals", str(row.id), before, snapshot(row))


def moved_with(
    stored: gate.Stored[Any, Any], row: Proposal, to: ProposalState, step: Step, ctx: Ctx, **columns: Any
) -> Change:
    """Move the row on with another call than it held: what it would do, where it is decided, what it is about and what it
    rests on. Raises ConflictError where another proposal about that is open."""
    target, action = stored.target, stored.call.action
    evidence = services.Evidence.of(target)
    subject = target.subject or f"{action.name}:{digest([row.proposer_id, stored.call.trail.input_digest])}"
    columns |= {
        **services.content_columns(action.name, stored.call.given, gate.tried(stored), stored.call.ctx),
        "scope": gate.place_of(target),
        "subject_key": subject,
        "evidence": evidence.whole,
        "rests_on": sorted({*evidence.pieces, *(row.rests_on if subject == row.subject_key else ())}),
        "revision": row.revision + 1,
    }
    try:
        with transaction.atomic():
            return moved(row, to, step, ctx, **columns)
    except IntegrityError as exc:
        raise ConflictError(
            "Another proposal about that subject is open: have one of the two withdrawn first."
        ) from exc


def snapshot(row: Proposal) -> dict[str, Any]:
    """The columns of a proposal that its audit entries show."""
    kept: dict[str, Any] = {"state": row.state, "revision": row.revision}
    if row.approvals_needed > 1:
        kept["approvals"] = row.approvals
    return kept
