"""How good reviewing is: figures, and second looks at a sample of what was decided."""

from __future__ import annotations

from uuid import UUID

from governance import selectors, services
from governance.actions.proposals.rules import on_proposal, require_other, require_person
from governance.actions.proposals.why import rule_in_words
from governance.contracts import (
    BlindCase,
    ListBlindReviewsInput,
    ListBlindReviewsResult,
    ReviewBlindlyInput,
    ReviewBlindlyResult,
    ReviewStatsInput,
    ReviewStatsResult,
)
from governance.models import Proposal
from governance.policies import ReviewPolicy, for_scope, in_force
from kernel.actions import Action, Applied, Target, get, register
from kernel.context import Ctx, Right
from kernel.errors import InvalidInputError, NotFoundError, TransitionError
from kernel.paging import page
from scopes.selectors import require_domain


def _no_scope(given: ReviewStatsInput | ListBlindReviewsInput, ctx: Ctx) -> Target:
    if given.domain_id is not None:
        require_domain(given.domain_id, ctx)
    return Target(given.domain_id, scopes=())


def _stats(given: ReviewStatsInput, ctx: Ctx) -> ReviewStatsResult:
    return selectors.review_stats(given, ctx)


REVIEW_STATS = register(
    Action(
        "review_stats",
        "Count decisions on scopes that you review: by day, reviewer and agent, time taken, taken back, agreement.",
        ReviewStatsInput,
        ReviewStatsResult,
        Right.READ,
        _no_scope,
        _stats,
    )
)


def _list(given: ListBlindReviewsInput, ctx: Ctx) -> ListBlindReviewsResult:
    rows = selectors.blind_cases(given.domain_id, ctx)
    rows = rows if given.id is None else rows.filter(pk=given.id)
    found, cursor = page(rows, given, "id", UUID, newest_first=True)
    return ListBlindReviewsResult(cases=[_view(row, ctx) for row in found], next_cursor=cursor)


def _view(row: Proposal, ctx: Ctx) -> BlindCase:
    """The proposal as it was proposed. Of an edited one, subject and rows tell the edit by now, so they stay away."""
    review = in_force(row.domain_id, ctx).section(ReviewPolicy)
    edited = row.proposed_input is not None
    return BlindCase(
        id=row.id,
        action=row.action,
        domain_id=row.domain_id,
        scope=row.scope,
        subject=_first_subject(row, ctx) if edited else row.subject,
        summary="" if edited else row.summary,
        proposed_by=row.proposer_name,
        created_at=row.created_at,
        input=row.proposed_input or row.input,
        rows=[] if edited else selectors.view_changes(row.changes),
        why=rule_in_words(row, ctx),
        guidelines=for_scope(review.guidelines, row.scope),
    )


def _first_subject(row: Proposal, ctx: Ctx) -> str:
    """What an edited proposal was about before the edit; empty where its action does not read its input any more."""
    try:
        given = get(row.action).input.parse(row.proposed_input)
    except (NotFoundError, InvalidInputError):
        return ""
    return services.facts_about(row.action, given, [], ctx).subject


LIST_BLIND_REVIEWS = register(
    Action(
        "list_blind_reviews",
        "List decided proposals that wait for your second look; what was decided on them is not told.",
        ListBlindReviewsInput,
        ListBlindReviewsResult,
        Right.READ,
        _no_scope,
        _list,
    )
)


def _case(given: ReviewBlindlyInput, ctx: Ctx) -> Proposal:
    """The proposal to look at again, or else one that the person may see."""
    waiting = selectors.blind_cases(None, ctx).filter(pk=given.id).first()
    return waiting or selectors.get_proposal(given.id, ctx)


def _its_scope(given: ReviewBlindlyInput, ctx: Ctx) -> Target:
    row = _case(given, ctx)
    return on_proposal(row, ctx)


def _prepare(given: ReviewBlindlyInput, ctx: Ctx) -> Proposal:
    row = _case(given, ctx)
    require_person(ctx)
    require_other(row, ctx)
    if not selectors.blind_cases(None, ctx).filter(pk=row.pk).exists():
        raise TransitionError(f"Proposal {row.id} does not wait for a second look of yours.")
    return row


def _review(given: ReviewBlindlyInput, row: Proposal, ctx: Ctx) -> Applied[ReviewBlindlyResult]:
    look, decided, change = services.look_again(row, given.verdict, given.reason, ctx)
    answer = ReviewBlindlyResult(id=row.id, agrees=look.agrees, decided=decided.verdict, reason=decided.reason)
    return answer, [change]


REVIEW_BLINDLY = register(
    Action(
        "review_blindly",
        "Say what you would have decided on a proposal of the sample; then you are told what was. It changes nothing.",
        ReviewBlindlyInput,
        ReviewBlindlyResult,
        Right.DECIDE,
        _its_scope,
        _prepare,
        _review,
        queueable=False,
    )
)
