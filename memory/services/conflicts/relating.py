"""Finding conflicts of new relations: of one subject and predicate that have one object at a time."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Case, Q, Value, When

from kernel.canonical import digest
from kernel.context import Ctx
from kernel.db import checked
from memory.conflicts import Rule, Severity
from memory.conflicts.relations import is_single, plain_predicate
from memory.contracts.conflicts import ConflictState
from memory.contracts.items import Status
from memory.models import Conflict, KgEdge
from memory.services.conflicts.keeping import CANDIDATES, STANDING, TOGETHER, Found, keep
from scopes.services import lock_domain

EDGES = 200  # relations of one subject that are looked through, the newest


def find_edge_conflicts(edge: KgEdge, ctx: Ctx, *, later: bool = False, after: Collection[UUID] = ()) -> Found:
    """Conflicts of a new relation with those of the same subject and predicate, where there can be one object only: in
    its scope, and in scopes that are read with it. `later`: it was said since when it holds, so that it follows upon
    what held before. `after`: relations of the same commit that came after it, and find it themselves."""
    if not is_single(edge.predicate) or edge.current_until is not None:
        return Found()
    here = edge.scope.scope_type
    together = Q(scope_id=edge.scope_id)
    if here in TOGETHER:
        lock_domain(edge.domain_id)
        together |= Q(domain_id=edge.domain_id, scope__scope_type__in=[name for name in TOGETHER if name != here])
    others = KgEdge.objects.filter(
        *checked(status=Status.ACTIVE), together, subject_folded=edge.subject_folded, current_until=None
    )
    own_first = Case(When(scope_id=edge.scope_id, then=Value(0)), default=Value(1))
    others = others.exclude(object_folded=edge.object_folded).exclude(pk__in=after).select_related("scope")
    same = plain_predicate(edge.predicate)
    alike = [
        other
        for other in others.order_by(own_first, "-id")[:EDGES]
        if plain_predicate(other.predicate) == same and _meet_in_time(edge, other)
    ]
    own = [other for other in alike if other.scope_id == edge.scope_id][:CANDIDATES]
    across = [other for other in alike if other.scope_id != edge.scope_id][:CANDIDATES]
    rows = [_edge_conflict(other, edge, ctx, later=later) for other in (*own, *across)]
    known = set(
        Conflict.objects.filter(
            Q(state=ConflictState.OPEN) | Q(outcome__in=STANDING),
            domain_id=edge.domain_id,
            pair__in=[row.pair for row in rows],
        ).values_list("pair", flat=True)
        if rows
        else ()
    )
    return keep([row for row in rows if row.pair not in known])


def _edge_conflict(other: KgEdge, edge: KgEdge, ctx: Ctx, *, later: bool) -> Conflict:
    follows, apart = later and other.valid_to is None, other.scope_id != edge.scope_id
    where = f" One is in {other.scope.name}, the other in {edge.scope.name}." if apart else ""
    sides = sorted([[other.scope_id, other.content_hash], [edge.scope_id, edge.content_hash]])
    return Conflict(
        domain_id=edge.domain_id,
        scope_id=edge.scope_id,
        other_scope_id=other.scope_id,
        edge_a=other,
        edge_b=edge,
        rule=Rule.CHANGED if follows else Rule.OTHER_OBJECT,
        severity=Severity.LOW if follows and apart else Severity.MEDIUM if follows or apart else Severity.HIGH,
        explanation=(
            f"“{edge.subject} {edge.predicate}” has one object at a time, but is said of “{other.object}” and of "
            f"“{edge.object}”.{where}"
        ),
        pair=digest(sides if apart else [edge.scope_id, *(hashed for _, hashed in sides)]),
        found_at=ctx.now,
    )


def _meet_in_time(one: KgEdge, other: KgEdge) -> bool:
    return not any(
        first.valid_to is not None and second.valid_from is not None and first.valid_to <= second.valid_from
        for first, second in ((one, other), (other, one))
    )
