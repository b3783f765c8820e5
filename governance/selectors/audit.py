"""Reading the audit log."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, UUIDField, Value
from django.db.models.functions import NullIf

from governance.contracts import AuditDetail, AuditView, ListAuditInput, ObjectChange, Outcome
from governance.models import AuditEntry, AuditObject, AuditPlace, AuditSeal
from governance.selectors.sight import may_be_told, visible_audit
from governance.selectors.withheld import may_see, shown_facts, sighted
from kernel.context import ANY, Ctx, Right
from kernel.errors import NotFoundError
from kernel.paging import bad_cursor, decode, encode
from scopes.models import Principal
from scopes.selectors import within_reach

# What picks out few entries: the database starts from one of these, and not from the domain.
_NARROW = ("scope", "action", "actor", "actor_id", "door", "outcome", "request_id", "object_id")
_BRANCHES = 8
_CHUNK = 500

Row = TypeVar("Row", AuditEntry, AuditPlace)


def page_of_audit(given: ListAuditInput, ctx: Ctx) -> tuple[list[AuditEntry], str | None]:
    """One page of the entries in sight that fit the filters, newest first, and the cursor of the next page or None.

    Who sees parts of domains is answered part by part, each from an index of its own, so that the cost grows with what
    is shown. With an object among the filters a page may hold fewer entries than asked for: those are left out in which
    the object lay in a scope out of sight.
    """
    rows, most = _after(given, _filtered(given).filter(may_be_told(ctx)), "id"), given.limit + 1
    found = {row.pk: row for part in _parts(given, ctx) for row in rows.filter(part).order_by("-at", "-id")[:most]}
    found |= {row.pk: row for row in _reached(given, rows, most, ctx)}
    newest = sorted(found.values(), key=lambda row: (row.at, row.pk.int), reverse=True)
    shown, cursor = newest[: given.limit], None
    if len(newest) > given.limit:
        cursor = encode([shown[-1].at.isoformat(), str(shown[-1].pk)], given)
    if given.object_id is not None:
        shown = [row for row in shown if _shows(row, given.table, given.object_id, ctx)]
    return shown, cursor


def entry_of_call(action: str, ctx: Ctx) -> UUID | None:
    """The id of the entry of what the actor just had done in this request; where that was done before and only answered
    again, the id of the entry of the first time. None where nothing of it can be told."""
    mine = AuditEntry.objects.filter(actor_id=ctx.actor.id, action=action, outcome=Outcome.ALLOWED).order_by(
        "-at", "-id"
    )
    entry = mine.filter(request_id=ctx.request_id).first()
    if entry is None or entry.changes:
        return entry.pk if entry else None
    first = mine.filter(input_digest=entry.input_digest, domain_id=entry.domain_id).exclude(changes=[]).first()
    return first.pk if first else None


def _after(given: ListAuditInput, rows: QuerySet[Row], key: str) -> QuerySet[Row]:
    """The rows from the cursor on; `key` is the column of the entry's id."""
    place = decode(given, 2)
    if place is None:
        return rows
    try:
        at, after = datetime.fromisoformat(place[0]), UUID(place[1])
        if at.tzinfo is None:
            raise bad_cursor()
        at = at.astimezone(UTC)
    except (ValueError, OverflowError) as exc:
        raise bad_cursor() from exc
    return rows.filter(Q(at__lt=at) | Q(**{f"{key}__lt": after}), at__lte=at)


def _reached(given: ListAuditInput, rows: QuerySet[AuditEntry], most: int, ctx: Ctx) -> list[AuditEntry]:
    """The newest of `rows`, `most` at least where there are so many, that changed something in sight, or in the scope
    that is asked for, though they were decided elsewhere."""
    places = _beyond(ctx, given.scope)
    if places is None:
        return []
    bounds = {"at__gte": given.since, "at__lt": given.until}
    places = places.filter(**{column: value for column, value in bounds.items() if value is not None})
    ids = _after(given, places, "entry_id").order_by("-at", "-entry_id").values_list("entry_id", flat=True)
    found: dict[UUID, AuditEntry] = {}
    for start in itertools.count(0, _CHUNK):
        chunk = list(ids[start : start + _CHUNK])
        found |= {row.pk: row for row in rows.filter(pk__in=chunk).order_by("-at", "-id")[:most]} if chunk else {}
        if len(chunk) < _CHUNK or len(found) >= most:
            return list(found.values())
    raise AssertionError("the places of entries never end")


def _filtered(given: ListAuditInput) -> QuerySet[AuditEntry]:
    wanted = {
        ("whose_domain" if _is_narrow(given) else "domain_id"): given.domain_id,
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
    rows = AuditEntry.objects.alias(whose_domain=NullIf(F("domain_id"), Value("")))
    rows = rows.filter(**{column: value for column, value in wanted.items() if value is not None})
    if given.table is None or given.object_id is None:
        return rows
    return rows.filter(pk__in=changes_of(given.table, given.object_id))


def _is_narrow(given: ListAuditInput) -> bool:
    return any(getattr(given, name) is not None for name in _NARROW)


def _parts(given: ListAuditInput, ctx: Ctx) -> list[Q]:
    """What was decided in sight: each grant as a filter of its own, or all together where there are many."""
    domain = "whose_domain" if _is_narrow(given) else "domain_id"
    here = Q() if given.scope is None else Q(scope=given.scope)
    reach = tuple(dict.fromkeys(grant for grant in ctx.reach if Right.AUDIT in grant.rights))
    if any((grant.domain_id, grant.pattern) == (ANY, ANY) for grant in reach):
        return [here]
    groups = [(grant,) for grant in reach] if len(reach) <= _BRANCHES else [reach]
    return [here & within_reach(replace(ctx, reach=group), Right.AUDIT, domain) for group in groups]


def _beyond(ctx: Ctx, scope: str | None = None) -> QuerySet[AuditPlace] | None:
    """Where entries of other places changed something in a scope that the actor audits. None where it audits whole
    domains only, since those hold them anyway, unless `scope` is asked for."""
    wanted = tuple(grant for grant in ctx.reach if Right.AUDIT in grant.rights and (scope or grant.pattern != ANY))
    if not wanted:
        return None
    places = AuditPlace.objects.filter(within_reach(replace(ctx, reach=wanted), Right.AUDIT))
    return places if scope is None else places.filter(scope=scope)


def audit_in_sight(ctx: Ctx) -> QuerySet[AuditEntry]:
    """The entries of the scopes that the actor audits, and those that changed something in them."""
    found, places = within_reach(ctx, Right.AUDIT), _beyond(ctx)
    seen = found if places is None else found | Q(pk__in=places.values("entry_id"))
    return AuditEntry.objects.filter(seen, may_be_told(ctx))


def _shows(row: AuditEntry, table: str | None, object_id: str, ctx: Ctx) -> bool:
    named = {"table": table, "id": object_id}
    return any(named.items() <= change.items() and may_see(row, change, ctx) for change in row.changes)


def changes_of(table: str, object_id: str) -> QuerySet[Any, Any]:
    """The ids of the entries that changed one object; not limited to what anyone may see."""
    return AuditObject.objects.filter(table=table, object_id=object_id).values("entry_id")


def on_record(table: str, object_ids: Collection[str], *, but: str = "") -> set[str]:
    """Those of the objects of one table that some entry of another action than `but` says were changed; not limited to
    what anyone may see."""
    rows = AuditObject.objects.filter(table=table, object_id__in=object_ids)
    if but:
        rows = rows.exclude(entry__action=but)
    return set(rows.values_list("object_id", flat=True)) if object_ids else set()


def last_told(table: str, object_ids: Collection[str]) -> dict[str, dict[str, Any] | None]:
    """What the entries say that was made of objects of one table, each name with its last value; None where the last of
    them says that the object is gone. Not limited to what anyone may see; without objects that no entry tells of."""
    found: dict[str, dict[str, Any] | None] = {}
    named = AuditObject.objects.filter(table=table, object_id__in=object_ids).values("entry_id")
    entries = AuditEntry.objects.filter(pk__in=named).order_by("at", "pk") if object_ids else AuditEntry.objects.none()
    for changes in entries.values_list("changes", flat=True):
        for change in changes:
            name = change.get("id")
            if change.get("table") == table and name in object_ids:
                after = change.get("after")
                found[name] = None if after is None else {**(found.get(name) or {}), **after}
    return found


def get_audit_entry(entry_id: UUID, ctx: Ctx) -> AuditEntry:
    """One audit entry of a scope that the actor audits. Raises NotFoundError."""
    return _one(visible_audit(ctx).filter(may_be_told(ctx)), entry_id)


def sighted_audit_entry(entry_id: UUID, ctx: Ctx) -> AuditEntry:
    """One audit entry of such a scope, or that changed something in one. Raises NotFoundError."""
    return _one(audit_in_sight(ctx), entry_id)


def _one(rows: QuerySet[AuditEntry], entry_id: UUID) -> AuditEntry:
    row = rows.filter(pk=entry_id).first()
    if row is None:
        raise NotFoundError(f"No audit entry {entry_id} that you can see.")
    return row


def changes_around(row: AuditEntry, ctx: Ctx) -> list[ObjectChange]:
    """The objects in sight that an entry changed, 50 at most, each with the entries in sight that changed it before and
    after; none where that change of it is out of sight."""
    named = Q(pk__in=[])
    for change in sighted(row, ctx).changes[:50]:
        named |= Q(table=change["table"], object_id=change["id"])
    seen = Exists(audit_in_sight(ctx).filter(pk=OuterRef("entry_id")))
    same = AuditObject.objects.filter(seen, table=OuterRef("table"), object_id=OuterRef("object_id"))
    before = same.filter(entry_id__lt=OuterRef("entry_id")).order_by("-entry_id").values("entry_id")[:1]
    after = same.filter(entry_id__gt=OuterRef("entry_id")).order_by("entry_id").values("entry_id")[:1]
    found = AuditObject.objects.filter(named, entry_id=row.pk).annotate(
        before=Subquery(before, output_field=UUIDField()), after=Subquery(after, output_field=UUIDField())
    )
    rows = list(found.order_by("table", "object_id"))
    around = {each.before for each in rows} | {each.after for each in rows}
    entries = AuditEntry.objects.in_bulk([entry_id for entry_id in around if entry_id is not None])

    def told(entry_id: UUID | None, each: AuditObject) -> UUID | None:
        entry = entries.get(entry_id) if entry_id is not None else None
        return entry_id if entry and _shows(entry, each.table, each.object_id, ctx) else None

    return [
        ObjectChange(
            table=each.table,
            object_id=each.object_id,
            previous=told(each.before, each),
            next=told(each.after, each),
        )
        for each in rows
    ]


def view_audit(row: AuditEntry, ctx: Ctx) -> AuditView:
    """An audit entry as answers show it, as far as the actor may see what it did."""
    seen = sighted(row, ctx)
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
        scope=seen.scope,
        outcome=Outcome(row.outcome),
        rule=row.rule,
        policy_version=row.policy_version,
        code=row.code,
        reason=row.reason if seen.placed else "",
        proposal_id=row.proposal_id if seen.placed else None,
        changes=seen.changes,
        withheld=seen.withheld,
    )


def view_audit_detail(row: AuditEntry, why_not: str, ctx: Ctx) -> AuditDetail:
    """An audit entry with the changes of its objects around it and its place in the chain. `why_not` says what stands
    against taking it back; empty where nothing does."""
    seal = AuditSeal.objects.filter(entry_id=row.pk).first()
    return AuditDetail(
        **view_audit(row, ctx).model_dump(),
        facts=shown_facts(row, ctx),
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
