"""Looking at one proposal before deciding: everything around it, and what it would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from governance import gate, selectors, services
from governance.actions.proposals.rules import require_other, require_person, rule_in_words
from governance.contracts import (
    EffectLine,
    Presentation,
    PreviewProposalResult,
    ProposalRef,
    ProposalState,
    ReviewProposalInput,
    ReviewProposalResult,
    Snapshot,
    SnapshotChange,
    StepAllowed,
    StepName,
)
from governance.hooks import effects, presenter_of, snapshot_takers
from governance.models import Proposal
from governance.policies import ReviewPolicy, for_scope, in_force
from governance.services import Step
from kernel.actions import Action, Change, Target, get, register
from kernel.context import Ctx, Right
from kernel.errors import DomainError, InvalidInputError, NotFoundError

CANNED = 9
COMPARED = 20
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
    return Target(row.domain_id, (row.scope,), proposal_id=row.id)


def _review(given: ReviewProposalInput, ctx: Ctx) -> ReviewProposalResult:
    seen = _seen(given, ctx)
    row = seen.row
    review = in_force(row.domain_id, ctx).section(ReviewPolicy)
    others = selectors.others_around(row, review.burst_per_hour, ctx)
    return ReviewProposalResult(
        proposal=selectors.view_proposal_detail(row, ctx, seen.similar_open),
        presentation=present(row, ctx),
        why=rule_in_words(row, review),
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
    """The proposal as its app shows it; its rows as they were seen when it was proposed, where the app shows nothing or
    its action is gone."""
    presenter = presenter_of(row.action)
    plain = Presentation(subject=row.subject, rows=selectors.view_changes(row.changes))
    if presenter is None:
        return plain
    try:
        given = get(row.action).input.parse(row.input)
    except (NotFoundError, InvalidInputError):
        return plain
    return presenter(given, [Change.from_json(change) for change in row.changes], ctx)


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
        found = gate.preview(stored, lambda changes: _snapshots(changes, ctx), lambda changes: _effect(changes, ctx))
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
        shown=_compare(before, after),
    )


def _effect(changes: Sequence[Change], ctx: Ctx) -> tuple[list[EffectLine], list[Snapshot]]:
    lines = [line for find in effects() for line in find(changes, ctx)]
    return [*_rows(changes), *lines], _snapshots(changes, ctx)


def _snapshots(changes: Sequence[Change], ctx: Ctx) -> list[Snapshot]:
    return [snapshot for take in snapshot_takers() for snapshot in take(changes, ctx)][:COMPARED]


def _rows(changes: Sequence[Change]) -> list[EffectLine]:
    """How many rows of each table are added, changed or removed."""
    counts = Counter(
        f"{'added to' if c.before is None else 'removed from' if c.after is None else 'changed in'} {c.table}"
        for c in changes
        if not c.incidental
    )
    return [EffectLine(kind="rows", what=what, count=count) for what, count in sorted(counts.items())]


def _compare(before: list[Snapshot], after: list[Snapshot]) -> list[SnapshotChange]:
    then = {(snapshot.kind, snapshot.id): snapshot for snapshot in after}
    now = {(snapshot.kind, snapshot.id): snapshot for snapshot in before}
    found = []
    for place in list(dict.fromkeys([*now, *then]))[:COMPARED]:
        first, second = now.get(place), then.get(place)
        lines, lines_then = first.lines if first else [], second.lines if second else []
        named = first or second
        title = named.title if named else ""
        found.append(
            SnapshotChange(
                kind=place[0],
                id=place[1],
                title=title,
                before=lines,
                after=lines_then,
                differs=lines != lines_then,
            )
        )
    return found


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
