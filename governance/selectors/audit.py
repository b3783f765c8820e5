"""Reading the audit log."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery

from governance.contracts import AuditDetail, AuditView, ListAuditInput, ObjectChange, Outcome
from governance.models import AuditEntry, AuditObject, AuditSeal
from governance.selectors.sight import visible_audit
from kernel.context import Ctx, Right
from kernel.errors import NotFoundError
from scopes.models import Principal
from scopes.selectors import within_reach


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


def view_audit_detail(row: AuditEntry, why_not: str, ctx: Ctx) -> AuditDetail:
    """An audit entry with the changes of its objects around it and its place in the chain. `why_not` says what stands
    against taking it back; empty where nothing does."""
    seal = AuditSeal.objects.filter(entry_id=row.pk).first()
    return AuditDetail(
        **view_audit(row).model_dump(),
        facts=row.facts,
        input_digest=row.input_digest,
        objects=changes_around(row, ctx),
        sequence=seal.number if seal else None,
        seal=seal.hash if seal else None,
        revertible=not why_not,
        why_not=why_not,
    )


def count_refused(domain_id: str) -> int:
    """How many calls in a domain were refused for their input or for what they named.

    A call that names something by id says no domain: it counts where its actor's grants lie.
    """
    principals = [str(pk) for pk in Principal.objects.filter(grants__domain_id=domain_id).values_list("pk", flat=True)]
    here = Q(domain_id=domain_id) | Q(domain_id=None, actor_id__in=principals)
    refused = Q(outcome=Outcome.INVALID) | Q(outcome=Outcome.DENIED)
    return AuditEntry.objects.filter(here & refused).count()
