"""Conflicts follow their memories: one is over when a side of it leaves."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q

from kernel.actions import Change
from kernel.context import Ctx
from memory.contracts.conflicts import ConflictState
from memory.models import Conflict, ConflictDecision, MemoryItem
from memory.services.conflicts.keeping import TOGETHER
from scopes.services import lock_domain

FOLLOWED = "followed"
_GONE = "One side is no longer in force."


def follow(left: Iterable[UUID], ctx: Ctx, reason: str = _GONE) -> list[Change]:
    """Close the open conflicts of memories or relations that were superseded, retracted or ended: one statement where
    there is none. It appends what happened to each, so that the history tells. A conflict
    between two scopes is closed by who holds their domain: its other side may be written at this instant."""
    ids = list(left)
    if not ids:
        return []
    sides = Q(item_a__in=ids) | Q(item_b__in=ids) | Q(edge_a__in=ids) | Q(edge_b__in=ids)
    open_ones = Conflict.objects.filter(sides, state=ConflictState.OPEN).select_related("scope", "other_scope")
    rows = list(open_ones.order_by("id"))
    between = {row.domain_id for row in rows if row.scope_id != row.other_scope_id}
    for domain_id in sorted(between):  # one order for all, so that no two wait for each other
        lock_domain(domain_id)
    if between:
        rows = list(open_ones.order_by("id"))
    if not rows:
        return []
    Conflict.objects.filter(pk__in=[row.pk for row in rows], state=ConflictState.OPEN).update(
        state=ConflictState.RESOLVED, decided_at=ctx.now
    )
    ConflictDecision.objects.bulk_create(
        ConflictDecision(
            domain_id=row.domain_id,
            conflict=row,
            verdict=FOLLOWED,
            reason=reason,
            by_id=ctx.actor.id,
            by_name=ctx.actor.name,
            created_at=ctx.now,
        )
        for row in rows
    )
    return [
        Change(
            "conflicts",
            str(row.id),
            {"state": "open"},
            {"state": "resolved", "reason": reason},
            incidental=True,
            scopes=scopes_of(row),
        )
        for row in rows
    ]


def follow_out(row: MemoryItem, ctx: Ctx) -> list[Change]:
    """The same for one memory that left and no other took the place of: writers of what is read with its scope wait first,
    so that none finds a conflict with it any more."""
    if row.scope.scope_type in TOGETHER:
        lock_domain(row.domain_id)
    return follow([row.pk], ctx)


def scopes_of(row: Conflict) -> tuple[str, ...]:
    """The scopes of both sides, as the audit log names them."""
    return tuple(dict.fromkeys([row.other_scope.name, row.scope.name]))
