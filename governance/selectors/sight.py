"""The base querysets: what the one who asks may see of governance."""

from __future__ import annotations

from dataclasses import replace

from django.db.models import Exists, OuterRef, Q, QuerySet

from governance.contracts import Outcome, ProposalState
from governance.models import AuditEntry, BlindReview, Decision, PolicyVersion, Proposal
from kernel.actions import all_actions
from kernel.context import ANY, ActorKind, Ctx, Right
from scopes.contracts import LEGACY_DOMAIN
from scopes.models import ApiKey, Grant, Principal, ReviewerAssignment
from scopes.selectors import visible_domains, within_reach

_SAMPLED = [ProposalState.APPROVED.value, ProposalState.REJECTED.value]


def visible_proposals(ctx: Ctx) -> QuerySet[Proposal]:
    """The base queryset: proposals that the actor may decide on, those of whole domains in which its key may promote
    (so that it can recommend), and its own while it may read in their domain. Never those that wait for a second look of
    the actor: what was decided on them is not to be told before it is given."""
    own = Q(proposer_kind=ctx.actor.kind, proposer_id=ctx.actor.id)
    own &= Q(domain_id=None) | Q(domain_id__in=visible_domains(ctx).values("pk"))
    seen = decided_by(ctx) | own
    if ctx.actor.kind is ActorKind.AGENT:
        seen |= Q(domain_id__in=domains_of_advice(ctx))
    elif ctx.actor.kind is ActorKind.PERSON:
        seen &= ~_waits_for_a_look_of(ctx)
    return Proposal.objects.filter(seen).prefetch_related("decisions")


def decided_by(ctx: Ctx) -> Q:
    """Of proposals those that the actor decides on: where it may decide, and what only operators may do where it
    operates."""
    seen = within_reach(ctx, Right.DECIDE)
    operated = tuple(
        grant
        for grant in ctx.reach
        if Right.OPERATE in grant.rights and not ctx.may(Right.DECIDE, grant.domain_id, grant.pattern)
    )
    if not operated or ctx.actor.kind is not ActorKind.PERSON:
        return seen
    names = [action.name for action in all_actions() if action.right is Right.OPERATE]
    return seen | (Q(action__in=names) & within_reach(replace(ctx, reach=operated), Right.OPERATE))


def deciding_right(action: str, domain_id: str | None, scope: str, ctx: Ctx) -> Right:
    """The right with which the actor decides on a proposal of that action: to decide, or to operate where the action is
    one of operators and the actor may not decide."""
    place = (domain_id or ANY, scope)
    if ctx.actor.kind is not ActorKind.PERSON or ctx.may(Right.DECIDE, *place):
        return Right.DECIDE
    known = next((each for each in all_actions() if each.name == action), None)
    operated = known is not None and known.right is Right.OPERATE and ctx.may(Right.OPERATE, *place)
    return Right.OPERATE if operated else Right.DECIDE


def may_decide(action: str, domain_id: str | None, scope: str, ctx: Ctx) -> bool:
    """Whether the actor decides on such a proposal."""
    return ctx.may(deciding_right(action, domain_id, scope, ctx), domain_id or ANY, scope)


def second_looks(ctx: Ctx) -> QuerySet[Proposal]:
    """The base queryset: decided proposals of the sample that wait for a second look by the actor, who may decide there
    and neither proposed nor decided. Nothing that leaves may tell what was decided on them."""
    rows = Proposal.objects.filter(decided_by(ctx), _waits_for_a_look_of(ctx))
    return rows if ctx.actor.kind is ActorKind.PERSON else rows.none()


def _waits_for_a_look_of(ctx: Ctx) -> Q:
    """Of proposals on which the actor may decide."""
    looked_at = Exists(BlindReview.objects.filter(proposal=OuterRef("pk")))
    decided = Exists(Decision.objects.filter(proposal=OuterRef("pk"), by_id=ctx.actor.id))
    mine = Q(proposer_id=ctx.actor.id) | Q(proposer_owner=ctx.actor.person)
    return Q(blind=True, state__in=_SAMPLED) & ~mine & ~Q(looked_at) & ~Q(decided)


def domains_of_advice(ctx: Ctx) -> list[str]:
    """Domains that the actor may read and promote in as a whole: there its key may recommend on proposals. Never the
    legacy domain: in it no key reads another's sessions, and a proposal may hold a turn of one."""
    needed = {Right.READ, Right.PROMOTE}
    whole = {grant.domain_id for grant in ctx.reach if grant.pattern == ANY and needed <= grant.rights}
    return sorted(whole - {LEGACY_DOMAIN})


def visible_audit(ctx: Ctx) -> QuerySet[AuditEntry]:
    """The base queryset: audit entries of calls decided in the scopes that the actor reviews or audits."""
    return AuditEntry.objects.filter(within_reach(ctx, Right.AUDIT))


def may_be_told(ctx: Ctx) -> Q:
    """Of audit entries those that lists and pages may show: not what was done on proposals that wait for a second look of
    the actor, unless it operates the installation, which reads the whole record."""
    if ctx.actor.kind is not ActorKind.PERSON or ctx.may(Right.OPERATE, ANY):
        return Q()
    waiting = second_looks(ctx).values("pk")
    return Q(proposal=None) | Q(outcome=Outcome.QUEUED) | ~Q(proposal_id__in=waiting)


def visible_grants(ctx: Ctx) -> QuerySet[Grant]:
    """The base queryset: grants on scopes that the actor reviews or audits."""
    return Grant.objects.filter(within_reach(ctx, Right.AUDIT, scope="pattern"))


def visible_principals(ctx: Ctx) -> QuerySet[Principal]:
    """The base queryset: principals with a grant on scopes that the actor reviews; all for an operator."""
    if ctx.may(Right.OPERATE, ANY):
        return Principal.objects.all()
    return Principal.objects.filter(Exists(visible_grants(ctx).filter(principal=OuterRef("pk"))))


def visible_keys(ctx: Ctx) -> QuerySet[ApiKey]:
    """The base queryset: keys of visible principals."""
    if ctx.may(Right.OPERATE, ANY):
        return ApiKey.objects.all()
    return ApiKey.objects.filter(Exists(visible_grants(ctx).filter(principal=OuterRef("principal_id"))))


def visible_assignments(ctx: Ctx) -> QuerySet[ReviewerAssignment]:
    """The base queryset: who else reviews the scopes that the actor reviews or audits."""
    return ReviewerAssignment.objects.filter(within_reach(ctx, Right.AUDIT, scope="pattern"))


def visible_policies(ctx: Ctx) -> QuerySet[PolicyVersion]:
    """The base queryset: policy versions of domains that the actor reviews or audits as a whole; all for an operator."""
    if ctx.may(Right.OPERATE, ANY):
        return PolicyVersion.objects.all()
    domains = [grant.domain_id for grant in ctx.reach if grant.pattern == ANY and Right.AUDIT in grant.rights]
    return PolicyVersion.objects.filter(domain__in=domains)
