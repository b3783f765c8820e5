"""Keeping the queue short: rules drafted from decisions, and proposals that expire."""

from __future__ import annotations

from governance import gate, selectors, services
from governance.actions.policy import SET_POLICY
from governance.actions.proposals.rules import its_scope, require_person
from governance.contracts import (
    DraftRuleInput,
    DraftRuleResult,
    ExpireProposalsInput,
    ExpireProposalsResult,
    SetPolicyInput,
)
from governance.models import Proposal
from governance.policies import AllowRule, ReviewPolicy, check_document, in_force
from kernel.actions import Action, Applied, Target, register
from kernel.context import ActorKind, Ctx, Right
from kernel.errors import InvalidInputError
from scopes.contracts import SESSION


def _prepare_draft(given: DraftRuleInput, ctx: Ctx) -> tuple[AllowRule, SetPolicyInput]:
    row = selectors.get_proposal(given.id, ctx)
    require_person(ctx)
    if row.proposer_kind != ActorKind.AGENT or not row.rule.startswith("review.queue:"):
        raise InvalidInputError("A rule can only be drafted from what a rule of `review.queue` held back of an agent.")
    rule = AllowRule(
        name=f"{row.proposer_name}: {row.action} in {row.scope}"[:80],
        actions=[row.action],
        scopes=_patterns(row, ctx),
        actors=[row.proposer_name],
    )
    document = services.own_document(row.domain_id)
    review = in_force(row.domain_id, ctx).section(ReviewPolicy)
    if rule in review.allow:
        raise InvalidInputError("That is allowed by policy already: its next call will not wait.")
    allowed = [each.model_dump(mode="json") for each in [*review.allow, rule]]
    document["review"] = {**document.get("review", {}), "allow": allowed}
    check_document(document, row.domain_id)
    return rule, SetPolicyInput(domain_id=row.domain_id, document=document, reason=given.reason)


def _patterns(row: Proposal, ctx: Ctx) -> list[str]:
    """The scopes that the call is about as it stands now; any session, since the next call comes in another one."""
    names = services.scopes_of(row) if row.revision == 1 else gate.touched_by(row, ctx)
    return sorted({f"{SESSION}:*" if name.startswith(f"{SESSION}:") else name for name in names or (row.scope,)})


def _draft(given: DraftRuleInput, drafted: tuple[AllowRule, SetPolicyInput], ctx: Ctx) -> Applied[DraftRuleResult]:
    rule, policy = drafted
    queued = gate.draft(SET_POLICY, policy, ctx)
    answer = DraftRuleResult(
        proposal=queued.proposal, rule=rule.model_dump(mode="json"), deduplicated=queued.deduplicated
    )
    return answer, []


DRAFT_RULE = register(
    Action(
        "draft_rule",
        "Draft `always allow this agent to do this here` as a policy change that waits for someone who may make it.",
        DraftRuleInput,
        DraftRuleResult,
        Right.DECIDE,
        its_scope,
        _prepare_draft,
        _draft,
        queueable=False,
    )
)


def _everywhere(given: ExpireProposalsInput, ctx: Ctx) -> Target:
    return Target(None)


def _nothing(given: ExpireProposalsInput, ctx: Ctx) -> None:
    return None


def _expire(given: ExpireProposalsInput, prepared: None, ctx: Ctx) -> Applied[ExpireProposalsResult]:
    changes = []
    for domain_id in services.domains_with_open_proposals():
        days = in_force(domain_id, ctx).section(ReviewPolicy).expire_days
        changes += services.expire_proposals(domain_id, days, ctx) if days else []
    return ExpireProposalsResult(expired=len(changes)), changes


EXPIRE_PROPOSALS = register(
    Action(
        "expire_proposals",
        "Let proposals expire that nobody touched for as long as the policy of their domain waits; a job does it hourly.",
        ExpireProposalsInput,
        ExpireProposalsResult,
        Right.OPERATE,
        _everywhere,
        _nothing,
        _expire,
        queueable=False,
    )
)
