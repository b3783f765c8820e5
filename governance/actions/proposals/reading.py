"""Reading proposals: one, a list, and how many wait."""

from __future__ import annotations

from governance import selectors
from governance.actions.proposals.rules import its_place
from governance.contracts import (
    ListProposalsInput,
    ListProposalsResult,
    ProposalCountsInput,
    ProposalCountsResult,
    ProposalDetail,
    ProposalRef,
)
from governance.policies import ReviewPolicy, in_force
from kernel.actions import Action, Target, register
from kernel.context import ANY, Ctx, Right
from scopes.selectors import require_domain


def _no_scope(given: ListProposalsInput | ProposalCountsInput, ctx: Ctx) -> Target:
    if given.domain_id is not None:
        require_domain(given.domain_id, ctx)
    return Target(given.domain_id, scopes=())


def _get_proposal(given: ProposalRef, ctx: Ctx) -> ProposalDetail:
    return selectors.view_proposal_detail(selectors.get_proposal(given.id, ctx), ctx)


GET_PROPOSAL = register(
    Action(
        "get_proposal",
        "Show one proposal with its stored input, effect and decisions, the reviewers' reasons among them.",
        ProposalRef,
        ProposalDetail,
        Right.READ,
        its_place,
        _get_proposal,
    )
)


def _list_proposals(given: ListProposalsInput, ctx: Ctx) -> ListProposalsResult:
    found, cursor = selectors.page_of_proposals(given, ctx)
    return ListProposalsResult(proposals=selectors.view_proposals(found, ctx), next_cursor=cursor)


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


def _proposal_counts(given: ProposalCountsInput, ctx: Ctx) -> ProposalCountsResult:
    cap, where = _cap(given.domain_id, ctx)
    today = selectors.decided_today(ctx)
    return ProposalCountsResult(
        queues=selectors.count_queues(given, ctx),
        decided_today=today.standing,
        remaining=selectors.count_decidable(given.domain_id, ctx),
        daily_cap=cap,
        daily_cap_domain=where,
        left_today=max(cap - today.given, 0) if cap else None,
        choices=selectors.choices_of(given.choices_of, given, ctx) if given.choices_of is not None else None,
    )


def _cap(domain_id: str | None, ctx: Ctx) -> tuple[int, str | None]:
    """The daily cap that is met first, 0 for none, and whose it is: the smallest of those of the domains that the actor
    reviews, or of the one asked for; that of the installation (None) for who reviews every domain."""
    domains = {domain_id} if domain_id else {grant.domain_id for grant in ctx.reach if Right.DECIDE in grant.rights}
    if ANY in domains or not domains:
        return in_force(None, ctx).section(ReviewPolicy).daily_cap, None
    caps = sorted((in_force(each, ctx).section(ReviewPolicy).daily_cap, each) for each in domains)
    return next(((cap, each) for cap, each in caps if cap), caps[0])


PROPOSAL_COUNTS = register(
    Action(
        "proposal_counts",
        "Count each review queue as `list_proposals` would list it with the same filters, what you decided today and what remains.",
        ProposalCountsInput,
        ProposalCountsResult,
        Right.READ,
        _no_scope,
        _proposal_counts,
    )
)
