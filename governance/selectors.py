"""Reading proposals and the audit log, as far as the one who asks may see them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from governance.contracts import (
    AuditDetail,
    AuditView,
    DecisionView,
    DiffMode,
    ListAuditInput,
    ListProposalsInput,
    ObjectChange,
    Outcome,
    Preferences,
    ProposalDetail,
    ProposalState,
    ProposalView,
    Verdict,
)
from governance.models import AuditEntry, AuditObject, AuditSeal, PolicyVersion, Preference, Proposal
from kernel.context import ANY, ActorKind, Ctx, Right
from kernel.errors import NotFoundError
from scopes.models import ApiKey, Grant, Principal, ReviewerAssignment
from scopes.selectors import visible_domains, within_reach


def visible_proposals(ctx: Ctx) -> QuerySet[Proposal]:
    """The base queryset: proposals that the actor may decide on, and its own while it may read in their domain."""
    own = Q(proposer_kind=ctx.actor.kind, proposer_id=ctx.actor.id)
    own &= Q(domain_id=None) | Q(domain_id__in=visible_domains(ctx).values("pk"))
    return Proposal.objects.filter(within_reach(ctx, Right.DECIDE) | own).prefetch_related("decisions")


def visible_audit(ctx: Ctx) -> QuerySet[AuditEntry]:
    """The base queryset: audit entries of the scopes that the actor reviews or audits."""
    return AuditEntry.objects.filter(within_reach(ctx, Right.AUDIT))


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


def preferences_of(ctx: Ctx) -> Preferences:
    """How the person likes the review screens, read once in a call; the defaults for anyone else."""
    if ctx.actor.kind is not ActorKind.PERSON:
        return Preferences()
    user_id = int(ctx.actor.id.removeprefix("user:"))
    row = ctx.once("preferences", lambda: Preference.objects.filter(pk=user_id).first())
    return Preferences(shortcuts=row.shortcuts, diff=DiffMode(row.diff)) if row else Preferences()


def get_proposal(proposal_id: UUID, ctx: Ctx) -> Proposal:
    """One visible proposal. Raises NotFoundError."""
    row = visible_proposals(ctx).filter(pk=proposal_id).first()
    if row is None:
        raise NotFoundError(f"No proposal {proposal_id} that you can see.")
    return row


def filter_proposals(given: ListProposalsInput, ctx: Ctx) -> QuerySet[Proposal]:
    """Visible proposals that fit the filters."""
    rows = visible_proposals(ctx)
    wanted = {"domain_id": given.domain_id, "state": given.state, "action": given.action}
    return rows.filter(**{column: value for column, value in wanted.items() if value is not None})


def filter_audit(given: ListAuditInput, ctx: Ctx) -> QuerySet[AuditEntry]:
    """Visible audit entries that fit the filters."""
    wanted = {
        "domain_id": given.domain_id,
        "scope": given.scope,
        "action": given.action,
        "actor_name": given.actor,
        "actor_kind": given.actor_kind,
        "actor_id": given.actor_id,
        "door": given.door,
        "outcome": given.outcome,
        "request_id": given.request_id,
        "at__gte": given.since,
        "at__lt": given.until,
    }
    rows = visible_audit(ctx).filter(**{column: value for column, value in wanted.items() if value is not None})
    if given.table is None or given.object_id is None:
        return rows
    return rows.filter(pk__in=changes_of(given.table, given.object_id))


def changes_of(table: str, object_id: str) -> QuerySet[Any, Any]:
    """The ids of the entries that changed one object; not limited to what anyone may see."""
    return AuditObject.objects.filter(table=table, object_id=object_id).values("entry_id")


def get_audit_entry(entry_id: UUID, ctx: Ctx) -> AuditEntry:
    """One visible audit entry. Raises NotFoundError."""
    row = visible_audit(ctx).filter(pk=entry_id).first()
    if row is None:
        raise NotFoundError(f"No audit entry {entry_id} that you can see.")
    return row


def changes_around(row: AuditEntry, ctx: Ctx) -> list[ObjectChange]:
    """The objects that an entry changed, 50 at most, each with the visible entries that changed it before and after."""
    named = Q(pk__in=[])
    for change in row.changes[:50]:
        named |= Q(table=change["table"], object_id=change["id"])
    seen = within_reach(ctx, Right.AUDIT, domain="entry__domain_id", scope="entry__scope")
    same = AuditObject.objects.filter(seen, table=OuterRef("table"), object_id=OuterRef("object_id"))
    before = same.filter(entry_id__lt=row.pk).order_by("-entry_id").values("entry_id")[:1]
    after = same.filter(entry_id__gt=row.pk).order_by("entry_id").values("entry_id")[:1]
    found = AuditObject.objects.filter(named, entry_id=row.pk).annotate(before=Subquery(before), after=Subquery(after))
    return [
        ObjectChange(table=each.table, object_id=each.object_id, previous=each.before, next=each.after)
        for each in found.order_by("table", "object_id")
    ]


def view_proposal(row: Proposal) -> ProposalView:
    """A proposal as lists show it."""
    return ProposalView(**_proposal_fields(row))


def view_proposal_detail(row: Proposal) -> ProposalDetail:
    """A proposal with its input and effect."""
    return ProposalDetail(**_proposal_fields(row), input=row.input, changes=row.changes)


def _proposal_fields(row: Proposal) -> dict[str, object]:
    return {
        "id": row.id,
        "action": row.action,
        "state": ProposalState(row.state),
        "domain_id": row.domain_id,
        "scope": row.scope,
        "subject_key": row.subject_key,
        "revision": row.revision,
        "proposed_by": row.proposer_name,
        "rule": row.rule,
        "created_at": row.created_at,
        "last_error": row.last_error,
        "decisions": [
            DecisionView(verdict=Verdict(d.verdict), by=d.by_name, reason=d.reason, at=d.created_at)
            for d in row.decisions.all()
        ],
    }


def view_audit(row: AuditEntry) -> AuditView:
    """An audit entry as answers show it."""
    return AuditView(
        id=row.id,
        at=row.at,
        request_id=row.request_id,
        action=row.action,
        actor=row.actor_name,
        actor_kind=row.actor_kind,
        on_behalf_of=row.on_behalf_of,
        door=row.door,
        domain_id=row.domain_id,
        scope=row.scope,
        outcome=Outcome(row.outcome),
        rule=row.rule,
        policy_version=row.policy_version,
        code=row.code,
        reason=row.reason,
        proposal_id=row.proposal_id,
        changes=row.changes,
    )


def view_audit_detail(row: AuditEntry, ctx: Ctx) -> AuditDetail:
    """An audit entry with the changes of its objects around it and its place in the chain."""
    seal = AuditSeal.objects.filter(entry_id=row.pk).first()
    return AuditDetail(
        **view_audit(row).model_dump(),
        facts=row.facts,
        input_digest=row.input_digest,
        objects=changes_around(row, ctx),
        sequence=seal.number if seal else None,
        seal=seal.hash if seal else None,
    )


def count_refused(domain_id: str) -> int:
    """How many calls in a domain were refused for their input or for what they named.

    A call that names something by id says no domain: it counts where its actor's grants lie.
    """
    principals = [str(pk) for pk in Principal.objects.filter(grants__domain_id=domain_id).values_list("pk", flat=True)]
    here = Q(domain_id=domain_id) | Q(domain_id=None, actor_id__in=principals)
    refused = Q(outcome=Outcome.INVALID) | Q(outcome=Outcome.DENIED)
    return AuditEntry.objects.filter(here & refused).count()
